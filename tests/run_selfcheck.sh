#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the checker: tests/run.sh counts passes and failures, and leaves nothing behind, also after
# signals.
. tests/counts.sh
unset WITHOUT
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/build" "$scratch/tmp"
program() { # NAME, its commands on standard input
    { echo '#!/bin/sh' && cat; } >"$scratch/build/$1"
    chmod +x "$scratch/build/$1"
}
# suite STATUS TEST...: its output is in the file log.
suite() {
    expected=$1
    shift
    TMPDIR=$scratch/tmp sh tests/run.sh "$scratch/build" "$@" >"$scratch/log" 2>&1
    status=$?
    [ $status -eq "$expected" ] && [ -z "$(ls -A "$scratch/tmp")" ] && return
    echo "exit status $status, left in its folder: '$(ls -A "$scratch/tmp")'; it printed:"
    cat "$scratch/log"
    return 1
}
whole() { [ "$(grep -A 2 -x slow "$scratch/log")" = "$1" ] || { cat "$scratch/log"; false; }; }
closes() { [ "$(tail -n 1 "$scratch/log")" = "$1" ] || { cat "$scratch/log"; false; }; }

program test_slow <<'END'
echo slow
sleep 0.05
echo slower
echo '2 passed, 0 failed'
END
program test_quick <<'END'
echo '1 passed, 0 failed, 3 skipped'
END
program test_wrong <<'END'
echo 'FAILED: one'
echo '4 passed, 1 failed'
exit 1
END
program test_dying <<'END'
echo '5 passed, 0 failed'
kill -SEGV $$
END
program test_silent <<'END'
echo '5 passed'
END
program test_careless <<'END'
mktemp >&2
echo '1 passed, 0 failed'
END
for jobs in 1 2 5; do
    export JOBS=$jobs
    check "what holds, $jobs at a time" suite 0 test_slow test_quick
    check "each output whole" whole "slow
slower
test_slow: 2 passed, 0 failed"
    check "and counted" closes "3 passed, 0 failed, 3 skipped"
    check "a test that fails" suite 1 test_slow test_wrong
    check "is counted" closes "6 passed, 1 failed"
    check "and told again at the end" grep -qx '  failed in test_wrong: one' "$scratch/log"
    check "a test that dies" suite 1 test_quick test_dying
    check "is a failure" closes "1 passed, 1 failed, 3 skipped"
    check "a test without counts" suite 1 test_slow test_silent
    check "is a failure, too" closes "2 passed, 1 failed"
    check "a test that is not there" suite 1 test_slow test_absent
    check "is one as well" closes "2 passed, 1 failed"
    check "a test that leaves a file" suite 1 test_slow test_careless
    check "has failed" closes "3 passed, 1 failed"
    check "which is told again" grep -q '^  failed: test_careless left temporary files: ' "$scratch/log"
done
export WITHOUT='test_wrong test_dying'
check "what is left out" suite 0 test_slow test_wrong
check "is said" grep -qx 'left out: test_wrong test_dying' "$scratch/log"
unset WITHOUT

# Its grandchild has the process id that it writes; both must end with the suite.
program test_endless <<'END'
sleep 1000 &
echo $! >"$(mktemp -d)/child"
wait
END
export LIMIT=1
check "a test that hangs" suite 1 test_endless
check "has failed, with the reason" grep -q '^  failed: test_endless .* it took more than 1 s$' "$scratch/log"
unset LIMIT
started() { find "$scratch/tmp" -name child -size +0 | grep -q .; }
interrupted() { # SIGNAL
    TMPDIR=$scratch/tmp env --default-signal="$1" sh tests/run.sh "$scratch/build" test_endless test_slow >"$scratch/log" 2>&1 &
    suite=$!
    during $suite started || return 1
    child=$(cat "$(find "$scratch/tmp" -name child)")
    kill -s "$1" $suite
    wait $suite
    [ $? -eq 1 ] && [ -z "$(ls -A "$scratch/tmp")" ] && comes_true gone "$child"
}
for signal in INT TERM HUP; do
    check "SIG$signal ends all of it" interrupted $signal
done
finish
