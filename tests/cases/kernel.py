# SPDX-License-Identifier: MIT
"""A right kernel in PyTorch, which supports every case of attn cases: reads the .npy, and writes its results.

    python3 tests/cases/kernel.py FOLDER

It sums in float32 (float64 if that is the dtype) and rounds its results once. It shares nothing with attn."""
import json
import pathlib
import sys

import numpy
import torch

torch.set_num_threads(1)
folder = pathlib.Path(sys.argv[1])
HEAD = folder.joinpath("cases.txt").read_text().split("\n")[0].split()
LAYOUT = HEAD[HEAD.index("--layout") + 1] if "--layout" in HEAD else "bhtd"
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


def sequences(read, case, packed):
    """Item, slice of queries, slice of keys of each sequence; keys of pages are already in a row."""
    queries, keys = case["queries"], case["keys"]
    if packed:
        starts = read["cu_seqlens_q"].tolist()
        ends = read["cu_seqlens_k"].tolist() if "cu_seqlens_k" in read else [0, *read["kv_lengths"].cumsum(0).tolist()]
        return [(0, slice(*starts[i : i + 2]), slice(*ends[i : i + 2])) for i in range(len(starts) - 1)]
    lengths = read["kv_lengths"].tolist() if "kv_lengths" in read else [keys] * case["items"]
    return [(item, slice(0, queries), slice(0, length)) for item, length in enumerate(lengths)]


def keys_of(read, case, packed):
    """Key and value, B x H x T x d, out of their pages or after their past."""
    if "block_table" not in read:
        made = []
        for name in ("key", "value"):
            x = read[name]
            x = x.transpose(0, 1)[None] if packed else x.transpose(1, 2) if LAYOUT == "bthd" else x
            made.append(torch.cat([read["past_" + name], x], 2) if "past_" + name in read else x)
        return made
    lengths, made = read["kv_lengths"].tolist(), []
    for name in ("key_cache", "value_cache"):
        rows = []
        for item, length in enumerate(lengths):
            pages = [read[name][page] for page in read["block_table"][item].tolist() if page >= 0]
            rows.append(torch.cat(pages)[:length] if length else read[name][:0].reshape(0, *read[name].shape[2:]))
        if packed:
            made.append(torch.cat(rows).transpose(0, 1)[None])
        else:
            longest = max(lengths)
            rows = [torch.cat([row, row.new_zeros(longest - len(row), *row.shape[1:])]) for row in rows]
            made.append(torch.stack(rows).transpose(1, 2))
    return made


def allowed_of(case, read, q, k, offset):
    """Which keys a query may see, queries x keys, but for attn_mask."""
    settings, (left, right) = case["settings"], case["window"]
    position = torch.arange(q.stop - q.start)[:, None] + offset
    key = torch.arange(k.stop - k.start)[None]
    allowed = torch.ones(q.stop - q.start, k.stop - k.start, dtype=torch.bool)
    prefix = key < settings.get("prefix", 0)
    if settings["causal"]:
        allowed &= (key <= position) | prefix
    if left >= 0:
        allowed &= key >= position - left
    if right >= 0:
        allowed &= (key <= position + right) | prefix
    if "attention_chunk" in settings:
        chunk = settings["attention_chunk"]
        allowed &= torch.div(key, chunk, rounding_mode="floor") == torch.div(position, chunk, rounding_mode="floor")
    if "document_ids" in read:
        ids = read["document_ids"]
        inside = (position >= 0) & (position < len(ids))
        allowed &= (ids[position.clamp(0, len(ids) - 1)] == ids[: k.stop][None]) & inside
    return allowed, (key - position).abs()


def attend(case, read, query, key, value, packed):
    """Context and lse, B x H x T x d and B x H x T."""
    settings = case["settings"]
    group = query.shape[1] // key.shape[1]
    context = query.new_zeros(*query.shape[:3], value.shape[3])
    lse = query.new_full(query.shape[:3], -torch.inf)
    mask = read.get("attn_mask")
    mask = mask if mask is None else mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    bottom = settings.get("align", "bottom-right" if packed else "top-left") == "bottom-right"
    bottom = bottom or "kv_lengths" in read or "past_key" in read
    pieces = []
    for item, q, k in sequences(read, case, packed):
        lq, lk = q.stop - q.start, k.stop - k.start
        allowed, distance = allowed_of(case, read, q, k, lk - lq if bottom else 0)
        for head in range(query.shape[1]):
            own, adds = allowed, 0
            if mask is not None and mask.dtype == torch.bool:
                own = own & mask[item, head, q, k]
            elif mask is not None:
                adds = mask[item, head, q, k]
                own = own & ~torch.isneginf(adds)
                adds = torch.where(own, adds, 0)
            used = own.any(0)
            if not used.any():
                if "sinks" in read:
                    pieces.append((item, head, q, None, read["sinks"][head].expand(lq)))
                continue
            own, adds, far = own[:, used], adds if isinstance(adds, int) else adds[:, used], distance[:, used]
            scores = query[item, head, q] @ key[item, head // group, k][used].T * case["scale"]
            if "softcap" in settings:
                scores = settings["softcap"] * torch.tanh(scores / settings["softcap"])
            if "alibi_slopes" in read:
                scores = scores - read["alibi_slopes"][head] * far
            scores = (scores + adds).masked_fill(~own, -torch.inf)
            every = scores
            if "sinks" in read:
                every = torch.cat([scores, read["sinks"][head].expand(lq)[:, None]], 1)
            total = torch.logsumexp(every, 1)
            weights = torch.where(own, torch.exp(scores - torch.where(total.isfinite(), total, 0)[:, None]), 0)
            pieces.append((item, head, q, weights @ value[item, head // group, k][used], total))
    for item, head, q, made, total in pieces:
        if made is not None:
            context[item, head, q] = made
        lse[item, head, q] = total
    return context, lse


def run(path):
    case = json.loads((path / "case.json").read_text())
    dtype = DTYPES[case["settings"]["dtype"]]
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    names = [*case["inputs"], *(["grad_context"] if "grad" in case["features"] else [])]
    read = {name: torch.from_numpy(numpy.load(path / (name + ".npy"))) for name in names}
    for name, x in read.items():
        read[name] = x.to(wide) if x.is_floating_point() else x.long() if x.dtype == torch.int32 else x

    def write(name, x, to):
        x = x.detach().to(to).contiguous()
        numpy.save(path / (name + ".npy"), x.view(torch.uint16).numpy() if to == torch.bfloat16 else x.numpy())

    if "merge" in case["features"]:
        total = torch.logsumexp(read["lses"], 2)
        weights = torch.exp(read["lses"] - torch.where(total.isfinite(), total, 0)[..., None])
        write("context", (weights[..., None] * read["contexts"]).sum(2, keepdim=True), dtype)
        write("lse", total[..., None], wide)
        return
    packed = "packed" in case["features"]
    last = packed or "block_table" in read or LAYOUT == "bthd"
    given = [read[name].requires_grad_() for name in ("query", "key", "value", "sinks") if name in read]
    query = read["query"]
    query = query.transpose(0, 1)[None] if packed else query.transpose(1, 2) if last else query
    context, lse = attend(case, read, query, *keys_of(read, case, packed), packed)
    context = context[0].transpose(0, 1) if packed else context.transpose(1, 2) if last else context
    if "grad_context" in read:
        made = torch.autograd.grad(context, given, read["grad_context"], allow_unused=True, materialize_grads=True)
        for name, x in zip(case["expected"], made):
            write(name, x, dtype)
    else:
        write("context", context, dtype)
        write("lse", lse[0] if packed else lse, wide)


for path in sorted(folder.glob("*/case.json")):
    run(path.parent)
