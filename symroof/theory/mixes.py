"""Quantities of a mix of two kinds of requests, those of the case and long ones, alone and at work. Declarations like all others.

A response of n steps holds its slot for n steps, whichever kind it is of: so what a step is beside requests of each kind is weighted by requests times
their steps. Prompts of both kinds share one budget. Where they are cut into pieces each piece has its own step, as long as steps are free of others.
"""

from __future__ import annotations

from symroof.theory import references as source
from symroof.theory.quantity import declared as _q
from symroof.theory.quantity import referenced
from symroof.theory.under_load import NEW, TURNS


def _long(changes: str = "") -> str:
    """What a name that depends on a request's lengths is for a long one, ``changes`` beside."""
    return f"(prompt = long_prompt, output = long_output{', ' if changes else ''}{changes})"


def _mixed(formula: str) -> str:
    """The mean over requests of a formula with ``{it}`` behind each name that depends on their lengths."""
    return f"(1 - long_share)*{formula.format(it='')} + long_share*{formula.format(it=_long())}"


def _per_step(name: str, changes: str) -> str:
    """The mean over the decode steps of all requests, hence over slots, of what a step is beside requests of each kind."""
    own = f"(1 - long_share)*response_steps*{name}({changes})"
    return f"({own} + long_share*response_steps(output = long_output)*{name}{_long(changes)})/mix_steps"


def _harmonic(name: str) -> str:
    """A rate where each kind has the server for the share of time that its requests take."""
    return f"1/({_mixed('1/' + name + '{it}')})"


MIX_PACED = "batch = mix_batch, piece = mix_piece, piece_prompts = max(mix_prompts_per_step, 1), piece_past = mix_past, piece_rows = mix_piece/mix_new"
"""A step in which prompts of both kinds are paced."""
BESIDE = "chunked_batch = mix_batch, prompts_per_step = mix_prompts_per_step"
"""The pieces of one prompt beside requests of the mix."""

MIXES = referenced(
    source.DEFINITION,
    *(_q("mix", f"mix_{name}", latex, unit, f"{meaning}, over requests of the case and long ones", _mixed(name + "{it}"))
      for name, latex, unit, meaning in (("response_time", r"t_{\mathrm{mix}}", "s", "mean time of a response alone"), ("cost_per_request", r"c_{\mathrm{mix}}", "USD", "mean price of a response, each kind on instances of its own"))),
    _q("mix", "response_bytes", r"Q_{\mathrm{response}}", "byte", "bytes one response moves, from prefill to last step",
       "prefill_bytes/prefill_batch + sum(decode_bytes(context = prompt + step), step, 1, response_steps)/batch"),
    *(_q("mix", f"long_{what}_share", latex, "", f"share of the {what} that long requests take", f"long_share*{name}{_long()}/({_mixed(name + '{it}')})")
      for what, latex, name in (("time", r"s_{\mathrm{long}}^{t}", "response_time"), ("bytes", r"s_{\mathrm{long}}^{Q}", "response_bytes"))),
    _q("mix", "mix_output", r"N_{\mathrm{mix}}", "token", "mean generated tokens of a request", "(1 - long_share)*output + long_share*long_output", counted=True),
    _q("mix", "mix_steps", r"n_{\mathrm{mix}}", "", "mean decode steps of a response: steps for which it holds its slot", "(1 - long_share)*response_steps + long_share*response_steps(output = long_output)", counted=True),
    _q("mix", "long_slots_share", r"s_{\mathrm{long}}^{B}", "", "share of the slots that long requests hold", "long_share*response_steps(output = long_output)/mix_steps", reference=source.LITTLE),
    _q("mix", "mix_new", r"S_{\mathrm{mix}}", "token", "mean prompt tokens that a request has read for it", f"(1 - long_share)*{NEW} + long_share*(long_prompt - cached_prefix)", counted=True),
    _q("mix", "mix_paced_chunk", r"c_{\mathrm{mixpace}}", "token", "prompt tokens that every step takes along where prompts are spread evenly over all steps", "batch*mix_new/mix_steps", counted=True),
    _q("mix", "mix_budget", r"c_{\mathrm{mixb}}", "token", "prompt tokens that a step may take along", "chunk", without=("chunk", "mix_paced_chunk"), counted=True),
    _q("mix", "mix_batch", r"B_{\mathrm{mix}}", "request", "requests of the mix that decode beside prompts in pieces: the batch, or as many as the budget reads prompts for",
       "min(batch, mix_budget*mix_steps/mix_new)", without=("chunk", "batch"), counted=True),
    _q("mix", "mix_prompts_per_step", r"r_{\mathrm{mix}}", "", "prompts that end in a step on average: as many as responses end", "mix_batch/mix_steps", counted=True),
    _q("mix", "mix_piece", r"c_{\mathrm{mix1}}", "token", "prompt tokens of one piece where prompts are paced", "mix_new*min(mix_prompts_per_step, 1)", counted=True),
    _q("mix", "mix_past", r"c_{\mathrm{mixpast}}", "token", "prompt tokens read before a piece, on average over the tokens of all prompts",
       f"cached_prefix + (((1 - long_share)*{NEW}^2 + long_share*(long_prompt - cached_prefix)^2)/mix_new - mix_piece)/2", counted=True),
    _q("mix", "mix_chunked_itl", r"\mathrm{ITL}_{\mathrm{mixc}}", "s", "mean time per token beside prompts of the mix that are taken along in pieces",
       f"of_largest(mix_paced_chunk, {_per_step('loaded_time', MIX_PACED)}, mix_budget, {_per_step('loaded_decode_time', 'batch = mix_batch')}"
       f" + mix_prompts_per_step*((1 - long_share)*pieces_time({BESIDE}) + long_share*pieces_time{_long(BESIDE)}))",
       without=("chunk", _per_step("loaded_time", MIX_PACED)), exists=TURNS, reference=source.SARATHI),
    _q("mix", "mix_sustained_requests", r"X_{\mathrm{mix}}^{r}", "request/s", "responses per second that an instance sustains of the mix, prefills included", switch="scheduling", reference=source.LITTLE, variants={
        "chunked": "mix_batch/(mix_steps*mix_chunked_itl)",
        "exclusive": _harmonic("exclusive_requests"),
        "disaggregated": f"min({_harmonic('decode_requests')}, {_harmonic('prefill_requests')})",
    }),
    _q("mix", "mix_sustained_itl", r"\mathrm{ITL}_{\mathrm{mix}}", "s", "mean inter-token latency of a server at work on the mix, over all steps; where prompts are read elsewhere it has no closed form", switch="scheduling", exists=TURNS, reference=source.LITTLE, variants={
        "chunked": "mix_chunked_itl",
        "exclusive": f"({_mixed('response_steps{it}*sustained_itl{it}')})/mix_steps",
    }),
    _q("mix", "mix_sustained_throughput", r"X_{\mathrm{mix}}", "token/s", "output tokens per second that an instance sustains of the mix, prefills included", "mix_output*mix_sustained_requests"),
    _q("mix", "mix_cost_per_mtok", r"c_{\mathrm{mix}}^{1M}", "USD", "price of a million output tokens of the mix, prefills included", "price*served_devices*10^6/mix_sustained_throughput"),
    _q("mix", "mix_load", r"\rho_{\mathrm{mix}}", "", "arriving requests of the mix over what the fleet sustains; no steady state from 1 on", "arrival_rate/(dp*mix_sustained_requests)", reference=source.KLEINROCK),
)  # fmt: skip
