"""Additions that CONTRIBUTING names, one for each part of the package, as the lines a newcomer writes and where; the name is that of its entry."""

from . import Insert

INFERENCE = "specs/theories/inference"
THEORY, CHECKPOINTS, PICTURES = (
    "symroof/theory",
    "symroof/specs/checkpoints",
    "symroof/report/pictures",
)

OF_THE_THEORY = {
    "A quantity": [
        Insert(
            f"{INFERENCE}/memory.yaml",
            "  prompt_cache_bytes:\n    unit: byte\n    means: cache of one prompt\n    latex: \\mathrm{KV}_S\n    formula: prompt*kv_bytes_per_token\n",
            "  kv_cache_bytes:\n",
        )
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
}

OF_CHECKPOINTS = {
    "An architecture family": [
        Insert(
            "specs/checkpoints/families.yaml",
            "  made_up:\n    source: MadeUpConfig\n    attention: floored\n    norm: {per_layer: 3}\n"
            "    defaults: [untied, {vocab_size: 1000, hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2,\n"
            "      num_attention_heads: 4, num_key_value_heads: 2}]\n",
            "  mistral:\n    source: ",
        )
    ]
}

OF_CLAIMS = {
    "A slip": [
        Insert(
            "specs/check/slips.yaml",
            "- slip: queries_cached\n  ways:\n"
            "  - {text: queries cached beside keys and values, set: {kv_bytes_per_token: kv_bytes_per_token*3/2}}\n",
            "- slip: k_and_v_factor",
        )
    ]
}

OF_THE_COMMAND_LINE = {
    "A command": [
        Insert(
            "symroof/cli/main.py",
            '    "count": "The number of models.",\n    ',
            '    "show": "Show one of them',
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
    ]
}

ADDITIONS = OF_THE_THEORY | OF_CHECKPOINTS | OF_CLAIMS | OF_THE_COMMAND_LINE
