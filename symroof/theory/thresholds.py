"""Named thresholds: one equation each, its unknown, the meaning of the answer, and the source of the question."""

import re
from dataclasses import dataclass, replace

from symroof.theory import references as source

SUBJECTS = {
    "regime": ("Where the bound changes", source.ROOFLINE),
    "memory": ("What memory allows", source.DEFINITION),
    "targets": ("What the targets allow isolated requests", source.DEFINITION),
    "response": ("Where the time of a response goes", source.DEFINITION),
    "chunks": ("Chunked prefill: what a decode step can prefill", source.SARATHI),
    "speculation": ("When drafting tokens pays", source.LEVIATHAN),
    "links": ("What links allow", source.SCALING_BOOK),
    "load": ("What load and launches allow", source.KLEINROCK),
    "money": ("What the price allows", source.DEFINITION),
    "attention": ("Where attention takes over", source.KAPLAN),
    "precision": ("Where lower precision stops helping", source.ROOFLINE),
}
"""Group -> heading, and the reference of its thresholds that name none of their own."""

GROUPS = {group: heading for group, (heading, _) in SUBJECTS.items()}


@dataclass(frozen=True)
class Threshold:
    """A named equation.

    Attributes:
        group: the subject it belongs to, a key of :data:`SUBJECTS`.
        equation: ``lhs = rhs`` over quantities.
        unknown: the input it is solved for.
        kind: ``reach`` (the least whole value at which the sides have changed over), or ``limit`` (the largest at which
            they have not).
        means: the meaning of the value, in words that the value completes.
        below, above: the meaning where the left side stays below, or above, the right one for every value of the unknown.
        needs: inputs beside the case's own, such as a target.
        when: inputs a case has to set for a review to report it: no review of a case without chunks reports chunks.
        reference: the source of the question, one of :mod:`symroof.theory.references`.
    """

    group: str
    name: str
    equation: str
    unknown: str
    kind: str
    means: str
    below: str
    above: str
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    reference: str = ""

    def never(self, verdict: str) -> str:
        """Why there is no crossing, by the side that stays the larger; empty for any other verdict."""
        return {"lhs_below": self.below, "lhs_above": self.above}.get(verdict, "")

    @property
    def step(self) -> str:
        """The one step whose compute and memory times are compared, and can be split by operator; empty for any other equation."""
        steps = {name.partition("_")[0] for name in STEP_TIME.findall(self.equation)}
        return steps.pop() if len(steps) == 1 else ""


FULL_MEMORY = "memory_bytes_per_device = memory_share*mem_capacity"
"""Where the fullest device is full."""

STEP_TIME = re.compile(r"\b(\w+_(?:compute|memory)_time)\b")


def of_part(threshold: Threshold, part: str) -> Threshold:
    """The same threshold for one operator of the step.

    >>> of_part(THRESHOLDS["batch_to_ridge"], "gate_up").equation
    'decode_compute_time.gate_up = decode_memory_time.gate_up'
    """
    return replace(
        threshold, name=f"{threshold.name}.{part}", equation=STEP_TIME.sub(rf"\1.{part}", threshold.equation),
        means=f"of {part} alone: {threshold.means}", below=f"of {part} alone: {threshold.below}", above=f"of {part} alone: {threshold.above}",
    )  # fmt: skip


THRESHOLDS: dict[str, Threshold] = {
    t.name: t if t.reference else replace(t, reference=SUBJECTS[t.group][1])
    for t in (
        Threshold("regime", "batch_to_ridge", "decode_compute_time = decode_memory_time", "batch", "reach",
                  "from this batch on a decode step is limited by compute",
                  "every request brings its own cache traffic, and that grows at least as fast with the batch as its FLOPs do",
                  "a decode step is limited by compute at every batch"),
        Threshold("regime", "prompt_to_ridge", "prefill_compute_time = prefill_memory_time", "prompt", "reach",
                  "from this prompt on the prefill is limited by compute",
                  "the prefill never does enough work for each byte it moves",
                  "the prefill is limited by compute at every prompt"),
        Threshold("regime", "context_beyond_ridge", "decode_compute_time(batch = 2) - decode_compute_time(batch = 1) = decode_memory_time(batch = 2, experts_read = 1) - decode_memory_time(batch = 1, experts_read = 1)", "context", "limit",
                  "beyond this context no batch reaches the ridge",
                  "at no context does any batch reach the ridge",
                  "at every context some batch reaches the ridge", reference=source.POPE),
        Threshold("regime", "gemm_rows_to_ridge", "gemm_intensity = effective_ridge", "gemm_m", "reach",
                  "from this many rows (tokens) on a matrix product of this shape is limited by compute",
                  "the matrix is too small: with endless rows its intensity still stays below the ridge",
                  "it is limited by compute at any number of rows", ("gemm_k", "gemm_n")),
        Threshold("response", "prompt_ttft_exceeds_decode", "ttft = decode_time", "prompt", "reach",
                  "from this prompt on the first token takes longer than all the others",
                  "the decode of the response stays the longer part at every prompt",
                  "the first token takes longer than all the others at every prompt"),
        Threshold("response", "output_decode_exceeds_ttft", "decode_time = ttft", "output", "reach",
                  "from this many output tokens on the decode takes longer than the first token",
                  "the first token stays the longer part at every length of output",
                  "the decode is the longer part at every length of output"),
        Threshold("memory", "batch_kv_equals_weights", "kv_cache_bytes = weight_bytes", "batch", "reach",
                  "from this batch on the cache is larger than the weights",
                  "the cache stays smaller than the weights",
                  "the cache is larger than the weights at every batch", reference=source.POPE),
        Threshold("memory", "context_kv_equals_weights", "kv_cache_bytes = weight_bytes", "context", "reach",
                  "from this context on the cache is larger than the weights",
                  "the cache stays smaller than the weights",
                  "the cache is larger than the weights at every context", reference=source.POPE),
        Threshold("memory", "context_cache_full", "kv_cache_bytes(context = context + 1) = kv_cache_bytes", "context", "reach",
                  "from this context on the cache grows no more: every layer sees a window or keeps a state",
                  "the cache grows with no context",
                  "some layers keep every token", ("window",)),
        Threshold("memory", "max_batch_memory", FULL_MEMORY, "batch", "limit",
                  "the largest batch that fits in memory",
                  "it fits at every batch: a request takes no memory of its own",
                  "not even the weights and the reserve fit"),
        Threshold("memory", "max_context_memory", FULL_MEMORY, "context", "limit",
                  "the longest context that fits in memory at this batch",
                  "it fits at every context: what the layers keep stops growing",
                  "the weights and the cache of prompt and output alone do not fit"),
        Threshold("memory", "max_prompt_memory", FULL_MEMORY, "prompt", "limit",
                  "the longest prompt whose response still fits in memory at this batch",
                  "it fits at every prompt: what the layers keep stops growing",
                  "not even the weights, the reserve and the cache of the output fit"),
        Threshold("memory", "max_weight_width_memory", FULL_MEMORY, "weight_bytes_per_param", "limit",
                  "the widest weights that leave room for the cache",
                  "weights of any width fit",
                  "the cache and the reserve alone do not fit"),
        Threshold("memory", "min_capacity_memory", FULL_MEMORY, "mem_capacity", "limit",
                  "the least memory of one device that holds everything",
                  "any capacity holds it",
                  "no capacity holds it"),
        Threshold("targets", "max_batch_itl", "itl_last = itl_target", "batch", "limit",
                  "the largest batch whose last step meets the ITL target",
                  "every batch meets the target",
                  "a single request already takes longer", ("itl_target",)),
        Threshold("targets", "max_num_seqs", "max(itl_last/itl_target, memory_bytes_per_device/usable_memory_per_device, decode_compute_time/decode_memory_time) = 1", "batch", "limit",
                  "the largest batch that meets the ITL target, fits in memory and still gains from batching",
                  "every batch meets the target, fits in memory and still gains from batching",
                  "a single request already takes longer, or does not fit, or is limited by compute", ("itl_target",)),
        Threshold("targets", "max_context_itl", "itl = itl_target", "context", "limit",
                  "the longest context at which a step of this batch meets the ITL target",
                  "every context meets the target",
                  "the step already takes longer without any cache", ("itl_target",)),
        Threshold("targets", "max_prompt_ttft", "ttft = ttft_target", "prompt", "limit",
                  "the longest prompt whose first token meets the TTFT target",
                  "every prompt meets the target",
                  "the fixed overheads and the weights alone take longer", ("ttft_target",)),
        Threshold("targets", "min_bandwidth_itl", "itl_last = itl_target", "mem_bandwidth", "limit",
                  "the least memory bandwidth that meets the ITL target",
                  "any bandwidth meets the target",
                  "compute, links or overheads alone take longer", ("itl_target",)),
        Threshold("targets", "min_flops_ttft", "ttft = ttft_target", "peak_flops", "limit",
                  "the least peak FLOP/s (dense) that meets the TTFT target",
                  "any peak meets the target",
                  "memory, links or overheads alone take longer", ("ttft_target",)),
        Threshold("memory", "min_devices_memory", FULL_MEMORY, "tp", "reach",
                  "the least tensor-parallel degree at which everything fits in memory",
                  "one device is enough",
                  "no number of devices holds it"),
        Threshold("targets", "min_devices_ttft", "ttft = ttft_target", "tp", "reach",
                  "the least tensor-parallel degree that meets the TTFT target",
                  "one device is enough",
                  "communication and the fixed overheads do not shrink with more devices", ("ttft_target",)),
        Threshold("targets", "min_devices_itl", "itl_last = itl_target", "tp", "reach",
                  "the least tensor-parallel degree that meets the ITL target",
                  "one device is enough",
                  "communication and the fixed overheads do not shrink with more devices", ("itl_target",)),
        Threshold("targets", "min_mfu_ttft", "ttft = ttft_target", "mfu", "limit",
                  "the least compute efficiency that meets the TTFT target",
                  "any efficiency meets the target",
                  "not even the full peak meets it", ("ttft_target",)),
        Threshold("targets", "min_mbu_itl", "itl_last = itl_target", "mbu", "limit",
                  "the least bandwidth efficiency that meets the ITL target",
                  "any efficiency meets the target",
                  "not even the full bandwidth meets it", ("itl_target",)),
        Threshold("chunks", "max_chunk_itl", "mixed_time = itl_target", "chunk", "limit",
                  "the largest prefill chunk in a decode step that meets the ITL target",
                  "every chunk meets the target",
                  "the decode step of this batch alone takes longer", ("itl_target",), when=("chunk",)),
        Threshold("chunks", "free_chunk", "mixed_compute_time = decode_memory_time", "chunk", "limit",
                  "the largest prefill chunk that is free: its work hides behind the memory traffic of the decode step",
                  "the work of every chunk hides",
                  "the decode step of this batch is limited by compute already", when=("chunk",)),
        Threshold("speculation", "batch_verify_ridge", "verify_compute_time = verify_memory_time", "batch", "limit",
                  "the largest batch whose verification is limited by memory: beyond it drafted tokens cost compute",
                  "verification stays limited by memory at every batch",
                  "verification is limited by compute at every batch", ("draft_tokens",), when=("draft_tokens",)),
        Threshold("speculation", "min_acceptance_speculation", "speculation_speedup = speedup_target", "acceptance", "limit",
                  "the least acceptance at which speculation reaches the target speed-up",
                  "not even accepting every token reaches it",
                  "any acceptance reaches it", ("draft_tokens", "draft_cost")),
        Threshold("speculation", "max_batch_speculation", "speculation_speedup = 1", "batch", "limit",
                  "the largest batch at which speculation still pays",
                  "it pays at no batch",
                  "it pays at every batch", ("draft_tokens", "acceptance")),
        Threshold("speculation", "best_draft_tokens", "speculation_speedup(draft_tokens = draft_tokens + 1) = speculation_speedup", "draft_tokens", "reach",
                  "the draft length beyond which one more token brings nothing",
                  "no further token brings anything",
                  "every further token brings something", ("acceptance", "draft_cost")),
        Threshold("links", "useful_devices_itl", "itl(tp = tp + 1) = itl", "tp", "reach",
                  "from this many devices on one more shortens a decode step no further",
                  "each further device shortens the step by less: the traffic of a ring hardly depends on its size",
                  "no further device shortens it", ("link_bandwidth",), when=("tp",)),
        Threshold("links", "devices_link_bound", "decode_link_time = decode_roofline_time", "tp", "reach",
                  "from this many devices on a decode step spends longer on the links than on its work",
                  "the work stays the longer part with any number of devices",
                  "the links take longer with any number of devices", ("link_bandwidth",), when=("tp",)),
        Threshold("links", "min_host_bandwidth_swap", "swap_time = recompute_time", "host_bandwidth", "limit",
                  "the slowest host link over which swapping a cache in is quicker than recomputing it",
                  "there is no cache to swap in",
                  "recomputing it costs nothing", when=("preemption_rate",), reference=source.PAGED_ATTENTION),
        Threshold("links", "min_network_bandwidth_transfer", "transfer_time = itl", "network_bandwidth", "limit",
                  "the slowest network over which transferring a cache takes no longer than a decode step",
                  "the transfer is quicker over any network",
                  "the fixed time of the link alone is longer", when=("prefill_devices",), reference=source.SPLITWISE),
        Threshold("load", "max_arrival_ttft", "loaded_ttft = ttft_target", "arrival_rate", "limit",
                  "the highest arrival rate at which the mean first token meets the TTFT target",
                  "every rate that the server keeps up with meets the target",
                  "the prefill takes longer even without a queue", ("ttft_target",), when=("arrival_rate",)),
        Threshold("load", "max_batch_sustained_itl", "sustained_itl = itl_target", "batch", "limit",
                  "the largest batch whose mean step under load, prefills included, meets the ITL target",
                  "every batch meets the target",
                  "a single request already takes longer", ("itl_target", "output"), when=("output",), reference=source.SARATHI),
        Threshold("load", "max_chunk_sustained_itl", "sustained_itl = itl_target", "chunk", "limit",
                  "the largest chunk (token budget less the batch) at which the mean step under load meets the ITL target",
                  "every budget meets the target",
                  "the decode of this batch alone takes longer", ("itl_target", "output"), when=("chunk",), reference=source.SARATHI),
        Threshold("load", "min_copies_arrival", "load = 1", "dp", "reach",
                  "the least number of replicas with which the fleet keeps up with its arrivals",
                  "one replica keeps up",
                  "no number of replicas keeps up", ("arrival_rate", "output"), when=("arrival_rate",), reference=source.LITTLE),
        Threshold("load", "prefill_devices_pace", "prefill_request_rate = decode_request_rate", "prefill_devices", "reach",
                  "from this many prefill devices on the decode is the slower side",
                  "the prefill stays the slower side",
                  "the decode is the slower side with any number of prefill devices", ("output",), when=("prefill_devices",), reference=source.DISTSERVE),
        Threshold("load", "output_disaggregation_pays", "disaggregated_request_rate/(instance_devices + prefill_devices) = chunked_request_rate/instance_devices", "output", "limit",
                  "up to this output disaggregated prefill serves more requests per device than chunked prefill",
                  "chunked prefill serves more at every output",
                  "disaggregated prefill serves more at every output", ("prefill_devices", "chunk"), when=("prefill_devices",), reference=source.DISTSERVE),
        Threshold("load", "output_equal_shares", "response_steps*loaded_decode_time/batch = (prefill_time + prefill_overhead)/prefill_batch", "output", "reach",
                  "from this output on decode takes more of a server's time than prefill",
                  "prefill stays the larger part",
                  "decode is the larger part at every output", reference=source.DISTSERVE),
        Threshold("load", "cached_prefix_memory_bound", "prefill_compute_time = prefill_memory_time", "cached_prefix", "reach",
                  "from this cached prefix on the prefill is limited by memory",
                  "the prefill stays limited by memory whatever is cached",
                  "the prefill stays limited by compute whatever is cached", when=("cached_prefix",), reference=source.ROOFLINE),
        Threshold("load", "launches_dominate", "launch_time = decode_roofline_time", "kernels_per_layer", "reach",
                  "from this many kernels per layer on launches take longer than a decode step's work",
                  "launches take no time",
                  "launches take longer with any number of kernels", ("kernel_launch",), when=("kernel_launch",), reference=source.CUDA_GRAPHS),
        Threshold("money", "break_even_price", "price_ratio = break_even_ratio", "price", "limit",
                  "the highest price of this device at which its tokens cost no more than the other's",
                  "any price is low enough",
                  "no price is low enough", ("rival_price", "rival_throughput")),
        Threshold("money", "max_price_cost", "cost_per_mtok = cost_target", "price", "limit",
                  "the highest price of this device at which a million output tokens meet the cost target",
                  "any price is low enough",
                  "no price is low enough", ("cost_target",)),
        Threshold("attention", "attention_reaches_share", "attention_to_linear = attention_share", "prompt", "reach",
                  "from this prompt on attention's FLOPs are more than the chosen share of all others in the prefill",
                  "attention FLOPs are not counted, or never reach the share",
                  "they are more than the share at every prompt"),
        Threshold("attention", "attention_equals_linear", "prefill_attention_flops = prefill_linear_flops", "prompt", "reach",
                  "from this prompt on attention costs more FLOPs than everything else in the prefill",
                  "attention FLOPs are not counted, or always the smaller part",
                  "attention costs more at every prompt"),
        Threshold("regime", "batch_reads_experts", "experts_read = expert_share*n_experts", "batch", "reach",
                  "from this batch on a decode step reads all but a few experts of a layer: more requests bring no more weights",
                  "no batch reads that many",
                  "every token is sent to so many experts that one request already reads them", ("n_experts",), reference=source.MOESD),
        Threshold("precision", "weight_width_stops_helping", "decode_memory_time = decode_compute_time", "weight_bytes_per_param", "limit",
                  "weights narrower than this no longer shorten a decode step: compute binds",
                  "compute binds at any width",
                  "the cache and the activations alone keep memory the bound"),
        Threshold("precision", "cache_width_stops_helping", "decode_memory_time = decode_compute_time", "kv_bytes_per_element", "limit",
                  "a cache narrower than this no longer shortens a decode step: compute binds",
                  "compute binds at any width",
                  "the weights and the activations alone keep memory the bound"),
    )
}  # fmt: skip
