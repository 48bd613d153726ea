"""The decoders that an installed transformers knows: their configurations and what their models hold.

``python -m tests.specs.checkpoints.decoders`` writes ``tests/data/decoders.json`` anew from the classes.
"""

import importlib
import json
import warnings

import yaml

from symroof.specs.checkpoints.family import table

from ...tables import words
from . import DATA

COUNTS = DATA / "decoders.json"
LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_blocks")
FEW = 6
SIZES_LEFT_OPEN = yaml.safe_load("""
dots1: {n_routed_experts: 8, n_shared_experts: 1, num_experts_per_tok: 2, first_k_dense_replace: 1}
hunyuan_v1_dense: {head_dim: 128}
hunyuan_v1_moe: {head_dim: 128}
ministral: {head_dim: 128}
cohere_compass_text: {rope_parameters: {full_attention: {rope_type: default, rope_theta: 10000.0}}}
nemotron: {num_key_value_heads: 8}
deepseek_v2: {num_experts_per_tok: 6}
dbrx: {attn_config: {rope_theta: 10000.0}}
""")
"""What a class needs before it can be built."""
SETTINGS = yaml.safe_load("""
deepseek_v32: {first_k_dense_replace: 2}
gpt_neo: {num_layers: 6, attention_types: [[[global, local], 3]]}
zamba: {num_hidden_layers: 9}
zamba2: {num_hidden_layers: 6, layers_block_type: [mamba, mamba, hybrid, mamba, hybrid, mamba]}
lfm2_moe: {num_hidden_layers: 4, layer_types: [conv, full_attention, conv, conv]}
gemma3n_text: {num_kv_shared_layers: 0}
smollm3: {use_sliding_window: true, sliding_window: 512}
qwen3: {use_sliding_window: true, max_window_layers: 2}
""")
"""More than a small number of layers, where that shows a rule."""
LEFT_OUT = words("transformers_version id2label label2id dtype architectures _name_or_path")


def types():
    """Every ``model_type`` whose model writes text from what it has written."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted({*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *OUTSIDE})


OUTSIDE = {
    "mistral4": ("mistral4", "Mistral4ForCausalLM"),
    "step3p5": ("step3p7", "Step3p7TextModel"),
    "emu3_text_model": ("emu3", "Emu3ForCausalLM"),
}
"""Decoders with a class that no automatic one leads to (that of Step lacks its head): its module and its name."""


BESIDE_THE_DECODER = ("embed_tokens_extend",)
"""Modules for images and sounds that a class has inside its decoder."""


def configuration(model_type, **fields):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type](**{**SIZES_LEFT_OPEN.get(model_type, {}), **fields})


def small(model_type):
    """A configuration of few layers, with the structure that the class gives to so many."""
    fields = json.loads(configuration(model_type).to_json_string(use_diff=False))
    layers = next((name for name in LAYERS if isinstance(fields.get(name), int)), None)
    return configuration(
        model_type, **{**({layers: FEW} if layers else {}), **SETTINGS.get(model_type, {})}
    )


def written(config):
    """What a file of the configuration says."""
    fields = json.loads(config.to_json_string(use_diff=False))
    return {name: value for name, value in fields.items() if name not in LEFT_OUT}


def parameters(config):
    """Parameters of the language model of a configuration, built without storage: those that two modules share once."""
    import torch
    from transformers import AutoModelForCausalLM

    with warnings.catch_warnings(), torch.device("meta"):
        warnings.simplefilter("ignore")
        if config.model_type in OUTSIDE:
            module, name = OUTSIDE[config.model_type]
            model = getattr(
                importlib.import_module(f"transformers.models.{module}.modeling_{module}"), name
            )(config)
        else:
            model = AutoModelForCausalLM.from_config(config)
    text = config.get_text_config(decoder=True)
    parts = [model] if text is config else [model.get_decoder(), model.get_output_embeddings()]
    named = [each for part in parts if part is not None for each in part.named_parameters()]
    held = {
        id(parameter): parameter.numel()
        for name, parameter in named
        if not any(word in name for word in BESIDE_THE_DECODER)
    }
    return sum(held.values()) - _never_used(config)


def _never_used(config):
    """LongCat's class holds the gate and up matrices of experts that compute nothing; the published model (560e9) does not. Step's lacks its head."""
    if config.model_type == "step3p5":
        return 0 if config.tie_word_embeddings else -config.vocab_size * config.hidden_size
    if config.model_type != "longcat_flash":
        return 0
    matrices = 2 * config.num_layers * config.zero_expert_num
    return matrices * config.expert_ffn_hidden_size * config.hidden_size


def measured(model_type):
    """What the offline tests know of a type."""
    entry = {}
    for kind, made in (("silent", configuration), ("small", small)):
        try:
            config = made(model_type)
            said = (
                {"with": SIZES_LEFT_OPEN.get(model_type, {})}
                if kind == "silent"
                else {"config": written(config)}
            )
            entry[kind] = {"params": parameters(config), **said}
        except Exception as error:  # a class that cannot be built as it is says so
            entry[f"no {kind}"] = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    return entry


def main():
    import transformers

    names = [name for name in types() if name in table()["families"]]
    how = f"Built on the meta device from the configuration classes of transformers {transformers.__version__}: parameters, shared ones once."
    COUNTS.write_text(
        json.dumps(
            {"how": how, "types": {name: measured(name) for name in names}}, separators=(",", ":")
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
