"""Readable names of cases, inputs, quantities and operators for the first pages of a review and of the command line."""

from symroof.analysis.case_summary import case_title, degrees
from symroof.analysis.verdict import is_per_replica
from symroof.cases.bound_case import BoundCase
from symroof.specs.catalogue import has_entry
from symroof.specs.hardware import HardwareSpec
from symroof.theory.layout import DEGREES
from symroof.theory.theory_files import section

INPUTS_BY_NAME, QUANTITIES_BY_NAME, OPERATORS_BY_NAME = (
    {entry.name: entry.fields for entry in section(f"{kind}_words")}
    for kind in ("input", "quantity", "operator")
)


def short_device(device: HardwareSpec | None) -> str:
    """A device by its name in the catalogue, as people write it: ``H100 SXM``."""
    if device is None:
        return "device"
    known = has_entry("hardware", device.name)
    return device.name.replace("-", " ").upper() if known else device.title


def short_label(case: BoundCase) -> str:
    """The devices of one instance and what the study lists besides, as pictures and tables name a case; of a case without these its title.

    >>> from symroof.analysis.study import Study
    >>> short_label(Study("llama-3-8b", "h100-sxm", prompt=512, tp=2, dp=3, batch=[8, 16]).first)
    'H100 SXM × 2, batch 8'
    """
    count = case.case.value("instance_devices") if case.case.has_value("instance_devices") else 1
    word = [f"{short_device(case.hardware)}{f' × {count:.0f}' if count > 1 else ''}"]
    model = [case.model.shown_name] if case.several_models and case.model else []
    layout = [text for text in degrees(case) if not text.startswith(("tp ", "dp "))]
    listed = (f"{name} {value}" for name, value in case.varied if name not in DEGREES)
    return ", ".join([*model, *(word if case.hardware else ()), *layout, *listed]) or case_title(
        case
    )


def operator_name(name: str) -> str:
    """The name of an operator.

    >>> operator_name("qkv"), operator_name("shared_experts")
    ('QKV projection', 'shared experts')
    """
    return OPERATORS_BY_NAME.get(name) or name.replace("_", " ")


def name_in_words(name: str) -> str:
    """The name of an input or a switch, whatever the device.

    >>> name_in_words("layer_overhead"), name_in_words("kv_growth")
    ('overhead per layer', 'kv growth')
    """
    return INPUTS_BY_NAME.get(name) or name.replace("_", " ")


def input_name(name: str, answers: BoundCase) -> str:
    """The name of an input; memory bandwidth by the device's kind of memory.

    >>> from symroof.analysis.study import Study
    >>> case = Study("llama-3-8b", "h100-sxm", prompt=512).first
    >>> input_name("mem_bandwidth", case), input_name("batch", case)
    ('HBM bandwidth', 'batch size')
    """
    memory = answers.hardware.memory if answers.hardware else None
    if name == "mem_bandwidth" and memory and memory.kind.startswith("HBM"):
        return "HBM bandwidth"
    reported = memory.reported if memory else None
    if name == "mem_capacity" and reported and answers.case.value(name) == reported.value.value:
        # a device's title has what its label says
        return "memory per device, as reported"
    return INPUTS_BY_NAME.get(name) or answers.case.theory.symbol(name).meaning


def quantity_name(name: str, answers: BoundCase) -> str:
    """The name of a quantity, or else its meaning; marked if it is per replica.

    >>> from symroof.analysis.study import Study
    >>> [quantity_name("concurrency", Study("llama-3-8b", "h100-sxm", prompt=512, dp=copies).first) for copies in (1, 2)]
    ['Requests that memory holds', 'Requests that memory holds, per replica']
    """
    words = QUANTITIES_BY_NAME.get(name) or answers.case.theory.symbol(name).meaning
    if name == "sustained_itl" and "arrival_rate" in answers.given:
        words = "ITL at full load"
    return f"{words}, per replica" if is_per_replica(answers, name) else words
