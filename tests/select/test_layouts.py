"""The ways to lay devices out, counted by hand; instances of which an arrival rate takes copies; what is bought of them."""

from fractions import Fraction

import pytest

from symroof.api import Study
from symroof.errors import InputError
from symroof.report.selection_purchase import purchase_table
from symroof.report.selection_tables import parts
from symroof.select.headroom import expected_copies, headrooms
from symroof.select.selection import select

from ..near import near

CASE = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "output": 300,
    "chunk": 2048,
    "price": "4.29 USD/hour",
}
AIMS = {"ttft": "2 s", "itl": "50 ms", "fleet_price": "65 USD/hour"}


def layouts(choice):
    """Width, attention groups, copies and prefill devices of each."""
    cases = [c.run.own.case for c in choice.configurations]
    return sorted(
        (
            int(case.value("tp")),
            int(case.value("attention_dp")),
            int(case.value("dp")),
            case.value("prefill_devices") if case.has("prefill_devices") else 0,
        )
        for case in cases
    )


def measured(run):
    """The efficiencies that come from measurements."""
    return [name for name, given in run.bound_case.given.items() if given.measured]


@pytest.fixture(scope="module")
def bought():
    """100 requests a second, on instances of one and two devices."""
    return select(**CASE, targets=AIMS, arrival_rate=100, among={"instance_devices": "1,2"})


def test_six_devices_by_hand():
    """Groups of 1 or 2 (6 and 3 do not share 8 key and value heads out): one in six to five in six of them read prompts, whole numbers of groups."""
    choice = select(**CASE, among={"devices": 6}, efficiency="peak")
    ones = [(1, 1, 6, 0), *((1, 1, 6 - n, Fraction(n, 6 - n)) for n in range(1, 6))]
    twos = [(2, 1, 3, 0), *((2, 1, 3 - n, Fraction(2 * n, 3 - n)) for n in range(1, 3))]
    assert layouts(choice) == near(sorted([*ones, *twos]))
    assert {
        c.run.bound_case.case.value("served_devices") * c.run.bound_case.case.value("dp")
        for c in choice.configurations
    } == {6}


def test_one_prefill_device_of_three_that_decode():
    """Short prompts and long responses: 3 * 637 requests decode, and the one device that reads 128 tokens at a time keeps up with them."""
    choice = select(
        **(CASE | {"prompt": 128, "output": 2048}), among={"devices": 4}, efficiency="peak"
    )
    (apart,) = [
        c.run for c in choice.configurations if c.label == "4 x h100-sxm, dp 3, 1 of them prefill"
    ]
    alone = Study(
        **(CASE | {"prompt": 128, "output": 2048}),
        batch=apart.batch,
        assume={"scheduling": "exclusive"},
    )
    decoding, reading = (
        alone.value("decode_request_rate"),
        1 / (alone.value("prefill_time") + alone.value("prefill_overhead")),
    )
    assert float(3 * apart.value("sustained_requests")) == pytest.approx(
        float(min(3 * decoding, reading)), rel=1e-12
    )
    assert apart.value("cost_per_request") * apart.value("sustained_requests") * 3 == pytest.approx(
        float(4 * alone.value("price")), rel=1e-12
    )


@pytest.mark.full
def test_instances_are_laid_out_and_their_copies_solved(bought):
    assert layouts(bought) == [(1, 1, 1, 0), (1, 1, 1, 1), (2, 1, 1, 0)]
    assert [c.label for c in bought.configurations] == [
        "h100-sxm",
        "2 x h100-sxm, tp 2",
        "2 x h100-sxm, tp 1, 1 of them prefill",
    ]
    for c in bought.configurations:
        assert float(c.run.value("fleet_price")) == pytest.approx(
            4.29 / 3600 * c.run.copies * int(c.run.value("served_devices"))
        )


@pytest.mark.full
def test_a_million_of_a_device_without_a_price_is_not_known_and_its_fleet_is():
    """Not judged at one request and one copy."""
    case = {name: value for name, value in CASE.items() if name != "price"} | {
        "hardware": "h200-nvl"
    }
    (c,) = select(**case, targets=AIMS, arrival_rate=100).configurations
    assert (c.state, list(c.run.unknown)) == ("unknown", ["fleet_price"])
    (free,) = select(
        **case, targets={name: AIMS[name] for name in ("ttft", "itl")}, arrival_rate=100
    ).configurations
    assert (c.run.batch, c.run.copies) == (free.run.batch, free.run.copies)
    assert c.run.copies > 1


@pytest.mark.full
def test_fewer_copies_would_do_if_all_went_as_expected(bought):
    """With the largest batch that keeps its 50 ms then, found by trying one more at a time; the queue alone limits the copies."""
    run = bought.configurations[0].run
    chosen = {name: run.bound_case.case.value(name) for name in measured(run)}
    expected = Study(
        **CASE, **chosen, batch=run.batch, arrival_rate=100, memory_share=0.92
    ).first.case
    batch = run.batch
    while expected.changed({"batch": Fraction(batch + 1)}).value("sustained_itl") <= Fraction(
        1, 20
    ) and batch < expected.value("concurrency"):
        batch += 1
    rate = expected.changed({"batch": Fraction(batch)}).value("sustained_requests")
    assert batch > run.batch
    assert expected_copies(run) == int(100 / rate) + 1 < run.copies


@pytest.mark.full
def test_what_it_bears_of_longer_prompts_is_what_no_batch_bears_beyond(bought):
    """At the slow end of the efficiencies, with every batch up to the one in force."""
    run = bought.configurations[0].run
    last = headrooms(run, ["prompt"])[0]
    slow = {name: run.bound_case.slow_end.case.value(name) for name in measured(run)}

    def borne(prompt):
        longer = Study(
            **(CASE | {"prompt": prompt}),
            **slow,
            batch=run.batch,
            dp=run.copies,
            arrival_rate=100,
            memory_share=0.92,
        ).first.case
        for batch in range(run.batch, 0, -1):
            case = longer.changed({"batch": Fraction(batch)})
            if case.value("sustained_itl") <= Fraction(1, 20):
                return case.value("load") < 1 and case.value("loaded_ttft") <= 2
        return False

    assert borne(int(last.value)) and not borne(int(last.value) + 1)


@pytest.mark.full
def test_the_table_of_what_to_buy_has_those_above_the_budget_too(bought):
    table = purchase_table(bought, 20)
    columns = list(zip(*table.rows, strict=True))
    rows = {
        label: dict(zip(columns[0], column, strict=True))
        for label, column in zip(table.header[1:], columns[1:], strict=True)
    }
    assert [row["verdict"] == "misses fleet_price" for row in rows.values()] == [
        int(row["devices"]) * 4.29 > 65 for row in rows.values()
    ]
    assert {row["verdict"] for row in rows.values()} == {"passes", "misses fleet_price"}
    assert all(
        "request/s (" in row["largest rate"] and "tokens (" in row["longest prompt"]
        for row in rows.values()
    )
    assert [
        int(row["replicas"]) > int(row["replicas (expected)"].partition(",")[0])
        for row in rows.values()
    ] == [True] * 3
    larger = [
        (int(batch), int(row["batch"]))
        for row in rows.values()
        if (batch := row["replicas (expected)"].partition(", batch ")[2])
    ]
    assert larger and all(batch > own for batch, own in larger), (
        "fewer copies do with the larger batch that they then take"
    )


@pytest.mark.full
def test_the_same_configurations_stand_alone_and_at_the_peak_beside(bought):
    """What is measured, at 100 % of peak, and alone: three tables' numbers of one configuration, by that configuration at ``efficiency: peak``."""
    first, beside = (
        next(part for part in parts(bought, 20) if part.title.startswith(title))
        for title in ("Configurations", "The same")
    )
    assert [row[:2] for row in beside.rows] == [row[:2] for row in first.rows]
    assert beside.header[2:] == (
        *(f"{name} at peak" for name in ("ttft", "itl", "throughput per device", "cost")),
        "ttft alone",
        "at peak",
        "itl alone",
        "at peak",
    )
    for c, row in list(zip(bought.configurations, beside.rows, strict=True)):
        if "prefill" in c.label:
            continue
        peak = Study(
            **CASE,
            tp=c.run.own.case.value("tp"),
            batch=c.run.batch,
            dp=c.run.copies,
            arrival_rate=100,
            efficiency="peak",
        ).first
        under = [
            peak.result(name).plain()
            for name in (
                "loaded_ttft",
                "loaded_itl",
                "sustained_throughput_per_device",
                "cost_per_mtok_at_rate",
            )
        ]
        assert list(row[2:6]) == under and (row[7], row[9]) == (
            peak.result("ttft").plain(),
            peak.result("itl").plain(),
        )
        assert row[6].startswith(c.run.bound_case.result("ttft").plain()) and row[8].startswith(
            c.run.bound_case.result("itl").plain()
        )


def test_the_peak_bounds_no_latency_that_it_lengthens():
    """Prompts that are read five times as fast keep more requests decoding beside each other."""
    apart = Study(
        **CASE,
        batch=200,
        prefill_devices=1,
        mfu=0.2,
        mbu=1,
        assume={"scheduling": "disaggregated"},
        efficiency="measured",
    ).first
    assert apart.at_peak.case.value("sustained_itl") > apart.case.value("sustained_itl")
    assert (
        apart.peak_bound("sustained_itl") is None and apart.peak_bound("prefill_time") is not None
    )


@pytest.mark.parametrize(
    ("among", "says"),
    [
        ({"devices": 4, "instance_devices": 2}, "both devices of all replicas"),
        ({"instance_devices": 2, "tp": 2}, "tp is what layouts"),
        ({"instance_devices": "two"}, "is not a number of devices"),
    ],
)
def test_counts_that_cannot_be_laid_out(among, says):
    with pytest.raises(InputError, match=says):
        select(**CASE, among=among)
