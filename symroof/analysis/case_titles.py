"""The names of cases for people: a title in a line, and a label by what distinguishes a case from the others."""

from symroof.cases.bound_case import BoundCase
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import is_number
from symroof.symbolic.printing import number_text, text
from symroof.theory.layout import DEGREES
from symroof.units import is_whole, settled


def devices(bound_case: BoundCase) -> int:
    """Devices of one instance."""
    return int(bound_case.case.value("instance_devices"))


def case_devices(bound_case: BoundCase) -> str:
    """The devices of an instance: their number, where it has a value, and title."""
    device = bound_case.hardware
    count = devices(bound_case) if bound_case.case.has_value("instance_devices") else 0
    return f"{f'{count} × ' if count > 1 else ''}{device.title if device else 'no hardware'}"


def case_title(bound_case: BoundCase) -> str:
    """The case in a line: model on devices, and what varies."""
    model, draft = bound_case.model, bound_case.chosen_draft.spec
    varied = dict(bound_case.varied)
    if bound_case.theory_only:
        title = bound_case.case.theory.own.title
        return ", ".join([title, *(f"{name} {value}" for name, value in varied.items())])
    drafts = "draft_tokens" in bound_case.given
    drafted = f" drafted by {draft.shown_name}" if draft and drafts else ""
    named = ("batch", "prompt", "output")
    return ", ".join(
        [
            f"{model.shown_name if model else 'no model'}{drafted} on {case_devices(bound_case)}",
            *(f"{name} {_span(bound_case, name)}" for name in named if bound_case.chosen(name)),
            *degrees(bound_case),
            *(f"{name} {x}" for name, x in varied.items() if name not in {*named, *DEGREES}),
        ]
    )


def _span(bound_case: BoundCase, name: str) -> str:
    """The value of an input or its range; a formula that varies with a range, or lacks a value, is shown itself."""
    box, own = bound_case.box, bound_case.given[name]
    if name in box:
        return " to ".join(map(_count, box[name]))
    if box.keys() - bound_case.measured_box.keys() and not is_number(own.setting):
        return text(own.middle(name))
    try:
        return _count(bound_case.case.value(name))
    except NoValue:
        return text(own.middle(name))


def _count(value: float) -> str:
    return f"{int(value):,}" if is_whole(value) else number_text(settled(value))


def degrees(bound_case: BoundCase) -> list[str]:
    """The parallel degrees above one, where the number of devices does not say them: ``attention_dp 8``."""
    case = bound_case.case
    above = {name: case.value(name) for name in DEGREES if name in case.given}
    above = {name: value for name, value in above.items() if value != 1}
    shown = [f"{name} {_count(value)}" for name, value in above.items()]
    prefill = " ".join(f"{name} {value}" for name, value in bound_case.request.prefill.items())
    of_decode = [] if list(above) in ([], ["tp"]) else shown
    return [*of_decode, *([f"prefill {prefill}"] if prefill else [])]


def case_label(bound_case: BoundCase) -> str:
    """The case by its differences from the others: the device, and the listed values."""
    parts = [case_devices(bound_case)] if bound_case.hardware else []
    if bound_case.several_models and bound_case.model:
        parts.insert(0, bound_case.model.shown_name)
    parts += degrees(bound_case)
    parts += [f"{name} {value}" for name, value in bound_case.varied if name not in DEGREES]
    return ", ".join(parts) or case_title(bound_case)


def range_position(bound_case: BoundCase) -> str:
    """Where in its ranges a case is evaluated, in words."""
    measured = bound_case.measured_box
    if measured and measured == bound_case.box:
        return "at the predicted values"
    both = " and the predicted efficiencies" if measured else ""
    return f"at the middle of the ranges{both}"
