"""A fit as keys of a study file, in the forms studies take today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.theory.symbols import GROUPS

if TYPE_CHECKING:
    from symroof.calibration.found import Calibration, Parameter

EFFICIENCY = frozenset(symbol.name for symbol in GROUPS["efficiency"])
NARROW = 0.005
"""An interval narrower than this share of the value, to either side, is written as the value alone."""


def block(found: Calibration) -> str:
    """``efficiency:`` and, for what is no efficiency, ``set:``; a range where the interval is wide enough to matter."""
    known = [p for p in found.parameters if p.value is not None]
    lines = [f"# fitted to {len(found.residuals)} measured times of {_name(found.file)}; intervals at {found.level:.0%}"]
    lines += [f"# {p.name} is not determined by these rows" for p in found.parameters if p.value is None]
    for key, members in (("efficiency", [p for p in known if p.name in EFFICIENCY]), ("set", [p for p in known if p.name not in EFFICIENCY])):
        if members:
            lines.append(f"{key}: {{{', '.join(f'{p.name}: {written(p)}' for p in members)}}}")
    return "\n".join(lines) + "\n"


def written(parameter: Parameter) -> str:
    """A value or a range as a study file takes it: ``0.52..0.58``, ``1.2 ms``."""
    value, low, high = parameter.value or 0.0, parameter.low, parameter.high
    if low is None or high is None or value <= 0 or high - low <= 2 * NARROW * value or (low <= 0 and parameter.name in ("mfu", "mbu")):
        return _number(parameter.name, value)
    return f"{_number(parameter.name, low)}..{_number(parameter.name, high)}"


def _number(name: str, value: float) -> str:
    if name in ("mfu", "mbu"):
        return f"{min(value, 1.0):.4g}"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value / 1e-6:.4g} us" if value else "0 s"


def _name(file: str) -> str:
    """The file's own name in a comment, whatever is in it."""
    return "".join(c if c.isprintable() else "?" for c in file.replace("\\", "/").rpartition("/")[2])[:80]
