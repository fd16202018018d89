# SPDX-License-Identifier: MIT
"""Prints the stages of a result of attn (JSON) as llama-eval-callback prints the tensors of llama.cpp.

    python3 tests/printed/ggml_dump.py RESULT [LAYER [KEYS [pairs]]]

KEYS is the size of the cache, to which ggml pads the keys. With "pairs" the columns of query and key are in the order of
Llama's checkpoints for ggml: 0, d/2, 1, d/2 + 1, ... As ggml has them: heads before the rows in query, key and
value, which are (columns, heads, rows); the context also of all heads side by side; the columns first in the sizes."""
import json
import struct
import sys

EDGE = 3


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def shape_of(table):
    return [len(table)] + shape_of(table[0]) if isinstance(table, list) else []


def deep(table, axes):
    while len(shape_of(table)) < axes:
        table = [table]
    return table


def edges(count):
    return list(range(count)) if count <= 2 * EDGE else [*range(EDGE), None, *range(count - EDGE, count)]


def number(value):
    return "%12.4f" % (float("-inf") if value is None else float(value))


def dump(name, op, table, operands="x{1, 1, 1, 1}, "):
    table = deep(table, 4)
    sizes = ", ".join(map(str, reversed(shape_of(table))))
    print(f"common_debug_cb_eval: {name:>24} = (f32) {op:>10}({operands}}}) = {{{sizes}}}")
    total = 0
    for item in table:
        for head in item:
            for row in head:
                for value in row:
                    total = single(total + float(value))
    for item in table:
        print("    [")
        for i in edges(len(item)):
            if i is None:
                print("        ..., ")
                continue
            print("        [")
            for k in edges(len(item[i])):
                if k is None:
                    print("            ..., ")
                    continue
                row = item[i][k]
                texts = ["   ..., " if c is None else number(row[c]) + (", " if c + 1 < len(row) else "")
                         for c in edges(len(row))]
                print("            [" + "".join(texts) + "  ],")
            print("        ],")
        print("    ]")
        print("    sum = %f" % total)


def swapped(table):
    """(heads, rows, columns) -> (rows, heads, columns), and back."""
    return [list(each) for each in zip(*table)]


def joined(table):
    return [[sum(row, []) for row in swapped(table)]]


def padded(table, keys):
    return [[row + [0.0] * (keys - len(row)) for row in head] for head in table]


def main():
    with open(sys.argv[1]) as file:
        result = json.load(file)
    layer = sys.argv[2] if len(sys.argv) > 2 else "0"
    stages = {name: deep(table, 4)[0] for name, table in result.items()
              if isinstance(table, list) and table and isinstance(table[0], list)}
    keys = int(sys.argv[3]) if len(sys.argv) > 3 else len(stages["key"][0])
    if "pairs" in sys.argv:
        for name in "projected_query", "projected_key", "query", "key":
            stages[name] = [[[row[column // 2 + column % 2 * len(row) // 2] for column in range(len(row))]
                             for row in head] for head in stages[name]]
    if "normed" in stages:
        dump(f"attn_norm-{layer}", "MUL", stages["normed"])
    for letter, operand in ("Q", "query"), ("K", "key"):
        projected = stages.get("projected_" + operand, stages[operand])
        dump(f"{letter}cur-{layer}", "MUL_MAT", joined(projected))
        dump(f"{letter}cur-{layer} (reshaped)", "RESHAPE", swapped(projected))
        if "normed_" + operand in stages:
            dump(f"{letter}cur_normed-{layer}", "MUL", swapped(stages["normed_" + operand]))
        if "projected_" + operand in stages:
            dump(f"{letter}cur-{layer}", "ROPE", swapped(stages[operand]))
    dump(f"Vcur-{layer}", "MUL_MAT", joined(stages["value"]))
    dump(f"kq-{layer}", "MUL_MAT", padded(stages["scores"], keys))
    dump(f"kq_soft_max-{layer}", "SOFT_MAX", padded(stages["weights"], keys))
    dump(f"kqv-{layer}", "MUL_MAT", stages["context"])
    dump(f"kqv_out-{layer}", "CONT", joined(stages["context"]))
    if "output" in stages:
        dump("node_31", "MUL_MAT", stages["output"],
             f"blk.{layer}.attn_output.weight{{1, 1, 1, 1}}, kqv_out-{layer}{{1, 1, 1, 1}}")
    dump(f"l_out-{layer}", "ADD", stages["output" if "output" in stages else "context"])


main()
