"""A separate draft model: the cost of a drafted token and the memory it takes, as formulas over the case's inputs.

The draft's step and its memory are those of the theory for its own architecture. Its dimensions go in as numbers; the load,
the device and the efficiencies stay names, so that a threshold over the batch or the bandwidth moves the draft along.
"""

from collections.abc import Mapping

import sympy
from sympy import Symbol

from symroof.cases.case_inputs import CaseInputs
from symroof.cases.input import Input
from symroof.errors import InputError, Problem
from symroof.specs.model import ModelSpec
from symroof.symbolic.expressions import ZERO, At, Expr, inline, rebuild, substitute, symbol
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import GROUPS, base_name

OWN = frozenset(
    symbol.name for group in ("architecture", "precision", "shapes") for symbol in GROUPS[group]
)
"""Inputs that a model brings; all others are those of the case."""
RESERVE = "memory_reserve"
REQUEST = "request_bytes_per_device"
OF_TARGET = {*QUANTITIES.keys() - {"context"}, *(each.name for each in GROUPS["architecture"])}
"""Names whose values belong to the target model: a measured latency, a width. The draft has its own."""


def draft_inputs(
    draft: Case, case: Case, given: Mapping[str, Input], name: str, head: bool = False
) -> dict[str, Input]:
    """The values a draft model sets in a case: the cost of a drafted token, and the memory it takes besides the reserve.

    ``concurrency`` gets a new formula: the draft keeps a cache of every request, so the reserve that holds it grows with them.
    A ``head`` shares the model's embedding and output matrix, so they take no memory again.

    Raises:
        InputError: the reserve is a range, to which nothing can be added.
    """
    own = given.get(RESERVE)
    if own is not None and own.ranged:
        message = "a range cannot be combined with a draft model, whose memory is added to it"
        raise InputError(Problem(own.source, message, path=RESERVE))

    def stands(name: str, changed: frozenset[str]) -> Expr | None:
        """The formula for a name of the draft's theory; None where it means the same in the case."""
        if name == RESERVE:
            return ZERO  # it has none of its own: that of the case holds the draft
        led_to = draft.theory.dependencies(name)
        # a device may have another peak for the draft's precision
        same = draft.given.get(name) == case.given.get(name)
        if same and not led_to & changed and not any(base_name(other) in OWN for other in led_to):
            return None
        return draft.formula_or_name(name)

    def without_vocabulary(name: str, changed: frozenset[str]) -> Expr | None:
        return ZERO if name == "vocab_size" else stands(name, changed)

    names = ("weight_bytes", "peak_kv_cache_bytes", "state_bytes")
    parts = [*(f"{part}_per_device" for part in names), "itl", REQUEST]
    weights, cache, state, step, request = (inline(symbol(part), stands) for part in parts)
    if head:
        weights = inline(symbol(parts[0]), without_vocabulary)
    fixed = (own.setting if own is not None else ZERO) + weights
    source = f"draft {name}"
    beside = "" if own is None else f", beside what is given ({own.source})"
    values = {
        RESERVE: Input(sympy.Add(fixed, cache, state), f"{source}: its weights and cache{beside}")
    }
    if "draft_cost" not in given:
        why = f"{source}: its decode step over the model's"
        values["draft_cost"] = Input(step / symbol("itl"), why)
    if "concurrency" not in given and (tree := case.theory.definition("concurrency")) is not None:
        counted = _with_draft(tree, fixed, request)
        values["concurrency"] = Input(counted, f"{source}: its caches counted")
    return values


def head_of(model: ModelSpec, kind: str) -> ModelSpec:
    """A draft head as a model: one layer like the model's last. A head's small projection of two inputs to one is left out."""
    last = next((own for own in model.layers if own.label == (*model.order, "")[-1]), None)
    layer = (last or model.layers[-1]).model_copy(update={"count": 1})
    title = f"{kind.upper()} head of {model.shown_name}"
    return model.model_copy(
        update={
            "title": title,
            "layers": (layer,),
            "order": (),
            "stored_bytes": None,
            "caveats": (),
        }
    )


DRAFTING = frozenset({"draft_tokens", "acceptance"})
"""Inputs of a model that is drafted for; the draft has none."""

UNDER_LOAD = {
    "decoded_tokens": "verified_tokens",
    "gained_tokens": "tokens_per_verify",
    "loaded_draft_time": "draft_time(context = loaded_context)",
}
"""What the steps of a server under load are with drafts."""


def add_drafts(case: CaseInputs) -> None:
    """Let the steps of a server under load be verifications of drafts, where what is drafted and what is accepted of it are known; else say that they are not."""
    drafted = [name for name in ("draft_tokens", "verified_tokens") if name in case.given]
    accepted = [name for name in ("acceptance", "tokens_per_verify") if name in case.given]
    if drafted and accepted:
        for name, text in UNDER_LOAD.items():
            case.add({name: Input(parse(text), "drafts of each step", defaulted=True)})
        if case.request.draft is None and "draft_cost" not in case.given:
            case.warn(
                "draft_cost 0 is taken, as if drafting cost nothing: give --draft mtp or --draft eagle "
                "(a head of the model), --draft MODEL, or --set draft_cost=0.1"
            )
    elif drafted or accepted:
        missing = "acceptance" if drafted else "draft_tokens"
        without = f"{' and '.join((*drafted, *accepted))} without {missing}"
        case.warn(f"{without}: latencies, rates and costs under load are those without drafts")


def _with_draft(tree: Expr, fixed: Expr, request: Expr) -> Expr:
    """The definition of the concurrency with the draft's weights in the reserve, and its cache next to that of each request."""

    def go(node: Expr) -> Expr:
        if node == symbol(RESERVE):
            return fixed
        if isinstance(node, At) and node.name == RESERVE:  # that of a pipeline stage
            return substitute(fixed, dict(node.changes))
        if isinstance(node, Symbol) and base_name(node.name) == REQUEST:
            return node + request
        return rebuild(node, go)

    return go(tree)
