"""What a claimed number is of: ``141 GB per GPU`` is a claim of one device, whatever its quantity is of.

The words around a number are read with it (:mod:`symroof.claims.read.denominator_words`); here they become the quantity divided by
so many devices, requests, layers or tokens. Words that mean nothing for a quantity change nothing.
"""

from fractions import Fraction

from symroof.claims.read.denominator_words import TIMES, Denominator, denominators
from symroof.claims.read.numbers import figures
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.expressions import Expr, symbol
from symroof.symbolic.reading import parse
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name, resolved

CACHE = (
    "kv_cache_bytes peak_kv_cache_bytes kv_cache_bytes_per_device peak_kv_cache_bytes_per_device"
)
TOKEN_CACHE = "kv_bytes_per_token kv_bytes_per_token_per_device"
PREFILL = "prefill_flops prefill_bytes prefill_flops_per_device"
STEPS = "decode_flops decode_bytes decode_flops_per_device decode_bytes_per_device"
RATES = (
    "decode_throughput sustained_throughput decode_throughput_per_device"
    " sustained_throughput_per_device request_throughput"
)
COSTS = "cost_per_mtok decode_cost_per_mtok price_per_mtok cost_per_mtok_input"
TABLE = {
    "device": {
        "instance_devices": "params active_params prefill_throughput request_throughput"
        " instance_price free_memory usable_memory",
        "devices": "fleet_price",
        "weight_bytes/weight_bytes_per_device": "weight_bytes_read",
        "kv_bytes_per_token/kv_cache_bytes_per_device(context=1, batch=1)": "kv_bytes_per_token",
    },
    "request": {
        "batch": f"{CACHE} {RATES} {STEPS} state_bytes",
        "prefill_batch": PREFILL,
        "1": "cost_per_request energy_per_request state_bytes_per_request",
    },
    "layer": {
        "n_layers": f"{CACHE} {TOKEN_CACHE} {PREFILL} {STEPS} weight_bytes weight_bytes_read"
        " weight_bytes_per_device params active_params linear_flops_per_token"
        " attention_flops_per_pair prefill_time itl state_bytes",
    },
    "token": {
        "batch*context": CACHE,
        "prefill_batch*(prompt - cached_prefix)": PREFILL,
        "batch": STEPS,
        "1000000": COSTS,
        "1": f"{TOKEN_CACHE} energy_per_token decode_energy_per_token linear_flops_per_token",
        "decode_time/tpot": "decode_time",
        "prompt - cached_prefix": "prefill_time",
        "output": "energy_per_request cost_per_request",
    },
    "head": {"n_kv_heads": f"{CACHE} {TOKEN_CACHE}"},
}
"""How many of a kind a quantity is of, as a formula over the case; the quantities of each."""
DIVISORS = {
    kind: {name: divisor for divisor, names in table.items() for name in names.split()}
    for kind, table in TABLE.items()
}
DIVISORS["device"] = {
    name: f"{name}/{name}_per_device" for name in QUANTITIES if f"{name}_per_device" in QUANTITIES
} | DIVISORS["device"]


def with_denominator(claim: ClaimSpec) -> ClaimSpec:
    """A claim of a quantity with what its number is of: as it says itself, or by the words around the number.

    >>> with_denominator(ClaimSpec(id="w", quantity="weight_bytes", value="141 GB per GPU")).per
    'device'
    >>> with_denominator(ClaimSpec(id="w", quantity="weight_bytes", says="Every GPU holds 141 GB.", value="141 GB")).per
    'device'
    """
    if claim.form != "quantity" or claim.per is not None or claim.value is None:
        return claim
    own = figures(str(claim.value))
    # of 1K tokens the thousand is a number of its own
    if not own or (len(own) > 1 and not own[0].denominators):
        return claim
    said = (own[0].number, own[0].unit.partition("/")[0])
    every = (one for one in figures(claim.says) if (one.number, one.unit.partition("/")[0]) == said)
    of = own[0].denominators or next((one.denominators for one in every), ())
    return claim.model_copy(update={"per": " per ".join(map(str, of))}) if of else claim


def denominators_of(claim: ClaimSpec) -> tuple[Denominator, ...]:
    """What the number of a claim is of.

    Raises:
        InputError: words that name nothing a number can be of.
    """
    of = denominators(f"1 per {claim.per}", 0, 1) if claim.per else ()
    if claim.per and not of:
        message = f"{claim.per[:40]!r} is not something a number can be per"
        hint = "write device, request, layer, head, token or 1K tokens"
        raise InputError(Problem("per", message, hint=hint))
    return of


def claimed_quantity_formula(claim: ClaimSpec, name: str) -> Expr:
    """The formula a claim's number is of: its quantity, divided where the words around the number say so."""
    whole, count = name, Fraction(1)
    for one in denominators_of(claim):
        divisor = DIVISORS.get(one.kind, {}).get(name)
        if divisor and (one.count != 1 or divisor != "1"):
            whole, count = f"{whole}/({divisor})", count * one.count
    return (
        symbol(name)
        if whole == name
        else resolved(parse(f"{whole}*{count.numerator}/{count.denominator}"))
    )


def denominator_text(claim: ClaimSpec, value: str, other: str) -> str:
    """The sentence of the slip: the number is right of something else than the words say."""
    of = " of a ".join(str(one) for one in reversed(denominators_of(claim)))
    return f"{value} is the {printed_name(claim.quantity or '')} as a whole; per {of} it is {other}"


def is_per_time(claim: ClaimSpec) -> bool:
    """Whether the words around the number say ``an hour`` or the like."""
    return any(one.kind in TIMES for one in denominators_of(claim))
