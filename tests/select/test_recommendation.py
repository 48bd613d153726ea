"""The one recommendation: what is searched, what is counted, what is said where nothing passes, and that what is named passes when it is bound anew."""

import json
import re
import shlex

import pytest

from symroof.api import Study
from symroof.report.purchase_text import layout_text, needed_text
from symroof.select.recommend import recommend
from symroof.vllm.advice import prefill_command, serve_command

from ..cli import call
from ..near import passes
from ..tables import case_of, table, words

CASE = {"model": "llama-3.1-8b", "prompt": 2048, "output": 300}
TARGETS = {"ttft": "1 s", "itl": "40 ms"}


@pytest.fixture(scope="module")
def fleet():
    return recommend(Study(**CASE, hardware=["h100-sxm", "h200"], arrival_rate=60, targets=TARGETS))


def bound_anew(one):
    """The purchase as a study of its own: layout, batch and replicas given."""
    degrees = {name: n for name, n in one.parallel.items() if n > 1}
    apart = {"chunk": one.chunk}
    if one.scheduling == "disaggregated":
        apart = {"prefill": {"tp": 1} | one.prefill}
    served = {"hardware": one.hardware, "batch": one.batch, "dp": one.copies}
    return Study(**CASE, **degrees, **apart, **served, arrival_rate=60, targets=TARGETS)


def at_rest(study):
    """Whether it keeps up and meets its targets at the predicted values."""
    ttft, itl, load = map(study.value, ("loaded_ttft", "loaded_itl", "load"))
    return ttft <= 1 and itl <= 0.04 and load < 1 and bool(study.value("fits"))


def test_what_is_named_passes_when_it_is_bound_anew(fleet):
    for one in fleet.best:
        assert one.passes and passes(bound_anew(one).first)


def test_what_would_do_as_predicted_costs_less_and_passes_without_intervals(fleet):
    """Bound anew with every measured efficiency given as the number that is expected."""
    for one in fleet.best:
        fewer = fleet.as_predicted(one)
        assert fewer.usd_per_month < one.usd_per_month and fewer.hardware == one.hardware
        assert at_rest(bound_anew(fewer)) and not passes(bound_anew(fewer).first)


def test_prefill_instances_have_a_line_of_their_own():
    case = {"model": "llama-3.3-70b", "hardware": "h200", "prompt": 8000, "output": 300}
    targets = {"ttft": "2 s", "itl": "30 ms"}
    one = recommend(Study(**case, arrival_rate=5, targets=targets)).pick
    assert set(one.group) == {"decode", "prefill"}
    apart = '--kv-transfer-config \'{"kv_connector":"NixlConnector","kv_role":"kv_both"}\''
    for line in (serve_command(one), prefill_command(one)):
        assert line.startswith("vllm serve meta-llama/Llama-3.3-70B-Instruct ") and apart in line
    assert "--max-num-seqs" not in prefill_command(one)


def test_all_devices_and_both_prices_are_counted(fleet):
    pick = fleet.pick
    assert pick.devices == pick.replicas * sum(pick.group.values())
    price = float(bound_anew(pick).value("price")) * 3600
    assert pick.usd_per_hour == pytest.approx(pick.devices * price)
    assert pick.usd_per_month == pytest.approx(730 * pick.usd_per_hour)
    per_second = pick.usd_per_hour / 3600
    assert float(pick.cost_per_mtok.value) == pytest.approx(1e6 * per_second / (60 * 300))


def test_at_the_price_at_which_the_pick_changes_both_cost_the_same(fleet):
    pick, other = fleet.pick, fleet.rivals[0]
    assert fleet.stays_up_to * pick.devices == pytest.approx(other.usd_per_hour)


def test_the_head_room_is_the_rate_that_another_replica_is_needed_for(fleet):
    pick = fleet.pick
    assert 60 * (1 + pick.headroom) == pytest.approx(pick.highest_rate)
    more = {"hardware": pick.hardware, "arrival_rate": pick.highest_rate * 1.2}
    beyond = recommend(Study(**CASE, **more, targets=TARGETS))
    assert beyond.pick.devices > pick.devices


def test_where_nothing_passes_nothing_is_named_and_the_closest_is_said():
    found = recommend(Study(**CASE, hardware=["h100-sxm", "l40s"], targets={"itl": "1 ms"}))
    assert found.pick is None and found.reason.startswith("Nothing passes. Closest: ")
    assert "> 1 ms" in found.reason
    assert found.as_json()["recommendation"] is None


def test_a_budget_that_the_cheapest_keeps_is_kept():
    """Between the 13 A100 that do and the 16 of a coarser grid a budget was refused."""
    case = case_of("model=qwen3-32b hardware=a100-80gb-sxm prompt=3000 output=400 arrival_rate=6/s")
    targets = {"itl": "40 ms", "ttft": "2 s"}
    free = recommend(Study(**case, targets=targets)).pick
    budget = {"fleet_price": f"{1.01 * free.devices * 2.325} USD/hour"}
    assert recommend(Study(**case, targets=targets | budget)).pick.devices == free.devices == 13
    refused = call("select", "--model=qwen3-32b", "--hardware=h100", "--set=fleet_price=1 USD/hour")
    assert refused.code == 2 and "--target fleet_price=" in refused.err


def test_at_a_rate_what_misses_is_no_purchase():
    """A hundred requests a second in steps of one request each took thousands of GPUs, shown with their price."""
    line = ["--model=llama-3.1-8b", "--hardware=h100-sxm", "--prompt=2048", "--output=300"]
    said = call("select", *line, "--set=arrival_rate=100/s", "--target=itl=1 ms")
    text = " ".join(said.out.split())
    assert said.code == 1
    assert re.search(r"Nothing passes\. Closest: a group of \d+ × H100 SXM \(ITL ", text)
    assert re.search(r"It would pass if the target is ITL [\d.]+ ms\.", text)
    assert "USD" not in text
    row = next(line for line in said.out.splitlines() if line.startswith("✗  H100 SXM"))
    assert "×" in row and "$" not in row


def test_what_a_device_lacks_is_said_in_one_phrase():
    big = recommend(Study("llama-3.3-70b", ["h100-sxm", "gb10"], prompt=2048, output=300))
    (lacking,) = [one for one in big.best if one.hardware == "gb10"]
    assert lacking.lacks.startswith("does not fit") and lacking.lacks.endswith(
        "so only one is used"
    )


def test_devices_without_a_link_of_their_own_are_joined_by_the_host_link():
    """141 GB of weights need at least four cards of 48 GB, whose prompts and steps meet over PCIe 4.0: 32 GB/s."""
    pick = recommend(Study("llama-3.3-70b", "l40s", prompt=2048, output=300)).pick
    assert pick.devices == pick.parallel["tp"] and pick.devices in (4, 8)
    same = {**pick.parallel, "batch": pick.batch, "chunk": pick.chunk}
    one = Study("llama-3.3-70b", "l40s", prompt=2048, output=300, **same)
    assert one.value("link_bandwidth") == 32e9
    assert one.value("sustained_itl") == pytest.approx(pick.itl.value)


def test_what_changes_answers_is_left_and_only_said():
    case = case_of("model=llama-3.3-70b hardware=b200 prompt=1500 output=300 arrival_rate=40")
    found = recommend(Study(**case, targets=TARGETS))
    assert found.pick.case.precisions["weights"] == "fp16"
    weights, one = found.cheaper
    assert weights == "fp8" and one.usd_per_hour < found.pick.usd_per_hour
    given = recommend(Study(**case, weights=["bf16", "fp8"], targets=TARGETS))
    assert given.pick.case.precisions["weights"] == "fp8" and given.cheaper is None
    assert given.pick.devices == one.devices


KEYS = words(
    "model hardware devices replicas group parallel scheduling chunk batch usd_per_hour "
    "usd_per_month cost_per_mtok ttft itl headroom alternatives undecided_by_price command"
)


def test_the_json_has_the_recommendation():
    line = ["--model", "llama-3.1-8b", "--prompt", "2048", "--output", "300"]
    line += ["--hardware", "h100-sxm", "--hardware", "l40s", "--target", "itl=40 ms"]
    data = json.loads(call("select", *line, "--set", "arrival_rate=60/s", "--json").out)
    found = data["recommendation"]
    assert found.keys() >= {*KEYS}
    assert [one["hardware"] for one in found["alternatives"]] == ["l40s"]
    assert found["command"].startswith("vllm serve ")
    for name in ("ttft", "itl"):
        assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]


@pytest.mark.full
def test_the_starter_of_a_study_has_what_is_recommended(tmp_path):
    """With its batch, layout and chunk, and with these open, `select` and `report` name one purchase at one price."""
    file = tmp_path / "study.yaml"
    call("init", "study", "-o", file)
    written = Study.load(file)
    opened = Study()
    opened.select(written.request.without(("batch", "tp", "chunk")))
    found = recommend(opened).pick
    chosen = call("select", file, "--json").json["recommendation"]
    reviewed = call("report", file, "--format", "json", "-o", "-").json
    assert chosen == reviewed["recommendation"]
    for name in ("hardware", "devices", "batch", "chunk", "parallel", "usd_per_month"):
        assert chosen[name] == found.as_json()[name]
    assert "may change" not in str(reviewed["page"])
    file.write_text(file.read_text().replace("batch: 98", "batch: 16"))
    again = call("report", file, "--format", "md", "-o", "-").out
    assert "the batch may change: 1 × " in again and "up to 98 requests" in again


@pytest.mark.full
def test_without_a_device_every_one_with_a_price_is_searched(tmp_path):
    """In a file as on the line; the review that it names is of the first of them, and says the same."""
    file = tmp_path / "study.yaml"
    file.write_text(
        "model: llama-3.1-8b\nworkload: {prompt: 2048, output: 256}\ntargets: {itl: 50 ms}\n"
    )
    lines = call("select", file).out.splitlines()
    chosen = call("select", file, "--json").json["recommendation"]
    assert len(chosen["alternatives"]) > 30
    (line,) = (line for line in lines if line.startswith("Review it: "))
    line = shlex.split(line.removeprefix("Review it: symroof report "))
    reviewed = call("report", *line, "--format", "json", "-o", "-").json
    for name in ("hardware", "batch", "devices", "usd_per_month"):
        assert reviewed["recommendation"][name] == chosen[name]


def test_of_near_ties_the_first_token_decides():
    """At an ITL target alone 197 requests with chunks of 512 tokens queue 19 s for prefill, and their tokens cost hardly less."""
    case = {"model": "llama-3.1-8b", "hardware": "a100-80gb-sxm", "prompt": 2000, "output": 300}
    pick = recommend(Study(**case, targets={"itl": "100 ms"})).pick
    full = Study(**case, batch=197, chunk=512).first
    assert full.case.value("loaded_ttft") > 10 > 1 > pick.ttft.value
    assert pick.cost_per_mtok.value <= 1.05 * full.case.value("cost_per_mtok")


@pytest.mark.parametrize("tp", [2, 4, 8])
def test_no_layout_that_is_fixed_costs_less_than_the_one_that_is_found(tp):
    """At tp 4 a batch beyond what all slots allow needs two prefill instances less, and tp 2 is ahead without it."""
    case = {"hardware": "h100-sxm", "prompt": 1500, "output": 300, "arrival_rate": 40}
    case |= {"weights": "fp8", "targets": TARGETS}
    found, fixed = (recommend(Study("llama-3.3-70b", **case, **of)).pick for of in ({}, {"tp": tp}))
    assert found.usd_per_month <= fixed.usd_per_month


@pytest.mark.parametrize(
    ("case", "devices"),
    table("""
    hardware=b200 | 19
    hardware=h200 weights=fp8 | 26
    hardware=mi300x weights=fp8 | 22
    """),
)
def test_any_numbers_of_instances_that_decode_and_that_prefill_are_tried(case, devices):
    """Found with every number of instances given one by one: ``--dp 2 --tp 4 --prefill tp=1 --prefill instances=11``."""
    load = {"prompt": 1500, "output": 300, "arrival_rate": 40, "targets": TARGETS}
    assert recommend(Study("llama-3.3-70b", **load, **case_of(case))).pick.devices == int(devices)


@pytest.mark.parametrize("others", [(), ("b300",), ("h200", "mi325x")])
def test_what_would_do_at_the_predicted_values_is_the_same_beside_other_devices(others):
    """Two instances that prefill cost the same: both are looked at with other numbers of them."""
    load = {"prompt": 2000, "output": 300, "arrival_rate": 20}
    targets = {"ttft": "1 s", "itl": "50 ms"}
    found = recommend(Study("llama-3.3-70b", ["b200", *others], **load, targets=targets))
    assert found.pick.hardware == "b200" and found.as_predicted(found.pick).devices == 7


def test_a_given_number_of_prefill_instances_is_the_one_that_is_said():
    case = {"weights": "fp8", "prompt": 1500, "output": 300, "arrival_rate": 40, "targets": TARGETS}
    apart = {"tp": 4, "dp": 3, "prefill": {"tp": 1, "instances": 16}}
    pick = recommend(Study("llama-3.3-70b", "h200", **case, **apart)).pick
    assert (pick.devices, pick.replicas, pick.prefill) == (28, 1, {"instances": 16})
    assert layout_text(pick).startswith("3 decode instances of 4, ")


def test_prefill_apart_is_searched_where_it_is_asked_for():
    case = {**CASE, "hardware": "h100-sxm", "arrival_rate": 60, "targets": TARGETS}
    free, apart = (
        recommend(Study(**case, assume=assume)).pick
        for assume in ({}, {"scheduling": "disaggregated"})
    )
    assert (free.scheduling, apart.scheduling) == ("chunked", "disaggregated")
    assert apart.usd_per_month >= free.usd_per_month


def test_instances_of_a_prefill_layout_are_counted_as_the_rate_asks():
    """70B on H200: one instance of two prefills less than 10 prompts a second; the slow end decides between two and three."""
    case = {"hardware": "h200", "prompt": 1024, "output": 256, "arrival_rate": 10}
    pick = recommend(Study("llama-3.1-70b", **case, prefill={"tp": 2}, targets=TARGETS)).pick
    count = pick.group["prefill"] * pick.replicas // 2
    case |= {"tp": pick.parallel["tp"], "batch": pick.batch}
    loads = [
        Study("llama-3.1-70b", **case, prefill={"tp": 2, "instances": n}).result("load").high
        for n in (count - 1, count)
    ]
    assert loads[0] > 1 >= loads[1]


@pytest.mark.parametrize(
    "targets", [{"ttft": "10 ms", "itl": "30 ms"}, {"ttft": "1 s", "itl": "1 ms"}]
)
def test_what_would_pass_passes_and_relaxes_no_more_targets_than_it_has_to(targets):
    """A server that decodes one request at a time missed both targets far, where a larger batch misses one."""
    case = {"hardware": "h100-sxm", "prompt": 2048, "output": 300, "arrival_rate": 40}
    near = recommend(Study("llama-3.1-8b", **case, targets=targets)).best[0]
    assert not near.passes
    (name, limit), *others = re.findall(r"(TTFT|ITL) ([\d.]+ \w+)", needed_text(near))
    assert not others
    assert recommend(Study("llama-3.1-8b", **case, targets=targets | {name.lower(): limit})).pick
