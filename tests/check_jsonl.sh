#!/bin/sh
# SPDX-License-Identifier: MIT
# --jsonl: each line gives the bytes of its job alone, in order, on any number of threads; wrong lines are lines too.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Jobs of one mechanism: each line of input, then the same job as a command line with a file.
job() { # MECHANISM LINE [OPTION...]: the line may have "options", which the command line then has as OPTION...
    mechanism=$1 line=$2
    shift 2
    echo "$line" >>"$scratch/$mechanism.jsonl"
    echo "$line" | sed 's/, "options": {[^}]*}//; s/{"options": {[^}]*}}/{}/' >"$scratch/file.json"
    case " $* " in *' --random '*) ;; *) set -- "$@" "$scratch/file.json" ;; esac
    "$attn" "$mechanism" -f json "$@" >"$scratch/pretty" || return
    compact <"$scratch/pretty" >>"$scratch/$mechanism.expected"
}
compact() {
    tr '\n' ' ' | sed 's/\([[,:]\) */\1/g; s/ *$//'
    echo
}
same() { # MECHANISM OPTION...
    mechanism=$1
    shift
    "$attn" "$mechanism" --jsonl "$@" "$scratch/$mechanism.jsonl" | cmp - "$scratch/$mechanism.expected"
}

inputs='"inputs": [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64]]'
check "a job alone" job causal "{$inputs}"
check "tokens and settings" job causal "{\"tokens\": [\"Your\", \"journey\", \"é\"], $inputs, \"settings\": {\"seed\": 9}}"
check "an option" job causal "{$inputs, \"options\": {\"stages\": \"weights,context\"}}" --stages weights,context
check "options of every kind" job causal \
    "{$inputs, \"options\": {\"d-out\": 2, \"dtype\": \"f64\", \"scale\": 0.25, \"qkv_bias\": true, \"query\": \"2-3\"}}" \
    -d 2 --dtype f64 --scale 0.25 --qkv-bias -q 2-3
check "gradients" job causal "{$inputs, \"options\": {\"grad\": \"ones\"}}" --grad ones
check "drawn inputs" job causal '{"options": {"random": "40x8", "random_seed": 3}}' --random 40x8 --random-seed 3
check "a mistake" job causal "{$inputs, \"options\": {\"mistake\": \"scale-missing\"}}" --mistake scale-missing
check "steps" job causal "{$inputs, \"options\": {\"steps\": true}}" --steps
check "the fused path" job causal '{"options": {"random": "300x64", "kernel": "fused", "stages": "context"}}' \
    --random 300x64 --kernel fused --stages context
for threads in 1 2 7; do check "the same bytes on $threads threads" same causal -t $threads; done

check "heads" job multihead "{$inputs, \"options\": {\"heads\": 3, \"causal\": false}}" -H 3 --no-causal
check "heads as a setting" job multihead "{$inputs, \"settings\": {\"heads\": 1}}"
check "the same bytes of several heads" same multihead
check "query, key and value" job sdpa '{"query": [[[1, 2]], [[3, 4]]], "key": [[[1, 0]], [[0, 1]]], "value": [[[5]], [[6]]]}'
check "a mask" job sdpa '{"query": [[1, 2]], "key": [[1, 0], [0, 1]], "value": [[5], [6]], "attn_mask": [[true, false]]}'
check "the same bytes of sdpa" same sdpa

# The options of the command line are those of each line, which may have others; its files are read once.
"$attn" init self -d 2 data/inputs.json -o "$scratch/weights.json"
echo "{$inputs}
{$inputs, \"options\": {\"stages\": \"scores\"}}" >"$scratch/two.jsonl"
echo "{$inputs}" >"$scratch/one.json"
for stage in context scores; do
    "$attn" self -w "$scratch/weights.json" --stages $stage -f json "$scratch/one.json" | compact
done >"$scratch/expected"
both() { "$attn" self --jsonl -w "$scratch/weights.json" --stages context <"$scratch/two.jsonl" | cmp - "$scratch/expected"; }
check "options and files of the command line" both
check "a result is a line to read again" sh -c '"$1" self --jsonl "$2" >"$3/a" && "$1" self --jsonl "$3/a" | cmp - "$3/a"' - \
    "$attn" "$scratch/one.json" "$scratch"
check "into a file" sh -c '"$1" self --jsonl "$2" -o "$3/out.jsonl" && cmp "$3/out.jsonl" "$3/a"' - "$attn" "$scratch/one.json" "$scratch"
check "no lines" sh -c '! "$1" self --jsonl </dev/null | grep .' - "$attn"

# Wrong lines keep their numbers; blank ones count, and give nothing; the others are not harmed.
printf '%s\n' "{$inputs}" '' ' 	' '{"inputs": [[1, 2], [3]]}' 'nothing' '[1]' '{}' "{$inputs, \"options\": {\"seeds\": 1}}" \
    "{$inputs, \"options\": {\"threads\": 1}}" "{$inputs, \"options\": {\"out\": \"x\"}}" "{$inputs, \"options\": 1}" \
    "{$inputs, \"options\": {\"heads\": 1}}" "{$inputs, \"options\": {\"no_answers\": true}}" \
    "{$inputs, \"options\": {\"random\": \"2x2\"}}" "{$inputs, \"options\": {\"seed\": \"x\"}}" '{"inputs": [[1, 2' >"$scratch/wrong.jsonl"
printf '{%s}\r\n{%s}' "$inputs" "$inputs" >>"$scratch/wrong.jsonl" # the last one has no newline
"$attn" self --jsonl -t 3 "$scratch/wrong.jsonl" >"$scratch/out" 2>"$scratch/said"
check "exit status 1" test $? -eq 1
check "it says how many failed" grep -qx 'attn: 13 of 16 lines failed; the first is line 4' "$scratch/said"
check "their numbers, in order" test "$(sed -n 's/^{"line":\([0-9]*\),"error":{"status":2,"message":".*}}$/\1/p' "$scratch/out" | tr '\n' ' ')" = \
    '4 5 6 7 8 9 10 11 12 13 14 15 16 '
check "the lines before and after them" sh -c 'sed -n 1p "$1/out" | cmp - "$1/a" && sed -n "\$p" "$1/out" | cmp - "$1/a"' - "$scratch"
check "the place of wrong syntax" grep -qF '"line":5,"error":{"status":2,"message":"'"$scratch"'/wrong.jsonl:5:1: expected a value' "$scratch/out"

# Bytes that no writer of JSON sends.
hostile() {
    awk 'BEGIN {
        srand(7); keys = "inputs tokens settings options weights query seed random heads attn"; n = split(keys, key)
        for (i = 0; i < 400; i++) {
            line = "{\"inputs\": [[0.43, 0.15], [0.55, 0.87]], \"" key[1 + int(rand() * n)] "\": {\"seed\": 1}, \"options\": {\"" key[1 + int(rand() * n)] "\": \"2x3\"}}"
            at = 1 + int(rand() * length(line))
            printf "%s%c%s\n", substr(line, 1, at - 1), 33 + int(rand() * 200), substr(line, at + int(rand() * 3))
        }
        for (i = 0; i < 3000; i++) printf "["
        printf "\n{\"inputs\": "; for (i = 0; i < 999; i++) printf "["
        printf "\n"
    }'
    printf '{"inputs": [[1]]\0}\n\377\376\n\0\n{"inputs": [[1e999]]}\n{"options": {"random": "99999999x99999999"}}\n'
}
LC_ALL=C hostile >"$scratch/hostile.jsonl"
"$attn" self --jsonl -t 4 "$scratch/hostile.jsonl" >"$scratch/out" 2>"$scratch/said"
check "hostile lines: exit status 1" test $? -eq 1
check "hostile lines: a line for each" test "$(wc -l <"$scratch/out")" -eq "$(LC_ALL=C grep -c . "$scratch/hostile.jsonl")"
check "hostile lines: each of them JSON" sh -c '! grep -v "^{.*}$" "$1/out"' - "$scratch"

# A line is answered before the next one is there.
mkfifo "$scratch/asks" "$scratch/answers"
"$attn" self --jsonl <"$scratch/asks" >"$scratch/answers" &
exec 8>"$scratch/asks" 9<"$scratch/answers"
for turn in 1 2 3; do
    echo "{$inputs}" >&8
    read -r answer <&9
    check "answer $turn comes at once" test "$answer" = "$(cat "$scratch/a")"
done
exec 8>&-
wait $!
check "the end of the input is the end" test $? -eq 0
exec 9<&-

# A reader that goes away ends it, without a word.
awk -v line="{$inputs}" 'BEGIN { for (i = 0; i < 5000; i++) print line }' >"$scratch/many.jsonl"
{ "$attn" self --jsonl "$scratch/many.jsonl" 2>"$scratch/said"; echo $? >"$scratch/status"; } | head -n 1 >"$scratch/out"
check "the first line is whole" cmp "$scratch/out" "$scratch/a"
check "attn ends as with every closed pipe" test "$(cat "$scratch/status")" -eq 3 -a ! -s "$scratch/said"
check "5000 lines, each in its place" sh -c '"$1" self --jsonl "$2/many.jsonl" | sort -u | cmp - "$2/a"' - "$attn" "$scratch"

check "a checkpoint is read once" sh -c 'echo "{\"inputs\": [[1]], \"options\": {\"heads\": 2}}" |
    "$1" layer --jsonl -w tests/layers/llama-3 --layer 0 2>/dev/null | grep -q "once for all lines; type --heads"' - "$attn"
check "no other format" sh -c '"$1" self --jsonl -f csv </dev/null 2>&1 | grep -q "writes json, not csv"' - "$attn"
check "a folder is no stream" sh -c '"$1" self --jsonl / 2>/dev/null; test $? -eq 3' - "$attn"
finish
