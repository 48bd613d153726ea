"""What a device supplies to a case: memory as its driver reports it, its link and its network, each with its source."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.claims.catalogue_figures import catalogue_figure
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
    "h100-sxm": 81_559,
    "h200": 143_771,
    "a100-80gb-sxm": 81_920,
    "a100-40gb-sxm": 40_960,
    "a10": 23_028,
    "l4": 23_034,
    "t4": 15_360,
    "l40s": 46_068,
    "rtx-3090": 24_576,
    "rtx-4090": 24_564,
    "rtx-5090": 32_607,
    "gh200": 97_871,
    "b300": 275_040,
    "gb200": 189_471,
    "mi300x": 196_592,
    "gb300": 284_208,
    "a10g": 23_028,
    "rtx-3060": 12_288,
    "rtx-5070": 12_227,
    "rtx-pro-6000": 97_887,
    "rtx-pro-6000-server": 97_887,
}
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


# ----------------------------------------------------------------------------------------------------------------- links


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "devices", "gigabits"),
    [
        ("h100-sxm", 8, 400),
        ("h200", 8, 400),
        ("a100-80gb-sxm", 8, 200),
        ("b200", 8, 400),
        ("b300", 8, 800),
        ("gb200", 72, 400),
        ("mi300x", 8, 400),
        ("gaudi2", 8, 3 * 100),
        ("gaudi3", 8, 3 * 200),
        ("tpu-v5e", 256, 25),
    ],
)
def test_a_node_and_the_network_between_nodes(name, devices, gigabits):
    """Bits per second of the cards of a device over 8; a host of eight TPU v5e has 2 x 100 Gbit/s."""
    assert value(name, "node_devices") == devices
    assert value(name, "network_bandwidth") == Fraction(gigabits * 10**9, 8)


def test_without_a_link_devices_talk_over_the_host_link():
    assert value("rtx-4090", "link_bandwidth") == value("rtx-4090", "host_bandwidth") == 32 * GIGA
    assert "there is no link" in given("rtx-4090")["link_bandwidth"].source


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


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("devices: {value: 8,", "devices: {value: 7.5,", "whole number"),
        ("devices: {value: 8,", "devices: {value: 0,", "positive"),
        ("devices: {value: 8,", "devices: {value: 8 GB/s,", "device"),
        (
            "{value: 81559 MiB, source: sheet}",
            "{value: 81559 MiB, source: shet}",
            "source 'shet' is not listed",
        ),
        ("{value: 81559 MiB,", "{value: 81559 MiB/s,", "byte"),
        ("{value: 50 GB/s,", "{value: 400 GB,", "byte/s"),
        (
            "host_link: {name: H,",
            "host_link: {devices: {value: 8, source: sheet}, name: H,",
            "unknown key",
        ),
    ],
)
def test_what_is_wrong_says_so(old, new, words):
    assert CARD.count(old) == 1
    with pytest.raises(InputError, match=words):
        build(loads(CARD.replace(old, new), "card.yaml"), HardwareSpec)
