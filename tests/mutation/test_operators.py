"""Each operator makes its fault, in the places that compute something, and nowhere else."""

import pytest

from .areas import AREAS, ROOT, Fault, faults_of, sample
from .equivalents import equivalents
from .formulas import formula_mutants
from .mutants import Mutant, mutants
from .trial import Copy


def changed(source, listed):
    """(kind, the source with the fault)."""
    return {(mutant.kind, mutant.applied(source)) for mutant in listed}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", {("comparison", "a <= b")}),
        ("a <= b", {("comparison", "a < b")}),
        ("x not in y", {("comparison", "x in y")}),
        ("a is  not b", {("comparison", "a is b")}),
        ("(a) < (b)", {("comparison", "(a) <= (b)")}),
        ("n = 7", {("± 1", "n = 6"), ("± 1", "n = 8")}),
        ("n = 0", {("± 1", "n = 1")}),
        ("a + b", {("sign", "a - b")}),
        ("-a", {("minus dropped", "a")}),
        ("min(a, b)", {("min/max", "max(a, b)")}),
        ("a and b and c", {("and/or", "a or b and c"), ("and/or", "a and b or c")}),
        ("not a", {("not dropped", "a")}),
        ("x.low", {("other end", "x.high")}),
        ("'ü' if a > b else 'é'", {("comparison", "'ü' if a >= b else 'é'")}),
    ],
)
def test_each_operator_makes_its_fault(source, expected):
    assert changed(source, mutants(source)) == expected


@pytest.mark.parametrize(
    "source", ["n = True", "'a' + b", "[1.5] + b", "def f(n: Literal[3]) -> Literal[4]: ...", "@cache(maxsize=64)\ndef f(): ...", "f'{n + 1}'", '"""1 < 2"""']
)
def test_what_computes_nothing_is_left_alone(source):
    assert mutants(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"batch <= pp"', {("comparison", '"batch < pp"'), ("name swapped", '"prefill_batch <= pp"'), ("name swapped", '"batch <= tp"')}),
        ('"a + n_layers"', {("sign", '"a - n_layers"')}),
        ('"head_dim*d_model"', {("factor dropped", '"d_model"'), ("factor dropped", '"head_dim"')}),
        (
            '"max(prompt, context)"',
            {("min/max", '"min(prompt, context)"'), ("name swapped", '"max(context, context)"'), ("± 1", '"max(prompt, (context - 1))"')},
        ),
        ('f"3*n_heads*{x}"', {("± 1", 'f"2*n_heads*{x}"'), ("factor dropped", 'f"n_heads*{x}"'), ("name swapped", 'f"3*n_kv_heads*{x}"')}),
        ("_q(variants={'a': f, 'b': g})", {("variants exchanged", "_q(variants={'a': g, 'b': f})")}),
        ('"USD/hour"', {("unit's neighbour", '"USD/s"')}),
        ('"80 GB"', {("unit's neighbour", '"80 GiB"')}),
    ],
)
def test_formulas_as_text_have_faults_of_their_own(source, expected):
    assert expected <= changed(source, formula_mutants(source))


@pytest.mark.parametrize("source", ['"prompt"', '"weights of the prompt"', '"FLOP/byte"', "n_layers*2", '"a" "b"'])
def test_words_are_no_formulas(source):
    assert formula_mutants(source) == []


def test_a_unit_of_a_number_is_no_factor():
    """``2 FLOP`` is one number: without the 2 it would be another formula, and without the unit none."""
    assert ("factor dropped", '"FLOP*n_heads"') not in changed('"2 FLOP*n_heads"', formula_mutants('"2 FLOP*n_heads"'))


def test_a_sample_is_that_of_its_seed_and_kinds_take_turns():
    listed = [Fault("f", n, "", "", Mutant("± 1" if n % 10 else "sign", n, n + 1, "")) for n in range(100)]
    short = sample(listed, 6, 1, "theory")
    assert short == sample(listed, 8, 1, "theory")[:6]
    assert short != sample(listed, 6, 2, "theory")
    assert sum(fault.mutant.kind == "sign" for fault in short) == 3


def test_every_area_is_a_room_with_tests():
    for area, tests in AREAS.items():
        assert (ROOT / "symroof" / area).is_dir()
        assert all((ROOT / test).exists() for test in tests)


def test_every_equivalent_is_a_fault_of_today_with_an_argument():
    for entry in equivalents():
        assert len(entry.why) > 20
        assert any(entry.is_of(fault) for fault in faults_of(ROOT / entry.file))


class Quick(Copy):
    """Runs two tests in this process: of ``f(0) == 7``, which fails in any case, and of ``f(1) == 2``."""

    def _failing(self, tests, skipped):
        module = {}
        exec((self.root / "symroof/select/small.py").read_text(), module)
        if tests == ["symroof/select"]:
            return ""
        asked = tests if "::" in tests[0] else ["t::broken", "t::f"]
        holds = {"t::broken": lambda: module["f"](0) == 7, "t::f": lambda: module["f"](1) == 2}
        return next((test for test in asked if test not in skipped and not holds[test]()), "")


@pytest.mark.parametrize(("edit", "by"), [("+ -> -", "t::f"), ("< -> <=", "")])
def test_a_fault_is_killed_or_survives_and_is_taken_out_again(tmp_path, edit, by):
    """A test that fails without the fault as well is no witness."""
    root = tmp_path / "root"
    for folder in ("symroof/select", "tests/selecting"):
        (root / folder).mkdir(parents=True)
    module = root / "symroof/select/small.py"
    module.write_text("def f(n):\n    return n + 1 if n < 3 else 0\n", encoding="utf-8")
    copy = Quick(tmp_path, 60, root)
    outcome = copy.run(next(fault for fault in faults_of(module, root) if fault.edit == edit), "select")
    assert (outcome.killed, outcome.by) == (bool(by), by)
    assert copy.failing["t::broken"]
    assert (copy.root / "symroof/select/small.py").read_text() == module.read_text()
