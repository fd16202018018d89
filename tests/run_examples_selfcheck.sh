#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the checker: run_examples must pass right examples, fail wrong ones, and correct them when asked.
# A stand-in replaces attn, so that nothing depends on the program under test.
#
#     run_examples_selfcheck.sh RUN_EXAMPLES

set -u
if [ $# -ne 1 ] || [ ! -x "$1" ]; then
    echo "usage: run_examples_selfcheck.sh RUN_EXAMPLES" >&2
    exit 2
fi
. "$(dirname "$0")/counts.sh"
runner=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
cd "$scratch" || exit 2
mkdir bin tmp
cat > bin/attn <<'END'
#!/bin/sh
case ${1-} in
bad) echo "attn: bad is no command" >&2; exit 2 ;;
warn) echo "attn: warning: --seed does nothing" >&2 ;;
roff) printf '%s\n' ".a-b 'c' \`d\` ^e ~f \\g \$ h" "'quoted" '$ prompt' '' 'äöü' ;;
*) echo "attn $*" ;;
esac
END
chmod +x bin/attn
export ATTN_BIN="$scratch/bin" TMPDIR="$scratch/tmp"

count() # NAME PROBLEM: an empty problem is a pass
{
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1: $2; it printed:"
        sed 's/^/    /' log
    fi
}

holds() # NAME FILE LAST-LINE
{
    "$runner" "$2" > log 2>&1
    status=$?
    problem=
    [ "$(tail -n 1 log)" = "$3" ] || problem="expected \"$3\" at the end"
    [ $status -eq 0 ] || problem="exit status $status where 0 was expected"
    count "$1" "$problem"
}

breaks() # NAME FILE TEXT-OF-THE-REPORT
{
    "$runner" "$2" > log 2>&1
    status=$?
    problem=
    grep -qF -e "$3" log || problem="expected \"$3\" in the report"
    [ $status -eq 1 ] || problem="exit status $status where 1 was expected"
    count "$1" "$problem"
}

# After an update the file passes, and is byte for byte the wanted one.
mends() # NAME FILE WANTED
{
    "$runner" --update "$2" > log 2>&1
    status=$?
    problem=
    cmp -s "$2" "$3" || problem="not the file that was wanted: $(diff "$3" "$2")"
    [ $status -eq 0 ] || problem="exit status $status where 0 was expected"
    count "$1" "$problem"
    "$runner" "$2" > log 2>&1
    status=$?
    problem=
    [ $status -eq 0 ] || problem="it still fails"
    count "$1, once more" "$problem"
}

# An update that cannot help leaves the file as it is and fails.
resists() # NAME FILE TEXT-OF-THE-REPORT
{
    cp "$2" before
    "$runner" --update "$2" > log 2>&1
    status=$?
    problem=
    grep -qF -e "$3" log || problem="expected \"$3\" in the report"
    cmp -s "$2" before || problem="the file has changed"
    [ $status -eq 1 ] || problem="exit status $status where 1 was expected"
    count "$1" "$problem"
}

# ---- .test: examples that pass

cat > plain.test <<'END'
# A comment that stands alone.

# the arguments arrive
$ attn a b
| attn a b

$ attn bad
! attn: bad is no command
? 2
END
holds "exact streams and status" plain.test "2 passed, 0 failed"

cat > forms.test <<'END'
# both streams at once, an empty line in each
$ printf 'a\n\nb\n'; printf '\nc\n' >&2
| a
|
| b
!
! c

# no newline at the end of either
$ printf 'a\nb'; printf c >&2
| a
| b
\ no newline
! c
\ no newline

# a command of several lines
$ cat <<HERE
> one
>
> two
> HERE
| one
|
| two

# standard input
$ cat -
< first
<
<   third
| first
|
|   third

# without input there is none
$ cat

# parts of a stream
$ echo one two three; echo 'four five' >&2; exit 3
|~ one
|~ two
!~ four
? 3

# what looks like a prefix, behind one
$ printf '| x\n? 2\n~ y\n \n'
| | x
| ? 2
| ~ y
|  

# a signal counts as in the shell
$ kill -9 $$
? 137

# more than a pipe holds, on both streams
$ i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789;
> echo 0123456789012345678901234567890123456789 >&2; i=$((i + 1)); done
|~ 0123456789
!~ 0123456789

# a process left behind does not hold up the runner
$ sleep 1000 >/dev/null 2>&1 & echo $! > left-behind
END
holds "every form of a block" forms.test "10 passed, 0 failed"
count "what an example leaves running is killed" "$(comes_true gone "$(cat left-behind)" || echo "it still runs")"

cat > state.test <<'END'
$ echo kept > "$T/file"; mkdir "$T/closed"; echo x > "$T/closed/x"; chmod 0 "$T/closed"

$ cat "$T/file"; test "$TMPDIR" = "$T"
| kept
END
holds "examples of one file share \$T" state.test "2 passed, 0 failed"
: > log
count "scratch directories are removed" "$(ls tmp)"

cat > environment.test <<'END'
$ echo "$(command -v attn)" | sed "s:^$ATTN_BIN/::"
| attn

$ echo "${LC_ALL-} ${LANG-} ${NO_COLOR-} ${COLUMNS-} ${TERM-}" | tr -d ' '
|
END
LC_ALL=C LANG=C NO_COLOR=1 COLUMNS=9 TERM=dumb
export LC_ALL LANG NO_COLOR COLUMNS TERM
holds "the environment of a command" environment.test "2 passed, 0 failed"

cat > skip.test <<'END'
skip-without no-such-program-anywhere
$ no-such-program-anywhere
| result

skip-without sh
$ echo here
| here
END
holds "a program that is missing" skip.test "1 passed, 0 failed, 1 skipped"
count "its name" "$(grep -qF "no no-such-program-anywhere in PATH" log || echo "not in the report")"
printf '$ echo here\n| here\n\nskip-without check-whole\n$ echo one\n| one\n\nskip-without check-whole\n\n$ echo more\n| more\n\n$ echo most\n| most\n' >whole.test
export ATTN_QUICK=1
holds "a sample leaves what takes long to check-whole" whole.test "1 passed, 0 failed"
count "and says so" "$(grep -qx '3 examples take long: make check-whole runs them' log || echo "not in the report")"
printf '.Bd -literal\n$ attn 1\nattn 1\n.Ed\n.\\" skip-without check-whole\n.Bd -literal\n$ attn 2\nattn 2\n.Ed\n' >whole.1
holds "so does a page" whole.1 "1 passed, 0 failed"
count "and says so, too" "$(grep -qx '1 examples take long: make check-whole runs them' log || echo "not in the report")"
unset ATTN_QUICK
holds "which runs it" whole.test "4 passed, 0 failed"
holds "and that of the page" whole.1 "2 passed, 0 failed"

# ---- .test: examples that fail

printf '$ attn a\n| attn b\n' > out.test
breaks "a wrong byte in standard output" out.test "standard output differs first in its line 1, at byte 6"
printf '$ attn bad\n! attn: bad is no comment\n? 2\n' > err.test
breaks "a wrong byte in standard error" err.test "standard error differs first in its line 1"
printf '$ attn bad\n! attn: bad is no command\n' > status.test
breaks "a wrong exit status" status.test "exit status: expected 0, got 2"
printf '$ attn a\n| attn a\n| more\n' > more.test
breaks "output that is cut short" more.test "got:      (nothing more)"
printf '$ attn a\n' > extra.test
breaks "output that nobody expected" extra.test "expected: (nothing more)"
printf '$ printf "attn a"\n| attn a\n' > newline.test
breaks "a missing newline" newline.test "attn a  (no newline)"
printf '$ attn a\n| attn a\n\\ no newline\n' > nonewline.test
breaks "a newline too many" nonewline.test "standard output differs"
printf '$ attn a\n|~ attn b\n' > part.test
breaks "a part that is not there" part.test "standard output does not contain:"
printf '$ printf "a\\\\0b\\\\n"\n| a\n' > nul.test
breaks "output behind a NUL byte" nul.test 'a\x00b'
resists "a NUL byte in an update" nul.test "a NUL byte in the output"
resists "a part in an update" part.test "standard output does not contain:"
printf '# my title\n$ attn a\n' > title.test
breaks "the name of a test" title.test "FAILED: title.test:2: attn a  # my title"
breaks "a file that is not there" none.test "none.test"
printf '$ attn a\n' > other.txt
breaks "a file of another kind" other.txt "a file of examples is"

malformed() # TEXT-OF-THE-REPORT LINE BLOCK: what is wrong, and in which line
{
    printf "$3\n" > malformed.test
    resists "malformed: $3" malformed.test "malformed.test:$2: $1"
    count "malformed, not run: $3" "$([ "$(tail -n 1 log)" = "0 passed, 1 failed" ] || echo "other counts")"
}
malformed "no line of an example begins like this" 2 '# about\n $ attn a'
malformed "no line of an example begins like this" 1 'attn a'
malformed "no line of an example begins like this" 2 '$ attn a\n|attn a'
malformed "no line of an example begins like this" 2 '$ attn a\n '
malformed "this needs a \$ line above it" 1 '| attn a'
malformed "this needs a \$ line above it" 1 '? 2\n$ attn a'
malformed "an empty command" 1 '$ '
malformed "a second command in one block" 2 '$ attn a\n$ attn b'
malformed "a block without a command" 1 'skip-without sh'
malformed "skip-without takes the name of one program" 1 'skip-without a b\n$ attn a'
malformed "a > line follows a \$ line" 3 '$ attn a\n< x\n> y'
malformed "an exit status is a number" 2 '$ attn a\n? two'
malformed "an exit status is a number" 2 '$ attn a\n? 256'
malformed "a second exit status" 3 '$ attn a\n? 1\n? 1'
malformed 'expected "\ no newline"' 3 '$ attn a\n| a\n\\ no'
malformed '"\ no newline" follows a | or ! line' 2 '$ attn a\n\\ no newline'
malformed '"\ no newline" follows a | or ! line' 3 '$ attn a\n|~ a\n\\ no newline'
malformed "a line after the one without newline" 4 '$ attn a\n| a\n\\ no newline\n| b'
malformed "a stream is either written out or searched" 3 '$ attn a\n|~ a\n| a'
malformed "a stream is either written out or searched" 3 '$ attn a\n! a\n!~ a'
malformed "text to search for is missing" 2 '$ attn a\n|~'

# ---- .test: update

cat > update.test <<'END'
# unchanged, in an order of its own
$ attn bad
? 2
! attn: bad is no command

# everything is wrong
$ cat - >&2
> printf 'a\n\nb'
> exit 4
< input
| b
\ no newline
? 2

# one stream is searched
$ attn x; echo e >&2
|~ attn
! f
END
cat > wanted <<'END'
# unchanged, in an order of its own
$ attn bad
? 2
! attn: bad is no command

# everything is wrong
$ cat - >&2
> printf 'a\n\nb'
> exit 4
< input
| a
|
| b
\ no newline
! input
? 4

# one stream is searched
$ attn x; echo e >&2
|~ attn
! e
END
chmod 640 update.test
ln -s update.test link.test
mends "an update of .test" link.test wanted
count "an update keeps a symbolic link" "$([ -L link.test ] || echo "it is gone")"
count "an update keeps the mode" "$(find update.test ! -perm 640)"
count "an update leaves nothing else" "$(find . -name '*.test.*')"

# ---- .md

cat > good.md <<'END'
# Title

```
$ attn a
attn a

$ ./attn b | ./attn c | \
  ./attn d
attn d
$ echo this is no example
another text
$ attn bad
attn: bad is no command
```

```console
$ echo out; echo err >&2; echo out; echo; echo
out
err
out

```

   ```` sh
attn is no command without a prompt
```
$ attn e
attn e
   ````

```sh
$ echo not run
```
END
holds "examples of .md" good.md "5 passed, 0 failed"

printf '```\n$ attn warn\nattn: warning: --seed does nothing\n```\n' > warn.md
holds "a warning in .md is no failure" warn.md "1 passed, 0 failed"
printf '```console\n$ attn warn; false\nattn: warning: --seed does nothing\n```\n' > warn.md
breaks "a failure behind a warning in .md" warn.md 'expected 0 without "attn: ", got 1'
printf '```\n$ attn a\nattn b\n```\n' > out.md
breaks "a wrong byte in .md" out.md "out.md:2: $ attn a"
printf '```\n$ attn bad\nattn: bad is no comment\n```\n' > err.md
breaks "a wrong byte on standard error in .md" err.md "the output differs first in its line 1"
printf '```console\n$ attn a; false\nattn a\n```\n' > status.md
breaks "a failure without a message in .md" status.md 'expected 0 without "attn: ", got 1'
resists "a failure without a message in .md, updated" status.md 'expected 0 without "attn: ", got 1'
printf '```console\n$ attn bad; true\nattn: bad is no command\n```\n' > success.md
breaks "a message without a failure in .md" success.md 'expected a failure after "attn: ", got 0'
printf '```\n$ attn a\nattn a\n' > open.md
breaks "a fence without end" open.md "open.md:1: what opens here is never closed"
printf '```\n$ attn a \\\n```\n' > slash.md
breaks "a command without end" slash.md "the command ends in a backslash"
printf '```console\n$ cat <<END\na\n```\n' > here.md
breaks "a here-document without end" here.md "the here-document has no END"
printf '```console\n$ cat <<END\na\nEND\na\n```\n' > here.md
holds "a here-document" here.md "1 passed, 0 failed"
printf '    $ attn a\n' > stray.md
breaks "an example outside a fence" stray.md "stray.md:1: an example stands in a"
printf '```\n  $ attn a\n```\n' > stray.md
breaks "an example that is indented" stray.md "stray.md:2: an example stands in a"
printf '```console\n$ printf a\n```\n' > newline.md
resists "output without newline in .md" newline.md "does not end in a newline"
printf '```console\n$ printf "$ attn\\n"\n```\n' > prompt.md
resists "output that looks like a command in .md" prompt.md "would be read as a command"
printf '```console\n$ printf "\\140\\140\\140\\n"\n```\n' > fence.md
resists "output that looks like a fence in .md" fence.md "would be read as a command"

printf '```\n$ attn a\nwrong\ntwice\n\n$ ./attn b \\\n    c\n```\n\nText.\n```\n$ attn bad\n```\n' > update.md
printf '```\n$ attn a\nattn a\n\n$ ./attn b \\\n    c\nattn b c\n```\n\nText.\n```\n$ attn bad\nattn: bad is no command\n```\n' > wanted
mends "an update of .md" update.md wanted

# ---- .1

cat > good.1 <<'END'
.Dd January 1, 2025
.Sh EXAMPLES
.Bd -literal -offset indent
a figure \fBof\fP one line
$ attn \-a \e\&
  \(aqb\(aq \(dqc d\(dq
attn \-a b c d

$ attn \(aq\e \(rs\(ga\(ha\(a^\(ti\ \[u00E9]\[u2192]\[u1F600]\(aq
attn \e \e`^^~ é→😀

$ echo .x; attn bad
\&.x
attn: bad is no command

.Ed
.Bd -ragged
.Ar text
.Ed
END
holds "examples of .1" good.1 "3 passed, 0 failed"
cat > anywhere.1 <<'END'
.Bd -literal
$ attn a > left; ls

$ cat left
attn a
.Ed
END
breaks "an example of .1 in a directory of its own" anywhere.1 "1 passed, 1 failed"
sed 's/; ls$//' anywhere.1 > left-there.1
holds "what an example of .1 leaves for the next" left-there.1 "2 passed, 0 failed"
for section in 5 7; do
    cp left-there.1 left-there.$section
    holds "the same of a page of section $section" left-there.$section "2 passed, 0 failed"
done
count "nothing of it is left here" "$(ls left 2>/dev/null)"

page() # LINE...: a display of these lines, the first one its line 2
{
    echo ".Bd -literal"
    printf '%s\n' "$@"
    echo ".Ed"
}
page '$ attn a' 'attn b' > out.1
breaks "a wrong byte in .1" out.1 "out.1:2: $ attn a"
page '$ attn bad' 'attn: bad is no comment' > err.1
breaks "a wrong byte on standard error in .1" err.1 "the output differs first in its line 1"
page '$ attn a; false' 'attn a' > status.1
breaks "a failure without a message in .1" status.1 'expected 0 without "attn: ", got 1'
for unknown in '\fBa\fP' '\(em' '\[em]' '\[u12]' '\[u123456]' '\[uD800]' '\[u0000]' '\*a' 'a\'; do
    page '$ attn a' "attn a$unknown" > escape.1
    resists "unknown escape $unknown" escape.1 "escape.1:3: an escape that is none of"
    page "\$ attn a$unknown" 'attn a' > escape.1
    resists "unknown escape $unknown in a command" escape.1 "escape.1:2: an escape that is none of"
done
for request in '.Sy a' "'a" '.\" comment'; do
    page '$ attn a' 'attn a' "$request" > request.1
    resists "request $request" request.1 "request.1:4: roff takes this line for a request"
done
page '$ attn a \e' > slash.1
breaks "a command without end in .1" slash.1 "slash.1:2: the command ends in a backslash"
printf '.Bd -literal\n$ attn a\nattn a\n' > open.1
breaks "a display without end" open.1 "open.1:1: what opens here is never closed"
printf '.Dl $ attn a\n' > stray.1
breaks "an example in .Dl" stray.1 "stray.1:1: an example stands in .Bd"

page 'figure' '$ attn roff' 'wrong' '' '$ attn \-b \e' '  c' > update.1
page 'figure' '$ attn roff' '\&.a\-b \(aqc\(aq \(gad\(ga \(hae \(tif \eg $ h' '\&\(aqquoted' '\&$ prompt' '' 'äöü' '' \
    '$ attn \-b \e' '  c' 'attn \-b c' > wanted
mends "an update of .1" update.1 wanted

# ---- the whole run

"$runner" plain.test good.md out.md good.1 > log 2>&1
status=$?
problem=
[ "$(tail -n 1 log)" = "10 passed, 1 failed" ] || problem="expected \"10 passed, 1 failed\""
[ $status -eq 1 ] || problem="exit status $status where 1 was expected"
count "several files" "$problem"
"$runner" > log 2>&1
count "no file" "$([ $? -eq 2 ] || echo "exit status is not 2")"
mkdir empty
ATTN_BIN=empty "$runner" plain.test > log 2>&1
count "no attn where ATTN_BIN says" "$([ $? -eq 2 ] || echo "exit status is not 2")"

printf '$ yes\n|~ y\n' > endless.test
breaks "output without end" endless.test "printed without end"
printf '$ : > begun; sleep 1000\n' > long.test
"$runner" long.test > log 2>&1 &
during $! test -e begun
kill -TERM $!
wait $! 2> /dev/null
count "a signal ends the run" "$([ $? -eq 143 ] || echo "exit status is not 143")"
count "a signal leaves no scratch directory" "$(ls tmp)"
ATTN_LIMIT=1
export ATTN_LIMIT
breaks "a command that hangs" long.test "timed out"

finish
