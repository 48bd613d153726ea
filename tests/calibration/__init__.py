"""Times of Llama 3.1 8B on an H100 by formulas of the tests' own: nothing of the engine is used to make them."""

from dataclasses import dataclass

L, D, H, HKV, DH, DFF, V = 32, 4096, 32, 8, 128, 14336, 128256
LAYER = D * H * DH + 2 * D * HKV * DH + H * DH * D + 3 * D * DFF
MATRICES = L * LAYER + D * V
ACTIVATIONS = L * ((D + (H + 2 * HKV) * DH) + 2 * H * DH + (H * DH + D) + (D + 2 * DFF) + (DFF + D))
FLOPS, BANDWIDTH, LINK = 989.4e12, 3.35e12, 450e9


@dataclass(frozen=True)
class Truth:
    """What the made-up machine reaches."""

    mfu: float = 0.56
    mbu: float = 0.82
    overhead: float = 0.9e-3
    latency: float = 0.0

    def itl(self, batch, context, tp=1):
        flops = 2 * batch * MATRICES + 4 * L * H * DH * context * batch
        moved = 2 * MATRICES + 2 * (2 * L * HKV * DH) * context * batch + 2 * batch * (ACTIVATIONS + D + V)
        return self.roof(flops, moved, tp) + self.link(batch, tp) + self.overhead

    def ttft(self, prompt, requests=1, tp=1):
        flops = 2 * requests * (prompt * L * LAYER + D * V) + 4 * L * H * DH * requests * prompt * (prompt + 1) / 2
        moved = 2 * MATRICES + 2 * (2 * L * HKV * DH) * prompt * requests + 2 * requests * (prompt * ACTIVATIONS + D + V)
        return self.roof(flops, moved, tp) + self.link(prompt * requests, tp) + self.overhead

    def roof(self, flops, moved, tp):
        return max(flops / (tp * self.mfu * FLOPS), moved / (tp * self.mbu * BANDWIDTH))

    def link(self, tokens, tp):
        return 2 * L * (self.latency + 2 * (tp - 1) / tp * tokens * D * 2 / LINK) if tp > 1 else 0.0


CASES = [(256, 1), (1024, 4), (2048, 16), (2048, 64), (512, 256), (4096, 32), (8192, 8)]
"""Prompts and batches."""


def table(truth, noise=lambda i: 0.0, cases=CASES):
    """A CSV of both latencies."""
    lines = ["prompt,batch,ttft_ms,itl_ms"]
    for i, (prompt, batch) in enumerate(cases):
        ttft, itl = truth.ttft(prompt) * (1 + noise(2 * i)), truth.itl(batch, prompt) * (1 + noise(2 * i + 1))
        lines.append(f"{prompt},{batch},{1e3 * ttft * (1 + 1e-12)!r},{1e3 * itl * (1 + 1e-12)!r}")  # never a rounding above the roof
    return "\n".join(lines) + "\n"
