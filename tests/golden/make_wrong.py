# SPDX-License-Identifier: MIT
"""Tables that ports and kernels with one mistake give: tests/wrong.

    python3 tests/golden/make_wrong.py tests/wrong

Plain NumPy makes all: layer_numpy.py the modules of tests/layers, with one thing wrong; `kernel` below a tiled softmax,
with one step wrong. A line of cases.txt is the table's name, what attn why is to answer (a tie has several names, "-"
is nothing), and the command line that gives the right table. What nobody lists must get no answer.
"""

import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frozen  # noqa: E402
import layer_numpy as plain  # noqa: E402

# --- ports: a mistake takes a Layer, changes it, and returns the settings and functions to replace ---------------------


def settings(**changes):
    return lambda layer: (changes, {})


def scaling(change):
    return lambda layer: (dict(rope_scaling=change(layer.settings["rope_scaling"])), {})


def functions(make):
    return lambda layer: ({}, make(layer))


def path_of(layer, by):
    """The module's path, some layers further."""
    parts = layer.module.split(".")
    at = max(i for i, part in enumerate(parts) if part.isdigit())
    return ".".join(parts[:at] + [str(int(parts[at]) + by)] + parts[at + 1 :])


def of_layer(names, by=-1, leaves=(".weight", ".bias")):
    def change(layer):
        for name in names.split():
            for leaf in leaves:
                if f"{layer.module}.{name}{leaf}" in layer.all:
                    layer.all[f"{layer.module}.{name}{leaf}"] = layer.all[f"{path_of(layer, by)}.{name}{leaf}"]
        return {}, {}

    return change


def norm_of(name, by=0):
    def change(layer):
        block = path_of(layer, by).rsplit(".", 1)[0]
        weight, bias = layer.all[f"{block}.{name}.weight"], layer.all.get(f"{block}.{name}.bias")
        layer.norm = lambda: (weight, bias)
        return {}, {}

    return change


def weight_of(name):
    """The norm of the inputs with another one's weight."""

    def change(layer):
        bias = layer.norm()[1]
        norm_of(name)(layer)
        weight = layer.norm()[0]
        layer.norm = lambda: (weight, bias)
        return {}, {}

    return change


def swapped(a, b):
    def change(layer):
        for leaf in (".weight", ".bias"):
            one, other = f"{layer.module}.{a}{leaf}", f"{layer.module}.{b}{leaf}"
            if one in layer.all:
                layer.all[one], layer.all[other] = layer.all[other], layer.all[one]
        return {}, {}

    return change


def permuted(names, leaves=".weight .bias", back=False):
    """As a GGUF conversion permutes rows, or the reverse."""

    def change(layer):
        for name in names.split():
            heads = layer.settings["heads"] if name[0] == "q" else layer.settings.get("kv_heads") or layer.settings["heads"]
            for leaf in leaves.split():
                rows = layer.all.get(f"{layer.module}.{name}{leaf}")
                if rows is not None:
                    half = len(rows) // heads // 2
                    cut = rows.reshape(heads, *((half, 2) if back else (2, half)), *rows.shape[1:])
                    layer.all[f"{layer.module}.{name}{leaf}"] = cut.swapaxes(1, 2).reshape(rows.shape)
        return {}, {}

    return change


def blocks_in(order):
    """The blocks of a packed weight, read in that order."""

    def apart(joined, s, packing):
        heads, groups = s["heads"], s.get("kv_heads") or s["heads"]
        d = len(joined) // (heads + 2 * groups)
        sizes = [(heads if name == "q" else groups) * d for name in order]
        parts = dict(zip(order, numpy.split(joined, numpy.cumsum(sizes)[:2])))
        return [parts[name] for name in "qkv"]

    return functions(lambda layer: dict(apart=apart))


def with_norms(choose):
    """choose(name): the norm used in place of q_norm or k_norm; None: none."""
    right = plain.with_norm

    def norm(layer, s, x, name, heads):
        return x if choose(name) is None else right(layer, s, x, choose(name), heads)

    return functions(lambda layer: dict(with_norm=norm))


def latent_without(query):
    def make(layer):
        right, own = plain.normalized, layer.named("q_a_layernorm.weight")

        def norm(x, kind, eps, weight, bias=None):
            return x if (own is not None and weight is own) == query else right(x, kind, eps, weight, bias)

        return dict(normalized=norm)

    return functions(make)


def normed_twice(layer):
    right = plain.entrance
    return {}, dict(entrance=lambda l, s, r: plain.normalized(right(l, s, r), s["norm"], s["norm_eps"], *l.norm()))


def times(names, by):
    """Tensors of the module, times a number."""

    def change(layer):
        for name in names.split():
            layer.all[f"{layer.module}.{name}"] = layer.all[f"{layer.module}.{name}"] * by
        return {}, {}

    return change


def biases_swapped(a, b):
    def change(layer):
        one, other = f"{layer.module}.{a}.bias", f"{layer.module}.{b}.bias"
        layer.all[one], layer.all[other] = layer.all[other], layer.all[one]
        return {}, {}

    return change


def normed_by(divisor, of_kind=None, root=numpy.sqrt):
    """All norms, the squares divided by divisor(d), maybe of another kind, or without a root."""

    def norm(x, kind, eps, weight, bias=None):
        if (of_kind or kind) == "layer":
            x = x - x.mean(-1, keepdims=True)
        x = x / root((x * x).sum(-1, keepdims=True) / divisor(x.shape[-1]) + eps)
        return x * weight + (0 if bias is None else bias)

    return functions(lambda layer: dict(normalized=norm))


def adds_normed(layer):
    right = plain.compute

    def compute(*given, **more):
        stages = right(*given, **more)
        return dict(stages, output=stages["output"] + stages["normed"])

    return {}, dict(compute=compute)


def normed_after(name):
    """The output, normed by a norm after attention."""

    def change(layer):
        right, weight = plain.compute, norm_of(name)(layer) and layer.norm()[0]

        def compute(*given, **more):
            stages = right(*given, **more)
            return dict(stages, output=plain.normalized(stages["output"], layer.settings["norm"], layer.settings["norm_eps"], weight))

        return {}, dict(compute=compute)

    return change


def rows_moved(name, order):
    """A weight whose rows come in the order of order(rows)."""

    def change(layer):
        layer.all[f"{layer.module}.{name}.weight"] = order(layer.all[f"{layer.module}.{name}.weight"])
        return {}, {}

    return change


def of_groups(w, heads, first):
    """Rows of all heads' first parts, then of their second, as a reader finds them that expects these blocks."""
    each = len(w) // heads
    place = numpy.concatenate([numpy.arange(heads * first).reshape(heads, first), numpy.arange(heads * first, len(w)).reshape(heads, each - first)], 1)
    return w[place.reshape(-1)]


def axes(order=None, words=None):
    """Positions with other rows, by number, or -1: the number of the token; or pairs of other axes."""

    def change(layer):
        rows = layer.settings["positions"].split(";")
        tokens = f"0-{layer.given['hidden'].shape[1] - 1}"
        other = ";".join(tokens if at < 0 else rows[at] for at in order or (0, 1, 2))
        return dict(positions=other, rope_axes=words or layer.settings["rope_axes"]), {}

    return change


def tiled(key):
    """The keys alone, or the values alone, repeated by numpy.tile."""

    def make(layer):
        compute, attend = plain.compute, plain.attend

        def other_keys(layer, s, query, repeated, *more):
            heads, groups = query.shape[1], s.get("kv_heads") or query.shape[1]
            each = numpy.arange(heads)
            return attend(layer, s, query, repeated[:, each % groups * (heads // groups) if key else each // (heads // groups)], *more)

        return dict(compute=lambda *given, **more: compute(*given, tiled=not key, **more), attend=other_keys)

    return functions(make)


def attention_alone():
    right = plain.frequencies
    return functions(lambda layer: dict(frequencies=lambda n, theta, text, tokens: (right(n, theta, None, tokens)[0], right(n, theta, text, tokens)[1])))


def turned(how, step=2, start=0):
    """Rotations of the first columns with one thing wrong, without a scaling."""

    def rotate(x, s):
        n = int(s.get("rope_columns") or x.shape[-1])
        if how == "joined":
            n = x.shape[1] * n
            x = x.swapaxes(1, 2).reshape(x.shape[0], 1, x.shape[2], n)
        in_halves = s["rope"] == "half"
        of_halves, of_pairs = numpy.arange(n) % (n // 2), numpy.arange(n) // 2
        pair = of_halves if in_halves != (how == "mixed") else of_pairs
        in_halves = in_halves != (how == "other columns")
        inverse = float(s["rope_theta"]) ** (-(step * numpy.arange(n // 2) + start) / n)
        position = numpy.arange(x.shape[2])[:, None]
        if how in ("frequencies", "angles"):
            inverse = plain.bfloat16(inverse)
        if how == "heads":
            position = numpy.arange(x.shape[1])[:, None, None]
        angle = position * inverse[pair]
        if how == "angles":
            angle = plain.bfloat16(angle)
        if how == "degrees":
            angle = numpy.deg2rad(angle)
        cos, sin = numpy.cos(angle), numpy.sin(angle)
        if how == "cosines":
            cos, sin = plain.bfloat16(cos), plain.bfloat16(sin)
        part, minus = x[..., :n], 1 if how == "plus" else -1
        if in_halves:
            other = numpy.concatenate([minus * part[..., n // 2 :], part[..., : n // 2]], -1)
        else:
            other = numpy.stack([minus * part[..., 1::2], part[..., ::2]], -1).reshape(part.shape)
        y = numpy.concatenate([part * cos + other * sin, x[..., n:]], -1)
        if how == "joined":
            y = y.reshape(*y.shape[:1], y.shape[2], -1, HEAD[0]).swapaxes(1, 2)
        return y

    def make(layer):
        HEAD[0] = len(layer.linear("q_proj")[0]) // layer.settings["heads"] if layer.named("q_proj.weight") is not None else 0
        return dict(rotated=rotate)

    return functions(make)


HEAD = [0]  # columns of one


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))



def gated(change):
    """change(logits, settings): what multiplies the contexts instead of their sigmoid."""

    def make(layer):
        right = plain.gate_of

        def gate(layer, s, x):
            g = right(layer, s, x)
            return change(numpy.log(g / (1 - g)), s)

        return dict(gate_of=gate)

    return functions(make)


def gate_cut(cut):
    """cut(weight, heads): the rows of a weight of queries and gates in another order."""

    def change(layer):
        key = f"{layer.module}.q_proj.weight"
        weight = layer.all[key]
        layer.all[key] = cut(weight, layer.settings["heads"]).reshape(weight.shape)
        return {}, {}

    return change


def norm_alone_of_sum(layer):
    """The norm of the residual stream divides by the root of the sum of squares; so projections and gate change."""

    def norm(l, s, _):
        x, (weight, _) = l.given["residual"], l.norm()
        return x / numpy.sqrt((x * x).sum(-1, keepdims=True) + s["norm_eps"]) * (weight + (s["norm"] == "rms-plus-one"))

    return {}, dict(entrance=norm)


def value_by_key(layer):
    right = plain.normalized

    def norm(x, kind, eps, weight, bias=None):
        return right(x, kind, eps, layer.named("k_norm.weight") if isinstance(weight, int) else weight, bias)

    return {}, dict(normalized=norm)


def noisy(name, by):
    def change(layer):
        random = numpy.random.default_rng(5)
        key = f"{layer.module}.{name}.weight"
        layer.all[key] = layer.all[key] * (1 + by * random.standard_normal(layer.all[key].shape))
        return {}, {}

    return change


def shuffled(name):
    def change(layer):
        key = f"{layer.module}.{name}.weight"
        layer.all[key] = numpy.random.default_rng(6).permutation(layer.all[key])
        return {}, {}

    return change


GLOBAL = dict(rope_theta=1000000, rope_scaling="linear:factor=8")  # of Gemma 3's layers without a window

PORTS = [  # what attn why is to answer, the cases, the mistake, and whether the residual stream goes in
    ("qk-norm-query-missing", "qwen3 gemma-3-full olmo-2", with_norms(lambda n: None if n == "q_norm" else n)),
    ("qk-norm-key-missing", "qwen3-transformers cohere-norms", with_norms(lambda n: None if n == "k_norm" else n)),
    ("qk-norm-swapped", "qwen3 gemma-3-sliding", with_norms(lambda n: "k_norm" if n == "q_norm" else "q_norm")),
    ("qk-norm-latent-missing:query", "deepseek-v2", latent_without(True)),
    ("qk-norm-latent-missing:key-value", "deepseek-v3", latent_without(False)),
    ("matrix-key-value-swapped", "llama-3 qwen2 gemma-2-sliding", swapped("k_proj", "v_proj")),
    ("matrix-query-key-swapped", "llama-2", swapped("q_proj", "k_proj")),
    ("rope-theta,rope-scaling-missing", "llama-3", settings(rope_theta=10000, rope_scaling=None)),
    ("rope-scaling-truncate", "llama-yarn", scaling(lambda text: text + ",truncate=no")),
    ("rope-scaling-truncate", "gpt-oss-full", scaling(lambda text: text.replace(",truncate=no", ""))),
    ("rope-attention-missing", "phi-3-long", scaling(lambda text: text + ",attention=1")),
    ("rope-scaling-usual", "llama-3", scaling(lambda text: "llama3:factor=8,low=1,high=4,old=8192")),
    ("layer-window", "gpt-oss-full", settings(window="4,0")),
    ("layer-window", "gemma-2", settings(window="5,0")),
    ("layer-rope|rope-theta", "gemma-3-sliding", settings(rope_theta=1000000, rope_scaling=None)),
    ("layer-rope|rope-theta", "modernbert-local", settings(rope_theta=160000)),
    ("layer-kind", "gemma-3-multimodal-sliding", settings(window=None, **GLOBAL)),
    ("rows-to-pairs:query", "llama-3 mistral-nemo", permuted("q_proj")),
    ("rows-to-pairs:key", "llama-2 qwen3", permuted("k_proj")),
    ("rows-to-pairs:query-key", "llama-3 qwen2", permuted("q_proj k_proj")),
    ("rows-to-pairs:value", "gemma-2", permuted("v_proj")),
    ("rows-to-pairs:query-key-weights", "qwen2", permuted("q_proj k_proj", ".weight")),
    ("rows-to-halves:query-key", "cohere", permuted("q_proj k_proj", back=True)),
    ("rows-to-halves:query", "olmo-2", permuted("q_proj", back=True)),
    ("packing-order", "phi-3-window gpt2", blocks_in("kqv")),
    ("packing-order:vqk", "mpt", blocks_in("vqk")),
    ("norm-twice", "llama-3 gpt2", normed_twice, True),
    ("layer-norm-after", "llama-3 qwen3", norm_of("post_attention_layernorm"), True),
    ("layer-norm:0", "llama-3", norm_of("input_layernorm", -1), True),
    ("layer-query:0", "qwen3", of_layer("q_proj")),
    ("layer-key:0", "llama-3", of_layer("k_proj")),
    ("layer-key:1", "gemma-2-sliding", of_layer("k_proj", 1)),
    ("layer-value:0", "llama-2", of_layer("v_proj")),
    ("layer-out:0", "gemma-2", of_layer("o_proj")),
    ("layer-bias:1", "qwen2", of_layer("q_proj k_proj v_proj", leaves=(".bias",))),
    ("layer-qk-norm:0", "qwen3", of_layer("q_norm k_norm")),
    ("layer-sinks:0", "gpt-oss-full", of_layer("sinks", leaves=("",))),
    ("-", "llama-3 gpt-oss-full", noisy("q_proj", 0.05)),
    ("-", "qwen2 gemma-2", noisy("v_proj", 0.05)),
    ("-", "qwen3", shuffled("k_proj")),
    ("-", "llama-2", settings(rope_theta=23456.0)),
]


LATER_PORTS = [
    ("scale-d-in-over-heads", "mistral-nemo", lambda layer: (dict(scale=(layer.given["hidden"].shape[-1] // layer.settings["heads"]) ** -0.5), {})),
    ("scale-and-usual", "gemma-2", lambda layer: (dict(scale=layer.settings["scale"] * (len(layer.linear("q_proj")[0]) // layer.settings["heads"]) ** -0.5), {})),
    ("bias-twice:all", "qwen2", times("q_proj.bias k_proj.bias v_proj.bias", 2)),
    ("bias-twice:value", "qwen2", times("v_proj.bias", 2)),
    ("bias-swapped:key-value", "qwen2", biases_swapped("k_proj", "v_proj")),
    ("out-bias-twice", "gpt2", times("c_proj.bias", 2)),
    ("out-normed-added", "llama-3", adds_normed, True),
    ("groups-key-tiled", "llama-3", tiled(True)),
    ("groups-value-tiled", "qwen2", tiled(False)),
    ("norm-unbiased", "gpt2", normed_by(lambda d: d - 1), True),
    ("norm-of-sum", "llama-3", normed_by(lambda d: 1), True),
    ("qk-norm-one-for-both:query", "qwen3", with_norms(lambda n: "q_norm")),
    ("qk-norm-one-for-both:key", "qwen3", with_norms(lambda n: "k_norm")),
    ("qk-norm-mean-kept", "cohere-norms", normed_by(lambda d: d, "rms")),
    ("qk-norm-mean-subtracted", "qwen3", normed_by(lambda d: d, "layer")),
    ("qk-norm-unbiased", "cohere-norms", normed_by(lambda d: d - 1)),
    ("qk-norm-of-sum", "qwen3", normed_by(lambda d: 1)),
    ("rope-scaling-attention-alone", "llama-yarn", attention_alone()),
    ("rope-scaling-swapped", "llama-yarn", scaling(lambda text: text + ",fast=1,slow=32")),
    ("rope-columns:double", "neox", lambda layer: (dict(rope_columns=2 * int(layer.settings["rope_columns"])), {})),
    ("rope-columns:half", "neox-half-rotated", lambda layer: (dict(rope_columns=int(layer.settings["rope_columns"]) // 2), {})),
    ("rope-exponent:i", "llama-2", turned("exponent", 1)),
    ("rope-exponent:4i", "llama-2", turned("exponent", 4)),
    ("rope-exponent:from-1", "gptj", turned("exponent", 2, 2)),
    ("rope-mixed", "llama-2 gptj", turned("mixed")),
    ("rope-minus-missing", "qwen2 cohere", turned("plus")),
    ("rope-by-heads", "qwen2", turned("heads")),
    ("rope-before-split", "qwen2 llama-2", turned("joined")),
    ("rope-bf16:cosines", "qwen2", turned("cosines")),
    ("rope-bf16:frequencies", "llama-2", turned("frequencies")),
    ("rope-bf16:angles", "qwen2", turned("angles")),
    ("rope-degrees", "qwen2", turned("degrees")),
    ("rows-to-pairs:query-key-value", "qwen2", permuted("q_proj k_proj v_proj")),
    ("sinks-negative", "gpt-oss-full", times("sinks", -1)),
    ("sinks-zero", "gpt-oss-full", times("sinks", 0)),
    ("layer-key-value:0", "llama-3", of_layer("k_proj v_proj")),
    ("gate-missing", "qwen3-next afmoe", gated(lambda x, s: 1)),
    ("gate-function:none", "qwen3-next", gated(lambda x, s: x)),
    ("gate-function:silu", "afmoe", gated(lambda x, s: x * sigmoid(x))),
    ("gate-function:tanh", "qwen3-next", gated(lambda x, s: numpy.tanh(x))),
    ("gate-function:twice", "afmoe", gated(lambda x, s: sigmoid(sigmoid(x)))),
    ("gate-view", "qwen3-next", gated(lambda x, s: sigmoid(x.reshape(len(x), s["heads"], x.shape[1], -1).swapaxes(1, 2).reshape(x.shape)))),
    ("packing-gate:blocks", "qwen3-next", gate_cut(lambda w, heads: w.reshape(2, heads, -1, w.shape[1]).swapaxes(0, 1))),
    ("packing-gate:gate-first", "qwen3-next", gate_cut(lambda w, heads: w.reshape(heads, 2, -1, w.shape[1])[:, ::-1])),
    ("norm-of-sum", "qwen3-next", norm_alone_of_sum, True),
    ("value-norm-missing", "gemma-3n gemma-4", settings(value_norm=None)),
    ("value-norm-of-key", "gemma-3n-sliding", value_by_key),
    ("layer-norm-after:pre_feedforward_layernorm", "gemma-2", norm_of("pre_feedforward_layernorm"), True),
    ("layer-out-normed:post_attention_layernorm", "gemma-3-full", normed_after("post_attention_layernorm")),
    ("packing-latent:blocks", "deepseek-v3", rows_moved("kv_b_proj", lambda w: of_groups(w, 3, 6))),
    ("packing-latent:value-first", "deepseek-v2", rows_moved("kv_b_proj", lambda w: numpy.roll(w.reshape(3, 14, -1), -8, 1).reshape(w.shape))),
    ("packing-latent:rope-first", "deepseek-v3", rows_moved("kv_a_proj_with_mqa", lambda w: numpy.roll(w, -4, 0))),
    ("rope-axes-rows:twh", "qwen2-vl-image qwen3-vl-image", axes((0, 2, 1))),
    ("rope-axes-rows:hwt", "qwen2-vl-image", axes((1, 2, 0))),
    ("rope-axes-rows:tokens", "qwen2-vl-image", axes((-1, -1, -1))),
    ("rope-axes-rows:ttt", "qwen3-vl-image", axes((0, 0, 0))),
    ("rope-axes-pairs:in-turn", "qwen2-vl-image", axes(words="t2,h1,w1,interleaved")),
    ("rope-axes-pairs:blocks", "qwen3-vl-image", axes(words="t2,h1,w1")),
    ("rope-axes-pairs:reversed", "qwen2-vl-image", axes(words="w1,h1,t2")),
    ("norm-root-missing", "llama-3", normed_by(lambda d: d, root=lambda x: x), True),
    ("qk-norm-root-missing", "qwen3", normed_by(lambda d: d, root=lambda x: x)),
    ("qk-norm-before-rope", "hunyuan-v1", settings(norm_last=None)),
    ("layer-norm-after-weight", "neox", weight_of("post_attention_layernorm"), True),
    ("rope-axes-rows:from-0", "qwen2-vl-image", settings(positions="0-2,3,3,3,3,3,3,6-7;0-2,0,0,0,1,1,1,6-7;0-2,0,1,2,0,1,2,6-7")),
    ("rope-mixed:columns", "llama-2 gptj", turned("other columns")),
    ("layer-kind", "llama-4-no-rope", settings(rope="pairs", rope_theta=10000, qk_norm="rms", qk_norm_eps=1e-5, bare_norm=True, attention_chunk=5)),
    ("layer-norm-after:ln_mlp", "falcon-40b", norm_of("ln_mlp"), True),
]


def make_port(case, change, from_residual):
    """The output with the mistake, and the command line without it."""
    layer = plain.Layer(os.path.join(plain.FOLDER, case))
    changes, replaced = change(layer)
    kept = {name: getattr(plain, name) for name in replaced}
    vars(plain).update(replaced)
    output = plain.compute(layer, {**layer.settings, **changes}, from_residual=from_residual)["output"]
    vars(plain).update(kept)
    folder, given = f"tests/layers/{case}", "residual" if from_residual else "hidden"
    words = f"layer {folder}/{given}.npy -w {folder} --layer {layer.case['layer']} --module {layer.module}"
    words += " --residual" * from_residual + f" --positions {layer.settings['positions']}" * bool(layer.settings.get("positions"))
    return output[0] if len(output) == 1 else output, words


# --- kernels -----------------------------------------------------------------------------------------------------------


def make_inputs(random, items=1, sinks=False, slopes=False, mask=None, low=False, **_):
    """query of 4 heads, key and value of 2."""
    heads, groups, tokens, d = 4, 2, 18, 4
    inputs = {name: random.standard_normal((items, n, tokens, d)) for name, n in zip(("query", "key", "value"), (heads, groups, groups))}
    inputs["query"] *= 2
    if low:  # all scores are below -88
        inputs["query"], inputs["key"] = 40 + abs(inputs["query"]), -3 - abs(inputs["key"])
    if sinks:
        inputs["sinks"] = random.standard_normal(heads)
    if slopes:
        inputs["alibi_slopes"] = 2.0 ** -numpy.arange(1, heads + 1)
    inputs = {name: x.astype("f4") for name, x in inputs.items()}
    if mask is not None:
        inputs["attn_mask"] = random.random((items, 1, tokens, tokens) if mask == "items" else (1, heads, tokens, tokens)) < 0.7
        inputs["attn_mask"][..., 0] = True
    return inputs


def strided(x, of_items):
    """key or value read with the strides of the query; zeros beyond the end."""
    items, groups, tokens, d = x.shape
    flat = (x if of_items else x.swapaxes(1, 2)).reshape(-1, d)
    flat = numpy.concatenate([flat, numpy.zeros((items * 4 * tokens, d))])
    b, g, t = numpy.indices((items, groups, tokens))
    return flat[(b * 4 + g) * tokens + t if of_items else (b * tokens + t) * 4 + g]


def scores_of(x, b, h, s, wrong):
    """Scores of a head after the mask, its sink, and its values."""
    g = h // 2
    key, value = x["key"].astype(float), x["value"].astype(float)
    if wrong in ("key-rows", "both-rows", "key-items"):
        key = strided(key, wrong == "key-items")
    if wrong in ("value-rows", "both-rows"):
        value = strided(value, False)
    key, tile = key[b, g], s["tile"]
    if wrong == "key-stale":
        key = numpy.concatenate([key[:tile], key[:-tile]])
    scores = x["query"][b, h].astype(float) @ key.T / 2
    i, j = numpy.indices(scores.shape)
    position = i * 2 + h % 2 if wrong == "packed" else i
    if "alibi_slopes" in x:
        scores = scores - x["alibi_slopes"][g if wrong == "slope-of-group" else h] * abs(i - j)
    allowed = (j <= position) | (not s.get("causal"))
    left, right = s.get("window", (99, 99))
    allowed &= ((j >= position - left) | (wrong == "no-left")) & ((j <= position + right) | (wrong == "no-right"))
    if "attn_mask" in x:
        mask = x["attn_mask"]
        allowed &= mask[0 if wrong == "first-item" else b % len(mask), 0 if wrong == "first-head" else h % mask.shape[1]]
    value = value[b, g]
    if wrong == "value-stale":
        value = numpy.concatenate([value[:tile], value[:-tile]])
    sink = float(x["sinks"][g if wrong == "sink-of-group" else h]) if "sinks" in x else None
    if sink is not None:
        sink *= {"sink-base-2": numpy.log(2), "sink-scaled": 1 / 2}.get(wrong, 1)
    return numpy.where(allowed, scores, -numpy.inf), sink, value


def merged(scores, value, tile, by_mean):
    """Parts of a row's keys, each with a maximum of its own."""
    parts = [(s, value[at : at + tile]) for at in range(0, len(scores), tile) if (s := scores[at : at + tile]).max() > -numpy.inf]
    sums = [numpy.exp(s - s.max()).sum() for s, _ in parts]
    contexts = [numpy.exp(s - s.max()) @ v for s, v in parts]
    return numpy.mean([c / n for c, n in zip(contexts, sums)], 0) if by_mean else sum(contexts) / sum(sums)


def factors(before, after):
    return numpy.where(numpy.isfinite(before), numpy.exp(before - numpy.where(numpy.isfinite(after), after, 0)), 0)


def attend_block(scores, value, sink, tile, wrong):
    """Rows that one block of a kernel computes, a tile of keys at a time."""
    rows, keys = scores.shape
    low, total, context = numpy.full(rows, -numpy.inf), numpy.zeros(rows), numpy.zeros((rows, value.shape[1]))
    if wrong == "from-0":
        low[:] = 0
    allowed = [numpy.flatnonzero(numpy.isfinite(row)) // tile for row in scores]
    first, last = (numpy.array([at[end] for at in allowed]) for end in (0, -1))
    for t in range((keys + tile - 1) // tile - (wrong == "last-skipped")):
        part, values = scores[:, t * tile : (t + 1) * tile], value[t * tile : (t + 1) * tile]
        seen = numpy.isfinite(part).any(1)
        times = 1 - (wrong == "own-skipped") * (last == t) + (wrong == "last-twice") * (last == t) + (wrong == "first-twice") * (first == t)
        high = numpy.maximum(low, part.max(1))
        of_sum = of_context = numpy.where(numpy.isfinite(high), factors(low, high), 1)
        if wrong == "none-rescaled":
            of_sum = of_context = numpy.ones(rows)
        if wrong == "first-row":
            of_context = numpy.full(rows, of_context[0])
        if wrong == "row-before":
            of_context = numpy.concatenate([of_context[:1], of_context[:-1]])
        powers = numpy.exp(part - numpy.where(numpy.isfinite(high), high, 0)[:, None]) * numpy.reshape(times, (-1, 1))
        powers = powers.astype("f4").astype(float)
        total, context, low = total * of_sum + powers.sum(1), context * of_context[:, None] + powers @ values, high
        if wrong == "sink-per-tile":
            total += numpy.where(seen, numpy.exp(sink - low), 0)
    if sink is not None and wrong != "sink-per-tile":
        total += numpy.exp(sink - (0 if wrong == "sink-raised" else low)) * (2 if wrong == "sink-twice" else 1)
    return context / total[:, None]


def kernel(x, s, wrong):
    items, heads, tokens, _ = x["query"].shape
    made, tile = numpy.zeros(x["query"].shape), s["tile"]
    for b, h in numpy.ndindex(items, heads):
        scores, sink, value = scores_of(x, b, h, s, wrong)
        for at in range(0, tokens, tile):
            block = scores[at : at + tile]
            if wrong in ("mean", "own-maximum"):
                made[b, h, at : at + tile] = [merged(row, value, tile, wrong == "mean") for row in block]
            else:
                made[b, h, at : at + tile] = attend_block(block, value, sink, tile, wrong)
    return made


KERNELS = [  # what attn why is to answer, the step that is wrong, and the job
    ("sinks-repeated:2", "sink-twice", dict(sinks=True, causal=True, window=(5, 0))),
    ("sinks-repeated:2", "sink-twice", dict(sinks=True, window=(5, 2))),
    ("sinks-base-2", "sink-base-2", dict(sinks=True, causal=True)),
    ("sinks-scaled", "sink-scaled", dict(sinks=True)),
    ("sinks-per-key-head", "sink-of-group", dict(sinks=True, causal=True)),
    ("sinks-maximum-missing", "sink-raised", dict(sinks=True, causal=True)),
    ("sinks-per-tile:4", "sink-per-tile", dict(sinks=True, causal=True, window=(6, 0))),
    ("alibi-per-key-head", "slope-of-group", dict(slopes=True, causal=True)),
    ("attn-mask-first-item", "first-item", dict(items=2, mask="items")),
    ("attn-mask-first-head", "first-head", dict(mask="heads")),
    ("keys-strides:key-rows", "key-rows", dict(items=2)),
    ("keys-strides:value-rows", "value-rows", dict(items=2, causal=True)),
    ("keys-strides:both-rows", "both-rows", dict(items=2, causal=True)),
    ("keys-strides:key-items", "key-items", dict(items=2)),
    ("mask-packed-groups", "packed", dict(causal=True)),
    ("window-left-missing", "no-left", dict(window=(4, 3))),
    ("window-right-missing", "no-right", dict(window=(4, 3))),
    ("softmax-maximum-from-0,empty-nan|softmax-maximum-from-0", "from-0", dict(low=True, causal=True)),
    ("tiles-merged-by-mean:4", "mean", dict(causal=True)),
    ("tiles-merged-not-rescaled:4", "own-maximum", dict(causal=True)),
    ("tiles-not-rescaled:4", "none-rescaled", dict(causal=True)),
    ("keys-stale:4", "key-stale", dict()),
    ("values-stale:4", "value-stale", dict(causal=True)),
    ("tiles-last-twice:4", "last-twice", dict(causal=True)),
    ("tiles-first-twice:4", "first-twice", dict(causal=True, window=(6, 0))),
    ("tiles-last-skipped:4|tiles-last-skipped:2|tiles-last-skipped:8", "last-skipped", dict()),
    ("empty-nan,tiles-own-skipped", "own-skipped", dict(causal=True, window=(6, 0))),
    ("tiles-first-row-rescales:4", "first-row", dict()),
    ("tiles-row-before-rescales:4", "row-before", dict(causal=True)),
]


# --- files -------------------------------------------------------------------------------------------------------------


def main(folder):
    lines, written = [], {}
    for names, cases, change, *from_residual in PORTS:
        for case in cases.split():
            table, words = make_port(case, change, bool(from_residual))
            lines.append((f"port-{len(lines) + 1}", names, words, table))
    for names, wrong, job in KERNELS:
        given = repr(sorted((name, value) for name, value in job.items() if name not in ("causal", "window")))
        if given not in written:
            written[given] = (f"inputs-{len(written) + 1}", make_inputs(numpy.random.default_rng(len(written)), **job))
            frozen.save(os.path.join(folder, written[given][0] + ".safetensors"), written[given][1])
        name, inputs = written[given]
        words = f"sdpa tests/wrong/{name}.safetensors" + " --causal" * job.get("causal", False)
        words += " --window {},{}".format(*job["window"]) if "window" in job else ""
        table = kernel(inputs, {**job, "tile": 4}, wrong)
        assert wrong == "from-0" or not (abs(table - kernel(inputs, {**job, "tile": 4}, "")) < 1e-3).all(), wrong
        lines.append((f"kernel-{len(lines) + 1}", names, words, table))
    for names, cases, change, *from_residual in LATER_PORTS:
        for case in cases.split():
            table, words = make_port(case, change, bool(from_residual))
            lines.append((f"port-{len(lines) + 1}", names, words, table))
    for name, _, _, table in lines:
        numpy.save(os.path.join(folder, name + ".npy"), table.astype("f4"))
    with open(os.path.join(folder, "cases.txt"), "w") as file:
        file.writelines(f"{name} {names} {words}\n" for name, names, words, _ in lines)
    print(f"{len(lines)} tables")


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    plain.FOLDER = os.path.join(os.path.dirname(HERE), "layers")
    os.makedirs(sys.argv[1], exist_ok=True)
    main(sys.argv[1])
