"""Times of Llama 3.1 8B on an H100 by formulas of the tests' own: nothing of the engine is used to make them."""

from dataclasses import dataclass

L, D, H, HKV, DH, DFF, V = 32, 4096, 32, 8, 128, 14336, 128256
LAYER = D * H * DH + 2 * D * HKV * DH + H * DH * D + 3 * D * DFF
MATRICES = L * LAYER + D * V
FLOPS, BANDWIDTH, LINK = 989.4e12, 3.35e12, 450e9


def activations(tp=1):
    """Elements one device reads and writes for a token: inputs of what is cut by columns whole, and outputs of what is cut by rows."""
    return L * (
        (D + (H + 2 * HKV) * DH / tp)
        + 2 * H * DH / tp
        + (H * DH / tp + D)
        + (D + 2 * DFF / tp)
        + (DFF / tp + D)
    )


def device_bytes(tokens, cached, rows, kv_bytes=2, tp=1):
    """Bytes one device moves: its share of the weights and of the cache, and its activations."""
    return (2 * MATRICES + kv_bytes * 2 * L * HKV * DH * cached) / tp + 2 * (
        tokens * activations(tp) + rows * (D + V / tp)
    )


@dataclass(frozen=True)
class Truth:
    """What the made-up machine reaches."""

    mfu: float = 0.56
    mbu: float = 0.82
    overhead: float = 0.9e-3
    latency: float = 0.0

    def itl(self, batch, context, tp=1):
        flops = 2 * batch * MATRICES + 4 * L * H * DH * context * batch
        return (
            self.roof(flops / tp, device_bytes(batch, context * batch, batch, tp=tp))
            + self.link(batch, tp)
            + self.overhead
        )

    def ttft(self, prompt, requests=1, tp=1):
        flops = (
            2 * requests * (prompt * L * LAYER + D * V)
            + 4 * L * H * DH * requests * prompt * (prompt + 1) / 2
        )
        moved = device_bytes(prompt * requests, prompt * requests, requests, tp=tp)
        return self.roof(flops / tp, moved) + self.link(prompt * requests, tp) + self.overhead

    def roof(self, flops, moved):
        """The roofline time of one device."""
        return max(flops / (self.mfu * FLOPS), moved / (self.mbu * BANDWIDTH))

    def link(self, tokens, tp):
        return 2 * L * (self.latency + 2 * (tp - 1) / tp * tokens * D * 2 / LINK) if tp > 1 else 0.0


CASES = [(256, 1), (1024, 4), (2048, 16), (2048, 64), (512, 256), (4096, 32), (8192, 8)]
"""Prompts and batches."""


def table(truth, noise=lambda i: 0.0, cases=CASES):
    """A CSV of both latencies."""
    lines = ["prompt,batch,ttft_ms,itl_ms"]
    for i, (prompt, batch) in enumerate(cases):
        ttft, itl = (
            truth.ttft(prompt) * (1 + noise(2 * i)),
            truth.itl(batch, prompt) * (1 + noise(2 * i + 1)),
        )
        # never a rounding above the roof
        lines.append(f"{prompt},{batch},{1e3 * ttft * (1 + 1e-12)!r},{1e3 * itl * (1 + 1e-12)!r}")
    return "\n".join(lines) + "\n"
