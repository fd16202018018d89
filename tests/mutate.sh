#!/bin/sh
# SPDX-License-Identifier: MIT
# Applies each small mistake of tests/mutants.txt to a copy of the sources, builds, and runs the tests that should catch
# it, then the full suite, up to the first failure. Prints the survivors and the share of caught mutants.
#
#   sh tests/mutate.sh [FILE...]     those of the named files (`attention`), or all
#   sh tests/mutate.sh --check       only checks that each still applies
#
# WORKERS copies run at a time (one per processor). Exits 1 if one survived without an explanation in the file, or was
# caught although the file says it cannot be; 2 if one no longer applies, does not compile, or has no verdict. A test
# that does not end, as after a mistake in a loop, has caught it too: these are counted separately.
list=tests/mutants.txt
workers=${WORKERS:-$(nproc)}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD
# Small grids if a test has them, and enough time on a busy machine.
ATTN_QUICK=1 ATTN_SLOW=1 ATTN_LIMIT=60 FAULTS_STRIDE=50
export ATTN_QUICK ATTN_SLOW ATTN_LIMIT FAULTS_STRIDE

# The mutants, one folder each: file, tests, before, after, why.
awk -v folder="$scratch/mutants" '
    function fail(what) { print FILENAME ":" FNR ": " what > "/dev/stderr"; exit failed = 2 }
    function put(name, text) { print text > (at "/" name); close(at "/" name) }
    /^#/ || /^$/ { next }
    /^- / { if (part++ != 1) fail("a text without its file"); put("before", substr($0, 3)); next }
    /^\+ / { if (part++ != 2) fail("a replacement without its text"); put("after", substr($0, 3)); next }
    /^= / { if (part++ != 3) fail("a reason without its replacement"); put("why", substr($0, 3)); next }
    {
        if (count > 0 && part < 3) fail("the mutant before is not complete")
        at = sprintf("%s/%03d", folder, ++count); part = 1
        system("mkdir -p " at)
        put("file", $1); put("line", FNR); sub(/^[^ ]* */, ""); put("tests", $0)
    }
    END { if (!failed && part < 3) fail("the last mutant is not complete"); exit failed }' "$list" || exit 2

# Replaces the text, which must be in the file exactly once.
apply() { # MUTANT FILE
    awk -v before_file="$1/before" -v after_file="$1/after" '
        BEGIN { getline before < before_file; getline after < after_file }
        { place = index($0, before)
          if (place > 0) {
              count++
              rest = substr($0, place + length(before))
              if (index(rest, before) > 0) count++
              $0 = substr($0, 1, place - 1) after rest
          }
          print }
        END { exit count != 1 }' "$2" >"$2.mutated" && mv "$2.mutated" "$2"
}

# The file of a mutant: a .c, unless its name says otherwise.
source_of() { # MUTANT
    name=$(cat "$1/file")
    case $name in
    *.h | *.awk) echo "src/$name" ;;
    *) echo "src/$name.c" ;;
    esac
}

if [ "${1-}" = --check ]; then
    errors=0
    for mutant in "$scratch"/mutants/*; do
        file=$(source_of "$mutant")
        cp "$file" "$scratch/copy.c" && apply "$mutant" "$scratch/copy.c" && continue
        echo "$list:$(cat "$mutant/line"): its text does not stand in $file exactly once"
        errors=$((errors + 1))
    done
    echo "$(ls "$scratch/mutants" | wc -l) mutants, $errors of them do not apply"
    [ $errors -eq 0 ] || exit 2
    exit 0
fi

# The mutants of the named files.
for mutant in "$scratch"/mutants/*; do
    case " $* " in "  " | *" $(cat "$mutant/file") "*) ;; *) rm -r "$mutant" ;; esac
done
selected=$(ls "$scratch/mutants" | wc -l)
[ "$selected" -gt 0 ] || { echo "tests/mutate.sh: $list has no mutant of $*" >&2; exit 2; }

# All tests, the longest last: `whole` has the examples that a sample leaves out.
suite="$(cd tests && ls test_*.c | sed 's/\.c$//; /test_faults/d') cli hostile documentation $(cd tests && ls check_*.sh) test_faults whole"

# Runs one test in the folder of a worker; its failure is the aim.
try() { # TEST
    # A mistake may allocate all memory; a browser does so anyway.
    case $1 in check_page.sh | check_browser.sh) ;; *) ulimit -v 8000000 ;; esac
    case $1 in
    cli) make -s CFLAGS=-O1 build/attn build/run_examples && ATTN_BIN=build build/run_examples tests/cli/*.test ;;
    hostile) make -s CFLAGS=-O1 build/attn build/run_examples && ATTN_BIN=build build/run_examples tests/hostile/*.test ;;
    documentation) make -s CFLAGS=-O1 build/attn build/run_examples && ATTN_BIN=build build/run_examples README.md man/*.[157] ;;
    whole) make -s CFLAGS=-O1 build/attn build/run_examples && ATTN_WHOLE=1 sh tests/run.sh build whole ;;
    check_*) make -s CFLAGS=-O1 build/attn && ATTN_BIN=build sh "tests/$1" ;;
    *) make -s CFLAGS=-O1 "build/$1" && "build/$1" ;;
    esac
}

# Who caught it: "caught by TEST", "caught by a timeout of TEST", "survived", or an error.
judge() { # MUTANT FOLDER
    cd "$2" || return
    file=$(source_of "$1")
    apply "$1" "$file" || { echo "error: its text does not stand in $file exactly once"; return; }
    make -s CFLAGS=-O1 build/attn >make.log 2>&1 || { echo "error: it does not compile: $(grep -m 1 error: make.log)"; return; }
    for test in $(cat "$1/tests") $suite; do
        case $test in
        cli | hostile | documentation | whole) ;;
        check_*) [ -e "tests/$test" ] || { echo "error: no test $test"; return; } ;;
        *) [ -e "tests/$test.c" ] || { echo "error: no test $test"; return; } ;;
        esac
        timeout 300 sh -c '. "$0"; try "$1"' "$scratch/try.sh" "$test" >test.log 2>&1
        case $? in
        0) continue ;;
        124) by="a timeout of $test" ;;
        *) by=$test ;;
        esac
        echo "caught by $by$(grep -qw "$test" "$1/tests" || echo ", which it does not name")"
        return
    done
    echo survived
}

# Restores sources and objects; programs are linked again.
restore() { # FOLDER
    cp -a "$scratch/pristine/." "$1"
    find "$1/build" -type f ! -name '*.[od]' -delete
}

worker() { # NUMBER
    folder=$scratch/worker-$1
    cp -a "$scratch/pristine" "$folder"
    for mutant in "$scratch"/mutants/*; do
        mkdir "$mutant/taken" 2>/dev/null || continue
        name=$(cat "$mutant/file")
        restore "$folder"
        verdict=$(judge "$mutant" "$folder" 2>/dev/null)
        echo "$verdict" >"$mutant/verdict"
        case $verdict in
        *'not name' | 'caught by a timeout'*) echo "$list:$(cat "$mutant/line"): $name: $verdict" ;;
        caught*) [ -e "$mutant/why" ] && echo "$list:$(cat "$mutant/line"): $name: $verdict, but the file says: $(cat "$mutant/why")" ;;
        survived) [ -e "$mutant/why" ] || { echo "$list:$(cat "$mutant/line"): $name survived:"; sed 's/^/  - /' "$mutant/before"; sed 's/^/  + /' "$mutant/after"; } ;;
        *) echo "$list:$(cat "$mutant/line"): $name: $verdict" ;;
        esac
    done
}

sed -n '/^try()/,/^}/p' "$0" >"$scratch/try.sh"
mkdir "$scratch/pristine"
cp -a Makefile README.md CHANGELOG.md LICENSE src tests data man "$scratch/pristine" || exit 2
(cd "$scratch/pristine" && make -s -j "$workers" CFLAGS=-O1 tests >make.log 2>&1 && sh tests/run.sh build >test.log) ||
    { echo "tests/mutate.sh: the suite fails without any mistake"; grep -h 'FAILED\|error' "$scratch"/pristine/*.log; exit 2; }
find "$scratch/pristine/build" -type f ! -name '*.[od]' -delete
started=$(date +%s)
number=0
while [ $number -lt "$workers" ]; do
    worker $number &
    number=$((number + 1))
done
wait

verdicts() { cat "$scratch"/mutants/*/verdict | grep -c "$1"; }
unexplained=$(find "$scratch/mutants" -name verdict | while read -r verdict; do
    folder=${verdict%/verdict}
    grep -q '^survived' "$verdict" && [ ! -e "$folder/why" ] && echo "$folder"
    grep -q '^caught' "$verdict" && [ -e "$folder/why" ] && echo "$folder"
done | wc -l)
caught=$(verdicts '^caught') survived=$(verdicts '^survived') errors=$(verdicts '^error')
others=$(verdicts '^caught.*does not name') late=$(verdicts '^caught by a timeout')
echo "$caught of $((caught + survived)) mutants caught, $others of them by another test than the one named, $late by a timeout;" \
    "$survived survived, $unexplained not as the file says; $errors errors; $(($(date +%s) - started)) seconds"
[ "$errors" -eq 0 ] && [ $((caught + survived)) -eq "$selected" ] || exit 2
[ "$unexplained" -eq 0 ]
