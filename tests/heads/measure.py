# SPDX-License-Identifier: MIT
"""attn heads, held to its definitions on whole tables of weights.

    python3 tests/heads/measure.py ATTN FOLDER

Each job runs as `attn heads` and as the mechanism itself, whose weights and masked scores give the expected numbers:
a pattern of queries x keys for each kind, as TransformerLens' head_detector.py builds them. Settings are drawn at
random (ATTN_SEED, another number draws others). The last line counts as the scripts do."""
import json
import math
import os
import random
import struct
import subprocess
import sys

attn, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
draw = random.Random(int(os.environ.get("ATTN_SEED", "1")))
passed = failed = 0
KINDS = ("previous", "first", "duplicate", "induction", "own")


def check(name, holds, message=""):
    global passed, failed
    passed += bool(holds)
    failed += not holds
    if not holds:
        print(f"FAILED: {name}: {message}")


def run(*words):
    done = subprocess.run([attn, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout)


def exact(table, dtype):
    """The numbers that the shortest decimals stand for."""
    if isinstance(table, list):
        return [exact(item, dtype) for item in table]
    if not isinstance(table, float) or dtype == "f64":
        return table
    bits = struct.unpack("I", struct.pack("f", table))[0]
    if dtype == "bf16":
        bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
    return struct.unpack("f", struct.pack("I", bits))[0]


def nested(table, rank):
    """The table with leading axes, (B, H, rows, columns)."""
    depth, inner = 0, table
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]
    heads_first = rank == 3 and depth == 3  # (B, T, T) of one head
    for _ in range(4 - depth):
        table = [[item] for item in table] if heads_first else [table]
    return table


def entropy(row):
    return -sum(weight * math.log(weight) for weight in row if weight > 0)


def expected(weights, masked, rows, tokens, own_of, start_of):
    """Of one head: sums over the items. `tokens`: (B, T) or None; own_of(item, query): a key or None."""
    sums = {kind: [0.0, 0.0, 0] for kind in (*KINDS, "entropy")}
    scores, last = dict.fromkeys(KINDS, 0.0), None
    for item, table in enumerate(weights):
        for i, query in enumerate(rows):
            allowed = [score is not None for score in masked[item][i]]
            own, start, keys = own_of(item, query), start_of(query), range(len(allowed))
            if not any(allowed) or (own is not None and not allowed[own]):
                continue
            names = tokens[item] if tokens else None
            same = [own is not None and names is not None and key < own and allowed[key] and names[key] == names[own]
                    for key in keys]
            of_kind = {"previous": [own is not None and key == own - 1 for key in keys],
                       "first": [key == start and key != own for key in keys],
                       "duplicate": same, "induction": [key > 0 and same[key - 1] for key in keys],
                       "own": [key == own for key in keys]}
            for kind, pattern in of_kind.items():
                among = [key for key in keys if pattern[key] and allowed[key]]
                if among:
                    share = sum(table[i][key] for key in among)
                    sums[kind][0] += share
                    sums[kind][1] += len(among) / sum(allowed)
                    sums[kind][2] += 1
                    scores[kind] += share
            sums["entropy"][0] += entropy(table[i])
            sums["entropy"][1] += math.log(sum(allowed))
            sums["entropy"][2] += 1
            if item == 0:
                last = i
    return sums, scores, last


def compare(name, command, tokens=None, own_of=None, start_of=None, rank=3):
    measured = run("heads", *command, "-f", "json")["heads"]
    told = [command[at + 1] for at in range(len(command)) if command[at] == "--tokens"]
    own = [word for at, word in enumerate(command) if word != "--tokens" and (at == 0 or command[at - 1] != "--tokens")]
    tables = run(*own, "--stages", "weights,masked", "-f", "json")
    dtype = tables["settings"]["dtype"]
    weights, masked = (nested(exact(tables[stage], dtype), rank) for stage in ("weights", "masked"))
    count = len(weights[0][0])
    picked = [command[at + 1] for at in range(len(command)) if command[at] == "-q"]
    first, _, end = picked[0].partition("-") if picked else ("1", "", str(count))
    rows = list(range(int(first) - 1, int(end or first)))
    labels = told[0].split(",") if told else tables.get("key_tokens", tables.get("tokens"))
    if labels is not None and not isinstance(labels[0], list):
        labels = [labels] * len(weights)
    check(f"{name}: a line for each head", len(measured) == len(weights[0]))
    for head, line in enumerate(measured):
        one = [item[head] for item in weights], [item[head] for item in masked]
        sums, scores, last = expected(*one, rows, labels, own_of or (lambda item, query: query),
                                      start_of or (lambda query: 0))
        for kind, (share, uniform, queries) in sums.items():
            right = line[f"{kind}_queries"] == queries
            for key, total in ((kind, share), (f"{kind}_uniform", uniform)):
                right &= (key in line) == (queries > 0)
                right &= queries == 0 or math.isclose(line.get(key, -1), total / queries, rel_tol=1e-9, abs_tol=1e-12)
            check(f"{name}: head {head + 1}: {kind}", right, f"{share} {uniform} {queries}, not {line}")
        if last is None:
            check(f"{name}: head {head + 1}: no query", "query" not in line)
            continue
        row, allowed = one[0][0][last], [key for key, score in enumerate(one[1][0][last]) if score is not None]
        largest = sorted(allowed, key=lambda key: (-row[key], key))[:3]
        check(f"{name}: head {head + 1}: largest keys", line["query"] == rows[last] + 1 and largest ==
              [line[f"key_{i}"] - 1 for i in range(1, 4) if f"key_{i}" in line] and
              all(line[f"key_{i + 1}_weight"] == row[key] for i, key in enumerate(largest)), str(line))
    return measured


def write(name, document):
    path = f"{folder}/{name}.json"
    with open(path, "w") as file:
        json.dump(document, file)
    return path


def table(*shape):
    return [table(*shape[1:]) for _ in range(shape[0])] if shape else round(draw.gauss(0, 1), 3)


def words(count):
    return ",".join(draw.choice("abcd") for _ in range(count))


# Masks, batches and dtypes of multihead, self and causal, drawn.
for turn in range(24):
    tokens, items, heads = draw.randint(1, 40), draw.choice((0, 0, 1, 3)), draw.choice((1, 2, 4))
    shape = f"{items}x{tokens}x8" if items else f"{tokens}x8"
    mechanism = draw.choice(("self", "causal", "multihead", "multihead"))
    command = [mechanism, "--random", shape, "--random-seed", turn, "--scale", draw.choice((0.3, 2, 9))]
    if mechanism == "multihead":
        command += ["-H", heads] + draw.choice(([], ["--no-causal"], ["--kv-heads", 1]))
    command += draw.choice(([], [], ["--window", "3,0"], ["--window", "2,1"], ["--prefix", 4], ["--attention-chunk", 5]))
    if "--prefix" in command and (mechanism == "self" or "--no-causal" in command):
        command = command[:-2]
    command += draw.choice(([], [], ["--dtype", "bf16"], ["--dtype", "f64"], ["--dropout", 0.3]))
    if tokens > 4 and draw.random() < 0.3:
        command += ["-q", f"{draw.randint(1, 3)}-{draw.randint(4, tokens)}"]
    if tokens > 1 and draw.random() < 0.8:
        command += ["--tokens", words(tokens)]
    compare(" ".join(map(str, command)), command, rank=4 if mechanism == "multihead" else 3)

# sdpa: padding, empty rows, sinks, documents, sequences, lengths, queries that are the last tokens, cross-attention.
q, k, v = table(2, 2, 6, 4), table(2, 2, 6, 4), table(2, 2, 6, 4)
right = [[[[key < 4 for key in range(6)]]], [[[True] * 6]]]
left = [[[[key >= 2 for key in range(6)]]], [[[True] * 6]]]
names = [list("abcabc"), list("aabbaa")]
given = {"query": q, "key": k, "value": v, "tokens": names}
for name, mask in (("right", right), ("left", left)):
    mask = [[row * 6 for row in item] for item in mask]
    compare(f"padding at the {name}", ["sdpa", write(name, {**given, "attn_mask": mask}), "--causal"])
    compare(f"padding at the {name}, not causal", ["sdpa", write(name, {**given, "attn_mask": mask})])
empty = [[key < 3 and query != 1 for key in range(6)] for query in range(6)]
for kind in ("zero", "nan", "mean"):
    compare(f"rows without keys: {kind}", ["sdpa", write("empty", {**given, "attn_mask": empty}), "--empty-row", kind])
compare("nothing allowed", ["sdpa", write("none", {**given, "attn_mask": [[False] * 6] * 6})])
compare("sinks", ["sdpa", write("sinks", {**given, "sinks": [0.5, 1]}), "--causal"])
compare("documents", ["sdpa", write("documents", {**given, "document_ids": [0, 0, 0, 1, 1, 1]}), "--causal"])
lengths = write("lengths", {"query": [[row[:2] for row in item] for item in q], "key": k, "value": v,
                            "kv_lengths": [6, 4], "key_tokens": names})
compare("lengths", ["sdpa", lengths, "--causal"], own_of=lambda item, query: query + (4, 2)[item])
past = write("last", {"query": [[row[:2] for row in item] for item in q], "key": k, "value": v, "tokens": names})
compare("the last tokens", ["sdpa", past, "--causal", "--align", "bottom-right"], own_of=lambda item, query: query + 4)
packed = write("packed", {"query": table(7, 2, 4), "key": table(7, 2, 4), "value": table(7, 2, 4),
                          "cu_seqlens_q": [0, 3, 7], "tokens": list("abaabab")})
compare("sequences", ["sdpa", packed, "--causal"], start_of=lambda query: 0 if query < 3 else 3, rank=4)
cross = write("cross", {"inputs": table(3, 8), "key_inputs": table(5, 8), "tokens": list("abc"),
                        "key_tokens": list("abcab")})
compare("cross-attention", ["multihead", cross, "-H", 2], own_of=lambda item, query: None, rank=4)

# TransformerLens divides by all queries: its score is mean x queries / T, without masks but the causal one.
command = ["multihead", "--random", "20x8", "-H", "2", "--tokens", words(20)]
for head, line in enumerate(compare("TransformerLens", command, rank=4)):
    weights = run(*command[:-2], "--stages", "weights", "-f", "json")["weights"][head]
    labels = command[-1].split(",")
    same = [[key < query and labels[key] == labels[query] for key in range(20)] for query in range(20)]
    patterns = {"previous": [[key == query - 1 for key in range(20)] for query in range(20)], "duplicate": same,
                "induction": [[0 < key <= query and same[query][key - 1] for key in range(20)] for query in range(20)]}
    for kind, pattern in patterns.items():
        score = sum(weights[i][j] for i in range(20) for j in range(20) if pattern[i][j]) / sum(map(sum, weights))
        check(f"TransformerLens: {kind}", math.isclose(score, line.get(kind, 0) * line[f"{kind}_queries"] / 20, rel_tol=1e-6))

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
