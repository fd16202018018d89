"""Makes the files beside it, by NumPy and the safetensors package themselves (numpy 2.4.6, safetensors 0.8.0, torch 2.15
for bfloat16):

    python3 tests/golden/binary/make_binary.py

The numbers of an array are, in row-major order, k = 0, 1, ...: (k - 5) / 2 for floats, k - 5 for integers, k % 3 == 0
for booleans. Every one of them is exact in every dtype.
"""

import json
import os

import numpy
import torch
from numpy.lib import format as npy
from safetensors.torch import save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def numbers(dtype, shape):
    k = numpy.arange(int(numpy.prod(shape)))
    kind = numpy.dtype(dtype).kind
    return {"f": (k - 5) / 2, "i": k - 5, "b": k % 3 == 0}[kind].astype(dtype).reshape(shape)


def write_npy(name, dtype, shape, fortran=False, version=(1, 0)):
    array = numbers(dtype, shape)
    with open(name + ".npy", "wb") as file:
        npy.write_array(file, numpy.asfortranarray(array) if fortran else array, version=version)


for dtype in ("<f4", ">f4", "<f8", ">f8", "<f2", ">f2", "<i8", ">i8", "|b1"):
    name = {"<": "little-", ">": "big-", "|": ""}[dtype[0]] + dtype[1:]
    write_npy(name, dtype, (3, 4))
    write_npy(name + "-fortran", dtype, (3, 4), fortran=True)
write_npy("batch", "<f4", (2, 3, 2))
write_npy("batch-fortran", ">f8", (2, 3, 2), fortran=True)
write_npy("version-2", "<f4", (3, 4), version=(2, 0))
write_npy("version-3", "<f4", (3, 4), version=(3, 0))


def tensor(dtype, shape):
    source = {torch.int64: "<i8", torch.bool: "|b1"}.get(dtype, "<f4")
    return torch.from_numpy(numbers(source, shape)).to(dtype)


save_file(
    {
        "inputs": tensor(torch.float64, (3, 4)),
        "W_query": tensor(torch.float32, (4, 2)),
        "W_key": tensor(torch.float16, (4, 2)),
        "W_value": tensor(torch.bfloat16, (4, 2)),
        "W_query.bias": tensor(torch.int64, (2,)),
        "W_key.bias": tensor(torch.bool, (2,)),
        "W_value.bias": tensor(torch.bool, (2,)),
        "mask": torch.triu(torch.ones(4, 4, dtype=torch.uint8), diagonal=1),
        "weights": torch.zeros(1, 1, 1, 1, 0, dtype=torch.int8),
    },
    "dtypes.safetensors",
    metadata={
        "attn": "0.1.0",
        "format": "pt",
        "tokens": json.dumps(["a", "\u00e9", "c"]),
        "settings": json.dumps({"seed": 7, "causal": False}),
    },
)
save_file({"inputs": tensor(torch.float32, (2, 1))}, "small.safetensors")
