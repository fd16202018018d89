"""Attention in extended precision, rounded to float64 once at the end: what `attn sdpa --dtype f64` must give to 1e-14.

    python3 tests/golden/float64/make_float64.py        (numpy where a long double has 64 bits: x86; safetensors)

Every case is two files and a line of cases.txt (the name, the stages to ask for, rtol, atol):

    NAME.safetensors             query, key, value and what else there is, of unit variance, in float64; the settings
    NAME.expected.safetensors    the stages

The formulas are written out here with loops over heads and queries and share nothing with `attn`: the weights of a
query are a sum over the keys that it sees, and nothing else exists.
"""

import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

LONG = numpy.longdouble
assert numpy.finfo(LONG).nmant >= 63, "a long double is no wider than a double here"

STAGES = ["scaled", "weights", "context", "lse"]

# Heads, key heads, queries, keys, d, d_v, and the settings; what else is drawn: a mask, a past, sinks, slopes; and the
# stages that are kept, context and lse unless said.
CASES = {
    "plain": dict(shape=(2, 2, 40, 40, 16, 16), stages=STAGES),
    "causal": dict(shape=(2, 2, 40, 40, 16, 16), causal=True),
    "cross": dict(shape=(1, 1, 7, 40, 16, 5), scale=0.3),
    "float-mask": dict(shape=(1, 1, 40, 40, 16, 16), mask=True),
    "softcap": dict(shape=(1, 1, 40, 40, 16, 16), softcap=1.5),
    "window": dict(shape=(1, 1, 40, 40, 16, 16), window="5,2"),
    "grouped-softcap-causal-window": dict(shape=(4, 2, 40, 40, 8, 8), softcap=2.0, causal=True, window="9,-1"),
    "past-causal": dict(shape=(2, 1, 9, 9, 16, 16), past=31, causal=True),
    "sinks-causal": dict(shape=(2, 2, 40, 40, 16, 16), sinks=True, causal=True, stages=STAGES[1:]),
    "alibi-past-causal": dict(shape=(2, 2, 9, 9, 16, 16), past=31, alibi=True, causal=True),
    "long": dict(shape=(1, 1, 1024, 1024, 2, 2)),
    "long-causal": dict(shape=(1, 1, 1024, 1024, 2, 2), causal=True),
}

def draw(number, case):
    generator = numpy.random.default_rng(number)
    heads, key_heads, queries, keys, d, d_v = case["shape"]
    normal = generator.standard_normal
    given = {
        "query": normal((heads, queries, d)),
        "key": normal((key_heads, keys, d)),
        "value": normal((key_heads, keys, d_v)),
    }
    if case.get("mask"):
        mask = normal((queries, keys))
        given["attn_mask"] = numpy.where(mask > 1.5, -numpy.inf, mask)
    if "past" in case:  # always with a batch: [B,H_kv,T,d]
        given["query"], given["key"], given["value"] = (given[n][None] for n in ("query", "key", "value"))
        given["past_key"] = normal((1, key_heads, case["past"], d))
        given["past_value"] = normal((1, key_heads, case["past"], d_v))
    if case.get("sinks"):
        given["sinks"] = normal(heads)
    if case.get("alibi"):
        given["alibi_slopes"] = 2.0 ** -numpy.arange(1, heads + 1)
    return given


def sees(case, position, key, mask):
    left, right = (int(side) for side in case.get("window", "-1,-1").split(","))
    if case.get("causal") and key > position:
        return False
    if (left >= 0 and key < position - left) or (right >= 0 and key > position + right):
        return False
    return mask != -numpy.inf


def one_query(case, row, given, head, position, keys):
    """scaled and weights over all keys, and the log of the sum of exponentials, of one query."""
    query, key = row
    scaled = (key * query).sum(-1) * LONG(case["scale"] if "scale" in case else 1 / numpy.sqrt(LONG(len(query))))
    logits, mask = scaled, numpy.zeros(keys)
    if "softcap" in case:
        logits = LONG(case["softcap"]) * numpy.tanh(logits / LONG(case["softcap"]))
    if "attn_mask" in given:
        mask = given["attn_mask"][position]
        logits = logits + mask.astype(LONG)
    if "alibi_slopes" in given:
        logits = logits - LONG(given["alibi_slopes"][head]) * abs(numpy.arange(keys) - position)
    seen = numpy.array([sees(case, position, j, mask[j]) for j in range(keys)])
    exponentials = numpy.where(seen, numpy.exp(numpy.where(seen, logits, 0)), LONG(0))  # of unit variance: no overflow
    total = exponentials.sum()
    if "sinks" in given:
        total += numpy.exp(LONG(given["sinks"][head]))
    return scaled, exponentials / total, numpy.log(total)


def compute(case, given):
    """The stages, [H, Tq, ...]."""
    heads, key_heads, queries, _, _, _ = case["shape"]
    past = case.get("past", 0)
    query, key, value = (given[n].reshape(given[n].shape[-3:]).astype(LONG) for n in ("query", "key", "value"))
    if past:
        key = numpy.concatenate([given["past_key"][0].astype(LONG), key], 1)
        value = numpy.concatenate([given["past_value"][0].astype(LONG), value], 1)
    stages = {name: [] for name in STAGES}
    for head in range(heads):
        of_key = head // (heads // key_heads)
        rows = [
            one_query(case, (query[head, i], key[of_key]), given, head, i + past, key.shape[1]) for i in range(queries)
        ]
        scaled, weights, lse = (numpy.stack(column) for column in zip(*rows, strict=True))
        context = numpy.stack([(w[:, None] * value[of_key]).sum(0) for w in weights])
        for name, array in zip(STAGES, (scaled, weights, context, lse), strict=True):
            stages[name].append(array)
    batch = (1,) if past else ()
    stacked = {name: numpy.stack(arrays) for name, arrays in stages.items()}
    return {name: array.reshape(batch + array.shape).astype("<f8") for name, array in stacked.items()}


def freeze(number, name, case):
    """Writes the two files of a case and returns its line."""
    given = draw(number, case)
    stages = compute(case, given)
    expected = {stage: stages[stage] for stage in case.get("stages", ["context", "lse"])}
    settings = {key: case[key] for key in ("causal", "scale", "softcap", "window") if key in case}
    path = os.path.join(HERE, name)
    frozen.save(path + ".safetensors", given, {"mechanism": "sdpa", "settings": settings})
    frozen.save(path + ".expected.safetensors", expected)
    for suffix in (".safetensors", ".expected.safetensors"):
        frozen.verify(path + suffix)
    return f"{name} {','.join(expected)} 0 1e-14\n"


if __name__ == "__main__":
    lines = [freeze(number, name, case) for number, (name, case) in enumerate(CASES.items(), 1)]
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(sorted(lines))
    print(len(lines), "cases, numpy", numpy.__version__)
