"""What a device supplies to a case: memory as its driver reports it, its link and its network, each with its source."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.api import Study
from symroof.claims.catalogue_figures import as_quantity, catalogue_figure
from symroof.errors import InputError
from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.hardware import HardwareSpec
from symroof.strict_yaml import loads

HARDWARE = sorted(catalogue.entries("hardware"))
SHIPPED = {name: build(catalogue.find("hardware", name), HardwareSpec) for name in HARDWARE}
GIGA, MIB = 10**9, 2**20


def given(name):
    return sr.Study(hardware=name).first.given


def value(name, quantity):
    return sr.Study(hardware=name).value(quantity)


# ---------------------------------------------------------------------------------------------------------------- memory

MIBIBYTES = {
    "h100-sxm": 81_559, "h200": 143_771, "a100-80gb-sxm": 81_920, "a100-40gb-sxm": 40_960, "a10": 23_028, "l4": 23_034, "t4": 15_360, "l40s": 46_068,
    "rtx-3090": 24_576, "rtx-4090": 24_564, "rtx-5090": 32_607, "gh200": 97_871, "b300": 275_040, "gb200": 189_471, "mi300x": 196_592,
    "gb300": 284_208, "a10g": 23_028, "rtx-3060": 12_288, "rtx-5070": 12_227, "rtx-pro-6000": 97_887, "rtx-pro-6000-server": 97_887,
}  # fmt: skip
"""Total memory in MiB, as people quote what nvidia-smi and rocm-smi print."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", MIBIBYTES)
def test_memory_is_what_the_driver_reports(name):
    assert value(name, "mem_capacity") == MIBIBYTES[name] * MIB


def test_the_label_of_an_h100_is_seven_per_cent_short():
    """80 GB on the box; 81,559 MiB are 85,520,809,984 bytes. The label stays what the data sheet says."""
    assert value("h100-sxm", "mem_capacity") == 85_520_809_984
    assert catalogue_figure("h100-sxm.memory.reported") == (85_520_809_984, "byte")
    assert catalogue_figure("h100-sxm.memory.capacity") == (80 * GIGA, "byte")
    assert "nvidia-smi" in given("h100-sxm")["mem_capacity"].source


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name", [name for name in HARDWARE if SHIPPED[name].memory.reported is None]
)
def test_where_only_the_label_is_known_the_source_says_so(name):
    assert value(name, "mem_capacity") == SHIPPED[name].memory.capacity.value.value
    assert given(name)["mem_capacity"].source.endswith(
        "(the label; what the driver reports is not known)"
    )


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "name", [name for name in HARDWARE if SHIPPED[name].memory.reported is not None]
)
def test_what_is_reported_is_near_the_label(name):
    """A label of so many GB stands for at most as many GiB, of which drivers, ECC and runtimes keep a few per cent; Metal lets one process use two thirds of
    a small Mac's, three quarters of a large one's."""
    memory = SHIPPED[name].memory
    ratio = memory.reported.value.value / memory.capacity.value.value
    share = (
        1
        if SHIPPED[name].vendor != "Apple"
        else Fraction(3, 4)
        if memory.capacity.value.value >= 36 * GIGA
        else Fraction(2, 3)
    )
    assert Fraction(93, 100) * share < ratio <= Fraction(1024**3, 10**9) * share


@pytest.mark.parametrize(
    ("name", "mib"), [("m1", 10_922), ("m2-pro", 21_845), ("m2-max", 73_728), ("m4-max", 49_152)]
)
def test_what_metal_logs(name, mib):
    """recommendedMaxWorkingSetSize of 16, 32, 96 and 64 GB: 10,922.67, 21,845.34 and 73,728 MiB, and 49,152."""
    assert value(name, "mem_capacity") == mib * 1024**2


def test_sixteen_bits_are_the_format_that_a_device_is_made_for():
    """Gaudi 3: 1,678 TFLOP/s in bf16, 459 in fp16; where nobody says which, or says bf16, it is the former."""
    rates = [
        Study(model="llama-3-8b", hardware="gaudi3", prompt=8, engine="ideal", **more).value(
            "peak_flops"
        )
        for more in ({}, {"activations": "bf16"}, {"activations": "fp16"})
    ]
    assert rates == [1678e12, 1678e12, 459e12]
    assert (
        Study(model="llama-3-8b", hardware="h100-sxm", prompt=8, engine="ideal").first.compute
        == "fp16"
    )


def test_a_given_capacity_is_stronger_than_the_catalogue():
    assert sr.Study(hardware="h100-sxm", mem_capacity="80 GB").value("mem_capacity") == 80 * GIGA


# ----------------------------------------------------------------------------------------------------------------- links


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "devices", "gigabits"),
    [("h100-sxm", 8, 400), ("h200", 8, 400), ("a100-80gb-sxm", 8, 200), ("b200", 8, 400), ("b300", 8, 800), ("gb200", 72, 400), ("mi300x", 8, 400),
     ("gaudi2", 8, 3 * 100), ("gaudi3", 8, 3 * 200), ("tpu-v5e", 256, 25)],
)  # fmt: skip
def test_a_node_and_the_network_between_nodes(name, devices, gigabits):
    """Bits per second of the cards of a device over 8; a host of eight TPU v5e has 2 x 100 Gbit/s."""
    assert value(name, "node_devices") == devices
    assert value(name, "network_bandwidth") == Fraction(gigabits * 10**9, 8)


@pytest.mark.parametrize("name", ["a100-80gb-pcie", "h100-nvl", "a40", "rtx-a6000", "rtx-3090"])
def test_a_bridge_joins_two(name):
    assert value(name, "node_devices") == 2


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in HARDWARE
        if SHIPPED[name].network is None and SHIPPED[name].host_link is not None
    ],
)
def test_without_a_network_of_its_own_the_host_link_is_the_bound(name):
    assert value(name, "network_bandwidth") == value(name, "host_bandwidth")
    assert "a bound" in given(name)["network_bandwidth"].source


def test_without_a_link_devices_talk_over_the_host_link():
    assert value("rtx-4090", "link_bandwidth") == value("rtx-4090", "host_bandwidth") == 32 * GIGA
    assert "there is no link" in given("rtx-4090")["link_bandwidth"].source


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [name for name in HARDWARE if SHIPPED[name].network is not None])
def test_a_network_is_slower_than_the_link(name):
    spec = SHIPPED[name]
    assert spec.network.bandwidth.value.value < spec.link.bandwidth.value.value


@pytest.mark.parametrize("name", ["tpu-v4", "m2-ultra"])
def test_what_nobody_says_of_a_network_has_no_value(name):
    assert "network_bandwidth" not in given(name)


def test_a_figure_of_the_catalogue_is_an_input_or_only_a_figure():
    assert as_quantity("h100-sxm.memory.reported") == ("mem_capacity", {"hardware": "h100-sxm"})
    assert as_quantity("h100-sxm.network.bandwidth") == (
        "network_bandwidth",
        {"hardware": "h100-sxm"},
    )
    assert as_quantity("h100-sxm.link.devices") == ("node_devices", {"hardware": "h100-sxm"})
    assert as_quantity("h100-sxm.memory.capacity") is None
    assert catalogue_figure("h100-sxm.link.devices")[0] == 8


# ----------------------------------------------------------------------------------------------------------------- rates

CLOCKED = [
    name
    for name, spec in SHIPPED.items()
    if spec.vendor == "NVIDIA"
    and spec.family in ("geforce", "gddr")
    and spec.chip
    and spec.chip.boost_clock
    and spec.chip.multiprocessors
    if spec.architecture in ("Turing", "Ampere", "Ada Lovelace", "Blackwell")
    and not name.startswith(("rtx-pro", "t4", "a10"))
]


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CLOCKED)
def test_a_card_multiplies_as_its_multiprocessors_and_clock_allow(name):
    """1,024 FLOP a clock of a multiprocessor in fp16 with sums of 16 bits; half of it on GeForce with sums of 32, all of it on professional cards."""
    spec = SHIPPED[name]
    full = spec.chip.multiprocessors.value.value * spec.chip.boost_clock.value.value * 1024
    peak = spec.peaks["fp16"]
    assert float(peak.dense.value) == pytest.approx(
        float(full / 2 if spec.family == "geforce" else full), rel=0.01
    )
    if spec.family == "geforce":
        assert float(peak.fp16_accumulate.value) == pytest.approx(float(full), rel=0.01)
    assert float(spec.peaks["int8"].dense.value) == pytest.approx(float(2 * full), rel=0.01)


@pytest.mark.parametrize(
    ("name", "cores", "clock"),
    [("m1", 8, 1.296), ("m1-ultra", 64, 1.296), ("m2-pro", 19, 1.398), ("m3-ultra", 80, 1.398)],
)
def test_an_apple_part_multiplies_as_its_lanes_and_clock_allow(name, cores, clock):
    """A core has 128 lanes of a multiply and an add."""
    assert float(SHIPPED[name].peaks["fp16"].dense.value) == pytest.approx(
        cores * 256 * clock * 1e9, rel=0.001
    )


def test_a_part_of_a_part_is_half_of_it():
    """A die of the MI250X, a core of the Neuron chips: half of what the documents print for the whole."""
    whole, die = SHIPPED["mi250x"], SHIPPED["mi250x-gcd"]
    assert 2 * die.peaks["fp16"].dense.value == whole.peaks["fp16"].dense.value
    assert 2 * die.memory.bandwidth.value.value == whole.memory.bandwidth.value.value
    for name in ("inferentia2-core", "trainium1-core"):
        core = SHIPPED[name]
        assert (core.peaks["bf16"].dense.value, core.memory.bandwidth.value.value) == (
            190 * 10**12 // 2,
            820 * GIGA // 2,
        )


# ----------------------------------------------------------------------------------------------------------------- prices


def test_the_price_is_the_median_of_the_list_prices_on_demand():
    """Of an H200: 3.99, 4.29, 4.45, 4.47, 4.50, 4.50, 4.59, 6.305, 7.912 and 10 USD an hour; a fifth and a sixth of 4.50. Reserved and spot prices are apart."""
    h200 = SHIPPED["h200"]
    asked = sorted(
        float(3600 * listed.price.value) for listed in h200.prices if listed.kind == "on_demand"
    )
    assert asked == pytest.approx([3.99, 4.29, 4.45, 4.47, 4.5, 4.5, 4.59, 6.305, 7.912, 10])
    assert (h200.price.low, h200.price.middle, h200.price.high) == (
        Fraction(399, 360_000),
        Fraction(450, 360_000),
        Fraction(1000, 360_000),
    )
    assert {listed.kind for listed in h200.prices} == {"on_demand", "reserved", "spot"} and min(
        listed.price.value for listed in h200.prices
    ) < h200.price.low


def test_an_even_number_of_prices_has_its_median_between_the_two_in_the_middle():
    """0.16, 0.18, 0.22 and 0.50 USD an hour for an RTX 3090."""
    assert SHIPPED["rtx-3090"].price.middle == Fraction(20, 360_000)


def test_without_a_price_on_demand_there_is_none():
    assert SHIPPED["gaudi3"].price is None and not SHIPPED["gaudi3"].prices
    spot = "prices: [{price: 1 USD/hour, kind: spot, provider: C, source: {title: List, date: 2026}}]\n"
    assert build(loads(CARD + spot), HardwareSpec).price is None


RENTED = ("h100-sxm", "h100-pcie", "h100-nvl", "h200", "b200", "b300", "a100-80gb-sxm", "a100-80gb-pcie", "a100-40gb-sxm", "l40s", "l4", "t4", "mi300x", "mi325x",
          "mi355x", "rtx-4090", "rtx-5090", "rtx-3090", "rtx-6000-ada", "rtx-pro-6000", "rtx-pro-6000-server", "rtx-a6000", "tpu-v5e", "tpu-v6e")  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", RENTED)
def test_what_people_rent_has_three_prices_or_more_with_source_and_date(name):
    asked = [listed for listed in SHIPPED[name].prices if listed.kind == "on_demand"]
    assert len(asked) >= 3
    for listed in SHIPPED[name].prices:
        source = SHIPPED[name].source_of(listed)
        assert source.title and source.address and (source.date or source.consulted), (
            listed.provider
        )


# ---------------------------------------------------------------------------------------------------------- what is wrong

CARD = """\
name: card
title: A card
vendor: V
sources: {sheet: {title: Sheet, date: 2024}}
peaks: {fp16: {dense: 100 TFLOP/s, source: sheet}}
memory: {kind: HBM, bandwidth: {value: 1 TB/s, source: sheet}, capacity: {value: 80 GB, source: sheet}, reported: {value: 81559 MiB, source: sheet}}
link: {name: L, bandwidth: {value: 100 GB/s, source: sheet}, devices: {value: 8, source: sheet}}
host_link: {name: H, bandwidth: {value: 64 GB/s, source: sheet}}
network: {name: NIC, bandwidth: {value: 50 GB/s, source: sheet}}
"""


def test_the_card_is_valid_as_it_stands():
    assert len(build(loads(CARD), HardwareSpec).numbers()) == 8


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("devices: {value: 8,", "devices: {value: 7.5,", "whole number"),
        ("devices: {value: 8,", "devices: {value: 0,", "positive"),
        ("devices: {value: 8,", "devices: {value: 8 GB/s,", "device"),
        ("{value: 81559 MiB, source: sheet}", "{value: 81559 MiB, source: shet}", "source 'shet' is not listed"),
        ("{value: 81559 MiB,", "{value: 81559 MiB/s,", "byte"),
        ("{value: 50 GB/s,", "{value: 400 GB,", "byte/s"),
        ("host_link: {name: H,", "host_link: {devices: {value: 8, source: sheet}, name: H,", "unknown key"),
    ],
)  # fmt: skip
def test_what_is_wrong_says_so(old, new, words):
    assert CARD.count(old) == 1
    with pytest.raises(InputError, match=words):
        build(loads(CARD.replace(old, new), "card.yaml"), HardwareSpec)
