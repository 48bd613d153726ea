"""What of a ``config.json`` was not read: keys that no recipe took, less those known to change no parameter, byte or operation.

A number from a file that is understood by halves is wrong without a sign of it, so what is left is named; where a family is only assumed, a key that
could carry structure stops the reading.
"""

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from symroof.specs.checkpoints.config_fields import Config
from symroof.specs.checkpoints.family import Family, families, table
from symroof.strict_yaml import Location


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


OTHER_PARTS = (
    "vision_config",
    "audio_config",
    "vit_config",
    "speech_config",
    "talker_config",
    "code2wav_config",
    "token2wav_config",
    "vq_config",
    "encoder_config",
    "perceiver_config",
    "projector_config",
    "vision_tower_config",
    "audio_encoder_config",
    "sound_config",
    "mm_projector_config",
    "qformer_config",
    "vision_encoder",
    "multimodal",
)
"""Objects that describe parts for images and sounds, which are counted nowhere and said to be left aside."""
AHEAD = (
    "num_nextn_predict_layers",
    "num_mtp_layers",
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "mtp_num_layers",
)
"""How many further layers predict tokens ahead: said to be left aside."""


@lru_cache(maxsize=1)
def no_effect() -> frozenset[str]:
    """Keys that change nothing that is counted: what the file is called, how text is chosen, activations, scales, rotations, losses, initial values."""
    return frozenset(table()["no_effect"])


NO_EFFECT_ENDS = re.compile(
    r".*(?:_token_ids?|_token_index|_tokens?_index|dropout(?:_rate|_prob)?|_eps|_epsilon|_loss_coef|_loss_weight|_prompt_template)"
)

PAIRED = ("add_cross_attention", "is_encoder_decoder")
"""Fields that give the layers of a decoder an attention to an encoder, in any class that has them."""
BIASES = re.compile(r"(?:.*_)?bias(?:_.*)?")
OFF = frozenset(
    [
        *PAIRED,
        "use_bidirectional_attention",
        "shared_intermediate_size",
        "shared_expert_intermediate_size",
        "use_qk_norm",
        "qk_layernorm",
        "moe_layer_num_skipped",
        "use_mla",
        "use_cla",
        "first_k_dense_replace",
        "num_kv_shared_layers",
        "sliding_window",
        "n_shared_experts",
        "num_shared_experts",
        "use_post_norm",
        "attention_output_gate",
        "num_reward_heads",
    ]
)
"""Keys that change nothing where they are off (biases are others)."""
ONE = _words("""
moe_layer_freq decoder_sparse_step interleave_moe_layer_step moe_every_n_layers expert_interval moe_layer_interval
""")
"""Keys that change nothing where they are 1: every layer."""
WINDOWED = frozenset(["sliding_window", "max_window_layers", "sliding_window_size"])
"""Keys that change nothing where the file switches windows off."""
REPEATED = {
    "experts_per_token": "num_experts_per_tok",
    "num_heads": "num_attention_heads",
    "n_layer": "num_hidden_layers",
    "n_layers": "num_hidden_layers",
    "num_layers": "num_hidden_layers",
    "dim": "hidden_size",
    "block_dim": "hidden_size",
    "conv_dim": "hidden_size",
    "conv_dim_out": "hidden_size",
    "n_embd": "hidden_size",
    "d_model": "hidden_size",
    "n_head": "num_attention_heads",
    "n_heads": "num_attention_heads",
    "sliding_window_size": "sliding_window",
    "attention_head_dim": "head_dim",
    "layer_switch": "sliding_window_pattern",
    "max_window_layers": "num_hidden_layers",
    "attention_window": "sliding_window",
    "moe_intermediate_size": "intermediate_size",
}
"""Keys that repeat another, and change nothing where they are equal to it."""
ONE_KIND = {
    "layer_types": ("full_attention", "attention"),
    "mlp_layer_types": ("dense",),
    "attn_type_list": (1,),
}
"""Lists of a word for each layer that change nothing where every layer is the plain one."""

WORDS = _words("""
activated attention attn block blocks cache chunk compress compressed compression compressor conv cross dense depth dim dims embd embedding embeddings
every expand expansion expert experts factor ffn freq frequency gate group groups hash head heads hidden idx idxs index indexer indices interleave
interleaved interval kernel kv latent layer layers linear local lora mamba memory mla mlp moe ngram norm num offset pattern patterns period proj
projection rank ranks ratio ratios recurrent recurrence repeat residual sequence share shared sharing sink sinks size sizes skip sliding sparse sparsity
ssm state states step stride swa top topk type types width window windows
""")
"""Words in the names of keys that carry structure."""
MOST_NAMED = 12


def unread(c: Config, without_effect: Collection[str]) -> list[tuple[Location, bool]]:
    """The keys of a file that nothing took and that are not ``without_effect`` in its family, those that could carry structure (true) first, each with its place."""
    left = [
        (place, could_be_structure(place[-1], value)) for place, value in _left(c, without_effect)
    ]
    return sorted(left, key=lambda entry: not entry[1])


def unread_text(left: list[tuple[Location, bool]]) -> str:
    """The keys in a sentence."""
    names = [".".join(map(str, place)) for place, _ in left]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def could_be_structure(key: object, value: Any) -> bool:
    """Whether a key of unknown meaning could say what a layer is made of: by a word of its name, or because it counts or lists something.

    >>> could_be_structure("engram_vocab", 8), could_be_structure("expert_pattern", "abc"), could_be_structure("comment", "abc")
    (True, True, False)
    """
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower())
    counts = isinstance(value, (int, list, dict)) and not isinstance(value, bool)
    return counts or bool(WORDS & set(words))


def _left(c: Config, without_effect: Collection[str]) -> Iterator[tuple[Location, Any]]:
    """Every key around and in the language model that nothing took and that may have an effect."""
    data: Mapping[str, Any] = c.document.data
    for depth in range(len(c.place) + 1):
        inside = c.place[depth] if depth < len(c.place) else None
        for key, value in data.items():
            place = (*c.place[:depth], key)
            aside = (
                key == inside
                or (key in OTHER_PARTS and isinstance(value, dict))
                or (inside and _is_repeated(value, c.data.get(key)))
            )
            if aside or _is_known(c, without_effect, place, value):
                continue
            yield from _left_inside(c, without_effect, place, value)
        data = data[str(inside)] if inside else {}


def _left_inside(
    c: Config, without_effect: Collection[str], place: Location, value: Any
) -> Iterator[tuple[Location, Any]]:
    """A key, or, of an object that was looked into, those in it that nothing took."""
    if place not in c.consulted or not isinstance(value, dict):
        yield place, value
    else:
        for key, inner in value.items():
            if not _is_known(c, without_effect, (*place, key), inner):
                yield from _left_inside(c, without_effect, (*place, key), inner)


def _is_known(c: Config, without_effect: Collection[str], place: Location, value: Any) -> bool:
    """Whether a key was taken, states nothing, or changes nothing."""
    key = str(place[-1])
    if value is None or value == [] or value == {}:
        return True
    if place[:-1] == c.place and c.contradicts(key):
        return False
    if place in c.consulted and not isinstance(value, dict):
        return True
    if (
        key in no_effect()
        or key in without_effect
        or NO_EFFECT_ENDS.fullmatch(key)
        or key in AHEAD
        or key.startswith("mtp_")
        or key in c.known
    ):
        return True
    if key == "qk_head_dim":
        return value == sum(  # type: ignore[no-any-return]
            c.data.get(part, 0)
            for part in ("qk_nope_head_dim", "qk_rope_head_dim")
            if isinstance(c.data.get(part), int)
        )
    if key == "use_sliding_window" and value is False:
        return (*c.place, "sliding_window") not in c.consulted or c.data.get(
            "sliding_window"
        ) is None
    if value is False or value == 0:
        return key in OFF or bool(BIASES.fullmatch(key))
    if key in ONE_KIND and isinstance(value, list):
        return all(entry in ONE_KIND[key] for entry in value)
    if key in WINDOWED and not c.data.get("use_sliding_window", True):
        return True
    other = REPEATED.get(key, "")  # it may say again what another one says that was taken
    said = c.data.get(other, c.defaults.get(other)) if (*c.place, other) in c.consulted else None
    return (key in ONE and value == 1) or _is_repeated(value, said)


def _is_repeated(value: Any, read: Any) -> bool:
    """Whether a value, or every entry of a list, is the one that was read."""
    return read is not None and (
        value == read or (isinstance(value, list) and all(entry == read for entry in value))
    )


# ---------------------------------------------------------------- the family that leaves the least of a file unread

LEAST_SHARED = 5
"""Keys below which sharing them says nothing: every class has a width, a depth and a vocabulary."""
LIKE = 0.6
"""How alike two names are that are of one family; below it the commoner family, listed first, is the better guess."""
MOST_KEYS = 500
"""Keys of a file that is compared with the families; that of a real model has some hundred."""
NONE_KNOWN = (
    "no family that is known reads all of its keys: write a model spec (`symroof init model`)"
)


def nearest_family(c: Config, own: str) -> str:
    """A hint with the family that leaves the least of a file unread and has the least of its own to put in; ``own`` is the type that it names."""
    if len(c.document.data) + len(c.data) > MOST_KEYS:
        return NONE_KNOWN
    compared = (_compared(name, family, c, own) for name, family in families())
    (missing, _, shared, _), name, left = min(compared, key=lambda each: each[0])
    if -shared < LEAST_SHARED:
        return NONE_KNOWN
    if missing:
        return f"the nearest family by its keys is {name}, which does not know {left}; {NONE_KNOWN}"
    return f"the nearest by its keys is {name}: `--assume-family {name}` reads every one that could be structure, if its layers are built alike"


def _compared(
    name: str, family: Family, c: Config, own: str
) -> tuple[tuple[int, int, int, float], str, str]:
    """Keys that a family does not know, settings of its own that the file is silent about, keys that both have, likeness of its name."""
    tried = family.config(c.document, c.place, c.data)
    shared = c.data.keys() & family.keys
    tried.consulted.update((*c.place, key) for key in shared)
    left = [entry for entry in unread(tried, family.without_effect) if entry[1]]
    put_in = sum(
        bool(value) and not any(spelling in c.data for spelling in tried.spellings(key))
        for key, value in family.defaults.items()
    )
    alike = difflib.SequenceMatcher(None, own, name).ratio()
    score = (len(left), put_in, -len(shared), -alike if alike > LIKE else 0.0)
    return score, name, unread_text(left)
