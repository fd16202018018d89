# SPDX-License-Identifier: MIT
"""Makes the seeds of the targets archive and pickle: small archives, and pickles whose storages the target has.

    python3 tests/fuzz/make_seeds.py
"""

import io
import os
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
