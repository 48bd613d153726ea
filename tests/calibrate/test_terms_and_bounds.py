"""Why rows leave a parameter open, what a time is made of, and where the bounds of servers end: by hand, over plain numbers."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
import serving_bounds

from symroof.api import Study
from symroof.calibrate import fit as fitting
from symroof.calibrate.measurements import Measurement
from symroof.calibrate.terms import DEFAULT_FIT, OVERHEADS, SHARES, chosen, terms, unit
from symroof.errors import InputError
from symroof.specs.measured import ServedRate

# -------------------------------------------------------------------------------------------------------------------- terms


@pytest.fixture(scope="module")
def case():
    return Study(model="llama-3-8b", hardware="h100-sxm", tp=2, layer_overhead="10 us", link_latency="3 us").first.case


@pytest.mark.parametrize("metric", ["ttft", "itl"])
def test_the_terms_of_a_time_make_the_time(case, metric):
    """At mfu 1/2, mbu 4/5 and overheads of their own, each entering as its rate says: the engine's own time there."""
    fit = ("mfu", "mbu", "step_overhead", "link_latency", "queue_time")
    measured = Measurement(metric, Fraction(1), {"prompt": Fraction(300), "batch": Fraction(7)}, 1, 1)
    made = terms(case, measured, fit)
    shares, overheads = (
        {"mfu": Fraction(1, 2), "mbu": Fraction(4, 5)},
        {"step_overhead": Fraction(1, 500), "link_latency": Fraction(1, 10**5), "queue_time": Fraction(1, 50)},
    )
    there = case.changed({**measured.inputs, **shares, **overheads})
    own = (
        sum(max(c / shares["mfu"], m / shares["mbu"]) for c, m in made.arms)
        + sum(r * overheads[n] for r, n in zip(made.rates, ("step_overhead", "link_latency", "queue_time"), strict=True))
        + made.fixed
    )
    assert own == there.value(metric)
    assert made.rates[2] == (1 if metric == "ttft" else 0) and made.rates[0] == 1 and made.rates[1] == 2 * 32
    assert made.roof == sum(max(pair) for pair in made.arms) + made.fixed and made.fixed >= 32 * Fraction(1, 10**5)


def test_what_is_fitted_stands_in_its_own_order(case):
    assert chosen(("queue_time", "mbu", "step_overhead", "mfu"), case.theory) == ("mfu", "mbu", "step_overhead", "queue_time")
    assert set(DEFAULT_FIT) <= {*SHARES, *OVERHEADS}
    assert [unit(name) for name in ("mfu", "step_overhead", "ttft")] == ["", "s", "s"]


@pytest.mark.parametrize(
    ("fit", "assume", "message", "hint"),
    [
        (("mfu", "mfv"), {}, "'mfv' cannot be fitted", "did you mean 'mfu'?"),
        ((), {}, "nothing to fit", "any of mfu, mbu, step_overhead, layer_overhead, link_latency, prefill_overhead, queue_time"),
        (("mfu",), {"launches": "hidden"}, "launches=hidden makes the overhead an arm of a maximum; calibrate under another choice", ""),
    ],
)
def test_what_cannot_be_fitted(fit, assume, message, hint):
    theory = Study(model="llama-3-8b", hardware="h100-sxm", prompt=8, assume=assume).first.case.theory
    with pytest.raises(InputError) as caught:
        chosen(fit, theory)
    assert [(problem.message, problem.hint) for problem in caught.value.problems] == [(message, hint)]


@pytest.mark.parametrize("name", ["itl", "decode_roofline_time", "decode_compute_time", "decode_memory_time", "decode_link_time"])
def test_a_time_with_a_number_leaves_nothing_to_fit(name):
    given = Study(model="llama-3-8b", hardware="h100-sxm", prompt=8, **{name: 0.5}).first.case
    with pytest.raises(InputError) as caught:
        terms(given, Measurement("itl", Fraction(1), {}, 1, 1), ("mfu",))
    (problem,) = caught.value.problems
    assert (problem.message, problem.path) == ("is given a number, so there is nothing to fit", name)


def test_times_faster_than_the_roof_are_refused_with_both_numbers(tmp_path):
    """One nanosecond a step: the roof is 2 byte of 7.5 thousand million parameters and more over 3.35 TB/s, 4.5 ms."""
    path = tmp_path / "m.csv"
    path.write_text("prompt,batch,itl_us\n16,1,0.001\n16,1,20000\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        fitting.calibrate(path, Study(model="llama-3-8b", hardware="h100-sxm").first)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.path) == (2, 6, "itl")
    assert problem.message == "impossible: above the memory roof: 1 ns measured, at least 4.483 ms at the peak"


# ----------------------------------------------------------------------------------------------------------- serving bounds

SERVED = {
    "engine": "vLLM 0.9", "device": "H100", "place": "table 1", "model": "Llama 3 8B", "weights": "fp16", "kv": "fp16", "devices": 64, "output": 100,
    "value": "20 token/s", "spec": "llama-3-8b", "hardware": "h100-sxm",
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "layouts"), [({"tp": 4}, [(4, 1, 1)]), ({"pp": 2}, [(1, 2, 1)]), ({"tp": 2, "pp": 4}, [(2, 4, 1)]), ({"attention_dp": 4}, [(1, 1, 4)])]
)
def test_a_layout_that_the_source_names_is_the_only_one(more, layouts):
    row = ServedRate.model_validate({**SERVED, **more})
    assert list(serving_bounds._layouts(row, None)) == layouts


def test_pipelines_of_no_more_than_eight_stages(monkeypatch):
    row = ServedRate.model_validate(SERVED)
    monkeypatch.setattr(serving_bounds, "_case", lambda deployed, layout: SimpleNamespace(permits=lambda n: n in (1, 8), has=lambda name: name != "n_experts"))
    assert list(serving_bounds._layouts(row, None)) == [(1, pp, 1) for pp in (1, 2, 4, 8)] + [(8, pp, 1) for pp in (1, 2, 4, 8)]


@pytest.mark.parametrize(
    ("concurrency", "room", "batch"), [(None, 90, 90), (400, 90, 90), (100, 90, 25), (4, 90, 1), (3, 90, None), (None, Fraction(1, 2), None), (None, 1, 1)]
)
def test_the_batch_of_each_copy(concurrency, room, batch, monkeypatch):
    """Four copies share the requests that the source has at once; less than one request a copy is no layout. Each holds them at their mean length."""
    seen = []

    def case(values):
        def changed(inputs):
            seen.append(inputs)
            return case({**values, **inputs})

        return SimpleNamespace(changed=changed, value=lambda name: room if name == "concurrency" else 10 * values["batch"])

    monkeypatch.setattr(serving_bounds, "_case", lambda deployed, layout: case({}))
    deployed = SimpleNamespace(devices=16, prompt=Fraction(50), output=Fraction(30), concurrency=concurrency)
    assert list(serving_bounds._sustained(deployed, (2, 2, 1))) == ([] if batch is None else [(10.0 * batch * 4, batch)])
    assert seen[0] == {"prompt": 50, "output": 30, "peak_context": 65}
