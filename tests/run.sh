#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests of a build folder in parallel: the test programs, the examples of the documentation and of the command
# line, and the scripts. Shows the output of each when it ends, and a last line with all counts. Exits 1 if a test failed,
# left a temporary file or did not finish.
#
#   sh tests/run.sh BUILD [TEST...]     only these: test_fused, check_page.sh, cli, hostile, documentation; whole, the
#                                       files that leave examples to check-whole; or all of a kind:
#                                       programs, examples, scripts
#
# JOBS of them run at a time (one per processor); WITHOUT names tests to skip. A test that runs for two hours, or for
# LIMIT seconds, hangs, and fails. TIMES names a file that gets a line for each test: its user, system and elapsed time.
# Some run a sample, and say so (ATTN_QUICK, FAULTS_STRIDE); with ATTN_WHOLE they run all.
build=${1:?usage: tests/run.sh BUILD [TEST...]}
shift
jobs=${JOBS:-$(nproc)}
limit=${LIMIT:-7200}
ATTN_BIN=$build
export ATTN_BIN
if [ -z "${ATTN_WHOLE-}" ]; then
    export ATTN_QUICK=1 FAULTS_STRIDE="${FAULTS_STRIDE-40}"
fi

# The longest tests start first, so that no processor waits at the end.
longest='check_browser.sh cli check_page.sh whole check_worksheet.sh check_mistakes.sh test_faults test_kernel_bugs check_python.sh check_cases.sh
    test_fused test_fuzz test_why check_schema.sh test_limits test_worksheet test_pairs hostile test_fused_backward_f64 check_svg.sh
    documentation test_session check_long.sh test_grad test_fused_backward check_install.sh check_options.sh check_wrong.sh test_explain
    check_limits.sh test_cases check_manual.sh check_heads.sh test_decimal test_observe_fits'

all_of() { # KIND
    case $1 in
    programs)
        for program in "$build"/test_*; do
            case $program in *.[od]) ;; *) echo "${program##*/}" ;; esac
        done
        ;;
    examples) echo cli hostile documentation ;;
    scripts)
        for script in tests/check_*.sh; do echo "${script##*/}"; done
        echo run_examples_selfcheck run_selfcheck
        ;;
    *) echo "$1" ;;
    esac
}
[ $# -gt 0 ] || set -- programs examples scripts
named=$(for kind in "$@"; do all_of "$kind"; done | tr '\n' ' ')
tests=''
for name in $longest $named; do
    case " $named" in *" $name "*) ;; *) continue ;; esac
    case " $tests ${WITHOUT-} " in *" $name "*) ;; *) tests="$tests $name" ;; esac
done

# A sample needs little room: temporary files are fastest in memory, if there is enough and programs may run there.
if [ -n "${ATTN_QUICK-}" ] && [ -z "${TMPDIR-}" ] && [ -w /dev/shm ] &&
    [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" -gt 2000000 ] 2>/dev/null; then
    TMPDIR=/dev/shm
    export TMPDIR
fi
scratch=$(mktemp -d) || exit 1
if [ "${TMPDIR-}" = /dev/shm ] && ! { cp "$(command -v env)" "$scratch/runs" && "$scratch/runs" true; } 2>/dev/null; then
    rm -rf "$scratch"
    unset TMPDIR
    scratch=$(mktemp -d) || exit 1
fi
rm -f "$scratch/runs"
trap 'rm -rf "$scratch"' EXIT
trap 'kill $supervisor 2>/dev/null; wait; exit 1' HUP INT TERM
# Also for a test that changes its user.
chmod 711 "$scratch"

# Replaces the shell. A test's processes are in the process group of timeout, which ends them all.
start() { # TEST
    TMPDIR=$scratch/$1/temporary
    export TMPDIR
    unset WITHOUT TIMES
    case $1 in
    *_selfcheck) set -- sh "tests/$1.sh" "$build/run_examples" ;;
    cli) set -- "$build/run_examples" tests/cli/*.test ;;
    whole) unset ATTN_QUICK && set -- "$build/run_examples" $(grep -lE '^(\.\\" )?skip-without check-whole$' tests/*/*.test man/*.[157]) ;;
    hostile) set -- "$build/run_examples" tests/hostile/*.test ;;
    documentation) set -- "$build/run_examples" README.md man/*.[157] ;;
    check_*) set -- sh "tests/$1" ;;
    *) set -- "$build/$1" ;;
    esac
    exec timeout $limit "$@"
}

# start, and how long it took; of what `times` prints the last line is of what was started.
timed() { # TEST
    began=$(date +%s)
    (start "$1")
    ended=$?
    times >"$scratch/$1/times"
    echo "$1 $(($(date +%s) - began)) s, user and system $(tail -n 1 "$scratch/$1/times")" >>"$TIMES"
    exit $ended
}

# Runs one free test after another; reports which has ended.
work() {
    trap 'kill $! 2>/dev/null; wait; exit 1' TERM
    for name in $tests; do
        mkdir "$scratch/$name" 2>/dev/null || continue
        mkdir "$scratch/$name/temporary"
        if [ -z "${TIMES-}" ]; then
            (start "$name") >"$scratch/$name/log" 2>&1 &
        else
            (timed "$name") >"$scratch/$name/log" 2>&1 &
        fi
        wait $!
        echo $? >"$scratch/$name/ending"
        mv "$scratch/$name/ending" "$scratch/$name/status" # whole as soon as it is there
        echo "$name"
    done
}

supervise() {
    workers=''
    trap 'kill $workers 2>/dev/null; wait; exit 1' TERM
    while [ "$jobs" -gt 0 ]; do
        work &
        workers="$workers $!" jobs=$((jobs - 1))
    done
    wait
}

# Repeats failures before the last line, for readers of the end.
tell() { echo "$*" | tee -a "$scratch/failures"; }

# Shows a test's output without its counts, and adds these up.
passed=0 failed=0 skipped=0
show() { # TEST
    name=$1 log=$scratch/$1/log
    status=$(cat "$scratch/$1/status")
    counts=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$')
    if [ -z "$counts" ] || { [ "$status" -ne 0 ] && [ "${counts#* 0 failed}" != "$counts" ]; }; then
        cat "$log"
        tell "FAILED: $name ended with status $status$([ "$status" -ne 124 ] || echo ", for it took more than $limit s")"
        failed=$((failed + 1))
        return
    fi
    sed '$d' "$log"
    awk -v name="$name" '/^FAILED/ { sub(/^FAILED/, "& in " name); left = 4 } left-- > 0' "$log" >>"$scratch/failures"
    echo "$name: $counts"
    left=$(ls -A "$scratch/$1/temporary")
    set -- $counts
    passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + ${5:-0}))
    [ -z "$left" ] && return
    tell "FAILED: $name left temporary files:" $left
    failed=$((failed + 1))
}

mkfifo "$scratch/ended"
supervise >"$scratch/ended" &
supervisor=$!
while read -r name; do
    show "$name"
    rm -rf "$scratch/$name/temporary" "$scratch/$name/log"
done <"$scratch/ended"
for name in $tests; do
    [ ! -e "$scratch/$name/status" ] || continue
    tell "FAILED: $name was not run to its end"
    failed=$((failed + 1))
done

[ -z "${WITHOUT-}" ] || echo "left out:" $WITHOUT
[ ! -s "$scratch/failures" ] || { echo "what failed:" && sed 's/^FAILED/  failed/' "$scratch/failures"; }
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ]
