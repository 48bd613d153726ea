"""One addition of every sort that CONTRIBUTING names, as the lines a newcomer writes and where; the name is that of its entry."""

from . import ROOT, Insert

INFERENCE = "specs/theories/inference"
THEORY, CHECKPOINTS, PICTURES = (
    "symroof/theory",
    "symroof/specs/checkpoints",
    "symroof/report/pictures",
)
REVIEW = "templates/review.j2"
STARTERS = ROOT / "templates" / "starters"


def started(kind, name, lines):
    """The starter of a kind, as ``symroof init`` writes it, with other words in its line ``name:``."""
    text, line = (STARTERS / f"{kind}.yaml").read_text(encoding="utf-8"), f"{name}\n"
    assert text.count(line) == 1
    return text.replace(line, f"{lines}\n")


OF_THE_THEORY = {
    "A quantity": [
        Insert(
            f"{INFERENCE}/memory.yaml",
            "  prompt_cache_bytes:\n    unit: byte\n    means: cache of one prompt\n    latex: \\mathrm{KV}_S\n    formula: prompt*kv_bytes_per_token\n",
            "  kv_cache_bytes:\n",
        ),
    ],
    "A threshold": [
        Insert(
            f"{INFERENCE}/thresholds.yaml",
            "- name: prompt_cache_equals_weights\n  subject: memory\n  equation: prompt_cache_bytes = weight_bytes\n  unknown: prompt\n  kind: reach\n"
            "  means: from this prompt on one request caches more than the weights take\n"
            "  below: no prompt caches more than the weights take\n"
            "  above: every prompt caches more than the weights take\n",
            "- name: batch_kv_equals_weights\n",
        )
    ],
    "A switch value": [
        Insert(f"{INFERENCE}/switches.yaml", "    doubled: twice what the tokens need\n", "    unified: sliding-window"),
        Insert(f"{INFERENCE}/memory.yaml", "        doubled: 2*peak_kv_cache_bytes\n", "        unified: batch*peak_context"),
    ],
    "A block": [
        Insert(
            f"{THEORY}/block_rows.py",
            "def deep(layer: Layer) -> Iterator[OperatorRow]:\n"
            '    """Three plain matrices: one widens, one keeps the width, one narrows."""\n'
            '    yield from gemm("up", "d_model", "d_ff")\n'
            '    yield from gemm("up", "d_ff", "d_ff")\n'
            '    yield from gemm("down", "d_ff", "d_model")\n\n\n',
            "FEED_FORWARDS = {",
        ),
        Insert(f"{THEORY}/block_rows.py", '"deep": deep, ', '"none": nothing}'),
        Insert("symroof/specs/layers.py", '"deep", ', '"none"] = "gated"\n    d_ff'),
        Insert("symroof/specs/layers.py", '"deep": 3, ', '"plain": PLAIN_MATRICES}'),
    ],
    "A function of the formula grammar": [
        Insert("symroof/symbolic/reading.py", '"nearest": (1, 1), "hypotenuse": (2, 2), ', '"sqrt": (1, 1)'),
        Insert("symroof/symbolic/reading.py", '"nearest": lambda x: KEPT["floor"](x + sympy.Rational(1, 2)), "hypotenuse": hypotenuse, ', '"sqrt": _root'),
        Insert("symroof/symbolic/reading.py", '"nearest": sympy.Function("nearest"), "hypotenuse": hypotenuse, ', '"sqrt": Sqrt'),
        Insert("symroof/symbolic/reading.py", "    hypotenuse,\n", "    OfLargest,\n    Opaque,\n"),
        Insert("symroof/symbolic/expressions.py", "class hypotenuse(Opaque):\n    pass\n\n\n", "class OfLargest(Opaque):\n"),
        Insert("symroof/symbolic/code.py", '    hypotenuse: "hypotenuse",\n', '    sympy.log: "log",\n'),
        Insert("symroof/symbolic/code.py", "    hypotenuse,\n", "    Label,\n    OfLargest,\n"),
        Insert("symroof/symbolic/kernels.py", '    "hypotenuse": lambda a, b: sqrt(a*a + b*b),\n', '    "sqrt": sqrt,\n'),
    ],
}  # fmt: skip

OF_THE_CATALOGUE = {
    "A hardware part": [Insert("specs/hardware/made-up-gpu.yaml", started("hardware", "name: my-device", "name: made-up-gpu"))],
    "A model": [Insert("specs/models/made-up-1b.yaml", started("model", "name: my-model", "name: made-up-1b\npublished_params: 1100048384"))],
    "A source of measurements": [Insert("specs/measured/made-up-source.yaml", started("measured", "name: my-measurements", "name: made-up-source"))],
    "A claim file": [Insert("specs/claims/made-up.yaml", (STARTERS / "claims.yaml").read_text(encoding="utf-8"))],
    "A theory": [Insert("specs/theories/made-up.yaml", started("theory", "name: my-theory", "name: made-up"))],
    "An engine": [Insert("specs/engines/made-up-engine.yaml", started("engine", "name: my-engine", "name: made-up-engine"))],
    "A preset": [Insert("specs/presets/made-up-tool.yaml", started("preset", "name: my-preset", "name: made-up-tool"))],
}  # fmt: skip
"""The starter of a model has the dimensions of TinyLlama-1.1B, whose model card counts 1,100,048,384 parameters."""

OF_CHECKPOINTS = {
    "An architecture family": [
        Insert(
            "specs/checkpoints/families.yaml",
            "  made_up:\n    source: MadeUpConfig\n    attention: floored\n    norm: {per_layer: 3}\n"
            "    defaults: [untied, {vocab_size: 1000, hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2,\n"
            "      num_attention_heads: 4, num_key_value_heads: 2}]\n",
            "  mistral:\n    source: ",
        ),
    ],
    "A quantization method": [
        Insert("specs/checkpoints/quantization.yaml", "  six: {method: six, bits: 6, format: int8}\n", "  fbgemm_fp8: {method"),
    ],
    "A precision that is a whole checkpoint": [
        Insert("symroof/specs/stored_precisions.py", '    "w2a16": integers(2, GROUP),\n', '    "w8a16": tensors('),
        Insert("symroof/specs/stored_precisions.py", '    "w2a16": "2 bits, a 16-bit scale for 128 weights; 16-bit arithmetic",\n', '    "w8a16": "8-bit'),
    ],
    "An architecture of GGUF files": [Insert(f"{CHECKPOINTS}/gguf.py", '"madeup", ', '"llama", "mistral3"')],
}  # fmt: skip

OF_CLAIMS = {
    "A slip": [
        Insert(
            "symroof/claims/slips/slip_catalogue.py",
            '    Slip("queries_cached", (CaseChange("queries cached beside keys and values", _times("3/2", *CACHE)),)),\n',
            '    Slip("k_and_v_factor", (',
        )
    ],
    "A way prose writes a unit or a bound": [
        Insert("symroof/claims/read/written_units.py", "gigs ", "gigabyte gigabytes")
    ],
}

OF_REVIEWS = {
    "A report section": [
        Insert(
            "symroof/report/view_pages.py",
            '"""The cache in pages of paper."""\n\n\n'
            "def pages(study, subject):\n"
            '    return {"sheets": -(-int(subject.case.value("peak_kv_cache_bytes")) // 3000), "size": "3 kB"}\n',
        ),
        Insert("symroof/report/view.py", "    view_pages,\n", "    view_operators,\n"),
        Insert("symroof/report/view.py", '    "pages": view_pages.pages,\n', '    "thresholds": view_thresholds'),
        Insert(
            REVIEW,
            '<< f.section("On paper") >>\n<% call f.p() %>The cache fills << pages.sheets >> sheets of << pages.size >>.<% endcall %>\n',
            '<% if "ledger" in parts %>',
        ),
    ],
    "A picture": [
        Insert(
            f"{PICTURES}/two_times.py",
            '"""TTFT and ITL as two bars."""\n\n'
            "from symroof.analysis.case_titles import case_title\n"
            "from symroof.report.pictures.chart import Axis, Chart, seconds\n\n\n"
            "def two_times(study, subject):\n"
            '    times = [subject.get(name) for name in ("ttft", "itl")]\n'
            '    found = [f"TTFT is {times[0].text()}, ITL {times[1].text()}"]\n'
            '    axis = Axis("time", 0, 1.3 * float(times[0].value), seconds, 0)\n'
            '    chart = Chart("two-times", case_title(subject), "Two bars.", found, axis, rows=["TTFT", "ITL"])\n'
            "    for row, time in enumerate(times):\n"
            '        chart.bar(row, 0, float(time.value), "blue")\n'
            "    return chart\n",
        ),
        Insert(f"{PICTURES}/picture_kinds.py", '    "two-times": "TTFT beside ITL",\n', '    "ttft": "TTFT against'),
        Insert("symroof/report/review_parts.py", '    "two_times",\n', '    "tornado",\n    "waterfall",\n'),
        Insert(REVIEW, '<% if figures.two_times %><< f.figure(figures.two_times, "Two times. " ~ figures.two_times.says) >><% endif %>\n', "<% if figures.regimes %>"),
    ],
    "An output format": [
        Insert("templates/formats/words.j2", (ROOT / "templates/formats/markdown.j2").read_text(encoding="utf-8").replace("### ", "=== ").replace("## ", "== ")),
        Insert("symroof/report/markup.py", '    "txt": Format("words", "svg", _one_line, _one_line, str),\n', '    "tex": Format('),
    ],
}  # fmt: skip

OF_VERDICTS = {
    "A target": [
        Insert(
            f"{INFERENCE}/targets.yaml",
            "  energy_target: {unit: J, means: limit on the energy of a token, latex: 'E_{\\mathrm{max}}'}\n",
            "  attention_share: {means:",
        ),
        Insert(f"{THEORY}/symbols.py", '"energy": "energy_target", ', '"ttft": "ttft_target"'),
        Insert(
            "symroof/analysis/verdict.py", '"energy": "energy_per_token", ', '"ttft": "loaded_ttft"'
        ),
        Insert(
            "symroof/specs/study.py",
            '    energy: _limit("energy", "2 J") | None = None  # type: ignore[valid-type]\n',
            '    ttft: _limit("ttft"',
        ),
        Insert("symroof/cli/options.py", "energy='2 J' (per token), ", "cost='2 USD' (per million"),
        Insert(
            "templates/verdict.j2",
            '<% elif name == "energy" %>energy per token',
            '<% elif name == "cost" %>cost per million tokens',
        ),
    ],
    "A condition of the headline": [
        Insert(
            "symroof/analysis/constraints.py",
            '    memory += [Constraint("copies", "weight_bytes_per_device", "free_memory")] if bound_case.case.has_value("fits") else []\n',
            "    return (\n        memory\n        + load\n",
        ),
        Insert(
            REVIEW,
            'row.condition == "copies" %><< "has" if row.holds else "lacks" >> room for the weights again<% elif ',
            'row.condition == "memory" %><% if row.holds %>fits',
        ),
    ],
    "A lever of a selection": [
        Insert(
            "symroof/select/required_changes.py",
            '"memory_share", ',
            '"price")\n"""What can be bought, tuned',
        )
    ],
    "A format of sweeps": [
        Insert(
            "symroof/sweep/sweep_files.py",
            "def write_tabs(grid: Grid, path: Path) -> None:\n"
            '    """A sweep with tabs between its columns."""\n'
            "    from symroof.sweep.dataset import dataset\n\n"
            '    dataset(grid).to_dataframe().to_csv(path, sep="\\t", float_format="%.16g")\n\n\n',
            "def write_netcdf",
        ),
        Insert("symroof/cli/sweep_command.py", ".tsv, ", ".parquet, .nc or .zarr; without"),
        Insert(
            "symroof/sweep/sweep_files.py",
            '    ".tsv": (write_tabs, ("xarray",)),\n',
            '    ".parquet": (',
        ),
    ],
}

OF_THE_COMMAND_LINE = {
    "A command": [
        Insert(
            "symroof/cli/main.py",
            '    "count": "The number of models.",\n',
            '    "show": "One entry',
        ),
        Insert(
            "symroof/cli/count_command.py",
            "import click\n\n"
            "from symroof.cli.output import say\n"
            "from symroof.report.catalogue_tables import KINDS\n\n\n"
            '@click.command("count")\n'
            "def command():\n"
            '    """The number of models."""\n'
            '    say(str(len(KINDS["models"]())))\n',
        ),
    ],
    "An option of another tool": [
        Insert("symroof/specs/other_tools.py", '    "--cards": "--tp",\n', '    "--block-size": ')
    ],
    "A flag of vLLM": [
        Insert(
            "symroof/vllm/flags.py",
            '        Flag("compute-share", SHARE, "share of the peak that is reached", input="mfu"),\n',
            '        Flag("block-size", COUNT',
        ),
        Insert(
            "symroof/vllm/served_case.py",
            '    values |= note.inputs("compute-share")\n',
            '    switches = {"scheduling": "chunked"} if line.on("mixed-chunk")',
        ),
    ],
}

ADDITIONS = (
    OF_THE_THEORY
    | OF_THE_CATALOGUE
    | OF_CHECKPOINTS
    | OF_CLAIMS
    | OF_REVIEWS
    | OF_VERDICTS
    | OF_THE_COMMAND_LINE
)
