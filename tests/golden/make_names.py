# SPDX-License-Identifier: MIT
"""Checkpoints whose tensors have names of their own, or whose config does: tests/names, read by tests/cli/names.test.

    python3 tests/golden/make_names.py

Made with torch 2.15. Each case is a folder: a checkpoint as its makers save it, and its config. Next to it NAME.npy is
what enters the block, and NAME.safetensors the expected stages. The numbers are computed here in float64, in the way of the code that the names
come from: rotations of neighbouring columns are complex products, a packed weight is cut as that code cuts it.
"""

import json
import math
import os
import shutil
import sys

import numpy
import torch
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
    expected = {"normed": normed, **stages}
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


def llama_like(name, params, file, heads, kv_heads, columns, llama3=None, window=None):
    """Meta's and Mistral's own form: two layers, of which the second is computed."""
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


CASES = {"meta": meta, "llama-2": llama_2, "mistral": mistral}

for at, (case, make) in enumerate(CASES.items()):
    torch.manual_seed(at)
    shutil.rmtree(path(case, ""), ignore_errors=True)
    os.makedirs(path(case, ""))
    make(case)
