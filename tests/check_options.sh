#!/bin/sh
# The option table, the help and the man page say the same, and the help fits 80 columns.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# "-i, --in FILE" of the help becomes "-i , --in FILE", and so does the man page's ".It Fl i , Fl \-in Ar FILE".
help_heads() {
    "$attn" "$@" | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\)\( [][A-Z/,]*\)\{0,1\}\(  .*\)\{0,1\}$/\1\2\3/p' |
        sed 's/^ *//; s/ *$//; s/^\(-.\), /\1 , /' | sort
}
man_heads() {
    awk '/^\.Sh/ { inside = $2 == "OPTIONS" } inside && /^\.It Fl/' man/attn.1 |
        sed 's/\\-/-/g; s/^\.It //; s/Fl \(.\) ,/-\1 ,/; s/Fl -/--/; s/ Op Ar \([A-Z]*\)/ [\1]/; s/ Ar / /' | sort
}

help_heads --help >"$scratch/help"
man_heads >"$scratch/man"
check "the table's options are found in the help" test "$(wc -l <"$scratch/help")" -ge 26
check "the man page has the options of the table" diff "$scratch/help" "$scratch/man"

for topic in '' self causal multihead sdpa init diff join help; do
    "$attn" help $topic >"$scratch/text"
    check "attn help $topic fits 80 columns" test -z "$(grep -E '^.{80}' "$scratch/text")"
    check "attn help $topic leads with three examples" test "$(sed '/^Usage/,$d' "$scratch/text" | grep -c '^  [am][tna]')" -eq 3
    help_heads help $topic >"$scratch/topic"
    check "attn help $topic lists no option of its own" test -z "$(comm -13 "$scratch/help" "$scratch/topic")"
done
if command -v mandoc >/dev/null; then
    check "mandoc has nothing to say" sh -c 'test -z "$(mandoc -T lint -W warning man/attn.1)"'
    check "the man page fits 80 columns" test -z "$(mandoc -T utf8 -O width=78 man/attn.1 | LC_ALL=C.UTF-8 sed 's/.\x08//g' | LC_ALL=C.UTF-8 grep -E '^.{81}')"
else
    skip "the man page's form" "mandoc is not installed"
fi
finish
