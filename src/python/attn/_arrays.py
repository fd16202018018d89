# SPDX-License-Identifier: MIT
"""Arrays of NumPy, PyTorch, JAX and ml_dtypes -> .safetensors, bit for bit, and back."""
import json
import struct
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy

# Names of dtypes, as NumPy, PyTorch and ml_dtypes have them, and as .safetensors and attn do.
DTYPES = {
    "float16": ("F16", "f16"), "bfloat16": ("BF16", "bf16"), "float32": ("F32", "f32"), "float64": ("F64", "f64"),
    "float8_e4m3fn": ("F8_E4M3", "f8e4m3"), "float8_e5m2": ("F8_E5M2", "f8e5m2"),
    "int32": ("I32", None), "int64": ("I64", None), "uint8": ("U8", None), "bool": ("BOOL", None),
}
READ = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1", "BOOL": "?"}


def is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def dtype_of(value: Any) -> Optional[str]:
    """The name that attn has for the dtype of an array; None where it is no floating-point number's."""
    return DTYPES.get(str(value.dtype).rpartition(".")[2], (None, None))[1]


def _bytes(name: str, value: Any) -> Tuple[str, Tuple[int, ...], bytes]:
    if hasattr(value, "detach"):  # PyTorch's
        value = value.detach().cpu().contiguous()
        dtype, shape = str(value.dtype).rpartition(".")[2], tuple(value.shape)
        numbers = value.reshape(-1)
        raw = (numbers.view(__import__("torch").uint8) if numbers.numel() else numbers.float()).numpy().tobytes()
    else:
        value = numpy.asarray(value)
        if value.dtype == object:
            raise TypeError(f"{name}: expected an array of numbers, got rows of different lengths or other objects")
        if value.dtype.kind in "iu" and value.dtype.name not in DTYPES:
            value = value.astype("int64")
        dtype, shape = value.dtype.name, value.shape
        raw = numpy.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"), copy=False)).tobytes()
    if dtype not in DTYPES:
        raise TypeError(f"{name}: numbers of {dtype}; expected one of {', '.join(DTYPES)}")
    return DTYPES[dtype][0], shape, raw


def write(path: str, arrays: Mapping[str, Any], metadata: Mapping[str, str] = {}) -> None:
    """Writes named arrays to a .safetensors file."""
    header: Dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    blocks, at = [], 0
    for name, value in arrays.items():
        dtype, shape, raw = _bytes(name, value)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        blocks.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(blocks)


def _array(dtype: str, shape: Tuple[int, ...], raw: memoryview) -> numpy.ndarray:
    """As NumPy's own dtype; bfloat16 and float8 widened to float32, which holds each of their numbers."""
    if dtype in READ:
        return numpy.frombuffer(raw, READ[dtype]).reshape(shape)
    if dtype == "BF16":
        return (numpy.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    exponent, mantissa = (4, 3) if dtype == "F8_E4M3" else (5, 2)
    code = numpy.arange(256)
    e, m, bias = (code >> mantissa) & ((1 << exponent) - 1), code & ((1 << mantissa) - 1), (1 << (exponent - 1)) - 1
    table = numpy.where(e > 0, numpy.ldexp(1 + m / 2**mantissa, e - bias), numpy.ldexp(m / 2**mantissa, 1 - bias))
    if dtype == "F8_E5M2":
        table = numpy.where(e == 31, numpy.where(m == 0, numpy.inf, numpy.nan), table)
    else:
        table = numpy.where((e == 15) & (m == 7), numpy.nan, table)
    table = numpy.where(code > 127, -table, table).astype("<f4")
    return table[numpy.frombuffer(raw, "u1")].reshape(shape)


def read(path: str) -> Tuple[Dict[str, numpy.ndarray], Dict[str, str]]:
    """The arrays and the metadata of a .safetensors file."""
    with open(path, "rb") as file:
        whole = memoryview(file.read())
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(bytes(whole[8:8 + size]))
    metadata = header.pop("__metadata__", {})
    return {name: _array(row["dtype"], tuple(row["shape"]), whole[8 + size:][slice(*row["data_offsets"])])
            for name, row in header.items()}, metadata
