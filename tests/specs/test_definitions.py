"""Names of one's own: what may be declared, what is refused and where, and that one study's names are no other's."""

import pytest

import symroof as sr
from symroof.specs.fields import build
from symroof.specs.spec_files import read_study
from symroof.specs.user_theory import TheorySpec
from symroof.strict_yaml import loads

from ..tables import table

STUDY = "title: t\nmodel: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 4096, output: 16}\n"
H100 = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 4096, "output": 16}


def problems(text):
    with pytest.raises(sr.InputError) as error:
        read_study(loads(text, "f.yaml"))
    return [(found.line, found.path, found.message, found.hint) for found in error.value.problems]


def defined(entries):
    return STUDY + "define:\n" + "".join(f"  {entry}\n" for entry in entries)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ttft", "is already a name in symroof"),  # a quantity
        ("prompt", "is already a name in symroof"),  # an input
        ("isl", "is read as prompt"),  # an alias
        ("d", "is read as d_model"),  # a letter of LaTeX
        ("batch_to_ridge", "is already the name of a threshold"),
        ("detail", "is a reserved word of studies and formulas"),
        ("ceil", "is a reserved word of studies and formulas"),
        ("Wasted", "a name has lower-case letters"),
        ("a.b", "a name has lower-case letters"),
        ("x" * 49, "a name has lower-case letters"),
    ],
)
def test_a_name_that_cannot_be_ones_own(name, why):
    ((line, path, message, _),) = problems(
        defined([f"{name}: {{formula: 2*prompt, unit: token, means: m}}"])
    )
    assert (line, path) == (6, f"define.{name}")
    assert message.startswith(why)


def test_a_wrong_dimension_names_both_units_at_its_place():
    ((line, path, message, _),) = problems(
        defined(["saved: {formula: prefill_flops*(1 - hit_rate), unit: byte, means: m}"])
    )
    assert (line, path) == (6, "define.saved.formula")
    assert "declared as byte" in message and "is FLOP" in message


def test_all_faults_of_formulas_come_in_one_run():
    entries = [
        "one: {formula: 2*prefil_flops, unit: FLOP, means: m}",
        "two: {formula: 2*(ttft, unit: s, means: m}",
        "six: {formula: 6*params, unit: FLOP, means: m}",
    ]
    found = {path: (message, hint) for _, path, message, hint in problems(defined(entries))}
    assert found["define.one.formula"] == (
        "unknown name 'prefil_flops'",
        "did you mean 'prefill_flops'?",
    )
    assert "expected ')'" in found["define.two.formula"][0]
    assert found["define.six.formula"][1].endswith("6 FLOP")


def test_a_circle_is_an_error_that_shows_it():
    entries = [
        "one: {formula: two + 1, unit: '', means: m}",
        "two: {formula: six/2, unit: '', means: m}",
        "six: {formula: 3*one, unit: '', means: m}",
    ]
    ((line, path, message, _),) = problems(defined(entries))
    assert (line, path, message) == (
        6,
        "define.one.formula",
        "is defined by itself: one -> two -> six -> one",
    )


THRESHOLDS = """
name: edge, equation: ttft = 1 byte, unknown: prompt, means: m | .equation | ttft is s but 1 byte is byte
name: edge, equation: ttft, unknown: prompt, means: m | .equation | is not of the form lhs = rhs
name: edge, equation: ttft = 1 s, unknown: promt, means: m | .unknown | unknown name 'promt'
name: edge, equation: ttft = 1 s, unknown: prompt | .means | is missing
name: batch_to_rigde | . | no threshold 'batch_to_rigde'
"""


@pytest.mark.parametrize(("threshold", "path", "message"), table(THRESHOLDS))
def test_a_threshold_at_fault_is_reported_at_its_place(threshold, path, message):
    text = f"{STUDY}thresholds: [all, {{{threshold}}}]\n"
    assert [found[1:3] for found in problems(text)] == [
        (f"thresholds[1]{path}".rstrip("."), message)
    ]


def test_a_threshold_cannot_have_the_name_of_a_quantity():
    text = "{name: ttft, equation: ttft = 1 s, unknown: prompt, means: m}"
    ((_, path, message, _),) = problems(f"{STUDY}thresholds: [{text}]\n")
    assert (path, message) == ("thresholds[0].name", "is already a name in symroof; choose another")


# ------------------------------------------------------------------------------------------------------------- theory files


THEORY = """name: pay
title: Pay
inputs:
  hours_worked: {unit: hour, means: m}
  wage: {unit: USD/hour, means: m, default: 18}
define:
  earned: {formula: hours_worked*wage, unit: USD, means: m}
"""

OF_INPUTS = """
prompt: {unit: token, means: m} | prompt | is already a name in symroof; choose another
wage_of: {unit: USD/our, means: m} | wage_of.unit | unknown unit 'our'
staff: {unit: '', means: m, counts: true, default: 1.5} | staff.default | write a whole number
size_of: {unit: byte, means: m, default: 5 s} | size_of.default | is in s, but byte is needed
"""


@pytest.mark.parametrize(("line", "path", "message"), table(OF_INPUTS))
def test_an_input_at_fault_is_reported_at_its_place(line, path, message):
    found = problems(THEORY.replace("define:", f"  {line}\ndefine:"))
    ((_, at, said, _),) = found
    assert at == f"inputs.{path}" and message in said


def test_the_starter_and_every_shipped_theory_are_valid():
    from symroof.resources import data_folder
    from symroof.specs.catalogue import entries

    assert "training-step" in entries("theories")
    for path in [entry.path for entry in entries("theories").values()] + [
        data_folder("templates") / "starters" / "theory.yaml"
    ]:
        spec = build(loads(path.read_text()), TheorySpec)
        assert spec.declared.title == spec.title


# ------------------------------------------------------------------------------------------------------------------- Python


def test_a_definition_speaks_of_those_before_it_and_follows_when_they_change():
    study = (
        sr.Study(**H100)
        .define("twice", "2*prompt", unit="token")
        .define("four_times", "2*twice", unit="token")
    )
    assert study.value("four_times") == 4 * 4096
    study.define("twice", "3*prompt", unit="token")
    assert study.value("four_times") == 6 * 4096
    with pytest.raises(sr.InputError, match="is defined by itself"):
        study.define("twice", "four_times/2", unit="token")
    assert study.value("four_times") == 6 * 4096


def test_formulas_that_double_at_every_step_are_refused_before_anything_is_put_in():
    entries = ["x0: {formula: prompt*1 token, unit: token, means: m}"]
    for i in range(1, 60):
        entries.append(f"x{i}: {{formula: x{i - 1}*(x{i - 1} + 1), unit: token, means: m}}")
    said = [message for _, _, message, _ in problems(defined(entries))]
    assert any("parts with the definitions it uses" in message for message in said)
