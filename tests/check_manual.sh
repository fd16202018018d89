#!/bin/sh
# The pages of the manual: each has its sections, sends to sections and pages that there are, and closes with the others;
# mandoc has nothing to say of them, and they fit 80 columns.
. tests/counts.sh

# What stands behind a macro in a page, without quotes and the punctuation that follows: ".Sx The input ," is "The input".
words_of() { # MACRO PAGE
    sed -n "s/^\.$1 //p" "$2" | sed 's/ [].,;:)]\{1,\}\( *[].,;:)]\)*$//; s/^"\(.*\)"$/\1/' | sort -u
}
sections() { sed -n 's/^\.S[hs] //p' "$1" | sort -u; }
name_of() { basename "$1" | sed 's/\(.*\)\.\(.\)/\1 \2/'; } # man/attn-files.5: attn-files 5
missing() { words_of "$1" "$2" | comm -23 - "$3"; }

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for page in man/*.[157]; do name_of "$page"; done | sort >"$scratch/names"
check "the manual has its pages" test "$(wc -l <"$scratch/names")" -ge 8
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
        check "$page fits 80 columns" test -z "$(mandoc -T utf8 -O width=78 "$page" | LC_ALL=C.UTF-8 sed 's/.\x08//g' | LC_ALL=C.UTF-8 grep -E '^.{81}')"
    else
        skip "the form of $page" "mandoc is not installed"
    fi
done
finish
