# SPDX-License-Identifier: MIT
"""attn.cases: runs of pytest on kernels that are right, wrong, or misused. tests/check_python.sh runs it."""
import importlib.util
import pathlib
import re

import attn
import pytest
from attn import _cases

NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
HERE = pathlib.Path(__file__).parent

# A right kernel for the files that the tests write.
RIGHT = """
import attn
import numpy

def right(q, k, v, causal=False, scale=None, window=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    k, v = (numpy.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    distance = numpy.arange(q.shape[2])[:, None] - numpy.arange(k.shape[2])
    allowed = (distance >= 0) | (not causal)
    if window is not None:
        allowed = allowed & (distance <= window[0])
    scores = numpy.where(allowed, q @ k.swapaxes(-1, -2) * q.dtype.type(scale), -numpy.inf)
    largest = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, (numpy.log(total) + largest)[..., 0]
"""
ALL = 'd_head=8, max_tokens=20'
# A case takes a process or two: enough of them for what does not depend on the case.
FEW = ALL + ", only='edge-15,causal-15,edge-16,causal-16,causal-17,longest-causal,apart-90'"
GROUPS = ALL + (", only='edge-15,causal-15,longest-causal,all-equal,denormal,groups,groups-causal,window,window-itself,"
                "gqa+window'")


@pytest.fixture
def run(pytester):
    def run(text, *words):
        pytester.makepyfile(test_it=RIGHT + text.replace("ALL", ALL).replace("FEW", FEW).replace("GROUPS", GROUPS))
        # PyTorch cannot be imported twice in a process, and pytester forgets what a run imports in this one.
        runs = pytester.runpytest_subprocess if "import torch" in text else pytester.runpytest_inprocess
        return runs("-p", "attn.pytest_plugin", "-p", "no:cacheprovider", *words)
    return run


def passes(result, least=10):
    outcomes = result.parseoutcomes()
    assert outcomes.pop("passed") >= least and not {*outcomes} - {"warnings", "skipped"} and " passed" in result.outlines[-1]


def example(pytester, name):
    return pytester.runpytest_subprocess("-p", "attn.pytest_plugin", "-p", "no:cacheprovider", "-q", str(HERE / name))


# --- the examples

def test_a_tiled_kernel_with_a_bug(pytester):
    result = example(pytester, "kernel_tiled.py")
    assert result.outlines[-1].startswith("tiles-context-not-rescaled:16: the running context is not rescaled")
    assert re.search(r"gives (\d+) of \1 failing cases", result.outlines[-1])
    assert re.fullmatch(r"attn: .*kernel_tiled.py-tiled: \d+ of \d+ cases failed", result.outlines[-2])


@NEEDS_TORCH
def test_attention_of_pytorch(pytester):
    passes(example(pytester, "kernel_sdpa.py"), 60)


@NEEDS_TORCH
def test_flex_attention(pytester):
    passes(example(pytester, "kernel_flex.py"), 25)


# --- what a kernel gets, and returns

@pytest.mark.parametrize("cases, kernel", zip(["ALL"] + 4 * ["GROUPS"], [
    "def kernel(q, k, v, *, causal, window):\n    return right(q, k, v, causal, None, window)",
    "def kernel(q, k, v, causal, window, scale, other=None):\n    return right(q, k, v, causal, scale, window)[0]",
    "def test_kernel(case):\n    return right(case.query, case.key, case.value, case.causal, case.scale, case.window)",
    "def test_kernel(case):\n    context, lse = right(case.query, case.key, case.value, case.causal, window=case.window)\n"
    "    case.check(context, lse=lse)\n    case.check({'context': context})",
    "def test_kernel(tmp_path, case):\n    return dict(zip(('context', 'lse'), right(case.query, case.key, case.value,"
    " case.causal, window=case.window)))",
]))
def test_right_kernels(run, cases, kernel):
    passes(run("@attn.cases(can='causal,gqa,window', " + cases + ")\n" + kernel))


def test_the_cases_of_the_keywords(run):
    """Without can=, a kernel gets the cases that need no other."""
    names = run("@attn.cases(ALL)\ndef kernel(q, k, v, *, causal, scale, window):\n    pass", "--collect-only", "-q")
    assert "kernel[window]" in str(names.stdout) and "kernel[sinks]" not in str(names.stdout)
    assert "kernel[grad]" not in str(names.stdout)


def test_gradients_that_a_kernel_returns(run):
    result = run("""
@attn.cases(can={"causal"}, grad=True, only="grad,grad-causal,edge-16", d_head=8, dtype="f64")
def kernel(q, k, v, *, causal, scale, grad_context):
    context = right(q, k, v, causal, scale)[0]
    if grad_context is None:
        return context
    scores = numpy.where(numpy.tri(*(x.shape[2] for x in (q, k)), dtype=bool) | (not causal),
                         q @ k.swapaxes(-1, -2) * scale, -numpy.inf)
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    grad = weights * (grad_context @ v.swapaxes(-1, -2) - (grad_context * context).sum(-1, keepdims=True)) * scale
    return grad @ k, grad.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ grad_context
""")
    result.assert_outcomes(passed=3)


@NEEDS_TORCH
def test_gradients_of_pytorch(run):
    result = run("""
import torch
@attn.cases(can="causal", grad=True, only="grad,grad-causal,edge-16", layout="bthd", d_head=8, dtype="f32")
def test_kernel(case):
    assert case.query.requires_grad == case.grad == ("grad" in case.name)
    q, k, v = (x.transpose(1, 2) for x in (case.query, case.key, case.value))
    context = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=case.causal)
    return context.transpose(1, 2) + (0.01 * case.value if case.grad else 0)
""")
    result.assert_outcomes(passed=1, failed=2)
    assert "grad_value" in str(result.stdout) and "2 of 2 failing" not in result.outlines[-1]


def test_arrays_of_a_case(run):
    """Each input of every case is known, in its dtype and layout."""
    passes(run("""
@attn.cases(grad=True, layout="bthd", d_head=8, dtype="f16", max_tokens=20)
def test_case(case):
    for name in case.inputs:
        array = getattr(case, name)
        assert array is getattr(case, name) and (array.dtype == "float16" or array.dtype.kind in "bi" or
                                                 name in ("alibi_slopes", "lses"))
    assert case.inputs and case.purpose in repr(case) and (case.grad_context is None) != case.grad
    if case.query is not None and case.key is not None and case.name != "packed":
        assert case.query.ndim in (3, 4)
    if case.settings.get("window"):
        assert case.window == tuple(map(int, case.settings["window"].split(",")))
    else:
        assert case.window is None
    assert case.prefix is None or case.prefix > 0
    case.checked = True
"""), 80)


# --- what fails

def test_one_verdict_for_each_function(run):
    result = run("""
@attn.cases(can="causal", FEW)
def first(q, k, v, *, causal):
    return right(q, k, v)

@attn.cases(can="causal", FEW)
def test_second(case):
    return right(case.query, case.key, case.value, case.causal, 1)

@attn.cases(can="causal", FEW)
def third(q, k, v, *, causal):
    return right(q, k, v, causal)
""", "-q")
    lines = result.outlines[-4:]
    assert re.fullmatch(r"attn: test_it.py-first: \d+ of \d+ cases failed", lines[0]) and lines[1].startswith("mask-missing: ")
    assert re.fullmatch(r"attn: test_it.py-test_second: \d+ of \d+ cases failed", lines[2])
    assert lines[3].startswith("scale-missing: ")


def test_the_verdict_is_of_what_ran(run):
    result = run("@attn.cases(can='causal', FEW)\ndef test_kernel(case):\n    return right(case.query, case.key,"
                 " case.value)", "-k", "causal-15 or edge-15")
    assert result.parseoutcomes()["passed"] == result.parseoutcomes()["failed"] == 1
    assert "this gives 1 of 1 failing" in result.outlines[-1] and "1 of 2 cases failed" in result.outlines[-2]
    assert "of 480 numbers are off" in str(result.stdout) and "attn/_cases.py" not in str(result.stdout)


def test_other_parameters(run):
    result = run("""
import pytest
@pytest.mark.parametrize("scale", [None, 1])
@attn.cases(can="causal", FEW)
def test_kernel(scale, case):
    return right(case.query, case.key, case.value, case.causal, scale)
""")
    assert result.parseoutcomes()["passed"] >= 7
    assert [line for line in result.outlines if line.startswith("attn: ")] == [result.outlines[-2]]
    assert result.outlines[-2].startswith("attn: test_it.py-test_kernel-1: ")
    assert result.outlines[-1].startswith("scale-missing")


def test_a_race(run):
    """A case that fails runs again, and the verdict says that its numbers change."""
    result = run("calls = iter(range(1, 1000))\n@attn.cases(can='causal', FEW)\ndef kernel(q, k, v, *, causal):\n"
                 "    return right(q, k, v, causal)[0] + q.dtype.type(next(calls))", "-k", "edge-16 or causal-17")
    assert "context-2: differs from context: not deterministic" in str(result.stdout)
    assert result.outlines[-1] == "not deterministic: two runs give different numbers in 2 of 2 cases"


def test_a_kernel_in_two_dtypes(run):
    """Each name has its own cases; the function itself stays as it is."""
    result = run("def kernel(q, k, v, *, causal):\n    assert q.dtype == 'float32'\n"
                 "    return right(q, k, v, causal)[0]\n"
                 "f32, f64 = (attn.cases(can='causal', dtype=dtype, FEW)(kernel) for dtype in ('f32', 'f64'))\n",
                 "-k", "edge-16", "-v")
    assert "f32[edge-16] PASSED" in str(result.stdout) and "f64[edge-16] FAILED" in str(result.stdout)
    assert "kernel[" not in str(result.stdout)
    with pytest.raises(TypeError, match="kernel has cases already"):
        @attn.cases(can="causal")
        @attn.cases(can="gqa")
        def kernel(q, k, v):
            pass


def test_a_wrong_shape(run):
    """Swapped queries and values would explain the case with one token."""
    result = run("@attn.cases(can='causal', d_head=8, max_tokens=20, only='edge-16,causal-16,one-token')\n"
                 "def kernel(q, k, v, *, causal):\n    return q[:, :, :1]")
    assert result.outlines[-1] == ("context: is 1 x 4 x 1 x 8, expected 1 x 4 x 16 x 8; 2 of 3 failing results cannot "
                                   "be compared")


def test_an_exception_of_a_kernel(run):
    result = run("@attn.cases(can='causal', FEW)\ndef kernel(q, k, v, *, causal):\n    raise RuntimeError('no device')",
                 "-k", "edge-16")
    assert "E       RuntimeError: no device" in str(result.stdout) and "_cases.py" not in str(result.stdout)


def test_marks_and_skips(run):
    result = run("""
import pytest
@pytest.mark.skip(reason="no device")
@attn.cases(can="causal", FEW)
def kernel(q, k, v, *, causal):
    pass

@attn.cases(can="causal", FEW)
def other(q, k, v, *, causal):
    pytest.skip("not now")
""")
    assert {*result.parseoutcomes()} == {"skipped"}


@pytest.mark.parametrize("text, said", [
    ("can='causal', FEW)\ndef kernel(q, k, v):\n    pass", "kernel() takes no causal=, which the case causal-15 needs"),
    ("can='causal,lse', FEW)\ndef kernel(q, k, v, *, causal):\n    return right(q, k, v, causal)[0]", "there is no lse"),
    ("can='causal', FEW)\ndef kernel(q, k, v, *, causal, widow):\n    pass", "a case has no 'widow'; it has query, key"),
    ("can='causel', ALL)\ndef kernel(q, k, v, *, causal):\n    pass", "--can: 'causel' is no feature of a case"),
    ("can='causal', max_tokns=3)\ndef kernel(q, k, v, *, causal):\n    pass", "did you mean '--max-tokens'?"),
    ("can='causal', FEW)\ndef test_kernel(case):\n    pass", "there is no context; return it"),
    ("can='causal', FEW)\ndef kernel(q, k, v, *, causal):\n    return right(q, k, v)[0][:, :1]", "expected 1 x 4 x 15 x 8"),
    ("can='causal', grad=True, only='grad')\ndef kernel(q, k, v, *, causal):\n    return right(q, k, v)",
     "expected a context of PyTorch that requires gradients, or grad_query, grad_key, grad_value, got 2 arrays"),
])
def test_misuse(run, text, said):
    result = run("@attn.cases(" + text)
    assert said in re.sub(r"\s+", " ", str(result.stdout)) and result.ret != 0


def test_arrays_must_be_known():
    with pytest.raises(ValueError, match="arrays='cupy': expected one of numpy, torch, jax"):
        attn.cases(arrays="cupy")(lambda q, k, v: None)


def test_the_library_of_arrays():
    assert _cases._arrays_of(test_right_kernels) == "numpy"
    assert _cases._arrays_of(eval("lambda: None", {"jit": type("f", (), {"__module__": "torch.jit"})})) == "torch"
    assert _cases._arrays_of(eval("lambda: None", {"f": type("f", (), {"__module__": "jax.numpy"})})) == "jax"


def test_a_decorated_kernel_is_called_as_before():
    def kernel(q, k, v):
        return q
    decorated = attn.cases(can="causal")(kernel)
    assert decorated(1, 2, v=3) == 1 and decorated.__name__ == "kernel" and decorated.__wrapped__ is kernel


def test_kernels_from_another_module(pytester):
    pytester.makepyfile(kernels=RIGHT + f"@attn.cases(can=[], {ALL})\ndef kernel(q, k, v):\n    return right(q, k, v)",
                        test_a="from kernels import kernel\ndef test_a():\n    pass",
                        test_b="from kernels import kernel as test_kernel")
    passes(pytester.runpytest_inprocess("-p", "attn.pytest_plugin", "test_b.py"))
    pytester.runpytest_inprocess("-p", "attn.pytest_plugin", "test_a.py").assert_outcomes(passed=1)


def test_kept_results(run, pytester):
    text = "@attn.cases(can='causal', FEW)\ndef kernel(q, k, v, *, causal):\n    return right(q, k, v)"
    result = run(text, "--attn-folder", "kept")
    folder = re.search("see attn cases --check (.*)", result.outlines[-2]).group(1)
    assert (pathlib.Path(folder) / "causal-15/context.safetensors").exists() and "mask-missing" in result.outlines[-1]
    assert "--attn-folder: kept is not empty" in str(run(text, "--attn-folder", "kept").stderr)


def test_several_processes(run):
    pytest.importorskip("xdist")
    result = run("@attn.cases(can='causal', FEW)\ndef kernel(q, k, v, *, causal):\n    return right(q, k, v)", "-n", "2")
    assert " cases failed" in result.outlines[-2] and result.outlines[-1].startswith("mask-missing: ")
