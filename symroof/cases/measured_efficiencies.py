"""Efficiencies from evidence: what measurements of others say of a device and a class of engines, where a case gives no number."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from symroof.cases.spec_values import SourcedValue, number_of
from symroof.specs.efficiencies import (
    FITTED,
    TILE_ROWS,
    Efficiency,
    MeasuredKind,
    link_group,
    shipped_efficiencies,
    tile_share,
    unit_of,
)
from symroof.specs.engine_profile import EngineProfile
from symroof.specs.fields import ValueRange
from symroof.specs.hardware import HardwareSpec
from symroof.specs.input_values import Setting
from symroof.specs.precision import BITS
from symroof.symbolic.expressions import fraction, is_number, number
from symroof.theory.layout import DEGREES
from symroof.units import Quantity, format_quantity

COPIES = "dp"
OF_LINKS = frozenset({"link_latency", "link_share", "network_latency"})

AT_PEAK = {
    "mfu": 1,
    "mbu": 1,
    "link_share": 1,
    "work_overlap": 1,
    "exchange_overlap": 1,
    "expert_imbalance": 1,
    "expert_spread": 0,
    "network_latency": 0,
    "server_latency": 0,
    "layer_overhead": 0,
    "step_overhead": 0,
    "elementwise_bytes": 0,
}
"""Efficiencies, and the value of each at 100 % of peak."""

COSTS = frozenset(
    {
        "layer_overhead",
        "step_overhead",
        "elementwise_bytes",
        "link_latency",
        "network_latency",
        "server_latency",
        "expert_imbalance",
        "expert_spread",
    }
)
"""Efficiencies that slow a server down as they grow; the others are shares of a peak."""

_LMSYS = "LMSYS 2025-05-05, Deploying DeepSeek with PD Disaggregation and Large-Scale Expert Parallelism on 96 H100 GPUs"
OF_EXPERTS = {
    "expert_spread": SourcedValue(
        ValueRange(Fraction(0), Fraction(3), "0..3", Fraction(3, 2)),
        "the largest of 8 to 16 random numbers of experts is 1.4 to 1.8 standard deviations above the mean (InferenceX, H200, few requests: about 2)",
        "1.5 (0 to 3)",
        measured=True,
    ),
    "exchange_overlap": SourcedValue(
        number(Fraction(0)),
        "measured: engines exchange and then work, unless told to split batches in two",
        "0",
        measured=True,
    ),
    "expert_imbalance": SourcedValue(
        ValueRange(Fraction(1), Fraction(3, 2), "1..1.5", Fraction(5, 4)),
        f"measured ({_LMSYS}): prefill 18 % slower than with experts evenly loaded, balancer on, which is a device 25 % above the mean",
        "1.25 (1 to 1.5)",
        measured=True,
    ),
}
"""What whole experts spread over devices cost beyond their peak: said of the rows that the fit is made of, and not fitted itself."""
OF_GROUPS = {
    "work_overlap": SourcedValue(
        number(Fraction(0)),
        "measured: steps of attention groups take as long as their compute and their memory traffic together (a fifth of the error of InferenceX's rows)",
        "0",
        measured=True,
    )
}
"""What attention groups beside experts cost: attention multiplies while experts wait to be read, and the other way round."""
OF_NETWORK = {
    "network_latency": SourcedValue(
        ValueRange(Fraction(20, 10**6), Fraction(70, 10**6), "20 us..70 us", Fraction(45, 10**6)),
        "measured: an all-reduce over two nodes of H100 takes 45 us more than one inside (InferenceX, DeepSeek-R1 on 16 devices, five rows)",
        "45 us (20 us to 70 us)",
        measured=True,
    )
}
"""What a collective between nodes costs beyond one inside, where a group is larger than a node."""

FAMILIES = {
    "hbm": "NVIDIA HBM",
    "hbm experts": "models with experts on NVIDIA HBM",
    "cdna": "AMD Instinct",
    "cdna experts": "models with experts on AMD Instinct",
    "gaudi": "Gaudi",
    "tpu": "TPU",
    "neuron": "Trainium and Inferentia",
    "neuron experts": "models with experts on Trainium and Inferentia",
    "gddr": "GDDR",
    "gddr experts": "models with experts on GDDR",
    "geforce": "GeForce",
    "geforce experts": "models with experts on GeForce",
    "apple": "Apple",
    "pair": "pairs of",
    "group": "larger groups of",
    "experts": "experts over",
}
"""How families of devices, and the groups that a latency of links is of, as words."""


def kind_of(device: HardwareSpec, engine: str, given: Mapping[str, SourcedValue]) -> MeasuredKind:
    """What a case is among those measured."""
    width = number_of(given, "weight_bytes_per_param", defaults=True)
    bits = (
        number_of(given, "weight_bits")
        if "weight_bits" in given
        else None
        if width is None
        else 8 * width
    )
    recurrent = any(
        name.startswith(("d_state", "linear_key")) or name.endswith(("_state_size", "lru_width"))
        for name in given
    )
    parts = [
        word
        for name, word in (("kv_lora_rank", "latent attention"), ("n_experts", "experts"))
        if name in given
    ]
    groups = "n_experts" in given and _degree(given.get("attention_dp"))
    several = any(_degree(given.get(name)) for name in DEGREES if name != COPIES)
    return MeasuredKind(
        device=device.name,
        family=device.family,
        model="recurrent" if recurrent else " and ".join(parts) or "dense",
        bits=16 if bits is None or bits > 10 else 8 if bits > 6 else 4,
        layout="attention groups" if groups else "several devices" if several else "one device",
        engine=engine,
    )


def slow_first(ends: tuple[Fraction, Fraction], name: str) -> tuple[Fraction, Fraction]:
    """The ends of an efficiency's range, the slower first."""
    low, high = ends
    return (high, low) if name in COSTS else (low, high)


def values_at_peak(given: Mapping[str, SourcedValue]) -> dict[str, SourcedValue]:
    """The values of a case with every efficiency at 100 % of peak: a bound."""
    return {
        name: value for name, value in given.items() if name not in AT_PEAK and not value.measured
    }


def add_measured_efficiencies(
    device: HardwareSpec,
    profile: EngineProfile,
    engine: str,
    compute: str | None,
    given: dict[str, SourcedValue],
    warnings: list[str],
    separate_prefill: bool = False,
) -> None:
    """Add to ``given`` what it lacks of the fitted inputs, each a range with its expected value; those of links where several devices work on a request;
    and the times that servers of the engine were seen to take. ``engine`` is the class of engines whose efficiencies hold.

    ``compute`` is the precision that the device multiplies in, ``separate_prefill`` whether prompts are read on devices of their own. Copies have no links.

    Raises:
        FileNotFoundError: a broken installation.
    """
    tp, ep, groups = (_degree(given.get(name)) for name in ("tp", "ep", "attention_dp"))
    spread = "n_experts" in given and (ep or groups)
    exchanges = spread and (groups or not tp)
    grouped = separate_prefill or any(
        _degree(given.get(name)) for name in DEGREES if name != COPIES
    )
    families = {
        "link_latency": link_group(number_of(given, "tp", defaults=True), exchanges),
        "mfu": shipped_efficiencies().compute_family(device.family, engine, "n_experts" in given),
    }
    for name in FITTED:
        if name in given or (name in OF_LINKS and not grouped):
            continue
        given[name], word = _fitted(name, families.get(name, device.family), engine)
        if word:
            warnings.append(word)
        if name == "mbu":
            _limit_by_tile(given, share_of_tile(device.family, engine, compute, given))
    beside = (
        (OF_EXPERTS if spread else {})
        | (OF_GROUPS if spread and groups else {})
        | (OF_NETWORK if grouped else {})
    )
    beside |= dict(_of_server(profile))
    given |= {name: value for name, value in beside.items() if name not in given}


def _of_server(profile: EngineProfile) -> Iterator[tuple[str, SourcedValue]]:
    """The times that servers of an engine were seen to take."""
    for name, entry in profile.spec.measured.items():
        yield (
            name,
            SourcedValue(
                entry.range_of(name),
                f"measured: {profile.source(entry.source)}",
                f"{entry.value} ({entry.low} to {entry.high})",
                measured=True,
            ),
        )


def share_of_tile(
    family: str, engine: str, compute: str | None, given: Mapping[str, SourcedValue]
) -> Fraction | None:
    """The share of the bandwidth that the smallest tile of a matrix product leaves for weights, at full compute, on server parts, where a library multiplies
    with matrix units; None where a value is not known, where weights are narrower than what is multiplied, for ggml, whose kernels take single rows, and for
    experts, whose kernels take tiles of 16."""
    if family != "hbm" or engine == "ggml" or "n_experts" in given:
        return None
    width, peak, bandwidth = (
        number_of(given, name, defaults=True)
        for name in ("weight_bytes_per_param", "peak_flops", "mem_bandwidth")
    )
    if (
        compute is None
        or width is None
        or peak is None
        or bandwidth is None
        or width < Fraction(BITS[compute], 8)
    ):
        return None
    return tile_share(peak, width, bandwidth)


def _limit_by_tile(given: dict[str, SourcedValue], share: Fraction | None) -> None:
    """Lower the share of the bandwidth to what a device can take that multiplies slowly: nothing reads weights faster than they are multiplied."""
    mbu, own, reached = given["mbu"], _ends(given["mbu"].setting), _ends(given["mfu"].setting)
    if share is None or own is None or reached is None or share * reached[1] >= own[1]:
        return
    low, value, high = (
        min(mine, share * of_peak) for mine, of_peak in zip(own, reached, strict=True)
    )
    low_text, value_text, high_text = (
        format_quantity(end, "", 3).strip() for end in (low, value, high)
    )
    why = f"{mbu.source}; no more than the device takes that multiplies {TILE_ROWS} rows at least by each weight"
    given["mbu"] = SourcedValue(
        ValueRange(low, high, f"{low_text}..{high_text}", value),
        why,
        f"{value_text} ({low_text} to {high_text})",
        measured=True,
    )


def limit_by_compute(
    device: HardwareSpec, engine: str, compute: str | None, given: Mapping[str, SourcedValue]
) -> tuple[Fraction, tuple[Fraction, Fraction, Fraction]] | None:
    """How much a measured share of the bandwidth may be for each unit of the share of the compute, and its ends and expected value without that limit.

    None where the share of the bandwidth is not measured, or nothing limits it so.
    """
    mbu, share = given.get("mbu"), share_of_tile(device.family, engine, compute, given)
    if mbu is None or not mbu.measured or share is None:
        return None
    ends = _ends(_fitted("mbu", device.family, engine)[0].setting)
    return (share, ends) if ends else None


def as_expected(values: Mapping[str, SourcedValue]) -> dict[str, Fraction]:
    """The expected number of each value that has one."""
    return {name: ends[1] for name, value in values.items() if (ends := _ends(value.setting))}


def _ends(setting: Setting) -> tuple[Fraction, Fraction, Fraction] | None:
    """The low end, the expected value and the high end of a setting; None of a formula."""
    if isinstance(setting, ValueRange):
        return setting.low, setting.middle, setting.high
    return (fraction(setting), fraction(setting), fraction(setting)) if is_number(setting) else None


@lru_cache(maxsize=256)
def _fitted(name: str, family: str, engine: str) -> tuple[SourcedValue, str]:
    """The value of an input, written once for all devices of a family, and a word where it is that of others."""
    entry, word = shipped_efficiencies().chosen(name, family, engine)
    return SourcedValue(
        range_of(entry), source(entry, engine), range_text(entry), measured=True
    ), word


def _degree(given: SourcedValue | None) -> bool:
    """Whether a parallel degree is, or may be, above 1."""
    return given is not None and not (is_number(given.setting) and fraction(given.setting) == 1)


def range_of(entry: Efficiency) -> ValueRange:
    """The interval of an entry, with its expected value."""
    low, high = (_text(amount) for amount in (entry.low, entry.high))
    return ValueRange(entry.low.value, entry.high.value, f"{low}..{high}", entry.value.value)


def range_text(entry: Efficiency) -> str:
    """``0.548 (0.396 to 0.758)``."""
    value, low, high = (_text(amount) for amount in (entry.value, entry.low, entry.high))
    return f"{value} ({low} to {high})"


def _text(amount: Quantity) -> str:
    return format_quantity(amount.value, unit_of(amount), 3).strip()


def source(entry: Efficiency, engine: str) -> str:
    """What an entry rests on, in words."""
    family, of = (FAMILIES.get(name, name) for name in (entry.family, entry.of or entry.family))
    own = f"; {family} devices' own fit best at the limit of 1, which determines nothing"
    devices = f"{of} devices"
    engines = "all engines" if entry.engine == "all" else f"{entry.engine} engines"
    sources = f"{entry.sources} source{'' if entry.sources == 1 else 's'}"
    return f"measured ({engine}): {entry.rows} rows of {sources}, {devices}, {engines}{own if entry.of else ''}"
