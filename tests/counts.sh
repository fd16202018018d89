# SPDX-License-Identifier: MIT
# For the other scripts: counts checks, and prints the last line of a script.
#
#   check NAME COMMAND...   the command must succeed
#   skip NAME WHY
#   one_in N                true; in a sample (ATTN_QUICK) for the first of N calls alone, and finish says how many were not
#   finish                  prints "N passed, N failed", exits
#   has_module MODULE       $python, which is PYTHON or python3, has it
#   gone PROCESS            it has ended, even as a zombie
#   comes_true COMMAND...   waits until the command succeeds; false after ten minutes at least, which end a hang
#   during PROCESS COMMAND...   the same, but false too once the process has ended
passed=0 failed=0 skipped=0 calls=0 left_out=0

check() {
    checked=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED: $checked: $*"
        failed=$((failed + 1))
    fi
}

skip() {
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

one_in() {
    [ -n "${ATTN_QUICK-}" ] || return 0
    calls=$((calls + 1))
    [ $((calls % $1)) -ne 1 ] || return 0
    left_out=$((left_out + 1))
    return 1
}

finish() {
    [ $left_out -eq 0 ] || echo "ATTN_QUICK: without $left_out more, which make check-whole has"
    if [ $skipped -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ $failed -eq 0 ]
    exit
}

python=${PYTHON:-python3}
has_module() {
    command -v "$python" >/dev/null && "$python" -c "import $1" 2>/dev/null
}

gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

comes_true() {
    tries=30000
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.02
    done
}

during() {
    watched=$1
    shift
    ended_or() { "$@" || gone "$watched"; }
    comes_true ended_or "$@" && "$@"
}
