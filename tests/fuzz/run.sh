#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes one target for some seconds, and says in one line how often it ran, which share of the edges of the program it
# reached, and what it found: nothing, or the file that shows it. The rest goes to build/fuzz/TARGET.log.
target=${1:?usage: tests/fuzz/run.sh TARGET SECONDS} seconds=${2:?}
log=build/fuzz/$target.log corpus=build/fuzz/corpus/$target
mkdir -p "$corpus" "tests/fuzz/found/$target"
dictionary=tests/fuzz/$target.dict
case $target in
npy | safetensors) golden=tests/golden/binary ;;
archive) golden=tests/golden/archive ;;
json) golden=data ;;
*) golden= ;;
esac
set -- "build/asan/fuzz_$target" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=2048 -max_len=2048 -len_control=0 \
    -artifact_prefix="build/fuzz/$target-"
if [ -f "$dictionary" ]; then set -- "$@" -dict="$dictionary"; fi
"$@" "$corpus" "tests/fuzz/seeds/$target" "tests/fuzz/found/$target" $golden >"$log" 2>&1
status=$?
rmdir "tests/fuzz/found/$target" 2>/dev/null
edges=$(sed -n 's/^INFO: Loaded .* PC tables (\([0-9]*\) PCs).*/\1/p' "$log")
reached=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
runs=$(sed -n 's/^#\([0-9][0-9]*\).*/\1/p' "$log" | tail -n 1)
found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
echo "fuzz $target: ${runs:-0} executions in $seconds s, ${reached:-0} of ${edges:-?} edges, found: ${found:-nothing}"
[ $status -eq 0 ] && exit
tail -n 40 "$log"
exit 1
