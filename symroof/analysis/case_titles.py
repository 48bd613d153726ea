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
    model = bound_case.model.shown_name if bound_case.model else "no model"
    if bound_case.theory_only:
        varied = [f"{name} {value}" for name, value in bound_case.varied]
        return ", ".join([bound_case.case.theory.own.title, *varied])
    drafted = (
        f" drafted by {bound_case.chosen_draft.spec.shown_name}"
        if bound_case.chosen_draft.spec
        else ""
    )
    parts = [f"{model}{drafted} on {case_devices(bound_case)}"]
    parts += [
        f"{name} {_span(bound_case, name)}"
        for name in ("batch", "prompt", "output")
        if name in bound_case.given
    ]
    parts += degrees(bound_case)
    parts += [
        f"{name} {value}"
        for name, value in bound_case.varied
        if name not in {"batch", "prompt", "output", *DEGREES}
    ]
    return ", ".join(parts)


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
    above = [
        (name, bound_case.case.value(name))
        for name in DEGREES
        if name in bound_case.case.given and bound_case.case.value(name) != 1
    ]
    of_decode = (
        []
        if [name for name, _ in above] in ([], ["tp"])
        else [f"{name} {_count(value)}" for name, value in above]
    )
    of_prefill = " ".join(f"{name} {value}" for name, value in bound_case.request.prefill.items())
    return [*of_decode, *([f"prefill {of_prefill}"] if of_prefill else [])]


def case_label(bound_case: BoundCase) -> str:
    """The case by its differences from the others: the device, and the listed values."""
    parts = [case_devices(bound_case)] if bound_case.hardware else []
    if bound_case.several_models and bound_case.model:
        parts.insert(0, bound_case.model.shown_name)
    parts += degrees(bound_case)
    parts += [f"{name} {value}" for name, value in bound_case.varied if name not in DEGREES]
    return ", ".join(parts) or case_title(bound_case)
