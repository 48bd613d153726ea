"""Where a verdict tips, all by hand: ten billion parameters of two bytes at 2 TB/s are a step of 10 ms, at 1,000 TFLOP/s one of 20 µs a request."""

from fractions import Fraction

import pytest

from symroof.analysis.tipping_points import flips, never
from symroof.api import Study

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
ITL = {"targets": {"itl": "16 ms"}}
CACHED = {"kv_bytes_per_token": "100 kB", "state_bytes": 0, "batch": 30, "mem_capacity": "24 GB"}
"""23 GB of weights and caches."""

TABLES = {  # case -> input, condition -> crossing, value, last, whether above, whether it holds there, the conditions that do not
    "a step of 10 ms may take 16": (
        ITL,
        {
            ("mbu", "itl"): ("0.625", "0.625", "0.625", False, False, ("itl",)),
            ("mem_bandwidth", "itl"): ("1.25e12", "1.25e12", "1.25e12", False, False, ("itl",)),
            ("weight_bytes_per_param", "itl"): ("3.2", "3.2", "3.2", True, False, ("itl",)),
            ("mfu", "itl"): ("1/800", "1/800", "1/800", False, False, ("itl",)),
            ("peak_flops", "itl"): ("1.25e12", "1.25e12", "1.25e12", False, False, ("itl",)),
            ("batch", "itl"): (
                800,
                801,
                800,
                True,
                False,
                ("itl",),
            ),  # 800 requests take 16 ms and still meet it
            ("step_overhead", "itl"): ("0.006", "0.006", "0.006", True, False, ("itl",)),
        },
        (),
    ),
    "900 requests take 18 ms": (
        {**ITL, "batch": 900},
        {
            ("batch", "itl"): (800, 800, 801, False, True, ()),
            ("peak_flops", "itl"): ("1.125e15", "1.125e15", "1.125e15", True, True, ()),
        },
        (
            "mfu",
            "mbu",
            "mem_bandwidth",
            "weight_bytes_per_param",
            "step_overhead",
        ),  # mfu is 1 already
    ),
    "memory and a target": (
        {**ITL, **CACHED},
        {
            ("mem_capacity", "memory"): (
                23 * 10**9,
                23 * 10**9,
                23 * 10**9,
                False,
                False,
                ("memory",),
            ),
            ("memory_share", "memory"): ("23/24", "23/24", "23/24", False, False, ("memory",)),
            ("weight_bytes_per_param", "memory"): ("2.1", "2.1", "2.1", True, False, ("memory",)),
            ("prompt", "memory"): ("4000/3", 1334, 1333, True, False, ("memory",)),
            ("batch", "memory"): (40, 41, 40, True, False, ("memory",)),
            ("mbu", "itl"): ("0.625", "0.625", "0.625", False, False, ("itl",)),
            ("mem_bandwidth", "itl"): ("1.25e12", "1.25e12", "1.25e12", False, False, ("itl",)),
            ("weight_bytes_per_param", "itl"): (
                "3.2",
                "3.2",
                "3.2",
                True,
                False,
                ("memory", "itl"),
            ),
            ("mfu", "itl"): ("0.0375", "0.0375", "0.0375", False, False, ("itl",)),
            ("peak_flops", "itl"): ("3.75e13", "3.75e13", "3.75e13", False, False, ("itl",)),
            ("batch", "itl"): (800, 801, 800, True, False, ("memory", "itl")),
            ("memory_reserve", "memory"): (10**9, 10**9, 10**9, True, False, ("memory",)),
            ("step_overhead", "itl"): ("0.006", "0.006", "0.006", True, False, ("itl",)),
        },
        (),
    ),
    "one byte too much": (
        {**CACHED, "mem_capacity": "22999999999 byte"},
        {
            ("mem_capacity", "memory"): (23 * 10**9, 23 * 10**9, 23 * 10**9, True, True, ()),
            ("weight_bytes_per_param", "memory"): (
                "1.9999999999",
                "1.9999999999",
                "1.9999999999",
                False,
                True,
                (),
            ),
            ("prompt", "memory"): ("2999999999/3000000", 999, 1000, False, True, ()),
            ("batch", "memory"): ("2999999999/100000000", 29, 30, False, True, ()),
            ("tp", "memory"): ("23000000000/22999999999", 2, 1, True, True, ()),
        },
        ("memory_share", "memory_reserve"),
    ),
}


def number(text):
    over, _, under = str(text).partition("/")
    return Fraction(over) / Fraction(under or 1)


def near(value):
    """A number to nine digits; what is none as it is."""
    return value if value is None else float(f"{float(value):.9g}")


@pytest.mark.sample(5)
@pytest.mark.parametrize("label", TABLES)
def test_flips_by_hand(label):
    more, table, unmoved = TABLES[label]
    answers = Study(**{**CASE, **more}).first
    every = flips(answers)
    made = {
        (f.name, f.condition): (f.crossing, f.value, f.last, f.up, f.holds, f.wrong) for f in every
    }
    made = {key: (*map(near, row[:3]), *row[3:]) for key, row in made.items()}
    by_hand = {key: (*map(number, row[:3]), *row[3:]) for key, row in table.items()}
    assert made == {key: (*map(near, row[:3]), *row[3:]) for key, row in by_hand.items()}
    assert len(every) == len(made) and never(answers, every) == unmoved
    assert all(not (f.turns or f.spread) for f in every)
    wrong_now = {not row[4] and key[1] for key, row in table.items()} == {
        key[1] for key in table
    }  # as things are every condition holds
    assert all((not f.wrong_now) is wrong_now for f in every)
    order = [(f.distance is None, near(f.distance or 0)) for f in every]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (1, [(3, 3, 2, True, True, (8,))]),
        (5, [(3, 2, 3, False, False, ()), (7, 8, 7, True, False, ())]),
        (3, [(3, 2, 3, False, False, ()), (7, 8, 7, True, False, ())]),
        (10, [(7, 7, 8, False, True, (2,))]),
    ],
)
def test_a_condition_that_changes_and_changes_back(batch, expected):
    """A step of 20 ms and (n - 3)(n - 7) ms more: met from three requests on up to seven, both exactly."""
    answers = Study(
        **CASE, itl="20 ms + (batch - 3)*(batch - 7)*1 ms", batch=batch, targets={"itl": "20 ms"}
    ).first
    made = flips(answers, ("batch",))
    assert sorted((f.crossing, f.value, f.last, f.up, f.holds, f.turns) for f in made) == expected


def test_what_is_zero_now_and_tips_at_once_is_not_called_harmless():
    """At 20 ms exactly any time on top misses the target: no value below which it is met, and no input without effect."""
    answers = Study(**{**CASE, "targets": {"itl": "20 ms"}, "batch": 1000}).first
    assert "step_overhead" not in {*never(answers, ()), *(flip.name for flip in flips(answers))}


def test_flips_over_ranges_of_other_inputs():
    """A bandwidth used to 50 to 90 %, arithmetic to 1 to 90 %: the middle is 0.7 and 0.455."""
    answers = Study(**{**CASE, **ITL, "mbu": "0.5..0.9", "mfu": "0.01..0.9"}).first
    made = {f.name: f for f in flips(answers)}
    by_hand = {
        "mbu": Fraction("0.625"),
        "mem_bandwidth": Fraction("1.25e12") / Fraction("0.7"),
        "weight_bytes_per_param": Fraction("2.24"),
        "mfu": Fraction(1, 800),
        "peak_flops": Fraction("1.25e12") / Fraction("0.455"),
        "batch": 365,  # 20 µs over 0.455 go 364 times into 16 ms
        "step_overhead": Fraction(16, 1000) - Fraction(1, 70),
    }
    assert {name: near(f.value) for name, f in made.items()} == {
        name: near(value) for name, value in by_hand.items()
    }
    spans = {name: tuple(map(near, f.spread)) for name, f in made.items()}
    assert spans["mbu"] == spans["mfu"] == ()
    assert spans["mem_bandwidth"] == (
        near(Fraction("1.25e12") / Fraction("0.9")),
        near(Fraction("2.5e12")),
    )
    assert spans["weight_bytes_per_param"] == (
        near(Fraction("1.6")),
        near(Fraction("2.88")),
    )
    # where the bandwidth is used to a half the step takes 20 ms, whatever multiplies it: it would tip beyond any rate, or before any batch
    assert spans["peak_flops"] == (
        near(Fraction("1.25e12") / Fraction("0.9")),
        near(Fraction("1.25e14")),
    )
    assert spans["batch"] == (9, 721)
    assert spans["step_overhead"] == (
        near(Fraction(16, 1000) - Fraction(1, 70)),
        near(Fraction(16, 1000) - Fraction(1, 90)),
    )
