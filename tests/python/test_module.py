# SPDX-License-Identifier: MIT
"""The module attn: arrays in and out, options, results, reports, threads. tests/check_python.sh runs it."""
import concurrent.futures
import gc
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import attn
import numpy
import pytest
from attn import _arrays, _cases, _program, _result

TOP = pathlib.Path(__file__).resolve().parents[2]
X = numpy.array([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64]], "float32")


def normal(*shape, seed=0):
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


def printed(*words):
    return subprocess.run([attn.program(), *words], capture_output=True, check=True, encoding="utf-8").stdout


# --- arrays

@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "bool", ">f4", ">f8"])
def test_numpy_arrays_keep_their_bits(tmp_path, dtype):
    array = (normal(3, 4, 5) * 10).astype(dtype)
    for given in (array, array.T, array[::2, 1:], array[:0], array[0, 0, :1]):
        _arrays.write(str(tmp_path / "x"), {"x": given}, {"tokens": "[]"})
        read, metadata = _arrays.read(str(tmp_path / "x"))
        assert metadata == {"tokens": "[]"}
        assert read["x"].dtype == array.dtype.newbyteorder("<")
        numpy.testing.assert_array_equal(read["x"], given)


def test_small_integers_become_int64(tmp_path):
    _arrays.write(str(tmp_path / "x"), {"x": numpy.arange(4, dtype="int16"), "y": numpy.arange(4, dtype="uint8")})
    read = _arrays.read(str(tmp_path / "x"))[0]
    assert read["x"].dtype == read["y"].dtype == "int64"


def test_other_objects_are_errors(tmp_path):
    with pytest.raises(TypeError, match="x: expected an array of float16, .*, got complex128"):
        _arrays.write(str(tmp_path / "x"), {"x": numpy.array([1j])})
    with pytest.raises(ValueError):
        attn.self([[1.0, 2.0], [3.0]])


def test_lists_are_float32():
    for rows in ([[1.0, 2.0]], [[1, 2]], ((1, 2),), [numpy.arange(2)]):
        assert attn.self(rows, d_out=1).settings["dtype"] == "f32"
    assert attn.self(numpy.array([[1.0, 2.0]]), d_out=1).settings["dtype"] == "f64"


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_every_number_of_ml_dtypes(tmp_path, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    codes = numpy.arange(2**16 if dtype == "bfloat16" else 2**8, dtype="u2" if dtype == "bfloat16" else "u1")
    array = codes.view(getattr(ml_dtypes, dtype))
    _arrays.write(str(tmp_path / "x"), {"x": array})
    assert pathlib.Path(tmp_path / "x").read_bytes()[-codes.nbytes:] == codes.tobytes()
    numpy.testing.assert_array_equal(_arrays.read(str(tmp_path / "x"))[0]["x"], array.astype("float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
def test_tensors_of_pytorch(dtype):
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(normal(2, 8, 5, seed=i)).transpose(1, 2).to(getattr(torch, dtype)) for i in range(3))
    result = attn.sdpa(q.requires_grad_(), k, v, causal=True)
    assert result.settings["dtype"] == _names()[dtype]
    same = attn.sdpa(*(x.detach().double().numpy() for x in (q, k, v)), causal=True, dtype=_names()[dtype])
    numpy.testing.assert_array_equal(result.context, same.context)
    attn.assert_attention(torch.from_numpy(result.context.copy()).to(q.dtype), q, k, v, causal=True)


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    q = jax.numpy.asarray(normal(4, 8), "bfloat16")
    assert attn.sdpa(q, q, q).settings["dtype"] == "bf16"
    attn.assert_attention(jax.numpy.asarray(attn.sdpa(q, q, q).context, "bfloat16"), q, q, q)


def _names():
    return {name: short for short, name in _cases.DTYPES.items()}


# --- options

def test_options_are_those_of_the_help():
    options = _program.options()
    assert options["causal"] == options["no_causal"] == "" and options["window"] == "L,R"
    assert options["weights"] == options["grad"] == options["key_inputs"] == "FILE" and options["query"] == "LIST"
    assert {"stages", "dtype", "d_out", "kv_heads", "threads", "explain", "layout"} <= {*options}


def test_results_are_those_of_the_program():
    result = attn.multihead(TOP / "data/inputs.json", 2, seed=7, qkv_bias=True, causal=False)
    told = json.loads(printed("multihead", str(TOP / "data/inputs.json"), "-H", "2", "--seed", "7", "--qkv-bias",
                              "--no-causal", "--format", "json"))
    assert list(result) == [name for name in told if isinstance(told[name], list) and name not in ("tokens", "inputs")]
    for name in result:
        numpy.testing.assert_array_equal(result[name], numpy.array(told[name], "float32"))
    assert result.settings == told["settings"] and result.labels == {"tokens": told["tokens"]}


@pytest.mark.parametrize("options", [
    {"window": (1, 0)}, {"window": [1, 0]}, {"window": numpy.array([1, 0])}, {"window": "1,0"}, {"causal": True},
    {"scale": numpy.float32(0.5)}, {"scale": "1/sqrt(2)"}, {"stages": ["weights", "context"]}, {"stages": {"context"}}, {"threads": 1},
    {"attn_mask": [[True, False, True]] * 3}, {"attn_mask": numpy.tri(3, dtype=bool)}, {"sinks": [0.5]},
    {"kv_lengths": [2]}, {"document_ids": [0, 0, 1]}, {"softcap": None}, {"grad": True},
    {"grad": numpy.ones((3, 3), "float32")}, {"tokens": ["a", "b", "c"]}, {"causal": False}, {"random_seed": 1},
])
def test_options(options):
    result = attn.sdpa(X, X, X, **options)
    assert result.context.shape == (3, 3) and ("grad_query" in result) == ("grad" in options)
    assert attn.why(result.context, X, X, X, **{**options, "stages": None, "grad": None}).right


@pytest.mark.parametrize("positions", [[3, 4, 5], range(3, 6), (i for i in (3, 4, 5)), {3: 0, 4: 0, 5: 0}.keys(),
                                       numpy.arange(3, 6), "3-5"])
def test_lists_of_an_option(positions):
    shifted = attn.self(X, d_out=2, rope="half", positions=positions)
    assert shifted.settings["positions"] in ("3-5", "3,4,5")
    numpy.testing.assert_allclose(shifted.scores, attn.self(X, d_out=2, rope="half").scores, atol=1e-5)


@pytest.mark.parametrize("options, message", [
    ({"causal": 1}, "causal= is True or False, got 1"), ({"causal": "yes"}, "causal= is True or False, got 'yes'"),
    ({"softcap": True}, "softcap= takes C, got True"), ({"window": False}, "window= takes L,R, got False"),
])
def test_flags_and_values(options, message):
    with pytest.raises(TypeError, match=message):
        attn.sdpa(X, X, X, **options)


@pytest.mark.parametrize("tokens", [["7", "8", "7"], [7, 8, 7], (7, 8, 7), numpy.array([7, 8, 7]), ["7", 8, "7"]])
def test_ids_are_labels(tokens):
    assert attn.self(X, d_out=2, tokens=tokens).labels == {"tokens": ["7", "8", "7"]}
    assert attn.self(X[None], d_out=2, tokens=[tokens]).labels == {"tokens": [["7", "8", "7"]]}


def test_lists_in_place_of_arrays():
    other = normal(5, 3)
    for given in (other, other.tolist(), list(other)):
        numpy.testing.assert_array_equal(attn.self(X, d_out=2, key_inputs=given).weights,
                                         attn.self(X, d_out=2, key_inputs=other).weights)
    assert attn.self(X, d_out=2, grad=[[1, 0], [0, 1], [1, 1]]).grad_inputs.shape == (3, 3)
    assert "grad_inputs" not in attn.self(X, d_out=2, grad=False)
    with pytest.raises(attn.AttnError, match="attn_mask holds whole numbers"):
        attn.sdpa(X, X, X, attn_mask=[[1, 0, 0], [1, 1, 0], [1, 1, 1]])


def test_queries_and_cross_attention():
    assert attn.causal(X, d_out=2, query="2-3").context.shape == (2, 2)
    assert attn.causal(X, d_out=2, query=[1, 3]).context.shape == (2, 2)
    assert attn.self(X, d_out=2, key_inputs=normal(5, 3)).weights.shape == (3, 5)
    assert attn.self(None, random="4x3", random_seed=5).weights.shape == (4, 4)
    assert attn.sdpa(None, random="2x4x3").context.shape == (2, 4, 3)


def test_weights():
    result = attn.causal(X, d_out=2)
    parameters = {name: result[name] for name in result if name.startswith("W_")}
    again = attn.causal(X, weights=parameters)
    numpy.testing.assert_array_equal(result.context, again.context)
    assert attn.why(result.context, X, causal=True, weights=parameters).right


def test_a_module_of_pytorch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(2, 5, 8)
    mine = module(x, x, x, need_weights=False)[0]
    attn.assert_attention(mine, x, weights=module, heads=2, causal=False)
    assert attn.why(mine, x, weights=module, heads=2).explanations[0].mistakes == ["mask-missing"]


def test_what_the_program_rejects():
    with pytest.raises(attn.AttnError, match="unknown option '--widow'; did you mean '--window'") as error:
        attn.causal(X, widow=3)
    assert error.value.status == 2 and isinstance(error.value, ValueError)
    for truth in (True, False):
        with pytest.raises(attn.AttnError, match="unknown option '--is-causal'; did you mean '--causal'"):
            attn.sdpa(X, X, X, is_causal=truth)
    with pytest.raises(attn.AttnError, match="sinkz"):
        attn.sdpa(X, X, X, sinkz=normal(1))
    with pytest.raises(attn.AttnError, match="^query is 3 x 3, key is 3 x 2"):
        attn.sdpa(X, X[:, :2], X)
    with pytest.raises(ValueError, match="'sdp' is not a mechanism; expected one of self, causal"):
        attn.why(X, X, mechanism="sdp")
    with pytest.raises(TypeError, match="expected inputs, or query, key and value, got 2 arrays"):
        attn.why(X, X, X)
    with pytest.raises(TypeError, match="causal needs arrays, the path of a file, or random="):
        attn.causal(d_out=2)
    for name in ("format", "out", "explain", "help"):
        with pytest.raises(TypeError, match=f"{name}= is only for the command line; save"):
            attn.causal(X, **{name: "json"})


def test_files_in_place_of_arrays(tmp_path):
    _arrays.write(str(tmp_path / "job"), {"query": X, "key": X, "value": X})
    assert attn.sdpa(str(tmp_path / "job")).context.shape == attn.sdpa(tmp_path / "job").context.shape == (3, 3)
    for missing in (lambda: attn.self("no.json"), lambda: attn.sdpa("no.json"), lambda: attn.why("no.json", X)):
        with pytest.raises(attn.AttnError, match="/no.json: No such file"):
            missing()
    with pytest.raises(attn.AttnError, match="two inputs"):  # no array is left out in silence
        attn.sdpa(tmp_path / "job", attn_mask=numpy.tri(3, dtype=bool))
    with pytest.raises(attn.AttnError, match="two inputs"):
        attn.causal(TOP / "data/inputs.json", tokens=list("abcdef"))


@pytest.mark.parametrize("library, name", [("numpy", "float16"), ("torch", "bfloat16"), ("jax.numpy", "bfloat16")])
def test_dtypes_of_libraries(library, name):
    dtype = getattr(pytest.importorskip(library), name)
    assert attn.sdpa(X, X, X, dtype=dtype).settings["dtype"] == _names()[name]


def test_without_the_program(monkeypatch):
    monkeypatch.delenv("ATTN_PROGRAM")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(pathlib.Path, "exists", lambda path: False)
    with pytest.raises(FileNotFoundError, match="install it with: pip install ./src/python"):
        attn.self(X)


# --- results

def test_stages_on_demand():
    result = attn.sdpa(X, X, X)
    assert list(result) == ["context"] and result.lse.shape == result["entropy"].shape == (3,)
    numpy.testing.assert_array_equal(result.query, X)
    assert {"context", "lse", "save"} <= {*dir(result)} and "attn.Result of sdpa: context 3 x 3" in repr(result)
    with pytest.raises(KeyError, match="did you mean 'weights'"):
        result["weight"]
    assert not hasattr(result, "weight") and not hasattr(result, "_weights")
    assert result == result and result != attn.sdpa(X, X, X) and result in {result}
    result.context[0] = 0  # an array like any other


def test_later_changes_of_an_array_do_not_count():
    x = X.copy()
    result = attn.sdpa(x, x, x)
    x[:] = 0
    assert result.lse.any() and attn.diff(attn.sdpa(X, X, X), result).agree


def test_text_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = attn.causal(X, d_out=2, tokens=["a", "b", "c"])
    assert "weights = softmax(masked)" in str(result) and "b  0.4" in str(result)
    assert "softmax" in result.explain() and "b" in result.explain("weights:b,a")
    for suffix in ("svg", "html", "json", "csv", "md", "tex", "safetensors", "txt"):
        result.save(f"x.{suffix}")
        assert os.path.getsize(f"x.{suffix}") > 0
    result.save("picture", "svg")
    assert pathlib.Path("picture").read_text(encoding="utf-8").startswith("<svg")
    attn.causal(X, d_out=2, stages="context").save(tmp_path / "x.npy")
    numpy.testing.assert_array_equal(numpy.load("x.npy"), result.context)


def test_what_a_notebook_shows(monkeypatch):
    small, large, many = attn.causal(X), attn.causal(normal(200, 8), stages="weights"), attn.sdpa(*[normal(2000, 64)] * 3)
    assert small._repr_html_().startswith("<iframe")
    assert large._repr_html_().startswith("<svg") and many._repr_html_().startswith("<svg")
    for result in (small, large, many, attn.self(normal(3, 100, 64))):
        assert len(result._repr_html_().encode()) <= 200_000
    long = attn.sdpa(*[normal(1, 5000, 1)] * 3, causal=True)  # no table of 5000 x 5000 is made to show it
    assert long._repr_html_().startswith("<pre>scaled dot-product attention")
    assert attn.sdpa(X, X, X, stages="lse")._repr_html_()
    for limit, start in (50_000, "<svg"), (5_000, "<pre>causal attention"), (500, "<pre>&lt;attn.Result"):
        monkeypatch.setattr(_result, "SHOWN_BYTES", limit)
        assert small._repr_html_().startswith(start) and len(small._repr_html_()) <= limit


def test_no_folder_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result, report = attn.self(X), attn.diff(X, X)
    assert len(os.listdir(tmp_path)) == 2
    child = os.fork()
    if child == 0:
        del result, report
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert result.lse.shape == (3,) and str(report)
    del result, report
    gc.collect()
    assert not os.listdir(tmp_path)


# --- reports

def test_why():
    wrong = attn.sdpa(X, X, X, mistake="scale-missing").context
    for mine in (wrong, {"context": wrong}, str(wrong), "context = " + repr(wrong)):
        found = attn.why(mine, X, X, X)
        assert [row.mistakes for row in found.explanations] == [["scale-missing"]] and not found.right
    assert str(found.explanations[0]) == "the scores are not divided by sqrt(3) (scale-missing)"
    assert found.explanations[0].agree == found.explanations[0].of == 9
    assert found.explanations[0].command == "attn sdpa inputs --mistake scale-missing"
    assert "one mistake gives all 9 of your numbers" in str(found) and found.departs == ["context"]
    assert not hasattr(found, "department")


def test_why_of_some_queries():
    mine = attn.causal(X, d_out=2, query=[2], mistake="scale-missing").context
    for query in ([2], "2", range(2, 3)):
        found = attn.why(mine, X, causal=True, d_out=2, query=query)
        assert found.explanations[0].forms == ["scale-missing"]


def test_why_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    attn.causal(X, d_out=2, mistake="mask-missing", stages="context").save("mine.npy")
    for mine in ("mine.npy", tmp_path / "mine.npy"):
        assert attn.why(mine, X, causal=True, d_out=2).explanations[0].forms == ["mask-missing"]


def test_observations():
    right = attn.sdpa(X, X, X).context
    found = attn.why(right[[1, 0, 2]] * 1.5, X, X, X, budget=0.1)
    assert not found.explanations and found.observations
    assert found.observations[0].text == str(found.observations[0]) and found.observations[0].name


def test_diff():
    a, b = attn.self(X, d_out=2), attn.self(X, d_out=2, mistake="scale-missing")
    found = attn.diff(a, b)
    assert found and found.first == "scaled" and not found.stages["weights"]["agrees"]
    assert "the first stage that differs is scaled" in str(found)
    assert not attn.diff(a, b, stages="query,key") and attn.diff(a, b, stages=None)
    assert not attn.diff(a.context, str(a.context)) and attn.diff(a.context, a.context * 2)
    with pytest.raises(AssertionError):
        assert not found


def test_assert_attention():
    q, k, v = (normal(2, 4, 8, seed=i) for i in range(3))
    right = attn.sdpa(q, k, v)
    attn.assert_attention(right.context, q, k, v)
    attn.assert_attention({"context": right.context, "lse": right.lse}, q, k, v)
    attn.assert_attention(right, q, k, v)
    attn.assert_attention(right.weights, q, k, v, stage="weights")
    attn.assert_attention(right.context + 1e-7, query=q, key=k, value=v)
    with pytest.raises(AssertionError, match="scale-missing"):
        attn.assert_attention(attn.sdpa(q, k, v, scale=1).context, q, k, v)
    with pytest.raises(AssertionError, match="^context is 2 x 3 x 8, expected 2 x 4 x 8$"):
        attn.assert_attention(right.context[:, :3], q, k, v)
    with pytest.raises(AssertionError, match="no mistake|not explained|different"):
        attn.assert_attention(right.context + 1e-3 * normal(2, 4, 8), q, k, v, budget=0.1)
    halves = [x.astype("float16") for x in (q, k, v)]
    attn.assert_attention(attn.sdpa(*(x.astype("float64") for x in halves)).context.astype("float16"), *halves)


# --- the program

def test_the_lines_of_the_readme(capsys):
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1), {})
    assert f"It prints `{capsys.readouterr().out.strip()}`." in readme


def test_python_m_attn():
    run = subprocess.run([sys.executable, "-m", "attn", "--version"], capture_output=True, encoding="utf-8", check=True)
    assert run.stdout == printed("--version")
    assert subprocess.run([sys.executable, "-m", "attn", "nothing"], capture_output=True, check=False).returncode == 2


def test_threads():
    def work(seed):
        x = normal(5, 4, seed=seed)
        result = attn.causal(x, d_out=3, seed=seed)
        wrong = attn.causal(x, d_out=3, seed=seed, mistake="mask-missing").context
        return result.context, result.lse, attn.why(wrong, x, causal=True, d_out=3, seed=seed).explanations[0].forms

    shared = attn.self(X)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        stages = list(pool.map(lambda i: shared[("lse", "entropy", "weights")[i % 3]], range(24)))
        made = list(pool.map(work, range(16)))
    assert [array.shape for array in stages] == [(3,), (3,), (3, 3)] * 8
    for seed, (context, lse, forms) in enumerate(made):
        alone = work(seed)
        numpy.testing.assert_array_equal(context, alone[0])
        numpy.testing.assert_array_equal(lse, alone[1])
        assert forms == alone[2] == ["mask-missing"]
