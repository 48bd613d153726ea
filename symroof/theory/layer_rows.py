"""The rows of a layer, and those outside the layers."""

from collections.abc import Iterator
from dataclasses import fields, replace

from symroof.theory.architecture import Architecture, Layer
from symroof.theory.rows import OperatorRow, block_rows
from symroof.theory.theory_files import table

PLAIN_NORM_VECTORS = {"rms": 1, "layer": 2, "none": 0}
"""Vectors of one normalisation module: a weight, or a weight and a bias."""
FEED_FORWARDS = {"gated": "dense", "plain": "dense", "moe": "moe"}
"""The block of each kind of feed-forward layer; the others have none."""
PARAMETER_GROUPS: dict[str, str] = {
    operator: group
    for group, operators in table("blocks")["parameter_groups"].items()
    for operator in operators
}
"""The group of an operator's parameters in the parameter table."""


def layer_rows(layer: Layer, norm: str) -> Iterator[OperatorRow]:
    """The rows of one layer; a layer for images only is resident and idle."""
    vectors = layer.norms * PLAIN_NORM_VECTORS[norm]
    given = {"norm_vectors": str(vectors)} if vectors else {}
    traits = layer.traits | {layer.feed_forward, f"qk_norm_{layer.qk_norm}"}
    blocks = [*layer.mixers, FEED_FORWARDS.get(layer.feed_forward)]
    for name in filter(None, blocks):
        yield from _busy(layer, block_rows(name, traits))
    yield from _busy(layer, block_rows("layer", traits, given))


def _busy(layer: Layer, rows: Iterator[OperatorRow]) -> Iterator[OperatorRow]:
    return (row for row in rows if row.stream == "params" or "images_only" not in layer.traits)


def outer_rows(architecture: Architecture) -> Iterator[OperatorRow]:
    """The rows outside the layers: tables before them; final norm and head after them. A tied head multiplies but is
    stored once."""
    vectors = PLAIN_NORM_VECTORS[architecture.norm]
    given = {"norm_vectors": str(vectors)}
    parts = {field.name for field in fields(Architecture) if getattr(architecture, field.name)}
    traits = frozenset(parts if vectors else parts - {"final_norm"})
    yield from block_rows("before_layers", traits, given)
    for row in block_rows("after_layers", traits, given):
        tied = row.operator == "lm_head" and row.shapes and architecture.tied_embeddings
        yield replace(row, end="tied" if tied else "last")
