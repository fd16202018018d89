#!/bin/sh
# Runs every test program of the build folder given, the examples of the documentation and the command-line tests, and
# closes with one line that counts them all. Exits 1 where a test failed or a program did not come to its end.
build=${1:?usage: tests/run.sh BUILD}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

# Runs a program, shows what it says but for its counts, and adds those up.
run() {
    name=$1
    shift
    "$@" >"$log" 2>&1
    status=$?
    counts=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$')
    if [ -z "$counts" ] || { [ $status -ne 0 ] && [ "${counts#* 0 failed}" != "$counts" ]; }; then
        cat "$log"
        echo "FAILED: $name ended with status $status"
        failed=$((failed + 1))
        return
    fi
    sed '$d' "$log"
    echo "$name: $counts"
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
}

for program in "$build"/test_*; do
    case $program in *.[od]) continue ;; esac
    run "${program##*/}" "$program"
done
ATTN_BIN=$build
export ATTN_BIN
run run_examples_selfcheck sh tests/run_examples_selfcheck.sh "$build/run_examples"
run "command line" "$build/run_examples" tests/cli/*.test
run hostile "$build/run_examples" tests/hostile/*.test
run documentation "$build/run_examples" README.md man/attn.1
for script in tests/check_*.sh; do
    run "${script##*/}" sh "$script"
done

if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
