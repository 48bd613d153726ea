"""Quantities in users' hands: SymPy's operations on them are right, unevaluated or refused; never as if they were constant."""

import copy
import pickle
import subprocess
import sys

import pytest
import sympy
from sympy.polys.polyerrors import PolynomialError  # noqa: F401

from symroof.symbolic.applied import KindSymbol, quantity, translator
from symroof.symbolic.expressions import DerivativeName, at, symbol
from symroof.symbolic.from_sympy import to_core
from symroof.symbolic.reading import parse

from ..tables import table

batch, context, peak, layers, x = sympy.symbols(
    "batch context peak_flops n_layers x", positive=True
)
z, h = sympy.symbols("z h")
itl, intensity, busy = (
    quantity(name, (batch, context, peak), positive=True)
    for name in ("itl", "decode_intensity", "decode_busy_time")
)
params = quantity("params", (batch, layers), positive=True)
local = KindSymbol("n_layers.local", positive=True)
NAMES = {**vars(sympy), **{part.name: part for part in (batch, context, x, z, h, itl, params)}}
NAMES |= {"copy": copy, "pickle": pickle, "intensity": intensity, "busy": busy, "local": local}

OPERATIONS = r"""
diff(itl * batch, batch) | batch*Derivative(itl, batch) + itl
diff(itl, batch, 2) | Derivative(itl, (batch, 2))
diff(itl, batch, context) | Derivative(itl, batch, context)
diff(itl * batch, busy) | batch*Derivative(itl, decode_busy_time)
diff(itl * batch, batch).subs(batch, 5) | itl(batch = 5) + 5*Subs(Derivative(itl, batch), batch, 5)
diff(itl * batch, batch).xreplace({itl: 5, batch: 2}) | 2*Derivative(itl, batch) + 5
diff(itl * batch, batch).xreplace({itl: 5, batch: 2, diff(itl, batch): 3}) | 11
diff(itl, batch).subs(itl, batch ** 2).doit() | 2*batch
diff(itl * batch, batch).subs({itl: 5, batch: 2}) | 2*Subs(Derivative(itl, batch), batch, 2) + 5
diff(itl * batch, batch).subs(itl, 5) | batch*Derivative(itl, batch) + 5
diff(itl, busy, batch).expr | Derivative(itl(decode_busy_time = _xi), _xi, batch)
diff(itl.subs(batch, 5), busy) | Derivative(itl(batch = 5), decode_busy_time)
diff(itl, busy).subs(busy, 3) | Subs(Derivative(itl(decode_busy_time = _xi), _xi), _xi, 3)
(itl * busy).subs(busy, 3) | 3*itl
limit(itl / batch, batch, oo) | Limit(itl/batch, batch, oo, dir='-')
integrate(itl, (batch, 1, 8)) | Integral(itl, (batch, 1, 8))
series(itl, batch, 1, 2).getO() | O((batch - 1)**2, (batch, 1))
series(itl, batch, 1, 2).coeff(batch - 1) | Subs(Derivative(itl(batch = _xi_1), _xi_1), _xi_1, 1)
summation(itl, (batch, 1, 3)) | itl(batch = 1) + itl(batch = 2) + itl(batch = 3)
Sum(itl * batch, (batch, 1, 2)).doit() | itl(batch = 1) + 2*itl(batch = 2)
sorted(map(str, (itl * batch).free_symbols)) | ['batch', 'context', 'peak_flops']
itl.has(batch) | True
(itl * batch * x).as_independent(batch) | (x, batch*itl)
itl.is_constant(batch) | False
(itl * batch).subs(batch, 5) | 5*itl(batch = 5)
(itl * batch).xreplace({batch: 2}) | 2*itl(batch = 2)
solve(Eq(itl, x), batch) | ! NotImplementedError
solve(Eq(batch + itl * 0, 2 * x + 1), batch) | [2*x + 1]
solveset(itl * batch - 3, batch, S.Reals) | ConditionSet(batch, Eq(batch*itl - 3, 0), Reals)
nsolve(itl * batch - 3, batch, 1) | ! ValueError
reduce_inequalities([itl * batch < 3], batch) | ! NotImplementedError
Poly(itl * batch ** 2 + 1, batch) | ! PolynomialError
Max(itl, 0) | itl
itl > 0 | True
Matrix([itl * batch]).jacobian([batch, z]) | Matrix([[batch*Derivative(itl, batch) + itl, 0]])
str(2 * itl * batch) | 2*batch*itl
srepr(itl)[:60] | Function('itl')(Symbol('batch', positive=True), Symbol('cont
latex(itl ** 2 * batch) | batch itl^{2}
pickle.loads(pickle.dumps(itl * batch)) == itl * batch | True
pickle.loads(pickle.dumps(diff(itl, batch))) == diff(itl, batch) | True
itl == Symbol('itl', positive=True) | False
itl.func(*itl.args) == itl | True
lambdify([itl, batch], itl * batch)(3, 2) | 6
lambdify([batch], itl * batch)(2) | ! NameError
lambdify([itl, batch], itl.subs(batch, 5) * batch)(3, 2) | ! NameError
(diff(h * itl, h), (h * itl).subs(h, 2)) | (itl, 2*itl)
float(itl) | ! TypeError
Piecewise((itl, batch > 3), (1, True)).subs(batch, 5) | itl(batch = 5)
piecewise_fold(itl*Piecewise((1, batch>3), (2, 1))) | Piecewise((itl, batch > 3), (2*itl, True))
minimum(itl * 0 + batch, batch, Interval(1, 2)) | 1
maximum(itl, batch, Interval(1, 2)) | ! NotImplementedError
itl.subs(batch, batch+1).diff(batch) | Subs(Derivative(itl(batch = _xi_1), _xi_1), _xi_1, batch + 1)
# several at once, and single kinds of layers
diff(itl * busy, itl) | decode_busy_time + itl*Derivative(decode_busy_time, itl)
solve([itl + busy - 3, itl - busy - x], [itl, busy]) | {decode_busy_time: 3/2 - x/2, itl: x/2 + 3/2}
lambdify([itl, busy, batch], itl * busy + batch)(2, 3, 4) | 10
(itl * busy).subs({itl: busy, busy: itl}, simultaneous=True) | decode_busy_time*itl
Poly(itl ** 2 + busy * itl + 1).gens | (decode_busy_time, itl)
pycode(itl * batch), ccode(itl * batch), mathml(itl) | ('batch*itl', 'batch*itl', '<ci>itl</ci>')
diff(params * batch, local) | batch*Derivative(params, n_layers.local)
params.has(local), itl.has(local), local in params.free_symbols | (True, False, True)
limit(params / local, local, oo) | Limit(params/n_layers.local, n_layers.local, oo, dir='-')
params.subs(local, 5) | params(n_layers.local = 5)
params.xreplace({local: 5}) | params(n_layers.local = 5)
params.subs(local, 5).diff(local) | 0
solve(params - 3, local) | ! NotImplementedError
"""
"""What is done, and what comes of it: an expression as text, or after ``!`` an exception."""


@pytest.mark.parametrize(("code", "outcome"), table(OPERATIONS))
def test_what_sympy_makes_of_quantities(code, outcome):
    if outcome[0] != "!":
        assert str(eval(code, NAMES)) == outcome
    else:
        with pytest.raises(eval(outcome[2:])):
            eval(code, NAMES)


def test_always_an_equal_object():
    again = quantity("itl", (batch, context, peak), positive=True)
    assert again == itl and hash(again) == hash(itl) and itl != quantity("itl", (batch,))
    for thing in (itl, local, itl.subs(batch, 5), params.subs(local, 5), sympy.diff(itl, busy)):
        assert pickle.loads(pickle.dumps(thing)) == thing == copy.deepcopy(thing)


def test_spelled_as_they_are_told():
    names = {itl: r"\mathrm{ITL}", batch: "B"}
    for made, spelled in (
        (itl**2, r"\mathrm{ITL}^{2}"),
        (itl.subs(batch, 5) ** 2, r"\left(\left. \mathrm{ITL} \right\vert_{B = 5}\right)^{2}"),
        (sympy.diff(itl, batch), r"\frac{\partial}{\partial B} \mathrm{ITL}"),
    ):
        assert sympy.latex(made, symbol_names=names) == spelled
    assert sympy.latex(busy) == sympy.latex(sympy.Symbol("decode_busy_time"))
    assert sympy.pretty(itl.subs(batch, 5) + 1) == "itl(batch = 5) + 1"


PUBLIC = {
    **{part.name: part for part in (batch, context, peak, layers, itl, busy, params)},
    "n_layers.local": local,
}


def public(name):
    if isinstance(name, DerivativeName):
        return sympy.diff(public(name.quantity), public(name.by))
    return PUBLIC.get(name) or sympy.Symbol(name, real=True)


@pytest.mark.parametrize(
    "source",
    [
        "2*itl*batch + context/3",
        "max(itl, ceil(batch/2), 7)",
        "itl(batch = 5)*itl",
        "itl(context = batch + 1, decode_busy_time = 3)",
        "params(n_layers.local = 4) + n_layers.local",
        "sum(itl(context = context + j), j, 1, batch)",
        "largest(compute = itl, memory = busy)",
        "itl <= 3*batch",
        "exp(-itl/batch) + sqrt(context)*log(2*batch)",
        "itl*log2(batch)/log2(context) - 2**(-batch)*exp(1)/sqrt(itl)",
    ],
)
def test_there_and_back(source):
    formula = parse(source)
    assert to_core(translator(public)(formula)) == formula


SUBS = "Subs(Derivative(itl(batch = _batch{}), _batch), _batch, {})"
SLOPES = [
    ({"context": 5}, "Derivative(itl(context = 5), batch)"),
    ({"batch": symbol("batch")}, "Derivative(itl, batch)"),
    ({"batch": 3}, SUBS.format("", 3)),
    ({"context": symbol("batch")}, SUBS.format(", context = batch", "batch")),
]


@pytest.mark.parametrize(("changes", "shown"), SLOPES)
def test_slopes_at_changed_inputs(changes, shown):
    made = translator(public)(at(DerivativeName.of("itl", "batch"), changes))
    assert str(made) == shown and translator(public)(to_core(made)) == made


def test_what_does_not_move_a_quantity_changes_nothing():
    for changes in ({"n_layers": 5, "x": 3}, {"decode_busy_time": symbol("decode_busy_time")}):
        assert translator(public)(at("itl", changes)) == itl
    assert translator(public)(at("params", {"n_layers": 5})) == params.subs(layers, 5) != params


@pytest.mark.full
def test_a_pickle_of_another_process_is_an_equal_object_here():
    script = (
        "import pickle, sys; from sympy import Symbol; from symroof.symbolic.applied import *;"
        "itl = quantity('itl', (Symbol('batch', positive=True),), positive=True);"
        "sys.stdout.buffer.write(pickle.dumps(2*itl.subs(itl.args[0], 5)))"
    )
    made = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout
    assert pickle.loads(made) == 2 * quantity("itl", (batch,), positive=True).subs(batch, 5)
