# SPDX-License-Identifier: MIT
"""attn help schema, held to what attn writes.

    python3 tests/schema/validate.py ATTN FOLDER

Golden tables of PyTorch in the form of a result; command lines of every kind that writes JSON, some with options drawn
at random (ATTN_SEED, another number draws others); copies of these with one thing wrong, which the schema refuses. The
last line counts as the scripts do."""
import copy
import glob
import json
import os
import random
import subprocess
import sys

import jsonschema

attn, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
draw = random.Random(int(os.environ.get("ATTN_SEED", "1")))
passed = failed = 0


def run(*words):
    done = subprocess.run([attn, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout if done.returncode in (0, 1) else None


schema = json.loads(run("help", "schema"))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
KINDS = {reference["$ref"].split("/")[-1]: validator.evolve(schema={**reference, "$defs": schema["$defs"]})
         for reference in schema["oneOf"]}


def check(name, holds, message=""):
    global passed, failed
    passed += holds
    failed += not holds
    if not holds:
        print(f"FAILED: {name}: {message}")


def place_of(error):
    return "/".join(str(step) for step in error.absolute_path) + ": " + error.message[:200]


def valid(name, kind, document):
    error = jsonschema.exceptions.best_match(KINDS[kind].iter_errors(document))
    check(name, error is None, error and place_of(error))
    others = [other for other in KINDS if other != kind and KINDS[other].is_valid(document)]
    check(f"{name} is of one kind", not others, others)


# PyTorch's tables under the names that a result has for them.
for path in sorted(glob.glob("tests/golden/*.json") + glob.glob("tests/golden/float64/*.json")):
    golden = json.load(open(path))
    if "stages" in golden:
        valid(path, "result", {"attn": "0", "format": schema["$defs"]["format"]["const"],
                               "mechanism": golden["settings"]["mechanism"], "settings": {}, "inputs": golden["inputs"],
                               **golden["parameters"], **golden["stages"]})

# One document of each kind and more, by command line; * is the folder.
run("causal", "data/inputs.json", "-o", f"{folder}/a.json")
run("causal", "data/inputs.json", "--dropout", "0.5", "--without", "starts", "-o", f"{folder}/b.json")
run("causal", "data/inputs.json", "--mistake", "scale-missing", "--stages", "context", "-o", f"{folder}/wrong.json")
run("causal", "data/inputs.json", "--seed", "124", "--stages", "context", "-o", f"{folder}/odd.json")
run("sdpa", "--random", "2x4x6x8", "--causal", "--grad", "ones", "-o", f"{folder}/grad.json")
run("causal", "data/inputs.json", "--dtype", "f64", "-o", f"{folder}/wide.json")
for name, line in (("bad", '{"inputs": [[1, 2], [3 4]]}'), ("good", '{"inputs": [[1, 2], [3, 4]]}')):
    with open(f"{folder}/{name}.jsonl", "w") as file:
        file.write(line + "\n")
run("cases", f"{folder}/cases", "--d-head", "2", "--max-tokens", "16")
for number, path in enumerate(sorted(glob.glob(f"{folder}/cases/*/expected_context.npy"))):
    if number % 3 < 2:  # the others are missing
        os.link(path, path.replace("expected_", "") if number % 3 else path.replace("expected_context", "cntext"))
run("self", "--random", "3x4", "--stages", "inputs", "-o", f"{folder}/keys.npy")
for k in "12":
    run("causal", "data/inputs.json", "--part", f"{k}/2", "--stages", "context", "-o", f"{folder}/part-{k}.safetensors")
SAID = [
    ("result", "self data/inputs.json"),
    ("result", "causal data/inputs.json -q 2,4-5 --stages weights,lse,entropy"),
    ("result", "causal data/inputs.json --seed 18446744073709551615 --dropout 0.5 --dropout-seed 9007199254740993"),
    ("result", "multihead data/patterns.json -H 3 --grad ones"),
    ("result", "multihead data/batch.json -H 2 --stacked --qkv-bias --rope half --window 2,0"),
    ("result", "multihead --random 5x4 -H 2 --key-inputs */keys.npy --no-causal"),
    ("result", "self data/inputs.json --scale 3e300 --dtype f64"),
    ("result", "sdpa data/grouped.json --stages query,key,value,weights,lse,present_key"),
    ("result", "sdpa data/packed.json"), ("result", "sdpa data/paged.json --stages inputs,context"),
    ("result", "init multihead -H 2 data/inputs.json"), ("result", "multihead data/trained.json"),
    ("heads", "heads data/trained.json"), ("heads", "heads -w data/induction data/induction --residual"),
    ("heads", "heads sdpa data/packed.json --causal"), ("heads", "heads --random 2x1x4"),
    ("result", "layer tests/layers/qwen3/hidden.npy -w tests/layers/qwen3 --layer 1"),
    ("result", "layer tests/layers/llama-3/residual.npy -w tests/layers/llama-3 --layer 1 --residual --grad ones"),
    ("result", "join */part-1.safetensors */part-2.safetensors"),
    ("steps", "causal data/inputs.json --steps"),
    ("steps", "sdpa --random 2x4x9x8 --causal --steps --prefill 3 --chunk 2 --kernel fused"),
    ("diff", "diff */a.json */a.json"), ("diff", "diff */a.json */b.json"), ("diff", "diff */a.json */wrong.json"),
    ("diff", "diff */grad.json */grad.json"), ("diff", "diff */a.json */wide.json"),
    ("why", "why causal data/inputs.json --mine */wrong.json"), ("why", "why causal data/inputs.json --mine */odd.json"),
    ("why", "why causal data/inputs.json --mine */a.json --budget 1"),
    ("cases", "cases --check */cases"),
    ("checkpoint", "layer -w tests/layers/llama-3"), ("checkpoint", "layer -w tests/layers/t5-cross"),
    ("config", "layer -w tests/layers/qwen3 --layer 1 --explain config"),
    ("line", "self --jsonl */bad.jsonl"), ("result", "self --jsonl */good.jsonl"),
]
SAID += [("result", f"sdpa {path} --stages inputs,masked,weights,lse,context")
         for path in sorted(glob.glob("tests/golden/sdpa/*.safetensors")) if ".expected" not in path]
for path in sorted(glob.glob("tests/layers/*/case.json")):
    layer, case = os.path.dirname(path), json.load(open(path))
    SAID += [("checkpoint", f"layer -w {layer}"), ("config", f"layer -w {layer} --module {case['module']} --explain config")]
samples = {}
for kind, line in SAID:
    text = run(*line.replace("*", folder).split(), "-f", "json")
    check(line, text is not None, "writes nothing")
    if text is not None:
        document = json.loads(text)
        valid(line, kind, document)
        samples.setdefault(kind, document)
for path in sorted(glob.glob(f"{folder}/cases/*/case.json")):
    samples["case"] = json.load(open(path))
    valid(path, "case", samples["case"])
check("every kind has a sample", sorted(samples) == sorted(KINDS), sorted(samples))

# A hundred command lines at random.
SOURCES = [["data/inputs.json"], ["data/batch.json"], ["--random", "7x8"], ["--random", "2x5x4"]]
OPERANDS = [["data/grouped.json"], ["data/packed.json"], ["data/kernel-causal.json"], ["--random", "2x4x6x8"],
            ["--random", "5x3"]]
OPTIONS = """-q 2-3|--stages weights,context|--grad ones|--dtype f64|--dtype f16|--dtype bf16|--scale 1/8|--temperature 2
--softcap 2|--window 1,0|--empty-row nan|--rope half|--rope pairs --rope-theta 100|--positions 7|--alibi slopes
--dropout 0.5|--without 2|--steps|--mistake scale-missing|--mistake softmax-axis|--softmax-dtype f16
--rounding operations|--clip 0.5|--kernel reference|--prefix 2|--attention-chunk 2|--scale-on query
--stages lse,entropy|--stages masked|--scale 1e30|--rope-scaling linear:factor=8""".replace("\n", "|").split("|")
written = 0
for attempt in range(400):
    mechanism = draw.choice(["self", "causal", "multihead", "multihead", "sdpa", "sdpa"])
    words = [mechanism, *draw.choice(OPERANDS if mechanism == "sdpa" else SOURCES)]
    words += ["-H", "2", "-d", "4"] if mechanism == "multihead" else []
    for option in draw.sample(OPTIONS, draw.randint(0, 5)):
        words += option.split()
    text = run(*words, "-f", "json")
    if text is not None:  # options that do not go together are refused
        valid(" ".join(words), "steps" if "--steps" in words else "result", json.loads(text))
        written += 1
    if written == 100:
        break
check("a hundred command lines write JSON", written == 100, written)


# Each member left out, of another type, or beside one that is unknown. What may be missing or be any table is not tried.
def broken(kind, document):
    for key in schema["$defs"][kind]["required"]:
        yield f"without {key}", {name: value for name, value in document.items() if name != key}
    for key in document:
        yield f"{key} is true and a list", {**document, key: [True]}
        nested = document[key][0] if isinstance(document[key], list) and document[key] else document[key]
        if isinstance(nested, dict) and (kind, key) not in {("diff", "settings"), ("diff", "sources"), ("diff", "stages")}:
            wrong = copy.deepcopy(document)
            (wrong[key][0] if isinstance(wrong[key], list) else wrong[key])["weigths"] = 1
            yield f"{key} has an unknown member", wrong
    yield "a later format", {**document, "format": 2}
    yield "an unknown member", {**document, "weigths": [[1]]}


for kind, document in samples.items():
    for name, wrong in broken(kind, document):
        check(f"{kind}, {name}, is refused", not validator.is_valid(wrong), "the schema takes it")
for name, wrong in [("rank 1", [1, 2]), ("rank 5", [[[[[1]]]]]), ("words", [["1"]]), ("a mixture", [1, [2]]),
                    ("-Infinity", [["-Infinity"]])]:
    check(f"weights of {name} are refused", not validator.is_valid({**samples["result"], "weights": wrong}), wrong)

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
