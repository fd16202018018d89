#!/bin/sh
# SPDX-License-Identifier: MIT
# attn's JSON, as an input, gives the same bytes again, for every mechanism and setting; so does .safetensors.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/batch.json" <<'END'
{"tokens": [["a", "b", "c"], ["d", "\u00e9\t", "f"]],
 "inputs": [[[1.5, -2, 0.25], [3, 4e-7, 1e20], [0, -0.0, 7]], [[0.1, 0.2, 0.3], [1e-45, 5, 6], [7, 8, 9]]]}
END

# same INPUT MECHANISM OPTIONS...: the second pass gets only the mechanism.
same() {
    input=$1 mechanism=$2
    shift 2
    "$attn" "$mechanism" "$@" -f json <"$input" >"$scratch/first" &&
        "$attn" "$mechanism" -f json <"$scratch/first" >"$scratch/second" &&
        cmp "$scratch/first" "$scratch/second" &&
        "$attn" "$mechanism" -f safetensors <"$scratch/first" >"$scratch/binary" &&
        "$attn" "$mechanism" -f json <"$scratch/binary" | cmp "$scratch/first" -
}

for input in data/inputs.json "$scratch/batch.json"; do
    for command in self causal 'multihead -H 1' 'multihead -H 2 -d 4' 'multihead -H 3 --stacked' \
        'multihead -H 2 -d 2 --no-causal'; do
        for options in '' '--init rand' '--init randn' '--init randn -d 12' '--qkv-bias' '--seed 18446744073709551615 --skip 7' \
            '--rng torch-scalar' '--dropout 0.5' '--dropout 0.1 --dropout-seed 9' '--dropout 0.3 --init randn' \
            '--dropout 0.7 --rng torch-mkl --qkv-bias' '--query 2' '--query 1,3 --dropout 0.5' '--context-length 6'; do
            one_in 3 || continue
            check "$command $options" same "$input" $command $options
        done
    done
done
finish
