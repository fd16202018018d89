# SPDX-License-Identifier: MIT
"""The attention module of transformers that `attn layer` is measured against, at the sizes of Llama 3 8B.

    peer_layer.py make FOLDER     a checkpoint of one layer, random bfloat16 weights; FOLDER/hidden.npy, T 2048
    peer_layer.py serve FOLDER    answers each line of standard input: "version"; "save FILE" writes the context of
                                  hidden.npy; "context DTYPE" with the seconds of one run

Eager attention from hidden states to the context, before the output projection; the start of Python, reading the file
and casting the weights to DTYPE are not in its seconds.
"""

import json
import os
import sys
import time

import numpy
import torch
import transformers
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

TOKENS, WIDTH, HEADS, KEY_HEADS, D = 2048, 4096, 32, 8, 128
CONFIG = dict(
    model_type="llama", hidden_size=WIDTH, intermediate_size=14336, max_position_embeddings=8192,
    num_attention_heads=HEADS, num_hidden_layers=1, num_key_value_heads=KEY_HEADS, rms_norm_eps=1e-5,
    rope_theta=500000.0, vocab_size=128256,
)
PREFIX = "model.layers.0.self_attn."


def make(folder):
    from safetensors.torch import save_file

    torch.manual_seed(8)
    rows = dict(q_proj=HEADS * D, k_proj=KEY_HEADS * D, v_proj=KEY_HEADS * D)
    tensors = {f"{PREFIX}{name}.weight": torch.randn(n, WIDTH) / WIDTH**0.5 for name, n in rows.items()}
    tensors[PREFIX + "o_proj.weight"] = torch.randn(WIDTH, HEADS * D) / WIDTH**0.5
    tensors["model.layers.0.input_layernorm.weight"] = 1 + 0.1 * torch.randn(WIDTH)
    tensors = {name: x.bfloat16() for name, x in tensors.items()}
    save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(CONFIG, file)
    numpy.save(os.path.join(folder, "hidden.npy"), torch.randn(TOKENS, WIDTH).numpy())


class Module:
    """The module in a dtype, without its output projection."""

    def __init__(self, folder, dtype):
        from safetensors.torch import load_file

        config = transformers.LlamaConfig(**CONFIG, attn_implementation="eager")
        tensors = load_file(os.path.join(folder, "model.safetensors"))
        self.attention = LlamaAttention(config, 0)
        self.attention.load_state_dict(
            {name.removeprefix(PREFIX): x for name, x in tensors.items() if name.startswith(PREFIX)}
        )
        self.attention = self.attention.to(dtype).eval()
        self.attention.o_proj = torch.nn.Identity()
        self.hidden = torch.from_numpy(numpy.load(os.path.join(folder, "hidden.npy")))[None].to(dtype)
        forbidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
        self.mask = torch.zeros(1, 1, TOKENS, TOKENS, dtype=dtype).masked_fill(forbidden, torch.finfo(dtype).min)
        self.rotary = LlamaRotaryEmbedding(config)

    def context(self):
        """[H,T,d]"""
        with torch.inference_mode():
            angles = self.rotary(self.hidden, torch.arange(TOKENS)[None])
            joined, _ = self.attention(self.hidden, position_embeddings=angles, attention_mask=self.mask)
        return joined[0].unflatten(-1, (HEADS, D)).transpose(0, 1)


def serve(folder):
    torch.set_num_threads(os.cpu_count())
    modules = {}
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "version":
            print(f"{transformers.__version__}, PyTorch {torch.__version__}", flush=True)
            continue
        dtype = rest if word == "context" else "float32"
        if dtype not in modules:
            modules[dtype] = Module(folder, getattr(torch, dtype))
            modules[dtype].context()  # the first run takes memory
        start = time.perf_counter()
        context = modules[dtype].context()
        seconds = time.perf_counter() - start
        if word == "save":
            numpy.save(rest, context.contiguous().numpy())
        print(f"{seconds:.4f}", flush=True)


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else serve(sys.argv[2])
