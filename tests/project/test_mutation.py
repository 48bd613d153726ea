"""Each operator makes its fault, in the places that compute something, and nowhere else."""

import shutil
from pathlib import Path

import pytest

from tools.mutation.areas import AREAS, ROOT, Fault, faults_of, sample
from tools.mutation.equivalents import equivalents
from tools.mutation.formulas import formula_mutants
from tools.mutation.mutants import Mutant, mutants
from tools.mutation.reach import Reach
from tools.mutation.trial import NOT_REACHED, Copy


def changed(source, listed):
    """(kind, the source with the fault)."""
    return {(mutant.kind, mutant.applied(source)) for mutant in listed}


@pytest.mark.sample(8)
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
    "source",
    [
        "n = True",
        "'a' + b",
        "[1.5] + b",
        "def f(n: Literal[3]) -> Literal[4]: ...",
        "@cache(maxsize=64)\ndef f(): ...",
        "f'{n + 1}'",
        '"""1 < 2"""',
    ],
)
def test_what_computes_nothing_is_left_alone(source):
    assert mutants(source) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            '"batch <= pp"',
            {
                ("comparison", '"batch < pp"'),
                ("name swapped", '"prefill_batch <= pp"'),
                ("name swapped", '"batch <= tp"'),
            },
        ),
        ('"a + n_layers"', {("sign", '"a - n_layers"')}),
        ('"head_dim*d_model"', {("factor dropped", '"d_model"'), ("factor dropped", '"head_dim"')}),
        (
            '"max(prompt, context)"',
            {
                ("min/max", '"min(prompt, context)"'),
                ("name swapped", '"max(context, context)"'),
                ("± 1", '"max(prompt, (context - 1))"'),
            },
        ),
        (
            'f"3*n_heads*{x}"',
            {
                ("± 1", 'f"2*n_heads*{x}"'),
                ("factor dropped", 'f"n_heads*{x}"'),
                ("name swapped", 'f"3*n_kv_heads*{x}"'),
            },
        ),
        (
            "_q(variants={'a': f, 'b': g})",
            {("variants exchanged", "_q(variants={'a': g, 'b': f})")},
        ),
        ('"USD/hour"', {("unit's neighbour", '"USD/s"')}),
        ('"80 GB"', {("unit's neighbour", '"80 GiB"')}),
    ],
)
def test_formulas_as_text_have_faults_of_their_own(source, expected):
    assert expected <= changed(source, formula_mutants(source))


@pytest.mark.parametrize(
    "source", ['"prompt"', '"weights of the prompt"', '"FLOP/byte"', "n_layers*2", '"a" "b"']
)
def test_words_are_no_formulas(source):
    assert formula_mutants(source) == []


def test_a_unit_of_a_number_is_no_factor():
    """``2 FLOP`` is one number: without the 2 it would be another formula, and without the unit none."""
    assert ("factor dropped", '"FLOP*n_heads"') not in changed(
        '"2 FLOP*n_heads"', formula_mutants('"2 FLOP*n_heads"')
    )


def test_a_sample_is_that_of_its_seed_and_kinds_take_turns():
    listed = [
        Fault("f", n, "", "", Mutant("± 1" if n % 10 else "sign", n, n + 1, "")) for n in range(100)
    ]
    short = sample(listed, 6, 1, "theory")
    assert short == sample(listed, 8, 1, "theory")[:6]
    assert short != sample(listed, 6, 2, "theory")
    assert sum(fault.mutant.kind == "sign" for fault in short) == 3


def test_tests_about_a_fault_are_asked_first_and_a_few_quick_ones_of_every_file_before_the_many():
    seconds = {"a/x.py": [1, 2, 3, 4], "a/y.py": [9], "b/z.py": [1]}
    rows = {
        f"{path}::{i}": {"seconds": s, "fails": False}
        for path, listed in seconds.items()
        for i, s in enumerate(listed)
    }
    ordered = Reach(Path(), rows).ordered
    assert ordered(rows, ["a"]) == [
        "a/x.py::0",
        "a/x.py::1",
        "a/x.py::2",
        "a/y.py::0",
        "a/x.py::3",
        "b/z.py::0",
    ]
    assert (
        ordered(rows, ["a"], [], ["a/y.py::7"])[0]
        == "a/y.py::0"
        == ordered(rows, ["a"], ["a/x.py::7", "a/y.py::7"], ["a/y.py::7"])[0]
    )
    assert ordered(rows, ["a"], ["a/y.py::7", "b/z.py::0"]) == [
        "a/y.py::0",
        "a/x.py::0",
        "a/x.py::1",
        "a/x.py::2",
        "a/x.py::3",
        "b/z.py::0",
    ]


def test_every_area_is_a_room_with_tests():
    for area, tests in AREAS.items():
        assert (ROOT / "symroof" / area).is_dir()
        assert all((ROOT / test).exists() for test in tests)


def test_every_equivalent_is_a_fault_of_today_with_an_argument():
    listed = {file: faults_of(ROOT / file) for file in {entry.file for entry in equivalents()}}
    for entry in equivalents():
        assert len(entry.why) > 20
        assert any(entry.is_of(fault) for fault in listed[entry.file])


PACKAGE = """
LIMIT = 3

def f(n):
    return n + 1 if n < LIMIT else 0

def unused(n):
    return n + 2

def times_five(n):
    return n * 5

TEN = times_five(6 // 3)
"""
TESTS = """
from symroof.select.small import TEN, f

def test_it_fails_in_any_case():
    assert f(0) == 7

def test_two():
    assert f(1) == 2

def test_limit():
    assert f(4) == 0

def test_ten():
    assert TEN == 10
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A package of one file, its tests recorded and collected by the processes that really do so."""
    pytest.importorskip("coverage")
    root = tmp_path_factory.mktemp("small") / "root"
    for folder in ("symroof/select", "tests/select"):
        (root / folder).mkdir(parents=True)
        (root / folder / "__init__.py").touch()
        (root / folder).with_name("__init__.py").touch()
    shutil.copytree(ROOT / "tools/mutation", root / "tools/mutation")
    (root / "symroof/select/small.py").write_text(PACKAGE, encoding="utf-8")
    (root / "tests/select/test_small.py").write_text(TESTS, encoding="utf-8")
    (root / "pytest.ini").write_text(
        "[pytest]\naddopts = -p no:hypothesispytest\n", encoding="utf-8"
    )
    made = Copy(root.parent, 60, root, witnesses=("tests/select",))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("edit", "killed", "by"),
    [
        ("+ -> -", True, "tests/select/test_small.py::test_two"),
        ("< -> <=", False, "2 of 2 tests"),
        ("3 -> 2", False, "2 of 2 tests"),  # of a constant, which only a new import reads
        ("0 -> 1", True, "tests/select/test_small.py::test_limit"),
        ("2 -> 3", False, NOT_REACHED),
        (
            "5 -> 6",
            True,
            "tests/select/test_small.py::test_ten",
        ),  # in a function that runs at import alone
    ],
)
def test_a_fault_is_killed_or_survives_and_is_taken_out_again(copy, edit, killed, by):
    """A test that fails without the fault as well is no witness."""
    module = copy.root / "symroof/select/small.py"
    outcome = copy.run(
        next(fault for fault in faults_of(module, copy.root) if fault.edit == edit), "select"
    )
    assert (outcome.killed, outcome.by) == (killed, by)
    assert module.read_text() == PACKAGE
