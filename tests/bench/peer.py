# SPDX-License-Identifier: MIT
"""What attn's JSON is measured against: reads as many numbers as attn does, and writes as many.

    peer.py INPUT OUT              json.load, then json.dump of the inputs
    peer.py INPUT WEIGHTS QUERY    checks attn's query against the inputs and the weights, some numbers of it
    peer.py make OUT ROWS COLUMNS  writes inputs with as many digits as a float32 needs
    peer.py same INPUT NPY         every number of the .npy is the float32 nearest to that of the JSON
"""
import array
import json
import math
import random
import sys


def check(source, weights, result):
    inputs = json.load(open(source))["inputs"]
    weight = json.load(open(weights))["W_query.weight"]
    query = json.load(open(result))["query"]
    assert len(query) == len(inputs) and all(len(row) == len(weight) for row in query), "the shape of query"
    for row in range(0, len(query), 97):
        for column in range(0, len(weight), 61):
            exact = math.fsum(x * w for x, w in zip(inputs[row], weight[column]))
            assert abs(query[row][column] - exact) <= 1e-6 + 1e-6 * abs(exact), (row, column, exact)


def make(path, rows, columns):
    random.seed(1)
    with open(path, "w") as target:
        lines = (", ".join(f"{random.gauss(0, 1):.9g}" for _ in range(columns)) for _ in range(rows))
        target.write('{"inputs": [[' + "],\n[".join(lines) + "]]}\n")


def same(source, result):
    expected = array.array("f", (number for row in json.load(open(source))["inputs"] for number in row))
    assert open(result, "rb").read().endswith(expected.tobytes()), "numbers of the .npy"


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
elif sys.argv[1] == "same":
    same(*sys.argv[2:])
elif len(sys.argv) == 4:
    check(*sys.argv[1:])
else:
    with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
        json.dump({"query": json.load(source)["inputs"]}, target)
