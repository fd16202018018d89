"""The ONNX project's node tests of the operator RotaryEmbedding: a rotation with given cosines and sines.

    python3 tests/golden/onnx-rotary/make_onnx_rotary.py            makes the files beside it
    python3 tests/golden/onnx-rotary/make_onnx_rotary.py --check    rotates every frozen case again and compares

Made with onnx 1.23.2 and numpy 2.4.6; the check needs numpy alone.

The tests come from onnx.backend.test.case.node, without their `_expanded` twins: 8, of opset 23. A name loses its
`test_rotary_embedding` and has hyphens; the one that is nothing else is `plain`. Every case is two files:

    NAME.safetensors             input (B,H,T,d), or (B,T,H*d) where the operator is given the heads; cos_cache and
                                 sin_cache (positions, n/2) with position_ids (B,T), or (B,T,n/2) without; n columns
                                 of a head are rotated
    NAME.expected.safetensors    output, of the shape of input

and a line of cases.txt: the name, the kind (half, or pairs: ONNX's `interleaved`), n, the heads, rtol, atol (as the
tests carry them), the opset. The caches are drawn, not of an angle: a rotation here is a product with what is given.
"""

import os
import sys
import warnings

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

CASES = 8


def freeze(case):
    """Writes the two files of a case and returns its line."""
    from onnx import helper

    (node,) = case.model.graph.node
    ((inputs, (output,)),) = case.data_sets
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    given = {v.name: numpy.asarray(a) for v, a in zip(case.model.graph.input, inputs, strict=True)}
    name = case.name.removeprefix("test_rotary_embedding").strip("_").replace("_", "-") or "plain"
    columns, heads = 2 * given["cos_cache"].shape[-1], attributes.get("num_heads", given["input"].shape[1])
    d = given["input"].shape[-1] // (heads if given["input"].ndim == 3 else 1)
    assert columns == (attributes.get("rotary_embedding_dim") or d), case.name
    frozen.save(os.path.join(HERE, name + ".safetensors"), given)
    frozen.save(os.path.join(HERE, name + ".expected.safetensors"), {"output": numpy.asarray(output)})
    for suffix in (".safetensors", ".expected.safetensors"):
        frozen.verify(os.path.join(HERE, name + suffix))
    (opset,) = [opset.version for opset in case.model.opset_import if opset.domain == ""]
    kind = "pairs" if attributes.get("interleaved") else "half"
    return f"{name} {kind} {columns} {heads} {case.rtol:g} {case.atol:g} {opset}\n"


def make():
    warnings.simplefilter("ignore")  # other operators' tests overflow on purpose
    from onnx.backend.test.case.node import collect_testcases

    cases = [case for case in collect_testcases("RotaryEmbedding") if "_expanded" not in case.name]
    assert len(cases) == CASES, len(cases)
    lines = sorted(freeze(case) for case in cases)
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(lines)
    print(len(lines), "cases")


def rotate(given, kind, columns, heads):
    """The first columns of each head, rotated; in float64."""
    x, cos, sin = given["input"], given["cos_cache"], given["sin_cache"]
    apart = x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) if x.ndim == 3 else x
    if "position_ids" in given:
        cos, sin = cos[given["position_ids"]], sin[given["position_ids"]]
    first = range(columns // 2) if kind == "half" else range(0, columns, 2)
    second = range(columns // 2, columns) if kind == "half" else range(1, columns, 2)
    turned = apart.copy()
    for pair, (i, j) in enumerate(zip(first, second)):
        c, s = cos[:, None, :, pair], sin[:, None, :, pair]
        turned[..., i] = apart[..., i] * c - apart[..., j] * s
        turned[..., j] = apart[..., i] * s + apart[..., j] * c
    return turned.swapaxes(1, 2).reshape(x.shape) if x.ndim == 3 else turned


def check():
    failed = 0
    lines = open(os.path.join(HERE, "cases.txt")).read().splitlines()
    for line in lines:
        name, kind, columns, heads, rtol, atol, _ = line.split()
        given, _, _ = frozen.load(os.path.join(HERE, name + ".safetensors"))
        expected, _, _ = frozen.load(os.path.join(HERE, name + ".expected.safetensors"))
        got = rotate(given, kind, int(columns), int(heads))
        if not numpy.allclose(got, expected["output"], float(rtol), float(atol)):
            failed += 1
            print("FAILED", name)
    print(f"{len(lines) - failed} of {len(lines)} pass")
    return failed != 0 or len(lines) != CASES


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else make())
