"""A latency, rate or cost of a case that does not fit never stands without its flag, nor a ranged one without its range."""

import re
import warnings
from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import DoesNotFit

from . import FORMATS, ROOT, blocks, call, evaluated, made, printed, rows_under, text_of

TOO_LARGE, RANGED, TIGHT = "llama-3-70b-chat", "qwen2.5-7b-budget", "tutorial-sla"
SUBJECT = {TOO_LARGE: 1, RANGED: 1, TIGHT: 2}
"""The case each review goes into, counted in the order of ``eval``."""
LIMITS = {
    TOO_LARGE: {"200 ms", "50 ms"},
    RANGED: {"2 s", "50 ms"},
    TIGHT: {"200 ms", "50 ms", "30 µs"},
}
"""Values that a review prints unflagged, as they were set: the targets, and the fixed cost of a prefill that the preset sets."""
TIMED_UNITS = {"s", "token/s", "request/s", "USD", "J/token"}
SHARES_OF_TIME = {"prefill_mfu", "prefill_mbu", "decode_mfu", "decode_mbu", "ttft_share"}


def timed(case):
    """The latencies, rates, costs and achieved shares of a case."""
    return {
        name: entry
        for name, entry in case["quantities"].items()
        if name not in case["inputs"] and (entry["unit"] in TIMED_UNITS or name in SHARES_OF_TIME)
    }


NO_RANGE = "range_not_worked_out"
BY_SEARCH = {"max_goodput"}
"""Quantities at the end of a search over whole numbers, which is not repeated over the ranges: they say so by a flag."""


def no_range(entry):
    return NO_RANGE in entry.get("flags", ())


def own_flags(entry):
    """The flags of a quantity but the one on its range; None where there are none."""
    return [flag for flag in entry.get("flags", ()) if flag != NO_RANGE] or None


def subject(stem):
    return evaluated(stem)[SUBJECT[stem]]


# ---------------------------------------------------------------------------------------------------------- JSON


@pytest.mark.full
@pytest.mark.parametrize("stem", SUBJECT)
def test_json_flags_every_timed_number_of_a_case_that_does_not_fit_and_no_other(stem):
    fitting = []
    for case in evaluated(stem):
        entries = timed(case)
        assert {"ttft", "itl", "decode_throughput", "user_rate", "prefill_mfu"} <= set(entries)
        flags = None if case["quantities"]["fits"]["value"] else ["does_not_fit"]
        assert {name: own_flags(entry) for name, entry in entries.items()} == dict.fromkeys(
            entries, flags
        )
        assert {name for name, entry in entries.items() if no_range(entry)} <= BY_SEARCH
        assert any("does not fit" in warning for warning in case["warnings"]) is (flags is not None)
        fitting.append(flags is None)
    assert fitting[SUBJECT[stem]] is (stem != TOO_LARGE)
    assert any(fitting)


def test_json_does_not_flag_what_holds_without_memory():
    quantities = subject(TOO_LARGE)["quantities"]
    for name in (
        "params",
        "weight_bytes",
        "kv_cache_bytes",
        "memory_bytes",
        "prefill_flops",
        "decode_bytes",
        "prefill_intensity",
        "ridge_point",
        "free_memory",
    ):
        assert "flags" not in quantities[name]


CORNERS = {
    TOO_LARGE: [("--mfu", "0.5"), ("--mfu", "0.7")],
    RANGED: [("--mfu", a, "--mbu", b) for a in ("0.4", "0.6") for b in ("0.6", "0.9")],
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", CORNERS)
def test_the_ends_in_json_are_what_the_corners_of_the_ranges_give(stem):
    """Every quantity is monotone in each efficiency here, so its extremes are those of separate runs at the corners."""
    runs = [evaluated(stem, *corner) for corner in CORNERS[stem]]
    moved, unranged = 0, set()
    for i, case in enumerate(evaluated(stem)):
        for name, entry in case["quantities"].items():
            values = [run[i]["quantities"][name]["value"] for run in runs]
            if isinstance(values[0], str):
                assert set(entry["value"]) >= set(values), name
            elif no_range(entry):
                assert "low" not in entry, name
                unranged.add(name)
            elif not isinstance(values[0], bool):
                low, high = (
                    of(
                        run[i]["quantities"][name].get(end, run[i]["quantities"][name]["value"])
                        for run in runs
                    )
                    for of, end in ((min, "low"), (max, "high"))
                )
                assert (entry["low"], entry["high"]) == (
                    pytest.approx(low, rel=1e-9),
                    pytest.approx(high, rel=1e-9),
                ), name  # each at its list prices
                moved += entry["low"] < entry["high"]
    assert moved > 10
    assert unranged <= BY_SEARCH | {"best_batch"}


# ---------------------------------------------------------------------------------------------------- eval in text


def eval_lines(stem):
    """For each case of ``eval``: its warning lines and the lines of its quantities."""
    text = call("eval", ROOT / "specs" / "studies" / f"{stem}.yaml", "--all").out
    for part in re.split(r"^== .* ==$", text, flags=re.M)[1:]:
        body = part.partition("\ninputs (")[0]
        yield (
            [line for line in body.splitlines() if line.startswith("!")],
            [line for line in body.splitlines() if line.startswith("  ")],
        )


@pytest.mark.full
@pytest.mark.parametrize("stem", SUBJECT)
def test_eval_text_flags_and_ranges_every_number(stem):
    seen = 0
    for case, (notes, lines) in zip(evaluated(stem), eval_lines(stem), strict=True):
        too_large = case["quantities"]["fits"]["value"] is False
        assert any("does not fit" in note for note in notes) is too_large
        by_name = {line.split()[0]: line for line in lines}
        for name, entry in timed(case).items():
            assert ("(does not fit)" in by_name[name]) is too_large, name
            if "range_not_worked_out" in entry.get("flags", ()):
                assert "(range not computed)" in by_name[name]
                continue
            assert (" to " in by_name[name].split("  time")[0].rpartition(")")[0]) is ranged(
                entry
            ), by_name[name]
            seen += 1
        for line in (line for name, line in by_name.items() if name not in case["inputs"]):
            assert all(
                value.flagged is too_large
                for value in printed(line.replace(" (range not computed)", ""))
            ), line
    assert seen > 40


def ranged(entry):
    return "low" in entry and entry["low"] != entry["high"]


# -------------------------------------------------------------------------------------------------------- Python


@pytest.fixture(scope="module")
def too_large():
    return Study(
        "llama-3-70b", "h100-sxm", tp=2, prompt=4096, output=512, batch=32, mfu="0.5..0.7", mbu=0.8
    )


def test_python_flags_and_warns(too_large):
    for name in (
        "ttft",
        "itl",
        "decode_throughput",
        "user_rate",
        "response_time",
        "cost_per_mtok",
        "energy_per_token",
        "prefill_mfu",
    ):
        with pytest.warns(DoesNotFit, match="does not fit"):
            value = too_large.value(name)
        assert value.flags == ("does_not_fit",)
        assert "does not fit" in str(value)
        assert "does not fit" in repr(value)
        assert "does not fit" in f"{value}"


def test_python_does_not_warn_of_memory_or_of_a_case_that_fits(too_large):
    small = Study("llama-3-70b", "h200", tp=2, prompt=4096, output=512, batch=32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert too_large.value("memory_bytes").flags == ()
        assert too_large.value("fits") is False
        assert small.value("ttft").flags == ()


def test_python_carries_the_range(too_large):
    with pytest.warns(DoesNotFit):
        value = too_large.value("ttft")
    assert value.low < float(value) < value.high
    assert " to " in str(value)


def test_a_given_latency_is_no_claim_about_memory(too_large):
    measured = Study("llama-3-70b", "h100-sxm", tp=2, prompt=4096, batch=32, itl="40 ms")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measured.value("itl").flags == ()
    with pytest.warns(DoesNotFit):
        assert measured.value("user_rate").flags == ("does_not_fit",)


def test_a_case_that_fits_in_a_part_of_its_ranges_is_flagged():
    study = Study("llama-3-8b", "a10", prompt=2048, output=128, batch="1..64")
    assert study.first.fits.possible == (True, False) or set(study.first.fits.possible) == {
        True,
        False,
    }
    with pytest.warns(DoesNotFit):
        assert study.value("itl").flags == ("does_not_fit",)


# ------------------------------------------------------------------------------------------------------- reviews

OF_ALL_CASES = ("Pareto front", "On the front: ", "Throughput against latency", "moves most with")
"""Pictures that compare cases or inputs, and their captions; test_pictures.py checks them."""
ISOLATED, BOUNDS = "Appendix: isolated requests", "Appendix: the bound of each case"
SUBJECT_TABLES = {"Quantity", "Operator", "Over the response", "Detail", "Roofline"}
"""First header of each table that holds latencies of the reviewed case alone."""


def headers(stem, kind, text=None):
    """The header cells of every table of the reviewed case's own latencies, and the headings of its derivations."""
    made = blocks(text or text_of(stem, kind), kind)
    tables = [
        block.cells
        for block in made
        if block.kind == "row" and block.cells[0].removesuffix(" †") in SUBJECT_TABLES
    ]
    return tables, [
        block.text
        for block in made
        if block.section == "Appendix: derivations" and block.kind == "h3"
    ]


def compared(stem, kind, text=None):
    """The rows of cases and changes, each with whether it fits."""
    made = blocks(text or text_of(stem, kind), kind)
    for first in ("Case", "Change"):
        yield from ((cells[0], cells[1]) for cells in rows_under(made, "Alternatives", first))
    fits = [cells[1] for cells in rows_under(made, "Alternatives", "Case")]
    if any(block.section == ISOLATED for block in made):
        yield from (
            (cells[0], fit)
            for cells, fit in zip(rows_under(made, ISOLATED, "Case"), fits, strict=False)
        )
    yield from (
        (cells[0], fit)
        for cells, fit in zip(rows_under(made, BOUNDS, "Bound of"), fits, strict=False)
    )
    changes = [cells[1] for cells in rows_under(made, "Alternatives", "Change")]
    yield from (
        (cells[0], fit)
        for cells, fit in zip(rows_under(made, BOUNDS, "Bound with"), changes, strict=False)
    )
    yield from ((cells[0], cells[-1]) for cells in rows_under(made, "Memory", "Case"))
    yield from (
        (cells[0], "no" if cells[1].endswith("does not fit") else "yes")
        for cells in rows_under(made, "Verdict", "Option")
    )


def wrongly_marked(stem, kind, too_large, text=None):
    """Tables, derivations and rows whose mark is not what memory says."""
    tables, heads = headers(stem, kind, text)
    wrong = [
        cells for cells in tables if any(cell.endswith("†") for cell in cells) is not too_large
    ]
    wrong += [head for head in heads if head.endswith("†") is not too_large]
    return wrong + [
        label
        for label, fits in compared(stem, kind, text)
        if label.endswith("†") is not (fits == "no")
    ]


@pytest.mark.full
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stem", SUBJECT)
def test_a_review_marks_what_does_not_fit(stem, kind):
    """Said in the headline, then by one mark at tables, derivations and rows, with one footnote; never behind a number."""
    too_large = subject(stem)["quantities"]["fits"]["value"] is False
    assert wrongly_marked(stem, kind, too_large) == []
    tables, heads = headers(stem, kind)
    assert len(tables) >= 4
    assert len(heads) >= 3
    text = text_of(stem, kind)
    assert "(does not fit)" not in text
    notes = [
        block
        for block in blocks(text, kind)
        if block.kind == "text" and block.text.startswith("† ")
    ]
    others = any(case["quantities"]["fits"]["value"] is False for case in evaluated(stem))
    assert [block.section for block in notes] == (
        ["Verdict"] if too_large else ["Verdict", "Alternatives"] if others else []
    )


@pytest.mark.full
@pytest.mark.parametrize("kind", FORMATS)
def test_the_check_finds_each_mark_that_is_taken_out(kind):
    text = text_of(TOO_LARGE, kind)
    mark = r"\textdagger{}" if kind == "tex" else "†"
    start = text.index("Slack")
    places = [
        match.start()
        for match in re.finditer(re.escape(mark), text)
        if match.start() > start or "Quantity" in text[max(0, match.start() - 60) : match.start()]
    ]
    note = text.index("Does not fit in memory. Its") - 10
    missed = [
        place
        for place in places
        if not note < place < note + 20
        and not wrongly_marked(TOO_LARGE, kind, True, text[:place] + text[place + len(mark) :])
    ]
    captions = [place for place in missed if "marked" in text[place - 40 : place]]
    assert len(places) > 10
    assert missed == captions


def text_blocks(stem, kind, text=None):
    """The blocks of a review that speak about its subject: no tables of other cases, no inputs."""
    return [
        ("", block)
        for block in blocks(text or text_of(stem, kind), kind)
        if not (
            block.section in SKIPPED
            or (
                block.section
                in (
                    "Alternatives",
                    ISOLATED,
                    BOUNDS,
                    "What flips this verdict",
                    "Appendix: all flips",
                )
                and block.kind == "row"
            )
        )
        and block.kind != "code"
        and not any(word in block.text for word in OF_ALL_CASES)
    ]


SKIPPED = {"Appendix: inputs and assumptions", "Appendix: limits, sources, reproduction", "Verdict"}
"""Sections that print inputs and addresses, and the key numbers, whose slack stands at the middle of the ranges."""


def spoken(stem, block):
    """The latencies, rates and costs a block of words prints, without bounds, which have no range, and the values that the study sets."""
    return [
        value
        for value in printed(re.sub(r", bound [\d.,]+ \S+", "", block.text))
        if value.text not in LIMITS[stem]
    ]


LOADED = ("loaded_ttft", "sustained_itl", "sustained_throughput", "cost_per_mtok")
ALONE = ("ttft", "itl", "decode_throughput", "cost_per_mtok")
"""The token budget of a step beside the batch that vLLM starts with; a review is a decision and counts with it."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stem", [TOO_LARGE, RANGED])
def test_the_isolated_figures_say_what_json_says(stem, kind):
    rows = rows_under(blocks(text_of(stem, kind), kind), ISOLATED, "Case")
    for cells, case in zip(rows, evaluated(stem), strict=True):
        for cell, name in zip(
            cells[1:], ("ttft", "itl", "itl_last", "decode_throughput"), strict=True
        ):
            same(cell, case["quantities"][name])


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("stem", SUBJECT)
def test_the_cases_table_says_what_json_says(stem, kind):
    """Row by row: value and range of TTFT, ITL and rate under load, and of cost."""
    rows = rows_under(blocks(text_of(stem, kind), kind), "Alternatives", "Case")
    cases = evaluated(stem)
    assert len(rows) == len(cases) or rows[len(cases)][0] == "Change"
    for cells, case in zip(rows, cases, strict=False):
        quantities = case["quantities"]
        assert cells[1] == ("yes" if quantities["fits"]["value"] else "no")
        entries = [
            quantities.get(name) for name in (LOADED if "sustained_itl" in quantities else ALONE)
        ]
        for cell, entry in zip(
            cells[3:],
            entries,
            strict=any(case["quantities"].get("cost_per_mtok") for case in cases),
        ):  # no column where no cost is known
            if entry is None:
                assert cell == "not known"
            else:
                same(cell, entry)


def same(cell, entry):
    """One cell prints one number, equal to JSON's to four digits, a cost to three, with its range."""
    (value,) = printed(cell)
    assert value.text == cell
    near = 6e-3 if entry["unit"] == "USD" else 6e-4
    assert value.value == pytest.approx(entry["value"], rel=near), cell
    if ranged(entry):
        assert value.low == pytest.approx(entry["low"], rel=near), cell
        assert value.high == pytest.approx(entry["high"], rel=near), cell
    else:
        assert value.low is None, cell


@pytest.mark.full
@pytest.mark.parametrize("kind", FORMATS)
def test_where_both_efficiencies_are_ranges_no_time_stands_without_its_range(kind):
    seen = 0
    for _, block in text_blocks(RANGED, kind):
        if block.kind == "display":
            continue
        for value in spoken(RANGED, block):
            assert value.low is not None, (value.text, block.text)
            assert value.low < value.value < value.high
            seen += 1
    for cells in rows_under(blocks(text_of(RANGED, kind), kind), "Alternatives", "Change"):
        assert all(printed(cell)[0].low is not None for cell in cells[3:]), cells
    assert seen > 25


@pytest.mark.parametrize("kind", FORMATS)
def test_a_range_of_one_efficiency_shows_on_what_compute_binds(kind):
    """Only ``mfu`` is a range there: an operator that compute binds moves with it, one that memory binds does not."""
    rows = [
        block.cells
        for _, block in text_blocks(TOO_LARGE, kind)
        if block.section == "Where the time goes"
        and block.kind == "row"
        and block.cells[0] != "Operator"
    ]
    bounds = {cells[3] for cells in rows}
    assert {"compute", "memory"} <= bounds
    for cells in rows:
        (value,) = printed(cells[2])
        assert (value.low is not None) is ("compute" in cells[3]), cells


def displays(stem, kind="md"):
    return [block.text for _, block in text_blocks(stem, kind) if block.kind == "display"]


@pytest.mark.full
def test_a_derivation_of_a_ranged_time_ends_in_its_range():
    for text in displays(RANGED):
        last = text.rpartition("=")[2]
        if re.search(r"\d ?(ms|s)\b|µs|\\mu", last) and not re.search(r"text\{0 s\}", last):
            assert " to " in last, text


def test_no_ranged_time_inside_a_derivation_stands_without_a_range():
    """In the decode of the large study ``mfu`` moves the compute time only; where that time is printed, a range must be in sight."""
    quantities = subject(TOO_LARGE)["quantities"]
    moving = [
        entry["value"]
        for entry in timed(subject(TOO_LARGE)).values()
        if ranged(entry) and entry["unit"] == "s"
    ]
    assert quantities["decode_compute_time"]["value"] in moving
    for text in displays(TOO_LARGE):
        for value, unit in re.findall(r"(\d[\d,.]*)\\,\\mathrm\{(ms|s)\}", text):
            size = float(value.replace(",", "")) * {"ms": 1e-3, "s": 1}[unit]
            if any(abs(size - other) <= 6e-4 * other for other in moving):
                assert " to " in text, text


@pytest.mark.full
def test_a_threshold_in_a_sentence_comes_with_its_range():
    """The table says how far the batch at the ridge moves over the ranges; the sentence must say it too."""
    every_block = blocks(text_of(RANGED, "md"), "md")
    (row,) = [
        block.cells
        for block in every_block
        if block.kind == "row"
        and block.cells[0] == "batch_to_ridge"
        and block.section == "Appendix: thresholds"
    ]
    middle, low, high = re.match(
        r"at least ([\d,]+) requests \(([\d,]+) to ([\d,]+)\)", row[1]
    ).groups()
    (sentence,) = [
        block.text
        for block in every_block
        if block.section == "Where the time goes" and "compute-bound at a batch" in block.text
    ]
    assert middle in sentence
    assert low in sentence
    assert high in sentence


def test_a_case_that_does_not_fit_is_said_to_right_after_what_to_use_instead():
    recommended, first, *_ = (
        block for block in blocks(text_of(TOO_LARGE, "md"), "md") if block.kind == "text"
    )
    assert (
        recommended.text.startswith("Use 8 × NVIDIA H100")
        and "2 × NVIDIA H100" not in recommended.text
    )
    assert first.section == "Verdict"
    assert "does not fit" in first.text
    assert not printed(first.text)


# ------------------------------------------------------------------------------------------------------- figures


FIGURES = ("memory", "roofline", "regimes", "ttft", "itl", "tornado", "latency-throughput")
OF_THE_SUBJECT = ("roofline", "regimes", "ttft", "itl", "tornado")


def words_of(stem, name):
    (words,) = re.findall(
        r"<desc>(.*?)</desc>", (made(stem) / f"{stem}-{name}.svg").read_text(encoding="utf-8"), re.S
    )
    return words


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", SUBJECT)
def test_the_text_of_a_figure_flags_what_does_not_fit(stem):
    for name in FIGURES:
        words, too_large = (
            words_of(stem, name),
            subject(stem)["quantities"]["fits"]["value"] is False,
        )
        values = [value for value in printed(words) if value.text not in LIMITS[stem]]
        assert not any(value.flagged for value in values)
        if name in OF_THE_SUBJECT:
            assert ("not fit" in words) is too_large, name
        if name == "memory":
            parts = words.split("; ")
            for part, case in zip(parts, evaluated(stem), strict=True):
                assert ("does not fit" in part) is (case["quantities"]["fits"]["value"] is False)
        if stem == RANGED and name == "roofline":
            ridge = re.search(r"ridge ([\d.]+) FLOP/byte \(([\d.]+) to ([\d.]+) FLOP/byte\)", words)
            entry = subject(stem)["quantities"]["effective_ridge"]
            for text, key in zip(ridge.groups(), ("value", "low", "high"), strict=True):
                assert float(Fraction(text)) == pytest.approx(entry[key], rel=6e-3)


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", SUBJECT)
def test_the_text_of_a_figure_is_the_alternative_text_of_every_format(stem):
    for name in (*FIGURES, "pareto"):
        for kind in ("md", "html"):
            assert words_of(stem, name) in [
                block.text for block in blocks(text_of(stem, kind), kind) if block.kind == "figure"
            ]
