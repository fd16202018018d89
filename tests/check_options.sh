#!/bin/sh
# SPDX-License-Identifier: MIT
# The option table, the help and the manual agree, with each option in one page; the help fits its window, and its
# examples run.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset COLUMNS

# "-i, --in FILE" of the help becomes "-i , --in FILE", and so does the man page's ".It Fl i , Fl \-in Ar FILE".
help_heads() {
    "$attn" "$@" | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\)\( [][A-Za-z/,-]*\)\{0,1\}\(  .*\)\{0,1\}$/\1\2\3/p' |
        sed 's/^ *//; s/ *$//; s/^\(-.\), /\1 , /' | sort
}
man_heads() { # PAGE...
    awk '/^\.Sh/ { inside = $2 == "OPTIONS" } inside && /^\.It Fl/' "$@" |
        sed 's/\\-/-/g; s/^\.It //; s/Fl \(.\) ,/-\1 ,/; s/Fl -/--/; s/ Op Ar \([A-Za-z-]*\)/ [\1]/; s/ Ar / /' | sort
}

help_heads help all >"$scratch/help"
man_heads man/*.[157] >"$scratch/man"
check "the table's options are found in the help" test "$(wc -l <"$scratch/help")" -ge 26
check "the manual has the options of the table, each in one page" diff "$scratch/help" "$scratch/man"

# The table of attn(1) with the pages of other options: "--align attn-sdpa 1".
sed -n '/^\.Ss Elsewhere/,/^\.El/p' man/attn.1 |
    awk '/^\.It Xr/ { page = $3 " " $4 } /^\.Fl/ { gsub(/\\/, ""); gsub(/ ,/, ""); for (i = 2; i <= NF; i++) print "-" $i, page }' |
    sort >"$scratch/told"
for page in man/attn-*.[157]; do
    man_heads "$page" | sed "s/.*\(--[a-z-]*\).*/\1 $(basename "$page" | tr . ' ')/"
done | sort >"$scratch/elsewhere"
check "attn(1) says in which pages the others are" diff "$scratch/elsewhere" "$scratch/told"

# All commands except the versions, and the pages of the help, as listed by the help.
topics=$("$attn" help help | sed -n '/^Commands and pages:/,/^$/s/^  \([a-z]*\) .*/\1/p')
commands=$("$attn" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "the help lists its commands and pages" test "$(echo "$topics" | wc -l)" -gt "$(echo "$commands" | wc -l)"
check "the first help is a screen" test "$("$attn" --help | wc -l)" -le 40
check "attn help is attn --help" sh -c '"$1" help >"$2/a" && "$1" --help | cmp - "$2/a"' - "$attn" "$scratch"
check "the help of self has at most 25 options" test "$(help_heads self --help | wc -l)" -le 25
check "with --help=all it has all of them" test "$(help_heads self --help=all | wc -l)" -ge 60
check "attn help stages lists every stage, a line each" test -z "$("$attn" help stages | sed -n 's/^  \([a-z_]*\)$/\1/p')"
check "the first help has a dozen options or so" test "$(help_heads --help | wc -l)" -le 14
for topic in '' $topics; do
    "$attn" help $topic >"$scratch/text"
    [ "$topic" != schema ] || continue # JSON: tests/check_schema.sh
    check "attn help $topic fits 79 columns" test -z "$(grep -E '^.{80}' "$scratch/text")"
    COLUMNS=44 "$attn" help $topic | grep -E '^.{45}' | grep -v '^  \(\$ \)\{0,1\}attn ' >"$scratch/wide"
    check "attn help $topic fits a narrow window, but for command lines" test ! -s "$scratch/wide"
    help_heads help $topic >"$scratch/topic"
    check "attn help $topic lists no option of its own" test -z "$(comm -13 "$scratch/help" "$scratch/topic")"
done

# The examples before the usage of each command, and in the first help.
mkdir "$scratch/run" && cd "$scratch/run" && PATH=$(cd "$OLDPWD" && cd "$ATTN_BIN" && pwd):$PATH || exit 1
attn example >inputs.json
cp -r "$OLDPWD/tests/layers/llama-3" model
cp model/hidden.npy model/residual.npy .
for layer in 0 1; do cp model/hidden.npy hidden-$layer.npy; done
attn example grouped >qkv.json
attn init multihead -H 2 inputs.json -o trained.json
for name in expected mine; do attn causal inputs.json -o $name.json; done
attn self inputs.json -s 789 --mistake scale-missing --stages context -f json |
    sed -n '/^"context"/,$p' | sed 's/^"context": //; s/}$//' >mine.txt
attn sdpa qkv.json --mistake groups-tiled --stages context -o kernel.npy
for name in a b; do attn causal inputs.json -o $name.safetensors; done
attn causal inputs.json --stages context -o context.npy
for k in 1 2; do attn causal inputs.json --stages context --part $k/2 -o part-$k.safetensors; done
attn cases kernel --d-head 2 --max-tokens 16 >../out # and a kernel that is right
for result in kernel/*/expected_*.npy; do
    case $result in *_f64.npy) ;; *) cp "$result" "${result%/*}/${result##*/expected_}" ;; esac
done
awk 'BEGIN {
    split("query key value", name); split("32 8 8", columns)
    for (i = 1; i <= 3; i++) {
        printf "%s\"%s\": [", (i == 1 ? "{" : ", "), name[i]
        for (t = 0; t < 3; t++)
            for (c = 1; c <= columns[i]; c++)
                printf "%s%d%s", (c != 1 ? ", " : t ? ", [" : "["), c * t % 7, (c == columns[i] ? "]" : "")
        printf "]"
    }
    print "}"
}' | attn sdpa -H 8 --kv-heads 2 --stages inputs -o qkv.safetensors
for topic in '' $commands; do
    attn help $topic | sed '/^Usage/,$d; s/^  \(a[^ ]*\( [^ ]\{1,\}\)*\).*/\1/p; d' >../examples
    check "attn help $topic leads with examples" test "$(wc -l <../examples)" -ge 2
    while read -r line; do
        case $line in *jq*) command -v jq >/dev/null || continue ;; esac
        # A sample writes short cases.
        case ${ATTN_QUICK:+$line} in 'attn cases --check'*) ;; 'attn cases'*) line="$line --max-tokens 16" ;; esac
        sh -c "$line" >../out 2>&1 </dev/null
        check "attn help $topic: $line" test $? -eq 0
    done <../examples
done
cd "$OLDPWD" || exit 1

finish
