#!/bin/sh
# SPDX-License-Identifier: MIT
# The trained heads of data/: on the sentences of trained.jsonl, which training has not seen, what those of trained.json
# answer, where each looks, and what falls without it; and the induction head. attn computes all of it.
. tests/counts.sh
if ! has_module json; then
    skip "the trained heads" "no $python"
    finish
fi
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

"$python" - <<'END' "$scratch" || exit 1
import json, sys
trained, sentences = json.load(open("data/trained.json")), [json.loads(line) for line in open("tests/trained.jsonl")]
longest = max(len(sentence["words"]) for sentence in sentences)
trained["tokens"] = [(sentence["words"] + ["."] * longest)[:longest] for sentence in sentences]
del trained["text"]
json.dump(trained, open(sys.argv[1] + "/all.json", "w"))
END
"$attn" multihead "$scratch/all.json" -f json --stages weights,probabilities -o "$scratch/heads-0.json" || exit 1
for head in 1 2 3 4; do
    "$attn" multihead "$scratch/all.json" -f json --stages probabilities --without-heads $head \
        -o "$scratch/heads-$head.json" || exit 1
done

# "verb 0 1.000", "verb 1 0.087": the share of right answers with all heads, and without head 1. "1 subject 0.992": the
# mean weight of head 1 on the subject, after it.
"$python" - <<'END' "$scratch" >"$scratch/figures" || exit 1
import json, sys
sentences = [json.loads(line) for line in open("tests/trained.jsonl")]
words = json.load(open("data/trained.json"))["vocabulary"]["words"]
verbs = {answer for sentence in sentences for kind, _, answer in sentence["questions"] if kind == "verb"}
runs = [json.load(open(f"{sys.argv[1]}/heads-{head}.json")) for head in range(5)]
for kind in ("verb", "name", "close", "place"):
    for head, run in enumerate(runs):
        hits = []
        for sentence, rows in zip(sentences, run["probabilities"]):
            for _, position, answer in (question for question in sentence["questions"] if question[0] == kind):
                of_word = dict(zip(words, rows[position - 1]))
                among = verbs if kind == "verb" else words
                hits.append(max(among, key=of_word.get) == answer)
        print(kind, head, f"{sum(hits) / len(hits):.3f}")
for head in range(4):
    for job in ("subject", "name", "bracket", "previous"):
        shares = []
        for sentence, weights in zip(sentences, runs[0]["weights"]):
            rows = range(sentence["jobs"].get(job, len(weights[head])), len(sentence["words"]) - 1)
            if job == "previous":
                rows = range(1, len(sentence["words"]) - 1)
            shares += [weights[head][row][row - 1 if job == "previous" else sentence["jobs"][job]] for row in rows]
        print(head + 1, job, f"{sum(shares) / len(shares):.3f}")
END
figure() { # NAME LOW HIGH: a line of figures, and where its number must be
    awk -v name="$1" -v low="$2" -v high="$3" '$1 " " $2 == name { found = $3 >= low && $3 <= high; said = $3 }
        END { if (!found) print name " is " said; exit !found }' "$scratch/figures"
}

head=0
for pair in verb:subject name:name close:bracket place:previous; do
    kind=${pair%:*} job=${pair#*:} head=$((head + 1))
    check "a $kind is predicted rightly" figure "$kind 0" 0.99 1
    check "head $head looks at the $job" figure "$head $job" 0.97 1
    for other in 1 2 3 4; do
        if [ $other -eq $head ]; then
            check "a $kind needs head $head" figure "$kind $other" 0 0.35
        else
            check "a $kind does not need head $other" figure "$kind $other" 0.97 1
            check "head $other does not look at the $job" figure "$other $job" 0 0.35
        fi
    done
done

# The story of the manual: each word that is added is the one that the model predicted before.
text="anna says ( the dogs near the cat"
for word in bark ')' and anna smiles .; do
    "$attn" multihead data/trained.json --text "$text" --stages probabilities -f json -o "$scratch/story.json" || exit 1
    check "'$word' comes after '$text'" "$python" -c '
import json, sys
words = json.load(open("data/trained.json"))["vocabulary"]["words"]
row = json.load(open(sys.argv[1]))["probabilities"][-1]
sys.exit(words[row.index(max(row))] != sys.argv[2])' "$scratch/story.json" "$word"
    text="$text $word"
done

# The checkpoint of data/induction: in the second "planets", head 1 of layer 0 looks at the letter before, head 1 of
# layer 1 at the letter after the same one in the first; data/induction.json is that head.
for layer in 0 1; do
    "$attn" layer data/induction/hidden-$layer.safetensors -w data/induction --layer $layer --residual -f json \
        --stages weights -o "$scratch/layer-$layer.json" || exit 1
done
"$attn" causal data/induction.json -f json --stages weights -o "$scratch/head.json" || exit 1
looks() { # FILE DISTANCE HEAD...: the least weight of the rows 8 to 14 on the key at that distance
    "$python" -c '
import json, sys
weights = json.load(open(sys.argv[1]))["weights"]
for head in sys.argv[3:]:
    weights = weights[int(head)]
sys.exit(not min(weights[row][row - int(sys.argv[2])] for row in range(7, 14)) > 0.9)' "$@"
}
check "layer 0 finds the letter before" looks "$scratch/layer-0.json" 1 0
check "layer 1 finds what came next the last time" looks "$scratch/layer-1.json" 6 0
check "the built-in head is that of layer 1" looks "$scratch/head.json" 6
finish
