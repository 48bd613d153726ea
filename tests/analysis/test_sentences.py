"""What is said of a solved equation: the words of the answer, the sentence, the whole number, all by hand from equations that a reader solves at a glance."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from symroof.analysis.solution import LIMIT, REACH, Solution, to_whole
from symroof.analysis.solution_text import solution_json, solution_text
from symroof.api import Study

SIDES = {  # equation for batch -> answer, sentence
    "3*batch = 22": ("at least 8 requests", "3*batch stays below 22 up to 7 and is above it from 8 on"),
    "3*batch = 21": ("at least 7 requests", "3*batch stays below 21 up to 7 and is above it from 8 on"),
    "22 = 3*batch": ("at least 8 requests", "22 stays above 3*batch up to 7 and is below it from 8 on"),
    "10/batch = 3": ("at least 4 requests", "10/batch stays above 3 up to 3 and is below it from 4 on"),
    "12/batch = 3": ("at least 4 requests", "12/batch stays above 3 up to 4 and is below it from 5 on"),
    "batch = 1": ("at least 1 request", "batch stays below 1 request up to 1 and is above it from 2 on"),
    "batch = 1000": ("at least 1,000 requests", "batch stays below 1,000 requests up to 1,000 and is above it from 1,001 on"),
    "batch**3 = 30": ("at least 4 requests", "batch**3 stays below 30 up to 3 and is above it from 4 on"),
    "batch/(batch + 1) = 1/2": ("at least 1 request", "batch/(batch + 1) stays below 0.5 up to 1 and is above it from 2 on"),
    "3*batch = 2": ("at least 1 request", "the crossing itself lies below one, at 0.6667"),
    "4*batch = 7/2": ("at least 1 request", "the crossing itself lies below one, at 0.875"),
    "max(batch, 5) = 5": ("at least 5 requests", "max(batch, 5) and 5 are the same up to here"),
    "min(batch, 5) = 5": ("at least 5 requests", "min(batch, 5) and 5 are the same from here on"),
    "(batch - 3)**2 = 0": ("3 requests", "(batch - 3)**2 and 0 meet here"),
    "(batch - 3)*(batch - 7) = 0": ("3 requests", "(batch - 3)*(batch - 7) and 0 meet here"),
    "2*batch - 7 = 0": ("3.5 requests, between 3 and 4", "2*batch - 7 stays below 0 up to 3 and is above it from 4 on"),
    "batch - 1 = 0": ("1 request", "batch - 1 stays below 0 up to 1 and is above it from 2 on"),
    "batch + 1 = 0": ("never", "batch + 1 stays above 0 for every batch"),
    "0 = batch + 1": ("never", "0 stays below batch + 1 for every batch"),
    "batch/(batch + 1) = 2": ("never", "batch/(batch + 1) stays below 2 for every batch"),
    "1/(batch - 5) = 0": ("never", "1/(batch - 5) stays below 0 for batch up to 5, where a denominator is zero,"),
    "batch = 2*batch - batch": ("everywhere", "both sides are the same formula"),
    "batch = prompt": ("at least 100 requests", "batch stays below prompt up to 100 and is above it from 101 on"),
    "batch + context = batch": ("never", "batch + context stays above batch for every batch (each request adds 1 request to batch + context and 1 request to batch)"),
    "batch = 2*batch + 1": ("never", "batch stays below 2*batch + 1 for every batch (each request adds 1 request to batch and 2 requests to 2*batch + 1)"),
    "batch = 7/2": ("at least 4 requests", "batch stays below 3.5 requests up to 3 and is above it from 4 on"),
    "prompt = prompt": ("everywhere", "both sides are the same, and neither moves with the unknown"),
    "1 - 1/batch = 2": ("never", "1 - 1/batch stays below 2 for every batch"),
    "50*batch = -1": ("never", "50*batch stays above -1 for every batch"),
    "(batch**2 - 10)*(batch - 5) = 0": ("3.162 requests, between 3 and 4", "(batch**2 - 10)*(batch - 5) and 0 meet here"),
    # numbers end at 10**1000, whose logarithm is 2,303
    "exp(batch) = 0": ("never", "exp(batch) stays above 0 for every batch up to 709.8 requests (beyond it a number too large to work with)"),
    "exp(100000/batch) = 0": ("never", "exp(100000/batch) stays above 0 for batch from 140.9 requests to 1,000,000,000,000,000 requests"),
    "exp(-batch) = 2": ("never", "exp(-batch) stays below 2 for every batch"),
    "floor(batch/7) = 23/2": ("at least 84 requests", "floor(batch/7) stays below 11.5 up to 83 and is above it from 84 on"),
    "floor(batch) = 1/2": ("at least 1 request", "floor(batch) and 0.5 meet here"),  # from the first on
    "ceil(batch/7) = 12": ("at least 78 requests", "ceil(batch/7) and 12 meet here"),
}  # fmt: skip
SHARE = {  # equation for mbu, a share -> the same
    "2*mbu = 1": ("0.5", "2*mbu is below 1 under this value and above it over it"),
    "1 = 2*mbu": ("0.5", "1 is above 2*mbu under this value and below it over it"),
    "mbu = 2": ("never", "mbu stays below 2 for every mbu (even at mbu 1 they are 1 and 2)"),
    "3 = mbu": ("never", "3 stays above mbu for every mbu (even at mbu 1 they are 3 and 1)"),
    "exp(1000000*mbu) = 0": (
        "never",
        "exp(1e6*mbu) stays above 0 for every mbu up to 0.0007098 (beyond it a number too large to work with)",
    ),
    "mbu + 1 = mbu/2": ("never", "mbu + 1 stays above mbu/2 for every mbu"),
}


@pytest.fixture(scope="module")
def plain():
    """No model and no device."""
    return Study(prompt=100, output=20)


@pytest.fixture(scope="module")
def gpt2():
    return Study("gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="80 GB")


@pytest.mark.parametrize("unknown", ["batch", "mbu"])
def test_what_is_said_of_two_sides(unknown, plain):
    for equation, (answer, sentence) in (SIDES if unknown == "batch" else SHARE).items():
        solution = plain.solve(equation, unknown)
        assert (solution.shown(), solution.reason) == (answer, sentence), equation
        assert solution.integer is None or unknown == "batch"


def test_all_crossings_are_listed_each_with_its_conditions(plain):
    """max(batch, 10/batch) is 10/batch up to the root of 10 and batch from there on."""
    written = solution_text(plain.solve("max(batch, 10/batch) = 5", "batch")).splitlines()
    assert written[0] == "max(batch, 10/batch) = 5, solved for batch"
    assert written[3:6] == [
        "batch: at least 2 requests",
        "  max(batch, 10/batch) and 5 meet here",
        "  all crossings: 2 requests, 5 requests",
    ]
    assert written[6] == "  ! no effect on this answer: prompt, output"
    assert written[8:] == [
        "  batch = 2",
        "    10/batch >= batch: holds",
        "",
        "  batch = 5",
        "    batch >= 10/batch: holds",
    ]


def test_crossings_between_whole_numbers_are_listed_with_their_unit(plain):
    """The roots of ten and five."""
    assert "  all crossings: 3.162 requests, 5 requests\n" in solution_text(
        plain.solve("(batch**2 - 10)*(batch - 5) = 0", "batch")
    )


def test_one_crossing_is_not_listed_again_and_a_number_says_why_it_is_one(plain):
    written = solution_text(plain.solve("3*batch = 22", "batch"))
    assert "all crossings" not in written and "fits" not in written and "numerically" not in written
    assert written.endswith("\n\n  batch = 22/3")
    assert "  solved numerically: " in solution_text(plain.solve("batch**3 + batch = 30", "batch"))
    assert plain.solve("3*batch = 22", "batch").why_numeric == ""


TOKEN, PARAMETERS = 2 * 12 * 768 * 2, 124_439_808
"""Cache of a token of GPT-2 in 16 bits, and its parameters."""


@pytest.mark.parametrize(
    ("equation", "unknown", "answer", "sentence", "fits"),
    [
        # 248,879,616 bytes of weights over 100 tokens of 36,864 bytes: 67.5
        ("kv_cache_bytes = weight_bytes", "batch", "at least 68 requests", "kv_cache_bytes stays below weight_bytes up to 67 and is above it from 68 on", True),
        ("kv_cache_bytes = weight_bytes", "context", "at least 6,752 tokens", "kv_cache_bytes stays below weight_bytes up to 6,751 and is above it from 6,752 on; beyond GPT-2 124M's maximum context of 1,024 tokens", True),
        # (80 GB - weights)/(119 tokens at the end): 18,179.6
        ("max_batch_memory", None, "at most 18,179 requests", "the largest batch that fits in memory", True),
        ("kv_cache_bytes = 100 GB", "batch", "at least 27,127 requests", "kv_cache_bytes stays below 100 GB up to 27,126 and is above it from 27,127 on", False),
        ("kv_cache_bytes = 40 kB", "prompt", "at least 2 tokens", "kv_cache_bytes stays below 40 kB up to 1 and is above it from 2 on", True),
        # 4 of 12 layers' worth: a width that takes no memory is not asked whether it fits
        ("kv_cache_bytes = 1 GB", "kv_bytes_per_element", "542.5 byte", "kv_cache_bytes is below 1 GB under this value and above it over it", None),
        ("kv_cache_bytes = 1 byte", "mem_bandwidth", None, None, None),
        ("weight_bytes = 1 byte", "batch", None, None, None),
    ],
)  # fmt: skip
def test_what_is_said_of_a_model(equation, unknown, answer, sentence, fits, gpt2):
    if answer is None:
        with pytest.raises(Exception, match="does not occur|depend"):
            gpt2.solve(equation, unknown)
        return
    solution = gpt2.solve(equation, unknown) if unknown else gpt2.solve(equation)
    assert (solution.shown(), solution.reason, solution.within_memory) == (answer, sentence, fits)
    written = solution_text(solution)
    assert (
        "  fits in memory at this value" in written,
        "  does not fit in memory at this value" in written,
    ) == (fits is True, fits is False)
    assert solution.flags == (("does_not_fit",) if fits is False else ())


@pytest.mark.parametrize(("last", "length"), [(123, 160), (1234, 161)])
def test_a_side_of_160_characters_is_written_out_a_longer_one_is_not(last, length, plain):
    side = f"{' + '.join(['gemm_k', *(f'gemm_k**{n}' for n in range(2, 14))])} + {last}"
    assert len(side) == length
    assert (
        plain.solve(f"{side} = -1", "gemm_k").reason
        == f"{side if length == 160 else 'the left side'} stays above -1 for every gemm_k"
    )
    assert (
        plain.solve(f"-1 = {side}", "gemm_k").reason
        == f"-1 stays below {side if length == 160 else 'the right side'} for every gemm_k"
    )


def test_how_both_sides_grow():
    study = Study(
        "gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="80 GB", gemm_k=1
    ).define("bent", "batch + 1000/batch")
    assert (
        study.solve("bent = 0", "batch").reason
        == "bent stays above 0 for every batch (each request adds 1 to bent)"
    )
    # one side settles and the other does not: nothing is to be said
    assert study.solve(
        "decode_compute_time = -mem_bandwidth/(1 byte/s)*1 s", "mem_bandwidth"
    ).reason.endswith(" for every mem_bandwidth")
    late = Study(
        "gpt2",
        "h100-sxm",
        engine="ideal",
        prompt=100,
        output=20,
        mem_capacity="80 GB",
        batch=30_000,
        gemm_k=1,
    )
    flagged = late.solve("decode_memory_time*gemm_k = decode_link_time", "context").reason
    assert flagged.endswith(
        " (does not fit) to decode_memory_time*gemm_k, decode_link_time is 0 s (does not fit))"
    )


SYMBOLIC = {  # equation for batch, without numbers -> answer, sentence
    "batch*prompt = params": ("always one, by the formula", "the two sides meet, whatever the symbols; for a number, prompt is missing"),
    "batch*prompt = -params": ("never", "batch*prompt stays above -params for every batch"),
    "batch*prompt = gemm_k - gemm_n": ("depends on the conditions", "whether there is one depends on the conditions of each branch; for a number, prompt is missing"),
    "batch_to_ridge": ("depends on the conditions", "from this batch on a decode step is limited by compute; whether there is one depends on the conditions of each branch; for a number, prompt is missing"),
}  # fmt: skip


def test_what_is_said_without_numbers():
    study = Study()
    for equation, (answer, sentence) in SYMBOLIC.items():
        solution = study.solve(equation, None if equation == "batch_to_ridge" else "batch")
        assert (solution.shown(), solution.reason, solution.integer, solution.within_memory) == (
            answer,
            sentence,
            None,
            None,
        ), equation


@pytest.mark.parametrize(
    ("unknown", "bytes_", "tokens", "remarked"),
    [
        ("context", 1024, 1024, False),
        ("context", 1025, 1025, True),
        ("prompt", 1023, 1004, False),
        ("prompt", 1024, 1005, True),
        ("output", 1023, 924, False),
        ("output", 1024, 925, True),
        ("batch", 1024, 9, False),
    ],
)
def test_up_to_the_context_a_model_was_made_for(unknown, bytes_, tokens, remarked, gpt2):
    """1,024 tokens of 36,864 bytes; a prompt and its response, whose last token is not cached, are 1,024 together."""
    solution = gpt2.solve(f"peak_kv_cache_bytes = {bytes_ * TOKEN} byte", unknown)
    assert solution.integer == {"at_least": tokens}
    assert (
        solution.reason.endswith("; beyond GPT-2 124M's maximum context of 1,024 tokens")
        is remarked
    )


def test_of_a_load_that_no_server_bears_an_answer_says_so():
    """The server sustains a hundred requests a second."""
    for rate, over in ((99, False), (100, True), (1000, True)):
        case = Study(
            "gpt2",
            "h100-sxm",
            engine="ideal",
            prompt=100,
            output=20,
            batch=5,
            sustained_requests="100 request/s",
            arrival_rate=f"{rate} request/s",
        )
        (remark,) = [
            case.solve("arrival_rate = 3 request/s", "arrival_rate").reason.partition("; at the ")[
                2
            ]
        ]
        assert remark == (
            f"{rate:,} request/s of this case the queue is unstable (load >= 1)" if over else ""
        )
        assert "steady" not in case.solve("batch = 3", "batch").reason


def test_both_sides_far_out(gpt2):
    """Each request adds its cache, 100 tokens or at the end 119, and the memory of the whole batch stands where it stood."""
    sentence = gpt2.solve("kv_cache_bytes + 1 TB = peak_kv_cache_bytes - 1 MB", "output").reason
    assert "stays" in sentence or "up to" in sentence
    grown = gpt2.solve("kv_cache_bytes = 2*peak_kv_cache_bytes", "batch").reason
    assert (
        grown
        == "kv_cache_bytes stays below 2*peak_kv_cache_bytes for every batch (each request adds 3.686 MB to kv_cache_bytes and 8.774 MB to 2*peak_kv_cache_bytes)"
    )
    still = gpt2.solve("weight_bytes = kv_cache_bytes + 1 GB", "batch").reason
    assert (
        still
        == "weight_bytes stays below kv_cache_bytes + 1 GB for every batch (each request adds 3.686 MB to kv_cache_bytes + 1 GB, weight_bytes is 248.9 MB)"
    )
    shares = gpt2.solve("decode_memory_time = decode_compute_time", "mbu").reason
    assert shares.startswith(
        "decode_memory_time stays above decode_compute_time for every mbu (even at mbu 1 they are "
    )


@pytest.mark.parametrize("spare", [-1, 0, 1, TOKEN * 119 - 1, TOKEN * 119])
def test_a_memory_that_is_exactly_full_still_holds(spare):
    """Seven requests of 119 tokens beside the weights, and some bytes more or less."""
    study = Study(
        "gpt2",
        "h100-sxm",
        engine="ideal",
        prompt=100,
        output=20,
        mem_capacity=f"{2 * PARAMETERS + 7 * 119 * TOKEN + spare} byte",
    )
    solution = study.solve("max_batch_memory")
    assert solution.integer == {"at_most": 6 if spare < 0 else 8 if spare == TOKEN * 119 else 7}
    assert solution.within_memory is True
    assert (solution_json(solution)["value"] == int(solution.value)) == (spare % (TOKEN * 119) == 0)


def test_the_branch_of_a_ridge_that_is_never_reached(gpt2):
    """Its condition fails, and says up to which context it would hold."""
    entry = solution_json(gpt2.solve("batch_to_ridge"))
    (branch,) = entry["branches"]
    assert (
        branch["holds"],
        branch["value"],
        entry["value"],
        entry["verdict"],
        entry["within_memory"],
    ) == (False, None, None, "lhs_below", None)
    defined = {
        "weight_bytes_read",
        "linear_flops_per_token",
        "attention_flops_per_pair",
        "head_flops_per_row",
        "kv_bytes_per_token",
        "context",
    }
    assert branch["where"].keys() == defined | {
        "activation_bytes_per_token",
        "head_activation_bytes_per_row",
    }
    assert (
        branch["where"]["kv_bytes_per_token"]["text"]
        == "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element"
    )
    (condition,) = branch["conditions"]
    assert condition["holds"] is False and condition["text"].endswith(" > 0")
    assert (
        condition["bound"]["text"].startswith("context < ")
        and 0 < condition["bound"]["value"] < 100
    )
    assert condition["bound"]["while"]["text"].endswith(" > 0")
    written = solution_text(gpt2.solve("batch_to_ridge"))
    assert f"{condition['text']}: does not hold\n      that is context < " in written
    assert (
        " = 10.9612 (while peak_flops*kv_bytes_per_token - mem_bandwidth*attention_flops_per_pair > 0)"
        in written
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "last", "first"),
    [
        (Fraction(7, 2), 3, 4),
        (Fraction(4), 4, 4),
        (4 + Fraction(1, 10**10), 4, 5),
        (4 - Fraction(1, 10**10), 3, 4),
        (4 - Fraction(1, 10**13), 4, 4),
        (4 + Fraction(1, 10**13), 4, 4),
    ],
)
def test_a_crossing_as_a_whole_number(value, last, first):
    """Down for a limit, up for what is to be reached; what floats cannot tell from a whole number is that number."""
    assert (to_whole(value, "limit"), to_whole(value, "reach")) == (last, first)


def test_sides_that_only_whole_numbers_have(plain):
    """1 + 2 + … + 10 = 55."""
    solution = plain.solve("sum(step, step, 1, output) = 55", "output")
    assert (solution.shown(), solution.reason) == (
        "at least 10 tokens",
        "sum(step, step, 1, output) stays below 55 up to 10 and is above it from 11 on",
    )
    assert plain.solve("cached_prefix = 2*prompt", "cached_prefix").reason.startswith(
        "cached_prefix stays below 2*prompt for every cached_prefix"
    )
    assert plain.solve("sum(step, step, 1, output) = 54", "output").integer == {"at_least": 10}
    assert plain.solve("sum(step, step, 1, output) = 56", "output").integer == {"at_least": 11}


def test_candidates_in_sympy(plain):
    """None where a value was bracketed; each with its conditions."""
    import sympy

    from symroof.symbols import batch

    assert plain.solve("3*batch = 22", "batch").branches == ((sympy.Rational(22, 3), ()),)
    assert plain.solve("batch**3 + batch = 30", "batch").branches == ((None, ()),)
    assert plain.solve("3*batch = 22", "batch").equation == sympy.Eq(3 * batch, 22)


def test_an_answer_in_sympy(gpt2, plain):
    """The formula, what it rests on, what its names are, and where the condition leads: as they are written by hand."""
    from symroof.symbols import batch

    cache = gpt2.solve("kv_cache_bytes = weight_bytes", "batch")
    assert (
        str(cache.sympy) == "weight_bytes/(context*kv_bytes_per_token)"
        and cache.conditions == cache.limits == ()
    )
    where = {str(name): str(formula) for name, formula in cache.where.items()}
    assert where.keys() == {"weight_bytes", "kv_bytes_per_token", "context"}
    assert (where["kv_bytes_per_token"], where["context"]) == (
        "2*head_dim*kv_bytes_per_element*n_kv_heads*n_layers",
        "prompt",
    )
    assert [str(name) for name in gpt2.solve("kv_cache_bytes = 100 MB", "context").where] == [
        "kv_bytes_per_token"
    ]  # not of the unknown itself
    assert plain.solve("max(batch, 4) = 5", "batch").conditions == (batch >= 4,)
    assert (
        plain.solve("batch**2 - 10*batch + 21 = 0", "batch").conditions == ()
    )  # 16 is not negative
    bracketed = plain.solve("batch**3 + batch = 30", "batch")
    assert (bracketed.sympy, bracketed.closed_form, bracketed._repr_latex_()) == (None, None, None)
    assert bracketed.why_numeric == "no closed form of readable size exists"
    assert (
        plain.solve("exp(batch/10) = batch**2 + 2", "batch").why_numeric
        == "batch is in an exponent"
    )
    ridge = Study(assume={"detail": "attention"}).solve("batch_to_ridge")
    assert (
        ridge._repr_latex_()
        == r"$\displaystyle B = \frac{F \eta_c W_r}{\beta \eta_m \left(\varphi + a C\right) - F \eta_c \kappa C}$"
    )
    (limit,) = ridge.limits
    assert (
        str(limit)
        == "context < linear_flops_per_token*mbu*mem_bandwidth/(-attention_flops_per_pair*mbu*mem_bandwidth + kv_bytes_per_token*mfu*peak_flops)"
    )


def test_numbers_of_devices_that_share_out_heads():
    """Of eight heads of the cache: 1, 2, 4 and the multiples of eight, looked for among the next 1,024; upwards or downwards."""
    solution = Study("llama-3-70b", "h100-sxm", engine="ideal", prompt=4096).solve(
        "min_devices_memory"
    )
    assert solution.integer == {"at_least": 2}
    assert [list(solution.degrees(first))[:3] for first in (1, 3, 8, 9)] == [
        [1, 2, 4],
        [4, 8, 16],
        [8, 16, 24],
        [16, 24, 32],
    ]
    assert [len(list(solution.degrees(first))) for first in (1, 8, 9)] == [131, 128, 128]
    assert [list(solution.degrees(first, up=False)) for first in (9, 7, 1)] == [
        [8, 4, 2, 1],
        [4, 2, 1],
        [1],
    ]


def test_a_number_of_devices_that_heads_do_not_permit_is_passed_over():
    """141.1 GB of weights on devices of 50 GB: three would hold them, and eight heads of the cache go to four."""
    solution = Study(
        "llama-3-70b", "h100-sxm", engine="ideal", prompt=100, mem_capacity="50 GB"
    ).solve("min_devices_memory")
    assert solution.integer == {"at_least": 4} and 2 < solution.value < 3
    assert Study("llama-3-70b", "h100-sxm", engine="ideal", prompt=100, mem_capacity="80 GB").solve(
        "min_devices_memory"
    ).integer == {"at_least": 2}
    assert Study("gpt2", "h100-sxm", engine="ideal", prompt=100).solve(
        "min_devices_memory"
    ).integer == {"at_least": 1}


def test_a_memory_that_holds_none_is_asked_no_further():
    """Beside the weights 1.12 MB are left, a fourth of what a request takes: at most nothing, and whether that fits is no question."""
    none = Study(
        "gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="250 MB"
    ).solve("max_batch_memory")
    assert (none.integer, none.shown(), none.within_memory, none.flags) == (
        {"at_most": 0},
        "at most 0 requests",
        None,
        (),
    )
    assert (
        none.reason
        == "the largest batch that fits in memory; the crossing itself lies below one, at 0.2554"
    )
    never = Study(
        "gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="100 MB"
    ).solve("max_batch_memory")
    assert (never.integer, never.shown(), never.within_memory) == (None, "never", None)
    one = Study(
        "gpt2", "h100-sxm", engine="ideal", prompt=100, output=20, mem_capacity="260 MB"
    ).solve("kv_cache_bytes = 3 MB", "batch")
    assert (one.integer, one.within_memory, one.flags) == ({"at_least": 1}, True, ())


NEVER = 10**9
TINY = Fraction(1, 10**30)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("value", "kind", "unknown", "reached", "expected"),
    [
        (Fraction(7, 2), REACH, "batch", 4, 4), (Fraction(4), REACH, "batch", 4, 4), (Fraction(4), REACH, "batch", 5, 5), (TINY, REACH, "batch", 1, 1),
        (Fraction(7, 2), REACH, "batch", NEVER, 4), (TINY, REACH, "batch", NEVER, 1),  # neither beside it: the first above the crossing
        (Fraction(7, 2), LIMIT, "batch", 4, 3), (Fraction(4), LIMIT, "batch", 5, 4), (Fraction(4), LIMIT, "batch", 4, 3), (Fraction(1, 2), LIMIT, "batch", 1, 0),
        (Fraction(7, 2), REACH, "tp", 4, 4), (Fraction(7, 2), REACH, "tp", 5, 8), (TINY, REACH, "tp", 2, 2), (Fraction(7, 2), REACH, "tp", NEVER, 4), (TINY, REACH, "tp", NEVER, 1),
    ],
)  # fmt: skip
def test_the_whole_number_beside_a_crossing(value, kind, unknown, reached, expected):
    """Sides that change over at ``reached``, looked at beside a crossing that says so only nearly; 1, 2, 4 and 8 devices share the heads."""
    solution = SimpleNamespace(
        kind=kind,
        unknown=unknown,
        before=lambda value: -1,
        side=lambda n: -1 if n < reached else 1,
        degrees=lambda first: iter({1: (1, 2, 4, 8), 4: (4, 8)}[first]),
    )
    assert Solution.rounded(solution, value) == expected
