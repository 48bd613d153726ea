"""Lengths written with a k, which texts mean either way: ``4k`` tokens are 4,000 or 4,096, whichever gives the number that is written.

>>> lengths("4k"), lengths("10k tokens"), lengths("32Ki"), lengths("4,096")
((4096, 4000), (10000, 10240), (32768,), ())
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import changed
from symroof.claims.derive_claim import derived
from symroof.claims.read.written_number import read_written
from symroof.specs.claims import ClaimSpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS

KILO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?[kK](i?)(?:[\s-]?(?:tokens?|toks?))?")
IN_TOKENS = frozenset(name for name, symbol in (*INPUTS.items(), *QUANTITIES.items()) if symbol.unit == "token")
OF_A_CONTEXT = ("prompt", "context", "peak_context")
"""Settings that say how long a request is."""


def lengths(text: str) -> tuple[int, ...]:
    """The lengths that a number of thousands may be, the likelier first: of a power of two in thousands of 1,024; none without a k."""
    match = KILO.fullmatch(text.strip())
    if not match:
        return ()
    thousands = Fraction(match[1])
    decimal, binary = (thousands * size for size in (1000, 1024))
    power = thousands.denominator == 1 and thousands.numerator & (thousands.numerator - 1) == 0
    options = (binary,) if match[2] else (binary, decimal) if power else (decimal, binary)
    return tuple(int(option) for option in options if option.denominator == 1 and option > 0)


def with_lengths(data: Mapping[str, Any], written: Mapping[str, str]) -> dict[str, Any]:
    """A claim's data with lengths as a text writes them: of those it may mean, the first under which the claimed number holds.

    >>> data = {"quantity": "kv_cache_bytes", "given": {"model": "llama-3-70b"}, "value": "1.31 GB"}
    >>> with_lengths(data, {"prompt": "4k"})["given"]["prompt"], with_lengths({**data, "value": "1.34 GB"}, {"prompt": "4k"})["given"]["prompt"]
    (4000, 4096)
    """
    result = dict(data)
    for name, text in written.items():
        options = [{**result, "given": changed(result.get("given", {}), {name: length})} for length in lengths(text)]
        result = next((option for option in options if len(options) > 1 and holds(option)), options[0] if options else result)
    return result


def holds(data: Mapping[str, Any]) -> bool:
    """Whether a claim's number is the derived one, to the digits written; what cannot be derived is reported where it is judged."""
    try:
        result = derived(ClaimSpec.model_validate({**data, "id": "length"}))
        written = read_written(data["value"], result.unit)
        return result.number is not None and written.agrees(result.number)
    except Exception:
        return False
