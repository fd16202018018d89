#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of ports and kernels with one mistake, by plain NumPy (tests/golden/make_wrong.py): attn why names each, and
# names nothing where the mistake is none of the library.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The mistakes of the first answer, and those that are the same: one list a line, "norm-twice" or "rope-theta:10000,...".
answers() {
    tr -d '\n ' <"$scratch/why" | sed 's/"command".*//; s/.*"explanations":\[*//; s/"mistakes":\[[^]]*\]//; s/\]/\n/g' |
        sed -n 's/[^[]*\[*\("[^[]*"\)$/\1/p' | tr -d '"'
}
named() { printf '%s\n' "$found" | grep -qE "^($1)(:[^,]*)?\$"; }

# A sample has one of the tables that attn searches to the end without a name, and a third of the others.
while read -r table names words; do
    case $names$table in -port-55) ;; -port-*) [ -z "${ATTN_QUICK-}" ] || continue ;; *) one_in 3 || continue ;; esac
    "$attn" why $words --mine "tests/wrong/$table.npy" -f json --budget 4 >"$scratch/why"
    found=$(answers)
    if [ "$names" = - ]; then
        check "$table: nothing is named, but $found" grep -q '"explanations": \[\]' "$scratch/why"
    else
        check "$table: $names is named, not $found: attn why $words" named "$(echo "$names" | sed 's/,/(:[^,]*)?,/g')"
    fi
done <tests/wrong/cases.txt
finish
