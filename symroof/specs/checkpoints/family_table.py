"""The table of families: ``model_type`` of a ``config.json`` to what its fields mean."""

from collections.abc import Mapping
from dataclasses import dataclass

from symroof.specs.checkpoints.dense import DENSE_FAMILIES
from symroof.specs.checkpoints.experts import EXPERT_FAMILIES
from symroof.specs.checkpoints.family import Family
from symroof.specs.checkpoints.gemma_mllama import GEMMA_MLLAMA_FAMILIES
from symroof.specs.checkpoints.older_dense import OLDER_FAMILIES
from symroof.specs.checkpoints.recent import RECENT_FAMILIES
from symroof.specs.checkpoints.recurrent import RECURRENT_FAMILIES
from symroof.specs.checkpoints.sparse_attention import SPARSE_ATTENTION_FAMILIES

FAMILIES: Mapping[str, Family] = {
    **DENSE_FAMILIES,
    **OLDER_FAMILIES,
    **EXPERT_FAMILIES,
    **RECURRENT_FAMILIES,
    **GEMMA_MLLAMA_FAMILIES,
    **RECENT_FAMILIES,
    **SPARSE_ATTENTION_FAMILIES,
}

SAME_AS = {
    "kimi_k2": "deepseek_v3",
    "minimax_m3": "minimax_m3_vl_text",
    "mimo": "qwen2",
    "bailing_moe_v2": "bailing_moe",
    "deepseek_ref": "deepseek_v4",
    "minimax_text_01": "minimax",
    "minimax_m1": "minimax",
}
"""Types without a class in transformers whose repositories carry the code of another family."""


@dataclass(frozen=True)
class Wrapper:
    """A multimodal type: the family of its language model where the file does not name one.

    Attributes:
        family: the ``model_type`` of the language model by default.
        tied: the class's default for tying the embeddings; None where the language model's own holds.
        forwards: whether a language model that says it is tied makes the whole so (older files say it there).
    """

    family: str
    tied: bool | None = None
    forwards: bool = False


WRAPPERS: Mapping[str, Wrapper] = {
    "qwen3_omni_moe": Wrapper("qwen3_omni_moe_text", False), "qwen3_omni_moe_thinker": Wrapper("qwen3_omni_moe_text", False),
    "qwen2_5_omni": Wrapper("qwen2_5_omni_text", False), "qwen2_5_omni_thinker": Wrapper("qwen2_5_omni_text", False),
    "aya_vision": Wrapper("cohere2", True), "cohere2_vision": Wrapper("cohere2", True), "deepseek_vl": Wrapper("llama", True),
    "deepseek_vl_hybrid": Wrapper("llama", True), "fast_vlm": Wrapper("qwen2", False, True), "gemma3": Wrapper("gemma3_text", True),
    "gemma3n": Wrapper("gemma3n_text", True), "gemma4": Wrapper("gemma4_text", True), "glm46v": Wrapper("glm4v_text", False),
    "glm4v": Wrapper("glm4v_text", False, True), "glm4v_moe": Wrapper("glm4v_moe_text", False, True), "got_ocr2": Wrapper("qwen2", True),
    "granite_speech": Wrapper("granite", True), "idefics2": Wrapper("mistral", False), "idefics3": Wrapper("llama", False),
    "internvl": Wrapper("qwen2", True), "janus": Wrapper("llama", True), "kimi_k25": Wrapper("deepseek_v3", True), "lfm2_vl": Wrapper("lfm2", True),
    "llama4": Wrapper("llama4_text", False), "llava": Wrapper("llama", False, True), "llava_next": Wrapper("llama", False),
    "llava_next_video": Wrapper("llama", False, True), "llava_onevision": Wrapper("qwen2", False, True), "mistral3": Wrapper("mistral", True),
    "minimax_m3_vl": Wrapper("minimax_m3_vl_text", False, True), "moss_transcribe_diarize": Wrapper("qwen3", True), "step3_vl": Wrapper("step3_text"),
    "step3p7": Wrapper("step3p5", False), "emu3": Wrapper("emu3_text_model", False), "dots3_note": Wrapper("dots3_note_text"),
    "mllama": Wrapper("mllama_text_model"), "ovis2": Wrapper("qwen2", True), "paligemma": Wrapper("gemma", True), "qwen2_5_vl": Wrapper("qwen2_vl_text", False, True),
    "qwen2_audio": Wrapper("qwen2"), "qwen2_vl": Wrapper("qwen2_vl_text", False, True), "qwen3_5": Wrapper("qwen3_5_text", False),
    "qwen3_5_moe": Wrapper("qwen3_5_moe_text", False), "qwen3_vl": Wrapper("qwen3_vl_text", False), "qwen3_vl_moe": Wrapper("qwen3_vl_moe_text", False),
    "smolvlm": Wrapper("llama", False), "vipllava": Wrapper("llama", False), "voxtral": Wrapper("llama"),
}  # fmt: skip
"""Read from the configuration classes of transformers 5.23.0, with and without the field in either place."""

ENCODER = "its layers are an encoder's, which the class can also run as a decoder"
DECODER_OF_TWO = "it is the decoder of a pair with an encoder; models of one decoder are read"
DRAFT = "it only drafts for another model, whose cache it reads"
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        ("bert", "bert-generation", "big_bird", "camembert", "data2vec-text", "electra", "ernie", "megatron-bert", "reformer", "rembert", "roberta",
         "roberta-prelayernorm", "roc_bert", "roformer", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xmod"), ENCODER,
    ),
    **dict.fromkeys(
        ("bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "marian", "mbart", "musicgen", "musicgen_melody", "mvp", "pegasus", "plbart", "prophetnet",
         "trocr", "whisper"), DECODER_OF_TWO,
    ),
    **dict.fromkeys(("gemma4_assistant", "gemma4_unified_assistant"), DRAFT),
    "blt": "it reads bytes in patches of a length that depends on the text, with a model for each of three levels",
    "cpmant": "its attention has a learned bias for the distances of a segmented prompt",
    "git": "its decoder reads the features of an image encoder beside the text",
    "moshi": "it writes sound with a second model that runs for each token",
    "axk2": "its queries and the gate of its attention come from one matrix over two bottlenecks, and its norms are gated",
    "doge": "its masks and its residuals are learned, and its experts are single rows of a table",
    "dory": "its middle layers run several times with the same weights",
    "hrm_text": "its layers run several times with the same weights, in two modules at different rates",
    "inkling2_loop_text": "its layers run several times with the same weights",
    **dict.fromkeys(("inkling_text", "inkling2_text"), "short convolutions run over its residual, its keys and its values, and positions are learned scores"),
    "jetmoe": "its attention has experts for the projections of queries and results",
    "modernbert-decoder": ENCODER,
    "qwen4_exp_text": "rows of a table for runs of tokens are added to some of its layers, and its residual passes through a bottleneck",
    "xlstm": "its recurrence is a matrix memory with exponential gates (mLSTM)",
    "zaya": "its keys and queries pass through convolutions before they are scored, and its router has layers of its own",
}  # fmt: skip
"""Types that transformers can load and that are not read, with the reason."""

NESTED = ("text_config", "language_config", "llm_config", "thinker_config", "language_model_config")
"""Fields that hold the language model of a multimodal one."""


def family_of(model_type: str) -> Family | None:
    """The family of a type."""
    return FAMILIES.get(SAME_AS.get(model_type, model_type))


def known_types() -> list[str]:
    """Every ``model_type`` that can be read."""
    return sorted({*FAMILIES, *SAME_AS, *WRAPPERS})
