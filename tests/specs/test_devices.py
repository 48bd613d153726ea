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

from ..tables import case_of, table

HARDWARE = sorted(catalogue.entries("hardware"))
SHIPPED = {name: build(catalogue.find("hardware", name), HardwareSpec) for name in HARDWARE}
GIGA, MIB = 10**9, 2**20


def given(name):
    return sr.Study(hardware=name).first.given


def value(name, quantity):
    return sr.Study(hardware=name).value(quantity)


# ---------------------------------------------------------------------------------------------------------------- memory

MIBIBYTES = case_of(
    "h100-sxm=81559 h200=143771 a100-80gb-sxm=81920 a100-40gb-sxm=40960 a10=23028 a10g=23028 "
    "l4=23034 t4=15360 l40s=46068 rtx-3060=12288 rtx-3090=24576 rtx-4090=24564 rtx-5070=12227 "
    "rtx-5090=32607 gh200=97871 gb200=189471 b300=275040 gb300=284208 mi300x=196592 "
    "rtx-pro-6000=97887 rtx-pro-6000-server=97887"
)
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


NODES = """
h100-sxm | 8 | 400
h200 | 8 | 400
a100-80gb-sxm | 8 | 200
b200 | 8 | 400
b300 | 8 | 800
gb200 | 72 | 400
mi300x | 8 | 400
gaudi2 | 8 | 300
gaudi3 | 8 | 600
tpu-v5e | 256 | 25
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "devices", "gigabits"), table(NODES))
def test_a_node_and_the_network_between_nodes(name, devices, gigabits):
    """Bits per second of the cards of a device over 8; a host of eight TPU v5e has 2 x 100 Gbit/s."""
    assert value(name, "node_devices") == int(devices)
    assert value(name, "network_bandwidth") == Fraction(int(gigabits) * 10**9, 8)


def test_without_a_link_devices_talk_over_the_host_link():
    assert value("rtx-4090", "link_bandwidth") == value("rtx-4090", "host_bandwidth") == 32 * GIGA
    assert "there is no link" in given("rtx-4090")["link_bandwidth"].source


# ----------------------------------------------------------------------------------------------------------------- rates

CLOCKED = [
    name
    for name, spec in SHIPPED.items()
    if spec.architecture in ("Turing", "Ampere", "Ada Lovelace", "Blackwell")
    and spec.family in ("geforce", "gddr")
    and (spec.chip and spec.chip.boost_clock and spec.chip.multiprocessors)
    and not name.startswith(("rtx-pro", "t4", "a10"))
]


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", CLOCKED)
def test_a_card_multiplies_as_its_multiprocessors_and_clock_allow(name):
    """1,024 FLOP a clock of a multiprocessor in fp16 with sums of 16 bits; half of it on GeForce with sums of 32, all of it on professional cards."""
    spec = SHIPPED[name]
    full = spec.chip.multiprocessors.value.value * spec.chip.boost_clock.value.value * 1024
    peak = spec.peaks["fp16"]
    half = spec.family == "geforce"
    assert float(peak.dense.value) == pytest.approx(float(full / (1 + half)), rel=0.01)
    if half:
        assert float(peak.fp16_accumulate.value) == pytest.approx(float(full), rel=0.01)
    assert float(spec.peaks["int8"].dense.value) == pytest.approx(float(2 * full), rel=0.01)


# ----------------------------------------------------------------------------------------------------------------- prices


def test_the_price_is_the_median_of_the_list_prices_on_demand():
    """Of an H200: 3.99, 4.29, 4.45, 4.47, 4.50, 4.50, 4.59, 6.305, 7.912 and 10 USD an hour; a fifth and a sixth of 4.50. Reserved and spot prices are apart."""
    h200 = SHIPPED["h200"]
    per_hour = {kind: [] for kind in ("on_demand", "reserved", "spot")}
    for listed in h200.prices:
        per_hour[listed.kind].append(float(3600 * listed.price.value))
    listed = [3.99, 4.29, 4.45, 4.47, 4.5, 4.5, 4.59, 6.305, 7.912, 10]
    assert sorted(per_hour["on_demand"]) == pytest.approx(listed)
    found = [3600 * end for end in (h200.price.low, h200.price.middle, h200.price.high)]
    assert found == [Fraction("3.99"), Fraction("4.5"), 10]
    assert per_hour["spot"] and min(per_hour["reserved"] + per_hour["spot"]) < 3.99


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
    table("""
devices: {value: 8, | devices: {value: 7.5, | whole number
devices: {value: 8, | devices: {value: 0, | positive
devices: {value: 8, | devices: {value: 8 GB/s, | device
81559 MiB, source: sheet | 81559 MiB, source: shet | reported.source: is none of the sources
81559 MiB, | 81559 MiB/s, | byte
50 GB/s, | 400 GB, | byte/s
host_link: { | host_link: {devices: {value: 8, source: sheet}, | unknown key
"""),
)
def test_what_is_wrong_says_so(old, new, words):
    assert CARD.count(old) == 1
    with pytest.raises(InputError, match=words):
        build(loads(CARD.replace(old, new), "card.yaml"), HardwareSpec)
