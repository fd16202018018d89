#!/bin/sh
# SPDX-License-Identifier: MIT
# How long attn why takes until it answers: every mistake alone, then every pair. The answer is checked before it is timed; no
# peer asks such a question, so the bound is a time, of the best of several.
build=${1:?usage: tests/bench/why.sh BUILD}
. tests/bench/begin.sh

within() { # NAME RUNS SECONDS FORMAT STAGE MISTAKES COMMAND...
    name=$1 runs=$2 most=$3 mine=$scratch/mine.$4 stage=$5 mistakes=$6
    shift 6
    "$attn" "$@" --mistake "$mistakes" --stages "$stage" -o "$mine" || exit 1
    "$attn" why "$@" --mine "$mine" -f json >"$scratch/answer.json"
    names=$(echo "$mistakes" | sed 's/,/", "/g')
    grep -qF "\"explanations\": [{\"mistakes\": [\"$names\"]" "$scratch/answer.json" ||
        { echo "the answer is wrong"; cat "$scratch/answer.json"; exit 1; }
    tried=$(sed -n 's/.*"tried": {"mistakes": \([0-9]*\), "pairs": \([0-9]*\),.*/\1 alone, \2 pairs/p' "$scratch/answer.json")
    seconds=$("$build/bench_measure" "$runs" "$attn" why "$@" --mine "$mine") || exit 1
    seconds=${seconds% *}
    held=$(at_most "$seconds" "$most" s) || worst=1
    printf '%-46s %9.4f s %26s (%s)\n' "$name" "$seconds" "$tried" "$held"
}

printf '\n%-46s %12s %25s\n' "attn why, best of several" attn tried
within "the book's six tokens, one mistake" 20 "$(goal 0.05)" json context softmax-queries causal data/inputs.json -s 789
within "the same, two" 10 "$(goal 2)" json context scale-missing,softmax-queries causal data/inputs.json -s 789
within "sdpa, T 128, 8 heads of 64, one mistake" 5 "$(goal 2)" npy context scale-missing sdpa --causal --random 8x128x64
within "multihead, T 128, 8 heads of 64, one mistake" 5 "$(goal 2)" npy output merge-view multihead -H 8 --random 128x512
exit $worst
