"""Hardware and configuration against targets: which pass, the cheapest first."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from symroof.analysis.case_summary import case_warnings
from symroof.analysis.study import Study, Track, untracked
from symroof.analysis.verdict import LOAD, TARGET_METRICS, TargetCheck, basis_lines, metrics_of
from symroof.cases.checks import check_load
from symroof.cases.request import request_of
from symroof.cases.values import EFFICIENCIES, plain_value
from symroof.errors import InputError, NoValue, Problem
from symroof.select.candidates import Layouts, candidates_of, with_candidates
from symroof.select.configuration import PRICED, Configuration
from symroof.select.purchase import Purchase
from symroof.select.screening import screen
from symroof.theory.declarations import MissingInput
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory_files import column, listed

ORDERS = {word: name for name, word in column("shown", "order").items()}
"""What configurations are sorted by: ``fleet`` where requests arrive at a rate, else ``cost``, and ``rate`` where no price is known."""
MONEY = ("cost", "fleet")
"""Orders that list prices decide."""
COMPARED = listed("shown", "compared")
SHOWN = {name: head for name, head in column("shown", "head").items() if name in COMPARED}
"""The quantities that a choice shows of each configuration in a notebook, with the heads of their columns."""
MOST_SHOWN = 20
"""Configurations of a notebook's table."""
RANK = {"passes": 0, "in part": 2, "unpriced": 3, "fails": 4, "unknown": 5}
"""The order of the states, and of what passes but for a price that is not known; between the first two, what fails at its batch and passes at another."""
MOST_NAMED = 6
"""Devices without a price that are named; more are counted."""


@dataclass(frozen=True, repr=False)
class Selection:
    """The configurations of a study, judged and sorted; :func:`select` makes it.

    >>> choice = select(model="llama-3-8b", hardware=["l40s", "h100-sxm"], prompt=4096, batch=1, targets={"itl": "15 ms"})
    >>> [(configuration.label, configuration.state) for configuration in choice.configurations]
    [('h100-sxm', 'passes'), ('4 x l40s', 'passes')]
    >>> choice
    <Selection: 2 of 2 pass, first h100-sxm>
    >>> len(choice.passing), choice.passing[0].rank("sustained_itl") < choice.targets["itl"]
    (2, True)

    Attributes:
        study: the study whose combinations are the candidates.
        configurations: all of them: passing first and best first, then those that pass in part, those of which a price alone is not known, the nearest misses, and
            those that cannot be judged.
        order: the criterion of that order, a key of :data:`ORDERS`.
        targets: the targets in base units.
        layouts: those of a command line, where nothing else was looked at.
        spaces: the candidates of each combination.
    """

    study: Study
    configurations: tuple[Purchase, ...]
    order: str
    targets: dict[str, Fraction] = field(hash=False)
    layouts: Layouts = field(default=(), hash=False)
    spaces: Sequence[Sequence[Purchase]] = field(default=(), hash=False, compare=False)

    def __repr__(self) -> str:
        first = f", first {self.passing[0].label}" if self.passing else ""
        return f"<Selection: {len(self.passing)} of {len(self.configurations)} pass{first}>"

    def _repr_html_(self) -> str:
        from symroof.analysis.case_summary import DIGITS
        from symroof.table_formats import FAILS, IN_PART, PASSES, card, html_table

        mark = {"passes": PASSES, "fails": FAILS, "in part": IN_PART, "unknown": "?"}
        rows = []
        for c in self.configurations[:MOST_SHOWN]:
            results = (c.result(name) for name in SHOWN)
            shown = [replace(r, low=None, high=None).plain(DIGITS) if r else "" for r in results]
            rows.append([mark[c.state], c.label, f"{c.batch:,}", *shown, ", ".join(c.misses)])
        header = ["", "configuration", "batch", *SHOWN.values(), "misses"]
        more = len(self.configurations) > MOST_SHOWN
        return card([repr(self)[1:-1]], html_table(header, rows, f"the first {MOST_SHOWN}" * more))

    @property
    def passing(self) -> tuple[Purchase, ...]:
        """The configurations that fit in memory and meet every target, best first."""
        return tuple(c for c in self.configurations if c.passes)

    @property
    def basis(self) -> tuple[str, ...]:
        """What the latencies rest on, each once, and where ranges that are given are looked at."""
        at_corners = any(not c.own.search_inside for c in self.configurations)
        said = ["over the ranges that are given: evaluated at their corners"] if at_corners else []
        return (*basis_lines(c.own for c in self.configurations), *said)

    @property
    def hints(self) -> tuple[str, ...]:
        """What the choice does not decide: no target, devices without a price where a price decides."""
        request, targets = self.study.request, self.targets
        waits = "itl" in targets and "ttft" not in targets
        drawn = {"output_spread", "long_share"} & self.study.first.given.keys()
        alike = request.percentiles and not drawn | ({"prompt", "output"} & request.traffic.keys())
        searched = (*DEGREES, "batch", "chunk")
        fixed = [name for name in searched if len(request.values.get(name, ())) == 1]
        closed = fixed and not self.passing
        unpriced = [c.own for c in self.configurations if not c.own.case.has("price")]
        names = list(dict.fromkeys(case.hardware.name for case in unpriced if case.hardware))
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        last = names and (PRICED & targets.keys() or self.order in MONEY)
        said = {
            "no target is set, so only memory decides: --target ttft='200 ms' --target itl='50 ms'": not targets,
            "no limit on the time to first token, so any wait passes: --target ttft='1 s'": waits,
            "percentiles are simulated with requests of one length, which gives the lowest ones: for others write traffic: {prompt: 'lognormal:MEAN,0.8', output: …, arrivals: bursty} in the study": alike,
            f"{', '.join(fixed)}: fixed; more layouts are searched where they are open": closed,
            f"no price of {', '.join(names[:MOST_NAMED])}{more} was found, so it is ranked last; --set {''.join(names[:1])}.price='3 USD/hour' sets one": last,
        }
        return tuple(hint for hint, holds in said.items() if holds)


def select(
    study: str | os.PathLike[str] | Study | None = None,
    *,
    among: Mapping[str, Any] | None = None,
    **case: Any,
) -> Selection:
    """Find the configurations of a study that fit in memory and meet its targets.

    Args:
        study: a :class:`~symroof.analysis.study.Study` or its file; without it, keywords describe the case.
        among: lists of candidates that replace the study's own: ``{"hardware": "all", "tp": [1, 2, 4, 8], "weights": ["fp16", "fp8"]}``.
        case: keywords of :class:`~symroof.analysis.study.Study`, which override the study.

    For each candidate, everything that is not given is searched: parallelism, chunk size, disaggregated prefill, batch and replicas.

    >>> choice = select(model="llama-3-8b", hardware=["a100-80gb-sxm", "h100-sxm"], prompt=4096, mfu=0.5, batch=1, tp=1, targets={"ttft": 0.2})
    >>> [(configuration.label, configuration.state) for configuration in choice.configurations]
    [('h100-sxm', 'passes'), ('a100-80gb-sxm', 'fails')]

    Raises:
        InputError: an unknown name, an empty list of candidates, no model, more than 20,000 configurations.
    """
    if study is None:
        study = Study(**case)
    elif not isinstance(study, Study):
        study = Study.load(study, request_of(origin="given", **case) if case else None)
    return select_from(with_candidates(study, among or {}, True))


def select_from(study: Study, track: Track = untracked, layouts: Layouts = ()) -> Selection:
    """The same of a study that has its candidates; ``layouts`` are those that a command line can start.

    Raises:
        InputError: no model or no device to choose, no layout that the engine starts.
    """
    _check_complete(study)
    looked = [  # of ranges of more than efficiencies, which take long to search, the corners alone
        each if each.box.keys() <= EFFICIENCIES else each.with_changes(search_inside=False)
        for each in study.cases
    ]
    laid_out = (candidates_of(case, layouts) for case in track(looked, "laying out configurations"))
    spaces = [*filter(None, laid_out)]
    configurations = screen(spaces, len(study.request.values.get("batch", ())) > 1)
    if not configurations:
        raise InputError(Problem("select", "the engine starts none of these layouts"))
    for one in configurations:
        one.prefill_ratio()  # it may have to be given
    # where no price is known by what a device gives
    word = "fleet" if "arrival_rate" in study.first.given else "cost"
    priced = [c.rank(ORDERS[word]) is not None for c in configurations if c.passes]
    order = word if not priced or any(priced) else "rate"
    if percentiles := study.request.percentiles:
        from symroof.select.percentiles import decide

        pairs = list(zip(configurations, spaces, strict=True))
        configurations = decide(pairs, percentiles, lambda c: sort_key(c, order), track)
    ranked = sorted(configurations, key=lambda c: sort_key(c, order))
    targets = {name: limit for c in configurations for name, limit in c.own.targets.items()}
    return Selection(study, tuple(ranked), order, targets, layouts, spaces)


def _check_complete(study: Study) -> None:
    """There is a model, a device and a load to choose for."""
    own = study.first
    known = {"model": own.model, "hardware": own.hardware or "mem_capacity" in own.given}
    missing = [name for name, entry in known.items() if not entry and "params" not in own.given]
    if missing:
        hint = "--{0} NAME, or --among {0}=all"
        problems = (Problem("select", f"no {n} to choose", hint=hint.format(n)) for n in missing)
        raise InputError(list(problems))
    if fixed := [ORDERS[x] for x in MONEY if ORDERS[x] in own.request.values]:
        hint = f"a limit is a target: --target {fixed[0].replace('cost_per_mtok', 'cost')}=..."
        raise InputError(Problem(fixed[0], "is what is ranked, and cannot be set", hint=hint))
    check_load(own)
    try:
        own.case.value("memory_bytes")
    except MissingInput as error:
        if error.name in {symbol.name for symbol in GROUPS["workload"]}:
            message = f"whether it fits is not known without {error.name}"
            raise InputError(Problem("select", message, hint=f"--{error.name} 4096")) from None
    except NoValue:
        pass  # the table lists the unknown quantities of each configuration, with the reasons


def sort_key(configuration: Configuration, order: str) -> tuple[Any, ...]:
    """The sort key of a configuration: by state, then those that pass by the criterion, equally dear fleets by what a token costs and by the load; what lacks a price by
    what a device gives; of the others what fits first, by the nearness of the miss."""
    state = configuration.state
    if state != "passes":
        known = configuration.unjudged <= PRICED and not configuration.missed_as_expected
        if state == "unknown" and known:
            return RANK["unpriced"], -(configuration.rank(ORDERS["rate"]) or 0), 0, 0
        return 1 if configuration.window else RANK[state], *configuration.miss, 0
    ranks = (configuration.rank(ORDERS.get(name, name)) for name in (order, "cost", LOAD))
    # equal prices differ in the last digits of their floats
    value, *ties = (math.inf if x is None else float(f"{float(x):.12g}") for x in ranks)
    if order != "fleet":
        return RANK[state], -value if order == "rate" else value, 0, 0
    return RANK[state], value, *ties


QUANTITIES = listed("shown", "selection")
"""The quantities of each run; what a selection shows depends on nothing else."""
COMPUTED = 20
"""Configurations with exact quantities; of the others the verdict and what they are compared by."""


def selection_json(
    choice: Selection, track: Track = untracked, most: int = COMPUTED
) -> dict[str, Any]:
    """The whole selection, the first ``most`` configurations computed.

    The form is in the docstring of :mod:`symroof.cli.select_command`.
    """
    return {
        "schema": "symroof/select/1",
        "targets": {name: target_json(choice, name) for name in choice.targets},
        "sorted_by": choice.order,
        "basis": list(choice.basis),
        "passing": len(choice.passing),
        "configurations": [
            configuration_json(c, place < most)
            for place, c in enumerate(track(choice.configurations, "evaluating configurations"))
        ],
    }


def target_json(choice: Selection, name: str) -> dict[str, Any]:
    """A target: its limit, what it is compared with, and the percentile that it is of."""
    case = choice.configurations[0].own.case
    unit = case.theory.symbol(TARGET_METRICS[name]).unit
    limit, metric = plain_value(choice.targets[name]), metrics_of(name, case)[0]
    statistic = choice.study.request.percentiles.get(name)
    own = {"value": limit, "unit": unit, "metric": metric}
    return own | ({"statistic": statistic} if statistic else {})


def configuration_json(c: Configuration, worked_out: bool = True) -> dict[str, Any]:
    """One configuration: what it is, its verdict, what it gives; computed also its checks and its inputs."""
    if worked_out or c.screened is None:
        return {**_verdict(c), "worked_out": True, **_computed(c)}
    unit_of, values = c.own.case.theory.symbol, c.screened.values.items()
    compared = {n: {"value": x, "unit": unit_of(n).unit} for n, (x, *_) in values}
    return {**_verdict(c), "worked_out": False, "quantities": compared}


def _verdict(c: Configuration) -> dict[str, Any]:
    case = c.own
    return {
        "label": c.label,
        "model": case.model.name if case.model else None,
        "hardware": case.hardware.name if case.hardware else None,
        "precisions": dict(case.precisions),
        "varied": dict(case.varied),
        "batch": c.batch,
        "copies": c.copies,
        "scheduling": case.assumptions["scheduling"],
        "layout": {name: plain_value(value) for name, value in c.layout.items()},
        "prefill": {name: int(value) for name, value in case.request.prefill.items()},
        "batch_chosen": c.chosen,
        "state": c.state,
        "missed": list(c.missed),
        "batches": c.window._asdict() if c.window else None,
    }


def _computed(c: Configuration) -> dict[str, Any]:
    """What takes an evaluation of the whole case."""
    case = c.case
    found = {name: case.json_with_bound(name) for name in QUANTITIES if case.get(name) is not None}
    return {
        "checks": {check.name: check_json(check) for check in c.checks},
        "unknown": c.unknown,
        "quantities": found,
        **case.ledger(tuple(found), everything=False),
        "warnings": case_warnings(case),
    }


def check_json(check: TargetCheck) -> dict[str, Any]:
    """One condition: metric, limit, whether it is met (null: in a part of the ranges), the slack, also as a share of the limit; ``straddles``: whether
    other list prices than the median, which ``met`` is at, would change that."""
    own = check.metric.as_json() | {
        "metric": check.metric.name,
        "limit": plain_value(check.limit),
        "met": check.met,
        "slack": plain_value(check.slack),
        "share": plain_value(check.slack / check.limit if check.limit else None),
    }
    if check.statistic != "mean":
        own |= {"statistic": check.statistic, "decided_by": "simulation"}
    return own | ({"straddles": check.straddles} if check.metric.at_median else {})
