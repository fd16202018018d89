#!/bin/sh
# SPDX-License-Identifier: MIT
# One query against a long cache, as a whole process with files in and out, against a plain read of the same file: 32
# heads of query, 8 of key and value, 131072 keys, d 128. Usage: tests/bench/decode.sh BUILD. Exits 1 where a result is
# wrong, or too slow, or takes too much memory.
build=${1:?usage: tests/bench/decode.sh BUILD}
rounds=${ROUNDS:-5}
. tests/bench/begin.sh
files=$build/bench_files file=$scratch/cache.safetensors result=$scratch/context.safetensors
shape='32 8 1 131072 128'

# decode DTYPE MEGABYTES
decode() {
    room "$scratch" $(($2 + 100)) $((2 * $2 + 500)) || { echo "skipped: decode, $1: $lacking" && return; }
    "$files" make "$file" "$1" $shape || exit 1
    "$attn" sdpa "$file" --stages context -t 1 -o "$result" && "$files" check "$result" "$1" $shape 0 || exit 1
    "$attn" sdpa "$file" --stages context -o "$scratch/threads" -f safetensors && cmp "$result" "$scratch/threads" || exit 1
    round=0
    : >"$scratch/times"
    while [ $round -lt "$rounds" ]; do
        ours=$("$build/bench_measure" 1 "$attn" sdpa "$file" --stages context -o "$result") || exit 1
        echo "${ours% *} $("$files" read "$file") $("$files" map "$file" "$(nproc)")" >>"$scratch/times" || exit 1
        round=$((round + 1))
    done
    least=$(awk 'function least(a, b) { return NR == 1 || b < a ? b : a }
        { a = least(a, $1); b = least(b, $2); c = least(c, $3) } END { print a, b, c }' "$scratch/times")
    bytes=$(wc -c <"$file")
    set -- "$1" $least "$("$build/bench_measure" anonymous "$attn" sdpa "$file" --stages context -o "$result")"
    share=$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.3f", b / a }')
    of_mapped=$(awk -v a="$2" -v b="$4" 'BEGIN { printf "%.3f", b / a }')
    own=$(echo "$5" | awk '{ printf "%.1f", $2 / 1024 }')
    speed() { awk -v bytes="$bytes" -v seconds="$1" 'BEGIN { printf "%.1f", bytes / seconds * 1e-9 }'; }
    held=$(verdict "$share" at-least "$(goal 0.6)") || worst=1
    printf '%-34s %8s %8s %8s %7.2f %7s  %s\n' "one query, 131072 keys, $1" "$(speed "$2")" "$(speed "$3")" "$(speed "$4")" \
        "$share" "$(goal 0.6)" "$held; of the mapped $of_mapped"
    held=$(at_most "$own" 50 MB) || worst=1
    printf '%-34s %8s MB, %s\n' "memory beyond the mapped file, $1" "$own" "$held"
    rm "$file"
}

printf '\n%-34s %8s %8s %8s %7s %7s\n' "GB/s of the file, best of $rounds in turn" attn read mapped ratio goal
decode f32 1075
decode bf16 538
exit $worst
