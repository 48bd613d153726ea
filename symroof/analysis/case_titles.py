"""The names of cases for people: a title in a line, and a label by what sets a case apart from the others."""

from fractions import Fraction

from symroof.cases.case_results import Answers
from symroof.cases.spec_values import middle
from symroof.formula.evaluate import NoValue
from symroof.formula.text import number_text, text
from symroof.formula.tree import Num
from symroof.theory.layout import DEGREES


def devices(answers: Answers) -> int:
    """Devices of one instance."""
    return int(answers.case.value("instance_devices"))


def _group(answers: Answers) -> str:
    """The devices: their number, where it has a value, and title."""
    device = answers.binding.hardware
    count = devices(answers) if answers.case.known("instance_devices") else 0
    return f"{f'{count} × ' if count > 1 else ''}{device.title if device else 'no hardware'}"


def case_title(answers: Answers) -> str:
    """The case in a line: model on devices, and what varies."""
    binding = answers.binding
    model = binding.model.shown_name if binding.model else "no model"
    if answers.apart:
        varied = [f"{name} {value}" for name, value in binding.varied]
        return ", ".join([answers.case.theory.own.title, *varied])
    drafted = f" drafted by {binding.chosen_draft.spec.shown_name}" if binding.chosen_draft.spec else ""
    parts = [f"{model}{drafted} on {_group(answers)}"]
    parts += [f"{name} {_span(answers, name)}" for name in ("batch", "prompt", "output") if name in binding.given]
    parts += degrees(answers)
    parts += [f"{name} {value}" for name, value in binding.varied if name not in {"batch", "prompt", "output", *DEGREES}]
    return ", ".join(parts)


def _span(answers: Answers, name: str) -> str:
    """The value of an input or its range; a formula that varies with a range, or lacks a value, is shown itself."""
    box, setting = answers.binding.box(), answers.binding.given[name].setting
    if name in box:
        return " to ".join(map(_count, box[name]))
    if box and not isinstance(setting, Num):
        return text(middle(setting, name))
    try:
        return _count(answers.case.value(name))
    except NoValue:
        return text(middle(setting, name))


def _count(value: Fraction) -> str:
    return f"{value.numerator:,}" if value.denominator == 1 else number_text(value)


def degrees(answers: Answers) -> list[str]:
    """The parallel degrees above one, where the number of devices does not say them: ``attention_dp 8``."""
    above = [(name, answers.case.value(name)) for name in DEGREES if name in answers.case.given and answers.case.value(name) != 1]
    return [] if [name for name, _ in above] in ([], ["tp"]) else [f"{name} {value}" for name, value in above]


def case_label(answers: Answers) -> str:
    """The case by its differences from the others: the device, and the listed values."""
    binding = answers.binding
    parts = [_group(answers)] if binding.hardware else []
    if binding.several_models and binding.model:
        parts.insert(0, binding.model.shown_name)
    parts += degrees(answers)
    parts += [f"{name} {value}" for name, value in binding.varied if name not in DEGREES]
    return ", ".join(parts) or case_title(answers)
