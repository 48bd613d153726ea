"""A quantity over an input: where it stands, and how it is called."""

import re

import pytest
import sympy

import symroof as sr
from symroof import symbols
from tests.cli import call, refused

from ..near import near

LINK = """\
name: shared-link
title: Queue of a shared link with retries
inputs:
  line_rate: {unit: byte/s, means: rate of the link}
  message: {unit: byte, means: bytes of a message}
  offered: {unit: 1/s, means: messages a second}
  loss: {unit: "", means: share lost, default: 0.01}
define:
  service: {formula: message/line_rate, unit: s, means: time of a message on the link}
  busy: {formula: offered*service/(1 - loss), unit: "", means: utilisation with retries}
  sojourn: {formula: service/(1 - busy), unit: s, means: mean time in the system}
"""
CASE = ("--set", "line_rate=1 GB/s", "--set", "message=100 kB", "--set", "offered=5000/s")
CHAT = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "batch": 8}


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    path = tmp_path_factory.mktemp("theory") / "link.yaml"
    path.write_text(LINK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def study(link):
    return sr.Study(theory=link, line_rate="1 GB/s", message="100 kB", offered="5000/s")


def test_the_values_of_a_study_hold_the_defaults_of_its_theory(study):
    """The slope of the sojourn by hand: service²/(1 - loss)/(1 - busy)²; nothing stays free, and `loss` is its default."""
    formula = study.sympy("sojourn")
    offered = next(symbol for symbol in formula.free_symbols if symbol.name == "offered")
    slope = sympy.diff(formula, offered).subs(study.values())
    assert not slope.free_symbols
    assert float(slope) == pytest.approx(1e-8 / 0.99 / (1 - 0.5 / 0.99) ** 2)
    values = {str(symbol): float(number) for symbol, number in study.values().items()}
    assert values["loss"] == near(0.01)


def test_it_stands_where_the_value_stands():
    """As expected unless the study says otherwise, and the case says which; its diamond is the study's own value."""
    for chosen, words in (
        ({"efficiency": "peak"}, "theoretical minimum"),
        ({}, "at measured efficiencies"),
        ({"mbu": 0.8}, "at the efficiencies given"),
    ):
        case = sr.Study(**CHAT, **chosen)
        drawn = case.plot(symbols.ttft / symbols.itl, over="batch")
        assert drawn.data["diamond"][0, 1] == case.value(symbols.ttft / symbols.itl)
        assert words in drawn._repr_svg_()
    assert "efficienc" not in sr.Study(**CHAT).plot("kv_cache_bytes", over="batch")._repr_svg_()


def test_beyond_memory_is_said_without_a_dagger():
    """129 requests of 4,096 tokens fit; the axis goes to 2,048."""
    drawn = sr.Study(**{**CHAT, "batch": 128}).plot("itl", over="batch")
    words = " ".join(re.findall(r">([^<]+)<", drawn._repr_svg_()))
    assert "does not fit" in words and "†" not in words


def test_over_two_inputs_what_cannot_be_drawn_says_why():
    for over, why in (("batch,batch", "two others"), ("batch,prompt,output", "over one input")):
        with pytest.raises(sr.InputError, match=why):
            sr.Study(**CHAT).plot("itl", over=over)
    with pytest.raises(sr.InputError, match="mfu does not move kv_cache_bytes"):
        sr.Study(**CHAT).plot("kv_cache_bytes", over=["batch", "mfu"])


def test_the_line_draws_a_quantity_of_a_theory_over_an_input(link, tmp_path):
    drawn = call("plot", "sojourn", link, *CASE, "--over", "offered", "-o", tmp_path / "soj.svg")
    assert drawn.code == 0 and drawn.out.startswith("At offered 5,000 1/s, sojourn is 202.0 µs")
    assert (tmp_path / "soj.svg").read_bytes().startswith(b"<svg")
    assert "drawn over an input: --over" in refused("plot", "sojourn", link, *CASE)
    assert "takes no second side" in refused(
        "plot", "sojourn", link, *CASE, "--over", "offered", "--against", "genz"
    )
    assert "did you mean 'sojourn'" in refused("plot", "sojurn", link, *CASE, "--over", "offered")
