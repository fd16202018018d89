# SPDX-License-Identifier: MIT
"""torch.save without PyTorch: the same bytes, of tensors over NumPy's arrays.

The pickle is made by Python's own pickler, of objects that reduce as PyTorch's do (torch/_tensor.py, _reduce_ex_internal)
and whose modules are called as PyTorch's; the archive is laid out as PyTorch's own writer does
(caffe2/serialize/inline_container.cc over miniz): stored entries whose data begin at multiples of 64 bytes, behind an extra
field "FB" of Zs, with the sizes in a data descriptor behind the data and in the directory, and an end of 64 bits.
"""

import io
import pickle
import struct
import sys
import types
import zlib
from collections import OrderedDict

import numpy

# NumPy has no bfloat16: its numbers are the upper halves of float32, held as uint16 in a Tensor that is told so.
STORAGES = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage", "int64": "LongStorage",
            "int32": "IntStorage", "uint8": "ByteStorage", "bool": "BoolStorage", "bfloat16": "BFloat16Storage",
            "complex64": "ComplexFloatStorage", "uint16": "UntypedStorage"}


def _module(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    for key, value in members.items():
        value.__module__, value.__qualname__, value.__name__ = name, key, key
        setattr(module, key, value)


def _named(*_):
    raise NotImplementedError("it stands for its name in a pickle")


def _functions(*names):
    return {name: types.FunctionType(_named.__code__, {}) for name in names}


_module("torch", **{name: type(name, (), {}) for name in sorted(set(STORAGES.values()))}, **_functions("uint16"))
_module("torch._utils", **_functions("_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter"))
torch, utils = sys.modules["torch"], sys.modules["torch._utils"]


class Storage:
    """Bytes that tensors share; dtype is a name of STORAGES."""

    def __init__(self, array, dtype=None):
        self.array = numpy.ascontiguousarray(array).reshape(-1)
        self.dtype = dtype or self.array.dtype.name


class Tensor:
    """A view: without sizes and strides, all of an array's numbers in its own order of axes."""

    def __init__(self, source, sizes=None, strides=None, offset=0, dtype=None, parameter=False):
        self.storage = source if isinstance(source, Storage) else Storage(source, dtype)
        self.sizes = tuple(sizes) if sizes is not None else tuple(numpy.shape(source))
        self.strides, self.offset, self.parameter = strides, offset, parameter
        if strides is None:
            self.strides, step = (), 1
            for size in reversed(self.sizes):
                self.strides, step = (step,) + self.strides, step * max(size, 1)

    def plain(self):
        arguments = (self.storage, self.offset, self.sizes, tuple(self.strides), False, OrderedDict())
        if self.storage.dtype == "uint16":
            return utils._rebuild_tensor_v3, arguments + (torch.uint16,)
        return utils._rebuild_tensor_v2, arguments

    def __reduce_ex__(self, protocol):
        if not self.parameter:
            return self.plain()
        return utils._rebuild_parameter, (Tensor(self.storage, self.sizes, self.strides, self.offset), True, OrderedDict())


def state_dict(tensors):
    """The OrderedDict of a module, with the versions of its modules."""
    state = OrderedDict(tensors)
    state._metadata = OrderedDict([("", {"version": 1}), ("W_query", {"version": 1})])
    return state


def pickled(value, protocol=2):
    """The pickle, and the storages in the order of their keys."""
    storages, keys = [], {}

    class Pickler(pickle.Pickler):
        def persistent_id(self, found):
            if not isinstance(found, Storage):
                return None
            if id(found) not in keys:
                keys[id(found)] = str(len(storages))
                storages.append(found)
            kind = getattr(torch, STORAGES[found.dtype])
            count = found.array.nbytes if kind is torch.UntypedStorage else found.array.size
            return ("storage", kind, keys[id(found)], "cpu", count)

    data = io.BytesIO()
    Pickler(data, protocol=protocol).dump(value)
    return data.getvalue(), storages


def archive(entries, alignment=64):
    """The zip archive of (name, bytes)."""
    data, directory = b"", b""
    for name, content in entries:
        name = name.encode()
        begin, check = len(data), zlib.crc32(content)
        padding = -(begin + 30 + len(name) + 4) % alignment
        extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
        data += struct.pack("<4s5H3L2H", b"PK\3\4", 0, 0x0808, 0, 0, 0, 0, 0, 0, len(name), len(extra)) + name + extra
        data += content + struct.pack("<4s3L", b"PK\7\x08", check, len(content), len(content))
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 0, 0, 0x0808, 0, 0, 0, check, len(content), len(content),
                                 len(name), 0, 0, 0, 0, 0, begin) + name
    count, begin, end = len(entries), len(data), len(data) + len(directory)
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 0x031e, 45, 0, 0, count, count, len(directory), begin)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    return data + directory + wide + locator + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory),
                                                          begin, 0)


def entries(value, folder="archive", protocol=2, order="little", identity=b"0" * 40):
    """What torch.save puts into the archive."""
    data, storages = pickled(value, protocol)
    swapped = [s.array.astype(s.array.dtype.newbyteorder(">")) if order == "big" else s.array for s in storages]
    return [(f"{folder}/data.pkl", data), (f"{folder}/byteorder", order.encode())] + [
        (f"{folder}/data/{key}", swapped[key].tobytes()) for key in range(len(storages))
    ] + [(f"{folder}/version", b"3\n"), (f"{folder}/.data/serialization_id", identity)]


def save(value, path, **how):
    folder = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    with open(path, "wb") as file:
        file.write(archive(entries(value, folder, **how)))
