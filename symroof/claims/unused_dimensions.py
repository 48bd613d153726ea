"""A dimension that a claim states and then cannot use: a latent's width without the layers that have one. It is an error, never ignored."""

from collections.abc import Collection
from fractions import Fraction

from symroof.claims.claim_settings import study_of
from symroof.claims.slips.predictions import FAILURES, Context
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.theory.symbols import ARCHITECTURE, base_name, canonical

DENSE = frozenset(
    "n_layers d_model n_heads n_kv_heads head_dim d_ff ffn_matrices vocab_size".split()  # noqa: SIM905
)
"""Dimensions that every formula without a model may use; all others take effect through layers that have such a part."""
OF_LAYERS = frozenset({symbol.name for symbol in ARCHITECTURE} - DENSE | {"active_params"})
LAYERS = "layers: [{count: 61, attention: {kind: mla, …}, …}]"


def check_dimensions_used(claim: ClaimSpec, shared: Collection[str] = ()) -> None:
    """Check that a claim uses the dimensions it states; ``shared`` names are defaults of its file, which may stay unused.

    Raises:
        InputError: one of them changes nothing, for no layer has such a part.

    >>> claim = ClaimSpec(id="kv", quantity="kv_bytes_per_token", given={"kv_lora_rank": 512, "n_layers": 61, "n_kv_heads": 1, "head_dim": 1}, value="1 kB")
    >>> try:
    ...     check_dimensions_used(claim)
    ... except InputError as error:
    ...     error.problems[0].message
    'kv_lora_rank cannot be used: no model or layers with such a part are given'
    """
    forms = ("quantity", "relation", "compare", "expression")
    if claim.formula or claim.form not in forms or "layers" in claim.given:
        return
    # the two totals describe a model, of which a claim may need one
    described = {"active_params"} if "params" in claim.given else set()
    for name in claim.given:
        partial = canonical(name) in OF_LAYERS - described and name not in shared
        if partial and not _usable(claim, name):
            message = f"{name} cannot be used: no model or layers with such a part are given"
            raise InputError(Problem(name, message, hint=f"name a model, or write {LAYERS}"))


def _usable(claim: ClaimSpec, name: str) -> bool:
    """Whether a dimension can matter: for what is claimed, or for anything of the claim's model."""
    part = canonical(name)
    if "model" in claim.given:
        others = {key: value for key, value in claim.given.items() if key != name}
        case = study_of(others).first.case
        stated = part in case.given or case.theory.definition(part) is not None
        return case.theory.knows(part) and stated
    try:
        needed = Context(claim, Fraction(1), "").dependencies
    except FAILURES:
        return False
    return needed is None or base_name(part) in needed
