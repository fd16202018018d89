"""The ONNX project's node tests of the operator Attention, as files that `attn sdpa` runs as they are.

    python3 tests/golden/onnx/make_onnx.py            makes the files beside it
    python3 tests/golden/onnx/make_onnx.py --check    computes every frozen case again and compares

Made with onnx 1.23.2, numpy 2.4.6, ml_dtypes 0.6.0 and safetensors 0.8.0; the check needs numpy alone.

The tests come from onnx.backend.test.case.node, without their `_expanded` twins: 93, in opsets 23 to 25. A name loses
its `test_attention_` and has hyphens: test_attention_4d_gqa_fp16 is 4d-gqa-fp16. Every case is two files:

    NAME.safetensors             query, key, value, attn_mask, past_key, past_value, kv_lengths
                                 (Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen) and the settings
    NAME.expected.safetensors    context (Y), present_key, present_value, and qk_matmul_output as the stage it is

and a line of cases.txt: the name, the stages to ask for, rtol, atol (as the tests carry them), the opset.

qk_matmul_output_mode: what a number means was changed in the course of opset 23 (in the first releases 1 was after
the mask and 2 after the softcap). In onnx 1.23 the schemas of opsets 23, 24 and 25 and the reference agree, and --check
confirms it on the numbers: 0 is `scaled`, 1 `capped` (before the mask), 2 `masked` (after softcap and mask), 3
`weights` (in the dtype of the query; an empty row is zeros). Where mode 0 met a softcap, the reference would give
`capped` against its own schema; no case does, and the script makes sure.

The float16 and bfloat16 cases hold 11 and 8 bits and are compared at 1e-3: one unit in the last place of bfloat16 is a
failure. They are the result of one order of roundings, which is `--rounding operations`; compute() and softmax() below
spell it, where `every` is true. All of these cases come out bit for bit. No case has a softcap in a narrow dtype; there
compute() follows the operator's function body, each operation rounded and the cap itself too. (The reference in Python
does so in float16, but goes on in float32 after a softcap in bfloat16, by an accident of NumPy's promotion.)
"""

import os
import sys
import warnings

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

INPUTS = {
    "Q": "query",
    "K": "key",
    "V": "value",
    "attn_mask": "attn_mask",
    "past_key": "past_key",
    "past_value": "past_value",
    "nonpad_kv_seqlen": "kv_lengths",
}
OUTPUTS = {"Y": "context", "present_key": "present_key", "present_value": "present_value"}
MODES = ["scaled", "capped", "masked", "weights"]
SOFTMAX_DTYPES = {1: "f32", 10: "f16", 11: "f64", 16: "bf16"}  # TensorProto.DataType
CASES = 93

# --- making ----------------------------------------------------------------------------------------------------------


def settings_of(attributes, dtype):
    settings = {}
    for name, key in (("q_num_heads", "heads"), ("kv_num_heads", "kv_heads")):
        if name in attributes:
            settings[key] = attributes[name]
    if "is_causal" in attributes:
        settings["causal"] = bool(attributes["is_causal"])
    for name in ("scale", "softcap"):
        if name in attributes:
            settings[name] = attributes[name]
    sides = [attributes.get(side + "_window_size") for side in ("left", "right")]
    if sides != [None, None]:
        settings["window"] = ",".join(str(-1 if side is None else side) for side in sides)
    if "softmax_precision" in attributes:
        settings["softmax_dtype"] = SOFTMAX_DTYPES[attributes["softmax_precision"]]
    if dtype.name != "float32":
        settings["rounding"] = "operations"
    return settings


def freeze(case):
    """Writes the two files of a case and returns its line."""
    from onnx import helper

    (node,) = case.model.graph.node
    ((inputs, outputs),) = case.data_sets
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    mode, softcap = attributes.get("qk_matmul_output_mode", 0), attributes.get("softcap", 0)
    assert not (mode == 0 and softcap and "qk_matmul_output" in node.output), case.name
    stages = dict(OUTPUTS, qk_matmul_output=MODES[mode])
    given = {INPUTS[v.name]: numpy.asarray(a) for v, a in zip(case.model.graph.input, inputs, strict=True)}
    expected = {stages[v.name]: numpy.asarray(a) for v, a in zip(case.model.graph.output, outputs, strict=True)}
    assert ("heads" in settings_of(attributes, given["query"].dtype)) == (given["query"].ndim == 3), case.name

    name = case.name.removeprefix("test_attention_").replace("_", "-")
    path = os.path.join(HERE, name)
    settings = settings_of(attributes, given["query"].dtype)
    frozen.save(path + ".safetensors", given, {"mechanism": "sdpa", "settings": settings})
    frozen.save(path + ".expected.safetensors", expected)
    for suffix in (".safetensors", ".expected.safetensors"):
        frozen.verify(path + suffix)
    (opset,) = [opset.version for opset in case.model.opset_import if opset.domain == ""]
    return f"{name} {','.join(expected)} {case.rtol:g} {case.atol:g} {opset}\n"


def make():
    warnings.simplefilter("ignore")  # other operators' tests overflow on purpose
    from onnx.backend.test.case.node import collect_testcases

    cases = [case for case in collect_testcases("Attention") if "_expanded" not in case.name]
    assert len(cases) == CASES, len(cases)
    lines = sorted(freeze(case) for case in cases)
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(lines)
    print(len(lines), "cases")


# --- checking: an implementation of its own --------------------------------------------------------------------------

# Significant bits, and the exponent of the smallest subnormal number.
BITS = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149)}
LARGEST = {"f16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127, "f32": (2 - 2.0**-23) * 2.0**127}


def rounded(x, dtype):
    """float64 numbers, each rounded once to the nearest number of the dtype, ties to even."""
    if dtype == "f64":
        return x
    bits, smallest = BITS[dtype]
    _, exponent = numpy.frexp(x)
    quantum = numpy.ldexp(1.0, numpy.maximum(exponent - bits, smallest))
    y = numpy.where(numpy.isfinite(x), numpy.rint(x / quantum) * quantum, x)
    return numpy.where(numpy.abs(y) > LARGEST[dtype], numpy.copysign(numpy.inf, y), y)


def unpacked(x, heads):
    """[B, T, H*d] as [B, H, T, d]."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) if x.ndim == 3 else x


def permitted_and_bias(given, settings, batch, queries, keys, past):
    """Who may be seen [B, H or 1, Tq, Tk], and what is added where it may."""
    lengths = given.get("kv_lengths")
    offset = past if past is not None else 0
    offset = numpy.full(batch, offset) if lengths is None else lengths - queries
    position = numpy.arange(queries)[:, None] + offset[:, None, None, None]
    key = numpy.arange(keys)
    permitted = numpy.ones((batch, 1, queries, keys), bool)
    if lengths is not None:
        permitted &= key < lengths[:, None, None, None]
    if settings.get("causal"):
        permitted &= key <= position
    left, right = (int(side) for side in settings.get("window", "-1,-1").split(","))
    permitted &= (key >= position - left) | (left < 0)
    permitted &= (key <= position + right) | (right < 0)
    bias = numpy.zeros(1)
    if "attn_mask" in given:
        mask = given["attn_mask"]
        short = [(0, 0)] * (mask.ndim - 1) + [(0, keys - mask.shape[-1])]
        mask = numpy.pad(mask, short, constant_values=False if mask.dtype == bool else -numpy.inf)
        permitted = permitted & (mask if mask.dtype == bool else ~numpy.isneginf(mask))
        bias = bias if mask.dtype == bool else numpy.where(numpy.isneginf(mask), 0, mask)
    return permitted, bias


def softmax(masked, permitted, softmax_dtype, dtype, every):
    """Over the keys: each operation rounded to softmax_dtype, or, with stages, none but the result."""
    at = (lambda x: rounded(x, softmax_dtype)) if every else (lambda x: x)
    x = rounded(masked, softmax_dtype)
    empty = ~permitted.any(-1, keepdims=True)
    largest = numpy.where(empty, 0, x.max(-1, keepdims=True))
    exponentials = at(numpy.exp(at(x - largest)))
    if every and softmax_dtype == "bf16":  # it has no wide sum
        total = numpy.zeros(x.shape[:-1])
        for key in range(x.shape[-1]):
            total = at(total + exponentials[..., key])
        total = total[..., None]
    else:
        total = at(exponentials.sum(-1, keepdims=True))
    weights = rounded(at(exponentials / numpy.where(empty, 1, total)), softmax_dtype)
    return rounded(numpy.where(empty | ~permitted, 0, weights), dtype)


def compute(given, settings, dtype):
    """Every stage that a case may expect. With every operation rounded, `scores` does not exist."""
    every = settings.get("rounding", "stages") == "operations"
    at = lambda x: rounded(x, dtype)
    operation = at if every else lambda x: x
    packed = given["query"].ndim == 3
    query = unpacked(given["query"], settings.get("heads"))
    key, value = (unpacked(given[name], settings.get("kv_heads")) for name in ("key", "value"))
    past = None
    if "past_key" in given:
        past = given["past_key"].shape[2]
        key = numpy.concatenate([given["past_key"], key], 2)
        value = numpy.concatenate([given["past_value"], value], 2)
    stages = {"present_key": key, "present_value": value}
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat(group, 1), value.repeat(group, 1)
    permitted, bias = permitted_and_bias(given, settings, len(query), query.shape[2], key.shape[2], past)
    permitted = numpy.broadcast_to(permitted, (*query.shape[:3], key.shape[2]))

    scale = settings.get("scale", 1 / numpy.sqrt(query.shape[-1]))
    if every:
        root = at(numpy.sqrt(scale))
        scaled = at(numpy.einsum("bhqd,bhkd->bhqk", at(query * root), at(key * root)))
    else:
        scaled = at(at(numpy.einsum("bhqd,bhkd->bhqk", query, key)) * scale)
    softcap = operation(settings.get("softcap", 0.0))
    capped = at(operation(numpy.tanh(operation(scaled / softcap))) * softcap) if softcap else scaled
    masked = numpy.where(permitted, at(capped + bias), -numpy.inf)
    weights = softmax(masked, permitted, settings.get("softmax_dtype", dtype), dtype, every)
    context = at(numpy.einsum("bhqk,bhkd->bhqd", weights, value))
    if packed:
        context = context.swapaxes(1, 2).reshape(*given["query"].shape[:2], -1)
    return dict(stages, scaled=scaled, capped=capped, masked=masked, weights=weights, context=context)


def check():
    failed = inexact = 0
    lines = open(os.path.join(HERE, "cases.txt")).read().splitlines()
    for line in lines:
        name, stages, rtol, atol, _ = line.split()
        given, dtypes, settings = frozen.load(os.path.join(HERE, name + ".safetensors"))
        expected, _, _ = frozen.load(os.path.join(HERE, name + ".expected.safetensors"))
        assert stages.split(",") == list(expected), name
        got = compute(given, settings, dtypes["query"].lower())
        wrong = []
        for stage, array in expected.items():
            if got[stage].shape != array.shape or not numpy.allclose(got[stage], array, float(rtol), float(atol)):
                wrong.append(stage)
            if dtypes["query"] != "F32":
                inexact += int((got[stage] != array).sum())
        failed += bool(wrong)
        if wrong:
            print("FAILED", name, *wrong)
    print(f"{len(lines) - failed} of {len(lines)} pass; {inexact} elements of the narrow ones are not the same bits")
    return failed != 0 or len(lines) != CASES


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else make())
