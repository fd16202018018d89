# SPDX-License-Identifier: MIT
"""Configs of models and what their attention modules make of them: tests/layers-config/NAME.json and NAME.facts.

    python tests/golden/make_configs.py tests/layers-config

Every case is a model of transformers, built with few layers from the config that is written; what is expected is asked
of the modules themselves (scale, window, causality, eps) and of the config as transformers has completed it (heads,
rotation). A case whose name ends in "-published" says the same in the style of published configs, before transformers 5.

A line "= PART CROSS LAYER COLUMNS" begins a module, the lines after it are its settings. Made with transformers 5.23.
"""

import json
import os
import sys

import torch
from transformers import AutoModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

SMALL = {"hidden_size": 48, "num_hidden_layers": 7, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 12,
         "intermediate_size": 32, "vocab_size": 50, "pad_token_id": 0, "max_position_embeddings": 64, "image_size": 32,
         "patch_size": 8, "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 5}
LATENT = {"kv_lora_rank": 16, "q_lora_rank": 20, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 12,
          "n_routed_experts": 2, "n_shared_experts": 1, "first_k_dense_replace": 7, "num_key_value_heads": 6,
          "num_nextn_predict_layers": 0}
TOWERS = {"d_model": 48, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 6, "vocab_size": 50,
          "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
YARN = {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 16,
        "mscale": 0.7, "mscale_all_dim": 0.9, "rope_theta": 10000.0}


def rope(kind, **rest):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 1000.0, **rest}}


# Name, model_type, what differs from SMALL.
CASES = [
    ("bert", "bert", {}),
    ("bert-decoder", "bert", {"is_decoder": True}),
    ("vit", "vit", {}),
    ("clip-text", "clip_text_model", {}),
    ("clip-vision", "clip_vision_model", {}),
    ("gpt2-plain", "gpt2", {"n_embd": 48, "n_layer": 3, "n_head": 6, "scale_attn_weights": False}),
    ("gpt2-layers", "gpt2", {"n_embd": 48, "n_layer": 3, "n_head": 6, "scale_attn_by_inverse_layer_idx": True}),
    ("neox", "gpt_neox", rope("default", partial_rotary_factor=0.5)),
    ("gptj", "gptj", {"n_embd": 48, "n_layer": 2, "n_head": 6, "rotary_dim": 4}),
    ("opt", "opt", {"ffn_dim": 32, "word_embed_proj_dim": 48}),
    ("opt-after", "opt", {"ffn_dim": 32, "word_embed_proj_dim": 48, "do_layer_norm_before": False}),
    ("bloom", "bloom", {"n_layer": 2, "n_head": 6}),
    ("mpt", "mpt", {"d_model": 48, "n_layers": 2, "n_heads": 6, "attn_config": {"clip_qkv": 0.9, "softmax_scale": 0.4}}),
    ("falcon-7b", "falcon", {}),
    ("falcon-40b", "falcon", {"new_decoder_architecture": True, "num_kv_heads": 2}),
    ("falcon-rw", "falcon", {"alibi": True, "multi_query": False}),
    ("llama", "llama", {}),
    ("llama-3", "llama", rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                              original_max_position_embeddings=32)),
    ("llama-linear", "llama", rope("linear", factor=3.0)),
    ("llama-dynamic", "llama", rope("dynamic", factor=2.0)),
    ("mistral", "mistral", {}),
    ("mistral-nemo", "mistral", {"sliding_window": None, "head_dim": 20}),
    ("qwen2", "qwen2", {}),
    ("qwen2-slides", "qwen2", {"use_sliding_window": True, "max_window_layers": 3}),
    ("qwen3", "qwen3", {}),
    ("gemma2", "gemma2", {"query_pre_attn_scalar": 7}),
    ("gemma3", "gemma3_text", {"query_pre_attn_scalar": 7}),
    ("gemma3-both-ways", "gemma3_text", {"use_bidirectional_attention": True, "sliding_window": 6}),
    ("phi3-long", "phi3", {"original_max_position_embeddings": 16,
                           **rope("longrope", short_factor=[1.0, 1.1, 1.25, 1.5], long_factor=[2.0, 3.0, 4.5, 6.0])}),
    ("phi4", "phi3", rope("default", partial_rotary_factor=0.75)),
    ("gpt-oss", "gpt_oss", rope("yarn", factor=32.0, truncate=False, original_max_position_embeddings=4096)),
    ("deepseek-v2", "deepseek_v2", {**LATENT, "rope_parameters": dict(YARN)}),
    ("deepseek-v3", "deepseek_v3", {**LATENT, "rope_parameters": dict(YARN)}),
    ("deepseek-v3-halves", "deepseek_v3", {**LATENT, "rope_interleave": False}),
    ("olmo2", "olmo2", {}),
    ("cohere", "cohere", {"use_qk_norm": True}),
    ("cohere2", "cohere2", {}),
    ("modernbert", "modernbert", {"local_attention": 6}),
    ("smollm3", "smollm3", {}),
    ("granite", "granite", {"attention_multiplier": 0.3}),
    ("t5", "t5", {"d_model": 48, "num_layers": 2, "num_heads": 6, "d_kv": 12, "d_ff": 32,
                  "relative_attention_max_distance": 20}),
    ("whisper", "whisper", {**TOWERS, "num_mel_bins": 8, "pad_token_id": 0, "decoder_start_token_id": 2}),
]


def number(value):
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def build(model_type, changes):
    """The config, and the model that is made of it."""
    fields = CONFIG_MAPPING[model_type]()
    small = {key: value for key, value in SMALL.items() if hasattr(fields, key)}
    if any(key in changes for key in ("n_embd", "n_layer", "d_model", "kv_lora_rank")) or model_type == "falcon":
        small = {key: value for key, value in small.items()
                 if key in ("vocab_size", "num_hidden_layers", "hidden_size", "pad_token_id", "num_attention_heads",
                            "intermediate_size", "max_position_embeddings", "num_experts_per_tok")
                 and key not in getattr(fields, "attribute_map", {})}
    config = CONFIG_MAPPING[model_type](**{**small, **changes})
    torch.manual_seed(0)
    return config, AutoModel.from_config(config, attn_implementation="eager")


def scaling(parameters, config):
    """The rotation's scaling as --rope-scaling has it, or None."""
    kind, get = parameters["rope_type"], parameters.get
    old = getattr(config, "original_max_position_embeddings", None) or get("original_max_position_embeddings")
    words = {
        "default": [],
        "linear": [("factor", get("factor"))],
        "dynamic": [("factor", get("factor")), ("old", config.max_position_embeddings)],
        "llama3": [("factor", get("factor")), ("low", get("low_freq_factor")), ("high", get("high_freq_factor")),
                   ("old", old)],
        "yarn": [("factor", get("factor")), ("fast", get("beta_fast") or 32), ("slow", get("beta_slow") or 1),
                 ("old", old)],
        "longrope": [("old", old), ("max", config.max_position_embeddings)],
    }[kind]
    text = ",".join(f"{key}={number(value)}" for key, value in words)
    factor = attention_factor(config)
    if kind == "yarn" and get("mscale"):
        text += f",attention={number(factor)}"
    if kind == "yarn" and get("truncate") is False:
        text += ",truncate=no"
    if kind == "longrope":
        lists = (";".join(number(x) for x in get(f"{word}_factor")) for word in ("short", "long"))
        text += f",attention={number(factor)},short={next(lists)},long={next(lists)}"
    return f"{kind}:{text}" if words else None


def attention_factor(config):
    """What cos and sin are multiplied with, by transformers' own functions."""
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    kind = config.rope_parameters.get("rope_type", "default")
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu")[1] if kind != "default" else 1.0


KINDS = {"gptj": "pairs", "cohere": "pairs", "cohere2": "pairs", "deepseek_v2": "pairs"}


def rotation(config, module, layer):
    """rope, rope_theta, rope_columns and rope_scaling."""
    kind = config.model_type
    slides = getattr(config, "layer_types", None) and config.layer_types[layer] == "sliding_attention"
    off = (kind == "falcon" and config.alibi) or (kind == "cohere2" and not slides) or (
        kind == "smollm3" and not config.no_rope_layers[layer])
    if kind == "gptj":
        return {"rope": "pairs", "rope_theta": "10000", "rope_columns": str(config.rotary_dim)}
    parameters = getattr(config, "rope_parameters", None)
    if not parameters or off:
        return {"rope": "none"}
    if "full_attention" in parameters:
        parameters = parameters[config.layer_types[layer]]
    facts = {"rope": KINDS.get(kind, "half"), "rope_theta": number(parameters["rope_theta"])}
    if kind == "deepseek_v3" and config.rope_interleave:
        facts["rope"] = "pairs-to-halves"
    if kind.startswith("deepseek"):
        facts["rope_columns"] = f"last:{config.qk_rope_head_dim}"
    elif parameters.get("partial_rotary_factor", 1.0) != 1.0:
        facts["rope_columns"] = str(int(columns_of(module) * parameters["partial_rotary_factor"]))
    text = scaling(parameters, config)
    return {**facts, "rope_scaling": text} if text else facts


def columns_of(module):
    """Of a head of the query."""
    names = ("qk_head_dim", "head_dim", "head_size", "attention_head_size", "key_value_proj_dim")
    return next(getattr(module, name) for name in names if hasattr(module, name))


def scale_of(module):
    if type(module).__name__ == "GPTJAttention":
        return 1 / module.scale_attn
    for name in ("scaling", "softmax_scale", "inv_norm_factor", "scale"):
        if hasattr(module, name):
            return getattr(module, name)
    return columns_of(module) ** -0.5


def window_of(config, module, causal):
    """None where no key says so."""
    window = getattr(module, "sliding_window", None)
    if config.model_type in ("mistral", "phi3"):
        window = config.sliding_window
    if window is None:
        return None
    if config.model_type == "modernbert":
        return f"{window - 1},{window - 1}"
    return f"{window - 1},0" if causal else f"{window - 1},{window - 1}"


def key_heads(config, heads):
    if config.model_type == "falcon":
        return config.num_kv_heads if config.new_decoder_architecture else 1 if config.multi_query else heads
    if config.model_type.startswith("deepseek") or config.is_encoder_decoder:
        return heads
    return getattr(config, "num_key_value_heads", None) or heads


def modules_of(model):
    """(part, cross, layer, module) of each attention module, by its name."""
    for name, module in model.named_modules():
        kind = type(module).__name__
        if not kind.endswith("Attention") or any(child is not module and type(child).__name__.endswith("Attention")
                                                 for child in module.modules()):
            continue
        part = "decoder" if name.startswith("decoder.") and model.config.is_encoder_decoder else \
            "encoder" if model.config.is_encoder_decoder else "only"
        cross = "EncDec" in name or "encoder_attn" in name
        yield part, cross, int([word for word in name.split(".") if word.isdigit()][0]), module


def facts_of(config, part, cross, layer, module):
    heads = {"decoder": getattr(config, "decoder_attention_heads", None),
             "encoder": getattr(config, "encoder_attention_heads", None)}.get(part) or config.num_attention_heads
    never = config.model_type in ("vit", "clip_vision_model", "modernbert") or part == "encoder" or cross
    causal = not never and (config.model_type != "bert" or config.is_decoder) and not getattr(
        config, "use_bidirectional_attention", False)
    facts = {"heads": number(heads), "kv_heads": number(key_heads(config, heads)),
             "causal": "true" if causal else "false", "scale": number(scale_of(module)),
             **rotation(config, module, layer)}
    window = window_of(config, module, causal)
    if window is not None:
        facts["window"] = window
    if getattr(module, "attn_logit_softcapping", None) and config.model_type == "gemma2":
        facts["softcap"] = number(module.attn_logit_softcapping)
    if config.model_type == "mpt":
        facts["clip"] = number(module.clip_qkv)
    if config.model_type in ("opt", "whisper"):
        facts["scale_on"] = "query"
    if config.model_type == "t5":
        facts["relative_distance"] = number(module.relative_attention_max_distance)
    norm = getattr(module, "q_norm", None) or getattr(module, "q_a_layernorm", None)
    if norm is not None:
        facts["qk_norm_eps"] = number(getattr(norm, "eps", None) or norm.variance_epsilon)
    return facts


def publish(config):
    """The same config before transformers 5: rope_theta and rope_scaling beside each other, no layer_types."""
    config = {key: value for key, value in config.items() if key not in ("layer_types", "rope_parameters")} | {
        "rope_parameters": config.get("rope_parameters")}
    parameters = config.pop("rope_parameters")
    names = {"gemma3_text": ("rope_theta", "rope_local_base_freq"),
             "modernbert": ("global_rope_theta", "local_rope_theta")}.get(config["model_type"])
    if parameters and names:
        config[names[0]], config[names[1]] = (parameters[kind]["rope_theta"]
                                              for kind in ("full_attention", "sliding_attention"))
    elif parameters:
        parameters = dict(parameters)
        neox = config["model_type"] == "gpt_neox"
        config["rotary_emb_base" if neox else "rope_theta"] = parameters.pop("rope_theta")
        if "partial_rotary_factor" in parameters:
            config["rotary_pct" if neox else "partial_rotary_factor"] = parameters.pop("partial_rotary_factor")
        kind = parameters.pop("rope_type")
        config["rope_scaling"] = None if kind == "default" else {"type": kind, **parameters}
        if config["model_type"] == "phi3" and config["rope_scaling"]:
            config["rope_scaling"]["type"] = "su"
    return config


def write(folder, name, config, model):
    saved = {key: value for key, value in json.loads(config.to_json_string(use_diff=False)).items()
             if not key.startswith("_") and key not in ("id2label", "label2id", "transformers_version")}
    styles = {name: saved}
    if saved.get("rope_parameters"):
        styles[f"{name}-published"] = publish(saved)
    lines = []
    for part, cross, layer, module in modules_of(model):
        lines.append(f"= {part} {int(cross)} {layer} {columns_of(module)}")
        lines += [f"{key} {value}" for key, value in facts_of(config, part, cross, layer, module).items()]
    for style, saved in styles.items():
        with open(os.path.join(folder, f"{style}.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(saved, indent=1) + "\n")
        with open(os.path.join(folder, f"{style}.facts"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return len(styles)


def main():
    count = 0
    for name, model_type, changes in CASES:
        count += write(sys.argv[1], name, *build(model_type, changes))
    print(f"{count} configs of {len(CASES)} models")


main()
