"""The page ``aiconfigurator.md``: symroof and its peers on the same rows, from the numbers that ``peer_predictions.py`` stored."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tools.evidence import filled, grouped, median_error, middle, within
from tools.evidence.catalogue_fit import HeldOutPrediction, share_held
from tools.evidence.catalogue_table import CatalogueFit
from tools.evidence.peer_questions import key_of, question_of, stored
from tools.markdown import cells

HEADER = (
    "| {by} | rows | symroof: median error | median of predicted/measured | within ±20 % | inside the interval | aiconfigurator: median error | median of predicted/measured | within ±20 % |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)

MEASURED = ("measured", "scaled", "borrowed")  # answers to what was asked
KINDS = {
    "measured": "from tables of the device and the engine",
    "scaled": "with an exchange between experts that is scaled up from one node",
    "borrowed": "with tables of other devices or formulas (its mode HYBRID)",
}
VERSION_YEARS = {"TensorRT-LLM 0.5": "2023", "TensorRT-LLM 0.6.1": "2023", "vLLM 0.6.3": "2024"}
LEAST, NEAR = 5, 0.2

Grouping = Callable[["Pair"], str]


@dataclass(frozen=True)
class Pair:
    """A row with symroof's held-out prediction and what the peers say."""

    held_out: HeldOutPrediction
    peers: dict[str, Any]

    @property
    def ours(self) -> float:
        return self.held_out.error

    @property
    def theirs(self) -> float:
        return self.error_of("seconds")

    def error_of(self, peer: str) -> float:
        return float(self.peers[peer]) / self.held_out.row.seconds - 1


def peers_page(fitted: CatalogueFit) -> str:
    """The whole page, from every row predicted without its source."""
    made, document = fitted.predictions, stored()
    pairs, unanswered, cut = _sorted_out(made, document)
    new = [pair for pair in pairs if "2025" <= _year(pair) < "a"]
    counted = Counter(pair.peers["from"] for pair in pairs).most_common()
    kinds = ", ".join(f"{count} {KINDS[kind]}" for kind, count in counted)
    refused = sum(
        len(group) for reason, group in unanswered.items() if reason in document["refusals"]
    )
    facts = {
        "total": len(made),
        "asked": len(pairs) + refused,
        "compared": len(pairs),
        "kinds": f" ({kinds})",
        "least": LEAST,
        "new": len(new),
        "nearer": statistics.mean(abs(p.ours) < abs(p.theirs) for p in pairs),
        "held": share_held(p.held_out for p in pairs),
    }
    facts |= _compared("", pairs) | _compared("new_", new)
    facts |= {name: document[name] for name in ("peer", "version", "date", "run")}
    facts["tables"] = ", ".join(
        sorted({f"{name.split()[1]} {version}" for name, version in document["tables"].items()})
    )
    tables = [_table(name, pairs, by, 1) for name, by in GROUPS.items()]
    tables.append(_table("device, engine, layout", pairs, _kind, LEAST))
    return filled(
        "aiconfigurator",
        **facts,
        **document["presets"],
        tables_of_groups="\n".join(tables),
        others="\n".join(_other(name, pairs) for name in document["presets"]),
        unanswered="\n".join(_unanswered(unanswered)),
        cut=_cut(cut),
        worst_ours=_worst(pairs, 0),
        worst_theirs=_worst(pairs, 1),
    )


def _sorted_out(
    made: Iterable[HeldOutPrediction], document: dict[str, Any]
) -> tuple[list[Pair], dict[str, list[HeldOutPrediction]], list[Pair]]:
    """The rows that both predict, those without an answer of the peer by reason, and those that it answers for experts cut over all devices alone."""
    pairs: list[Pair] = []
    unanswered: dict[str, list[HeldOutPrediction]] = {}
    cut: list[Pair] = []
    for prediction in made:
        question = question_of(prediction.row.row)
        peers = document["rows"].get(key_of(prediction.row.source, prediction.row.row))
        if isinstance(question, str):
            unanswered.setdefault(question, []).append(prediction)
        elif peers is None:
            unanswered.setdefault("not asked yet", []).append(prediction)
        elif peers["from"] in MEASURED:
            pairs.append(Pair(prediction, peers))
        else:
            unanswered.setdefault(document["refusals"][peers["refused"]], []).append(prediction)
            cut += [Pair(prediction, peers)] if peers["from"] == "cut" else []
    return pairs, unanswered, cut


def _compared(prefix: str, pairs: Sequence[Pair]) -> dict[str, float]:
    facts = {}
    for side, name in enumerate(("ours", "theirs")):
        errors = _errors(pairs, side)
        facts[f"{prefix}{name}"] = median_error(errors)
        facts[f"{prefix}{name}_near"] = within(errors, NEAR)
    return facts


def _errors(pairs: Iterable[Pair], side: int) -> list[float]:
    """The relative errors of symroof (0) or of aiconfigurator (1)."""
    return [pair.theirs if side else pair.ours for pair in pairs]


def _table(name: str, pairs: Sequence[Pair], by: Grouping, least: int) -> str:
    lines = [HEADER[0].format(by=name), HEADER[1]]
    for words, group in grouped(pairs, by).items():
        if len(group) < least:
            continue
        ours, theirs = (_figures(_errors(group, side)) for side in (0, 1))
        if ours[0] != theirs[0]:
            better = min(ours, theirs, key=lambda figures: float(figures[0].rstrip("%")))
            better[0] = f"**{better[0]}**"
        held = share_held(pair.held_out for pair in group)
        lines.append(cells(words, len(group), *ours, f"{held:.0%}", *theirs))
    return "\n".join([*lines, ""])


def _figures(errors: Sequence[float]) -> list[str]:
    """The median error, the median of predicted over measured, and the share that is near."""
    return [f"{median_error(errors):.0%}", middle(errors), f"{within(errors, NEAR):.0%}"]


def _other(name: str, pairs: Sequence[Pair]) -> str:
    group = [pair for pair in pairs if pair.peers[name] is not None]
    both = (f"{median_error(_errors(group, side)):.0%}" for side in (0, 1))
    return cells(name, len(group), *_figures([pair.error_of(name) for pair in group]), *both)


def _unanswered(reasons: dict[str, list[HeldOutPrediction]]) -> Iterable[str]:
    for reason, group in sorted(reasons.items(), key=lambda item: -len(item[1])):
        kinds = Counter(_named(reason, prediction) for prediction in group)
        most = ", ".join(f"{words} {count}" for words, count in kinds.most_common(12))
        yield cells(reason, len(group), f"{median_error(p.error for p in group):.0%}", most)


def _named(reason: str, prediction: HeldOutPrediction) -> str:
    """What tells the rows without an answer apart."""
    row = prediction.row.row
    if "engine" in reason:
        return _engine(row.engine)
    return row.spec or row.model if "model" in reason else str(row.hardware)


def _cut(cut: Sequence[Pair]) -> str:
    if not cut:
        return ""
    return (
        f"aiconfigurator answers {len(cut)} of the rows with expert parallelism if each expert is split over all devices, which is not how they ran. "
        f"Its median error is then {median_error(_errors(cut, 1)):.0%}, that of symroof {median_error(_errors(cut, 0)):.0%} on the layout that ran. "
    )


def _worst(pairs: Sequence[Pair], side: int, count: int = 8) -> str:
    groups = [(words, group) for words, group in grouped(pairs, _case).items() if len(group) >= 3]
    worst = sorted(groups, key=lambda item: -median_error(_errors(item[1], side)))[:count]
    return "\n".join(
        cells(words, len(group), middle(_errors(group, side)), middle(_errors(group, 1 - side)))
        for words, group in worst
    )


def _engine(name: str) -> str:
    """Without version and date."""
    return re.sub(r" (of |\(|\d|v\d).*", "", name)


def _year(pair: Pair) -> str:
    engine = pair.held_out.row.row.engine
    written = re.search(r"\b20\d\d", engine)
    return written.group() if written else VERSION_YEARS.get(engine, "no date")


def _layout(pair: Pair) -> str:
    row = pair.held_out.row.row
    if row.attention_dp > 1:
        return "DP attention"
    if (row.ep or 1) > 1:
        return "expert parallel"
    return "several devices" if row.group > 1 else "one device"


def _phase(pair: Pair) -> str:
    row = pair.held_out.row
    return "closed loop" if row.row.metric == "loop_tpot" else row.phase


def _precision(pair: Pair) -> str:
    weights = pair.held_out.row.row.weights
    if weights in ("fp16", "bf16"):
        return "16 bits"
    return "4 bits, multiplied in 16" if weights in ("awq", "gptq") else weights


def _kind(pair: Pair) -> str:
    row = pair.held_out.row.row
    return f"{row.hardware}, {_engine(row.engine)} of {_year(pair)}, {_layout(pair)}"


def _case(pair: Pair) -> str:
    row = pair.held_out.row.row
    return f"{row.spec}, {row.weights}: {_kind(pair)}"


GROUPS: dict[str, Grouping] = {
    "device": lambda pair: str(pair.held_out.row.row.hardware),
    "engine": lambda pair: _engine(pair.held_out.row.row.engine),
    "phase": _phase,
    "layout": _layout,
    "precision of the weights": _precision,
    "date of the engine": _year,
}
