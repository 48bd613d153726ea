"""The limits and the recommended line, against memory and times counted by hand."""

import pytest

from symroof.api import Study
from symroof.cases.request import request_of, target_request
from symroof.errors import InputError
from symroof.vllm.advice import review
from symroof.vllm.command_line import read_line
from symroof.vllm.engines import ENGINES
from symroof.vllm.served_case import served_case
from tests.calibrate import DH, HKV, LAYER, D, H, L, Truth, V, device_bytes
from tests.tables import case_of, fields, table

WEIGHTS = 8030261248 * 2
"""Published parameters of Llama 3.1 8B, two bytes each."""
KV = 2 * L * HKV * DH
"""Elements of one token's cache."""
PEAK = Truth(1.0, 1.0, 0.0)
LINE = "vllm serve meta-llama/Llama-3.1-8B-Instruct -tp 2 --max-num-seqs 256 --max-num-batched-tokens 8192 --gpu-memory-utilization 0.9 --max-model-len 32768"
WORK = {"hardware": "h100-sxm", "prompt": 4096, "output": 512, "efficiency": "peak"}


def reviewed(line=LINE, targets=None, **chosen):
    asked = target_request(targets or {}).over(request_of(origin="test", **(WORK | chosen)))
    return review(served_case(read_line(line, ENGINES), asked))


def mixed(batch, chunk, context, past, kv_bytes=2, tp=2):
    """A decode step that takes a chunk along, by hand."""
    tokens = batch + chunk
    flops = 2 * (tokens * L * LAYER + (batch + 1) * D * V) + 4 * L * H * DH * (
        batch * context + chunk * past + chunk * (chunk + 1) / 2
    )
    moved = device_bytes(tokens, batch * context + past + chunk, batch + 1, kv_bytes, tp)
    return PEAK.roof(flops / tp, moved) + PEAK.link(tokens, tp)


def limit(found, name):
    return next(limit.value for limit in found.limits if limit.name == name)


def setting(found, flag):
    return next(advice.value for advice in found.advice if advice.flag == flag)


def test_the_batch_that_memory_allows():
    """Of one device: half of the weights, all of the norms, half of the cache."""
    norms = (2 * L + 1) * D
    by_hand = ((0.9 - 0.04) * 81559 * 2**20 - (8030261248 + norms)) // (KV * (4096 + 511))
    assert limit(reviewed(), "max_batch_memory") == by_hand == 216


@pytest.mark.full
def test_the_batch_and_the_chunk_within_the_itl_target():
    found = reviewed(targets={"itl": "30 ms"})
    batch = limit(found, "max_batch_itl")
    assert PEAK.itl(batch, 4607, tp=2) <= 0.030 < PEAK.itl(batch + 1, 4607, tp=2)
    chunk, running = limit(found, "max_chunk_itl"), found.served.batch
    assert mixed(running, chunk, 4607, 4096) <= 0.030 < mixed(running, chunk + 1, 4607, 4096)


LINES = f"""
{LINE} | itl: 30 ms | efficiency=measured
{LINE} | itl: 30 ms, ttft: 1 s | arrival_rate=30 efficiency=measured
vllm serve deepseek-ai/DeepSeek-V2-Lite -dp 4 --enable-expert-parallel | itl: 30 ms |
vllm serve Qwen/Qwen3-30B-A3B -tp 4 --enable-expert-parallel | ttft: 2 s | arrival_rate=20
sglang serve --model-path Qwen/Qwen3-32B --tp 4 --enable-mixed-chunk | itl: 40 ms |
trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 | itl: 60 ms | hardware=h200
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("line", "targets", "case"), table(LINES))
def test_a_recommended_line_is_what_is_recommended(line, targets, case):
    """It takes the devices of the line, or at a rate as many as are cheapest, fits, keeps its promises, and read again it is the purchase, to the last number."""
    case, targets = case_of(case), fields(targets)
    found = reviewed(line, targets, **case)
    pick = found.pick
    again = reviewed(found.line, targets, **case)
    cases = [made.served.study.first.case for made in (found, again)]
    counts = [each.value("instance_devices") * each.value("dp") for each in cases]
    assert counts[0] == counts[1] or "arrival_rate" in case
    assert not again.served.study.first.does_not_fit and not found.pick.missed
    assert again.pick.batch == pick.batch and again.pick.devices == pick.devices
    assert pick.batch % pick.parallel["attention_dp"] == 0  # a line says the requests of one group
    for name in ("sustained_itl", "loaded_ttft", "sustained_throughput", "worst_itl"):
        if name in found.gives and pick.load is None:
            assert float(again.facts[name].value) == pytest.approx(float(found.gives[name].value))


def test_precisions_stay_as_the_line_or_an_option_has_them():
    found = reviewed(targets={"itl": "60 ms"})
    assert "cache" not in found.line
    chosen = reviewed(targets={"itl": "60 ms"}, kv="fp8")
    assert "--kv-cache-dtype fp8" in chosen.line
    assert chosen.pick.cost_per_mtok.value < found.pick.cost_per_mtok.value


def test_a_stored_format_is_not_changed_by_a_flag():
    line = "vllm serve openai/gpt-oss-120b"
    with pytest.raises(InputError, match="is stored as mxfp4, not fp8: vLLM refuses to start"):
        reviewed(f"{line} --quantization fp8")
    found = reviewed(line, weights="fp8")
    assert "need another one" in str(found.warnings) and "--quantization" not in found.line


R1 = "vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 8 --max-model-len 131072"
LONG = {"hardware": "h200", "prompt": 131072, "output": 1000, "efficiency": None}


def test_a_length_that_requests_have_room_in():
    found = reviewed(R1, targets={"itl": "60 ms"}, **LONG)
    assert setting(found, "max-model-len") == "132072" and not found.pick.missed


@pytest.mark.parametrize(
    ("aims", "says"), [({"ttft": "8 s"}, " s > 8 s"), ({"itl": "1 us"}, "> 1 µs")]
)
def test_what_no_line_reaches_is_said(aims, says):
    found = reviewed(R1, targets=aims, **LONG)
    assert found.line == "" and not found.advice
    assert "Nothing passes. Closest: 8 ×" in found.warnings[-1] and says in found.warnings[-1]


def test_activations_of_a_larger_step_count_in_memory():
    """Beyond 8,192 tokens each takes two vectors of the residual and two of the feed-forward, half of them on each of two devices: 2 byte*(2*4,096 + 14,336)."""
    usual, larger = (
        reviewed(LINE.replace("8192", budget)).served.study.first.case.value("memory_reserve")
        for budget in ("8192", "16384")
    )
    assert larger - usual == 8192 * 2 * (2 * 4096 + 2 * 14336 // 2)


@pytest.mark.parametrize(
    ("model", "tp", "why"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 8, "28 query heads"),
        ("meta-llama/Llama-3.1-8B-Instruct", 3, "32 query heads"),
        ("Qwen/Qwen3-235B-A22B-FP8", 8, "1,536 into 192 each, which blocks of 128 rows"),
    ],
)
def test_devices_that_the_engine_refuses(model, tp, why):
    """vLLM: "Total number of attention heads (28) must be divisible by tensor parallel size (8)"; "output_size ... = 192 is not divisible by weight quantization
    block_n = 128" (vllm issue 17327)."""
    with pytest.raises(InputError, match=why):
        reviewed(f"vllm serve {model} -tp {tp}")


def test_devices_are_added_until_one_request_fits():
    line = "vllm serve meta-llama/Meta-Llama-3-70B-Instruct --gpu-memory-utilization 0.9"
    assert setting(reviewed(f"{line} --max-model-len 8192"), "tensor-parallel-size") == "2"
    # 131,072 tokens take 43 GB of two devices, and 141 of weights leave 9
    line = "vllm serve meta-llama/Llama-3.3-70B-Instruct -tp 2"
    found = reviewed(line, prompt=2000, output=300)
    assert setting(found, "max-model-len") == "auto" and "does not start" in str(found.warnings)
    assert 2 * 70553706496 / (0.9 * 80e9) > 1
    assert 2 * 70553706496 + 2 * 2 * 80 * 8 * 128 * 4607 <= 2 * 0.9 * 80e9


def test_no_line_where_nothing_serves_it():
    found = reviewed("vllm serve deepseek-ai/DeepSeek-R1", hardware="l4")
    assert found.line == ""
    assert any("does not fit: " in warning for warning in found.warnings)


def test_flags_in_terms_of_symroof():
    line = f"{LINE} --kv-cache-dtype fp8_e4m3 --dtype bfloat16 --block-size 32 -pp 2 -dp 4 --enable-expert-parallel"
    case = reviewed(line).served.study.first
    values = {"tp": 2, "pp": 2, "dp": 4, "ep": 8, "batch": 256, "chunk": 8192 - 256}
    values |= {"kv_bytes_per_element": 1, "weight_bytes_per_param": 2, "block_size": 32}
    assert {name: case.case.value(name) for name in values} == values
    assert float(case.case.value("memory_share")) == 0.9
    assert case.given["batch"].source == "vllm line"


@pytest.mark.parametrize(
    ("device", "batch", "budget"),
    [("h100-sxm", 1024, 8192), ("a100-80gb-sxm", 256, 2048), ("l4", 256, 2048)],
)
def test_defaults_go_by_the_device(device, batch, budget):
    """EngineArgs.get_batch_defaults of vLLM: 70 GiB and more, but no A100."""
    made = reviewed("vllm serve meta-llama/Llama-3.1-8B", hardware=device).served
    defaults = {t.flag: t.value for t in made.flags if t.defaulted}
    assert defaults["--max-num-seqs"] == f"{batch:,}"
    assert defaults["--max-num-batched-tokens"] == f"{budget:,}"
    assert "--gpu-memory-utilization" in defaults


@pytest.mark.parametrize(
    ("line", "running", "words"),
    [
        ("", 256, "batch = 256"),
        (" --max-num-seqs 300", 264, "batch = 264, as many as fit; others wait"),
    ],
)
def test_as_many_requests_run_as_fit(line, running, words):
    """((0.92 - 0.04) * 85.52 GB - 2 * 8,030,261,248 byte)/(131,072 byte * (1,500 + 211 - 1) token) = 264.1"""
    case = {"prompt": 1500, "output": 211, "mem_capacity": "85.52 GB"}
    case |= {} if line else {"batch": 256}
    made = reviewed(f"vllm serve meta-llama/Llama-3.1-8B{line}", **case).served
    assert made.batch == running == made.study.first.case.value("batch")
    assert next(t.sets for t in made.flags if t.flag == "--max-num-seqs") == words
    assert not made.study.first.does_not_fit
    assert made.study.first.case.value("chunk") == made.budget - running


def test_where_not_one_request_fits_the_case_is_of_one():
    made = reviewed("vllm serve meta-llama/Meta-Llama-3-70B-Instruct --max-num-seqs 16").served
    assert made.batch == 1 and made.study.first.does_not_fit


def test_what_symroof_is_told_wins_over_the_line():
    case = reviewed(LINE, tp=4, batch=8).served.study.first.case
    assert (case.value("tp"), case.value("batch")) == (4, 8)


def test_what_is_not_said_and_not_modelled_is_told():
    found = reviewed(f"{LINE} --swap-space 4 --enable-lora --port 80", prompt=None, output=None)
    said = "\n".join(found.warnings)
    for word in (
        "without --prompt and --output",
        "32,768",
        "--swap-space is not",
        "--enable-lora is not",
    ):
        assert word in said
    assert "longest request" in "\n".join(reviewed(LINE, prompt=32768).warnings)


def test_what_is_not_modelled_says_what_it_changes():
    said = {
        "-dcp 2": "more requests fit",
        "--mxfp4-layers moe,qkv": "more layers in 4 bits",
        "-dcp 1": "",
    }
    for flag, effect in said.items():
        warnings = "\n".join(reviewed(f"{LINE} {flag}").warnings)
        assert effect in warnings and ("is not modelled" in warnings) == bool(effect)


def test_drafted_tokens():
    spec = """--speculative-config '{"model": "x/y", "num_speculative_tokens": 4}'"""
    assert reviewed(f"{LINE} {spec}").served.study.first.case.value("draft_tokens") == 4
    three = reviewed(f"{LINE} --speculative-config.num_speculative_tokens 3")
    assert three.served.study.first.case.value("draft_tokens") == 3


@pytest.mark.parametrize(
    ("targets", "as_given"),
    [
        ({"itl": "50 ms"}, False),
        ({"ttft": "1.5 s", "itl": "50 ms"}, False),
        ({"itl": "49.01 ms"}, True),  # which its own interval reaches, up to 49.008 ms
    ],
)
def test_what_is_recommended_is_not_worse_than_a_line_that_passes(targets, as_given):
    """Its chunk of 300 is between powers of two: with 256 tokens cost 8 % more, or the first one comes after seconds."""
    line = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-seqs 45 --max-num-batched-tokens 345"
    found = reviewed(line, targets, prompt=2000, output=300, efficiency="measured")
    given, gives = (
        [float(each[name].value) for name in ("cost_per_mtok", "loaded_ttft")]
        for each in (found.facts, found.gives)
    )
    assert gives[0] <= given[0] and gives[1] < 1.05 * given[1]
    assert (found.line == line) == as_given
    waits = "no limit on the time to first token, so any wait passes: --target ttft='1 s'"
    assert (waits in found.warnings) == ("ttft" not in targets)


def test_ranks_fill_all_devices_of_the_line():
    found = reviewed("vllm serve meta-llama/Llama-3.1-8B-Instruct -tp 2", efficiency="measured")
    (said,) = (x.because for x in found.advice if x.flag == "data-parallel-size")
    assert said == "DP ranks that fill 2 GPUs"


RANKS = "vllm serve deepseek-ai/DeepSeek-V2-Lite --data-parallel-size 4 --enable-expert-parallel --max-num-seqs 16 --max-num-batched-tokens 1040"


@pytest.fixture(scope="module")
def ranks():
    return reviewed(RANKS, targets={"itl": "30 ms"}, prompt=2048, output=256)


@pytest.mark.full
def test_every_rank_reads_prompts_with_a_budget_of_its_own(ranks):
    """Four ranks of 16 requests take 4*1,024 prompt tokens along; a step that takes one chunk along takes that of one rank."""
    case = {"model": "deepseek-v2-lite", "hardware": "h100-sxm", "prompt": 2048, "output": 256}
    case |= {"attention_dp": 4, "batch": 64, "memory_share": 0.92, "efficiency": "peak"}
    whole, own = Study(**case, ep=4, chunk=4096), Study(**case, ep=4, chunk=1024)
    for name in ("sustained_itl", "sustained_throughput", "loaded_ttft"):
        assert ranks.facts[name].value == whole.value(name), name
    assert ranks.facts["mixed_time"].value == own.value("mixed_time")
    assert own.value("sustained_throughput") != whole.value("sustained_throughput")


@pytest.mark.full
def test_a_range_of_prompts_whose_middle_is_no_whole_number():
    """The prompt that a chunk stands behind is a whole one, and nothing that vLLM sets by itself is a fault of the case."""
    found = reviewed(prompt="1000..2001", output=256)
    assert found.limits and not any("no effect" in warning for warning in found.warnings)


def test_a_name_in_fp8_does_not_say_how_its_scales_lie():
    """GLM-4.6-FP8 has a scale for each row, and ran over eight devices (GPUStack, performance lab); a listed checkpoint of blocks is refused, with what starts."""
    assert reviewed(
        "vllm serve zai-org/GLM-4.6-FP8 -tp 8", hardware="h200", prompt=2000, output=200
    ).pick
    with pytest.raises(InputError, match="it starts with 1, 2.*or with expert parallelism"):
        reviewed("vllm serve Qwen/Qwen3-30B-A3B-FP8 -tp 8", hardware="h200")


def test_a_line_of_sglang_is_answered_in_its_own_counts():
    """Its tensor-parallel size counts the devices of all groups of attention, and its largest batch the requests of all."""
    line = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --dp 8 --enable-dp-attention"
    found = reviewed(line, hardware="h200", prompt=2000, output=300)
    values = {item.flag: item.value for item in found.advice}
    assert values["tensor-parallel-size"] == "8"
    assert f"--max-running-requests {values['max-num-seqs']} " in f"{found.line} "
    assert int(values["max-num-seqs"]) > 1000
