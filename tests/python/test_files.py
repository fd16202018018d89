# SPDX-License-Identifier: MIT
"""NumPy and safetensors read the program's files, and it reads theirs and PyTorch's. tests/check_python.sh runs it."""
import importlib
import json
import subprocess
import sys

import attn
import numpy
import pytest
from test_module import TOP

INPUTS = str(TOP / "data/inputs.json")


def run(*words):
    return subprocess.run([attn.program(), *map(str, words)], capture_output=True, check=True).stdout


def saved_again(path):
    again = path.with_name("again.npy")
    numpy.save(again, numpy.load(path))
    return again.read_bytes()


def numbers(rows, dtype="f8"):
    rows = numpy.array(rows, dtype=object)
    rows[numpy.equal(rows, None)] = -numpy.inf
    return rows.astype(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("stage", ["inputs", "query", "weights", "masked", "context"])
def test_numpy_reads(tmp_path, stage, dtype):
    path, job = tmp_path / "a.npy", ("causal", INPUTS, "--dtype", dtype, "--stages", stage)
    run(*job, "-o", path)
    array, rows = numpy.load(path), json.loads(run(*job, "-f", "json"))[stage]
    expected = numbers(rows, "f4" if dtype == "f32" else "f8")
    assert array.dtype == expected.dtype and array.shape == expected.shape and (array == expected).all()
    assert saved_again(path) == path.read_bytes()


@pytest.mark.parametrize("columns", [1, 10, 100, 1000, 10000, 100000])
def test_headers_of_all_lengths(tmp_path, columns):
    path, given = tmp_path / "a.npy", tmp_path / "inputs.json"
    given.write_text('{"inputs": [[1, 2], [3, 4]]}')
    run("init", "self", "--d-in", 2, "-d", columns, "--init", "randn", "-o", tmp_path / "w.json")
    run("self", given, "-w", tmp_path / "w.json", "--stages", "value", "-o", path)
    assert numpy.load(path).shape == (2, columns) and saved_again(path) == path.read_bytes()


@pytest.mark.parametrize("shape", [(7, 5), (2, 7, 5)])
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("descr", ["<f4", ">f4", "<f8", ">f8", "<f2", ">f2", "<i8", ">i8", "|b1"])
def test_arrays_of_numpy(tmp_path, descr, order, shape):
    array = numpy.random.default_rng(5).integers(-9, 9, shape).astype(descr)
    numpy.save(tmp_path / "a.npy", numpy.array(array, order=order))
    (tmp_path / "a.json").write_text(json.dumps({"inputs": array.astype("f8").tolist()}))
    read = run("self", tmp_path / "a.npy", "--dtype", "f32", "-f", "json")
    assert read == run("self", tmp_path / "a.json", "-f", "json")


def views(folder, seed):
    """Writes a.npz, and returns its arrays. A tensor of each stage is a view of a storage: transposed, with a step,
    from the middle, one row for all."""
    random, storages, arrays = numpy.random.default_rng(seed), [], {}
    for name in "query key value scores scaled masked weights context output".split():
        storage = random.integers(0, 9, 4 * 6 * 8 * 9).astype(random.choice(["f4", "f8", "f2", "i8", "?"]))
        if storages and random.integers(3) == 0:
            storage = storages[-1]
        storages.append(storage)
        view = storage[: 4 * 6 * 8 * int(random.integers(1, 9))].reshape(4, 6, -1)
        view = view[random.integers(4) :, :: random.integers(1, 3)].transpose(random.permutation(3))
        if random.integers(4) == 0:
            view = numpy.broadcast_to(view[:1], view.shape)
        start = view.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
        arrays[name] = storage, view, [step // view.itemsize for step in view.strides], start // view.itemsize
    numpy.savez(folder / "a.npz", **{name: array[1] for name, array in arrays.items()})
    return arrays


def same_as_npz(folder):
    run("diff", folder / "a.npz", folder / "a.pt", "--atol", 0, "--rtol", 0)


@pytest.fixture
def torch_save(monkeypatch):
    """tests/golden/torch_save.py, which makes modules with the names of PyTorch's: for one test."""
    monkeypatch.syspath_prepend(TOP / "tests/golden")
    for name in ("torch", "torch._utils", "torch_save"):
        monkeypatch.setitem(sys.modules, name, None)
    del sys.modules["torch_save"]
    return importlib.import_module("torch_save")


@pytest.mark.parametrize("seed", range(1, 9))
def test_views_of_a_pt(tmp_path, torch_save, seed):
    arrays = views(tmp_path, seed)
    stores = {id(storage): torch_save.Storage(storage) for storage, *_ in arrays.values()}
    torch_save.save({name: torch_save.Tensor(stores[id(storage)], view.shape, steps, start)
                     for name, (storage, view, steps, start) in arrays.items()}, str(tmp_path / "a.pt"))
    same_as_npz(tmp_path)


@pytest.mark.parametrize("seed", range(1, 5))
def test_views_by_pytorch(tmp_path, seed):
    torch = pytest.importorskip("torch")
    torch.save({name: torch.from_numpy(storage).as_strided(view.shape, steps, start)
                for name, (storage, view, steps, start) in views(tmp_path, seed).items()}, tmp_path / "a.pt")
    same_as_npz(tmp_path)


@pytest.mark.parametrize("options", ["self", "causal --dropout 0.5", "causal --dtype f64", "multihead -H 2 --qkv-bias",
                                     "multihead -H 2 --stacked -q 2"])
def test_safetensors_reads(tmp_path, options):
    safetensors = pytest.importorskip("safetensors")
    pytest.importorskip("safetensors.numpy")
    path, job = tmp_path / "a.safetensors", (*options.split(), INPUTS)
    run(*job, "-o", path)
    expected = json.loads(run(*job, "-f", "json"))
    for name in ("format", "lacks", "queries"):  # of JSON alone
        expected.pop(name, None)
    file = safetensors.safe_open(path, "numpy")
    metadata, names = file.metadata(), ("attn", "mechanism", "settings", "tokens")
    for name in names:
        assert (metadata[name] if name in names[:2] else json.loads(metadata[name])) == expected.pop(name)
    assert sorted(expected) == sorted(file.keys())
    for name, rows in expected.items():
        tensor = file.get_tensor(name)
        rows = numbers(rows, tensor.dtype)
        assert tensor.shape == rows.shape and (tensor == rows).all(), name


def test_what_safetensors_writes(tmp_path):
    write = pytest.importorskip("safetensors.numpy").save_file
    random, tokens = numpy.random.default_rng(6), list("abcde")
    shapes = {"inputs": (5, 4), "W_query.weight": (2, 4), "W_key.weight": (2, 4), "W_value.weight": (2, 4)}
    tensors = {name: random.standard_normal(shape).astype("f4") for name, shape in shapes.items()}
    write(tensors, tmp_path / "a.safetensors", {"tokens": json.dumps(tokens)})
    rows = {name: tensor.astype("f8").tolist() for name, tensor in tensors.items()}
    (tmp_path / "a.json").write_text(json.dumps(rows | {"tokens": tokens}))
    assert run("self", tmp_path / "a.safetensors", "-f", "json") == run("self", tmp_path / "a.json", "-f", "json")
