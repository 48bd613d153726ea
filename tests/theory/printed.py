"""Models by their structure alone, and the formulas of a case as a reader sees them."""

from symroof.formula.text import text
from symroof.theory.architecture import Architecture, Layer

TWO_KINDS = Architecture(
    (
        Layer(label="local", reach="window", own=frozenset({"n_layers"})),
        Layer(label="full", feed_forward="moe", own=frozenset({"n_layers"})),
    ),
    order=("local", "full"),
)
LATENT = Architecture((Layer(mixers=("mla", "mamba2"), feed_forward="none"),))
EXPERTS = Architecture((Layer(feed_forward="moe"),))
DENSE = {"d_model": 64, "n_layers": 8, "n_heads": 8, "n_kv_heads": 8}
OUT = "head_flops_per_row*{step}_logit_rows"
LAYER = "(n_heads + 2*n_kv_heads)*head_dim + n_heads*head_dim + (ffn_matrices - 1)*d_ff + d_ff"
NOMINAL = {"parameters": "nominal", "activations": "off"}


def printed(case, names):
    formulas = {name: case.theory.definition(name) for name in names}
    return {
        name: formula if formula is None else text(formula) for name, formula in formulas.items()
    }
