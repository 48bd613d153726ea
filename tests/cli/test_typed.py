"""What people type out of habit: other tools' options, hub names, bare numbers; and lengths a model was not made for."""

import pytest

from . import call, flat, good, refused, write_study

CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm")


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["--tensor-parallel-size", "2"], ["'--tp'"]),
        (["--tensor_parallel_size=2"], ["'--tp'"]),
        (["-tp", "2"], ["'--tp'"]),
        (["--pipeline-parallel-size", "2"], ["--set pp=N"]),
        (["--data-parallel-size", "2"], ["--set dp=N"]),
        (["--max-model-len", "4096"], ["'--prompt'", "'--context'"]),
        (["--input-len", "4096"], ["'--prompt'"]),
        (["--batch-size", "8"], ["'--batch'"]),
        (["--gpu", "H100"], ["'--hardware'"]),
        (["--dtype", "bfloat16"], ["'--weights'", "'--activations'"]),
        (["--quantization", "awq"], ["'--weights'"]),
        (["--kv-cache-dtype", "fp8"], ["'--kv'"]),
        (["--gpu-memory-utilization", "0.9"], ["memory_share"]),
    ],
)
@pytest.mark.parametrize("command", ["eval", "select"])
def test_options_of_other_tools_lead_to_ours(command, words, ours):
    message = refused(command, *CASE, *words)
    assert "hint: did you mean" in message
    assert all(option in message for option in ours)


def test_an_option_of_no_tool_is_just_unknown():
    assert "no such option" in refused("eval", *CASE, "--frobnicate")


@pytest.mark.full
def test_hub_names_and_printed_names_on_the_line_in_studies_and_in_show(tmp_path):
    line = good(
        "eval",
        "--model",
        "meta-llama/Llama-3.1-8B-Instruct",
        "--hardware",
        "NVIDIA H100 80GB HBM3",
        "--prompt",
        "8",
        "--json",
    ).json["cases"][0]
    assert (line["model"], line["hardware"]) == ("llama-3.1-8b", "h100-sxm")
    path = write_study(tmp_path, model="Qwen/Qwen2.5-7B-Instruct-AWQ", hardware="MI300X")
    result = good("eval", path, "--json").json["cases"][0]
    assert (result["model"], result["hardware"]) == ("qwen2.5-7b", "mi300x")
    assert any("AWQ" in warning or "awq" in warning for warning in result["warnings"])
    assert "deepseek-v3" in good("show", "deepseek-ai/DeepSeek-V3").out
    assert "a100-40gb-pcie, a100-80gb-pcie" in refused("show", "A100 PCIe")
    assert "config.json" in refused("eval", "--model", "meta-llama/Llama-9", "--prompt", "8")


def test_claims_take_the_same_names_and_refuse_bare_numbers(tmp_path):
    note = tmp_path / "note.md"
    note.write_text(
        "It takes 1.34 GB. <!-- symroof: kv_cache_bytes model=meta-llama/Meta-Llama-3-70B-Instruct hardware='H100 SXM' prompt=4096 -->\n",
        encoding="utf-8",
    )
    assert call("check", note).code == 0
    note.write_text(
        "It takes 5 ms. <!-- symroof: itl model=llama-3-8b prompt=4096 mem_bandwidth=3.35 peak_flops='989 TFLOP/s' -->\n",
        encoding="utf-8",
    )
    message = refused("check", note)
    assert "unit of a bandwidth" in message
    claims = tmp_path / "claims.yaml"
    claims.write_text(
        "claims:\n- {id: a, quantity: fits, value: true, given: {model: llama-3-8b, mem_capacity: 80, targets: {itl: 50}}}\n",
        encoding="utf-8",
    )
    message = refused("check", claims)
    assert "write '80 GB'" in message
    assert "write '50 ms'" in message


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "mem_bandwidth=3.35"),
        ("--target", "itl=50"),
        ("--target", "cost=2"),
        ("--set", "arrival_rate=3"),
    ],
)
def test_bare_numbers_on_the_line(words):
    assert "write " in refused("eval", *CASE, "--prompt", "8", *words)


def test_an_equation_with_a_bare_number():
    assert "write 20 ms" in refused("solve", "itl = 20", "--for", "batch", *CASE, "--prompt", "8")


MADE_FOR = "which exceeds Llama 3 8B's maximum context of 8,192 tokens"


@pytest.mark.parametrize(
    ("workload", "what"),
    [
        (("--prompt", "9000"), "prompt is 9,000 tokens"),
        (("--prompt", "8000", "--output", "300"), "prompt and output together are 8,300 tokens"),
        (("--prompt", "100", "--context", "9000"), "context is 9,000 tokens"),
    ],
)
def test_lengths_beyond_the_model_are_remarked_in_eval_and_solve(workload, what):
    for message in (
        good("eval", *CASE, *workload).out,
        good("solve", "batch_kv_equals_weights", *CASE, *workload).out,
    ):
        assert f"! {what}, {MADE_FOR}" in flat(message)
    assert f"{what}, {MADE_FOR}" in flat(
        good("solve", "batch_kv_equals_weights", "--model", "llama-3-8b", *workload).out
    )
    assert MADE_FOR not in flat(good("eval", *CASE, "--prompt", "8000", "--output", "192").out)


@pytest.mark.full
def test_lengths_beyond_the_model_are_remarked_in_the_review(tmp_path):
    path = write_study(tmp_path, model="llama-3-8b", workload="{prompt: 9000, output: 10}")
    assert MADE_FOR in good("report", path, "-o", "-", "--format", "md").out


BEYOND = "beyond Llama 3 8B's maximum context of 8,192 tokens"


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        ("max_context_memory", ("--prompt", "100")),
        ("max_prompt_ttft", ("--target", "ttft=5 s", "--output", "100")),
        ("output_decode_exceeds_ttft", ("--prompt", "8192")),
    ],
)
def test_an_answer_beyond_the_model_says_so(threshold, words):
    assert BEYOND in good("solve", threshold, *CASE, *words, "--json").json["reason"]
    assert BEYOND in flat(good("solve", threshold, *CASE, *words).out)


def test_the_output_counts_beside_the_prompt():
    """A prompt of so many tokens is within 8,192 alone and not with its output."""
    line = ("solve", "max_prompt_ttft", *CASE, "--target", "ttft=100 ms", "--json")
    alone = good(*line).json
    assert alone["integer"]["at_most"] < 8192
    assert BEYOND not in alone["reason"]
    assert BEYOND in good(*line, "--output", 8193 - alone["integer"]["at_most"]).json["reason"]
    assert BEYOND not in good(*line, "--output", 8192 - alone["integer"]["at_most"]).json["reason"]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["batch_to_rige"], "symroof: no such command 'batch_to_rige'", "did you mean `symroof solve batch_to_ridge`?"),
        (["eva"], "symroof: no such command 'eva'", "did you mean `symroof eval`?"),
        (["ttft"], "symroof: no such command 'ttft'", "did you mean `symroof derive ttft`?"),
        (["llama-3-8b"], "symroof: no such command 'llama-3-8b'", "did you mean `symroof show llama-3-8b`?"),
        (["frobnicate"], "symroof: no such command 'frobnicate'", "`symroof --help` lists the commands"),
        (
            ["show", "foo"],
            "foo: unknown name",
            "`symroof list models`, hardware, quantities, inputs or thresholds shows names; a path to a file works too",
        ),
        (["list", "gpus"], "symroof list: KIND: no such value 'gpus'", "did you mean 'hardware'?"),
        (["eval", *CASE, "--format", "json"], "symroof eval: no such option '--format'", "did you mean '--json'?"),
        (["select", *CASE, "--format", "json"], "--format: no such value 'json'", "did you mean '--json'?"),
        (["eval", *CASE, "--promt", "3"], "symroof eval: no such option '--promt'", "did you mean '--prompt'?"),
        (["sweep", *CASE, "--over", "batch=1-8"], "--over: batch: '1-8' is not a range", "write batch='1:8'"),
        (["show"], "symroof show: missing argument NAME", "`symroof show --help` shows how it is called"),
        (["eval", *CASE, "--weights", "int3"], "--weights: unknown precision 'int3'", "did you mean 'int8'?"),
        (["eval", *CASE, "--set", "mem_bandwith=3 TB/s"], "--set: mem_bandwith: unknown name 'mem_bandwith'", "did you mean 'mem_bandwidth'?"),
        (["eval", *CASE, "--set", "zzz=3"], "--set: zzz: unknown name 'zzz'", "`symroof list inputs` shows the names"),
        (["eval", *CASE, "--target", "itl=50"], "--target: itl: write the unit of a time, such as '50 ms'", "write itl='50 ms'"),
        (["eval", *CASE, "--efficiency", "max"], "--efficiency: no such efficiency 'max'", "there are: measured, peak"),
        (["select", *CASE, "--by", "speed"], "--by: no such order 'speed'", "there are: cost, fleet, itl, price, rate, throughput, ttft"),
        (["select", *CASE, "--among", "tp=1-8"], "--among: tp: '1-8' is not a list", "write tp=1,2,4,8"),
        (["solve", "batch_to_rige", *CASE], "batch_to_rige: no such threshold, and not of the form lhs = rhs", "did you mean 'batch_to_ridge'?"),
        (["list", "models", "zzz"], "list models: no entry contains 'zzz'", "`symroof list models` shows all"),
    ],
)  # fmt: skip
def test_a_slip_on_the_line_gets_place_message_and_hint(words, message, hint):
    assert refused(*words) == f"{message}\n    hint: {hint}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["eval", *CASE, "--mfu", "2"],
            "--mfu: must be between 0 and 1 (for example 0.62 or 62 %)\n",
        ),
        (["eval", *CASE, "--isl", "-5"], "--isl: must be positive\n"),
        (
            ["eval", *CASE, "--prompt", "200 ms"],
            "--prompt: is in s, but token is needed, such as '1 token'\n",
        ),
        (["select", *CASE, "--show", "0"], "--show: 0 is not in the range x>=1\n"),
        (
            ["eval"],
            "symroof eval: give a study file or a case: --model llama-3-8b --hardware h100-sxm --prompt 4096\n    hint: `symroof eval --help`\n",
        ),
    ],
)
def test_the_place_of_a_problem_is_the_option(words, said):
    assert refused(*words) == said


def test_for_programs_the_place_of_a_problem_is_where_it_came_from():
    import json

    (error,) = json.loads(refused("eval", *CASE, "--mfu", "2", "--json"))["errors"]
    assert (error["file"], error["path"]) == ("command line", "mfu")


def test_a_usage_error_is_json_where_json_is_asked_for():
    import json

    (error,) = json.loads(refused("eval", *CASE, "--frobnicate", "--json"))["errors"]
    assert (error["file"], error["message"]) == ("symroof eval", "no such option '--frobnicate'")


def test_an_unknown_hub_name_says_how_to_give_a_file_and_names_no_other_model():
    message = refused("eval", "--model", "meta-llama/Llama-9-70B", "--prompt", "8")
    assert (
        message.startswith("meta-llama/Llama-9-70B: not in the catalogue")
        and "--model PATH/config.json" in message
        and "did you mean" not in message
    )
    assert "did you mean 'llama-3.1-8b'" in refused(
        "eval", "--model", "meta-llama/Lama-3.1-8B", "--prompt", "8"
    )
