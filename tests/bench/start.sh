#!/bin/sh
# SPDX-License-Identifier: MIT
# Whole processes on small and middling inputs: each result is checked before it is timed, and each time is a ratio to a peer
# measured in the same run. Usage: tests/bench/start.sh BUILD
build=${1:?usage: tests/bench/start.sh BUILD}
. tests/bench/begin.sh
times=$build/bench_processes

printf '\n%-46s %12s %12s\n' "whole processes, best of several" attn peer
"$attn" self data/inputs.json --init rand | grep -q 'journey  0.3061  0.8210' || { echo "the result is wrong"; exit 1; }
# Asked on an Intel processor. On a Zen 4 it is 2.0, best of 600 in turn: the peer starts in 0.56 ms, with the two libraries
# of attn in 0.64, attn in 1.13; linked with -no-pie in 1.00, the static program in 0.62. 8,800 relocations copy 61 pages. Of the
# linker's options none helps: pack-relative-relocs, now, norelro, noseparate-code, gc-sections, --hash-style, gold.
"$times" 400 "$(goal 1.75 -)" "six tokens as text : one line" "$attn self data/inputs.json" "$build/bench_baseline" || worst=1

# Ten thousand jobs in one process, against as many processes.
awk 'BEGIN { for (i = 0; i < 10000; i++)
    printf "{\"inputs\": [[0.43, 0.15, 0.89], [0.55, 0.87, 0.%d]], \"settings\": {\"seed\": %d}}\n", i % 10, i }' >"$scratch/jobs.jsonl"
head -n 1 "$scratch/jobs.jsonl" >"$scratch/job.json"
"$attn" self --jsonl "$scratch/jobs.jsonl" | awk '/^{"attn":.*"weights":/ { if (index($0, "\"seed\":" NR - 1 ",")) right++ }
    END { exit right != 10000 }' || { echo "the jobs are wrong"; exit 1; }
"$build/bench_measure" 5 "$attn" self --jsonl "$scratch/jobs.jsonl" >"$scratch/jobs" &&
    "$build/bench_measure" 200 "$attn" self "$scratch/job.json" -f json >"$scratch/time" || exit 1
awk -v most="$(goal 0.1)" '{ seconds[NR] = $1 } END { ratio = seconds[1] / 10000 / seconds[2]; held = most == "-" || ratio <= most
    printf "%-46s %9.3f ms %9.3f ms  %5.3f x  (at most %s: %s)\n", "a job of 10,000 by --jsonl : a process", seconds[1] / 10,
        seconds[2] * 1e3, ratio, most, held ? "yes" : "NO"; exit !held }' "$scratch/jobs" "$scratch/time" || worst=1

# A picture is to come without a wait: no peer draws one, so the bound is a time.
awk 'BEGIN { srand(1); printf "{\"inputs\": ["
    for (i = 0; i < 128; i++) {
        printf "%s[", i ? "," : ""
        for (j = 0; j < 64; j++) printf "%s%.4f", j ? "," : "", 2 * rand() - 1
        printf "]"
    }
    print "]}" }' >"$scratch/x128.json"
"$attn" self "$scratch/x128.json" --stages weights -f svg | grep -q '<path class="s48"' || { echo "the picture is wrong"; exit 1; }
"$build/bench_measure" 20 "$attn" self "$scratch/x128.json" --stages weights -f svg >"$scratch/time" || exit 1
read -r seconds memory <"$scratch/time"
held=$(at_most "$seconds" "$(goal 0.05)" s) || worst=1
printf '%-46s %9.3f s %26s (%s)\n' "128 x 128 weights as SVG" "$seconds" "" "$held"
# A page holds query, key and value of all heads; its peer copies the same bytes.
awk 'BEGIN { srand(1); printf "{\"inputs\": ["
    for (i = 0; i < 512; i++) {
        printf "%s[", i ? ",\n" : ""
        for (j = 0; j < 768; j++) printf "%s%.4f", j ? ", " : "", 4 * (rand() + rand() + rand() - 1.5)
        printf "]"
    }
    print "]}" }' | "$attn" self --stages inputs -o "$scratch/x512.npy"
"$attn" multihead -H 12 "$scratch/x512.npy" -o "$scratch/page.html" || exit 1
"$attn" multihead -H 12 "$scratch/x512.npy" --stages query -o "$scratch/query.npy" || exit 1
sed -n 's/.*"data-query">\(.*\)<\/script>/\1/p' "$scratch/page.html" | base64 -d >"$scratch/query" &&
    tail -c +129 "$scratch/query.npy" | cmp - "$scratch/query" || { echo "the page is wrong"; exit 1; }
"$times" 7 "$(goal 40)" "HTML of 12 heads, T 512 : cp of the page" "$attn multihead -H 12 $scratch/x512.npy -o $scratch/a.html" \
    "cp $scratch/page.html $scratch/b.html" || worst=1
"$build/bench_measure" 5 "$attn" multihead -H 12 "$scratch/x512.npy" -o "$scratch/a.html" |
    awk -v bytes="$(wc -c <"$scratch/page.html")" '{ held = $1 < 1 && bytes < 10e6
        printf "%-46s %9.3f ms %9.3f MB  (at most 1 s and 10 MB: %s)\n", "the same", $1 * 1e3, bytes / 1e6, held ? "yes" : "NO"
        exit !held }' || worst=1

if ! command -v python3 >/dev/null; then
    echo "skipped: JSON of 1024 x 768: its peer, python3, is not installed"
    exit $worst
fi
awk 'BEGIN { srand(1); printf "{\"inputs\": ["
    for (i = 0; i < 1024; i++) {
        printf "%s[", i ? ",\n" : ""
        for (j = 0; j < 768; j++) printf "%s%.8g", j ? ", " : "", rand() * 2 - 1
        printf "]"
    }
    print "]}" }' >"$scratch/x.json"
"$attn" init self --d-in 768 -o "$scratch/w.json" || exit 1
"$attn" self "$scratch/x.json" --stages query -o "$scratch/query.json" || exit 1
python3 tests/bench/peer.py "$scratch/x.json" "$scratch/w.json" "$scratch/query.json" || exit 1
"$times" 7 "$(goal 1)" "1024 x 768 JSON to query : json.load, dump" "$attn self $scratch/x.json --stages query -o $scratch/q.json" \
    "python3 tests/bench/peer.py $scratch/x.json $scratch/p.json" || worst=1
sed 's/^{"inputs": /tensor(/; s/}$/)/' "$scratch/x.json" >"$scratch/x.txt"
"$times" 7 1.5 "1024 x 768 printed to query : JSON" "$attn self $scratch/x.txt --stages query -o $scratch/q.json" \
    "$attn self $scratch/x.json --stages query -o $scratch/q.json" || worst=1
exit $worst
