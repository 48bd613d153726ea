"""The measurements of the catalogue and the efficiencies fitted to them: each held by arithmetic that is not the fit's own."""

import json
import math
import re
import statistics
from dataclasses import replace

import pytest

import symroof as sr
from symroof.calibrate import catalogue_fit
from symroof.calibrate.catalogue_rows import (
    MeasuredRow,
    TimeParts,
    comparable,
    row_binding,
    sources,
)
from symroof.calibrate.catalogue_table import CatalogueFit, efficiencies
from symroof.resources import data_folder
from symroof.specs.efficiencies import shipped_efficiencies
from symroof.specs.measured import Measurement


@pytest.fixture(scope="module")
def catalogue():
    return CatalogueFit.of_catalogue()


def test_the_shipped_table_is_what_the_catalogue_gives(catalogue):
    text = (data_folder("specs") / "efficiencies.yaml").read_text(encoding="utf-8")
    assert text == efficiencies(catalogue), (
        "stale: symroof calibrate --catalogue -o specs/efficiencies.yaml"
    )


def test_each_source_predicted_from_the_others(catalogue):
    """The promise of the page: half of the rows of all makers but AMD within 14 %, nineteen of twenty within half; DeepSeek-R1 on Blackwell and on MI355X, which
    no other source has, within 15 and 18 %; and four of five rows of each family inside the interval."""
    everywhere = [p for p in catalogue.predictions if p.row.family != "cdna"]
    assert len(everywhere) > 1500
    assert statistics.median(abs(p.error) for p in everywhere) <= 0.14
    assert statistics.mean(abs(p.error) <= 0.5 for p in everywhere) >= 0.94
    for family, limit in (("hbm", 0.15), ("cdna", 0.185)):
        own = [
            abs(p.error)
            for p in catalogue.predictions
            if (p.row.source, p.row.family) == ("inferencex-dsr1", family)
        ]
        assert len(own) > 90 and statistics.median(own) <= limit
    for family in {p.row.family for p in catalogue.predictions}:
        held = [
            p.low <= p.row.seconds <= p.high
            for p in catalogue.predictions
            if p.row.family == family
        ]
        assert statistics.mean(held) >= 0.8, family


def test_a_source_does_not_see_itself(catalogue):
    """Without the rows of a source its prediction stays; with its times doubled too."""
    rows = [
        row for row in catalogue.rows if row.source in ("gpt-fast", "qwen3-speed", "azure-guide")
    ]
    doubled = [replace(r, seconds=r.seconds * (2 if r.source == "gpt-fast" else 1)) for r in rows]
    before, _ = catalogue_fit.leave_one_source_out(rows, catalogue.latency, catalogue.widths)
    after, _ = catalogue_fit.leave_one_source_out(doubled, catalogue.latency, catalogue.widths)

    def own(made):
        return [p.expected for p in made if p.row.source == "gpt-fast"]

    assert own(before) == pytest.approx(own(after))


def test_known_efficiencies_come_back():
    """Times made by hand from mfu 0.5, mbu 0.75, 90 us a layer for engines of 2025 and 150 us for those before, 80 bytes an element of a vector, 5 and 20 us a
    message and 0.3 of the link; every fourth row multiplies a tile of rows at least, which takes three times as long as its own."""
    spec = next(s for s in sources() if s.name == "qwen25-speed")
    row = spec.measurements[0].model_copy(update={"tp": 8})
    made = []
    for i in range(120):
        of = ("compiled", 9e-5, 5e-6) if i % 2 else ("earlier", 15e-5, 2e-5)
        engine, layer, latency = of
        compute = 5e-4 * 1.3 ** (i % 13)
        parts = TimeParts(
            compute,
            2e-3 * 1.2 ** (i % 11),
            8.0 + i,
            1e-4 * (i % 7),
            10.0 * (i % 3),
            1e-3 * (i % 3),
            tile=compute * 3 if i % 4 == 0 else 0.0,
        )
        multiplied = compute * (3 if i % 4 == 0 else 1)
        seconds = (
            max(multiplied / 0.5, parts.memory / 0.75)
            + parts.layers * layer
            + parts.between * 80
            + parts.messages * latency
            + parts.sent / 0.3
        )
        made.append(
            MeasuredRow(
                "a" if i % 3 else "b",
                row.model_copy(update={"class_": engine}),
                "hbm",
                seconds,
                parts,
                None,
            )
        )
    latencies = {
        ("link_latency", "group", "compiled"): 5e-6,
        ("link_latency", "group", "all"): 2e-5,
    }
    assert catalogue_fit.fit(made, latencies) == pytest.approx({
        ("mfu", "hbm", "all"): 0.5, ("mbu", "all", "all"): 0.75, ("layer_overhead", "hbm", "compiled"): 9e-5, ("layer_overhead", "hbm", "earlier"): 15e-5,
        ("elementwise_bytes", "all", "all"): 80, ("link_share", "all", "all"): 0.3, **latencies,
    }, rel=0.03)  # fmt: skip


def test_latencies_of_links_are_the_medians_of_their_kernels(catalogue):
    """NCCL between two devices: 7.08 (H100), 7.28 (H200), 8.09 (RTX PRO 6000), 9.10 (L40S), 10.83 (B200), 11.02 (GB300), 11.38 (B300), 11.71 (GB200) and
    12.78 us (A100); the engines' own kernels among eight: 3.84, 3.90, 5.82, 6.09, 8.36, 30.19, 49.77 and 90.27 us."""
    assert catalogue.latency["link_latency", "pair", "all"] == pytest.approx(10.83e-6)
    assert catalogue.latency["link_latency", "group", "compiled"] == pytest.approx(
        (6.09e-6 + 8.36e-6) / 2
    )


@pytest.mark.parametrize("name", ["gpt-fast", "rocm-vllm-mi300x", "tensorrt-llm", "mlx-lm"])
def test_the_parts_make_the_time_that_the_engine_gives(name):
    """One row in eight: the parts at some efficiencies against the engine's own time at these, growing context and all."""
    spec = next(s for s in sources() if s.name == name)
    given = {
        "mfu": 0.5,
        "mbu": 0.8,
        "layer_overhead": 1e-4,
        "elementwise_bytes": 50,
        "link_latency": 6e-6,
        "link_share": 0.4,
    }
    exact = {key: sr.Study(**{key: value}).exact(key) for key, value in given.items()}
    for made in [row for row in comparable(spec) if isinstance(row, MeasuredRow)][::8]:
        case = row_binding(spec, made.row).case.changed(exact)
        steps = (
            1
            if made.row.metric in ("response_time", "response_rate") or made.row.output is None
            else made.row.output - 1
        )
        time = sum(
            float(case.value(metric)) / (1 if metric == "ttft" else steps)
            for metric, part in (("ttft", made.prefill), ("decode_time", made.decode))
            if part
        )
        parts = sum(
            max(p.compute / 0.5, p.memory / 0.8)
            + p.layers * 1e-4
            + p.between * 50
            + p.messages * 6e-6
            + p.sent / 0.4
            for p in made.parts
        )
        assert parts == pytest.approx(
            time, rel=0.02
        )  # a response that changes its regime on the way is the longer by that


def test_rows_that_cannot_be_used_say_why(catalogue):
    reasons = {(r.source, r.reason) for r in catalogue.refused}
    assert any("not in the catalogue of hardware" in reason for _, reason in reasons)
    assert any(
        source == "llm-awq-tinychat" and "least time" in reason for source, reason in reasons
    )


def test_no_place_of_a_workplace_in_the_files():
    for path in (data_folder("specs") / "measured").glob("*.yaml"):
        assert not re.search(r"/tmp/|/home/", path.read_text(encoding="utf-8")), path


ROW = {
    "engine": "vLLM 0.6", "device": "H100", "place": "table 1", "model": "Llama 3 8B", "weights": "fp16", "kv": "fp16", "batch": 4, "prompt": 100,
    "output": 11, "metric": "response_rate", "value": "20 token/s",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({}, 2.2),
        ({"metric": "decode_rate"}, 0.2),
        ({"metric": "prefill_rate", "value": "800 token/s"}, 0.5),
        ({"metric": "tpot", "value": "25 ms"}, 0.025),
    ],
)
def test_the_time_behind_a_figure(changes, seconds):
    """44 tokens at 20 a second; 4 tokens at 20; 400 tokens at 800; as it stands."""
    assert float(Measurement.model_validate({**ROW, **changes}).seconds) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": "20 ms"}, "response_rate is in token/s"),
        ({"value": "20"}, "write the unit"),
        ({"value": "-3 token/s"}, "must be positive"),
        ({"output": None}, "is missing"),
        ({"engine": "spreadsheet"}, "no such engine"),
        ({"weights": "fp17"}, "unknown precision"),
        ({"metric": "tpot", "value": "25 ms", "output": 1}, "no decode"),
    ],
)
def test_bad_rows_are_refused_with_their_reason(changes, words):
    with pytest.raises(ValueError, match=words):
        Measurement.model_validate({**ROW, **changes})


# --------------------------------------------------------------------------------------------------- efficiency: measured


def test_a_measured_study_by_hand():
    """Llama 3 8B on an H100 at batch 1: the step is its bytes over mbu, 32 layers, and a vector of 4,096 elements in each, all with their own intervals."""
    peak = sr.Study("llama-3-8b", "h100-sxm", prompt=512)
    study = sr.Study("llama-3-8b", "h100-sxm", prompt=512, efficiency="measured")
    mbu, layer, between = (
        shipped_efficiencies().chosen(name, "hbm", "compiled")[0]
        for name in ("mbu", "layer_overhead", "elementwise_bytes")
    )
    ends = {
        "low": (mbu.high, layer.low, between.low),
        "high": (mbu.low, layer.high, between.high),
        "expected": (mbu.value, layer.value, between.value),
    }
    for end, amounts in ends.items():
        share, cost, traffic = (float(amount.value) for amount in amounts)
        by_hand = float(peak.value("itl")) / share + 32 * cost + traffic * 32 * 4096 / 3.35e12
        assert (
            float(study.value("itl")) if end == "expected" else getattr(study.value("itl"), end)
        ) == pytest.approx(by_hand, rel=1e-9)
    assert study.value("mbu").low < float(study.value("mbu")) < study.value("mbu").high


def test_given_numbers_win_one_by_one():
    study = sr.Study(
        "llama-3-8b",
        "h100-sxm",
        prompt=512,
        efficiency="measured",
        mbu=0.9,
        layer_overhead=0,
        elementwise_bytes=0,
    )
    assert study.exact("mbu") == sr.Study(mbu=0.9).exact("mbu")
    assert study.value("mfu").low < study.value("mfu").high
    assert float(study.value("itl")) == pytest.approx(
        float(sr.Study("llama-3-8b", "h100-sxm", prompt=512).value("itl")) / 0.9
    )


def test_links_count_where_there_are_several_devices():
    one, two = (
        sr.Study("llama-3-8b", "h100-sxm", prompt=512, tp=tp, efficiency="measured").first.given
        for tp in (1, 2)
    )
    assert "link_share" not in one
    assert two["link_share"].setting.low < two["link_share"].setting.expected <= 1


def test_the_latency_of_links_is_that_of_the_group_and_of_the_engine():
    """An all-reduce of a pair is quicker than one of eight, and a kernel of an engine's own quicker than the library's."""
    studies = [
        sr.Study("llama-3-8b", "h100-sxm", prompt=512, tp=tp, efficiency="measured", engine=name)
        for name in ("vllm", "vllm 0.6")
        for tp in (2, 8)
    ]
    times = [float(study.value("link_latency")) for study in studies]
    assert times == pytest.approx([4.98e-6, 7.22e-6, 10.8e-6, 26.8e-6])


@pytest.mark.parametrize(("weights", "activations"), [("bf16", "bf16"), ("fp8", "fp8")])
def test_a_device_that_multiplies_slowly_reads_weights_slowly(weights, activations):
    """An H20 at batch 1: 64 rows by each 16-bit weight are 128 FLOP for 2 bytes, and 148 TFLOP/s against 4 TB/s give 37 FLOP a byte; fp8 is twice as fast
    and half as wide."""
    study = sr.Study(
        "qwen3-32b",
        "h20",
        prompt=512,
        efficiency="measured",
        weights=weights,
        activations=activations,
    )
    mfu = study.value("mfu")
    assert float(study.value("mbu")) == pytest.approx(float(mfu) * 37 / 64, rel=1e-9)
    assert study.value("mbu").low == pytest.approx(mfu.low * 37 / 64, rel=1e-9)
    assert float(study.value("decode_memory_time")) == pytest.approx(
        float(study.value("decode_bytes")) / (float(mfu) * 148e12 * 2 / 128), rel=1e-9
    )


def test_the_tile_limits_what_it_should_and_nothing_else():
    """Not weights narrower than what is multiplied, not kernels of single rows, not a share that is given, not a device with compute to spare."""
    own = shipped_efficiencies().chosen("mbu", "hbm", "compiled")[0].value.value
    for hardware, options in (
        ("h20", {"weights": "awq"}),
        ("h20", {"engine": "ggml"}),
        ("h100-sxm", {}),
        ("m3-max", {}),
    ):
        study = sr.Study("qwen3-8b", hardware, prompt=512, efficiency="measured", **options)
        assert study.exact("mbu") == own, (hardware, options)
    assert sr.Study("qwen3-8b", "h20", prompt=512, efficiency="measured", mbu=0.9).exact(
        "mbu"
    ) == sr.Study(mbu=0.9).exact("mbu")


@pytest.mark.parametrize(
    ("engine", "more"), [("eager", True), ("HF Transformers", True), ("vllm", False)]
)
def test_the_engine_chooses_among_the_measured(engine, more):
    itl = [
        float(
            sr.Study(
                "llama-3-8b", "h100-sxm", prompt=512, efficiency="measured", engine=name
            ).value("itl")
        )
        for name in (engine, "compiled")
    ]
    assert (itl[0] > itl[1]) == more
    assert math.isclose(*itl) != more


def test_a_device_that_was_never_measured_says_so():
    study = sr.Study("llama-3-8b", "m3-max", prompt=512, efficiency="measured", engine="compiled")
    assert any(
        "nothing was measured for mfu of compiled engines" in warning
        for warning in study.first.warnings
    )
    general = next(
        e for e in shipped_efficiencies().efficiencies if (e.input, e.family) == ("mfu", "all")
    )
    assert shipped_efficiencies().chosen("mfu", "optical", "eager") == (
        general,
        shipped_efficiencies().chosen("mfu", "optical", "eager")[1],
    )
    assert "of all devices" in shipped_efficiencies().chosen("mfu", "optical", "eager")[1]
    assert all(
        general.low.value <= e.low.value and e.high.value <= general.high.value
        for e in shipped_efficiencies().efficiencies
        if e.input == "mfu"
    )


STUDY = "model: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 512}\nefficiency: "


@pytest.mark.parametrize(
    ("text", "mbu"),
    [
        ("measured", None),
        ("{from: measured, mbu: 0.8, engine: eager}", 0.8),
        ("{mbu: 0.8}", 0.8),
        ("peak", 1.0),
        ("{from: peak}", 1.0),
    ],
)
def test_a_study_file_says_where_efficiencies_come_from(text, mbu, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY + text + "\n", encoding="utf-8")
    study = sr.Study.load(path)
    assert float(study.value("mbu")) == pytest.approx(
        mbu
        if mbu is not None
        else float(shipped_efficiencies().chosen("mbu", "hbm", "compiled")[0].value.value)
    )
    assert (study.value("mfu").low < 1) == ("measured" in text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("best", "no such efficiency 'best'"),
        ("{from: measured, engine: foo}", "no such engine"),
        ("{mfv: 1}", "mfu"),
    ],
)
def test_a_study_file_with_a_wrong_word(text, words, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY + text + "\n", encoding="utf-8")
    with pytest.raises(sr.InputError, match=words):
        sr.Study.load(path)


def test_the_page_is_what_the_catalogue_gives(catalogue):
    from measured_page import measured_page

    page = (data_folder("specs").parent / "docs" / "measured.md").read_text(encoding="utf-8")
    assert page == measured_page(catalogue), "stale: python docs/generate.py"


def test_the_section_counts_what_is_stored(catalogue):
    """Errors, shares and counts of its first lines by a count of this test's own."""
    import accuracy_peers
    from peer_questions import KEY, STORED, key_of

    document, width = json.loads(STORED.read_text(encoding="utf-8")), len(KEY) + 1
    section = accuracy_peers.peers_section(catalogue.predictions)
    answers = {
        tuple(row[:width]): dict(zip(document["columns"][width:], row[width:], strict=True))
        for row in document["rows"]
    }
    errors = []
    for made in catalogue.predictions:
        found = answers.get(key_of(made.row.source, made.row.row))
        if found and found["from"] in ("measured", "scaled", "borrowed"):
            errors.append(
                (
                    abs(made.expected / made.row.seconds - 1),
                    abs(found["seconds"] / made.row.seconds - 1),
                )
            )
    ours, theirs = zip(*errors, strict=True)
    nearer = sum(one < other for one, other in errors) / len(errors)
    words = " ".join(section.split())
    assert (
        f"the median error is {statistics.median(ours):.1%} for symroof and {statistics.median(theirs):.1%} for aiconfigurator"
        in words
    )
    near = [sum(error <= 0.2 for error in side) / len(errors) for side in (ours, theirs)]
    assert (
        f"{near[0]:.0%} and {near[1]:.0%} are within ±20 %, and symroof is the nearer of the two for {nearer:.0%}"
        in words
    )
    reasons = [
        line.split("|")
        for line in section.partition("### What only one")[2].partition("###")[0].splitlines()
        if line.startswith("| ")
    ][2:]
    assert len(errors) + sum(int(cells[2]) for cells in reasons) == len(catalogue.predictions)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "bound at 100 % of peak"),
        (["--mbu", "0.8"], "at the efficiencies given"),
        (
            ["--efficiency", "measured", "--engine", "ollama"],
            "expected by measured efficiencies of ggml engines; the range holds 80 % of measurements",
        ),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["eval", "--all"],
        ["derive", "itl", "--all"],
        ["solve", "max_batch_itl", "--all", "--target", "itl=50 ms"],
    ],
)
def test_the_first_lines_say_what_a_time_rests_on(command, words, line, capsys):
    from symroof.cli.main import main

    assert (
        main(
            [*command, "--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "512", *words]
        )
        == 0
    )
    assert line in [text.strip() for text in capsys.readouterr().out.splitlines()[:3]]


def test_the_line_wins_over_the_study(tmp_path):
    from symroof.cases.request import request_of

    path = tmp_path / "study.yaml"
    path.write_text(STUDY + "measured\n", encoding="utf-8")
    assert sr.Study.load(path, request_of(efficiency="peak")).exact("mbu") == 1
