"""Layers of a GGUF file: the shapes of its tensors are the widths, the metadata says what shapes cannot.

Tensor names are those of ``gguf-py/gguf/constants.py`` (github.com/ggml-org/llama.cpp). Extents come inputs first: a matrix of n
outputs and k inputs has shape (k, n), experts a third extent.
"""

from dataclasses import dataclass
from typing import Any

from symroof.specs.checkpoints.ggml_types import TABLE
from symroof.specs.checkpoints.gguf_header import Header, Tensor


@dataclass(frozen=True)
class GgufLayer:
    """One block's tensors by their names without ``blk.N.``."""

    header: Header
    index: int
    tensors: dict[str, Tensor]

    def has(self, name: str) -> bool:
        return f"{name}.weight" in self.tensors

    def biased(self, *names: str) -> bool:
        return any(f"{name}.bias" in self.tensors for name in names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Extents of a tensor, a missing second one being 1."""
        tensor = self.tensors.get(f"{name}.weight")
        if tensor is None:
            raise self.header.problem(f"blk.{self.index}.{name}.weight", "is missing")
        return (*tensor.shape, 1)[: max(len(tensor.shape), 2)]

    def inputs(self, name: str) -> int:
        return self.shape(name)[0]

    def outputs(self, name: str) -> int:
        return self.shape(name)[1]

    def meta(self, key: str) -> int | None:
        """A whole number of the architecture's metadata; of one a layer, this layer's."""
        name = f"{self.header.metadata['general.architecture']}.{key}"
        value = self.header.metadata.get(name)
        if isinstance(value, list):
            if self.index >= len(value):
                raise self.header.problem(
                    name, f"has {len(value)} entries; layer {self.index} has none"
                )
            value = value[self.index]
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**8:
            raise self.header.problem(name, "expected a whole number")
        return value

    def needed(self, key: str) -> int:
        value = self.meta(key)
        if not value:
            name = f"{self.header.metadata['general.architecture']}.{key}"
            raise self.header.problem(
                name,
                "is missing" if value is None else f"is 0 in layer {self.index}, which needs one",
            )
        return value

    def split(self, name: str, total: int, parts: int) -> int:
        """An extent of a tensor shared out evenly."""
        if parts < 1 or total % parts or total < parts:
            raise self.header.problem(
                f"blk.{self.index}.{name}.weight",
                f"its extent of {total:,} cannot be shared by {parts:,}",
            )
        return total // parts


def layer_kind(layer: GgufLayer) -> dict[str, Any]:
    """One block as the fields of a layer kind, without its count."""
    wide = (layer.header.tensors["token_embd.weight"].shape[0], 1)
    tensors = (name.removesuffix(".weight") for name in layer.tensors if name.endswith(".weight"))
    norms = [name for name in tensors if name.endswith("norm") or "norm_" in name]
    counted = sum(name not in TABLE["inside"] and layer.shape(name) == wide for name in norms)
    fields: dict[str, Any] = {"norms": counted}
    if layer.has("attn_kv_a_mqa"):
        fields["attention"] = _latent(layer)
    elif layer.has("attn_q") or layer.has("attn_qkv"):
        fields["attention"] = _grouped(layer)
    if layer.has("ssm_in"):
        fields["mixer"] = _mamba(layer) if layer.has("ssm_x") else _mamba2(layer)
    fields["ffn"] = _experts(layer) if layer.has("ffn_gate_inp") else _feed_forward(layer)
    return fields


def _grouped(layer: GgufLayer) -> dict[str, Any]:
    n_heads = layer.needed("attention.head_count")
    fields: dict[str, Any] = {"kind": "gqa", "n_heads": n_heads}
    if layer.has("attn_qkv"):
        n_kv = layer.meta("attention.head_count_kv") or n_heads
        head_dim = layer.split("attn_qkv", layer.outputs("attn_qkv"), n_heads + 2 * n_kv)
    else:
        head_dim = layer.split("attn_q", layer.outputs("attn_q"), n_heads)
        n_kv = layer.split("attn_k", layer.outputs("attn_k"), head_dim)
        fields |= _values(layer, n_kv, head_dim)
    fields |= {"n_kv_heads": n_kv, "head_dim": head_dim}
    fields |= {
        "qkv_bias": layer.biased("attn_q", "attn_qkv"),
        "out_bias": layer.biased("attn_output"),
        "sinks": layer.has("attn_sinks"),
    }
    if layer.has("attn_q_norm"):
        of_head = layer.tensors["attn_q_norm.weight"].elements == head_dim
        fields["qk_norm"] = "head" if of_head else "full"
    window, longest = layer.meta("attention.sliding_window"), layer.meta("context_length")
    if window and not (longest and window >= longest) and slides_by_pattern(layer):
        fields["window"] = window
    return fields


def _values(layer: GgufLayer, n_kv: int, head_dim: int) -> dict[str, Any]:
    if not layer.has("attn_v"):
        return {"value_is_key": True}
    width = layer.split("attn_v", layer.outputs("attn_v"), n_kv)
    return {} if width == head_dim else {"value_dim": width}


def slides_by_pattern(layer: GgufLayer) -> bool | None:
    """Whether a layer slides, by the file's pattern or else the architecture's; None where neither says."""
    architecture = str(layer.header.metadata["general.architecture"])
    pattern = layer.header.metadata.get(f"{architecture}.attention.sliding_window_pattern")
    if isinstance(pattern, list):
        return bool(pattern[layer.index % len(pattern)]) if pattern else None
    whole = isinstance(pattern, int) and not isinstance(pattern, bool)
    period = (
        layer.meta("attention.sliding_window_pattern")
        if whole
        else TABLE["periods"].get(architecture)
    )
    return None if period is None else period == 0 or layer.index % period < period - 1


def _latent(layer: GgufLayer) -> dict[str, Any]:
    n_heads = layer.needed("attention.head_count")
    rank = layer.inputs("attn_kv_a_norm")
    rope = layer.outputs("attn_kv_a_mqa") - rank
    wide = "attn_q_b" if layer.has("attn_q_b") else "attn_q"
    nope = layer.split(wide, layer.outputs(wide), n_heads) - rope
    if rope < 1 or nope < 1:
        raise layer.header.problem(
            f"blk.{layer.index}.attn_kv_a_mqa.weight", "its extents leave no room for a rotated key"
        )
    value = layer.split("attn_output", layer.inputs("attn_output"), n_heads)
    fields = {
        "kind": "mla",
        "n_heads": n_heads,
        "kv_lora_rank": rank,
        "qk_nope_dim": nope,
        "qk_rope_dim": rope,
        "value_dim": value,
    }
    return fields | ({"q_lora_rank": layer.inputs("attn_q_b")} if wide == "attn_q_b" else {})


def _feed_forward(layer: GgufLayer) -> dict[str, Any]:
    if not layer.has("ffn_down"):
        return {"kind": "none"}
    d_ff = layer.inputs("ffn_down")
    # both in one tensor: phi3, glm4
    gated = layer.has("ffn_gate") or layer.outputs("ffn_up") == 2 * d_ff
    bias = layer.biased("ffn_up", "ffn_down")
    return {"kind": "gated" if gated else "plain", "d_ff": d_ff, "bias": bias}


def _experts(layer: GgufLayer) -> dict[str, Any]:
    merged = layer.has("ffn_down_exps")
    down = "ffn_down_exps" if merged else "ffn_down.0"
    n_experts = layer.outputs("ffn_gate_inp")
    fields: dict[str, Any] = {
        "kind": "moe",
        "n_experts": n_experts,
        "experts_per_token": layer.needed("expert_used_count"),
        "d_expert": layer.inputs(down),
    }
    gated = any(layer.has(name) for name in ("ffn_gate_exps", "ffn_gate_up_exps", "ffn_gate.0"))
    fields |= {
        "expert": "gated" if gated else "plain",
        "bias": layer.biased("ffn_down_exps"),
        "router_bias": layer.biased("ffn_gate_inp", "exp_probs_b"),
    }
    if layer.has("ffn_down_shexp"):
        together, shared = layer.inputs("ffn_down_shexp"), layer.meta("expert_shared_count") or 1
        shared = shared if together % shared == 0 else 1
        fields |= {
            "n_shared_experts": shared,
            "d_shared": together // shared,
            "shared_gate": layer.has("ffn_gate_inp_shexp"),
        }
    return fields


def _mamba(layer: GgufLayer) -> dict[str, Any]:
    rank = layer.inputs("ssm_dt")
    state = layer.split("ssm_x", layer.outputs("ssm_x") - rank, 2)
    inner = layer.inputs("ssm_out")
    return {
        "kind": "mamba",
        "d_inner": inner,
        "d_state": state,
        "d_conv": layer.inputs("ssm_conv1d"),
        "dt_rank": rank,
        "conv_bias": layer.biased("ssm_conv1d"),
        "mixer_norm": layer.has("ssm_dt_norm"),
    }


def _mamba2(layer: GgufLayer) -> dict[str, Any]:
    inner, groups = layer.inputs("ssm_out"), layer.meta("ssm.group_count") or 1
    state = layer.split("ssm_conv1d", layer.outputs("ssm_conv1d") - inner, 2 * groups)
    return {
        "kind": "mamba2",
        "d_inner": inner,
        "d_state": state,
        "d_conv": layer.inputs("ssm_conv1d"),
        "ssm_heads": layer.needed("ssm.time_step_rank"),
        "ssm_groups": groups,
        "conv_bias": layer.biased("ssm_conv1d"),
        "mixer_norm": layer.has("ssm_norm"),
    }
