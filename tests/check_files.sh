#!/bin/sh
# SPDX-License-Identifier: MIT
# A result file appears complete or not at all, and attn touches nothing else.
. tests/counts.sh
attn=$ATTN_BIN/attn
here=$PWD
case $attn in /*) ;; *) attn=$here/$attn ;; esac
input=$here/data/inputs.json
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

status() {
    expected=$1
    shift
    "$@" 2>message
    [ $? -eq "$expected" ]
}
alone() { # nothing but these files is here
    [ "$(ls -A)" = "$(printf '%s\n' "$@" | sort)" ]
}
mode() { [ "$(stat -c %a "$1")" = "$2" ]; }

umask 027
check "a new file" status 0 "$attn" self "$input" -o new.json
check "its mode is that of the umask" mode new.json 640
check "nothing else is left" alone message new.json
"$attn" self "$input" -f json >expected.json
check "it holds what standard output gets" cmp expected.json new.json

echo old >kept.txt
chmod 604 kept.txt
check "over a file that is there" status 0 "$attn" self "$input" -o kept.txt
check "its mode stays" mode kept.txt 604
check "it was replaced" grep -q self-attention kept.txt

echo old >target.txt
ln -s target.txt link.txt
check "through a symbolic link" status 0 "$attn" self "$input" -o link.txt
check "the link stays a link" test -L link.txt
check "its target was written" grep -q self-attention target.txt
mkdir folder
ln -s folder/made.txt dangling.txt
check "through a link to nothing" status 0 "$attn" self "$input" -o dangling.txt
check "its target was made" test -f folder/made.txt
ln -s loop-b loop-a
ln -s loop-a loop-b
check "a loop of links" status 3 "$attn" self "$input" -o loop-a

echo old >old.json
check "bad input leaves the old file" status 2 "$attn" self "$input" -d 2x -o old.json
check "as it was" test "$(cat old.json)" = old
echo '{"inputs": [[1], [2, 3]]}' >bad.json
check "so does a bad file" status 2 "$attn" self bad.json -o old.json
check "as it was, too" test "$(cat old.json)" = old

cp "$input" both.json
check "--out may be the input itself" status 0 "$attn" self both.json -o both.json
check "which is an input again" status 0 "$attn" self both.json -o again.json
check "with the same result" cmp both.json again.json

mkfifo pipe
timeout 600 cat pipe >through &
piped() { status 0 "$attn" self "$input" -f json -o pipe || ! kill $!; }
check "a FIFO is written in place" piped
wait
check "and holds the result" cmp expected.json through
check "/dev/stdout is written in place" sh -c '"$1" self "$2" -f json -o /dev/stdout | cmp - expected.json' - "$attn" "$input"

# attn writes to a descriptor at its offset, whatever file it is.
appended() {
    { echo before && "$attn" self "$input" -f json -o "$1" && echo after; } >appended || return 1
    { echo before && cat expected.json && echo after; } | cmp - appended
}
check "/dev/stdout over a file goes on in it" appended /dev/stdout
check "/dev/fd/1 too" appended /dev/fd/1
ln -s /dev/stdout out-link
check "and a link to it" appended out-link
check "a descriptor that is not open" status 3 "$attn" self "$input" -o /dev/fd/9

long=$(printf '%0250d' 0).json
check "the longest name" status 0 "$attn" self "$input" -o "$long"

# A full disk: the new file does not fit (simulated by a limit of 1 KiB).
full() { (ulimit -f 1 && trap '' XFSZ && exec "$attn" self "$input" -f json -o old.json) 2>message; }
check "a full disk leaves the old file" test "$(full; echo $?)" = 3
check "as it was, again" test "$(cat old.json)" = old
check "and says so" grep -q 'old.json: cannot write' message

# Signals interrupt a run of many minutes while it writes.
mkdir signals
# Whether the job has a file open there: without a name, or, if the system has no such files, next to the target.
unnamed() { python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null; }
writes() { ls -l /proc/$1/fd 2>/dev/null | grep -q "$scratch/signals/"; }
for signal in INT TERM HUP USR1 KILL; do
    # A shell starts background jobs with INT ignored, nohup this one with HUP; env gives it back.
    env $([ $signal = KILL ] || echo --default-signal=$signal) "$attn" sdpa --random 1x1x60000x2 --kernel reference --stages context -f json -o signals/out.json &
    job=$!
    check "SIG$signal comes while the file is written" during $job writes $job
    named=$(ls -A signals)
    kill -s $signal $job 2>kill.message
    wait $job 2>wait.message
    ended=$?
    check "SIG$signal ends the run as that signal does" test $ended -gt 128
    if [ $signal = KILL ] && [ -n "$named" ] && { [ -n "${PORTABLE-}" ] || ! unnamed; }; then
        skip "SIGKILL leaves nothing" "this file system, or POSIX, has no files without a name"
    else
        check "SIG$signal leaves nothing" test -z "$(ls -A signals)"
    fi
    rm -f signals/*
done

owner() { [ "$(stat -c %u:%g "$1")" = "$2" ]; }
if [ "$(id -u)" -eq 0 ]; then
    echo old >owned.txt
    chown 65534:60 owned.txt
    chmod 4640 owned.txt
    check "over a file of another's" status 0 "$attn" self "$input" -o owned.txt
    check "owner and group stay" owner owned.txt 65534:60
    check "its mode stays, but for what runs as its owner" mode owned.txt 640
fi
finish
