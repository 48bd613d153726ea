"""One plain sentence for each quantity that notes speak of: any reader knows which it is."""

import pytest

from symroof.claims.draft.drafted_copy import draft

CASE = "Llama-3-70B in fp16 on an H100 SXM. "
SENTENCES = [
    ("Each GPU holds 670 MB of KV cache.", "kv_cache_bytes_per_device"),
    ("The recurrent state of a request takes 50 MB.", "state_bytes_per_request"),
    ("Logits take 16 MB.", "logit_bytes"),
    ("In total 155 GB of memory are needed.", "memory_bytes"),
    ("In total each GPU needs 78 GB.", "memory_bytes_per_device"),
    ("That leaves 12 GB free for the cache.", "free_memory"),
    ("5 GB are reserved for the runtime.", "memory_reserve"),
    ("72 GB of each card are usable.", "usable_memory_per_device"),
    ("A decode step reads 142 GB.", "decode_bytes"),
    ("During prefill 150 GB are read.", "prefill_bytes"),
    ("The cache takes 328 kB per token.", "kv_bytes_per_token"),
    ("Weights take 2 bytes per parameter.", "weight_bytes_per_param"),
    ("HBM bandwidth is 3.35 TB/s.", "mem_bandwidth"),
    ("NVLink does 450 GB/s.", "link_bandwidth"),
    ("The InfiniBand network does 50 GB/s.", "network_bandwidth"),
    ("PCIe to the host gives 64 GB/s.", "host_bandwidth"),
    ("The NVMe disk reads 7 GB/s.", "disk_bandwidth"),
    ("L2 delivers 5.5 TB/s.", "l2_bandwidth"),
    ("Its peak is 989 TFLOP/s.", "peak_flops"),
    ("The card peaks at 989 TFLOPs in bf16.", "peak_flops"),
    ("Prefill of the prompt takes 578 TFLOP.", "prefill_flops"),
    ("A token costs 141 GFLOP in decode.", "decode_flops"),
    ("The GEMM takes 137 GFLOP.", "gemm_flops"),
    ("The ridge point lies at 295 FLOP/byte.", "ridge_point"),
    ("Decode has an arithmetic intensity of 1 FLOP/byte.", "decode_intensity"),
    ("The prefill has an arithmetic intensity of 3,000 FLOP/byte.", "prefill_intensity"),
    ("Attention has an intensity of 8 FLOP/byte.", "attention_intensity"),
    ("The GEMM has an intensity of 512 FLOP/byte.", "gemm_intensity"),
    ("The first token comes after 600 ms.", "ttft"),
    ("Prefill takes 580 ms.", "prefill_time"),
    ("A decode step takes 42 ms.", "itl"),
    ("TPOT is 42 ms.", "tpot"),
    ("Reading the weights takes 42 ms.", "decode_memory_time"),
    ("Decoding all 256 tokens takes 10.7 s.", "decode_time"),
    ("A whole response takes 11 s.", "response_time"),
    ("Loading the weights from disk takes 20 s.", "load_time"),
    ("Swapping the cache to the host takes 25 ms.", "swap_time"),
    ("Recomputing the cache takes 580 ms.", "recompute_time"),
    ("Transferring the cache over the network takes 27 ms.", "transfer_time"),
    ("An all-reduce takes 30 us.", "all_reduce_time"),
    ("An all-to-all takes 30 us.", "all_to_all_time"),
    ("An all-gather takes 30 us.", "all_gather_time"),
    ("Communication over NVLink takes 5 ms of a step.", "decode_link_time"),
    ("A request waits in the queue for 200 ms.", "queue_wait"),
    ("The scheduler overhead of a step is 2 ms.", "step_overhead"),
    ("A kernel launch takes 5 us.", "kernel_launch"),
    ("Verifying the draft tokens takes 44 ms.", "verify_time"),
    ("The target between tokens is 50 ms.", "itl_target"),
    ("Each user gets 24 token/s.", "user_rate"),
    ("All users together get 760 token/s.", "decode_throughput"),
    ("Each GPU produces 190 token/s.", "decode_throughput_per_device"),
    ("Prefill runs at 7,000 token/s.", "prefill_throughput"),
    ("The sustained throughput is 640 token/s.", "sustained_throughput"),
    ("It sustains 3 requests/s.", "sustained_requests"),
    ("A million tokens cost $0.90.", "cost_per_mtok"),
    ("A million input tokens cost $0.20.", "cost_per_mtok_input"),
    ("A request costs $0.002.", "cost_per_request"),
    ("The card rents for $2.50/hour.", "price"),
    ("The node costs $20/hour.", "group_price"),
    ("The whole fleet costs $200/hour.", "fleet_price"),
    ("The GPU draws 700 W.", "power"),
    ("That is 1.2 J/token.", "energy_per_token"),
    ("The energy is 300 J per request.", "energy_per_request"),
    ("Prompts have 4,096 tokens.", "prompt"),
    ("Responses have 256 tokens.", "output"),
    ("The context is 8,000 tokens.", "context"),
    ("Chunks have 2,048 tokens.", "chunk"),
    ("A verify step accepts 2.4 tokens.", "tokens_per_verify"),
    ("The draft model proposes 4 tokens.", "draft_tokens"),
    ("A cached prefix of 1,000 tokens is shared.", "cached_prefix"),
    ("The memory fits 40 requests.", "concurrency"),
    ("MFU is 45 %.", "mfu"),
    ("MBU is 80 %.", "mbu"),
    ("The acceptance rate is 70 %.", "acceptance"),
    ("The prefix cache hit rate is 60 %.", "hit_rate"),
    ("The memory is used to 93 %.", "memory_utilization"),
    ("The model has 70.6B parameters.", "params"),
]


@pytest.mark.parametrize(("text", "quantity"), SENTENCES, ids=[quantity for _, quantity in SENTENCES])
def test_a_plain_sentence(text, quantity):
    assert [one.quantity for one in draft(CASE + text, "note.md").drafts][-1] == quantity


@pytest.mark.parametrize(
    ("text", "batch"), [("A decode step takes 42 ms.", None), ("All users together get 760 token/s.", "32"), ("At batch 8 a decode step takes 42 ms.", "8")]
)
def test_a_batch_reaches_beyond_its_paragraph_where_a_number_means_little_without(text, batch):
    one = draft(f"{CASE}We use batch 32.\n\n{text}\n", "note.md").drafts[-1]
    assert one.given.get("batch") == batch


def test_the_nearest_statement_counts():
    """Its own sentence before its paragraph, that before the heading, that before another paragraph."""
    text = "# Llama 3 8B\n\nOn an A100 80GB it is slow. On an L40S the card reads 864 GB/s. The weights take 16 GB.\n\nMistral 7B v0.1 on the same: weights of 14 GB.\n\nWeights: 16 GB.\n"
    drafts = draft(text, "note.md").drafts
    assert [(one.quantity, one.given.get("hardware"), one.given.get("model")) for one in drafts] == [
        ("mem_bandwidth", "l40s", None), ("weight_bytes", None, "llama-3-8b"), ("weight_bytes", None, "mistral-7b-v0.1"), ("weight_bytes", None, "llama-3-8b"),
    ]  # fmt: skip


@pytest.mark.parametrize("words", ["per GPU-hour", "an hour", "every hour", "each card hour", "per hour"])
def test_an_hour_behind_dollars_is_a_price(words):
    one = draft(f"{CASE}The card rents at $2.50 {words}.", "note.md").drafts[-1]
    assert (one.quantity, one.given["price"]) == ("price", "2.50 USD/hour")


@pytest.mark.parametrize("number", ["40 s", "12 GB", "500 tokens", "$3", "35 %", "8 requests", "5 J", "700 W", "3 GB/s", "2 request/s"])
def test_a_number_that_nothing_speaks_for_is_left_alone(number):
    assert draft(f"{CASE}\n\nIt was {number} there.\n", "note.md").drafts == ()


@pytest.mark.parametrize(
    ("number", "quantity"), [("10 token/s", "user_rate"), ("300 TFLOP/s", "peak_flops"), ("5 FLOP/byte", "ridge_point"), ("328 kB/token", "kv_bytes_per_token")]
)
def test_a_unit_alone_may_say_enough(number, quantity):
    assert [one.quantity for one in draft(f"{CASE}\n\nIt was {number} there.\n", "note.md").drafts] == [quantity]


def test_an_empty_cell_keeps_its_column():
    text = "Llama 3.1 8B\n\n| GPU | remark | ITL |\n|---|---|---|\n| L40S || 19 ms |\n| H100 | fast | 5 ms |\n"
    assert [(one.quantity, one.given["hardware"]) for one in draft(text, "note.md").drafts] == [("itl", "l40s"), ("itl", "h100-sxm")]
