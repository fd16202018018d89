# SPDX-License-Identifier: MIT
"""Wrong tables of every kind that no list of mistakes holds, and right ones of every precision, by NumPy alone; and what
`attn why` says they are.

    python3 tests/why/observed.py ATTN FOLDER [KIND]

A wrong table is described rightly if one of the observations has the words that its kind wants: the part, or the number;
truly, but only in part, if one of them says which part is wrong, and that is so. It counts as described wrongly if there
are only other observations, and as named if a mistake gives it all. A right table must have no observation, but one of
TF32 that its errors are of that size."""
import collections
import json
import re
import subprocess
import sys

import numpy as np

attn, folder = sys.argv[1:3]
only = sys.argv[3] if len(sys.argv) > 3 else ""
draw = np.random.default_rng(2029)


# --- attention, written out ------------------------------------------------------------------------------------------

def softmax(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Job:
    """Scaled dot-product attention, (items, heads, tokens, columns), in float64."""

    def __init__(self, items=1, heads=2, tokens=24, columns=8, values=None, causal=False):
        self.shape, self.causal = (items, heads, tokens, columns), causal
        self.q, self.k = draw.standard_normal((2, *self.shape))
        self.v = draw.standard_normal((items, heads, tokens, values or columns))

    def words(self):
        return ["--causal"] if self.causal else []

    def allowed(self, window=None, offset=0):
        tokens = self.shape[2]
        i, j = np.ogrid[:tokens, :tokens]
        return (j <= i + offset if self.causal else np.ones((tokens, tokens), bool)) & (window is None or j >= i - window)

    def weights(self, scale=None, softcap=None, sink=None, allowed=None, **positions):
        scores = np.einsum("bhid,bhjd->bhij", self.q, self.k) * (scale or self.shape[3] ** -0.5)
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
        scores = np.where(self.allowed(**positions) if allowed is None else allowed, scores, -np.inf)
        if sink is not None:
            return softmax(np.concatenate([scores, np.full((*scores.shape[:3], 1), sink)], -1))[..., :-1]
        return softmax(scores)

    def context(self, **other):
        return self.weights(**other) @ self.v


def whole(low, high):
    return int(draw.integers(low, high + 1))


def job(**settings):
    settings.setdefault("causal", bool(whole(0, 1)))
    return Job(**settings)


def rounded_to(numbers, bits):
    """To a significand of so many bits."""
    m, e = np.frexp(numbers)
    return np.ldexp(np.round(np.ldexp(m, bits)), e - bits)


def digits(number):
    """A pattern for a number within a hundredth of this one."""
    return f"<{number!r}>"


def has_words(words, line):
    """Whether the line has the words, and the number that they name, if any; of a tuple, one of the words."""
    if isinstance(words, tuple):
        return any(has_words(one, line) for one in words)
    wanted = re.findall("<(.*?)>", words)
    pattern = re.sub("<.*?>", r"[-+]?[0-9.]+(e[-+][0-9]+)?", words)
    numbers = [float(text) for text in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]\d+)?", line)]
    near = [any(abs(abs(number) - abs(float(one))) <= 0.01 * abs(float(one)) for number in numbers) for one in wanted]
    return re.search(pattern, line) is not None and (not near or any(near))


AXES = ("item", "head", "row", "column")


def is_true_part(line, right, mine):
    """Whether "row 5 is wrong; all others are right" is so, of one kind of part."""
    said = re.match(r"part: (item|head|row|column)s? ([^;]*) (?:is|are) wrong; all others are right", line)
    if said is None:
        return False
    wrong = ~(np.abs(right - mine) <= 1e-4 * np.abs(right).max())
    axis = AXES.index(said[1])
    told = set()
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", said[2]):
        told |= set(range(int(first) - 1, int(last or first)))
    return told == set(np.flatnonzero(wrong.any(tuple(a for a in range(4) if a != axis))))


# --- wrong tables: (job, stage, table, words that one observation has) ---------------------------------------------------

def factor(one):
    by = float(draw.uniform(0.2, 3))
    return one, "context", one.context() * by, digits(by)


def factor_of_head(one):
    head, by, table = whole(0, 1), float(draw.uniform(1.2, 3)), one.context()
    table[:, head] *= by
    return one, "context", table, f"head {head + 1}.*{digits(by)}"


def factor_of_row(one):
    row, by, table = whole(2, 20), float(draw.uniform(1.2, 3)), one.context()
    table[:, :, row] *= by
    return one, "context", table, f"row {row + 1}\\b.*{digits(by)}"


def factor_of_column(one):
    column, by, table = whole(0, 7), float(draw.uniform(1.2, 3)), one.context()
    table[..., column] *= by
    return one, "context", table, f"column {column + 1}\\b.*{digits(by)}"


def sign(one):
    return one, "context", -one.context(), "negative|sign|-1\\b|minus"


def offset(one):
    by = float(draw.uniform(0.1, 1))
    return one, "context", one.context() + by, digits(by)


def own_factors(one):
    return one, "context", one.context() * draw.uniform(0.5, 2, (*one.shape[:3], 1)), "each row|own factor|row.*factor"


def own_offsets(one):
    return one, "context", one.context() + draw.uniform(0.5, 2, (*one.shape[:3], 1)), "each row|own|row.*(offset|off by|plus)"


def rows_reversed(one):
    return one, "context", one.context()[:, :, ::-1], "revers"


def rows_shifted(one):
    by = whole(2, 6)
    return one, "context", np.roll(one.context(), by, 2), f"(shift|roll)\\w* by {by}\\b"


def rows_swapped(one):
    a, table = whole(2, 10), one.context()
    b = a + whole(2, 8)
    table[:, :, [a, b]] = table[:, :, [b, a]]
    return one, "context", table, f"{a + 1}.*{b + 1}|{b + 1}.*{a + 1}"


def heads_rotated(one):
    return one, "context", np.roll(one.context(), 1, 1), "head"


def columns_reversed(one):
    return one, "context", one.context()[..., ::-1], "column.*revers|revers.*column"


def columns_interleaved(one):
    table = one.context()
    return one, "context", np.concatenate([table[..., 0::2], table[..., 1::2]], -1), "column"


def items_swapped(one):
    return one, "context", one.context()[::-1], "item"


def weights_transposed(one):
    return one, "scaled", np.einsum("bhid,bhjd->bhji", one.q, one.k) * one.shape[3] ** -0.5, "transpos|swapped|columns.*rows"


def plus_value(one):
    return one, "context", one.context() + one.v, "value"


def rounded_digits(one):
    places = whole(1, 2)
    return one, "context", np.round(one.context(), places), f"round.*{places}"


def rounded_bf16(one):
    return one, "context", rounded_to(one.context(), 8), "bfloat16|bf16"


def rounded_f16(one):
    return one, "context", one.context().astype("f2").astype("f8"), "float16|f16"


def rows_of(value, words):
    def make(one):
        a, table = whole(2, 12), one.context()
        b = a + whole(2, 8)
        table[:, :, a:b] = value
        return one, "context", table, f"rows? {a + 1}.*({words})"
    return make


def head_of(value, words):
    def make(one):
        head, table = whole(0, 1), one.context()
        table[:, head] = value
        return one, "context", table, f"head {head + 1}.*({words})"
    return make


def rest_of_rows(one):
    a, table = whole(10, 20), one.context()
    table[:, :, a:] = 0
    return one, "context", table, f"rows? {a + 1}.*(0|written)"


def tile_repeated(one):
    table, tile = one.context(), 8
    table[:, :, tile:2 * tile] = table[:, :, :tile]
    return one, "context", table, "rows 9 to 16.*rows 1 to 8"


def head_repeated(one):
    table = one.context()
    table[:, 1] = table[:, 0]
    return one, "context", table, "head 2.*head 1"


def item_repeated(one):
    table = one.context()
    table[1] = table[0]
    return one, "context", table, "item 2.*item 1"


def last_keys_missing(one):
    keys = one.shape[2] - whole(2, 5)
    allowed = one.allowed() & (np.arange(one.shape[2]) < keys)
    return one, "context", one.context(allowed=allowed), f"{keys} keys|first {keys}|last {one.shape[2] - keys} of their keys"


def remainder_of_keys(one):
    """The keys after the last whole tile of 8 are left out."""
    counts = (np.arange(one.shape[2]) + 1) // 8 * 8
    allowed = np.arange(one.shape[2]) < np.where(counts > 0, counts, np.arange(one.shape[2]) + 1)[:, None]
    return one, "context", one.context(allowed=allowed), "multiple of 8|tile.*8|8 keys|remainder"


def wrong_head(one):
    head, table = whole(0, 1), one.context()
    table[:, head] += draw.standard_normal(table[:, head].shape)
    return one, "context", table, f"head {head + 1}\\b"


def wrong_row(one):
    row, table = whole(2, 20), one.context()
    table[:, :, row] += draw.standard_normal(table[:, :, row].shape)
    return one, "context", table, f"row {row + 1}\\b"


def wrong_item(one):
    table = one.context()
    table[1] += draw.standard_normal(table[1].shape)
    return one, "context", table, "item 2"


def unnormalised(one):
    scores = np.einsum("bhid,bhjd->bhij", one.q, one.k) * one.shape[3] ** -0.5
    e = np.where(one.allowed(), np.exp(scores), 0) ** 1.5
    return one, "weights", e / (e.sum(-1, keepdims=True) + draw.uniform(0.5, 2, e.shape[:3])[..., None]), "sum"


def weights_behind_mask(one):
    table = one.weights()
    table[:, :, 3, 10:] += draw.uniform(0.01, 0.1, one.shape[2] - 10)
    return one, "weights", table, "mask|forbid|not allowed|later key"


def outside_hull(one):
    table = one.context() + draw.standard_normal(one.context().shape) * 5
    return one, "context", table, "values|hull|largest|outside"


def negative_weights(one):
    table = one.weights()
    return one, "weights", table - 0.3 * draw.uniform(0, 1, table.shape), "negative|below 0"


def constant_rows(one):
    table = one.context()
    return one, "context", np.repeat(table.mean(2, keepdims=True), one.shape[2], 2) * 1.7 + 0.3, "same|constant|equal|column 1 is"


def scale_of(one):
    scale = float(draw.uniform(0.15, 0.6))
    return one, "weights", one.weights(scale=scale), f"scale.*{digits(scale)}"


def scale_of_context(one):
    scale = float(draw.uniform(0.15, 0.6))
    return one, "context", one.context(scale=scale), f"scale.*{digits(scale)}"


def temperature_of(one):
    by = float(draw.uniform(1.3, 2.5))
    scale = one.shape[3] ** -0.5 / by
    return one, "weights", one.weights(scale=scale), f"temperature.*{digits(by)}|scale.*{digits(scale)}"


def softcap_of(one):
    cap = float(draw.uniform(1, 4))
    return one, "weights", one.weights(softcap=cap), f"softcap.*{digits(cap)}"


def window_of(one):
    window = whole(3, 9)
    return one, "context", one.context(window=window), f"window.*{window}|last {window + 1} of their keys"


def sink_of(one):
    sink = float(draw.uniform(0.5, 2))
    return one, "weights", one.weights(sink=sink), (f"sink.*{digits(sink)}", "not divided by their own sums")


def offset_of(one):
    by = whole(2, 5)
    return one, "context", one.context(offset=by), f"{by}"


def key_too_many(one):
    row, key = whole(2, 5), whole(7, 11)
    allowed = one.allowed()
    allowed[row, key] = True
    return one, "context", one.context(allowed=allowed), f"row {row + 1}.*key {key + 1}"


def key_missing(one):
    row = whole(6, 11)
    key = whole(1, row - 1)
    allowed = one.allowed()
    allowed[row, key] = False
    return one, "context", one.context(allowed=allowed), f"row {row + 1}.*key {key + 1}"


def sums_in(bits, words):
    """Each sum over the keys goes on in few bits."""
    def make(one):
        weights, table = one.weights(), 0
        for key in range(one.shape[2]):
            table = rounded_to(table + rounded_to(weights[..., key:key + 1] * one.v[:, :, key:key + 1], bits), bits)
        return one, "context", table * (1 + 1e-5 * draw.standard_normal(table.shape)), words
    return make


PLAIN, CAUSAL, ITEMS, SMALL = {}, {"causal": True}, {"items": 2}, {"causal": True, "tokens": 12, "values": 16, "heads": 1}
KINDS = [
    (factor, PLAIN), (factor_of_head, PLAIN), (factor_of_row, PLAIN), (factor_of_column, PLAIN), (sign, PLAIN),
    (offset, PLAIN), (own_factors, PLAIN), (own_offsets, PLAIN), (rows_reversed, PLAIN), (rows_shifted, PLAIN),
    (rows_swapped, PLAIN), (heads_rotated, {"heads": 3}), (columns_reversed, PLAIN), (columns_interleaved, PLAIN),
    (items_swapped, ITEMS), (weights_transposed, {"causal": False}), (plus_value, PLAIN), (rounded_digits, PLAIN),
    (rounded_bf16, PLAIN), (rounded_f16, PLAIN), (rows_of(0.0, "0"), PLAIN, "rows of 0"),
    (rows_of(np.nan, "NaN"), PLAIN, "rows of NaN"), (rows_of(7.5, "7.5"), PLAIN, "rows of 7.5"),
    (head_of(0.0, "0|written"), PLAIN, "head of 0"), (rest_of_rows, PLAIN), (tile_repeated, PLAIN),
    (head_repeated, PLAIN), (item_repeated, ITEMS), (last_keys_missing, PLAIN), (remainder_of_keys, CAUSAL),
    (wrong_head, PLAIN), (wrong_row, PLAIN), (wrong_item, ITEMS), (unnormalised, PLAIN), (weights_behind_mask, CAUSAL),
    (outside_hull, PLAIN), (negative_weights, PLAIN), (constant_rows, PLAIN), (scale_of, PLAIN),
    (scale_of_context, PLAIN), (temperature_of, PLAIN), (softcap_of, PLAIN), (window_of, CAUSAL), (sink_of, PLAIN),
    (offset_of, CAUSAL), (key_too_many, SMALL), (key_missing, SMALL), (sums_in(11, "tf32|f16|float16"), PLAIN, "tf32 sums"),
    (sums_in(8, "bf16|bfloat16"), PLAIN, "bf16 sums"), (sums_in(10, "f16|float16|tf32"), PLAIN, "f16 sums"),
]


# --- right tables ------------------------------------------------------------------------------------------------------

def right_tables():
    for i in range(200):
        one = job(items=1 + i % 2, heads=1 + i % 3, tokens=whole(8, 40))
        precision = ("f64", "f32", "f16", "bf16", "tf32")[i % 5]
        if precision in ("f16", "bf16"):
            bits = 11 if precision == "f16" else 8
            one.q, one.k, one.v = (rounded_to(x, bits) for x in (one.q, one.k, one.v))
            table = rounded_to(rounded_to(one.weights(), bits) @ one.v, bits)
        elif precision == "tf32":
            exact = one.q, one.k, one.v
            one.q, one.k = rounded_to(one.q, 11), rounded_to(one.k, 11)
            weights = rounded_to(one.weights(), 11)
            one.q, one.k, one.v = exact
            table = weights @ rounded_to(one.v, 11)
        else:
            table = one.context()
        yield precision, one, "context", table


# --- what attn says ----------------------------------------------------------------------------------------------------

def ask(one, stage, table, dtype="f32"):
    kind = {"f64": "f8", "f16": "f2"}.get(dtype, "f4")
    np.savez(f"{folder}/input.npz", query=one.q, key=one.k, value=one.v)
    np.save(f"{folder}/mine.npy", table.astype(kind))
    words = ["--dtype", dtype] if dtype in ("f64", "f16", "bf16") else []
    run = subprocess.run([attn, "why", "sdpa", f"{folder}/input.npz", *one.words(), *words, "--mine", f"{folder}/mine.npy",
                          "--stages", stage, "-f", "json", "--budget", "0.2"], capture_output=True, text=True)
    if run.returncode > 1:
        return None, run.stderr
    answer = json.loads(run.stdout)
    lines = [f"{line['name']}: {line['text']}" for line in answer.get("observations", [])]
    return answer["explanations"], lines


def main():
    counts = collections.Counter()
    for number in range(4):
        for maker, settings, *name in KINDS:
            title = name[0] if name else maker.__name__
            one, stage, table, words = maker(job(**settings))
            if only and only != title:
                continue
            explanations, lines = ask(one, stage, table)
            outcome = ("error" if explanations is None else "named" if explanations else
                       "right" if any(has_words(words, line) for line in lines) else
                       "in part" if any(is_true_part(line, getattr(one, stage)(), table) for line in lines
                                        if stage in ("context", "weights")) else
                       "wrongly" if lines else "nothing")
            counts[outcome] += 1
            if outcome != "right":
                told = [e["mistakes"] for e in explanations] if explanations else lines
                print(f"{outcome:8} {title} {number + 1}: wanted /{words}/, got {told}")
    print(dict(counts))
    good = collections.Counter()
    for precision, one, stage, table in right_tables() if not only else ():
        explanations, lines = ask(one, stage, table, precision)
        lines = [line for line in lines if precision != "tf32" or not re.match("rounding: .* as small as .*TF32", line)]
        outcome = "silent" if explanations is not None and not lines else "told"
        good[precision, outcome] += 1
        if outcome == "told":
            print(f"a right one in {precision}: {lines}")
    print({" ".join(key): value for key, value in sorted(good.items())})


main()
