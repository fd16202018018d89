# SPDX-License-Identifier: MIT
"""GGUF files that `attn layer` reads, in tests/gguf.

    python3 tests/golden/make_gguf.py

Made with gguf 0.19.0, torch 2.15.0, safetensors 0.8.0 and numpy.

llama-3.1.gguf is that of llama-3 with the positions of Llama 3.1's training, parts-0000N-of-00003.gguf are llama-3 in
three parts. Any other NAME.gguf holds the attention of the case NAME of tests/layers, with the metadata, the names and the order of rows that
llama.cpp's converter writes; the expected stages are those of the case. A line of cases.txt is the name, the layer, and
options of attn for what a GGUF does not say.

type-ARCHITECTURE-TYPE.gguf is a module whose weights have that type; its expected output, in float64 of the weights
that the gguf package dequantises, is type-ARCHITECTURE-TYPE.npy, from
type-hidden-WIDTH.npy. As in files of llama-quantize,
rows that are no multiple of a block have another type, here Q8_0. The blocks of types that the package cannot quantise
are drawn.
"""

import glob
import json
import math
import os

import gguf
import numpy
import torch
from gguf import GGMLQuantizationType as Type
from safetensors.torch import load_file

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, OUT = os.path.join(HERE, "../layers"), os.path.join(HERE, "../gguf")


def add(writer, key, value):
    """A value of the metadata, in the type that the converter gives it."""
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, list):
        writer.add_array(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    else:
        writer.add_uint32(key, value)


def write(name, arch, values, tensors, kind=Type.BF16, most=0):
    """Vectors are float32, as the converter has them; matrices are of `kind`, or as they come. `most`: tensors of a
    part; 0: there is one."""
    writer = gguf.GGUFWriter(os.path.join(OUT, name + ".gguf"), arch, split_max_tensors=most)
    if arch == "llama" and not most:
        writer.add_custom_alignment(64)
    for key, value in values.items():
        if value is not None:
            add(writer, key if "." in key and key.split(".")[0] in ("general", "tokenizer") else f"{arch}.{key}", value)
    for key, x in tensors.items():
        if isinstance(x, tuple):
            writer.add_tensor(key, x[0], raw_dtype=x[1])
        elif x.ndim > 1 and kind == Type.BF16:
            writer.add_tensor(key, gguf.quants.quantize(x, Type.BF16), raw_dtype=Type.BF16)
        else:
            writer.add_tensor(key, x.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def permute(x, heads):
    """The two halves of a head's rows, row by row in turn."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def blocks_of(x, heads, kv_heads):
    """Groups of queries, a key and a value -> all queries, all keys, all values."""
    x = x.reshape(kv_heads, heads // kv_heads + 2, -1, *x.shape[1:])
    parts = x[:, :-2], x[:, -2], x[:, -1]
    return numpy.concatenate([part.reshape(-1, *x.shape[3:]) for part in parts])


def llama3_factors(scaling, theta, columns):
    """rope_freqs: what llama3's scaling divides each frequency by."""
    factors = []
    for frequency in 1 / theta ** (torch.arange(0, columns, 2, dtype=torch.float32) / columns):
        wave = 2 * math.pi / frequency
        low, high, old = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling[
            "original_max_position_embeddings"]
        smooth = (old / wave - low) / (high - low)
        factors.append(1 if wave < old / high else scaling["factor"] if wave > old / low else
                       1 / ((1 - smooth) / scaling["factor"] + smooth))
    return numpy.array(factors, numpy.float32)


# A role's names in Hugging Face's models, and in a GGUF.
ROLES = [
    ("attn_q", "self_attn.q_proj"), ("attn_k", "self_attn.k_proj"), ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj self_attention.dense attention.dense attn.out_proj attn.c_proj"),
    ("attn_qkv", "self_attn.qkv_proj self_attention.query_key_value attention.query_key_value attn.Wqkv attn.c_attn"),
    ("attn_norm", "input_layernorm ln_1 norm_1"), ("attn_q_norm", "self_attn.q_norm"), ("attn_k_norm", "self_attn.k_norm"),
    ("attn_q_a", "self_attn.q_a_proj"), ("attn_q_a_norm", "self_attn.q_a_layernorm"), ("attn_q_b", "self_attn.q_b_proj"),
    ("attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"), ("attn_kv_a_norm", "self_attn.kv_a_layernorm"),
    ("attn_kv_b", "self_attn.kv_b_proj"), ("post_attention_norm", "post_attention_layernorm"),
    ("ffn_down", "mlp.down_proj"),
]
ROLES_OF_BERT = [("attn_q", "attention.self.query"), ("attn_k", "attention.self.key"),
                 ("attn_v", "attention.self.value"), ("attn_output", "attention.output.dense"),
                 ("attn_output_norm", "attention.output.LayerNorm")]
NORMS_OF_FALCON_40B = [("attn_norm", "ln_mlp"), ("attn_norm_2", "ln_attn")]


def convert(name, arch, layer, change=None, permuted=False, plus_one=False, grouped=False, split=False, roles=ROLES,
            old=None, to=None, most=0):
    """`old` replaces llama3's positions of the training; `to` names the file."""
    folder = os.path.join(LAYERS, name)
    config = json.load(open(os.path.join(folder, "config.json")))
    config = config.get("text_config", config)
    shards = [load_file(path) for path in glob.glob(folder + "/*.safetensors") if "expected" not in path]
    shards += [torch.load(path) for path in glob.glob(folder + "/*.bin")]
    state = {key: x.float().numpy() for shard in shards for key, x in shard.items()}
    first = lambda *keys: next((config[key] for key in keys if config.get(key) is not None), None)  # noqa: E731
    heads, width = first("num_attention_heads", "n_head", "n_heads"), first("hidden_size", "n_embd", "n_embed", "d_model")
    kv_heads = first("num_key_value_heads", "num_kv_heads") or (1 if config.get("multi_query") else heads)
    scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if old:
        scaling["original_max_position_embeddings"] = old
    kind = scaling.get("rope_type") or scaling.get("type")
    columns = first("head_dim") or width // heads
    theta = first("rope_theta", "rotary_emb_base") or scaling.get("rope_theta")
    values = {
        "general.name": name,
        "tokenizer.ggml.tokens": ["<s>", "</s>", "a longer token"],
        "block_count": first("num_hidden_layers", "n_layer", "n_layers"),
        "context_length": first("max_position_embeddings", "n_positions"),
        "embedding_length": width,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.layer_norm_rms_epsilon": first("rms_norm_eps"),
        "attention.layer_norm_epsilon": first("layer_norm_eps", "layer_norm_epsilon"),
        "attention.key_length": first("head_dim"),
        "attention.value_length": first("head_dim"),
        "attention.sliding_window": first("sliding_window"),
        "attention.sliding_window_pattern": first("sliding_window_pattern"),
        "attn_logit_softcapping": first("attn_logit_softcapping"),
        "rope.freq_base": float(theta) if theta else None,
        "rope.freq_base_swa": float(first("rope_local_base_freq")) if first("rope_local_base_freq") else None,
        "rope.dimension_count": columns,
    }
    if kind in ("linear", "yarn") and "phi" not in arch:
        values["rope.scaling.type"] = kind
        values["rope.scaling.factor"] = float(scaling["factor"])
        values["rope.scaling.original_context_length"] = scaling.get("original_max_position_embeddings")
    if scaling.get("mscale_all_dim"):
        values["rope.scaling.yarn_log_multiplier"] = 0.1 * scaling["mscale_all_dim"]
    tensors = {}
    if kind == "llama3":
        tensors["rope_freqs.weight"] = llama3_factors(scaling, theta, columns)
    if "long_factor" in scaling:
        old, most = config["original_max_position_embeddings"], config["max_position_embeddings"]
        values["rope.scaling.original_context_length"] = old
        values["rope.scaling.attn_factor"] = math.sqrt(1 + math.log(most / old) / math.log(old))
        for length in "long", "short":
            tensors[f"rope_factors_{length}.weight"] = numpy.array(scaling[length + "_factor"], numpy.float32)
    values.update(change or {})
    for key in [key for key in state if f".{layer}." in "." + key]:
        rest = ("." + key).split(f".{layer}.", 1)[1]
        end = "" if rest.endswith("sinks") or "." not in rest else "." + rest.rsplit(".", 1)[1]
        stem = rest[:len(rest) - len(end)]
        role = next((role for role, stems in roles + ROLES if stem in stems.split()), None)
        x = state[key]
        if stem.endswith("sinks"):
            role, end = "attn_sinks", ".weight"
        if role is None:
            continue
        if permuted and role in ("attn_q", "attn_k"):
            x = permute(x, heads if role == "attn_q" else kv_heads)
        if plus_one and "norm" in role:
            x = x + 1
        if grouped and role == "attn_qkv":
            x = blocks_of(x, heads, kv_heads)
        if arch == "gpt2" and x.ndim == 2:
            x = x.T
        if split and role == "attn_kv_b":
            both = x.reshape(heads, -1, x.shape[-1])
            keys = config["qk_nope_head_dim"]
            tensors[f"blk.{layer}.attn_k_b.weight"] = numpy.ascontiguousarray(both[:, :keys].swapaxes(1, 2))
            tensors[f"blk.{layer}.attn_v_b.weight"] = numpy.ascontiguousarray(both[:, keys:])
            continue
        tensors[f"blk.{layer}.{role}{end}"] = numpy.ascontiguousarray(x)
    write(to or name, arch, values, tensors, Type.F32 if plus_one else Type.BF16, most)


def latent(config, gating):
    """The metadata of DeepSeek's attention: one head of keys, as long as the latent."""
    rank, rotated, plain = config["kv_lora_rank"], config["qk_rope_head_dim"], config["qk_nope_head_dim"]
    return {
        "attention.head_count_kv": 1, "attention.key_length": rank + rotated, "attention.value_length": rank,
        "attention.key_length_mla": plain + rotated, "attention.value_length_mla": config["v_head_dim"], "attention.kv_lora_rank": rank,
        "rope.dimension_count": rotated, "expert_gating_func": gating,
    }


# The case, its layer, the architecture, how it is converted, and options for what a GGUF does not say.
LLAMA = dict(arch="llama", permuted=True)
GEMMA2 = dict(arch="gemma2", plus_one=True, change={"rope.freq_base": None})
GEMMA3 = dict(arch="gemma3", plus_one=True)
GEMMA3N = dict(arch="gemma3n", change={
    "attention.sliding_window_pattern": [False, True, False, True], "attention.shared_kv_layers": 2,
    "rope.freq_base": 1e6, "rope.freq_base_swa": 500.0})
CASES = [
    ("llama-2", LLAMA), ("llama-3", LLAMA), ("llama-linear", LLAMA), ("llama-yarn", LLAMA), ("mistral-nemo", LLAMA),
    ("mistral-window", LLAMA), ("qwen2", dict(arch="qwen2")), ("qwen3", dict(arch="qwen3")),
    ("qwen3-bias", dict(arch="qwen3")), ("gemma-2", GEMMA2), ("gemma-2-sliding", GEMMA2), ("gemma-3-full", GEMMA3),
    ("gemma-3-sliding", GEMMA3), ("phi-3-long", dict(arch="phi3")), ("phi-3-short", dict(arch="phi3")),
    ("phi-3-window", dict(arch="phi3")), ("phi-4", dict(arch="phi3")),
    ("gpt-oss-full", dict(arch="gpt-oss")), ("gpt-oss-sliding", dict(arch="gpt-oss")),
    ("deepseek-v2", dict(arch="deepseek2", gating=1)),
    ("deepseek-v2-lite", dict(arch="deepseek2", split=True, gating=1)),
    ("deepseek-v3", dict(arch="deepseek2", split=True, gating=2)),
    ("deepseek-v3-no-query-rank", dict(arch="deepseek2", gating=2)),
    ("neox", dict(arch="gptneox", grouped=True)), ("neox-half-rotated", dict(arch="gptneox", grouped=True)),
    ("falcon-7b", dict(arch="falcon", grouped=True)),
    ("falcon-40b", dict(arch="falcon", grouped=True, roles=NORMS_OF_FALCON_40B)),
    ("bloom", dict(arch="bloom", grouped=True)), ("mpt", dict(arch="mpt")), ("mpt-clip", dict(arch="mpt")),
    ("gpt2", dict(arch="gpt2")), ("cohere", dict(arch="command-r")), ("cohere-norms", dict(arch="command-r")),
    ("olmo-2", dict(arch="olmo2")), ("olmo-2-groups", dict(arch="olmo2")),
    ("granite-4", dict(arch="granitehybrid", permuted=True, change={
        "attention.head_count_kv": [0, 2], "attention.scale": 0.3, "rope.scaling.finetuned": True})),
    ("qwen3-next", dict(arch="qwen3next", plus_one=True)),
    ("qwen3.5", dict(arch="qwen35", plus_one=True, change={"rope.dimension_sections": [1, 1, 0, 0]})),
    ("llama-4", dict(arch="llama4", change={"expert_count": 16}, option="--attention-chunk=5")),
    ("gemma-3n", GEMMA3N), ("gemma-3n-sliding", GEMMA3N), ("bert", dict(arch="bert", roles=ROLES_OF_BERT)),
    ("ministral-3", dict(arch="mistral3", permuted=True, change={
        "attention.temperature_scale": 0.1, "rope.scaling.yarn_log_multiplier": 1.0})),
]


# --- types -----------------------------------------------------------------------------------------------------------

TYPES = "F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_K Q3_K Q4_K Q5_K Q6_K MXFP4".split()

# Where a block's float16 scales are, or with None its exponent.
SCALES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "MXFP4": None}
HEADS, KV_HEADS, COLUMNS, TOKENS, THETA = 4, 1, 8, 6, 10000.0


def stored(random, rows, columns, name):
    """A matrix in that type: the bytes and the type, and the numbers that they stand for."""
    kind = Type[name if columns % gguf.GGML_QUANT_SIZES[Type[name]][0] == 0 else "Q8_0"]
    numbers, size = gguf.GGML_QUANT_SIZES[kind]
    x = random.standard_normal((rows, columns), numpy.float32) * (columns**-0.5)
    if kind.name in SCALES:
        blocks = random.integers(0, 256, (rows * columns // numbers, size), numpy.uint8)
        if SCALES[kind.name] is None:
            blocks[:, 0] = random.integers(121, 125, len(blocks))
        packed = blocks.reshape(rows, -1)
        for size in (1, None):  # first 1, then what gives numbers of a usual size
            size = size or columns**-0.5 / gguf.quants.dequantize(packed, kind).std()
            for at in SCALES[kind.name] or ():
                scales = (size * random.uniform(0.5, 1, len(blocks))).astype(numpy.float16)
                blocks[:, at:at + 2] = scales.view(numpy.uint8).reshape(-1, 2)
    else:
        packed = x.astype(x.dtype if kind == Type.F32 else numpy.float16) if kind in (Type.F32, Type.F16) else \
            gguf.quants.quantize(x, kind)
    return (packed, kind), gguf.quants.dequantize(packed, kind).astype(numpy.float64)


def rotated(x):
    """Halves, rotated by their position."""
    half = x.shape[-1] // 2
    angles = numpy.arange(len(x))[:, None] * THETA ** (-numpy.arange(half) / half)
    a, b, c, s = x[..., :half], x[..., half:], numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
    return numpy.concatenate([a * c - b * s, b * c + a * s], -1)


def attend(hidden, query, key, value, out):
    """`query` and so on: a weight and its bias."""
    x = hidden.astype(numpy.float64)
    q, k, v = [(x @ w.T + b).reshape(TOKENS, -1, COLUMNS) for w, b in (query, key, value)]
    q, k = rotated(q), rotated(k)
    scores = numpy.einsum("thd,shd->hts", q, k.repeat(HEADS // KV_HEADS, 1)) / math.sqrt(COLUMNS)
    scores[:, ~numpy.tri(TOKENS, dtype=bool)] = -numpy.inf
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    heads = numpy.einsum("hts,shd->thd", weights, v.repeat(HEADS // KV_HEADS, 1))
    return heads.reshape(TOKENS, -1) @ out.T


def make_type(arch, name):
    width = 256 if name.endswith("_K") else 64
    hidden = numpy.load(os.path.join(OUT, f"type-hidden-{width}.npy"))
    random = numpy.random.default_rng(TYPES.index(name) + 100 * len(arch))
    values = {
        "block_count": 1, "context_length": 64, "embedding_length": width, "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS, "attention.key_length": COLUMNS, "rope.dimension_count": COLUMNS,
        "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": THETA,
    }
    tensors, numbers = {}, {}
    for role, rows, columns in (("q", HEADS * COLUMNS, width), ("k", KV_HEADS * COLUMNS, width),
                                ("v", KV_HEADS * COLUMNS, width), ("output", 32, HEADS * COLUMNS)):
        tensors[f"blk.0.attn_{role}.weight"], numbers[role] = stored(random, rows, columns, name)
    biases = {role: numpy.zeros(len(numbers[role])) for role in "qkv"}
    if arch == "qwen2":
        biases = {role: random.standard_normal(len(numbers[role]), numpy.float32) for role in "qkv"}
        tensors.update({f"blk.0.attn_{role}.bias": bias for role, bias in biases.items()})
    else:  # what the rows were before llama.cpp's converter
        for role, heads in ("q", HEADS), ("k", KV_HEADS):
            numbers[role] = numbers[role].reshape(heads, -1, 2, width).swapaxes(1, 2).reshape(-1, width)
    write(f"type-{arch}-{name}", arch, values, tensors, Type.F32)
    output = attend(hidden, *[(numbers[role], biases[role]) for role in "qkv"], numbers["output"])
    numpy.save(os.path.join(OUT, f"type-{arch}-{name}.npy"), output)


def make_types():
    for width in 64, 256:
        hidden = numpy.random.default_rng(7).standard_normal((TOKENS, width), numpy.float32)
        numpy.save(os.path.join(OUT, f"type-hidden-{width}.npy"), hidden)
    for arch in "llama", "qwen2":
        for name in TYPES:
            make_type(arch, name)


def main():
    os.makedirs(OUT, exist_ok=True)
    lines = []
    for name, how in CASES:
        case = json.load(open(os.path.join(LAYERS, name, "case.json")))
        config = json.load(open(os.path.join(LAYERS, name, "config.json")))
        config = config.get("text_config", config)
        how = dict(how)
        change, option = dict(how.pop("change", {})), how.pop("option", None)
        share = (config.get("rope_parameters") or {}).get("partial_rotary_factor")
        if share:
            change["rope.dimension_count"] = int(config["head_dim"] * share)
        if "rotary_pct" in config:
            change["rope.dimension_count"] = int(config["hidden_size"] // config["num_attention_heads"] *
                                                 config["rotary_pct"])
        if "partial_rotary_factor" in config:
            change["rope.dimension_count"] = int(config["hidden_size"] // config["num_attention_heads"] *
                                                 config["partial_rotary_factor"])
        if "gating" in how:
            change.update(latent(config, how.pop("gating")))
        if config["model_type"] == "mpt":
            change["attention.clamp_kqv"] = config["attn_config"]["clip_qkv"]
            change["attention.max_alibi_bias"] = float(config["attn_config"]["alibi_bias_max"])
            change["attention.layer_norm_epsilon"] = 1e-5
        convert(name, layer=case["layer"], change=change, **how)
        option = f"--scale={case['settings']['scale']}" if "query_pre_attn_scalar" in config else option
        lines.append(f"{name} {case['layer']}{' ' + option if option else ''}")
    convert("llama-3", layer=1, old=8192, to="llama-3.1", **LLAMA)
    convert("llama-3", layer=1, to="parts", most=3, **LLAMA)
    with open(os.path.join(OUT, "cases.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    make_types()


if __name__ == "__main__":
    main()
