# SPDX-License-Identifier: MIT
"""Gradients of attention by torch.autograd, in float64, of random settings: what `attn --grad` must give.

    python3 tests/grad/make_grad.py [--attn ./attn]        (torch 2.15.0, numpy 2.4.6, safetensors 0.8.0)

The equations are written out with plain operations on tensors, one after the other as the manual names the stages, and
autograd goes back through them: no formula of a gradient stands here. tests/grad/README.md says what the files are.
With --attn, the program computes every setting forward, and what the loss is taken of must be the same to 1e-12 of the
largest: so a gradient is never compared with one of another job.

Inputs and parameters are multiples of 1/16, the same number in float32 and float64 and short in text. One thing is
rounded here: cosines, sines and angles of a rotation are float32, as transformers has them in any dtype, and attn in
float64 with --rounding transformers.
"""

import json
import math
import os
import subprocess
import sys

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "golden"))
import frozen  # noqa: E402

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

SQUARES = ["scores", "scaled", "capped", "masked", "weights", "dropped"]  # the stages of T x T
SHARES = ["weights", "dropped"]
COUNT = 352
LATENTS = 60  # behind them
GATES = 30  # and these


# --- numbers ----------------------------------------------------------------------------------------------------------


class Draws:
    """The random numbers of a case."""

    def __init__(self, number):
        self.generator = numpy.random.default_rng(20260 + number)

    def whole(self, low, high):
        """One of low..high."""
        return int(self.generator.integers(low, high + 1))

    def one_of(self, *choices):
        return choices[self.whole(0, len(choices) - 1)]

    def happens(self, share):
        return self.generator.random() < share

    def normal(self, *shape, width=1.0):
        """Multiples of 1/16 near those of a normal distribution."""
        return torch.from_numpy(numpy.round(self.generator.standard_normal(shape) * width * 16) / 16)

    def flags(self, *shape, share=0.7):
        return torch.from_numpy(self.generator.random(shape) < share)


def dropout(seed, p, shape):
    """What is kept, scaled: NumPy's mt19937 and PyTorch's rule, as tests/golden/sdpa has it."""
    generator = numpy.random.MT19937()
    generator._legacy_seeding(seed % 2**32)
    draws = generator.random_raw(2 * math.prod(shape)).astype(numpy.uint64)
    bits = (draws[0::2] << numpy.uint64(32) | draws[1::2]) & numpy.uint64(2**53 - 1)
    return torch.from_numpy((bits * 2.0**-53 < 1 - p) / (1 - p)).reshape(shape)


# --- a job ------------------------------------------------------------------------------------------------------------


class Job:
    """One setting: its command line, what it is given, and the stages that autograd remembers.

    Inside, operands are (B, H, T, d); `shape_of` says how a stage lies in attn's result."""

    def __init__(self, number):
        self.draws = Draws(number)
        self.words = []
        self.input = {}
        self.leaves = {}  # what is given: name -> tensor; its gradient is grad_NAME
        self.stages = {}  # what is made on the way, (B, H, ...)
        self.options = {}
        self.batch = False
        self.packed = False
        self.with_heads = True
        self.normed = set()  # query and key whose heads are normed without a weight

    def option(self, name, value=None):
        self.options[name] = True if value is None else value
        self.words += ["--" + name] + ([] if value is None else [f"{value}"])

    def give(self, name, tensor, learns=True):
        """Into the input, and, if it learns, a leaf."""
        self.input[name] = tensor.clone()
        if learns:
            tensor = tensor.clone().requires_grad_()
            self.leaves[name] = tensor
        return tensor

    def keep(self, name, tensor):
        self.stages[name] = tensor
        if tensor.requires_grad:
            tensor.retain_grad()
        return tensor


# --- the equations ----------------------------------------------------------------------------------------------------


def frequencies(job, columns):
    theta = numpy.float32(job.options.get("rope-theta", 10000))
    powers = [float(theta) ** float(numpy.float32(2 * i) / numpy.float32(columns)) for i in range(columns // 2)]
    return [numpy.float32(1) / numpy.float32(power) for power in powers]


def rounded(numbers):
    """To float32, as doubles."""
    return torch.from_numpy(numbers.astype("f4").astype("f8"))


def turned(job, rows, positions):
    """rows (B, H, T, d), positions (B, T)."""
    width = rows.shape[-1]
    text = str(job.options.get("rope-columns", width))
    columns = int(text.split(":")[-1])
    first = width - columns if text.startswith("last:") else 0
    half = columns // 2
    waves = frequencies(job, columns)
    made = [rows[..., c] for c in range(width)]
    for pair in range(half):
        adjacent = job.options["rope"] == "pairs"
        a, b = (first + 2 * pair, first + 2 * pair + 1) if adjacent else (first + pair, first + pair + half)
        angles = numpy.array([[numpy.float32(p) * waves[pair] for p in item] for item in positions])
        cosines, sines = (rounded(function(angles.astype("f8")))[:, None, :] for function in (numpy.cos, numpy.sin))
        x, y = rows[..., a], rows[..., b]
        made[a], made[b] = x * cosines - y * sines, y * cosines + x * sines
    return torch.stack(made, -1)


def normed(rows, kind, eps, weight, bias):
    if kind == "layer":
        rows = rows - rows.mean(-1, keepdim=True)
    rows = rows / torch.sqrt((rows * rows).mean(-1, keepdim=True) + eps)
    if weight is not None:
        rows = rows * (1 + weight if kind == "rms-plus-one" else weight)
    return rows if bias is None else rows + bias


def offsets(job, items, queries, keys, past):
    if "kv_lengths" in job.input:
        return [int(length) - queries for length in job.input["kv_lengths"]]
    if "past_key" in job.input:
        return [past] * items
    return [keys - queries if job.options.get("align") == "bottom-right" else 0] * items


def places(job, items, queries, keys, past):
    """The offset of each item, and the positions of queries and of new keys for the rotation."""
    start = offsets(job, items, queries, keys, past)
    turn = [0] * items if "key_inputs" in job.input else start
    of_queries = [[max(i + turn[b], 0) for i in range(queries)] for b in range(items)]
    of_keys = [list(range(past, keys))] * items
    if "positions" in job.options:
        listed = [int(p) for p in job.options["positions"].split(",")]
        of_queries = [[listed[p - past] for p in item] for item in of_queries]
        of_keys = [listed] * items
    return start, of_queries, of_keys


def seen_by_rules(job, start, queries, keys):
    """(B, 1, Tq, Tk): what causality, the window and lengths leave."""
    left, right = (int(side) for side in job.options.get("window", "-1,-1").split(","))
    rows = []
    for item, offset in enumerate(start):
        p = torch.arange(queries)[:, None] + offset
        j = torch.arange(keys)[None, :]
        seen = torch.ones(queries, keys, dtype=torch.bool)
        if job.options["is causal"]:
            seen &= j <= p
        if left >= 0:
            seen &= j >= p - left
        if right >= 0:
            seen &= j <= p + right
        if "kv_lengths" in job.input:
            seen &= j < int(job.input["kv_lengths"][item])
        rows.append(seen)
    return torch.stack(rows)[:, None]


def slopes(job, heads):
    """Press et al. 2022: of a power of two, and what lies between them."""
    if "alibi_slopes" in job.input:
        return job.leaves["alibi_slopes"]
    power = 2 ** math.floor(math.log2(heads))
    made = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    made += [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]
    return torch.tensor(made)


def bias_of(job, capped, start):
    """What is added, and what attn_mask lets a query see."""
    heads, queries, keys = capped.shape[1:]
    bias = torch.zeros_like(capped)
    seen = torch.ones(capped.shape, dtype=torch.bool)
    mask = job.leaves.get("attn_mask", job.input.get("attn_mask"))
    if mask is not None and mask.dtype == torch.bool:
        seen = (~mask if job.options.get("mask-true") == "drop" else mask).expand(capped.shape)
    elif mask is not None:
        forbidden = torch.isneginf(mask.detach())
        seen = ~forbidden.expand(capped.shape)
        bias = bias + torch.where(forbidden, 0.0, mask)
    if "alibi" in job.options or "alibi_slopes" in job.input:
        p = torch.arange(queries)[None, :, None] + torch.tensor(start)[:, None, None]
        distance = (torch.arange(keys)[None, None, :] - p).abs()[:, None]
        bias = bias - slopes(job, heads)[None, :, None, None] * distance
    return bias, seen


def softmax(job, masked):
    """Of rows that see a key; the others are what --empty-row says, numbers that learn nothing."""
    empty = torch.isneginf(masked).all(-1, keepdim=True)
    rows = torch.where(empty, 0.0, masked)
    if "sinks" in job.leaves:
        sinks = job.leaves["sinks"][None, :, None, None].expand(*rows.shape[:-1], 1)
        rows = torch.cat([rows, sinks], -1)
    rows = torch.exp(rows - rows.detach().amax(-1, keepdim=True))
    rows = rows / rows.sum(-1, keepdim=True)
    instead = {"mean": 1 / masked.shape[-1]}.get(job.options.get("empty-row"), 0.0)
    return torch.where(empty, instead, rows[..., : masked.shape[-1]])


def factor(job, d):
    texts = {"1/8": 0.125, "off": 1.0, "1/sqrt(2)": 1 / math.sqrt(2)}
    scale = job.options.get("scale", 1 / math.sqrt(d))
    return texts.get(scale, scale) / job.options.get("temperature", 1)


def attend(job, query, key, value, start):
    """(B, H, Tq, d), (B, H_kv, Tk, d), (B, H_kv, Tk, d_v) -> (B, H, Tq, d_v)."""
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = job.keep("scores", query @ key.mT)
    scaled = scores
    if "scale-on" not in job.options:
        scaled = job.keep("scaled", scores * factor(job, query.shape[-1]))
    capped = scaled
    if "softcap" in job.options:
        cap = job.options["softcap"]
        capped = job.keep("capped", cap * torch.tanh(scaled / cap))
    bias, seen = bias_of(job, capped, start)
    seen = seen & seen_by_rules(job, start, *capped.shape[-2:])
    masked = job.keep("masked", torch.where(seen, capped + bias, -math.inf))
    weights = job.keep("weights", softmax(job, masked))
    job.seen = seen
    if "dropout" in job.options:
        shape = list(weights.shape)
        if job.options.get("stacked"):
            shape[:2] = shape[1::-1]  # a module after the other
        kept = dropout(job.options["dropout-seed"], job.options["dropout"], shape)
        weights = job.keep("dropped", weights * (kept.transpose(0, 1) if job.options.get("stacked") else kept))
    return job.keep("context", weights @ value)


# --- from inputs ------------------------------------------------------------------------------------------------------


def qk_norm(job):
    """Its kind and eps: that of the inputs' norm where there is no other."""
    kind = job.options.get("qk-norm", "rms")
    usual = job.options.get("norm-eps", 1e-5 if kind == "layer" else 1e-6)
    return kind, job.options.get("qk-norm-eps", usual)


def norm_heads(job, name, rows):
    """rows (B, H, T, d), each head by itself or all of a token together, as the weight is."""
    weight, bias = job.leaves.get(name + "_norm.weight"), job.leaves.get(name + "_norm.bias")
    kind, eps = qk_norm(job)
    if weight is not None and weight.dim() == 1 and weight.shape[0] != rows.shape[-1]:
        together = normed(rows.transpose(1, 2).flatten(2), kind, eps, weight, bias)
        return together.unflatten(2, (rows.shape[1], rows.shape[3])).transpose(1, 2)
    weight, bias = (w[:, None, :] if w is not None and w.dim() == 2 else w for w in (weight, bias))
    return normed(rows, kind, eps, weight, bias)


def operand_steps(job, name, rows, positions, past=0):
    """Norm, rotation and scale of query or key, (B, H, T, d); rows of the past stay as they are."""
    norms, turns = name + "_norm.weight" in job.leaves or name in job.normed, "rope" in job.options
    scales = "scale-on" in job.options and name == "query"
    if norms or turns or scales:
        rows = job.keep("projected_" + name, rows)
    if norms:
        rows = norm_heads(job, name, rows)
        if turns or scales:
            rows = job.keep("normed_" + name, rows)
    if turns:
        rows = torch.cat([rows[:, :, :past], turned(job, rows[:, :, past:], positions)], 2)
    if scales:
        rows = rows * factor(job, rows.shape[-1])
    return job.keep(name, rows)


def projected(job, rows, name, module, heads):
    """rows (B, T, d_in) -> (B, heads, T, d)."""
    if "W_query_a.weight" in job.leaves and name == "query":
        return by_latent(job, rows, "query", heads)
    if "W_key_value_a.weight" in job.leaves and name != "query":
        return by_latent(job, rows, name, heads)
    prefix = "" if module is None else f"heads.{module}."
    weight = job.leaves.get(f"{prefix}W_{name}.weight")
    made = rows @ weight.mT if weight is not None else rows @ job.leaves[f"{prefix}W_{name}"]
    bias = job.leaves.get(f"{prefix}W_{name}.bias")
    made = made if bias is None else made + bias
    return clipped(job, made).reshape(*made.shape[:2], heads, -1).transpose(1, 2)


def clipped(job, rows):
    return rows.clamp(-job.options["clip"], job.options["clip"]) if "clip" in job.options else rows


def linear(job, name, rows):
    made, bias = rows @ job.leaves[name + ".weight"].mT, job.leaves.get(name + ".bias")
    return made if bias is None else made + bias


def by_latent(job, rows, name, heads):
    """DeepSeek-V2, section 2.1: query by its latent; of key and value the columns of each head, of key those that all
    heads share behind them."""
    stem = "query" if name == "query" else "key_value"
    narrow, weight = linear(job, f"W_{stem}_a", rows), job.leaves[f"{stem}_a_norm.weight"]
    rank, (kind, eps) = weight.shape[0], qk_norm(job)
    latent, shared = narrow[..., :rank], narrow[..., rank:]
    if kind != "none":
        latent = normed(latent, kind, eps, weight, None)
    own = linear(job, f"W_{stem}_b", latent)
    own = own.reshape(*own.shape[:2], heads, -1).transpose(1, 2)
    if name == "key":
        shared = shared[:, None].expand(-1, heads, -1, -1)
        own = torch.cat([own[..., : job.d_nope], shared], -1)
    return clipped(job, own[..., job.d_nope :] if name == "value" else own)


def project_all(job, rows, name, heads):
    if job.options.get("stacked"):
        return torch.cat([projected(job, rows, name, module, 1) for module in range(heads)], 1)
    return projected(job, rows, name, None, heads)


def run_projected(job, heads, kv_heads):
    """The result of which the loss is taken, as attn lays it out."""
    inputs = job.leaves["inputs"]
    inputs = inputs if job.batch else inputs[None]
    others = job.leaves.get("key_inputs")
    others = inputs if others is None else others if job.batch else others[None]
    if "residual" in job.options:
        weight, bias = job.leaves.get("norm.weight"), job.leaves.get("norm.bias")
        same = others is inputs
        inputs = normed(inputs, job.options["norm"], job.options["norm-eps"], weight, bias)
        others = inputs if same else others
    items, queries, keys = inputs.shape[0], inputs.shape[1], others.shape[1]
    start, of_queries, of_keys = places(job, items, queries, keys, 0)
    query = operand_steps(job, "query", project_all(job, inputs, "query", heads), of_queries)
    key = operand_steps(job, "key", project_all(job, others, "key", kv_heads), of_keys)
    value = project_all(job, others, "value", kv_heads)
    if "value-norm" in job.options:
        kind, eps = job.options["value-norm"], job.options["qk-norm-eps"]
        value = normed(job.keep("projected_value", value), kind, eps, None, None)
    value = job.keep("value", value)
    context = attend(job, query, key, value, start)
    if not job.words[0] == "multihead":
        return "context", laid_out(job, context)
    output = context.transpose(1, 2).flatten(2)
    if "W_gate.weight" in job.leaves:
        gate = torch.sigmoid(linear(job, "W_gate", inputs)).unflatten(2, (heads, -1)).transpose(1, 2)
        gate = job.keep("gate", gate.expand(context.shape).clone())
        output = (context * gate).transpose(1, 2).flatten(2)
    if "out_proj.weight" in job.leaves:
        output = output @ job.leaves["out_proj.weight"].mT
        if "out_proj.bias" in job.leaves:
            output = output + job.leaves["out_proj.bias"]
    return "output", output if job.batch else output[0]


def heads_apart(job, tensor, heads):
    """What sdpa is given -> (B, H, T, d)."""
    if job.packed:
        tensor = tensor if tensor.dim() == 3 else tensor[None]
        return tensor.reshape(*tensor.shape[:2], heads, -1).transpose(1, 2)
    return tensor.reshape((1,) * (4 - tensor.dim()) + tuple(tensor.shape))


def run_sdpa(job, heads, kv_heads):
    query = heads_apart(job, job.leaves["query"], heads)
    key, value = (heads_apart(job, job.leaves[name], kv_heads) for name in ("key", "value"))
    past = job.input["past_key"].shape[2] if "past_key" in job.input else 0
    keys = key.shape[2] + past
    start, of_queries, of_keys = places(job, query.shape[0], query.shape[2], keys, past)
    if past > 0:
        key, value = (torch.cat([job.leaves[n], t], 2) for n, t in (("past_key", key), ("past_value", value)))
    query = operand_steps(job, "query", query, of_queries)
    key = operand_steps(job, "key", key, of_keys, past)
    value = job.keep("value", value)
    context = attend(job, query, key, value, start)
    return "context", laid_out(job, context, job.packed)


def laid_out(job, stage, packed=False):
    """A stage (B, H, T, d) as attn's result has it: each head its own matrix, but for a context that is packed."""
    if packed:
        stage = stage.transpose(1, 2).flatten(2)
    elif not job.with_heads:
        stage = stage[:, 0]
    return stage if job.batch else stage[0]


# --- random settings --------------------------------------------------------------------------------------------------


def choose_mask(job, items, heads, queries, keys):
    draws = job.draws
    square = (queries, keys)
    shape = draws.one_of(square, (1, keys), (queries, 1), (heads, *square), (items, 1, 1, keys), (items, heads, *square))
    if draws.happens(0.5):
        seen = draws.flags(*shape)
        if draws.happens(0.3):
            job.option("mask-true", "drop")
        job.give("attn_mask", seen, learns=False)
        return
    mask = draws.normal(*shape)
    if draws.happens(0.5):
        mask = torch.where(draws.flags(*shape, share=0.8), mask, -math.inf)
    job.give("attn_mask", mask)


def choose_scores(job, heads):
    draws = job.draws
    if draws.happens(0.25):
        job.option("scale", draws.one_of(0.5, 0.25, 0.3, "1/8", "1/sqrt(2)", "off", -0.5))
    if draws.happens(0.2):
        job.option("temperature", draws.one_of(0.8, 1.5, 2))
    if draws.happens(0.25):
        job.option("softcap", draws.one_of(1, 1.5, 3, 20))
    if draws.happens(0.2):
        job.give("sinks", draws.normal(heads))
    if draws.happens(0.2):
        if draws.happens(0.5):
            job.option("alibi", "slopes")
        else:
            job.give("alibi_slopes", draws.normal(heads, width=0.25))


def choose_masking(job, items, heads, queries, keys):
    draws = job.draws
    if draws.happens(0.25):
        job.option("window", f"{draws.one_of(-1, 0, 1, 2, 3)},{draws.one_of(-1, 0, 1)}")
    if queries < keys and "past_key" not in job.input and "kv_lengths" not in job.input and draws.happens(0.4):
        job.option("align", "bottom-right")
    if draws.happens(0.3):
        choose_mask(job, items, heads, queries, keys)
    if "sinks" not in job.leaves and draws.happens(0.3):
        job.option("empty-row", "mean")
    if draws.happens(0.2):
        job.option("dropout", draws.one_of(0.1, 0.3, 0.5))
        job.option("dropout-seed", draws.whole(0, 1000))


def choose_rope(job, d, new_keys):
    draws = job.draws
    if d < 2 or not draws.happens(0.3):
        return
    job.option("rope", draws.one_of("half", "pairs"))
    if draws.happens(0.4):
        job.option("rope-theta", draws.one_of(100, 500000))
    if d % 2 == 1 or draws.happens(0.3):
        columns = 2 * draws.whole(1, d // 2)
        job.option("rope-columns", draws.one_of(f"{columns}", f"last:{columns}"))
    if "positions" in job.may and draws.happens(0.3):
        job.option("positions", ",".join(str(draws.whole(0, 40)) for _ in range(new_keys)))


def make_sdpa(job):
    draws = job.draws
    job.words = ["sdpa"]
    layout = draws.one_of("T d", "H T d", "B H T d", "B H T d", "T H d", "B T H d")
    job.packed = layout in ("T H d", "B T H d")
    job.batch = layout.startswith("B")
    job.with_heads = layout != "T d"
    items = draws.whole(1, 2) if job.batch else 1
    kv_heads = draws.whole(1, 2) if job.with_heads else 1
    heads = kv_heads * draws.one_of(1, 1, 2, 3) if job.with_heads else 1
    queries, keys = draws.whole(1, 5), draws.whole(1, 5)
    if draws.happens(0.5):
        queries = keys
    d, d_v = draws.whole(1, 6), draws.whole(1, 5)
    d_v = d if draws.happens(0.5) else d_v

    def shape(h, t, columns):
        whole = (items, t, h * columns) if job.packed else (items, h, t, columns)
        return whole[1:] if layout in ("H T d", "T H d") else whole[2:] if layout == "T d" else whole

    if job.packed:
        job.option("heads", heads)
        job.option("kv-heads", kv_heads)
    job.give("query", draws.normal(*shape(heads, queries, d)))
    job.give("key", draws.normal(*shape(kv_heads, keys, d)))
    job.give("value", draws.normal(*shape(kv_heads, keys, d_v)))
    job.may = {"positions"} if queries == keys else set()
    all_keys = keys
    if draws.happens(0.15):
        past = draws.whole(1, 3)
        job.give("past_key", draws.normal(items, kv_heads, past, d))
        job.give("past_value", draws.normal(items, kv_heads, past, d_v))
        all_keys += past
    elif draws.happens(0.15):
        job.give("kv_lengths", torch.tensor([draws.whole(0, keys) for _ in range(items)]), learns=False)
        job.may = set()
    if draws.happens(0.4):
        job.option("causal")
    job.options["is causal"] = "causal" in job.options
    choose_scores(job, heads)
    choose_masking(job, items, heads, queries, all_keys)
    if "align" in job.options:
        job.may = set()
    choose_rope(job, d, keys)
    return run_sdpa(job, heads, kv_heads)


def give_projection(job, name, d_in, d_out, module, biased, as_matrix):
    prefix = "" if module is None else f"heads.{module}."
    width = 1 / math.sqrt(d_in)
    if as_matrix:
        job.give(f"{prefix}W_{name}", job.draws.normal(d_in, d_out, width=width))
    else:
        job.give(f"{prefix}W_{name}.weight", job.draws.normal(d_out, d_in, width=width))
    if biased:
        job.give(f"{prefix}W_{name}.bias", job.draws.normal(d_out, width=0.5))


def choose_norms(job, d_in, d, heads, kv_heads):
    """Of three columns or more: a layer norm of two is plus and minus one, whatever they are."""
    draws = job.draws
    if d_in > 2 and draws.happens(0.25):
        kind = draws.one_of("layer", "rms", "rms-plus-one")
        job.option("residual")
        job.option("norm", kind)
        job.option("norm-eps", draws.one_of(1e-5, 0.01))
        job.give("norm.weight", 1 + draws.normal(d_in, width=0.3))
        if kind == "layer" and draws.happens(0.6):
            job.give("norm.bias", draws.normal(d_in, width=0.3))
    if d > 2 and draws.happens(0.4) and not job.options.get("stacked"):
        kind, form = draws.one_of("layer", "rms", "rms-plus-one"), draws.one_of("head", "all", "each")
        job.option("qk-norm", kind)
        job.option("qk-norm-eps", draws.one_of(1e-5, 0.01))
        biased = kind == "layer" and draws.happens(0.6)
        for name, h in (("query", heads), ("key", kv_heads)):
            shape = {"head": (d,), "all": (h * d,), "each": (h, d)}[form]
            job.give(name + "_norm.weight", 1 + draws.normal(*shape, width=0.3))
            if biased:
                job.give(name + "_norm.bias", draws.normal(*shape, width=0.3))


def choose_causality(job, mechanism, crosses):
    causal = {"self": False, "causal": True}.get(mechanism, not crosses)
    if mechanism == "multihead" and job.draws.happens(0.3):
        causal = not causal
        job.option("causal" if causal else "no-causal")
    job.options["is causal"] = causal


def give_parameters(job, d_in, d_key_in, d, heads, kv_heads):
    draws = job.draws
    stacked, multihead = job.options.get("stacked"), job.words[0] == "multihead"
    biased, as_matrix = draws.happens(0.4), draws.happens(0.25)
    for module in range(heads) if stacked else [None]:
        give_projection(job, "query", d_in, d * (1 if stacked else heads), module, biased, as_matrix)
        for name in ("key", "value"):
            give_projection(job, name, d_key_in, d * (1 if stacked else kv_heads), module, biased, as_matrix)
    if multihead and not stacked:
        d_output = draws.one_of(heads * d, draws.whole(1, 5))
        job.give("out_proj.weight", draws.normal(d_output, heads * d, width=1 / math.sqrt(heads * d)))
        if draws.happens(0.7):
            job.give("out_proj.bias", draws.normal(d_output, width=0.5))


def choose_heads(job, mechanism):
    """Heads of query, and of key and value."""
    draws = job.draws
    if mechanism != "multihead":
        return 1, 1
    kv_heads = draws.whole(1, 2)
    heads = kv_heads * draws.one_of(1, 2)
    job.option("heads", heads)
    if draws.happens(0.3):
        job.option("stacked")
        return heads, heads
    if kv_heads != heads:
        job.option("kv-heads", kv_heads)
    return heads, kv_heads


def make_projected(job, mechanism):
    draws = job.draws
    job.words = [mechanism]
    job.with_heads = mechanism == "multihead"
    job.batch = draws.happens(0.4)
    items = draws.whole(1, 2) if job.batch else 1
    queries, d_in, d = draws.whole(1, 5), draws.whole(1, 5), draws.whole(1, 4)
    heads, kv_heads = choose_heads(job, mechanism)
    leading = (items,) if job.batch else ()
    job.give("inputs", draws.normal(*leading, queries, d_in))
    keys, d_key_in = queries, d_in
    crosses = mechanism != "causal" and draws.happens(0.25)
    if crosses:
        keys, d_key_in = draws.whole(1, 5), draws.whole(1, 5)
        job.give("key_inputs", draws.normal(*leading, keys, d_key_in))
    choose_causality(job, mechanism, crosses)
    give_parameters(job, d_in, d_key_in, d, heads, kv_heads)
    if not crosses:
        choose_norms(job, d_in, d, heads, kv_heads)
    if draws.happens(0.1):
        job.option("clip", 0.7)
    choose_scores(job, heads)
    choose_masking(job, items, heads, queries, keys)
    job.may = set() if crosses or "align" in job.options else {"positions"}
    choose_rope(job, d, keys)
    if draws.happens(0.1):
        job.option("scale-on", "query")
    return run_projected(job, heads, kv_heads)


def give_linear(job, name, d_in, d_out, biased):
    job.give(name + ".weight", job.draws.normal(d_out, d_in, width=1 / math.sqrt(d_in)))
    if biased:
        job.give(name + ".bias", job.draws.normal(d_out, width=0.5))


def give_latents(job, of_query, of_keys, d_in, d_key_in, heads):
    """Each of query, and key and value, by way of a latent or straight."""
    draws = job.draws
    kind = draws.one_of(None, None, "rms", "layer", "rms-plus-one", "none")
    if kind is not None:
        job.option("qk-norm", kind)
        job.option("qk-norm-eps", draws.one_of(1e-5, 0.01))
    job.d_nope, d_rope, d_v = draws.whole(3, 5), draws.whole(0, 4), draws.whole(1, 4)
    d = job.d_nope + d_rope
    if of_query:
        rank, biased = draws.whole(3, 5), draws.happens(0.5)
        give_linear(job, "W_query_a", d_in, rank, biased)
        job.give("query_a_norm.weight", 1 + draws.normal(rank, width=0.3))
        give_linear(job, "W_query_b", rank, heads * d, draws.happens(0.3))
    else:
        give_linear(job, "W_query", d_in, heads * d, draws.happens(0.3))
    if of_keys:
        rank = draws.whole(3, 5)
        give_linear(job, "W_key_value_a", d_key_in, rank + d_rope, draws.happens(0.5))
        job.give("key_value_a_norm.weight", 1 + draws.normal(rank, width=0.3))
        give_linear(job, "W_key_value_b", rank, heads * (job.d_nope + d_v), draws.happens(0.3))
    else:
        give_linear(job, "W_key", d_key_in, heads * d, draws.happens(0.3))
        give_linear(job, "W_value", d_key_in, heads * d_v, draws.happens(0.3))
    if kind != "none" and draws.happens(0.25):
        for name in ("query", "key"):
            job.give(name + "_norm.weight", 1 + draws.normal(d, width=0.3))
    elif not of_keys and kind not in (None, "none"):
        job.normed = {"query", "key"}
    d_output = draws.whole(1, 5)
    give_linear(job, "out_proj", heads * d_v, d_output, draws.happens(0.7))
    return d, d_rope


def make_latent(number):
    """The same as make_job's, of query, key and value by way of a latent."""
    job = Job(2000 + number)
    draws = job.draws
    job.words = ["multihead"]
    job.batch = draws.happens(0.4)
    items = draws.whole(1, 2) if job.batch else 1
    of_query, of_keys = [(True, True), (False, True), (True, False)][number % 3]
    heads = draws.whole(1, 3)
    job.option("heads", heads)
    queries, d_in = draws.whole(1, 5), draws.whole(3, 5)
    leading = (items,) if job.batch else ()
    job.give("inputs", draws.normal(*leading, queries, d_in))
    keys, d_key_in = queries, d_in
    crosses = draws.happens(0.25)
    if crosses:
        keys, d_key_in = draws.whole(1, 5), draws.whole(1, 5)
        job.give("key_inputs", draws.normal(*leading, keys, d_key_in))
    choose_causality(job, "multihead", crosses)
    d, d_rope = give_latents(job, of_query, of_keys, d_in, d_key_in, heads)
    if not crosses and draws.happens(0.3):
        job.option("residual")
        job.option("norm", "rms")
        job.option("norm-eps", 0.01)
        job.give("norm.weight", 1 + draws.normal(d_in, width=0.3))
    if draws.happens(0.2):
        job.option("clip", 0.8)
    choose_scores(job, heads)
    choose_masking(job, items, heads, queries, keys)
    if d_rope >= 2 and draws.happens(0.7):
        job.option("rope", draws.one_of("half", "pairs"))
        job.option("rope-columns", f"last:{d_rope // 2 * 2}")
    return finish(job, *run_projected(job, heads, heads))


def make_gate(number):
    """The same, of contexts that a gate multiplies, and of values behind a norm."""
    job = Job(3000 + number)
    draws = job.draws
    job.words = ["multihead"]
    job.batch = draws.happens(0.4)
    items = draws.whole(1, 2) if job.batch else 1
    kv_heads, d = draws.whole(1, 2), draws.whole(3, 4)
    heads = kv_heads * draws.one_of(1, 2)
    job.option("heads", heads)
    job.option("kv-heads", kv_heads)
    queries, d_in = draws.whole(1, 5), draws.whole(3, 5)
    job.give("inputs", draws.normal(*((items,) if job.batch else ()), queries, d_in))
    choose_causality(job, "multihead", False)
    give_parameters(job, d_in, d_in, d, heads, kv_heads)
    choose_norms(job, d_in, d, heads, kv_heads)
    if number % 3 != 0:
        give_linear(job, "W_gate", d_in, heads * draws.one_of(1, d), draws.happens(0.5))
    if number % 3 != 1:
        job.option("value-norm", draws.one_of("layer", "rms"))
        if "qk-norm-eps" not in job.options:
            job.option("qk-norm-eps", 0.01)
    choose_scores(job, heads)
    choose_masking(job, items, heads, queries, queries)
    job.may = set()
    choose_rope(job, d, queries)
    return finish(job, *run_projected(job, heads, kv_heads))


# --- settings for differences alone -----------------------------------------------------------------------------------

SPLIT = {"W_query.weight": (8, 5), "W_key.weight": (8, 5), "W_value.weight": (8, 5), "out_proj.weight": (3, 8)}
NORMS = {"query_norm.weight": (4,), "key_norm.weight": (4,)}
BIASES = {"W_query.bias": (8,), "W_key.bias": (8,), "W_value.bias": (8,), "out_proj.bias": (3,)}
ROPE = "--rope half --rope-scaling "

# What the equations above do not have: options of multihead with two heads, and what is given beside four tokens.
MORE = [
    ("--alibi scaled", SPLIT),
    (ROPE + "linear:factor=8", SPLIT),
    (ROPE + "dynamic:factor=2,old=2", SPLIT),
    (ROPE + "llama3:factor=8,low=1,high=4,old=64", SPLIT),
    (ROPE + "yarn:factor=4,old=32", SPLIT),
    (ROPE + "longrope:old=2,max=16,short=1;1.1,long=1.5;2", SPLIT),
    ("--rope pairs-to-halves", SPLIT),
    ("--rope pairs-to-halves --qk-norm rms --scale-on query", SPLIT | NORMS),
    ("--relative-distance 6", SPLIT | {"relative_bias.weight": (8, 2)}),
    ("--relative-distance 3 --no-causal", SPLIT | {"relative_bias.weight": (4, 2)}),
    ("", {"in_proj_weight": (24, 5), "in_proj_bias": (24,), "out_proj.weight": (3, 8), "out_proj.bias": (3,)}),
    ("--kv-heads 1 --rope half", {"in_proj_weight": (16, 5), "out_proj.weight": (3, 8)}),
    ("--empty-row mean --window 1,0", SPLIT | {"sinks": (2,)}),
    ("--no-causal --empty-row mean", SPLIT | {"sinks": (2,), "attn_mask": "empty rows"}),
    ("--residual --norm layer", SPLIT | {"norm.weight": (5,), "norm.bias": (5,)}),
    ("--residual --norm rms", SPLIT),
    ("--residual --clip 0.9 --window 2,0", SPLIT | BIASES | {"norm.weight": (5,)}),
    ("--scale-on query --scale 0.3 --temperature 2", SPLIT | BIASES),
    ("", SPLIT | {"W_value.weight": (6, 5), "out_proj.weight": (3, 6)}),
    ("--no-causal", SPLIT | {"key_inputs": (6, 5), "W_query.bias": (8,)}),
    ("--softcap 1.5 --dropout 0.3 --dropout-seed 5", SPLIT | BIASES),
]


def make_more(at):
    """A job without gradients of autograd: what is given, and what comes from above."""
    job = Job(1000 + at)
    options, shapes = MORE[at]
    job.words = ["multihead", "--heads", "2", *options.split()]
    job.ones = False
    job.give("inputs", job.draws.normal(4, 5))
    for name, shape in shapes.items():
        if name == "attn_mask":
            rows = job.draws.normal(4, 4)
            rows[1:3] = -math.inf
            job.give(name, rows)
        else:
            job.give(name, job.draws.normal(*shape, width=0.5) + (1 if "norm.weight" in name else 0))
    return job, job.draws.normal(4, 3)


MECHANISMS = ["sdpa"] * 5 + ["self", "causal"] + ["multihead"] * 4


def make_job(number):
    """A job, its last stage's name, and the upstream gradient."""
    job = Job(number)
    mechanism = MECHANISMS[number % len(MECHANISMS)]
    return finish(job, *(make_sdpa(job) if mechanism == "sdpa" else make_projected(job, mechanism)))


def finish(job, name, last):
    job.ones = job.draws.happens(0.25)
    upstream = torch.ones_like(last) if job.ones else job.draws.normal(*last.shape)
    (last * upstream).sum().backward()
    return job, name, last.detach(), upstream


# --- files ------------------------------------------------------------------------------------------------------------


def plain(tensor):
    """Nested lists for JSON: minus infinity is null, a whole number has no point."""
    if tensor.dim() > 0:
        return [plain(row) for row in tensor]
    number = tensor.item()
    if isinstance(number, float):
        return None if number == -math.inf else int(number) if number == int(number) else number
    return number


OPERANDS = ["query", "key", "value", "projected_query", "projected_key", "projected_value", "normed_query", "normed_key"]
OPERANDS += ["gate"]
GIVEN = {"query", "key", "value", "past_key", "past_value"}  # their gradients are those of stages


def gradients(job):
    """What attn must give, by its names. Behind the mask a weight has no gradient: nothing is made of it."""
    expected = {"grad_" + n: laid_out(job, job.stages[n].grad) for n in OPERANDS if n in job.stages}
    expected["grad_context"] = laid_out(job, job.stages["context"].grad, job.packed)
    for name in SQUARES:
        if name in job.stages:
            gradient = job.stages[name].grad
            expected["grad_" + name] = torch.where(job.seen, gradient, 0) if name in SHARES else gradient
    for name, tensor in job.leaves.items():
        if name not in GIVEN:
            expected["grad_" + name] = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
    return expected


def line_of(job, name, upstream):
    """A line of cases.jsonl."""
    case = {"line": " ".join(job.words), "input": {n: plain(tensor) for n, tensor in job.input.items()}}
    case["grad"] = "ones" if job.ones else {"grad_" + name: plain(upstream)}
    return json.dumps(case, separators=(",", ":")) + "\n"


def check_forward(attn, number, line, name, last):
    """That attn takes the same job for what it is."""
    case = json.loads(line)
    turned_as = ["--rounding", "transformers", "--family", "llama"] if "--rope " in case["line"] else []
    words = [attn, *case["line"].split(), *turned_as, "--dtype", "f64", "--stages", name, "--format", "json"]
    done = subprocess.run(words, input=json.dumps(case["input"]), capture_output=True, text=True)
    if done.returncode != 0:
        return f"{number}: {case['line']}: {done.stderr}"
    got = torch.tensor(json.loads(done.stdout)[name])
    if got.shape != last.shape:
        return f"{number}: {case['line']}: {tuple(got.shape)} is not {tuple(last.shape)}\n"
    away = (got - last).abs().max().item() / max(last.abs().max().item(), 1e-300)
    return "" if away <= 1e-12 else f"{number}: {case['line']}: {away:.2g} of the largest away\n"


def main():
    attn = sys.argv[2] if len(sys.argv) == 3 and sys.argv[1] == "--attn" else None
    lines, expected, wrong = [], {}, ""
    makers = [make_job] * COUNT + [make_latent] * LATENTS + [make_gate] * GATES
    for number, make in enumerate(makers):
        job, name, last, upstream = make(number - makers.index(make))
        lines.append(line_of(job, name, upstream))
        if attn:
            wrong += check_forward(attn, number + 1, lines[-1], name, last)
        for stage, gradient in gradients(job).items():
            expected[f"{number + 1} {stage}"] = gradient.numpy()
    for at in range(len(MORE)):
        job, upstream = make_more(at)
        lines.append(line_of(job, "output", upstream))
    if wrong:
        sys.exit(wrong)
    with open(os.path.join(HERE, "cases.jsonl"), "w") as file:
        file.writelines(lines)
    path = os.path.join(HERE, "gradients.safetensors")
    frozen.save(path, expected)
    frozen.verify(path)
    print(len(lines), "cases,", len(expected), "gradients, torch", torch.__version__)


if __name__ == "__main__":
    main()
