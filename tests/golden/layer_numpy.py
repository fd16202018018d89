# SPDX-License-Identifier: MIT
"""An attention module in plain NumPy, from a checkpoint's tensors and settings alone: what holds tests/layers together.

    python3 tests/golden/layer_numpy.py              every case of tests/layers: each stage within 1e-5 of its largest
    python3 tests/golden/layer_numpy.py --features   drops each feature in turn: how far the output moves, at least 1e-2

It knows neither config.json nor transformers: what is not in the tensors is in the settings of case.json. In float64,
with the frequencies of RoPE in float32. PyTorch is needed for the cases that are a state dict; else NumPy alone.
"""

import importlib.util
import json
import math
import os
import re
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(HERE), "layers")
sys.path.insert(0, HERE)
import frozen  # noqa: E402

WITHIN, NEAR, MOVES = 1e-5, 6e-2, 1e-2
STAGES = ("normed", "query", "key", "value", "weights", "context", "output")

# --- what a case holds -----------------------------------------------------------------------------------------------


def tensors_of(path):
    tensors = {}
    for file in sorted(os.listdir(path)):
        if file.startswith("model") and file.endswith(".safetensors"):
            tensors.update(frozen.load(os.path.join(path, file))[0])
        elif file.endswith(".bin"):
            import torch

            loaded = torch.load(os.path.join(path, file), weights_only=True)
            tensors.update({name: x.double().numpy() for name, x in loaded.items()})
    return tensors


NORMS = (
    "input_layernorm ln_1 self_attn_layer_norm ln_attn norm_1 layernorm_before layer_norm1 layer_norm attn_norm norm1 "
    "attention_norm".split()
)
NAMES = {  # in the order of their trial: query, key, value or all three, then the output projection
    "q_proj k_proj v_proj": "o_proj out_proj proj",
    "q k v": "o",
    "self.query self.key self.value": "output.dense",
    "attention.query attention.key attention.value": "output.dense",
    "c_attn": "c_proj",
    "qkv_proj": "o_proj",
    "Wqkv": "Wo out_proj",
    "qkv": "proj",
    "query_key_value": "dense",
}


class Layer:
    """The tensors of one module, apart: weights as (out, in), biases or None."""

    def __init__(self, path, dtype=""):
        self.case = json.load(open(os.path.join(path, "case.json")))
        self.settings = {**self.case["settings"], **self.case.get("unsaid", {})}
        self.settings.update(positions=self.case.get("positions"))
        self.module = self.case["module"]
        self.all = tensors_of(path)
        self.given = {}
        for name in ("hidden", "residual", "encoder"):
            narrow = os.path.join(path, name + dtype + ".npy")
            file = narrow if os.path.exists(narrow) else os.path.join(path, name + ".npy")
            if os.path.exists(file):
                x = numpy.load(file).astype(float)
                self.given[name] = x if x.ndim == 3 else x[None]
        self.expected, _, _ = frozen.load(os.path.join(path, f"expected{dtype}.safetensors"))
        if self.expected["output"].ndim == 2:
            self.expected = {name: x[None] for name, x in self.expected.items()}
        self.turned = self.module + ".c_attn.weight" in self.all  # Conv1D holds (in, out)

    def named(self, name):
        return self.all.get(f"{self.module}.{name}")

    def linear(self, name):
        """(weight, bias) of a projection of the module."""
        weight = self.named(name + ".weight")
        return (weight.T if self.turned and weight is not None else weight), self.named(name + ".bias")

    def out(self):
        for names, outs in NAMES.items():
            for out in outs.split():
                if self.named(names.split()[0] + ".weight") is not None and self.named(out + ".weight") is not None:
                    return self.linear(out)
        return self.linear("o_proj")  # MLA

    def norm(self):
        """The norm before the module: beside it, or in what holds it."""
        parent = self.module.rsplit(".", 1)[0]
        names = list(NORMS)
        if self.module.endswith("encoder_attn"):
            names = ["encoder_attn_layer_norm"]
        for name in names:
            weight = self.all.get(f"{parent}.{name}.weight")
            if weight is not None:
                return weight, self.all.get(f"{parent}.{name}.bias")
        return None, None


def apart(joined, settings, packing):
    """query, key and value of a packed weight or bias: their rows."""
    heads, groups = settings["heads"], settings.get("kv_heads") or settings["heads"]
    d = len(joined) // (heads + 2 * groups)
    if packing == "blocks":
        return numpy.split(joined, [heads * d, (heads + groups) * d])
    per = joined.reshape(groups, heads // groups + 2, d, *joined.shape[1:])
    return [x.reshape(-1, *joined.shape[1:]) for x in (per[:, :-2], per[:, -2:-1], per[:, -1:])]


def projections(layer, packing):
    """(weight, bias) of query, key and value; not of MLA."""
    for names in NAMES:
        names = names.split()
        if layer.named(names[0] + ".weight") is None:
            continue
        if len(names) == 3:
            return [layer.linear(name if layer.named(name + ".weight") is not None else "k_proj") for name in names]
        weight, bias = layer.linear(names[0])
        biases = [None] * 3 if bias is None else apart(bias, layer.settings, packing)
        return list(zip(apart(weight, layer.settings, packing), biases))
    return None


# --- the parts -------------------------------------------------------------------------------------------------------


def normalized(x, kind, eps, weight, bias=None):
    if kind == "layer":
        x = x - x.mean(-1, keepdims=True)
    x = x / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return x * (weight + 1 if kind == "rms-plus-one" else weight) + (0 if bias is None else bias)


def projected(x, weight, bias):
    return x @ weight.T + (0 if bias is None else bias)


def scaling_of(text):
    kind, _, rest = (text or "none").partition(":")
    values = {}
    for part in filter(None, rest.split(",")):
        key, value = part.split("=")
        if key in ("short", "long"):
            value = [float(x) for x in value.split(";")]
        values[key] = value != "no" if key == "truncate" else value
    as_they_are = (list, bool)
    return kind, {key: value if isinstance(value, as_they_are) else float(value) for key, value in values.items()}


def frequencies(n, theta, scaling, tokens):
    """inv_freq of n columns, and what cos and sin are multiplied with."""
    kind, v = scaling_of(scaling)
    places, factor = numpy.arange(0, n, 2) / n, 1.0
    if kind == "dynamic" and tokens > v["old"]:
        theta = theta * (v["factor"] * tokens / v["old"] - (v["factor"] - 1)) ** (n / (n - 2))
    inverse = 1 / theta**places
    if kind == "linear":
        inverse = inverse / v["factor"]
    elif kind == "llama3":
        wave = 2 * math.pi / inverse
        smooth = numpy.clip((v["old"] / wave - v["low"]) / (v["high"] - v["low"]), 0, 1)
        inverse = (1 - smooth) * inverse / v["factor"] + smooth * inverse
    elif kind == "yarn":
        find = lambda turns: n * math.log(v["old"] / (turns * 2 * math.pi)) / (2 * math.log(theta))
        low, high = find(v.get("fast", 32)), find(v.get("slow", 1))
        if v.get("truncate", True):
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, n - 1)
        ramp = numpy.clip((numpy.arange(n // 2) - low) / ((high - low) or 0.001), 0, 1)
        inverse = inverse / v["factor"] * ramp + inverse * (1 - ramp)
        factor = v.get("attention", 0.1 * math.log(v["factor"]) + 1)
    elif kind == "proportional":
        inverse = inverse / v.get("factor", 1) * (numpy.arange(n // 2) < int(v["share"] * n // 2))
    elif kind == "longrope":
        inverse = inverse / numpy.array(v["long" if tokens > v["old"] else "short"])
        ratio = v["max"] / v["old"]
        factor = v.get("attention", math.sqrt(1 + math.log(ratio) / math.log(v["old"])) if ratio > 1 else 1.0)
        factor = v.get("beyond", factor) if tokens > v["old"] else factor
    return inverse.astype("f4"), factor


def axes_of(text):
    """The axes (0 time, 1 height, 2 width) with their numbers of pairs, and the words after them."""
    words = text.split(",")
    axes = [("thw".index(word[0]), int(word[1:] or 0)) for word in words if re.fullmatch("[thw][0-9]*", word)]
    return axes, dict((word.split("=") + [1])[:2] for word in words if not re.fullmatch("[thw][0-9]*", word))


def sizes_of(positions):
    """Time, height and width of a grid."""
    sizes = [int(size) for size in positions.removeprefix("grid:").split("x")]
    return [1] * (3 - len(sizes)) + sizes


def patches_of(positions, words):
    """The patches of a grid in their order, and the group of each, beyond which keys are masked."""
    window, block = int(words.get("window", 1 << 20)), int(words.get("merge", 1))
    place = lambda p: (p[0], p[1] // window, p[2] // window, p[1] // block, p[2] // block, *p)
    patches = sorted(numpy.ndindex(*sizes_of(positions)), key=place)
    deep = 3 if "windows-apart" in words else 1 if "frames-apart" in words else 0
    return patches, [place(p)[:deep] for p in patches]


def coordinates_of(positions, words, tokens):
    """(tokens, 3) in time, height and width; NaN: not rotated."""
    if not positions.startswith("grid:"):
        count = lambda item: list(range(int(item.split("-")[0]), int(item.split("-")[-1]) + 1))
        return numpy.array([sum(map(count, row.split(",")), []) for row in positions.split(";")], "f4").T
    found = numpy.array(patches_of(positions, words)[0], "f4") + int(words.get("from", 0))
    if "centred" in words:
        middle = (found + numpy.float32(0.5)) / numpy.array(sizes_of(positions), "f4")
        found = numpy.float32(2 * math.pi) * (2 * middle - 1)
    rest = numpy.full((tokens - len(found), 3), numpy.nan, "f4")
    assert len(rest) == int(words.get("rest-first", 0)) + int(words.get("rest-last", 0))
    return numpy.concatenate([rest, found] if "rest-first" in words else [found, rest])


def angles_by_axes(settings, n, theta, inverse, tokens):
    """(tokens, n / 2): the axis of each pair, and its frequency, one pair after the other."""
    axes, words = axes_of(settings["rope_axes"])
    found, half, count = coordinates_of(settings["positions"], words, tokens), n // 2, len(axes)
    if not any(number for _, number in axes):
        axes = [(axis, half // count) for axis, _ in axes]
    order = [place for place, (_, number) in enumerate(axes) for _ in range(number)][:half]
    if "interleaved" in words:
        order = [i % count if i // count < axes[i % count][1] else 0 for i in range(half)]
    angle = numpy.empty((tokens, half), "f4")
    for i, place in enumerate(order):
        own = order[:i].count(place)
        power = i / half
        if "restarted" in words:
            power = own / order.count(place)
        elif "strided" in words:
            power = (own * count + place) / half
        frequency = numpy.float32(theta**-power) if {"restarted", "strided"} & set(words) else inverse[i]
        angle[:, i] = found[:, axes[place][0]] * frequency
    return numpy.nan_to_num(angle).astype(float)


def rotated(x, settings):
    """x (B, H, T, d), its columns rotated by the position."""
    kind, d, tokens = settings.get("rope") or "none", x.shape[-1], x.shape[2]
    if kind == "none":
        return x
    columns = str(settings.get("rope_columns") or d)
    last = columns.startswith("last:")
    n = int(columns.removeprefix("last:"))
    first = d - n if last else 0
    inverse, factor = frequencies(n, settings["rope_theta"], settings.get("rope_scaling"), tokens)
    angle = (numpy.arange(tokens, dtype="f4")[:, None] * inverse).astype(float)
    if settings.get("positions"):
        angle = angles_by_axes(settings, n, settings["rope_theta"], inverse, tokens)
    cos, sin = numpy.cos(angle) * factor, numpy.sin(angle) * factor
    part = x[..., first : first + n]
    a, b = (part[..., : n // 2], part[..., n // 2 :]) if kind == "half" else (part[..., 0::2], part[..., 1::2])
    p, q = a * cos - b * sin, b * cos + a * sin
    turned = numpy.empty_like(part)
    if kind == "pairs":
        turned[..., 0::2], turned[..., 1::2] = p, q
    else:
        turned[..., : n // 2], turned[..., n // 2 :] = p, q
    return numpy.concatenate([x[..., :first], turned, x[..., first + n :]], -1)


def bucket(distance, buckets, far, both):
    """T5's bucket of key - query."""
    start = 0
    if both:
        buckets //= 2
        start, distance = (buckets if distance > 0 else 0), abs(distance)
    else:
        distance = max(0, -distance)
    half = buckets // 2
    if distance < half:
        return start + distance
    return start + min(buckets - 1, half + int(math.log(distance / half) / math.log(far / half) * (buckets - half)))


def slopes(heads):
    below = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (i + 1) / below) for i in range(below)]
    more = [2 ** (-8 * (i + 1) / (2 * below)) for i in range(0, 2 * below, 2)]
    return numpy.array((first + more)[:heads])


def bfloat16(x):
    """Rounded to 8 significant bits, ties to even."""
    bits = numpy.asarray(x, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(numpy.float32).astype(float)


def bias_of(layer, settings, distance, d):
    """What is added to the scores: (H, Tq, Tk) or 0."""
    bias = 0
    if settings.get("alibi") == "scaled":  # Falcon's, in bfloat16 whatever the rest is in
        by = bfloat16(slopes(settings["heads"]))[:, None, None]
        bias = bfloat16(by * numpy.arange(distance.shape[1])) / math.sqrt(d)
    elif (settings.get("alibi") or "off") != "off":
        bias = slopes(settings["heads"])[:, None, None] * distance
    if settings.get("relative_distance"):
        stack = layer.module.split("block.")[0]
        table = layer.all.get(f"{stack}block.0.layer.0.SelfAttention.relative_attention_bias.weight")
        if table is None:  # MPNet's
            table = layer.all[layer.module.split("layer.")[0] + "relative_attention_bias.weight"][: settings.get("buckets")]
        both = not settings["causal"]
        places = [[bucket(int(x), len(table), settings["relative_distance"], both) for x in line] for line in distance]
        bias = table[numpy.array(places)].transpose(2, 0, 1)
    return bias


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def with_norm(layer, settings, x, name, heads):
    """A norm of query or key (B, T, H d), as its weight's shape says."""
    kind = settings.get("qk_norm") or "none"
    weight = layer.named({"q_norm": "query_layernorm", "k_norm": "key_layernorm"}[name] + ".weight")
    weight = layer.named(name + ".weight") if weight is None else weight
    if kind == "none" or weight is None:
        return x
    eps, total = settings["qk_norm_eps"], x.shape[-1]
    if weight.ndim == 1 and len(weight) == total and heads > 1:
        return normalized(x, kind, eps, weight)
    per = x.reshape(*x.shape[:2], heads, -1)
    return normalized(per, kind, eps, weight).reshape(x.shape)


def latent(layer, settings, x):
    """MLA: query, key (before rotation) and value, (B, H, T, d)."""
    heads, eps = settings["heads"], settings["qk_norm_eps"]
    normed = (lambda y, w: normalized(y, "rms", eps, w)) if settings.get("qk_norm") else (lambda y, w: y)
    if layer.named("q_proj.weight") is not None:
        query = projected(x, *layer.linear("q_proj"))
    else:
        query = normed(projected(x, *layer.linear("q_a_proj")), layer.named("q_a_layernorm.weight"))
        query = projected(query, *layer.linear("q_b_proj"))
    joined = projected(x, *layer.linear("kv_a_proj_with_mqa"))
    rank = len(layer.named("kv_a_layernorm.weight"))
    both = projected(normed(joined[..., :rank], layer.named("kv_a_layernorm.weight")), *layer.linear("kv_b_proj"))
    query, both = heads_of(query, heads), heads_of(both, heads)
    rope = joined.shape[-1] - rank
    nope = query.shape[-1] - rope
    shared = numpy.broadcast_to(joined[:, None, :, rank:], (*both.shape[:3], rope))
    return query, numpy.concatenate([both[..., :nope], shared], -1), both[..., nope:]


def operands(layer, s, x, biases):
    """query, key and value of the module's input, (B, H, T, d), before rotation."""
    if layer.named("kv_a_proj_with_mqa.weight") is not None:
        return latent(layer, s, x)
    heads, groups = s["heads"], s.get("kv_heads") or s["heads"]
    parts = projections(layer, s.get("packing"))
    if not biases:
        parts = [(weight, None) for weight, _ in parts]
    other = layer.given["encoder"] if layer.case["cross"] else x
    query, key, value = (projected(y, *part) for y, part in zip((x, other, other), parts))
    if s.get("gate") == "query":
        query = query.reshape(*query.shape[:2], heads, 2, -1)[..., 0, :].reshape(*query.shape[:2], -1)
    key = key * s.get("key_factor", 1)
    if s.get("clip"):
        query, key, value = (numpy.clip(y, -s["clip"], s["clip"]) for y in (query, key, value))
    if not s.get("norm_last"):
        query, key = with_norm(layer, s, query, "q_norm", heads), with_norm(layer, s, key, "k_norm", groups)
    query, key, value = heads_of(query, heads), heads_of(key, groups), heads_of(value, groups)
    if s.get("bare_norm"):
        query, key = (normalized(y, "rms", s["qk_norm_eps"], 1) for y in (query, key))
    if s.get("value_norm"):
        value = normalized(value, s["value_norm"], s["qk_norm_eps"], 1)
    return query, key, value


def gate_of(layer, s, x):
    """What multiplies the contexts side by side, (B, T, H d)."""
    if s.get("gate") == "query":
        both = projected(x, *layer.linear("q_proj"))
        gate = both.reshape(*x.shape[:2], s["heads"], 2, -1)[..., 1, :].reshape(*x.shape[:2], -1)
    else:
        gate = projected(x, *layer.linear("gate_proj"))
    return 1 / (1 + numpy.exp(-gate))


def permitted(s, distance):
    """Which keys a query may see, of key - query."""
    left, right = (int(y) for y in (s.get("window") or "-1,-1").split(","))
    seen = (distance <= 0) | (not s["causal"])
    if (s.get("positions") or "").startswith("grid:") and s.get("rope_axes"):
        groups = patches_of(s["positions"], axes_of(s["rope_axes"])[1])[1]
        if len(set(groups)) > 1:
            seen = seen & numpy.array([[a == b for b in groups] for a in groups])
    if s.get("attention_chunk"):
        at = numpy.arange(distance.shape[0]) // s["attention_chunk"]
        seen = seen & (at[:, None] == at[None, :])
    return seen & ((distance >= -left) | (left < 0)) & ((distance <= right) | (right < 0))


def softmax(layer, s, scores):
    """Over the keys; a sink takes its share."""
    top = scores.max(-1, keepdims=True)
    exponentials = numpy.exp(scores - top)
    total = exponentials.sum(-1, keepdims=True)
    sinks = layer.named("sinks")
    if sinks is not None and s.get("sinks", True):
        total = total + numpy.exp(sinks[:, None, None] - top)
    return exponentials / total


def grown(query, s):
    """Each query by 1 + a ln(1 + floor((position + ahead) / every))."""
    by, every, ahead = ([float(x) for x in (s.get("query_growth") or "0,1").split(",")] + [0])[:3]
    return query * (1 + by * numpy.log1p((numpy.arange(query.shape[2]) + ahead) // every))[:, None]


def chosen(layer, s, x, seen):
    """Of the keys that the mask allows, (Tq, Tk), those that the indexer of DeepSeek-V3.2 keeps, (B, 1, Tq, Tk)."""
    narrow = normalized(projected(x, *layer.linear("q_a_proj")), "rms", 1e-6, layer.named("q_a_layernorm.weight"))
    heads = len(layer.named("indexer.weights_proj.weight"))
    query = heads_of(projected(narrow, *layer.linear("indexer.wq_b")), heads)
    key = projected(x, *layer.linear("indexer.wk"))
    norm = [layer.named("indexer.k_norm" + end) for end in (".weight", ".bias")]
    key = normalized(key, "layer", 1e-6, *norm)[:, None]
    turns = dict(s, rope=s["index_rope"], rope_columns=s["rope_columns"].removeprefix("last:"))
    scores = numpy.maximum(rotated(query, turns) @ rotated(key, turns).swapaxes(-1, -2), 0)
    scores = (scores * projected(x, *layer.linear("indexer.weights_proj")).swapaxes(1, 2)[..., None]).sum(1)
    scores = numpy.where(seen, scores, -numpy.inf)
    last = numpy.sort(scores, -1)[..., -s["index_topk"], None]
    return (scores >= last)[:, None] & seen


def attend(layer, s, query, key, scale, x):
    """The weights; key as often as query."""
    scores = query @ key.swapaxes(-1, -2) * scale
    if s.get("softcap"):
        scores = s["softcap"] * numpy.tanh(scores / s["softcap"])
    distance = numpy.arange(key.shape[2])[None, :] - numpy.arange(query.shape[2])[:, None]
    scores = scores + bias_of(layer, s, distance, query.shape[-1])
    seen = permitted(s, distance)
    if s.get("index_topk"):
        seen = chosen(layer, s, x, seen)
    return softmax(layer, s, numpy.where(seen, scores, -numpy.inf))


def entrance(layer, s, from_residual):
    """What enters the module."""
    if "residual" not in layer.given or not from_residual:
        return layer.given["hidden"]
    x = layer.given["residual"]
    return x if (s.get("norm") or "none") == "none" else normalized(x, s["norm"], s["norm_eps"], *layer.norm())


def compute(layer, settings=None, biases=True, tiled=False, from_residual=True):
    """Every stage; settings in place of the case's."""
    s = settings or layer.settings
    x = entrance(layer, s, from_residual)
    query, key, value = operands(layer, s, x, biases)
    query, key = rotated(query, s), rotated(key, s)
    if s.get("norm_last") and s.get("qk_norm"):
        norm = lambda y, name: normalized(y, s["qk_norm"], s["qk_norm_eps"], layer.named(name + ".weight"))
        query, key = norm(query, "query_layernorm"), norm(key, "key_layernorm")
    query = grown(query, s)
    scale = s.get("scale", 1 / math.sqrt(query.shape[-1]))
    if s.get("scale_on") == "query":
        query, scale = query * scale, 1
    stages = dict(normed=x, query=query, key=key, value=value)
    times = query.shape[1] // key.shape[1]
    key, value = (numpy.tile(y, (1, times, 1, 1)) if tiled else y.repeat(times, 1) for y in (key, value))
    weights = attend(layer, s, query, key, scale, x)
    context = weights @ value
    weight, bias = layer.out()
    joined = context.swapaxes(1, 2).reshape(*x.shape[:2], -1) * (gate_of(layer, s, x) if s.get("gate") else 1)
    output = projected(joined, weight, bias if biases else None)
    return dict(stages, weights=weights, context=context, output=output)


# --- what is checked -------------------------------------------------------------------------------------------------


def away(got, expected):
    return float(numpy.abs(got - expected).max() / numpy.abs(expected).max())


def check_case(name):
    """The worst of the case's stages in float32, from hidden.npy and from residual.npy; bfloat16 is held to be near."""
    layer, worst = Layer(os.path.join(FOLDER, name)), 0
    narrow = Layer(os.path.join(FOLDER, name), "-bf16")
    for of, from_residual, within in ((layer, False, WITHIN), (layer, True, WITHIN), (narrow, False, NEAR)):
        stages = compute(of, from_residual=from_residual)
        for stage in STAGES:
            if stage not in of.expected:
                continue
            same = stages[stage].shape == of.expected[stage].shape
            off = away(stages[stage], of.expected[stage]) if same else math.inf
            if not off <= within:
                print(f"FAILED {name}: {stage}: {off}, at most {within}")
            worst = max(worst, off if of is layer or not off <= within else 0)
    return worst


def names_of_cases():
    """The cases' names, without those that this Python cannot read, which are told."""
    with open(os.path.join(FOLDER, "cases.txt")) as file:
        names = [line.split()[0] for line in file]
    assert sorted(names) == sorted(entry.name for entry in os.scandir(FOLDER) if entry.is_dir())
    pickled = [name for name in names if os.path.exists(os.path.join(FOLDER, name, "pytorch_model.bin"))]
    if pickled and importlib.util.find_spec("torch") is None:
        print(f"skipped: {len(pickled)} cases that are a state dict: PyTorch is not installed")
        return [name for name in names if name not in pickled]
    return names


def check():
    names = names_of_cases()
    worst = [check_case(name) for name in names]
    print(f"{sum(w <= WITHIN for w in worst)} of {len(names)} cases, the worst of them {max(worst):.1e} of the largest")
    return int(max(worst) > WITHIN)


def windowed(by):
    def change(s):
        left, right = (int(x) for x in s["window"].split(","))
        return dict(window=f"{left + by},{right + by if right else 0}")

    return change


def first_columns(s):
    return dict(rope_columns=s["rope_columns"].removeprefix("last:")) if "last:" in s["rope_columns"] else None


# A feature, when a case has it, and what the settings are without.
FEATURES = {
    "norm": (lambda s: s.get("norm", "none") != "none", lambda s: dict(norm="none")),
    "the norm's mean": (lambda s: s.get("norm") == "layer", lambda s: dict(norm="rms")),
    "1 + weight": (lambda s: s.get("norm") == "rms-plus-one", lambda s: dict(norm="rms")),
    "norm of query and key": (lambda s: s.get("qk_norm"), lambda s: dict(qk_norm=None)),
    "its mean": (lambda s: s.get("qk_norm") == "layer", lambda s: dict(qk_norm="rms")),
    "its 1 + weight": (lambda s: s.get("qk_norm") == "rms-plus-one", lambda s: dict(qk_norm="rms")),
    "norm of query and key after the rotation": (lambda s: s.get("norm_last"), lambda s: dict(norm_last=None)),
    "windows and frames": (
        lambda s: "-apart" in (s.get("rope_axes") or ""),
        lambda s: dict(rope_axes=re.sub(",[a-z]*-apart", "", s["rope_axes"])),
    ),
    "norm of value": (lambda s: s.get("value_norm"), lambda s: dict(value_norm=None)),
    "rope": (lambda s: s.get("rope"), lambda s: dict(rope="none")),
    "rope in halves": (lambda s: s.get("rope") == "half", lambda s: dict(rope="pairs")),
    "rope in pairs": (lambda s: s.get("rope") == "pairs", lambda s: dict(rope="half")),
    "theta": (lambda s: s.get("rope_theta", 10000) != 10000, lambda s: dict(rope_theta=10000)),
    "the last columns": (lambda s: "last:" in (s.get("rope_columns") or ""), first_columns),
    "a part rotated": (
        lambda s: (s.get("rope_columns") or "l")[0] != "l" and not s.get("rope_scaling"),
        lambda s: dict(rope_columns=None),
    ),
    "truncate": (
        lambda s: "truncate=no" in (s.get("rope_scaling") or ""),
        lambda s: dict(rope_scaling=s["rope_scaling"].replace(",truncate=no", "")),
    ),
    "yarn's factor of cosine": (
        lambda s: (s.get("rope_scaling") or "").startswith("yarn") and "attention=" not in s["rope_scaling"],
        lambda s: dict(rope_scaling=s["rope_scaling"] + ",attention=1"),
    ),
    "longrope's factor of cosine": (
        lambda s: (s.get("rope_scaling") or "").startswith("longrope"),
        lambda s: dict(rope_scaling=s["rope_scaling"] + ",attention=1"),
    ),
    "growth of queries": (lambda s: s.get("query_growth"), lambda s: dict(query_growth=None)),
    "its position from 1": (
        lambda s: (s.get("query_growth") or "").endswith(",1"),
        lambda s: dict(query_growth=s["query_growth"].removesuffix(",1")),
    ),
    "the keys of an indexer": (lambda s: s.get("index_topk"), lambda s: dict(index_topk=None)),
    "its rotation": (
        lambda s: s.get("index_rope"),
        lambda s: dict(index_rope="half" if s["index_rope"] != "half" else "pairs-to-halves"),
    ),
    "window": (lambda s: s.get("window"), lambda s: dict(window=None)),
    "window, one more": (lambda s: s.get("window"), windowed(1)),
    "causal": (lambda s: s["causal"], lambda s: dict(causal=False)),
    "not causal": (lambda s: not s["causal"], lambda s: dict(causal=True)),
    "scale": (lambda s: "scale" in s, lambda s: {"scale": ...}),
    "softcap": (lambda s: s.get("softcap"), lambda s: dict(softcap=0)),
    "sinks": (lambda s: True, lambda s: dict(sinks=False)),
    "alibi": (lambda s: s.get("alibi"), lambda s: dict(alibi="off")),
    "alibi, scaled": (lambda s: s.get("alibi") == "scaled", lambda s: dict(alibi="slopes")),
    "clip": (lambda s: s.get("clip"), lambda s: dict(clip=0)),
    "relative bias": (lambda s: s.get("relative_distance"), lambda s: dict(relative_distance=None)),
    "its distance": (lambda s: s.get("relative_distance", 128) != 128, lambda s: dict(relative_distance=128)),
    "packing in groups": (lambda s: s.get("packing") == "groups", lambda s: dict(packing="blocks")),
    "packing in blocks": (lambda s: s.get("packing") == "blocks", lambda s: dict(packing="groups")),
}
for kind in ("linear", "dynamic", "llama3", "yarn", "longrope"):
    FEATURES["scaling " + kind] = (
        lambda s, kind=kind: (s.get("rope_scaling") or "").startswith(kind),
        lambda s: dict(rope_scaling=None),
    )


def without(settings, change):
    return {key: value for key, value in {**settings, **change}.items() if value is not ...}


def features():
    """Each feature dropped wherever it is: the case whose output moves most."""
    layers = {name: Layer(os.path.join(FOLDER, name)) for name in names_of_cases()}
    moved = {}

    def note(feature, name, got):
        by = away(got["output"], layers[name].expected["output"])
        moved.setdefault(feature, []).append((by, name))

    for name, layer in layers.items():
        for feature, (has, change) in FEATURES.items():
            if has(layer.settings):
                note(feature, name, compute(layer, without(layer.settings, change(layer.settings))))
        note("biases", name, compute(layer, biases=False))
        if layer.case["cross"]:
            crossed = Layer(os.path.join(FOLDER, name))
            crossed.given["encoder"] = numpy.resize(layer.given["hidden"], layer.given["encoder"].shape)
            note("key and value of the encoder", name, compute(crossed))
        if (layer.settings.get("kv_heads") or layer.settings["heads"]) != layer.settings["heads"]:
            note("groups", name, compute(layer, tiled=True))
    few = 0
    for feature, cases in sorted(moved.items()):
        by, name = max(cases)
        shown = sum(move > MOVES for move, _ in cases)
        few += by <= MOVES
        print(f"{feature:28} {by:8.3f} in {name}; more than {MOVES} in {shown} of {len(cases)}")
    print(f"{len(moved) - few} of {len(moved)} features show")
    return int(few != 0)


if __name__ == "__main__":
    sys.exit(features() if sys.argv[1:] == ["--features"] else check())
