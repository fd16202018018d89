"""Makes the files beside it: .npz by NumPy itself (1.24.2), .pt by tests/golden/torch_save.py.

    python3 tests/golden/archive/make_archive.py

The numbers of a tensor are, in row-major order, k = 0, 1, ...: (k - 5) / 2 for floats, k - 5 for whole numbers, k % 3 == 0
for booleans, as in tests/golden/binary, wherever they lie in their storage. Those of state-dict.pt, checkpoint.pt and parameters.pt
are the parameters of tests/golden/causal-123.json, those of context.pt and operands.* its stages.
"""

import io
import json
import os
import struct
import sys
import zlib
from collections import OrderedDict

import numpy

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(folder))
import torch_save
from torch_save import Storage, Tensor, state_dict

os.chdir(folder)


def numbers(dtype, *shape):
    k = numpy.arange(int(numpy.prod(shape)))
    kind = numpy.dtype(dtype).kind
    return {"f": (k - 5) / 2, "i": k - 5, "u": k % 3 == 0, "b": k % 3 == 0}[kind].astype(dtype).reshape(shape)


def bfloat16(array):
    return (array.astype("<f4").view("<u4") >> 16).astype("<u2")


golden = json.load(open("../causal-123.json"))
parameters = [(name, Tensor(numpy.array(golden["parameters"][name], "<f4"))) for name in
              ("W_query.weight", "W_key.weight", "W_value.weight")]
mask = ("mask", Tensor(numpy.triu(numpy.ones((6, 6), "<f4"), 1)))
torch_save.save(state_dict([mask] + parameters), "state-dict.pt")
torch_save.save({"model": state_dict([mask] + parameters), "epoch": 3, "loss": 0.5, "best": None, "done": True,
                 "large": 2**70, "history": [1.5, (2, -3)], "note": "tr\u00e4ned"}, "checkpoint.pt")
torch_save.save({name: Tensor(t.storage, t.sizes, parameter=True) for name, t in parameters}, "parameters.pt", protocol=4)
torch_save.save(Tensor(numpy.array(golden["stages"]["context"], "<f4")), "context.pt")
operands = {name: numpy.array(golden["stages"][name], "<f4") for name in ("query", "key", "value")}
torch_save.save({name: Tensor(array) for name, array in operands.items()}, "operands.pt")
numpy.savez("operands.npz", **operands)
torch_save.save(Tensor(numbers("<f4", 3, 4)), "alone.pt")
torch_save.save({"inputs": Tensor(numbers("<f4", 3, 4))}, "small.pt")

# Views: transposed, a slice in the middle, one row for all, two of one storage, every other number, columns from the right.
inputs = numbers("<f8", 3, 4)
row = numbers("<f4", 4, 2)
shared = numpy.concatenate([numbers("<f4", 4, 2).reshape(-1), numpy.array([7, 7]), numbers("<f4", 2)]).astype("<f4")
both = Storage(shared)
every_other = numpy.zeros(16, "<f2")
every_other[::2] = numbers("<f2", 8)
torch_save.save({
    "inputs": Tensor(Storage(inputs.T), (3, 4), (1, 3)),
    "W_query": Tensor(both, (4, 2), (2, 1)),
    "W_query.bias": Tensor(both, (2,), (1,), offset=10),
    "W_key": Tensor(Storage(every_other), (4, 2), (4, 2)),
    "W_key.bias": Tensor(numbers("<i8", 2)),
    "W_value": Tensor(Storage(bfloat16(numbers("<f4", 4, 2)), "bfloat16"), (4, 2), (2, 1)),
    "W_value.bias": Tensor(Storage(numpy.array([-2.5], "<f4")), (2,), (0,)),
    "mask": Tensor(numpy.triu(numpy.ones((3, 3), "u1"), 1)),
    "attn_mask": Tensor(numbers("|b1", 3, 3)),
    "comment": Tensor(numpy.zeros((1, 1, 1, 1, 0), "<i4")),
}, "views.pt")
torch_save.save({"inputs": Tensor(numbers("<f8", 3, 4)), "W_query": Tensor(numbers("<f4", 4, 2)),
                 "W_key": Tensor(numbers("<f2", 4, 2)), "W_value": Tensor(numbers("<i8", 4, 2))}, "big-endian.pt", order="big")

# What is refused.
torch_save.save({"model": state_dict(parameters), "optimizer": {"state": {0: {"exp_avg": Tensor(numbers("<f4", 2, 3))}}}},
                "two-dicts.pt")
torch_save.save({"inputs": Tensor(numbers("<i4", 3, 4).astype("<i4"))}, "int32.pt")
torch_save.save({"inputs": Tensor(Storage(numpy.arange(12, dtype="<u2")), (3, 4))}, "uint16.pt")
torch_save.save([Tensor(numbers("<f4", 3, 4))], "list.pt")
import zipfile  # noqa: E402

data, storages = torch_save.pickled({"inputs": Tensor(numbers("<f4", 3, 4))})
with zipfile.ZipFile("compressed.pt", "w", zipfile.ZIP_DEFLATED) as file:
    for name, content in torch_save.entries({"inputs": Tensor(numbers("<f4", 3, 4))}, "compressed"):
        file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


class SelfAttention:
    def __init__(self):
        self.weight = Tensor(numbers("<f4", 3, 4))


SelfAttention.__module__ = "__main__"
torch_save.save(SelfAttention(), "module.pt")

# .npz
numpy.savez("arrays.npz", inputs=numbers("<f8", 3, 4), W_query=numpy.asfortranarray(numbers(">f4", 4, 2)),
            W_key=numbers("<f2", 4, 2), W_value=numbers("<i8", 4, 2), mask=numpy.triu(numpy.ones((3, 3), "u1"), 1),
            comment=numpy.array([{"an": "object"}]))
numpy.savez("alone.npz", numbers("<f4", 3, 4))
numpy.savez("two-nameless.npz", numbers("<f4", 3, 4), numbers("<f4", 3, 4))
numpy.savez_compressed("compressed.npz", inputs=numbers("<f4", 3, 4))


class Pipe(io.RawIOBase):
    """Where nobody can go back: then the sizes stand behind the data."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


with Pipe("streamed.npz") as pipe:
    numpy.savez(pipe, inputs=numbers("<f4", 3, 4))


def wide(entries):
    """An archive whose directory has all sizes and places in 64 bits, as one of more than 4 GiB has them."""
    data, directory = b"", b""
    for name, content in entries:
        begin, check, name = len(data), zlib.crc32(content), name.encode()
        extra = struct.pack("<2H2Q", 1, 16, len(content), len(content))
        data += struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0, check, 2**32 - 1, 2**32 - 1, len(name), len(extra))
        data += name + extra + content
        extra = struct.pack("<2H3Q", 1, 24, len(content), len(content), begin)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 45, 45, 0, 0, 0, 0, check, 2**32 - 1, 2**32 - 1, len(name),
                                 len(extra), 0, 0, 0, 0, 2**32 - 1) + name + extra
    count, end = len(entries), len(data) + len(directory)
    return (data + directory + struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(directory), len(data))
            + struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
            + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0))


with open("wide.pt", "wb") as file:
    file.write(wide(torch_save.entries({"inputs": Tensor(numbers("<f4", 3, 4))}, "wide")))
