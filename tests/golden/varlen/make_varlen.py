"""Packed sequences and caches in pages as FlashAttention's varlen and kvcache interfaces compute them, as files that
`attn sdpa` runs as they are.

    python3 tests/golden/varlen/make_varlen.py        (numpy 1.26 or later, alone)

Every case is two files and a line of cases.txt (the name, the stages to ask for, rtol, atol):

    NAME.safetensors             query, key, value (T, H, d), cu_seqlens_q and cu_seqlens_k in int32, and the settings
    NAME.expected.safetensors    context (T, H d_v), lse (H, T)

or query (B, T, H, d), key_cache and value_cache (pages, tokens, H_kv, d), block_table and kv_lengths in int32, and
context (B, T, H d_v), lse (B, H, T); or query (T, H, d) and cu_seqlens_q with the caches, and cu_seqlens_k or kv_lengths
for the keys. Pages lie in any order, one may serve several items, and all that no length
reaches is NaN, the tail of a last page too; what the table says beyond a length is no page.

The formulas are those of FlashAttention's own reference (attention_ref and construct_local_mask of its tests), written
down here in float64, a sequence at a time, so that nothing can see another one: row i of a sequence with Lq queries and
Lk keys stands at i + Lk - Lq; window (left, right) forbids column j < i + Lk - Lq - left and j > i + Lk - Lq + right;
causal is right = 0; ALiBi is -slope |i + Lk - Lq - j|; a row that sees nothing is zeros, its lse minus infinity; head h
reads key head h // (H / H_kv).
"""

import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

OPTIONS = {"causal": False, "window": (-1, -1), "softcap": 0.0, "scale": None, "alibi": False, "heads": 4, "kv": 2}


def forbidden(queries, keys, window):
    """construct_local_mask, of one sequence."""
    row = numpy.arange(queries)[:, None] + keys - queries
    column = numpy.arange(keys)[None, :]
    left, right = window
    mask = numpy.zeros((queries, keys), bool)
    if left >= 0:
        mask |= column < row - left
    if right >= 0:
        mask |= column > row + right
    return mask


def softmax(scores):
    """(weights, lse); a row without a number above minus infinity is zeros."""
    largest = scores.max(axis=1, keepdims=True, initial=-numpy.inf)
    finite = numpy.where(numpy.isfinite(largest), largest, 0)
    exponentials = numpy.exp(scores - finite)
    total = exponentials.sum(axis=1, keepdims=True)
    some = numpy.where(total > 0, total, 1)
    lse = numpy.where(total > 0, numpy.log(some) + finite, -numpy.inf)
    return exponentials / some, lse[:, 0]


def attention(query, key, value, options, slopes):
    """attention_ref of one sequence: (Lq, H, d), (Lk, H_kv, d), (Lk, H_kv, d_v) -> (Lq, H, d_v), (H, Lq)."""
    (queries, heads, d), keys, group = query.shape, key.shape[0], query.shape[1] // key.shape[1]
    left, right = options["window"]
    if options["causal"]:
        right = 0 if right < 0 else min(right, 0)
    mask = forbidden(queries, keys, (left, right))
    place = numpy.arange(queries)[:, None] + keys - queries
    distance = numpy.abs(place - numpy.arange(keys)[None, :])
    context, lse = numpy.zeros((queries, heads, value.shape[2])), numpy.zeros((heads, queries))
    for head in range(heads):
        scores = query[:, head] @ key[:, head // group].T * (options["scale"] or d**-0.5)
        if options["softcap"]:
            scores = options["softcap"] * numpy.tanh(scores / options["softcap"])
        if slopes is not None:
            scores = scores - slopes[head] * distance
        weights, lse[head] = softmax(numpy.where(mask, -numpy.inf, scores))
        context[:, head] = weights @ value[:, head // group]
    return context, lse


def varlen(tensors, options):
    """Every sequence alone."""
    query, key, value = (tensors[name].astype("f8") for name in ("query", "key", "value"))
    queries = tensors["cu_seqlens_q"]
    keys = tensors.get("cu_seqlens_k", queries)
    slopes = tensors["alibi_slopes"].astype("f8") if "alibi_slopes" in tensors else None
    context = numpy.zeros((query.shape[0], query.shape[1], value.shape[2]))
    lse = numpy.zeros((query.shape[1], query.shape[0]))
    for s in range(len(queries) - 1):
        of_queries, of_keys = slice(queries[s], queries[s + 1]), slice(keys[s], keys[s + 1])
        made = attention(query[of_queries], key[of_keys], value[of_keys], options, slopes)
        context[of_queries], lse[:, of_queries] = made
    return context, lse


def starts(lengths):
    return numpy.concatenate([[0], numpy.cumsum(lengths)]).astype("i4")


def save(name, tensors, options, expected, lines):
    settings = {"dtype": "f32", "causal": options["causal"]}
    if options["window"] != (-1, -1):
        settings["window"] = "%d,%d" % options["window"]
    if options["softcap"]:
        settings["softcap"] = options["softcap"]
    if options["scale"]:
        settings["scale"] = options["scale"]
    path = os.path.join(HERE, name)
    frozen.save(path + ".safetensors", tensors, {"settings": settings})
    context, lse = expected
    frozen.save(
        path + ".expected.safetensors",
        {"context": context.reshape(context.shape[:-2] + (-1,)), "lse": lse},
    )
    lines.append("%s context,lse 2e-6 2e-6\n" % name)


def make(name, lines, random, queries, keys=None, d=8, d_v=None, **changes):
    options = {**OPTIONS, **changes}
    totals = int(sum(queries)), int(sum(keys if keys is not None else queries))
    shapes = [(totals[0], options["heads"], d), (totals[1], options["kv"], d), (totals[1], options["kv"], d_v or d)]
    tensors = {n: random.standard_normal(s).astype("f4") for n, s in zip(("query", "key", "value"), shapes)}
    tensors["cu_seqlens_q"] = starts(queries)
    if keys is not None:
        tensors["cu_seqlens_k"] = starts(keys)
    if options["alibi"]:
        tensors["alibi_slopes"] = (2.0 ** -numpy.arange(1, options["heads"] + 1)).astype("f4")
    save(name, tensors, options, varlen(tensors, options), lines)


def fill_pages(random, lengths, size, d, d_v, shared, options):
    """The caches and the table, and the keys and values of each item. The first `shared` pages of all are the same."""
    per_item = max(-(-length // size) for length in lengths) + 1
    pages = len(lengths) * per_item + 3
    order, next_page = random.permutation(pages), 0
    table = numpy.full((len(lengths), per_item), 10**6, "i4")
    table[:, -1] = -1
    caches = [numpy.full((pages, size, options["kv"], n), numpy.nan, "f4") for n in (d, d_v or d)]
    keys, values = [], []
    for item, length in enumerate(lengths):
        for at in range(-(-length // size)):
            if item > 0 and at < shared:
                table[item, at] = table[0, at]
            else:
                table[item, at] = order[next_page]
                next_page += 1
            fill = min(size, length - at * size)
            for cache in caches if item == 0 or at >= shared else ():
                cache[table[item, at], :fill] = random.standard_normal((fill,) + cache.shape[2:])
        rows = [[cache[table[item, t // size], t % size] for t in range(length)] for cache in caches]
        for lists, cache, row in zip((keys, values), caches, rows):
            lists.append(numpy.array(row, "f8").reshape((length,) + cache.shape[2:]))
    return {"key_cache": caches[0], "value_cache": caches[1], "block_table": table}, keys, values


def paged(name, lines, random, lengths, queries, size, d=8, d_v=None, shared=0, **changes):
    options = {**OPTIONS, **changes}
    pages, keys, values = fill_pages(random, lengths, size, d, d_v, shared, options)
    query = random.standard_normal((len(lengths), queries, options["heads"], d)).astype("f4")
    made = [attention(query[i].astype("f8"), keys[i], values[i], options, None) for i in range(len(lengths))]
    tensors = {"query": query, **pages, "kv_lengths": numpy.array(lengths, "i4")}
    save(name, tensors, options, [numpy.stack(tables) for tables in zip(*made)], lines)


def packed_pages(name, lines, random, lengths, queries, size, d=8, d_v=None, shared=0, ends=True, **changes):
    """Queries of sequences one behind the other, and their keys in pages: flash_attn_varlen_func with block_table."""
    options = {**OPTIONS, **changes}
    pages, keys, values = fill_pages(random, lengths, size, d, d_v, shared, options)
    query = random.standard_normal((sum(queries), options["heads"], d)).astype("f4")
    tensors = {"query": query, **pages, "cu_seqlens_q": starts(queries)}
    slopes = None
    if options["alibi"]:
        tensors["alibi_slopes"] = (2.0 ** -numpy.arange(1, options["heads"] + 1)).astype("f4")
        slopes = tensors["alibi_slopes"].astype("f8")
    if ends:
        tensors["cu_seqlens_k"] = starts(lengths)
    else:
        tensors["kv_lengths"] = numpy.array(lengths, "i4")
    rows = numpy.split(query.astype("f8"), starts(queries)[1:-1])
    made = [attention(*operands, options, slopes) for operands in zip(rows, keys, values)]
    save(name, tensors, options, [numpy.concatenate([m[0] for m in made]), numpy.hstack([m[1] for m in made])], lines)


def main():
    lines, random = [], numpy.random.default_rng(17)
    same, fewer = [5, 1, 9, 3], ([2, 1, 3, 4], [5, 1, 9, 4])
    more, empty = ([5, 3, 4], [2, 3, 1]), ([0, 3, 0, 2, 0], [4, 3, 0, 0, 5])
    for causal in (False, True):
        kind = "causal-" if causal else "plain-"
        make(kind + "same", lines, random, same, causal=causal)
        make(kind + "fewer-queries", lines, random, *fewer, causal=causal)
        make(kind + "more-queries", lines, random, *more, causal=causal)
        make(kind + "empty", lines, random, *empty, causal=causal)
        make(kind + "window", lines, random, *fewer, causal=causal, window=(2, 1))
        make(kind + "window-left", lines, random, same, causal=causal, window=(1, -1))
        make(kind + "softcap-scale", lines, random, same, causal=causal, softcap=2.0, scale=0.5)
        make(kind + "alibi", lines, random, *fewer, causal=causal, alibi=True)
        make(kind + "alibi-same", lines, random, same, causal=causal, alibi=True)
        make(kind + "one-head", lines, random, same, causal=causal, heads=1, kv=1, d=5, d_v=3)
        make(kind + "group", lines, random, *fewer, causal=causal, heads=6, kv=1, d=4, d_v=7)
        make(kind + "tiles", lines, random, [15, 16, 17, 63, 64, 1], causal=causal, heads=2, kv=1, d=4)
        make(kind + "long", lines, random, [3, 90], [150, 129], causal=causal, heads=2, kv=2, d=4, window=(70, -1))
    make("one-sequence", lines, random, [7], causal=True)
    make("single-tokens", lines, random, [1] * 6, [3, 1, 4, 1, 5, 9], causal=True)
    for causal in (False, True):
        kind = "pages-causal-" if causal else "pages-"
        paged(kind + "one-query", lines, random, [7, 1, 16], 1, 4, causal=causal)
        paged(kind + "queries", lines, random, [7, 5, 16], 3, 4, causal=causal)
        paged(kind + "empty", lines, random, [0, 2, 9], 3, 4, causal=causal)
        paged(kind + "shared", lines, random, [9, 11, 8], 2, 4, causal=causal, shared=2)
        paged(kind + "window", lines, random, [13, 5], 4, 1, causal=causal, window=(3, 1))
        wide = {"d": 5, "d_v": 3, "heads": 6, "kv": 1, "softcap": 3.0}
        paged(kind + "softcap-group", lines, random, [20, 31], 2, 16, causal=causal, **wide)
        paged(kind + "long", lines, random, [130, 257], 5, 16, d=4, heads=4, kv=2, causal=causal)
    for causal in (False, True):
        kind = "packed-pages-causal-" if causal else "packed-pages-"
        packed_pages(kind + "mixed", lines, random, [7, 1, 16], [1, 1, 5], 4, causal=causal)
        packed_pages(kind + "lengths", lines, random, [7, 1, 16], [2, 1, 5], 4, causal=causal, ends=False)
        packed_pages(kind + "empty", lines, random, [0, 2, 9, 3], [3, 0, 4, 1], 4, causal=causal)
        packed_pages(kind + "more-queries", lines, random, [2, 3], [5, 4], 4, causal=causal)
        packed_pages(kind + "shared", lines, random, [9, 11, 8], [2, 1, 3], 4, causal=causal, shared=2, ends=False)
        packed_pages(kind + "window", lines, random, [13, 5], [4, 5], 1, causal=causal, window=(3, 1))
        packed_pages(kind + "alibi", lines, random, [13, 5], [4, 5], 8, causal=causal, alibi=True)
        packed_pages(kind + "softcap-group", lines, random, [20, 31], [2, 7], 16, causal=causal, **wide)
        packed_pages(kind + "long", lines, random, [130, 257], [130, 3], 16, d=4, causal=causal, ends=False)
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(lines)


main()
