#!/bin/sh
# SPDX-License-Identifier: MIT
# Whole processes with files in and out: attention net of start-up against PyTorch's alone, whose numbers lie in memory;
# all stages of a long input; diff of large files; a large JSON. Usage: tests/bench/files.sh BUILD; PYTHON says which
# Python has PyTorch. Exits 1 where a result is wrong or falls short.
build=${1:?usage: tests/bench/files.sh BUILD}
rounds=${ROUNDS:-4}
. tests/bench/peers.sh
serve_python torch
files=$build/bench_files measure=$build/bench_measure

# GF/s of one command on a file, less what the same takes for six tokens: OPERATIONS FILE OPTION...
process() {
    operations=$1 file=$2
    shift 2
    start=$("$measure" 40 "$attn" sdpa "$scratch/tiny" --stages context -o "$scratch/out" -f safetensors "$@") || exit 1
    whole=$("$measure" 8 "$attn" sdpa "$file" --stages context -o "$scratch/out" -f safetensors "$@") || exit 1
    awk -v whole="${whole% *}" -v start="${start% *}" -v operations="$operations" \
        'BEGIN { printf "%.1f\n", operations / (whole - start) * 1e-9 }'
}

# attention LABEL GOAL HEADS TOKENS THREADS, causal, d 64
attention() {
    file=$scratch/qkv
    "$files" make "$file" f32 "$3" "$3" "$4" "$4" 64 && "$files" make "$scratch/tiny" f32 "$3" "$3" 6 6 64 || exit 1
    "$attn" sdpa --causal "$file" --stages context -o "$scratch/out" -f safetensors -t "$5" || exit 1
    "$files" check "$scratch/out" f32 "$3" "$3" "$4" "$4" 64 1 || exit 1
    row "$1" "$2" process "$((2 * $3 * 64 * $4 * ($4 + 1))) $file --causal -t $5" \
        PyTorch "attention - f32 $3 $4 64 causal $5"
}

heading "GF/s, files : memory"
attention "12 heads, T 1024, causal" "$(goal 1.4)" 12 1024 2
attention "1 head, T 4096, causal, one thread" "$(goal 1.2)" 1 4096 1

# within LABEL RUNS SECONDS MEGABYTES COMMAND...: either bound may be "-".
within() {
    label=$1 runs=$2 most=$3 largest=$4
    shift 4
    set -- $("$measure" "$runs" "$@") || exit 1
    [ $# -eq 2 ] || exit 1
    megabytes=$(awk -v kilobytes="$2" 'BEGIN { printf "%.0f", kilobytes / 1024 }')
    quick=$(verdict "$1" at-most "$most") || worst=1
    small=
    [ "$largest" = - ] || small=$(verdict "$megabytes" at-most "$largest") || worst=1
    printf '%-46s %8.3f %6s  %-8s %7s %6s  %s\n' "$label" "$1" "$most" "$quick" "$megabytes" "$largest" "$small"
}
printf '\n%-46s %8s %6s  %-8s %7s %6s\n' "best of several" seconds goal "" MB goal

# A stage is held to those that it is made of, row by row, in double.
if ! room "$scratch" 1000 1500; then
    echo "skipped: all stages of 12 heads, T 2048: $lacking"
elif ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: all stages of 12 heads, T 2048: its check, NumPy, is missing (PYTHON names an interpreter)"
else
    "$python" tests/bench/peer_multihead.py make "$scratch/x.npy" 2048 768 || exit 1
    "$attn" multihead -H 12 "$scratch/x.npy" -o "$scratch/all.safetensors" || exit 1
    "$python" tests/bench/peer_stages.py "$scratch/all.safetensors" || exit 1
    within "all stages of 12 heads, T 2048, .safetensors" 2 "$(goal 4)" - \
        "$attn" multihead -H 12 "$scratch/x.npy" -o "$scratch/all.safetensors"
    rm "$scratch/all.safetensors"
fi

if ! room "$scratch" 600 1000; then
    echo "skipped: diff of two files of 256 MB: $lacking"
else
    "$files" pair "$scratch/a.npy" "$scratch/b.npy" 67108864 || exit 1
    "$attn" diff "$scratch/a.npy" "$scratch/b.npy" | grep -q '^tensor  *4\.8e-07  *1\.2e-07  *1 ' &&
        "$attn" diff "$scratch/a.npy" "$scratch/a.npy" | grep -q 'every number is equal' ||
        { echo "the difference is wrong"; exit 1; }
    within "diff of two files of 256 MB, each number off" 3 "$(goal 0.5)" - "$attn" diff "$scratch/a.npy" "$scratch/b.npy"
    within "diff of two files of 256 MB, all equal" 3 "$(goal 0.5)" - "$attn" diff "$scratch/a.npy" "$scratch/a.npy"
    rm "$scratch/a.npy" "$scratch/b.npy"
fi

if ! "$python" -c '' 2>/dev/null; then
    echo "skipped: JSON of 2048 x 768: its check, $python, is missing"
else
    "$python" tests/bench/peer.py make "$scratch/x.json" 2048 768 || exit 1
    "$attn" self "$scratch/x.json" --stages inputs -o "$scratch/x.npy" || exit 1
    "$python" tests/bench/peer.py same "$scratch/x.json" "$scratch/x.npy" || exit 1
    within "JSON of 2048 x 768 in, .npy out" 7 "$(goal 0.25)" 45 "$attn" self "$scratch/x.json" --stages inputs -o "$scratch/x.npy"
fi
exec 7>&-
wait
exit $worst
