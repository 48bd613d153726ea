"""Quantities of a server under load: prompts are read while other requests decode. Declarations like all others.

``batch`` counts the requests that decode. A slot turns over every ``response_steps`` steps, as the first token comes with the
prefill. A step under load has its requests anywhere in their responses and pieces of prompts beside them
(:data:`symroof.theory.steps.STEPS`, ``loaded``); ``scheduling`` says how prompts and tokens share the device.
"""

from symroof.theory import references as source
from symroof.theory.quantity import NEGLIGIBLE_WAIT, Search, referenced
from symroof.theory.quantity import declared as _q

TURNS = (("response_steps > 0", "needs an output of 2 tokens or more: a response of one token has no decode steps"),)
STEADY = (("load < 1", "no steady state: at load >= 1 the queue is unstable, as requests arrive at least as fast as they are served"),)
LANE_STEADY = (
    ("prefill_slot_utilization < 1", "no steady state: at utilization >= 1 the queue is unstable, as prompts arrive at least as fast as they are prefilled"),
)

NEW = "(prompt - cached_prefix)"
PREFILL = "(prefill_time + prefill_overhead)"
PIECE = "loaded_time(batch = chunked_batch, prefill_chunk = {new}, concurrent_chunks = {prompts}, chunk_start = cached_prefix + {past}, chunk_logit_rows = 1)"
FULL_PIECE = PIECE.format(new="step_budget", prompts="1", past="step_budget*(step - 1)")
LAST_PIECE = PIECE.format(new="final_chunk", prompts="concurrent_prompts", past="step_budget*(prompt_chunks - 1)")
LATE_PIECE = PIECE.format(new=f"min(step_budget, {NEW})", prompts="concurrent_prompts", past="step_budget*max(prompt_chunks - 2, 0)")
"""The step with a full piece, with the last one, and with the last full one."""
READ_FULL = PIECE.format(new="group_budget", prompts="attention_dp", past="group_budget*(step - 1)")
READ_LAST = PIECE.format(
    new=f"({NEW} - group_budget*(group_chunks - 1))", prompts="max(concurrent_prompts, attention_dp)", past="group_budget*(group_chunks - 1)"
)
"""The same as one prompt is read: by its own group of attention, beside a piece of the same length in every other group."""
BESIDE = "loaded_decode_time(batch = chunked_batch)"

STEPS_AT_WORK = referenced(
    source.SARATHI,
    _q("load", "loaded_context", r"C_{\mathrm{load}}", "token", "mean context of the decoding requests, each anywhere in its response", switch="kv_growth", reference=source.ORCA, variants={
        "growing": "prompt + (response_steps + 1 + output*output_spread)/2",
        "fixed": "context",
    }),
    _q("load", "even_chunk", r"c_{\mathrm{pace}}", "token", "prompt tokens prefilled in every decode step where prefill is spread evenly over all steps", f"batch*{NEW}/response_steps", counted=True, exists=TURNS),
    _q("load", "step_budget", "c_b", "token", "prompt tokens that a decode step may prefill (token budget less the batch)", "chunk", without=("chunk", "even_chunk"), counted=True),
    _q("load", "chunked_batch", "B_c", "request", "requests that decode under chunked prefill: the batch, or as many as the budget prefills prompts for", f"min(batch, step_budget*response_steps/{NEW})",
       without=("chunk", "batch"), counted=True),
    _q("load", "prompts_per_step", r"r_{\mathrm{prompts}}", "", "prompts whose prefill ends in a step on average: as many as responses end", "chunked_batch/response_steps", counted=True, exists=TURNS),
    _q("load", "concurrent_prompts", r"m_{\mathrm{prompts}}", "", "whole prompts that share a step", "max(prompts_per_step, 1)", counted=True),
    _q("load", "prefill_chunk", "c_1", "token", "prompt tokens of one prefill chunk: where prefill is spread evenly, a step's part of a prompt or a whole one", f"{NEW}*min(prompts_per_step, 1)", counted=True),
    _q("load", "concurrent_chunks", "m_1", "", "prefill chunks of a step, each of another prompt", "concurrent_prompts", counted=True),
    _q("load", "chunk_start", "c_{past}", "token", "prompt tokens prefilled before a chunk, on average over the chunks of a prompt", f"cached_prefix + ({NEW} - prefill_chunk)/2", counted=True),
    _q("load", "chunk_logit_rows", "z_1", "", "rows of logits of a prefill chunk: the share of chunks that end a prompt", f"prefill_chunk/{NEW}", counted=True),
    _q("load", "prompt_chunks", "n_c", "", "chunks that a prompt is prefilled in", f"ceil({NEW}/step_budget)", counted=True),
    _q("load", "group_budget", "c_g", "token", "prompt tokens that a decode step may prefill in one attention group: its share of the budget of all", "step_budget/attention_dp", counted=True),
    _q("load", "group_chunks", "n_{cg}", "", "chunks that a prompt is prefilled in by its attention group", f"ceil({NEW}/group_budget)", counted=True),
    _q("load", "final_chunk", "c_{last}", "token", "prompt tokens of the last prefill chunk", f"{NEW} - step_budget*(prompt_chunks - 1)", counted=True),
    _q("load", "loaded_time", r"t_{\mathrm{work}}", "s", "time of a step under load", "loaded_busy_time + loaded_overhead"),
    _q("load", "loaded_decode_time", r"t_{\mathrm{work}}^{d}", "s", "time of a decode step under load that prefills nothing", "loaded_time(concurrent_chunks = 0)"),
    _q("load", "even_prefill_itl", r"\mathrm{ITL}_{\mathrm{pace}}", "s", "time of a step where prefill is spread evenly over all steps: a lower bound for every token budget", "loaded_time(batch = chunked_batch)"),
    _q("load", "prompt_steps", r"n_{\mathrm{read}}", "", "steps in which one prompt is prefilled, fewer where several share a step", "prompt_chunks - 1 + 1/concurrent_prompts", counted=True),
    _q("load", "chunks_per_step", r"r_{\mathrm{chunks}}", "", "prefill chunks in a decode step on average; whole prompts that share a step are one", "prompts_per_step*(prompt_chunks - 1) + min(prompts_per_step, 1)", counted=True),
    _q("load", "prompt_steps_time", r"t_{\mathrm{along}}", "s", "time of the steps in which one prompt is prefilled", f"sum({FULL_PIECE}, step, 1, prompt_chunks - 1) + {LAST_PIECE}/concurrent_prompts"),
    _q("load", "chunk_added_time", r"t_{\mathrm{pieces}}", "s", "time that the prefill chunks of one prompt add to the decode steps they run in", f"prompt_steps_time - prompt_steps*{BESIDE}"),
    _q("load", "chunked_itl", r"\mathrm{ITL}_{c}", "s", "mean time per token under chunked prefill: where the token budget is too small every step is full",
       f"of_largest(even_chunk, even_prefill_itl, step_budget, (1 - chunks_per_step)*{BESIDE} + prompts_per_step*prompt_steps_time)", without=("chunk", "even_prefill_itl"), exists=TURNS),
)  # fmt: skip

SUSTAINED = referenced(
    source.DISTSERVE,
    _q("load", "chunked_request_rate", r"X_c", "request/s", "responses per second of an instance with chunked prefill beside the decode",
       f"of_largest(response_steps, chunked_batch/(response_steps*chunked_itl), 1/2, prefill_batch/{PREFILL})", reference=source.SARATHI),
    _q("load", "exclusive_request_rate", r"X_e", "request/s", "responses per second of an instance whose prefills pause the decode",
       f"batch/(response_steps*loaded_decode_time + batch*{PREFILL}/prefill_batch)", reference=source.ORCA),
    _q("load", "prefill_request_rate", r"X_p", "request/s", "prompts per second that the prefill devices of an instance prefill", f"prefill_devices/instance_devices*prefill_batch/{PREFILL}", reference=source.SPLITWISE),
    _q("load", "decode_request_rate", r"X_d", "request/s", "responses per second of an instance that decodes only", "batch/(response_steps*loaded_decode_time)", exists=TURNS, reference=source.LITTLE),
    _q("load", "disaggregated_request_rate", r"X_{pd}", "request/s", "responses per second with disaggregated prefill: the slower side decides",
       "of_largest(response_steps, min(decode_request_rate, prefill_request_rate), 1/2, prefill_request_rate)"),
    _q("load", "disaggregated_batch", "B_{pd}", "request", "requests that decode with disaggregated prefill: the batch, or those that a slower prefill keeps busy",
       counted=True, search=Search("fixed", "batch", "prefill_request_rate*response_steps*loaded_decode_time", "batch"), reference=source.LITTLE),
    _q("load", "sustained_itl", r"\mathrm{ITL}_{s}", "s", "mean inter-token latency of a server under load, prefills included", switch="scheduling", exists=TURNS, variants={
        "chunked": "chunked_itl",
        "exclusive": f"loaded_decode_time + max(batch/prefill_batch - 1, 0)*{PREFILL}/response_steps",
        "disaggregated": "loaded_decode_time(batch = disaggregated_batch)",
    }),
    _q("load", "sustained_requests", r"X_{s}^{r}", "request/s", "responses per second that an instance sustains, prefills included", switch="scheduling", variants={
        kind: f"{kind}_request_rate" for kind in ("chunked", "exclusive", "disaggregated")
    }),
    _q("load", "sustained_throughput", "X_{s}", "token/s", "output tokens per second that an instance sustains, prefills included", "output*sustained_requests"),
    _q("load", "sustained_throughput_per_device", "X^1_{s}", "token/s", "output tokens per second that an instance sustains, per device, its prefill devices included", "sustained_throughput/served_devices", reference=source.DEFINITION),
    _q("load", "prompt_prefill_time", r"t_{\mathrm{read}}", "s", "time of the steps in which a prompt is prefilled, and of transferring its cache", switch="scheduling", reference=source.SARATHI, variants={
        "chunked": f"sum({READ_FULL}, step, 1, group_chunks - 1) + {READ_LAST}",
        "exclusive": PREFILL,
        "disaggregated": f"{PREFILL} + transfer_time",
    }),
    _q("load", "worst_chunked_itl", r"\mathrm{ITL}_{\mathrm{worst},c}", "s", "longest decode step that also prefills a chunk", f"max({LATE_PIECE}, {LAST_PIECE})", reference=source.SARATHI),
    _q("load", "worst_itl", r"\mathrm{ITL}_{\mathrm{worst}}", "s", "longest step that a decoding request waits for", switch="scheduling", reference=source.SARATHI, variants={
        "chunked": "worst_chunked_itl",
        "exclusive": f"loaded_decode_time + {PREFILL}",
        "disaggregated": "itl_last(batch = disaggregated_batch)",
    }),
)  # fmt: skip


def waits_in_line(busy: str, time: str) -> dict[str, str]:
    """The wait before one server, by the spread of its times."""
    return _by_spread(f"{busy}*{time}", f"max(1 - {busy}, 0)")


def waits_for_a_slot(load: str, requests: str) -> dict[str, str]:
    """The wait of a queue that so many slots serve together, by the spread of the times that requests hold them."""
    return _by_spread(f"{load}^(sqrt(2*batch + 2) - 1)", f"({requests}*max(1 - {load}, 0))")


def _by_spread(over: str, under: str) -> dict[str, str]:
    return {"mm1": f"{over}/{under}", "md1": f"{over}/(2*{under})", "mg1": f"(1 + service_spread)/2*{over}/{under}"}


ARRIVALS = referenced(
    source.KLEINROCK,
    _q("load", "load", r"\rho_s", "", "load: arriving requests over what the fleet sustains; the queue is unstable from 1 on", "arrival_rate/(dp*sustained_requests)"),
    _q("load", "steady_batch", "B_{\\lambda}", "request", "requests that decode at the arrival rate: Little's law; the batch where no rate is known", counted=True, exists=STEADY, without=("arrival_rate", "batch"),
       search=Search("fixed", "batch", "arrival_rate/dp*response_steps*sustained_itl", "batch"), reference=source.LITTLE),
    _q("load", "prefill_slots", "n_l", "", "prefill slots: prompts that are prefilled concurrently: one per attention group, or per set of prefill devices", switch="scheduling", counted=True, reference=source.DEFINITION, variants={
        "chunked": "attention_dp*concurrent_prompts",
        "exclusive": "prefill_batch",
        "disaggregated": "prefill_devices/instance_devices*prefill_batch",
    }),
    _q("load", "prefill_slot_time", r"t_{\mathrm{lane}}", "s", "time for which a prompt is being prefilled", switch="scheduling", reference=source.DEFINITION, variants={
        "chunked": "prompt_prefill_time", "exclusive": "prompt_prefill_time", "disaggregated": PREFILL,
    }),
    _q("load", "prefill_slot_utilization", r"\rho_l", "", "utilization of prefill: share of time that each prefill slot is busy; the queue is unstable from 1 on", "arrival_rate/dp/prefill_slots*prefill_slot_time"),
    _q("load", "prefill_queue_wait", "W_l", "s", "estimated mean wait before the prefill, beside a full batch", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=LANE_STEADY, variants=waits_in_line("prefill_slot_utilization", "prefill_slot_time")),
    _q("load", "admission_wait", r"W_{\mathrm{slot}}", "s", "estimated mean wait for a slot of the batch; not in the time to first token, and long near a load of 1", switch="queue", negligible=NEGLIGIBLE_WAIT, exists=STEADY,
       reference=source.SAKASEGAWA, variants=waits_for_a_slot("load", "sustained_requests")),
    _q("load", "loaded_ttft", r"\mathrm{TTFT}_{s}", "s", "mean time to first token of a server under load: the estimated wait for the prefill, and the steps in which the prompt is prefilled, at the requests that the arrival rate keeps busy",
       "queue_time + prefill_queue_wait(batch = steady_batch, step_budget = step_budget) + prompt_prefill_time(batch = steady_batch, step_budget = step_budget)", without=("arrival_rate", "queue_time + prompt_prefill_time"), reference=source.DISTSERVE),
    _q("load", "queued_ttft", r"\mathrm{TTFT}_{q}", "s", "mean time to first token of a server under load, including the estimated wait for a slot before it", "loaded_ttft + admission_wait", without=("arrival_rate", "loaded_ttft"), reference=source.DEFINITION),
    _q("load", "judged_itl", r"\mathrm{ITL}_{t}", "s", "inter-token latency that the target applies to", switch="targets_under", without=("output", "itl"), reference=source.DISTSERVE,
       variants={"load": "sustained_itl", "isolated": "itl_last"}),
    _q("load", "judged_ttft", r"\mathrm{TTFT}_{t}", "s", "time to first token that the target applies to", switch="targets_under", without=("output", "ttft"), reference=source.DISTSERVE,
       variants={"load": "loaded_ttft", "isolated": "ttft"}),
    _q("load", "meets_itl", r"m_{\mathrm{ITL}}", "", "1 where the ITL target is met or there is none, else 0", "floor(min(itl_target/judged_itl, 1))", without=("itl_target", "1"), counted=True, reference=source.DEFINITION),
    _q("load", "meets_ttft", r"m_{\mathrm{TTFT}}", "", "1 where the TTFT target is met or there is none, else 0", "floor(min(ttft_target/judged_ttft, 1))", without=("ttft_target", "1"), counted=True, reference=source.DEFINITION),
    _q("load", "goodput", r"X_{\mathrm{good}}", "request/s", "responses per second of the fleet that meet the targets; 0 where a target is missed", "slo_share*dp*sustained_requests*meets_itl*meets_ttft", reference=source.DISTSERVE),
    _q("load", "best_batch", r"B_{\mathrm{best}}", "request", "largest batch that fits and meets every target; 0 where none does", counted=True, search=Search("most", "batch", "meets_itl*meets_ttft", "concurrency"), reference=source.DISTSERVE),
    _q("load", "max_goodput", r"X_{\mathrm{best}}", "request/s", "responses per second of the fleet at the largest batch that fits and meets every target; 0 where none does", "of_largest(best_batch, goodput(batch = best_batch), 1/2, 0)", reference=source.DISTSERVE),
)  # fmt: skip

UNDER_LOAD = (*STEPS_AT_WORK, *SUSTAINED, *ARRIVALS)
