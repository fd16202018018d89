# SPDX-License-Identifier: MIT
"""Checkpoints whose tensors have names of their own, or whose config does: tests/names, read by tests/cli/names.test.

    python3 tests/golden/make_names.py

Made with torch 2.15. Each case is a folder: a checkpoint as its makers save it, and its config. Next to it NAME.npy is
what enters the block, and NAME.safetensors the expected stages. The numbers are computed here in float64, in the way of the code that the names
come from: rotations of neighbouring columns are complex products, a packed weight is cut as that code cuts it.
"""

import glob
import json
import math
import os
import shutil
import sys

import numpy
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import layer_norm, softmax

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frozen  # noqa: E402

FOLDER = os.path.join(HERE, "..", "names")
TOKENS = 8


def draw(*shape, size=None, around=0.0):
    """float32 numbers with few bits, so that files stay exact in float16 too."""
    size = 1.5 / math.sqrt(shape[-1]) if size is None else size
    return (torch.randn(shape) * size + around).half().float()


def rms(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight.double()


def frequencies(columns, theta, llama3=None):
    inverse = 1.0 / theta ** (torch.arange(0, columns, 2).float() / columns)
    if llama3:  # Meta's apply_scaling: factor, low, high, old
        factor, low, high, old = llama3
        scaled = []
        for one in inverse:
            length = 2 * math.pi / one
            smooth = (old / length - low) / (high - low)
            scaled.append(one if length < old / high else one / factor if length > old / low
                          else (1 - smooth) * one / factor + smooth * one)
        inverse = torch.tensor(scaled)
    return inverse


def turned(x, inverse):
    """Neighbouring columns are a complex number: x (T, H, d)."""
    angles = torch.outer(torch.arange(len(x)).float(), inverse).double()
    by = torch.polar(torch.ones_like(angles), angles)[:, None]
    return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * by).flatten(-2)


def turned_halves(x, inverse):
    angles = torch.outer(torch.arange(len(x)).float(), inverse).double()
    cos, sin = (torch.cat((f(angles),) * 2, -1)[:, None] for f in (torch.cos, torch.sin))
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def attend(q, k, v, out, out_bias=None, causal=True, window=None):
    """q (T, H, d), k and v (S, H_kv, d): the stages as attn names them."""
    group = q.shape[1] // k.shape[1]
    q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    scores = q @ k.repeat_interleave(group, 0).mT / math.sqrt(q.shape[-1])
    behind = torch.arange(q.shape[1])[:, None] - torch.arange(k.shape[1])
    if causal:
        scores = scores.masked_fill((behind < 0) | (behind >= (window or 1 << 20)), -math.inf)
    weights = softmax(scores, -1)
    context = weights @ v.repeat_interleave(group, 0)
    output = context.transpose(0, 1).flatten(1) @ out.double().T
    output = output if out_bias is None else output + out_bias.double()
    return dict(query=q, key=k, value=v, weights=weights, context=context, output=output)


def project(x, weight, bias=None):
    y = x @ weight.double().T
    return y if bias is None else y + bias.double()


def write(name, residual, normed, stages):
    expected = stages if normed is residual else {"normed": normed, **stages}
    expected = {key: value[None].float().numpy() for key, value in expected.items()}
    frozen.save(os.path.join(FOLDER, name + ".safetensors"), expected)
    numpy.save(os.path.join(FOLDER, name + ".npy"), residual.float().numpy())


def path(name, file):
    return os.path.join(FOLDER, name, file)


def put_json(name, file, values):
    with open(path(name, file), "w") as out:
        json.dump(values, out)


def put_tensors(name, file, tensors):
    frozen.save(path(name, file), {key: value.numpy() for key, value in tensors.items()})


def llama_like(name, params, file, heads, kv_heads, columns, llama3=None, window=None, eight=False):
    """Meta's and Mistral's own form: two layers, of which the second is computed. `eight`: Mistral's weights in 8 bits,
    with a scale for each, and one for its inputs that the weights do not need."""
    dim, theta = params["dim"], params.get("rope_theta", 10000.0)
    tensors = {}
    for layer in range(2):
        own = f"layers.{layer}.attention"
        for word, shape in (("wq", (heads * columns, dim)), ("wk", (kv_heads * columns, dim)),
                            ("wv", (kv_heads * columns, dim)), ("wo", (dim, heads * columns))):
            tensors[f"{own}.{word}.weight"] = draw(*shape)
        tensors[f"layers.{layer}.attention_norm.weight"] = draw(dim, size=0.4, around=1.2)
        tensors[f"layers.{layer}.ffn_norm.weight"] = draw(dim, size=0.4, around=1.2)
    if file.endswith(".pth"):
        torch.save({key: value.half() for key, value in tensors.items()}, path(name, file))
    elif eight:
        stored = dict(tensors)
        for key in [key for key in tensors if ".attention.w" in key]:
            scale = tensors[key].abs().max() / 448
            stored[key] = (tensors[key] / scale).to(torch.float8_e4m3fn)
            stored[key.replace("weight", "qscale_weight")] = scale
            stored[key.replace("weight", "qscale_act")] = torch.tensor(0.5)
            tensors[key] = stored[key].float() * scale
        save_file(stored, path(name, file))
    else:
        put_tensors(name, file, tensors)
    put_json(name, "params.json", params)
    x = draw(TOKENS, dim, size=1).double()
    normed = rms(x, tensors["layers.1.attention_norm.weight"], params["norm_eps"])
    inverse = frequencies(columns, theta, llama3)
    q, k, v = (project(normed, tensors[f"layers.1.attention.{word}.weight"]).view(TOKENS, -1, columns)
               for word in ("wq", "wk", "wv"))
    stages = attend(turned(q, inverse), turned(k, inverse), v, tensors["layers.1.attention.wo.weight"], window=window)
    write(name, x, normed, stages)


def meta(name):
    llama_like(name, {"dim": 16, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "vocab_size": 64, "multiple_of": 16,
                      "ffn_dim_multiplier": 1.3, "norm_eps": 1e-5, "rope_theta": 500000.0, "use_scaled_rope": True},
               "consolidated.00.pth", 4, 2, 4, llama3=(8, 1, 4, 8192))


def llama_2(name):
    llama_like(name, {"dim": 16, "n_layers": 2, "n_heads": 4, "vocab_size": -1, "multiple_of": 16, "norm_eps": 1e-6},
               "consolidated.00.pth", 4, 4, 4)


def mistral(name):
    llama_like(name, {"dim": 16, "n_layers": 2, "head_dim": 6, "hidden_dim": 48, "n_heads": 4, "n_kv_heads": 2,
                      "norm_eps": 1e-5, "vocab_size": 64, "rope_theta": 1000000.0, "sliding_window": 5},
               "consolidated.safetensors", 4, 2, 6, window=5)
    # transformers' config lies next to it in published folders; its rotation is that of other weights
    put_json(name, "config.json", {"model_type": "mistral", "num_attention_heads": 4, "num_key_value_heads": 2,
                                   "head_dim": 6, "rms_norm_eps": 1e-5, "rope_theta": 1000000.0, "sliding_window": 5})


def mistral_8(name):
    llama_like(name, {"dim": 16, "n_layers": 2, "head_dim": 6, "hidden_dim": 48, "n_heads": 4, "n_kv_heads": 2,
                      "norm_eps": 1e-5, "vocab_size": 64, "rope_theta": 1000000.0,
                      "quantization": {"qformat_weight": "fp8_e4m3", "qscheme_act": "TENSOR"}},
               "consolidated.safetensors", 4, 2, 6, eight=True)


def llama_c(name):
    """llama2.c: the model and its arguments in one file, with the state of the optimizer."""
    llama_like(name, {"dim": 16, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "norm_eps": 1e-4},
               "model.pth", 4, 2, 4)
    model = torch.load(path(name, "model.pth"))
    with open(path(name, "params.json")) as file:
        params = json.load(file)
    for file in ("model.pth", "params.json"):
        os.remove(path(name, file))
    optimizer = {"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.zeros(4)}}, "param_groups": [{"lr": 0.1}]}
    torch.save({"model": model, "optimizer": optimizer, "model_args": {**params, "dropout": 0.1}, "iter_num": 3},
               path(name, "ckpt.pt"))


def nano_gpt(name, bias=False):
    """c_attn as nn.Linear stores it: all queries, all keys, all values."""
    heads, dim, own = 4, 16, "transformer.h.0."
    tensors = {own + "attn.c_attn.weight": draw(3 * dim, dim), own + "attn.c_proj.weight": draw(dim, dim),
               own + "ln_1.weight": draw(dim, size=0.4, around=1.2), own + "ln_2.weight": draw(dim, size=0.4, around=1)}
    torch.save({"model": {"_orig_mod." + key: value for key, value in tensors.items()},
                "optimizer": {"state": {0: {"step": torch.tensor(1.0)}}}, "config": {"dataset": "openwebtext"},
                "model_args": {"n_layer": 1, "n_head": heads, "n_embd": dim, "block_size": 32, "bias": bias,
                               "vocab_size": 64, "dropout": 0.0}}, path(name, "ckpt.pt"))
    x = draw(TOKENS, dim, size=1).double()
    normed = layer_norm(x, (dim,), tensors[own + "ln_1.weight"].double(), None, 1e-5)
    q, k, v = (y.reshape(TOKENS, heads, -1) for y in project(normed, tensors[own + "attn.c_attn.weight"]).split(dim, 1))
    write(name, x, normed, attend(q, k, v, tensors[own + "attn.c_proj.weight"]))


def megatron(name):
    """Megatron core, NeMo: each group of heads has its queries, its key and its value; the norm is in the projection."""
    heads, groups, columns, dim, own = 4, 2, 4, 12, "model.decoder.layers.1.self_attention."
    rows = (heads // groups + 2) * columns
    tensors = {own + "linear_qkv.weight": draw(groups * rows, dim), own + "linear_qkv.bias": draw(groups * rows, size=1),
               own + "linear_qkv.layer_norm_weight": draw(dim, size=0.4, around=1.2),
               own + "linear_proj.weight": draw(dim, heads * columns),
               own + "q_layernorm.weight": draw(columns, size=0.4, around=1.2),
               own + "k_layernorm.weight": draw(columns, size=0.4, around=1.2)}
    put_tensors(name, "model.safetensors", tensors)
    x = draw(TOKENS, dim, size=1).double()
    normed = rms(x, tensors[own + "linear_qkv.layer_norm_weight"], 1e-6)
    mixed = project(normed, tensors[own + "linear_qkv.weight"], tensors[own + "linear_qkv.bias"])
    q, k, v = mixed.view(TOKENS, groups, -1).split([heads // groups * columns, columns, columns], -1)
    q = rms(q.reshape(TOKENS, heads, columns), tensors[own + "q_layernorm.weight"], 1e-6)
    k = rms(k, tensors[own + "k_layernorm.weight"], 1e-6)
    inverse = frequencies(columns, 1e6)
    write(name, x, normed, attend(turned_halves(q, inverse), turned_halves(k, inverse), v,
                                  tensors[own + "linear_proj.weight"]))


def whisper(name, part):
    """OpenAI's own file: "dims", and blocks of an encoder and of a decoder; key has no bias."""
    heads, dim = {"encoder": 4, "decoder": 2}, 16
    x, tensors = draw(TOKENS, dim, size=1).double(), {}
    for side in heads:
        own = f"{side}.blocks.0."
        for word in ("query", "key", "value", "out"):
            tensors[f"{own}attn.{word}.weight"] = draw(dim, dim)
            if word != "key":
                tensors[f"{own}attn.{word}.bias"] = draw(dim, size=0.5)
        tensors[own + "attn_ln.weight"] = draw(dim, size=0.4, around=1.2)
        tensors[own + "attn_ln.bias"] = draw(dim, size=0.4)
        tensors[own + "mlp_ln.weight"] = draw(dim, size=0.4, around=1.2)
    for word in ("query", "key", "value", "out"):
        tensors[f"decoder.blocks.0.cross_attn.{word}.weight"] = draw(dim, dim)
    tensors["decoder.blocks.0.cross_attn_ln.weight"] = draw(dim, size=0.4, around=1.2)
    torch.save({"dims": {"n_mels": 8, "n_audio_state": dim, "n_audio_head": 4, "n_text_state": dim, "n_text_head": 2},
                "model_state_dict": {key: value.half() for key, value in tensors.items()}}, path(name, "tiny.pt"))
    own = part + ".blocks.0."
    normed = layer_norm(x, (dim,), tensors[own + "attn_ln.weight"].double(), tensors[own + "attn_ln.bias"].double(), 1e-5)
    q, k, v = (project(normed, tensors[f"{own}attn.{word}.weight"], tensors.get(f"{own}attn.{word}.bias"))
               .view(TOKENS, heads[part], -1) for word in ("query", "key", "value"))
    stages = attend(q, k, v, tensors[own + "attn.out.weight"], tensors[own + "attn.out.bias"], causal=part == "decoder")
    # There the fourth root of d divides query and key; here all of the scale is in the query, as in transformers.
    write(name, x, normed, {**stages, "query": stages["query"] / math.sqrt(q.shape[-1])})


def torchtune(name):
    """torchtune: output_proj, and scale for the weight of a norm; Llama's rows are pairs."""
    heads, kv_heads, columns, dim, own = 4, 2, 4, 16, "layers.0."
    tensors = {own + "attn.q_proj.weight": draw(heads * columns, dim), own + "attn.k_proj.weight": draw(8, dim),
               own + "attn.v_proj.weight": draw(8, dim), own + "attn.output_proj.weight": draw(dim, heads * columns),
               own + "sa_norm.scale": draw(dim, size=0.4, around=1.2), own + "mlp_norm.scale": draw(dim, size=0.4)}
    put_tensors(name, "model.safetensors", tensors)
    x = draw(TOKENS, dim, size=1).double()
    normed = rms(x, tensors[own + "sa_norm.scale"], 1e-5)
    q, k, v = (project(normed, tensors[f"{own}attn.{word}_proj.weight"]).view(TOKENS, -1, columns) for word in "qkv")
    inverse = frequencies(columns, 500000.0)
    write(name, x, normed, attend(turned(q, inverse), turned(k, inverse), v, tensors[own + "attn.output_proj.weight"]))


def esm(name):
    """ESM-2: the query is scaled, then rotated; gamma and beta as transformers 5 writes them."""
    heads, dim, own = 4, 16, "esm.encoder.layer.0.attention."
    places = {"query": "self.query", "key": "self.key", "value": "self.value", "out": "output.dense"}
    tensors = {f"{own}{place}.weight": draw(dim, dim) for place in places.values()}
    tensors.update({f"{own}{place}.bias": draw(dim, size=0.5) for place in places.values()})
    tensors.update({own + "LayerNorm.gamma": draw(dim, size=0.4, around=1.2), own + "LayerNorm.beta": draw(dim, size=0.4),
                    own + "self.rotary_embeddings.inv_freq": frequencies(dim // heads, 10000.0)})
    put_tensors(name, "model.safetensors", tensors)
    put_json(name, "config.json", {"model_type": "esm", "num_attention_heads": heads, "layer_norm_eps": 1e-5,
                                   "position_embedding_type": "rotary"})
    x = draw(TOKENS, dim, size=1).double()
    normed = layer_norm(x, (dim,), tensors[own + "LayerNorm.gamma"].double(), tensors[own + "LayerNorm.beta"].double(), 1e-5)
    q, k, v = (project(normed, tensors[f"{own}self.{word}.weight"], tensors[f"{own}self.{word}.bias"])
               .view(TOKENS, heads, -1) for word in ("query", "key", "value"))
    inverse, scale = frequencies(dim // heads, 10000.0), math.sqrt(dim // heads)
    stages = attend(turned_halves(q, inverse), turned_halves(k, inverse), v, tensors[own + "output.dense.weight"],
                    tensors[own + "output.dense.bias"], causal=False)
    write(name, x, normed, {**stages, "query": stages["query"] / scale})


def trocr(name):
    """TrOCR: an encoder of pictures without the biases of query, key and value, and a decoder of its own type."""
    dim, tensors = 16, {}
    for word, place in (("query", "attention.query"), ("key", "attention.key"), ("value", "attention.value"),
                        ("out", "output.dense")):
        tensors[f"encoder.encoder.layer.0.attention.{place}.weight"] = draw(dim, dim)
    own = "decoder.model.decoder.layers.0.self_attn."
    for word in ("q_proj", "k_proj", "v_proj", "out_proj"):
        tensors[f"{own}{word}.weight"], tensors[f"{own}{word}.bias"] = draw(dim, dim), draw(dim, size=0.5)
    put_tensors(name, "model.safetensors", tensors)
    put_json(name, "config.json", {
        "model_type": "vision-encoder-decoder",
        "encoder": {"model_type": "vit", "num_attention_heads": 4, "layer_norm_eps": 1e-12},
        "decoder": {"model_type": "trocr", "decoder_attention_heads": 2}})
    x = draw(TOKENS, dim, size=1).double()
    q, k, v = (project(x, tensors[f"{own}{word}_proj.weight"], tensors[f"{own}{word}_proj.bias"])
               .view(TOKENS, 2, -1) for word in "qkv")
    stages = attend(q, k, v, tensors[own + "out_proj.weight"], tensors[own + "out_proj.bias"])
    write(name, x, x, {**stages, "query": stages["query"] / math.sqrt(dim // 2)})


def deepseek(name):
    """DeepSeek's inference code: the case deepseek-v3 of tests/layers under its names."""
    case, own = os.path.join(HERE, "../layers/deepseek-v3"), "layers.1.attn."
    names = {"q_a_proj": "wq_a", "q_a_layernorm": "q_norm", "q_b_proj": "wq_b", "kv_a_proj_with_mqa": "wkv_a",
             "kv_a_layernorm": "kv_norm", "kv_b_proj": "wkv_b", "o_proj": "wo"}
    shards = [load_file(file) for file in sorted(glob.glob(case + "/*.safetensors")) if "expected" not in file]
    state = {key: x.float() for shard in shards for key, x in shard.items() if "layers.1." in key}
    tensors = {f"{own}{new}.weight": state[f"model.layers.1.self_attn.{old}.weight"] for old, new in names.items()}
    tensors["layers.1.attn_norm.weight"] = state["model.layers.1.input_layernorm.weight"]
    put_tensors(name, "model.safetensors", tensors)
    shutil.copy(case + "/config.json", path(name, ""))
    for source, end in (("residual.npy", ".npy"), ("expected.safetensors", ".safetensors")):
        shutil.copy(f"{case}/{source}", os.path.join(FOLDER, name + end))


def litgpt(name, word="qkv"):
    """LitGPT: all queries, all keys, all values; before its version 0.5, in attn.attn, group by group."""
    heads, groups, columns, dim, own = 4, 2, 4, 12, "transformer.h.1."
    weight, bias = draw((heads + 2 * groups) * columns, dim), draw((heads + 2 * groups) * columns, size=1)
    out, norm = draw(dim, heads * columns), draw(dim, size=0.4, around=1.2)
    stored = weight, bias
    if word == "attn":
        stored = [torch.cat([torch.cat(parts) for parts in zip(*(part.chunk(groups) for part in x.split(
            [heads * columns, groups * columns, groups * columns])))]) for x in stored]
    torch.save({"model": {f"{own}attn.{word}.weight": stored[0], f"{own}attn.{word}.bias": stored[1],
                          own + "attn.proj.weight": out, own + "norm_1.weight": norm}}, path(name, "lit_model.pth"))
    x = draw(TOKENS, dim, size=1).double()
    normed = rms(x, norm, 1e-5)
    q, k, v = (y.reshape(TOKENS, -1, columns) for y in project(normed, weight, bias).split(
        [heads * columns, groups * columns, groups * columns], 1))
    inverse = frequencies(columns, 10000.0)
    write(name, x, normed, attend(turned_halves(q, inverse), turned_halves(k, inverse), v, out))


def open_clip(name):
    """open_clip: nn.MultiheadAttention's packed weight in residual blocks, of pictures and of text."""
    heads, dim = 4, 16
    x, tensors = draw(TOKENS, dim, size=1).double(), {}
    for own in ("transformer.resblocks.0.", "visual.transformer.resblocks.0."):
        tensors.update({own + "attn.in_proj_weight": draw(3 * dim, dim), own + "attn.in_proj_bias": draw(3 * dim, size=0.5),
                        own + "attn.out_proj.weight": draw(dim, dim), own + "attn.out_proj.bias": draw(dim, size=0.5),
                        own + "ln_1.weight": draw(dim, size=0.4, around=1.2), own + "ln_1.bias": draw(dim, size=0.4),
                        own + "ln_2.weight": draw(dim), own + "ln_2.bias": draw(dim)})
    put_tensors(name, "open_clip_model.safetensors", tensors)
    tower = {"layers": 1, "width": dim, "heads": heads}
    put_json(name, "open_clip_config.json", {"model_cfg": {"embed_dim": 8, "vision_cfg": tower, "text_cfg": tower}})
    own = "transformer.resblocks.0."
    normed = layer_norm(x, (dim,), tensors[own + "ln_1.weight"].double(), tensors[own + "ln_1.bias"].double(), 1e-5)
    q, k, v = (y.reshape(TOKENS, heads, -1) for y in project(
        normed, tensors[own + "attn.in_proj_weight"], tensors[own + "attn.in_proj_bias"]).split(dim, 1))
    write(name, x, normed, attend(q, k, v, tensors[own + "attn.out_proj.weight"], tensors[own + "attn.out_proj.bias"]))


def fairseq(name):
    """fairseq: the model next to its settings."""
    heads, dim, own = 4, 16, "encoder.layers.0."
    tensors = {f"{own}self_attn.{word}_proj.weight": draw(dim, dim) for word in ("k", "v", "q", "out")}
    tensors.update({f"{own}self_attn.{word}_proj.bias": draw(dim, size=0.5) for word in ("k", "v", "q", "out")})
    tensors.update({own + "self_attn_layer_norm.weight": draw(dim, size=0.4, around=1.2),
                    own + "self_attn_layer_norm.bias": draw(dim, size=0.4)})
    torch.save({"args": None, "cfg": {"model": {"encoder_attention_heads": heads}}, "model": tensors, "criterion": None,
                "optimizer_history": [{"num_updates": 3}], "task_state": {}}, path(name, "model.pt"))
    x = draw(TOKENS, dim, size=1).double()
    normed = layer_norm(x, (dim,), tensors[own + "self_attn_layer_norm.weight"].double(),
                        tensors[own + "self_attn_layer_norm.bias"].double(), 1e-5)
    q, k, v = (project(normed, tensors[f"{own}self_attn.{word}_proj.weight"], tensors[f"{own}self_attn.{word}_proj.bias"])
               .view(TOKENS, heads, -1) for word in "qkv")
    write(name, x, normed, attend(q, k, v, tensors[own + "self_attn.out_proj.weight"],
                                  tensors[own + "self_attn.out_proj.bias"], causal=False))


def arrays(name):
    """Llama's weights in an .npz, as the first releases for MLX were."""
    llama_like(name, {"dim": 16, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "norm_eps": 1e-5, "rope_theta": 10000.0},
               "weights.safetensors", 4, 2, 4)
    numpy.savez(path(name, "weights.npz"), **{key: x.numpy() for key, x in load_file(path(name, "weights.safetensors")).items()})
    os.remove(path(name, "weights.safetensors"))


CASES = {
    "meta": meta, "llama-2": llama_2, "mistral": mistral, "llama-c": llama_c, "nano-gpt": nano_gpt,
    "megatron": megatron, "whisper-encoder": lambda name: whisper(name, "encoder"),
    "whisper-decoder": lambda name: whisper(name, "decoder"), "torchtune": torchtune, "esm": esm, "trocr": trocr,
    "mistral-8": mistral_8, "deepseek": deepseek, "litgpt": litgpt, "litgpt-old": lambda name: litgpt(name, "attn"),
    "open-clip": open_clip, "fairseq": fairseq, "arrays": arrays,
}

for at, (case, make) in enumerate(CASES.items()):
    torch.manual_seed(at)
    shutil.rmtree(path(case, ""), ignore_errors=True)
    os.makedirs(path(case, ""))
    make(case)
