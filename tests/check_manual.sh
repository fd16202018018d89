#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages of the manual: each has its sections, refers to existing sections and pages, and ends with the list of the
# others; mandoc and groff report nothing and show the same words, in 80 columns.
. tests/counts.sh

# The arguments of a macro in a page, without quotes and trailing punctuation: ".Sx The input ," is "The input".
words_of() { # MACRO PAGE
    sed -n "s/^\.$1 //p" "$2" | sed 's/ [].,;:)]\{1,\}\( *[].,;:)]\)*$//; s/^"\(.*\)"$/\1/' | sort -u
}
sections() { sed -n 's/^\.S[hs] //p' "$1" | sort -u; }
name_of() { basename "$1" | sed 's/\(.*\)\.\(.\)/\1 \2/'; } # man/attn-files.5: attn-files 5
plain() { LC_ALL=C.UTF-8 sed 's/.\x08//g'; }
by_mandoc() { mandoc -T utf8 -O width=78 "$1" | plain; }
by_groff() { groff -k -mandoc -ww -T utf8 -P-c -rLL=78n "$1" 2>"$scratch/complaints" | plain; }
# The words of a rendered page, one per line, without its first and last line, which name the system. The two programs
# differ in quotes and dashes, and in the words that they break at the end of a line.
words_shown() {
    LC_ALL=C.UTF-8 sed -n '/^NAME/,${$d; s/[‐−–—]/-/g; s/[“”]/"/g; s/[‘’`]/'"'"'/g; p;}' |
        awk 'joined { sub(/^ +/, "") } { joined = /[^ ]-$/; printf joined ? "%s" : "%s\n", $0 }' | tr -s ' \n' '\n' | tr -d '-' | grep .
}
missing() { words_of "$1" "$2" | comm -23 - "$3"; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for page in man/*.[157]; do name_of "$page"; done | sort >"$scratch/names"
check "the manual has its pages" test "$(wc -l <"$scratch/names")" -ge 9
for page in man/*.[157]; do
    name=$(name_of "$page")
    sections "$page" >"$scratch/sections"
    for section in NAME DESCRIPTION 'SEE ALSO'; do
        check "$page has $section" grep -qx "$section" "$scratch/sections"
    done
    check "$page is called by its name" grep -qix "\.Dt $name" "$page"
    check "$page refers to sections that it has: $(missing Sx "$page" "$scratch/sections")" \
        test -z "$(missing Sx "$page" "$scratch/sections")"
    words_of Xr "$page" | grep '^attn' | comm -23 - "$scratch/names" >"$scratch/unknown"
    check "$page refers to pages that there are: $(cat "$scratch/unknown")" test ! -s "$scratch/unknown"
    sed -n '/^\.Sh SEE ALSO/,$p' "$page" >"$scratch/close"
    { words_of Xr "$scratch/close" && echo "$name"; } | sort | comm -13 - "$scratch/names" >"$scratch/unnamed"
    check "$page closes with the others: $(cat "$scratch/unnamed")" test ! -s "$scratch/unnamed"
    if command -v mandoc >/dev/null; then
        check "mandoc has nothing to say of $page" test -z "$(mandoc -T lint -W warning "$page")"
        by_mandoc "$page" >"$scratch/mandoc"
        check "$page fits 80 columns" test -z "$(LC_ALL=C.UTF-8 grep -E '^.{81}' "$scratch/mandoc")"
    else
        skip "the form of $page" "mandoc is not installed"
    fi
    if command -v mandoc >/dev/null && command -v groff >/dev/null; then
        words_shown <"$scratch/mandoc" >"$scratch/words"
        by_groff "$page" | words_shown >"$scratch/by_groff"
        check "groff has nothing to say of $page: $(cat "$scratch/complaints")" test ! -s "$scratch/complaints"
        check "$page has words" test "$(wc -l <"$scratch/words")" -gt 500
        check "groff shows the words of mandoc in $page" diff "$scratch/words" "$scratch/by_groff"
    else
        skip "the words of $page" "groff or mandoc is not installed"
    fi
done
finish
