#!/bin/sh
# SPDX-License-Identifier: MIT
# Whole processes on long inputs: attn multihead against PyTorch, files in and out, and how time and memory grow with T.
# PYTHON names the interpreter that has NumPy and PyTorch.
build=${1:?usage: tests/bench/long.sh BUILD}
. tests/bench/begin.sh

make_inputs() { # T D
    awk -v tokens="$1" -v width="$2" 'BEGIN { srand(1); printf "{\"inputs\": ["
        for (i = 0; i < tokens; i++) {
            printf "%s[", i ? "," : ""
            for (j = 0; j < width; j++) printf "%s%.4f", j ? "," : "", 4 * (rand() + rand() + rand() - 1.5)
            printf "]"
        }
        print "]}" }' | "$attn" self --stages inputs -o "$scratch/x$1.npy"
}

if "$python" -c 'import torch, numpy' 2>/dev/null; then
    peer="$python tests/bench/peer_multihead.py"
    $peer make "$scratch/x.npy" 4096 768
    "$attn" multihead -H 12 "$scratch/x.npy" --stages output -o "$scratch/a.npy" || exit 1
    $peer run "$scratch/x.npy" "$scratch/b.npy" 12 && $peer check "$scratch/a.npy" "$scratch/b.npy" || exit 1
    printf '\n%-46s %12s %12s\n' "whole processes, files in and out" attn PyTorch
    "$build/bench_processes" 5 "$(goal 0.2)" "multihead 4096 x 768, 12 heads" \
        "$attn multihead -H 12 $scratch/x.npy --stages output -o $scratch/a.npy" \
        "$peer run $scratch/x.npy $scratch/b.npy 12" || worst=1
else
    echo "skipped: multihead as a whole process: its peer, PyTorch, is not installed (PYTHON names an interpreter)"
fi

echo
echo "attn causal --stages context, d 64: time and memory of the whole process"
printf '%8s %10s %10s %14s\n' T seconds MB 'bytes / (T d)'
for tokens in 1024 2048 4096 8192 16384 32768 65536 131072; do
    make_inputs $tokens 64 || exit 1
    runs=$((tokens > 20000 ? 1 : 3))
    "$build/bench_measure" $runs "$attn" causal "$scratch/x$tokens.npy" --stages context -o "$scratch/c.npy" |
        awk -v tokens=$tokens '{ print tokens, $1, $2 / 1024 }' >>"$scratch/growth" || exit 1
    tail -n 1 "$scratch/growth" | awk '{ printf "%8d %10.3f %10.1f %14.1f\n", $1, $2, $3, $3 * 1048576 / ($1 * 64) }'
    rm "$scratch/x$tokens.npy"
done
awk -f tests/bench/growth.awk "$scratch/growth" >"$build/growth.svg" && echo "the plot: $build/growth.svg"
exit $worst
