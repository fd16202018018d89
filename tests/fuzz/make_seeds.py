# SPDX-License-Identifier: MIT
"""Makes the seeds of the targets archive, pickle and gguf: small archives, pickles whose storages the target has, and
GGUF files of one block.

    python3 tests/fuzz/make_seeds.py
"""

import io
import os
import struct
import sys
import zipfile

import numpy

tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(tests, "golden"))
os.chdir(os.path.join(tests, "fuzz", "seeds"))
from torch_save import Storage, Tensor, archive, pickled, state_dict


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def zipped(*entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in entries:
            file.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def npy(array):
    data = io.BytesIO()
    numpy.save(data, array)
    return data.getvalue()


small = Storage(numpy.zeros(16, "<f4")), Storage(numpy.zeros(1, "<f4"))
named = {"inputs": Tensor(small[0], (4, 4), (4, 1)), "W_query": Tensor(small[1], (4, 2), (0, 0))}
write("archive/pt", archive([("a/data.pkl", pickled({"inputs": Tensor(small[1], (1, 1), (1, 1))})[0]), ("a/data/0", bytes(4))], 1))
write("archive/pt-zip", zipped(("a/data.pkl", pickled({"inputs": Tensor(small[1], (1, 1), (1, 1))})[0]), ("a/data/0", bytes(4))))
write("archive/npz", zipped(("inputs.npy", npy(numpy.ones((2, 1), "<f4")))))
write("archive/npz-alone", zipped(("arr_0.npy", npy(numpy.ones((2, 1), "<f4")))))
write("archive/empty", zipped())
write("archive/other", zipped(("a", b"b")))
write("pickle/state-dict", pickled(state_dict(named))[0])
write("pickle/transposed", pickled({"inputs": Tensor(small[0], (2, 4), (1, 2), 8)})[0])
write("pickle/parameter", pickled({"W_key": Tensor(small[0], (4, 4), parameter=True)}, 4)[0])
write("pickle/alone", pickled(Tensor(small[0], (16,)))[0])
write("pickle/checkpoint", pickled({"model": named, "epoch": 3, "loss": [0.5, (None, 2**70)]})[0])
write("pickle/untyped", pickled({"inputs": Tensor(Storage(numpy.zeros(32, "<u2")), (4, 8))})[0])
write("pickle/system", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.")
write("pickle/deep", b"\x80\x02" + b"]" * 40 + b"a" * 39 + b".")
write("pickle/memo", b"\x80\x02]q\x00h\x00ah\x00a.")


def gguf(arch, values, tensors):
    """Values are whole numbers, float32s, texts or lists of truth; a tensor is its sizes, type and bytes."""
    def text(x):
        return struct.pack("<Q", len(x)) + x.encode()

    def value(x):
        if isinstance(x, list):
            return struct.pack("<IIQ", 9, 7, len(x)) + bytes(x)
        if isinstance(x, str):
            return struct.pack("<I", 8) + text(x)
        return struct.pack("<If", 6, x) if isinstance(x, float) else struct.pack("<II", 4, x)

    values = {"general.architecture": arch} | {f"{arch}.{key}": x for key, x in values.items()}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    head += b"".join(text(key) + value(x) for key, x in values.items())
    data = b""
    for name, (sizes, kind, content) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, len(data))
        data += content + bytes(-len(content) % 32)
    return head + bytes(-len(head) % 32) + data


heads = {"attention.head_count": 2, "attention.head_count_kv": 1}
matrix = ((4, 4), 0, bytes(64))
write("gguf/llama", gguf("llama", heads | {"rope.freq_base": 10000.0, "rope.dimension_count": 2}, {
    "blk.0.attn_q.weight": matrix, "blk.0.attn_k.weight": ((4, 2), 1, bytes(16)), "rope_freqs.weight": ((1,), 0, bytes(4)),
    "blk.0.attn_v.weight": ((4, 2), 30, bytes(16)), "blk.0.attn_output.weight": matrix,
}))
write("gguf/packed", gguf("olmo2", heads | {"attention.sliding_window": 2, "attention.sliding_window_pattern": [1, 0]}, {
    "blk.1.attn_qkv.weight": ((32, 8), 2, bytes(144)), "blk.1.attn_output.weight": ((4, 4), 18, b""),
}))
write("gguf/latent", gguf("deepseek2", heads | {"expert_gating_func": 2, "rope.scaling.type": "yarn"}, {
    "blk.0.attn_q.weight": matrix, "blk.0.attn_kv_a_mqa.weight": ((4, 3), 0, bytes(48)),
    "blk.0.attn_k_b.weight": ((1, 2, 2), 0, bytes(16)), "blk.0.attn_v_b.weight": ((2, 2, 2), 0, bytes(32)),
    "blk.0.attn_output.weight": matrix, "blk.0.attn_kv_a_norm.weight": ((2,), 0, bytes(8)),
}))
