# SPDX-License-Identifier: MIT
"""Arrays of NumPy, PyTorch, JAX and ml_dtypes -> .safetensors, bit for bit, and back."""
import json
import struct
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy

Array = numpy.ndarray[Any, Any]

# The name of a dtype in NumPy, PyTorch and ml_dtypes -> in .safetensors.
DTYPES = {
    "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "int32": "I32", "int64": "I64", "bool": "BOOL",
}
NUMPY = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1", "BOOL": "?"}


def is_array(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or hasattr(value, "dtype") and len(getattr(value, "shape", ())) > 0


def _parts(name: str, value: Any) -> Tuple[str, Tuple[int, ...], Array]:
    """The dtype, the shape, and the numbers as bytes."""
    dtype = str(getattr(value, "dtype", "")).rpartition(".")[2]
    if hasattr(value, "detach"):  # a tensor of PyTorch: NumPy lacks bfloat16 and float8
        value = value.detach().cpu().resolve_neg().contiguous()
        shape = tuple(value.shape)
        small = not hasattr(numpy, dtype) and dtype != "bool"
        value = value.reshape(-1).view(__import__("torch").uint8).numpy() if small else value.numpy()
    else:
        rows = isinstance(value, (list, tuple))
        value = numpy.asarray(value)
        if rows and value.dtype.kind in ("f" if name == "attn_mask" else "fiu"):  # as in JSON
            value = value.astype("float32")
        shape, small = value.shape, False
    if not small:
        if value.dtype.kind in "iu" and value.dtype.name not in DTYPES:
            value = value.astype("int64")
        dtype = value.dtype.name
        value = numpy.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"), copy=False)).reshape(-1)
    if dtype not in DTYPES:
        raise TypeError(f"{name}: expected an array of {', '.join(DTYPES)}, got {dtype}")
    return DTYPES[dtype], shape, value.view("u1")


def write(path: str, arrays: Mapping[str, Any], metadata: Optional[Mapping[str, str]] = None) -> None:
    """Writes named arrays to a .safetensors file."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    blocks, at = [], 0
    for name, value in arrays.items():
        dtype, shape, numbers = _parts(name, value)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + numbers.nbytes]}
        blocks.append(numbers)
        at += numbers.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for numbers in blocks:
            numbers.tofile(file)


def _array(dtype: str, raw: Array) -> Array:
    """In NumPy's own dtype; bfloat16 and float8 become float32, which holds each of their numbers."""
    if dtype in NUMPY:
        return raw.view(NUMPY[dtype])
    if dtype == "BF16":
        return (raw.view("<u2").astype("<u4") << 16).view("<f4")
    if dtype == "F8_E5M2":  # the upper half of a float16
        return (raw.astype("<u2") << 8).view("<f2").astype("<f4")
    bits = raw.astype("<u2")  # its exponent is 8 less than that of a float16
    numbers: Array = ((bits & 128) << 8 | (bits & 127) << 7).view("<f2").astype("<f4") * 256
    return numpy.where(bits & 127 == 127, numbers * numpy.nan, numbers)


def read(path: str) -> Tuple[Dict[str, Array], Dict[str, str]]:
    """The arrays and the metadata of a .safetensors file."""
    whole = numpy.fromfile(path, "u1")
    start = 8 + int(whole[:8].view("<u8")[0])
    header = json.loads(whole[8:start].tobytes())
    metadata = header.pop("__metadata__", {})
    return {name: _array(row["dtype"], whole[start:][slice(*row["data_offsets"])]).reshape(row["shape"])
            for name, row in header.items()}, metadata
