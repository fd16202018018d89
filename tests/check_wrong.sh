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

# A sample leaves out what attn searches to the end without a name, but for one.
left=0
while read -r table names words; do
    case ${ATTN_QUICK:+$names $table} in '- port-55') ;; '- port-'*) left=$((left + 1)) && continue ;; esac
    "$attn" why $words --mine "tests/wrong/$table.npy" -f json --budget 4 >"$scratch/why"
    found=$(answers)
    if [ "$names" = - ]; then
        check "$table: nothing is named, but $found" grep -q '"explanations": \[\]' "$scratch/why"
    else
        check "$table: $names is named, not $found: attn why $words" named "$(echo "$names" | sed 's/,/(:[^,]*)?,/g')"
    fi
done <tests/wrong/cases.txt
[ $left -eq 0 ] || echo "ATTN_QUICK: without $left tables that have no name"
finish
