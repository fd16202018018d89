#!/bin/sh
# SPDX-License-Identifier: MIT
# Every --mistake in some jobs: its result as an input gives the same bytes, for any number of threads and from parts;
# every format takes it, and diff names it.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

names=$(sed -n 's/.*\.name = "\([a-z0-9-]*\)".*/\1/p' src/model/mistake_rows.h)
names="$names values-shifted:previous-round lengths-missing:queries-last split-missing:by-d-head alibi-one-head-off:earlier
    draw-order:vkq draw-layer:0 norm-eps:0.25 rope-theta:50 keys-padding-counted:4 fill-small:2"
made='' # that some job has
turn=0
least=20
[ -z "${ATTN_WHOLE-}" ] || least=100

# each NAME: its files are in $scratch, result.json and others. Exit 2 of the first run is a rejection with a reason.
again() { "$attn" "$mechanism" $input "$scratch/result.json" -f json 2>"$scratch/said" | cmp -s - "$scratch/result.json"; }
by_threads() { "$attn" "$@" --mistake "$name" --threads 3 -f json | cmp -s - "$scratch/result.json"; }
in_parts() {
    "$attn" "$@" --mistake "$name" --part 1/2 -o "$scratch/1.safetensors" &&
        "$attn" "$@" --mistake "$name" --part 2/2 -o "$scratch/2.safetensors" &&
        "$attn" join "$scratch/1.safetensors" "$scratch/2.safetensors" -f json >"$scratch/joined.json" &&
        "$attn" "$@" --mistake "$name" -f json | cmp -s - "$scratch/joined.json"
}
binary_again() {
    "$attn" "$@" --mistake "$name" -o "$scratch/a.safetensors" &&
        "$attn" "$mechanism" $input "$scratch/a.safetensors" -o "$scratch/b.safetensors" &&
        cmp -s "$scratch/a.safetensors" "$scratch/b.safetensors"
}
told() { # where the numbers differ from the right ones; the head line of text tells of it always
    "$attn" diff "$scratch/right.json" "$scratch/result.json" >"$scratch/diff" 2>&1
    case $?$name in 0* | 1* | 2draw-[dhs]* | 2out-missing) ;; *) return 1 ;; esac # other heads, other shapes
    { ! grep -q '^different' "$scratch/diff" || grep -q "mistake $name" "$scratch/diff"; } &&
        "$attn" "$@" --mistake "$name" | head -n 12 | tr -d '\n' | grep -q "mistake  *$name"
}
in_turn() { [ -n "${ATTN_ALL-}" ] || [ $((turn % 3)) -eq "$1" ]; } # one of three for each mistake in each job
shown() { "$attn" "$@" >"$scratch/out" && test -s "$scratch/out"; }
formats() { # the next one; with ATTN_ALL all of them
    at=0
    for format in '-f csv' '-f markdown' '-f latex' '-f svg' --heatmap --explain; do
        at=$((at + 1))
        [ -n "${ATTN_ALL-}" ] || [ $at -eq $((turn % 6 + 1)) ] || continue
        shown "$@" --mistake "$name" $format || return 1
    done
    turn=$((turn + 1))
}

job() { # MECHANISM OPTION...: a job in which every mistake is tried; $input are the stages that make it an input again
    mechanism=$1
    "$attn" "$@" $input -f json >"$scratch/right.json"
    check "the right result of $*" test -s "$scratch/right.json"
    for name in $names; do
        one_in 2 || continue
        "$attn" "$@" --mistake "$name" $input -f json >"$scratch/result.json" 2>"$scratch/message"
        case $? in
        0) ;;
        2)
            check "$name: $*: why it is refused" grep -q "^attn: --mistake: ${name%:*} cannot be made here: ." "$scratch/message"
            continue
            ;;
        *) check "$name: $*: $(cat "$scratch/message")" false ;;
        esac
        made="$made $name"
        case $name in
        layer-norm-after | layer-out-normed)
            again
            check "$name: read back, it needs the checkpoint" grep -q 'there is no checkpoint$' "$scratch/said"
            continue
            ;;
        esac
        check "$name: read back, the same bytes" again
        in_turn 0 && check "$name: by three threads" by_threads "$@" $input
        in_turn 1 && check "$name: in binary, too" binary_again "$@" $input
        in_turn 2 && check "$name: in parts" in_parts "$@"
        check "$name: diff and text tell of it" told "$@"
        check "$name: in other formats" formats "$@"
    done
}

echo '{"query": [[[[1, 2], [0, 1], [1, 1]], [[2, 0], [1, -1], [0, 2]]]], "key": [[[[1, 0], [0, 1], [1, 1], [2, 0]]]],
    "value": [[[[1, 3], [2, -1], [3, 0], [4, 2]]]], "sinks": [0.5, -1], "alibi_slopes": [0.5, 0.25],
    "kv_lengths": [3], "attn_mask": [[true, false, true, true], [true, true, true, true], [false, false, true, true]]}' \
    >"$scratch/kernel.json"
input=''
job multihead -H 2 -d 4 --init rand --dropout 0.5 data/inputs.json
if [ -n "${ATTN_WHOLE-}" ]; then
    input='--stages inputs,scores,scaled,capped,masked,weights,context,lse'
    job sdpa "$scratch/kernel.json" --softcap 2 --window 2,-1
    input='--stages inputs,weights,context'
    job sdpa data/packed.json --causal
    job sdpa data/paged.json
    input=''
    job causal -s 789 --window 2,-1 --dtype f16 data/inputs.json
    job multihead -H 4 --kv-heads 2 -d 8 --qkv-bias data/batch.json
    job multihead -H 3 -d 2 --stacked --no-causal data/inputs.json
    job multihead -H 2 -d 8 --rope half --rope-columns 2 --qk-norm rms --scale-on query --positions 1-4 data/batch.json
    input='--stages inputs,parameters,weights,context,output' # without its parameters it would need the checkpoint
    job layer tests/layers/gemma-3-full/residual.npy -w tests/layers/gemma-3-full --layer 1 --module model.layers.1.self_attn --residual
else
    echo 'one of nine jobs and half of the mistakes: with ATTN_WHOLE=1, as in .ci/run, all'
fi
[ -n "${ATTN_ALL-}" ] || echo 'for each mistake one format, and threads, binary or parts: with ATTN_ALL=1, as in release-check, all'
check "most are made" test "$(printf '%s\n' $made | sort -u | wc -l)" -gt "$least"

# A part with another mistake, or without one, belongs to another job.
"$attn" self data/inputs.json --mistake softmax-queries --part 1/2 -o "$scratch/1.safetensors"
for other in '--mistake softmax-all' ''; do
    "$attn" self data/inputs.json $other --part 2/2 -o "$scratch/2.safetensors"
    "$attn" join "$scratch/1.safetensors" "$scratch/2.safetensors" -f json >"$scratch/out" 2>"$scratch/message"
    check "a part with another mistake is refused: $other" test $? -eq 2
    check "and why" grep -q 'belongs to another job' "$scratch/message"
done

# A mistake replaces the dtype.
for dtype in f16 bf16; do
    "$attn" sdpa "$scratch/kernel.json" --mistake dtype-$dtype --stages weights -f json | sed 's/, "mistake": "[^"]*"//' >"$scratch/a"
    "$attn" sdpa "$scratch/kernel.json" --dtype $dtype --stages weights -f json >"$scratch/b"
    check "dtype-$dtype is --dtype $dtype" cmp "$scratch/a" "$scratch/b"
done
finish
