# SPDX-License-Identifier: MIT
"""tables.jsonl: gradients, packed sequences and pages with one thing done wrong, by PyTorch in float64, and what `attn why`
should call it. A line each: `words`, the command line; `input`; `grad`, what is given from above; `stage` and `table`;
`mistakes`, the names that may be told (none: it is right; null: it is wrong as nothing in the library is).

    python3 tests/why/make_tables.py >tests/why/tables.jsonl

Attention and its way back are written out here as somebody would write a kernel in PyTorch, tensors at a time; where
nothing is wrong they are torch.autograd's, which is asserted. Nothing of attn is used but PyTorch's rule for dropout.
"""

import json
import math

import numpy
import torch

torch.set_default_dtype(torch.float64)
draw = numpy.random.default_rng(1706)


def normal(*shape):
    """Multiples of 1/16."""
    return torch.from_numpy(numpy.round(draw.standard_normal(shape) * 16) / 16)


def whole(low, high):
    return int(draw.integers(low, high + 1))


def one_of(*values):
    return values[whole(0, len(values) - 1)]


def kept_of(seed, p, shape):
    """What is kept, scaled, as tests/grad has it."""
    generator = numpy.random.MT19937()
    generator._legacy_seeding(seed)
    draws = generator.random_raw(2 * math.prod(shape)).astype(numpy.uint64)
    bits = (draws[0::2] << numpy.uint64(32) | draws[1::2]) & numpy.uint64(2**53 - 1)
    return torch.from_numpy((bits * 2.0**-53 < 1 - p) / (1 - p)).reshape(shape)


# --- attention, and its way back -------------------------------------------------------------------------------------


def forward(job, query, key, value):
    """(B, H, Tq, d), (B, H_kv, Tk, d): the context, and what the way back needs."""
    group = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(group, 1) for x in (key, value))
    scaled = query @ key.mT * job["scale"]
    capped = job["softcap"] * torch.tanh(scaled / job["softcap"]) if job["softcap"] else scaled
    masked = torch.where(job["seen"], capped, -math.inf)
    lse = torch.logsumexp(masked, -1, keepdim=True)
    weights = torch.exp(masked - lse)
    dropped = weights * job["kept"]
    return dropped @ value, (capped, lse, weights, dropped, key, value)


def last_tile(rows, wrong):
    """Where the last tile of so many begins."""
    tile = int(wrong.split(":")[1])
    return (rows - 1) // tile * tile


def named_tile(rows, wrong):
    """The mistake with the largest power of 2, or number, that begins the last tile there."""
    name, first = wrong.split(":")[0], last_tile(rows, wrong)
    tiles = [tile for tile in range(1, rows) if last_tile(rows, f"x:{tile}") == first]
    powers = [tile for tile in tiles if tile & (tile - 1) == 0]
    return f"{name}:{max(powers or tiles)}"


def backward(job, query, saved, context, above, wrong=None):
    """The gradients of one thing done wrong, by stage."""
    capped, lse, weights, dropped, key, value = saved
    scale, made = job["scale"], {}
    delta = (above * context).sum(-1, keepdim=True)
    if wrong and wrong.startswith("grad-mask-missing"):
        weights = torch.exp(capped - lse)
        dropped = weights * job["kept"]
    if wrong and wrong.startswith("grad-maximum-for-lse"):
        seen = torch.where(job["seen"], capped, -math.inf)
        weights = torch.exp(seen - seen.amax(-1, keepdim=True))
        dropped = weights * job["kept"]
    dp = above @ value.mT
    if not (wrong or "").startswith("grad-dropout") or wrong.endswith("for-value"):
        dp = dp * job["kept"]
    if wrong in ("grad-maximum-for-lse:delta-of-weights", "grad-mask-missing:delta-of-weights", "grad-dropout-missing:everywhere", "grad-dropout-missing:for-weights"):
        delta = (weights * dp).sum(-1, keepdim=True)
    if wrong == "grad-delta-missing":
        delta = 0
    ds = weights * (1 - weights) * dp if wrong == "grad-softmax-diagonal" else weights * (dp - delta)
    made["grad_weights"] = dp if wrong and "mask" in wrong else torch.where(job["seen"], dp, 0)
    made["grad_masked"] = ds
    if job["softcap"] and wrong != "grad-softcap-missing":
        ds = ds * (1 - (capped / job["softcap"]) ** 2)
    made["grad_scaled"] = ds
    made["grad_scores"] = ds * {"grad-scale-missing": 1, "grad-scale-twice": scale**2}.get(wrong, scale)
    keys, queries = slice(None), slice(None)
    if (wrong or "").startswith("grad-query-last"):
        keys = slice(last_tile(job["keys"], wrong), None)
    if (wrong or "").startswith("grad-key-last"):
        queries = slice(last_tile(job["queries"], wrong), None)
    made["grad_query"] = made["grad_scores"][..., keys] @ key[..., keys, :]
    by_queries = made["grad_scores"][..., queries, :]
    by_queries = by_queries if wrong == "grad-transpose-missing" else by_queries.mT
    by_key = by_queries @ (query * scale if wrong == "grad-key-from-scaled-query" else query)[..., queries, :]
    if (wrong or "").startswith("grad-dropout") and "for-weights" not in wrong:
        dropped = weights
    heads = job["kv_heads"]
    by_weights = dropped[..., queries, :]
    by_weights = by_weights if wrong == "grad-transpose-missing" else by_weights.mT
    for name, rows in (("grad_key", by_key), ("grad_value", by_weights @ above[..., queries, :])):
        rows = rows.unflatten(1, (heads, -1))
        made[name] = {
            "grad-groups-not-summed:last": rows[:, :, -1],
            "grad-groups-not-summed:first": rows[:, :, 0],
            "grad-groups-not-summed:mean": rows.mean(2),
        }.get(wrong, rows.sum(2))
    return made


def settings(needs, drops=0.3):
    """A job of sdpa with what the mistake needs, and by chance with more."""
    group = one_of(2, 3) if needs == "groups" else one_of(1, 1, 2)
    job = {"items": whole(1, 2), "kv_heads": whole(1, 2), "queries": whole(4, 6), "d": whole(2, 5), "d_value": whole(2, 4)}
    job["heads"] = job["kv_heads"] * group
    causal = needs == "mask" or draw.random() < 0.5
    job["keys"] = job["queries"] if causal or needs == "transpose" else job["queries"] + whole(0, 2)
    words = ["sdpa"] + (["--causal"] if causal else [])
    job["scale"] = 1 / math.sqrt(job["d"])
    if draw.random() < 0.3:
        job["scale"] = one_of(0.3, 0.7, 1.6)
        words.append(f"--scale {job['scale']}")
    job["softcap"] = one_of(1.5, 4.0) if needs == "softcap" or draw.random() < 0.3 else 0
    if job["softcap"]:
        words.append(f"--softcap {job['softcap']}")
    shape = (job["items"], job["heads"], job["queries"], job["keys"])
    job["kept"] = torch.ones(shape)
    if needs == "dropout" or (needs != "mask" and draw.random() < drops):
        p, seed = one_of(0.2, 0.3, 0.5), whole(0, 999)
        words.append(f"--dropout {p} --dropout-seed {seed}")
        job["kept"] = kept_of(seed, p, shape)
    job["seen"] = torch.ones(shape[2:], dtype=torch.bool)
    if causal:
        job["seen"] = torch.tril(job["seen"])
    if draw.random() < 0.3:
        left = whole(1, 3)
        words.append(f"--window {left},-1")
        job["seen"] = job["seen"] & ~torch.tril(torch.ones(shape[2:], dtype=torch.bool), -left - 1)
    job["words"] = " ".join(words + ["--dtype f64"])
    return job


def gradients_of(job, wrong):
    query = normal(job["items"], job["heads"], job["queries"], job["d"]).requires_grad_()
    key = normal(job["items"], job["kv_heads"], job["keys"], job["d"]).requires_grad_()
    value = normal(job["items"], job["kv_heads"], job["keys"], job["d_value"]).requires_grad_()
    context, saved = forward(job, query, key, value)
    above = torch.ones_like(context) if draw.random() < 0.2 else normal(*context.shape)
    context.backward(above)
    with torch.no_grad():
        right = backward(job, query, saved, context, above)
        for name, tensor in (("grad_query", query), ("grad_key", key), ("grad_value", value)):
            assert torch.allclose(right[name], tensor.grad, atol=1e-12), name
        given = {"query": query, "key": key, "value": value}
        return given, above, right, backward(job, query, saved, context, above, wrong)


STAGES = ("grad_query", "grad_key", "grad_value", "grad_scores", "grad_masked", "grad_weights")


def shows(right, made, stage):
    return (right[stage] - made[stage]).abs().max() > 0.02 and torch.isfinite(made[stage]).all()


def lists(tensor):
    return [lists(row) for row in tensor] if tensor.dim() else float(f"{tensor.item():.10g}")


def write(words, given, above, stage, table, mistakes, told):
    line = {"words": words, "input": {name: lists(tensor) for name, tensor in given.items()}}
    if above is not None:
        line["grad"] = {"grad_context": lists(above)}
    if not told:
        line["nameless"] = True
    print(json.dumps(line | {"stage": stage, "table": lists(table), "mistakes": mistakes}, separators=(",", ":")))


def gradients(wrong, needs, times):
    done = tries = 0
    while done < times:
        tries += 1
        assert tries < 1000, wrong
        job = settings(needs)
        given, above, right, made = gradients_of(job, wrong)
        seen = [stage for stage in STAGES[:5] if wrong is None or shows(right, made, stage)]
        if "--causal" not in job["words"] and "--window" not in job["words"]:
            seen = [stage for stage in seen if stage != "grad_masked"]
        if seen:
            stage = one_of(*seen)
            made[stage] = made[stage].detach()
            alike = any(right[s].shape == made[stage].shape and torch.allclose(right[s], made[stage]) for s in STAGES)
            name = wrong
            if wrong and "last-tile" in wrong:
                name = named_tile(job["keys" if "query" in wrong else "queries"], wrong)
            write(job["words"], given, above, stage, made[stage], [name] if wrong else [], alike or draw.random() < 0.6)
            done += 1


# --- a way forward that is wrong, and its gradients ------------------------------------------------------------------


def forward_and_back(times):
    """The scale is forgotten, and autograd goes back through that."""
    for _ in range(times):
        job = settings(None)
        named = job | {"scale": 1.0}
        given, above, right, made = gradients_of(named, None)
        one = one_of("grad-delta-missing", None)
        if one:
            query, key, value = (given[name].detach() for name in ("query", "key", "value"))
            context, saved = forward(named, query, key, value)
            made = backward(named, query, saved, context, above, one)
        write(job["words"], given, above, "grad_key", made["grad_key"], ["scale-missing"] + ([one] if one else []), True)


# --- wrong as nothing is ---------------------------------------------------------------------------------------------


def unknown(times):
    for i in range(times):
        job = settings(None, 0)  # a search through seeds of dropout takes long
        given, above, right, _ = gradients_of(job, None)
        stage = one_of(*STAGES[:3])
        table = right[stage].detach()
        table = (table + normal(*table.shape) / 4, -table, table * 1.25, table.roll(1, -2))[i % 4]
        write(job["words"], given, above, stage, table, None, i % 2 == 0)


# --- parameters ------------------------------------------------------------------------------------------------------


class Attend(torch.autograd.Function):
    """A kernel with its own way back, as it would be called by a module."""

    @staticmethod
    def forward(ctx, job, wrong, query, key, value):
        context, saved = forward(job, query, key, value)
        ctx.save_for_backward(query, context, *saved)
        ctx.job, ctx.wrong = job, wrong
        return context

    @staticmethod
    def backward(ctx, above):
        query, context, *saved = ctx.saved_tensors
        made = backward(ctx.job, query, saved, context, above, ctx.wrong)
        return None, None, made["grad_query"], made["grad_key"], made["grad_value"]


def parameters(wrong, times):
    for _ in range(times):
        heads, kv_heads = one_of((2, 2), (4, 2), (2, 1))
        if "groups" in wrong:
            heads, kv_heads = 4, 2
        d, d_in, tokens = whole(2, 3), whole(3, 4), whole(4, 5)
        job = {"scale": 1 / math.sqrt(d), "softcap": 0, "kv_heads": kv_heads, "kept": torch.ones(heads, tokens, tokens)}
        job["seen"] = torch.tril(torch.ones(tokens, tokens, dtype=torch.bool))
        inputs = normal(1, tokens, d_in)
        matrix = {name: normal(count * d, d_in).requires_grad_() for name, count in (("query", heads), ("key", kv_heads), ("value", kv_heads))}
        out = normal(heads * d, heads * d)
        rows = [(inputs @ matrix[name].mT).unflatten(2, (-1, d)).transpose(1, 2) for name in matrix]
        output = Attend.apply(job, wrong, *rows).transpose(1, 2).flatten(2) @ out.mT
        above = normal(*output.shape)
        output.backward(above)
        name = "key" if "key" in wrong or "groups" in wrong else one_of("query", "key")
        given = {"inputs": inputs[0], "out_proj.weight": out} | {f"W_{n}.weight": m.detach() for n, m in matrix.items()}
        line = {"words": f"multihead -H {heads} --kv-heads {kv_heads} --dtype f64", "input": {n: lists(t) for n, t in given.items()}}
        line |= {"grad": {"grad_output": lists(above[0])}, "stage": f"grad_W_{name}.weight"}
        print(json.dumps(line | {"table": lists(matrix[name].grad), "mistakes": [wrong]}, separators=(",", ":")))


# --- query and key that are turned -----------------------------------------------------------------------------------


class Turn(torch.autograd.Function):
    """Pairs of columns (c, c + d / 2), with its own way back."""

    @staticmethod
    def forward(ctx, wrong, rows, cosine, sine):
        ctx.save_for_backward(cosine, sine)
        ctx.wrong = wrong
        return rows * cosine + Turn.halves(rows) * sine

    @staticmethod
    def backward(ctx, above):
        cosine, sine = ctx.saved_tensors
        made = {"grad-rope-missing": above, "grad-rope-forwards": above * cosine + Turn.halves(above) * sine}
        return None, made.get(ctx.wrong, above * cosine - Turn.halves(above) * sine), None, None

    @staticmethod
    def halves(rows):
        first, second = rows.chunk(2, -1)
        return torch.cat((-second, first), -1)


def turned(wrong, times):
    for _ in range(times):
        heads, d, d_in, tokens = whole(1, 2), 2 * whole(1, 3), whole(3, 4), whole(4, 6)
        angles = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        cosine, sine = (torch.cat((f(angles), f(angles)), -1) for f in (torch.cos, torch.sin))
        inputs = normal(1, tokens, d_in)
        matrix = {name: normal(heads * d, d_in).requires_grad_() for name in ("query", "key", "value")}
        query, key, value = ((inputs @ m.mT).unflatten(2, (-1, d)).transpose(1, 2) for m in matrix.values())
        scores = Turn.apply(wrong, query, cosine, sine) @ Turn.apply(wrong, key, cosine, sine).mT / math.sqrt(d)
        output = (torch.softmax(scores, -1) @ value).transpose(1, 2).flatten(2)
        above = normal(*output.shape)
        output.backward(above)
        name = one_of("query", "key")
        given = {"inputs": inputs[0], "out_proj.weight": torch.eye(heads * d)} | {f"W_{n}.weight": m.detach() for n, m in matrix.items()}
        line = {"words": f"multihead -H {heads} --rope half --no-causal --dtype f64"}
        line |= {"input": {n: lists(t) for n, t in given.items()}, "grad": {"grad_output": lists(above[0])}}
        line |= {"stage": f"grad_W_{name}.weight", "table": lists(matrix[name].grad), "mistakes": [wrong]}
        print(json.dumps(line, separators=(",", ":")))


# --- sequences -------------------------------------------------------------------------------------------------------


def attend(query, key, value, hidden):
    """One item: (Tq, H, d) as they are packed, hidden (Tq, Tk)."""
    group = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(group, 1) for x in (key, value))
    scores = torch.einsum("qhd,khd->hqk", query, key) / math.sqrt(query.shape[2])
    return torch.einsum("hqk,khd->qhd", torch.softmax(scores.masked_fill(hidden, -math.inf), -1), value)


def hide(cu_queries, cu_keys, causal, before=0, behind=0, outside=False):
    """What a kernel that loops over sequences never meets, by these cumulative lengths."""
    hidden = torch.ones(cu_queries[-1], cu_keys[-1], dtype=torch.bool)
    for s in range(len(cu_queries) - 1):
        first, end = max(cu_keys[s] - before, 0), min(cu_keys[s + 1] + behind, cu_keys[-1])
        shift = cu_keys[s + 1] - cu_queries[s + 1]
        for i in range(cu_queries[s], cu_queries[s + 1]):
            for j in range(0 if outside else first, end):
                hidden[i, j] = causal and j > i + shift
    return hidden


def sequences(name, times, tied=()):
    done = 0
    while done < times:
        lengths = [whole(2, 4) for _ in range(whole(2, 4))]
        both = name.startswith("sequences-start") or draw.random() < 0.5
        more = [n + (0 if both else whole(0, 2)) for n in lengths]
        cu_queries, cu_keys = ([0, *numpy.cumsum(n).tolist()] for n in (lengths, more))
        causal, kv_heads, d = bool(draw.random() < 0.6), whole(1, 2), whole(2, 4)
        query = normal(cu_queries[-1], 2 * kv_heads, d)
        key, value = normal(cu_keys[-1], kv_heads, d), normal(cu_keys[-1], kv_heads, whole(2, 3))
        right = attend(query, key, value, hide(cu_queries, cu_keys, causal))
        at = whole(0 if len(lengths) > 2 else 1, len(lengths) - 1)
        by = 1 if "plus" in name else -1
        move = lambda cu: [n + (by if 0 < i < len(cu) - 1 and at in (0, i) else 0) for i, n in enumerate(cu)]
        form = f"{name}:{at}"
        if name == "sequences-missing":
            form, hidden = name, hide([0, cu_queries[-1]], [0, cu_keys[-1]], causal)
        elif name == "sequences-before-seen":
            form, hidden = name, hide(cu_queries, cu_keys, causal, outside=True)
        elif name.startswith("sequences-leak"):
            count = whole(1, 2)
            form = f"{name}:{count}"
            hidden = hide(cu_queries, cu_keys, causal, **{name.split("-")[2]: count})
        else:
            hidden = hide(
                cu_queries if "keys" in name else move(cu_queries), cu_keys if "queries" in name else move(cu_keys), causal
            )
        table = attend(query, key, value, hidden)
        if not torch.isfinite(table).all() or (table - right).abs().max() < 0.02:
            continue
        given = {"cu_seqlens_q": torch.tensor(cu_queries), "query": query, "key": key, "value": value}
        if cu_keys != cu_queries or "keys" in name or "queries" in name:
            given["cu_seqlens_k"] = torch.tensor(cu_keys)
        words = "sdpa --causal --dtype f64" if causal else "sdpa --dtype f64"
        write(words, given, None, "context", table, [form, *tied], draw.random() < 0.5)
        done += 1


# --- pages -----------------------------------------------------------------------------------------------------------


def read(cache, table, length):
    size = cache.shape[1]
    return torch.stack([cache[table[i // size], i % size] for i in range(length)])


def from_pages(query, key_cache, value_cache, table, lengths, causal):
    """(B, Tq, H, d) by a block table and lengths."""
    made = []
    for item, length in enumerate(lengths):
        hidden = torch.zeros(query.shape[1], length, dtype=torch.bool)
        if causal:
            hidden = torch.ones_like(hidden).triu(length - query.shape[1] + 1)
        key, value = (read(cache, table[item], length) for cache in (key_cache, value_cache))
        made.append(attend(query[item], key, value, hidden))
    return torch.stack(made)


def pages(name, times):
    done = 0
    while done < times:
        items, per_item, size, kv_heads, d = whole(2, 3), whole(2, 3), whole(2, 4), whole(1, 2), whole(2, 4)
        count = items * per_item + whole(0, 2)
        table = draw.permutation(count)[: items * per_item].reshape(items, per_item).tolist()
        lengths = [whole(2, per_item * size) for _ in range(items)]
        query = normal(items, whole(1, 2), 2 * kv_heads, d)
        caches = normal(count, size, kv_heads, d), normal(count, size, kv_heads, d)
        causal = bool(draw.random() < 0.5)
        right = from_pages(query, *caches, table, lengths, causal)
        wrong, longer, form, used = [row[:] for row in table], lengths[:], name, [-(-n // size) for n in lengths]
        if name == "pages-stale":
            item = whole(0, items - 1)
            at, page = whole(0, used[item] - 1), whole(0, count - 1)
            wrong[item][at] = page
            form = f"{name}:{(item * per_item + at) * count + page}"
        elif name.startswith("pages-tail-counted"):
            longer = [-(-n // size) * size for n in lengths]
        elif name == "pages-last-missing":
            longer = [n // size * size for n in lengths]
        elif name == "pages-in-order:as-many-each":
            wrong = numpy.arange(items * per_item).reshape(items, per_item).tolist()
        elif name == "pages-in-order:as-used":
            first = numpy.cumsum([0, *used])
            wrong = [[int(first[b]) + i for i in range(per_item)] for b in range(items)]
        elif name == "pages-sorted":
            wrong = [sorted(row[:n]) for row, n in zip(table, used)]
        else:
            by = whole(1, items - 1)
            wrong, form = table[by:] + table[:by], f"{name}:{by}"
        if min(longer) < query.shape[1]:
            continue
        if name.endswith("as-used") and used[:-1] == [per_item] * (items - 1):
            continue  # the same as as-many-each
        made = from_pages(query, *caches, wrong, longer, causal)
        if (made - right).abs().max() < 0.02:
            continue
        given = {"query": query, "key_cache": caches[0], "value_cache": caches[1]}
        given |= {"block_table": torch.tensor(table), "kv_lengths": torch.tensor(lengths)}
        words = "sdpa --causal --dtype f64" if causal else "sdpa --dtype f64"
        write(words, given, None, "context", made, [form], draw.random() < 0.5)
        done += 1


def main():
    needs = {"transpose": "transpose", "dropout": "dropout", "groups": "groups", "mask": "mask", "softcap": "softcap"}
    for name in (
        "grad-delta-missing",
        "grad-scale-missing",
        "grad-scale-twice",
        "grad-key-from-scaled-query",
        "grad-dropout-missing:everywhere",
        "grad-dropout-missing:for-weights",
        "grad-dropout-missing:for-value",
        "grad-dropout-missing:everywhere-delta-kept",
        "grad-dropout-missing:for-weights-delta-kept",
        "grad-groups-not-summed:last",
        "grad-groups-not-summed:first",
        "grad-groups-not-summed:mean",
        "grad-mask-missing:delta-of-context",
        "grad-mask-missing:delta-of-weights",
        "grad-softcap-missing",
    ):
        gradients(name, needs.get(name.split("-")[1]), 4)
    gradients(None, None, 6)
    forward_and_back(6)
    unknown(8)
    for name in ("grad-delta-missing", "grad-scale-twice", "grad-key-from-scaled-query", "grad-groups-not-summed:last"):
        parameters(name, 2)
    for name in ("missing", "before-seen", "leak-before", "leak-behind"):
        sequences("sequences-" + name, 3)
    for what in ("start", "keys", "queries"):
        for by in ("plus", "minus"):
            sequences(f"sequences-{what}-{by}-1", 3)
    for name in ("stale", "tail-counted:queries-last", "last-missing", "in-order:as-many-each", "in-order:as-used", "sorted", "other-item"):
        pages("pages-" + name, 3)
    for name in (
        "grad-softmax-diagonal",
        "grad-maximum-for-lse:delta-of-context",
        "grad-maximum-for-lse:delta-of-weights",
        "grad-transpose-missing",
        "grad-query-last-tile:1",
        "grad-query-last-tile:2",
        "grad-query-last-tile:3",
        "grad-key-last-tile:1",
        "grad-key-last-tile:2",
        "grad-key-last-tile:3",
    ):
        gradients(name, needs.get(name.split("-")[1]), 4)
    for name in ("grad-rope-missing", "grad-rope-forwards"):
        turned(name, 3)


main()
