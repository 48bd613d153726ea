"""Figures of the hardware catalogue that get taken for one another: sparse peaks, other precisions, other parts of a family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

from symroof.cases.binding import Binding
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.specs.names import Entry
from symroof.specs.precision import peak_precision

Figure = tuple[str, Fraction]


def figures(binding: Binding, symbol: str, kind: str) -> tuple[Figure, ...]:
    """Other figures that stand beside an input's own in the catalogue, each with its name.

    >>> from symroof.claims.claim_study import study_of
    >>> binding = study_of({"hardware": "h100-sxm"}).first.binding
    >>> [name for name, _ in figures(binding, "mem_bandwidth", "parts")]
    ['gh200', 'h100-nvl', 'h100-pcie', 'h20', 'h200']
    >>> [(name, float(value) / 1e12) for name, value in figures(binding, "peak_flops", "sparse")]
    [('1978.9 TFLOP/s', 1978.9)]
    """
    return tuple(KINDS[kind](binding, symbol)) if binding.hardware else ()


def _sparse(binding: Binding, symbol: str) -> Iterator[Figure]:
    """The peak of this precision with 2:4 sparsity."""
    device = binding.hardware
    peak = device.peaks.get(binding.compute) if device and binding.compute else None  # type: ignore[call-overload]
    if peak and peak.sparse:
        yield peak.sparse.text, peak.sparse.value


def _precisions(binding: Binding, symbol: str) -> Iterator[Figure]:
    """The dense peaks of this part at other precisions."""
    if binding.hardware:
        yield from ((name, peak.dense.value) for name, peak in binding.hardware.peaks.items() if name != binding.compute)


def _parts(binding: Binding, symbol: str) -> Iterator[Figure]:
    """The same figure of the other parts of the family."""
    own = binding.hardware
    for part in family(own.vendor, own.architecture or "") if own else ():
        value = _figure(part, symbol, binding.compute)
        if own and value and part.name != own.name:
            yield part.name, value


def _figure(part: HardwareSpec, symbol: str, compute: str | None) -> Fraction | None:
    if symbol == "mem_bandwidth":
        return part.memory.bandwidth.value.value
    precision = peak_precision(compute, list(part.peaks)) if compute else None
    return part.peaks[precision].dense.value if precision else None  # type: ignore[index]


@lru_cache(maxsize=64)
def family(vendor: str, architecture: str) -> tuple[HardwareSpec, ...]:
    """The parts of one architecture: the first word of its name, so that Blackwell Ultra is kin of Blackwell."""
    kin = (architecture.split() or [""])[0]
    specs = (build(entry.document, HardwareSpec) for entry in catalogue.entries("hardware").values() if _is_kin(entry, vendor, kin))
    return tuple(specs)


def _is_kin(entry: Entry, vendor: str, kin: str) -> bool:
    data = entry.document.data if isinstance(entry.document.data, dict) else {}
    return bool(kin) and data.get("vendor") == vendor and str(data.get("architecture", "")).split()[:1] == [kin]


KINDS: dict[str, Callable[[Binding, str], Iterator[Figure]]] = {"sparse": _sparse, "precisions": _precisions, "parts": _parts}
