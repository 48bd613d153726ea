"""A latency, rate or cost of a case that does not fit never stands without its flag, nor a ranged one without its range."""

import re
import warnings

import pytest

from symroof.api import Study
from symroof.errors import DoesNotFit

from ..tables import words
from . import ROOT, blocks, call, evaluated, made, printed, rows_under, text_of

TOO_LARGE, RANGED, TIGHT = "llama-3-70b-chat", "qwen2.5-7b-budget", "tutorial-sla"
SUBJECT = {TOO_LARGE: 0, RANGED: 1, TIGHT: 2}
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
        assert [entry.get("flags") for entry in entries.values()] == [flags] * len(entries)
        assert any("does not fit" in warning for warning in case["warnings"]) is (flags is not None)
        fitting.append(flags is None)
    assert fitting[SUBJECT[stem]] and (stem != TOO_LARGE or not all(fitting))


# ---------------------------------------------------------------------------------------------------- eval in text


def eval_lines(stem):
    """For each case of ``eval``: its warning lines and the lines of its quantities."""
    text = call("eval", ROOT / "specs" / "studies" / f"{stem}.yaml", "--all").out
    for part in re.split(
        r"^(?=\S.*\n(?:  .*\n)?(?:at the efficiencies|predicted))", text, flags=re.M
    )[1:]:
        first, _, rest = part.partition("\n\n")
        quantities = rest.partition("\ninputs (")[0]
        yield (
            [line for line in first.splitlines() if line.startswith("!")],
            [line for line in quantities.splitlines() if line.startswith("  ")],
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
            assert (" to " in by_name[name].split("  time")[0].rpartition(")")[0]) is ranged(
                entry
            ), by_name[name]
            seen += 1
        for line in (line for name, line in by_name.items() if name not in case["inputs"]):
            # the minimum behind it stands in the same row
            own = printed(line)[:1]
            assert all(value.flagged is too_large for value in own), line
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
    for name in words(
        "ttft itl decode_throughput user_rate response_time cost_per_mtok energy_per_token "
        "prefill_mfu"
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


def test_a_case_that_fits_in_a_part_of_its_ranges_is_flagged():
    study = Study("llama-3-8b", "a10", prompt=2048, output=128, batch="1..64")
    assert set(study.first.fits.possible) == {True, False}
    with pytest.warns(DoesNotFit):
        assert study.value("itl").flags == ("does_not_fit",)


# ------------------------------------------------------------------------------------------------------- reviews

OF_ALL_CASES = ("Pareto front", "On the front: ", "Throughput against latency", "moves most with")
"""Pictures that compare cases or inputs, and their captions; test_pictures.py checks them."""
SUBJECT_TABLES = {"Quantity", "Operator", "Detail", "Roofline"}
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
    """The rows of cases, each with whether it fits."""
    made = blocks(text or text_of(stem, kind), kind)
    return [(cells[0], cells[-1]) for cells in rows_under(made, "Memory", "Case")]


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
@pytest.mark.parametrize("kind", ["md", "html"])
@pytest.mark.parametrize("stem", SUBJECT)
def test_a_review_marks_what_does_not_fit(stem, kind):
    """Said on page one, then by one mark at tables, derivations and rows; never behind a number."""
    too_large = subject(stem)["quantities"]["fits"]["value"] is False
    assert wrongly_marked(stem, kind, too_large) == []
    tables, heads = headers(stem, kind)
    assert len(tables) >= 3
    assert len(heads) >= 3
    text = text_of(stem, kind)
    assert "(does not fit)" not in text
    notes = [
        block
        for block in blocks(text, kind)
        if block.kind == "text" and block.text.startswith("† ")
    ]
    assert notes == []
    page = " ".join(block.text for block in blocks(text, kind) if not block.section)
    assert ("does not fit" in page) is (stem != RANGED)


def text_blocks(stem, kind):
    """The blocks of a review that speak about its subject: no tables of other cases, no inputs."""
    for block in blocks(text_of(stem, kind), kind):
        captions = any(word in block.text for word in OF_ALL_CASES)
        if block.section not in SKIPPED and block.kind != "code" and not captions:
            yield block


SKIPPED = {
    "",
    "Every candidate",
    "What it assumes",
    "Appendix: inputs and assumptions",
    "Appendix: limits, sources, reproduction",
}
"""Page one, which has ranges in a column of their own, and sections of other cases, of inputs and addresses."""


def spoken(stem, block):
    """The latencies, rates and costs a block of words prints, without bounds, times of links and ends of curves, which have no range, and the values that the study sets."""
    without = r", theoretical minimum [\d.,]+ \S+|[\d.,]+ \S+ of communication between devices|it goes from \S+ \S+ to \S+ \S+"
    return [
        value
        for value in printed(re.sub(without, "", block.text))
        if value.text not in LIMITS[stem]
    ]


@pytest.mark.full
@pytest.mark.parametrize("kind", ["md", "html"])
def test_where_both_efficiencies_are_ranges_no_time_stands_without_its_range(kind):
    seen = 0
    for block in text_blocks(RANGED, kind):
        if block.kind == "display":
            continue
        for value in spoken(RANGED, block):
            assert value.low is not None, (value.text, block.text)
            assert value.low < value.value < value.high
            seen += 1
    assert seen > 25


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
            parts = ["does not fit" in part for part in words.split("; ")]
            fits = [case["quantities"]["fits"]["value"] for case in evaluated(stem)]
            assert sorted(parts) == sorted(fit is False for fit in fits)


@pytest.mark.sample(1)
@pytest.mark.parametrize("stem", SUBJECT)
def test_the_text_of_a_figure_is_the_alternative_text_of_every_format(stem):
    for name in (*FIGURES, "pareto"):
        for kind in ("md", "html"):
            assert words_of(stem, name) in [
                block.text for block in blocks(text_of(stem, kind), kind) if block.kind == "figure"
            ]
