# SPDX-License-Identifier: MIT
"""Frozen tensors: .safetensors files as the make_*.py scripts below this directory write and read them.

Written by hand rather than by the safetensors package, whose order of the metadata changes from run to run: here the
same tensors give the same bytes. The header is JSON, padded with spaces to a multiple of 8 bytes; the tensors follow in
the order of the header. Every script checks at its end that the safetensors package reads what it wrote.
"""

import json
import struct

import numpy

NAMES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}
NAMES.update({"int32": "I32", "int64": "I64", "uint8": "U8", "bool": "BOOL"})
BYTES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "BOOL": "|b1"}


def save(path, tensors, metadata=None):
    """tensors: name -> NumPy array (bfloat16 by ml_dtypes); metadata: name -> text, "settings" a dict or text."""
    header, data, end = {}, [], 0
    if metadata:
        text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
        header["__metadata__"] = text
    for name, array in tensors.items():
        bytes_ = numpy.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [end, end + len(bytes_)],
        }
        data.append(bytes_)
        end += len(bytes_)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def load(path):
    """(tensors, dtypes, settings): floats as float64 arrays, whatever they are stored as; dtypes: name -> "F16"."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    settings = json.loads(header.pop("__metadata__", {}).get("settings", "{}"))
    tensors, dtypes = {}, {}
    for name, item in header.items():
        begin, end = item["data_offsets"]
        array = numpy.frombuffer(data[begin:end], BYTES[item["dtype"]])
        if item["dtype"] == "BF16":
            array = (array.astype("<u4") << 16).view("<f4")
        if array.dtype.kind == "f":
            array = array.astype("<f8")
        tensors[name], dtypes[name] = array.reshape(item["shape"]), item["dtype"]
    return tensors, dtypes, settings


def verify(path):
    """That the safetensors package reads the file with the same names, shapes and dtypes."""
    from safetensors import safe_open

    tensors, dtypes, _ = load(path)
    with safe_open(path, framework="pt") as file:
        assert sorted(file.keys()) == sorted(tensors), path
        for name in tensors:
            view = file.get_slice(name)
            assert view.get_shape() == list(tensors[name].shape) and view.get_dtype() == dtypes[name], (path, name)
