"""What a simulation says: its figures, its targets, its pictures, its command."""

import math

import numpy as np
import pytest

import symroof as sr
from tests.cli import call, good, refused

from ..tables import case_of, table, words
from . import by_hand, write_trace

CASE = words(
    "--model llama-3-8b --hardware h100-sxm --prompt 600 --output 30 --batch 16 --set chunk=512"
)
STUDY = case_of("model=llama-3-8b hardware=h100-sxm prompt=600 output=30 batch=16 chunk=512")
SHORT = case_of("model=llama-3.1-8b hardware=h100-sxm prompt=512 output=32 batch=64 chunk=2048")
RATE = (*CASE, "--set", "arrival_rate=9/s", "--requests", "200")


def test_percentiles_are_those_of_the_requests(tmp_path):
    # one at a time: 20 ms, then 2 ms a token
    trace = write_trace(tmp_path, [(i, 10, 1 + i) for i in range(10)])
    found = by_hand(chunk=100).simulate(trace=trace)
    times = [0.020 + 0.002 * i for i in range(10)]
    summary = found.summary["response_time"]
    assert summary["mean"] == pytest.approx(sum(times) / 10)
    assert [summary[name] for name in ("p50", "p90", "p99")] == pytest.approx(
        [times[4], times[8], times[9]]
    )
    assert found.rates["request_rate"][0] == pytest.approx(10 / found.makespan)
    assert found.rates["busy"][0] == pytest.approx(sum(times) / found.makespan)
    assert found.within({"ttft": 0.03, "itl": 0.001}) == pytest.approx(0.1)
    assert found.within({"ttft": 0.03, "itl": 0.002}) == 1
    assert found.within({"ttft": 0.01}) == 0


def test_one_token_each_has_no_time_between_tokens():
    found = by_hand(output=1, arrival_rate=5, itl_target=0.001).simulate(requests=50)
    assert math.isnan(found.summary["itl"]["mean"])
    assert found.as_json()["summary"]["itl"]["mean"]["value"] is None
    assert "-" in found.tables()[0][1][1]
    assert not found.missed


@pytest.mark.full
def test_a_mix_and_spread_lengths():
    case = case_of("model=llama-3-8b hardware=h100-sxm prompt=100 batch=8 arrival_rate=9")
    mixed = sr.Study(**case, output=10, long_share=0.25, long_prompt=900, long_output=40)
    table = mixed.simulate(requests=800).requests
    assert set(table.prompt.tolist()) == {100, 900}
    assert (table.prompt == 900).mean() == pytest.approx(0.25, abs=0.05)
    assert set(table.output[table.prompt == 900].tolist()) == {40}
    spread = sr.Study(**case, output=100, output_spread=0.5).simulate(requests=4000).requests.output
    assert (spread.std() / spread.mean()) ** 2 == pytest.approx(0.5, rel=0.2)


def test_a_burst_takes_what_its_prompts_and_steps_take():
    """Requests of one token each, all at once: the last one's first token comes when all prompts are prefilled, at the rate of the bound; no start or end is left out."""
    study = sr.Study(
        "llama-3.1-8b", "h100-sxm", prompt=2048, output=1, batch=8, chunk=8192, efficiency="peak"
    )
    found = study.simulate("burst", requests=40)
    ends = np.sort(found.requests.end)
    assert found.requests.arrival.tolist() == [0.0] * 40 and found.requests.counted.all()
    assert found.rates["request_rate"][0] == pytest.approx(40 / ends[-1])
    alone = float(study.value("prefill_compute_time"))
    assert ends[-1] == pytest.approx(40 * alone, rel=0.1)


def test_a_burst_has_no_more_requests_at_a_time_than_users():
    study = sr.Study(**SHORT)
    table = study.simulate("burst", requests=60, users=6).requests
    alive = [int(((table.arrival <= t) & (table.end > t)).sum()) for t in table.arrival]
    assert max(alive) == 6 and (table.arrival[6:] > 0).all()


def test_users_start_at_once_as_those_of_a_benchmark_do():
    """Six prompts of 512 tokens in steps of 2,048 beside 64 slots: four and a bit in the first step, so the first tokens of all take two."""
    study = sr.Study(**SHORT)
    found = study.simulate(users=6, requests=60)
    assert found.requests.arrival[:6].tolist() == [0.0] * 6 and found.requests.counted.all()
    assert len(set(found.requests.first_token[:6].tolist())) == 2
    met = study.simulate("closed-loop", users=6, requests=60)
    assert met.requests.first_token[:6].max() < found.requests.first_token[:6].max()
    rated = sr.Study(**SHORT, arrival_rate=1)
    assert rated.simulate(users=6, requests=60) == found


@pytest.mark.parametrize("requests", [32, 64, 65, 80, 128, 150])
def test_a_closed_loop_of_few_requests_a_user_counts_all_of_them(requests):
    """No start is cut short: responses over the time that they took, and that is said."""
    study = sr.Study("llama-3.1-8b", "h100-sxm", prompt=256, output=64, batch=64, chunk=2048)
    found = study.simulate("closed-loop", requests=requests)
    rate = found.rates["request_rate"][0]
    assert rate == pytest.approx(requests / found.requests.end.max())
    assert rate <= float(study.value("sustained_requests")) * 1.02
    assert set(found.requests.output.tolist()) == {64} and found.requests.counted.all()
    assert any("three a user" in text for text in found.says)


def test_where_almost_all_have_come_before_the_first_ends_none_is_left_out():
    """Twenty requests in two seconds, each of more than a second and a half: the tenth part that ends first is no beginning."""
    case = case_of(
        "model=llama-3.1-8b hardware=h100-sxm prompt=256 output=330 batch=64 chunk=2048 "
        "arrival_rate=10 efficiency=peak"
    )
    study = sr.Study(**case)
    found = study.simulate("uniform", requests=20)
    table = found.requests
    assert np.sort(table.end)[1] < table.arrival.max() and table.counted.all()
    assert found.rates["request_rate"][0] == pytest.approx(20 / table.end.max())


def test_replicas_share_the_arrivals_and_a_queue_that_grows_is_told():
    one, two = (
        sr.Study(**STUDY, arrival_rate=9 * copies, dp=copies).simulate(requests=100, seed=1)
        for copies in (1, 2)
    )
    assert two.requests.end.tolist() == one.requests.end.tolist()
    flooded = sr.Study(**STUDY, arrival_rate=10_000).simulate(requests=100)
    assert any("only grows" in text for text in flooded.warnings)


def test_what_is_given_and_not_used_is_named():
    found = by_hand(arrival_rate=5, queue_time=1).simulate(requests=5)
    assert any("queue_time is not used" in text for text in found.says)


# -------------------------------------------------------------------------------------------------------- the command


def test_json_has_the_form_that_it_says():
    value = good("simulate", *RATE, "--json", "--target", "ttft=1 s").json
    assert value["schema"] == "symroof/simulate/2"
    assert set(value["summary"]) == {"ttft", "itl", "response_time", "queue_wait"}
    assert value["summary"]["ttft"]["p99"]["unit"] == "s"
    assert value["targets"]["ttft"]["met"] is True
    assert value["within_targets"]["value"] == 1
    assert value["inputs"]["chunk"]["value"] == 512
    assert "scheduling" in value["assumptions"]


def test_the_exit_code_says_whether_a_target_is_missed():
    assert call("simulate", *RATE, "--target", "ttft=1 ms").code == 1
    assert call("simulate", *RATE, "--target", "ttft=1 s", "--target", "itl=1 s").code == 0
    limits = [call("simulate", *RATE, "--target", f"ttft={s} 60 ms").code for s in ("p50", "p99")]
    assert limits == [0, 1]


USAGE = """
--arrivals oftn | no such kind of arrivals
--arrivals poisson | need a rate
--requests 0 | requests
--requests 99999999 | requests
--seed -1 | seed
--lengths prompt=gauss:5 | no distribution
--lengths width=5 | no such length
--lengths prompt | NAME=VALUE
--trace /no/such.csv | No such file
--trace /no/such.csv --arrivals poisson | its own arrivals
--users 0 | users
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("options", "message"), table(USAGE))
def test_bad_usage(options, message):
    assert message in refused("simulate", *CASE, *options.split())


def test_faults_of_a_trace_have_their_place(tmp_path):
    trace = write_trace(tmp_path, [(0, 10, 3), ("x", 10, 3), (1, 2.5, 3)])
    error = refused("simulate", *CASE, "--trace", trace)
    assert f"{trace}:3:1: " in error
    assert f"{trace}:4:1: " in error


def test_what_a_case_lacks_is_named():
    for line, said in (
        ("--model llama-3-8b --hardware h100-sxm --prompt 600", "needs output"),
        ("--model llama-3-8b --prompt 600 --output 9", "no step times"),
    ):
        assert said in refused("simulate", *line.split())
    assert "prefill_devices" in refused("simulate", *CASE, "--assume", "scheduling=disaggregated")
