"""Figures of the catalogue: by their path (``h100-sxm.mem_bandwidth``, ``h100-sxm.peaks.fp16.sparse``, ``llama-3-70b.n_kv_heads``), and those
that are confused with one another: sparse peaks, other precisions, other parts of a family."""

import re
from fractions import Fraction
from functools import lru_cache

from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, NoValueHere, Problem, nearest
from symroof.resources import data_folder
from symroof.specs import catalogue
from symroof.specs.hardware import HardwareSpec, Peak
from symroof.specs.quantization import peak_precision
from symroof.specs.spec_files import read_spec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import known
from symroof.theory.symbols import INPUTS, canonical
from symroof.theory.theory_files import section
from symroof.units import Quantity, describe, format_quantity, settled


def catalogue_figure(path: str) -> tuple[Fraction, str]:
    """The number behind a path, and its base unit.

    >>> catalogue_figure("h100-sxm.mem_bandwidth")
    (Fraction(3350000000000, 1), 'byte/s')

    Raises:
        InputError: no such entry, no such figure.
    """
    device, entry, rest = _split(path)
    parts = ("peaks", "memory", "link", "host_link", "network", "chip")
    if device and rest.partition(".")[0] in parts:
        return _of_device(path, entry, rest)
    study = Study(hardware=entry) if device else Study(model=entry)
    try:
        result = study.result(known(rest))
    except NoValueHere as error:
        message = f"{entry} has no {rest}: {error.problems[0].message}"
        raise NoValueHere(Problem(path, message)) from None
    except InputError as error:
        hint = error.problems[0].hint
        raise InputError(Problem("catalogue", f"{path}: no such figure", hint=hint)) from None
    if not isinstance(result.value, float | Fraction):
        raise InputError(Problem("catalogue", f"{path} is not a number"))
    return settled(result.value), result.symbol.unit


INPUT_OF_FIGURE = {path: name for _, name, path in section("from_device")}
"""Figures of a device that are inputs of a case under another name; the label of its memory is none."""


def as_quantity(path: str) -> tuple[str, dict[str, str]] | None:
    """The quantity or input that a figure is, and its case; None for a figure that no case takes.

    >>> as_quantity("h100-sxm.peaks.fp8.dense")
    ('peak_flops', {'hardware': 'h100-sxm', 'weights': 'fp8', 'activations': 'fp8'})
    >>> as_quantity("llama-3-70b.n_kv_heads"), as_quantity("h100-sxm.peaks.fp8.sparse")
    (('n_kv_heads', {'model': 'llama-3-70b'}), None)
    """
    device, entry, rest = _split(path)
    if rest.startswith("peaks."):
        _, precision, kind = rest.split(".")
        case = {"hardware": entry, "weights": precision, "activations": precision}
        return ("peak_flops", case) if kind == "dense" else None
    name = canonical(INPUT_OF_FIGURE.get(rest, rest))
    if name not in INPUTS and name not in QUANTITIES:
        return None
    return name, {"hardware" if device else "model": entry}


def _split(path: str) -> tuple[bool, str, str]:
    """Whether an entry is a device, its name, which may hold points itself, and the path within."""
    parts = path.split(".")
    names = (".".join(parts[:i]) for i in range(len(parts) - 1, 0, -1))
    every = [(kind, name) for name in names for kind in ("hardware", "models")]
    folder = data_folder("specs")
    own = (one for one in every if folder.joinpath(one[0], f"{one[1]}.yaml").is_file())
    # for an alias every file of the catalogue has to be read
    found = next(own, None) or next((one for one in every if catalogue.has_entry(*one)), None)
    if found is None:
        known = [name for kind in ("hardware", "models") for name in catalogue.entries(kind)]
        message = f"{path} begins with no device or model of the catalogue"
        raise InputError(Problem("catalogue", message, hint=nearest(parts[0], known)))
    return found[0] == "hardware", found[1], path[len(found[1]) + 1 :]


def _of_device(path: str, entry: str, rest: str) -> tuple[Fraction, str]:
    """A figure of a device as its file has it; of a peak the dense or the sparse one."""
    figures: dict[str, Quantity | None] = {}
    for name, one in read_spec("hardware", entry)[0].numbers():
        if isinstance(one, Peak):
            figures |= {f"{name}.dense": one.dense, f"{name}.sparse": one.sparse}
        else:
            figures[name] = one.value
    if value := figures.get(rest):
        return value.value, describe(value.dimension) if value.dimension else ""
    known = [name for name, value in figures.items() if value]
    raise InputError(Problem("catalogue", f"{path}: no such figure", hint=nearest(rest, known)))


# ---------------------------------------------------------------------------------------------- taken for one another

LINES_OF_PRODUCTS = ("rtx", "rx", "tpu", "radeon", "arc")
"""First words of names that are shared by different products."""


def confusable_figures(
    bound_case: BoundCase, symbol: str, kind: str
) -> tuple[tuple[str, Fraction], ...]:
    """Other figures of the catalogue that are easily taken for an input's own, each with its name.

    Args:
        kind: ``sparse`` (the peak of this precision with 2:4 sparsity; twice the dense one where nobody prints it), ``precisions`` (the dense peaks of
            this part at others), or which other parts have it: see :func:`kinship`.

    >>> from symroof.claims.claim_settings import study_of
    >>> bound_case = study_of({"hardware": "h100-sxm"}).first
    >>> [name for name, _ in confusable_figures(bound_case, "mem_bandwidth", "parts")]
    ['gh200', 'h20', 'h200-nvl', 'h200']
    >>> [(name, float(value) / 1e12) for name, value in confusable_figures(bound_case, "peak_flops", "sparse")]
    [('1978.9 TFLOP/s', 1978.9)]
    """
    device, compute = bound_case.hardware, bound_case.compute
    peaks = device.peaks if device else {}
    peak = peaks.get(compute) if compute else None  # type: ignore[call-overload]
    if kind == "sparse":
        if peak and peak.sparse:
            return ((peak.sparse.text, peak.sparse.value),)
        if device and not any(other.sparse for other in peaks.values()):
            return ()
        twice = 2 * bound_case.case.value("peak_flops")
        return ((format_quantity(twice, "FLOP/s"), twice),)
    if device is None:
        return ()
    if kind == "precisions":
        others = ((name, other.dense.value) for name, other in peaks.items())
        return tuple((name, value) for name, value in others if name != compute)
    found: list[tuple[str, Fraction]] = []
    for part in made_by(device.vendor):
        if kinship(part, device) != kind:
            continue
        if symbol == "mem_bandwidth":
            found.append((part.name, part.memory.bandwidth.value.value))
        elif compute and (own := peak_precision(compute, list(part.peaks))):
            found.append((part.name, part.peaks[own].dense.value))  # type: ignore[index]
    return tuple(found)


def kinship(part: HardwareSpec, device: HardwareSpec) -> str:
    """Why a part of a device's vendor, with memory of the same sort (HBM, GDDR, LPDDR), is taken for it.

    ``siblings`` are variants of one product (an SXM and a PCIe board), ``parts`` others of its architecture (the first
    word of its name, so that Blackwell Ultra is kin of Blackwell), ``generations`` of other architectures.

    >>> h100, a100 = (read_spec("hardware", name)[0] for name in ("h100-sxm", "a100-80gb-sxm"))
    >>> kinship(a100, h100), kinship(h100, h100)
    ('generations', '')
    """
    sorts = [re.match(r"[A-Z]*", each.memory.kind.upper()) for each in (part, device)]
    if part.name == device.name or len({sort and sort[0] for sort in sorts}) > 1:
        return ""
    kin, own = ((each.architecture or "").split()[:1] for each in (part, device))
    if not kin or kin != own:
        return "generations"
    products = {each.name.partition("-")[0] for each in (part, device)}
    alike = len(products) == 1 and products.isdisjoint(LINES_OF_PRODUCTS)
    return "siblings" if alike else "parts"


@lru_cache(maxsize=16)
def made_by(vendor: str) -> tuple[HardwareSpec, ...]:
    """The parts of a vendor."""
    parts = catalogue.entries("hardware").items()
    names = (name for name, part in parts if part.document.data.get("vendor") == vendor)
    return tuple(read_spec("hardware", name)[0] for name in names)
