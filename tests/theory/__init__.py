"""Cases for the theory's tests: values for a theory, without files or devices."""

from fractions import Fraction

from symroof.specs import catalogue
from symroof.specs.fields import build
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import number
from symroof.symbolic.reading import parse
from symroof.theory.architecture import GENERIC
from symroof.theory.case import Case
from symroof.theory.switches import assume
from symroof.theory.theory import theory

DEVICE = {
    "peak_flops": 400 * 10**12,
    "mem_bandwidth": 2 * 10**12,
    "mem_capacity": 80 * 10**9,
    "link_bandwidth": 300 * 10**9,
    "link_latency": Fraction(1, 10**5),
}
"""A device with round numbers: ridge 200 FLOP/byte."""


def shipped(name):
    """A model of the catalogue."""
    return build(catalogue.find("models", name), ModelSpec)


class Floats:
    """Values of names for formulas by themselves."""

    axes = 0

    def __init__(self, known):
        self.known = known

    def value(self, name):
        return float(self.known[name])


def case(model=None, switches=None, **values):
    """A theory with values, a text among them a formula; ``model`` is a catalogue name, a spec, or None for symbols alone."""
    spec = shipped(model) if isinstance(model, str) else model
    given = {
        name: parse(value) if isinstance(value, str) else number(value)
        for name, value in ({**spec.values(), **values} if spec else values).items()
    }
    return Case(theory(spec.architecture() if spec else GENERIC, assume(**(switches or {}))), given)


def made(architecture=None, switches=None, numbers=None, free=(), **formulas):
    """A case of formulas and numbers, without a model; names with a dot have two underscores."""
    given = {
        name.replace("__", "."): parse(value) if isinstance(value, str) else number(Fraction(value))
        for name, value in formulas.items()
    }
    held = (
        theory(architecture, assume(**(switches or {})))
        if architecture
        else theory(assumptions=assume(**(switches or {})))
    )
    return Case(
        held,
        given,
        {name: float(value) for name, value in (numbers or {}).items()},
        frozenset(free),
    )
