"""A dimension that a claim states and then cannot use: a latent's width without the layers that have one. It is an error, never ignored."""

from collections.abc import Collection
from fractions import Fraction

from symroof.claims.claim_settings import study_of
from symroof.claims.slips.context import FAILURES, Context
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.theory.symbols import ARCHITECTURE, base_name, canonical

DENSE = frozenset(
    {
        "n_layers",
        "d_model",
        "n_heads",
        "n_kv_heads",
        "head_dim",
        "d_ff",
        "ffn_matrices",
        "vocab_size",
    }
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
    if (
        claim.formula
        or claim.form not in ("quantity", "relation", "compare", "expression")
        or "layers" in claim.given
    ):
        return
    described = (
        {"active_params"} if "params" in claim.given else set()
    )  # the two totals describe a model, of which a claim may need one
    for name in claim.given:
        if (
            canonical(name) in OF_LAYERS - described
            and name not in shared
            and not _usable(claim, name)
        ):
            raise InputError(
                Problem(
                    name,
                    f"{name} cannot be used: no model or layers with such a part are given",
                    hint=f"name a model, or write {LAYERS}",
                )
            )


def _usable(claim: ClaimSpec, name: str) -> bool:
    """Whether a dimension can matter: for what is claimed, or for anything of the claim's model."""
    if "model" in claim.given:
        case = study_of(
            {key: value for key, value in claim.given.items() if key != name}
        ).first.case
        return case.theory.knows(canonical(name)) and (
            canonical(name) in case.given or case.theory.definition(canonical(name)) is not None
        )
    try:
        needed = Context(claim, (claim.given,), Fraction(1), "").dependencies
    except FAILURES:
        return False
    return needed is None or base_name(canonical(name)) in needed
