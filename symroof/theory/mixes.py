"""Quantities of a mix of two kinds of requests, those of the case and long ones, alone and at work. Declarations like all others.

A response of n steps holds its slot for n steps, whichever kind it is of: so what a step is beside requests of each kind is weighted by requests times
their steps. Prompts of both kinds share one budget. Where they are cut into pieces each piece has its own step, as long as steps are free of others.
"""

from symroof.theory import references as source
from symroof.theory.quantity import NEGLIGIBLE_WAIT, Search, referenced
from symroof.theory.quantity import declared as _q
from symroof.theory.under_load import NEW, PREFILL, TURNS, waits_for_a_slot, waits_in_line


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


MIX_PACED = "batch = mix_batch, prefill_chunk = mix_prefill_chunk, concurrent_chunks = max(mix_prompts_per_step, 1), chunk_start = mix_chunk_start, chunk_logit_rows = mix_prefill_chunk/mix_new"
"""A step in which prompts of both kinds are paced."""
BESIDE = "chunked_batch = mix_batch, prompts_per_step = mix_prompts_per_step, step_budget = mix_budget"
"""The pieces of one prompt beside requests of the mix."""
OWN_PREFILL = "(prefill_time{it} + prefill_overhead{it})"
LONG_PREFILL = OWN_PREFILL.format(it=_long())
STEADY = (("mix_load < 1", "no steady state: at load >= 1 the queue is unstable, as requests of the mix arrive at least as fast as they are served"),)
LANE_STEADY = (
    (
        "mix_prefill_slot_utilization < 1",
        "no steady state: at utilization >= 1 the queue is unstable, as prompts of the mix arrive at least as fast as they are prefilled",
    ),
)
READINGS = {"chunked": f"prompt_prefill_time({BESIDE})", "exclusive": "prompt_prefill_time", "disaggregated": PREFILL}
LONG_READINGS = {"chunked": f"prompt_prefill_time{_long(BESIDE)}", "exclusive": f"prompt_prefill_time{_long()}", "disaggregated": LONG_PREFILL}
"""For how long a prompt of each kind holds its lane."""

AT_RATE = "batch = mix_steady_batch, mix_budget = mix_budget"
"""At the requests of the mix that the arrival rate keeps busy."""

OF_THE_MIX = {
    "peak_context": "mix_peak_context",
    **{
        name: f"mix_{name}"
        for name in (
            "even_prefill_itl",
            "worst_itl",
            "sustained_itl",
            "sustained_requests",
            "sustained_throughput",
            "steady_batch",
            "admission_wait",
            "loaded_ttft",
        )
    },
}
"""The quantities of a server under load that decide, and what they are where it serves a mix."""

MIXES = referenced(
    source.DEFINITION,
    *(_q("mix", f"mix_{name}", latex, unit, f"{meaning}, over requests of the case and long ones", _mixed(name + "{it}"))
      for name, latex, unit, meaning in (("response_time", r"t_{\mathrm{mix}}", "s", "mean time of a response alone"), ("cost_per_request", r"c_{\mathrm{mix}}", "USD", "mean cost of a response, each kind on instances of its own"))),
    _q("mix", "response_bytes", r"Q_{\mathrm{response}}", "byte", "bytes one response moves, from prefill to last step",
       "prefill_bytes/prefill_batch + sum(decode_bytes(context = prompt + step), step, 1, response_steps)/batch"),
    *(_q("mix", f"long_{what}_share", latex, "", f"share of the {what} that long requests take", f"long_share*{name}{_long()}/({_mixed(name + '{it}')})")
      for what, latex, name in (("time", r"s_{\mathrm{long}}^{t}", "response_time"), ("bytes", r"s_{\mathrm{long}}^{Q}", "response_bytes"))),
    _q("mix", "mix_output", r"N_{\mathrm{mix}}", "token", "mean generated tokens of a request", "(1 - long_share)*output + long_share*long_output", counted=True),
    _q("mix", "mix_steps", r"n_{\mathrm{mix}}", "", "mean decode steps of a response: steps for which it holds its slot", "(1 - long_share)*response_steps + long_share*response_steps(output = long_output)", counted=True),
    _q("mix", "long_slots_share", r"s_{\mathrm{long}}^{B}", "", "share of the slots that long requests hold", "long_share*response_steps(output = long_output)/mix_steps", reference=source.LITTLE),
    _q("mix", "mix_new", r"S_{\mathrm{mix}}", "token", "mean prompt tokens to prefill per request", f"(1 - long_share)*{NEW} + long_share*(long_prompt - cached_prefix)", counted=True),
    _q("mix", "mix_even_chunk", r"c_{\mathrm{mixpace}}", "token", "prompt tokens prefilled in every decode step where prefill is spread evenly over all steps", "batch*mix_new/mix_steps", counted=True),
    _q("mix", "mix_budget", r"c_{\mathrm{mixb}}", "token", "prompt tokens that a decode step may prefill (token budget less the batch)", "chunk", without=("chunk", "mix_even_chunk"), counted=True),
    _q("mix", "mix_batch", r"B_{\mathrm{mix}}", "request", "requests of the mix that decode under chunked prefill: the batch, or as many as the budget prefills prompts for",
       "min(batch, mix_budget*mix_steps/mix_new)", without=("chunk", "batch"), counted=True),
    _q("mix", "mix_prompts_per_step", r"r_{\mathrm{mix}}", "", "prompts whose prefill ends in a step on average: as many as responses end", "mix_batch/mix_steps", counted=True),
    _q("mix", "mix_prefill_chunk", r"c_{\mathrm{mix1}}", "token", "prompt tokens of one prefill chunk where prefill is spread evenly", "mix_new*min(mix_prompts_per_step, 1)", counted=True),
    _q("mix", "mix_chunk_start", r"c_{\mathrm{mixpast}}", "token", "prompt tokens prefilled before a chunk, on average over the tokens of all prompts",
       f"cached_prefix + (((1 - long_share)*{NEW}^2 + long_share*(long_prompt - cached_prefix)^2)/mix_new - mix_prefill_chunk)/2", counted=True),
    _q("mix", "mix_even_prefill_itl", r"\mathrm{ITL}_{\mathrm{mixpace}}", "s", "mean time per token where prefill of the mix is spread evenly over all steps: a lower bound for every token budget", _per_step("loaded_time", MIX_PACED), exists=TURNS, reference=source.SARATHI),
    _q("mix", "mix_decode_itl", r"\mathrm{ITL}_{\mathrm{mixd}}", "s", "mean time of a decode step of the mix that prefills nothing", _per_step("loaded_decode_time", "batch = batch"), exists=TURNS),
    _q("mix", "mix_chunked_itl", r"\mathrm{ITL}_{\mathrm{mixc}}", "s", "mean time per token under chunked prefill of the mix",
       f"of_largest(mix_even_chunk, mix_even_prefill_itl, mix_budget, {_per_step('loaded_decode_time', 'batch = mix_batch')}"
       f" + mix_prompts_per_step*((1 - long_share)*chunk_added_time({BESIDE}) + long_share*chunk_added_time{_long(BESIDE)}))",
       without=("chunk", "mix_even_prefill_itl"), exists=TURNS, reference=source.SARATHI),
    _q("mix", "mix_prefill_request_rate", r"X_{\mathrm{mixp}}", "request/s", "prompts of the mix per second that the prefill devices of an instance prefill", _harmonic("prefill_request_rate"), reference=source.SPLITWISE),
    _q("mix", "mix_disaggregated_batch", r"B_{\mathrm{mixpd}}", "request", "requests of the mix that decode with disaggregated prefill: the batch, or those that a slower prefill keeps busy",
       counted=True, search=Search("fixed", "batch", "mix_prefill_request_rate*mix_steps*mix_decode_itl", "batch"), reference=source.LITTLE),
    _q("mix", "mix_sustained_requests", r"X_{\mathrm{mix}}^{r}", "request/s", "responses per second that an instance sustains of the mix, prefills included", switch="scheduling", reference=source.LITTLE, variants={
        "chunked": "mix_batch/(mix_steps*mix_chunked_itl)",
        "exclusive": _harmonic("exclusive_request_rate"),
        "disaggregated": f"min({_harmonic('decode_request_rate')}, mix_prefill_request_rate)",
    }),
    _q("mix", "mix_sustained_itl", r"\mathrm{ITL}_{\mathrm{mix}}", "s", "mean inter-token latency of a server under load of the mix, over all steps", switch="scheduling", exists=TURNS, reference=source.LITTLE, variants={
        "chunked": "mix_chunked_itl",
        "exclusive": f"mix_decode_itl + max(batch/prefill_batch - 1, 0)*({_mixed(OWN_PREFILL)})/mix_steps",
        "disaggregated": "mix_decode_itl(batch = mix_disaggregated_batch)",
    }),
    _q("mix", "mix_sustained_throughput", r"X_{\mathrm{mix}}", "token/s", "output tokens per second that an instance sustains of the mix, prefills included", "mix_output*mix_sustained_requests"),
    _q("mix", "mix_cost_per_mtok", r"c_{\mathrm{mix}}^{1M}", "USD", "cost per million output tokens of the mix, prefills included", "price*served_devices*10^6/mix_sustained_throughput"),
    _q("mix", "mix_load", r"\rho_{\mathrm{mix}}", "", "load: arriving requests of the mix over what the fleet sustains; the queue is unstable from 1 on", "arrival_rate/(dp*mix_sustained_requests)", reference=source.KLEINROCK),
    _q("mix", "mix_peak_context", r"C_{\mathrm{mix}}", "token", "longest context of a response, the mean over slots: what a slot's cache has to hold", "(1 - long_slots_share)*(prompt + output - 1) + long_slots_share*(long_prompt + long_output - 1)", counted=True),
    _q("mix", "mix_worst_itl", r"\mathrm{ITL}_{\mathrm{mixworst}}", "s", "longest step that a decoding request of the mix waits for", switch="scheduling", reference=source.SARATHI, variants={
        "chunked": f"max(worst_chunked_itl({BESIDE}), worst_chunked_itl{_long(BESIDE)})",
        "exclusive": f"mix_decode_itl + max({PREFILL}, {LONG_PREFILL})",
        "disaggregated": f"max(itl_last(batch = mix_disaggregated_batch), itl_last{_long('batch = mix_disaggregated_batch')})",
    }),
    *(_q("mix", f"mix_{kind}_prompt_prefill_time", rf"t_{{\mathrm{{{kind}read}}}}", "s", f"time of the steps in which {whose} prompt of the mix is prefilled, and of transferring its cache", switch="scheduling",
         reference=source.SARATHI, variants={"chunked": pieces, "exclusive": f"prompt_prefill_time{its}", "disaggregated": f"prompt_prefill_time{its}"})
      for kind, whose, pieces, its in (("own", "the case's own", READINGS["chunked"], ""), ("long", "a long", LONG_READINGS["chunked"], _long()))),
    _q("mix", "mix_prompt_prefill_time", r"t_{\mathrm{mixread}}", "s", "mean time of the steps in which a prompt of the mix is prefilled, and of transferring its cache",
       "(1 - long_share)*mix_own_prompt_prefill_time + long_share*mix_long_prompt_prefill_time"),
    _q("mix", "mix_prefill_slot_time", r"t_{\mathrm{mixlane}}", "s", "mean time for which a prompt of the mix is being prefilled", switch="scheduling",
       variants={kind: f"(1 - long_share)*{READINGS[kind]} + long_share*{LONG_READINGS[kind]}" for kind in READINGS}),
    _q("mix", "mix_prefill_slot_residual", r"t_{\mathrm{mixlane2}}", "s", "mean square of the time for which a prompt of the mix is being prefilled, over its mean: long ones are met more often", switch="scheduling", reference=source.KLEINROCK,
       variants={kind: f"((1 - long_share)*{READINGS[kind]}^2 + long_share*{LONG_READINGS[kind]}^2)/mix_prefill_slot_time" for kind in READINGS}),
    _q("mix", "mix_prefill_slot_utilization", r"\rho_{\mathrm{mixl}}", "", "utilization of prefill: share of time that each prefill slot of the mix is busy; the queue is unstable from 1 on", "arrival_rate/dp/prefill_slots(prompts_per_step = mix_prompts_per_step)*mix_prefill_slot_time", reference=source.KLEINROCK),
    _q("mix", "mix_prefill_queue_wait", r"W_{\mathrm{mixl}}", "s", "estimated mean wait before the prefill of a prompt of the mix: long ones are in the same queue", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=LANE_STEADY, reference=source.KLEINROCK,
       variants=waits_in_line("mix_prefill_slot_utilization", "mix_prefill_slot_residual")),
    _q("mix", "mix_admission_wait", r"W_{\mathrm{mixslot}}", "s", "estimated mean wait of the mix for a slot of the batch; not in the time to first token, and long near a load of 1", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=STEADY,
       reference=source.SAKASEGAWA, variants=waits_for_a_slot("mix_load", "mix_sustained_requests")),
    _q("mix", "mix_steady_batch", r"B_{\lambda,\mathrm{mix}}", "request", "requests of the mix that decode at the arrival rate: Little's law; the batch where no rate is known", counted=True, exists=STEADY, without=("arrival_rate", "batch"),
       search=Search("fixed", "batch", "arrival_rate/dp*mix_steps*mix_sustained_itl", "batch"), reference=source.LITTLE),
    *(_q("mix", name, latex, "s", f"mean time to first token {of} of a server under load of the mix: the estimated wait, and the steps in which the prompt is prefilled",
         f"queue_time + mix_prefill_queue_wait({AT_RATE}) + {reading}({AT_RATE})", without=("arrival_rate", f"queue_time + {reading}"), reference=source.DISTSERVE)
      for name, latex, of, reading in (
          ("mix_loaded_ttft", r"\mathrm{TTFT}_{\mathrm{mix}}", "of all requests", "mix_prompt_prefill_time"),
          ("mix_own_ttft", r"\mathrm{TTFT}_{\mathrm{mixown}}", "of the case's own requests", "mix_own_prompt_prefill_time"),
          ("mix_long_ttft", r"\mathrm{TTFT}_{\mathrm{mixlong}}", "of long requests", "mix_long_prompt_prefill_time"),
      )),
)  # fmt: skip
