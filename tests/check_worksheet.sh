#!/bin/sh
# SPDX-License-Identifier: MIT
# attn worksheet with pairs of options, in each format in turn: a complete sheet, or an error with a reason. With
# ATTN_WHOLE one pair in three, with ATTN_ALL all, else a small sample.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
step=29
[ -z "$ATTN_QUICK" ] || step=89
[ -z "$ATTN_WHOLE" ] || step=3
[ -z "$ATTN_ALL" ] || step=1

# One option per line, for every mechanism that takes it.
cat >"$scratch/options" <<'END'
--random 4x3
--random 2x3x2
--seed 18446744073709551615
--skip 3
--init randn
--rng torch-mkl
--d-out 4
--d-out 2
--heads 2
--kv-heads 1
--stacked
--qkv-bias
--dropout 0.25
--dropout-seed 5
--context-length 3
--causal
--no-causal
--align bottom-right
--window 1,0
--scale 1/2
--scale -3
--temperature 0.5
--softcap 2
--empty-row mean
--rope half
--rope-theta 50
--positions 3-5
--alibi slopes
--scale-on query
--residual
--norm rms
--qk-norm rms
--clip 1
--family llama
--query 2
--without 2
--stages query,weights,context
--stages masked
--stages output
--blank weights
--blank scores,context
--variants 2
--answers
--answers one-page
--no-answers
--mistake scale-missing
--mistake softmax-queries,mask-missing
--precision 0
--precision 9
--dtype bf16
--softmax-dtype f16
--rounding stages
--rounding operations
--color always
--threads 2
--progress never
data/inputs.json
data/module.json
data/batch.json
data/grouped.json
END
count=$(wc -l <"$scratch/options")
option() { sed -n "$1p" "$scratch/options"; }

# A complete sheet has its end, and its answers have the format.
is_whole() { # FORMAT FILE
    case $1 in
    latex) grep -q '^\\begin{document}$' "$2" && tail -n 1 "$2" | grep -q '^\\end{document}$' ;;
    html) head -n 1 "$2" | grep -q '^<!DOCTYPE html>$' && tail -n 1 "$2" | grep -q '^</html>$' ;;
    markdown) head -n 1 "$2" | grep -q '^# .* by hand$' ;;
    *) head -n 1 "$2" | grep -q ' by hand' ;;
    esac
}

is_right() { # FORMAT WORD...
    format=$1
    shift
    "$attn" worksheet "$@" -f "$format" </dev/null >"$scratch/sheet" 2>"$scratch/words"
    status=$?
    if [ $status -eq 0 ]; then
        is_whole "$format" "$scratch/sheet" && ! grep -qv '^attn: warning: ' "$scratch/words"
    else
        [ $status -eq 2 ] && [ ! -s "$scratch/sheet" ] && [ "$(grep -c '^attn: ' "$scratch/words")" -ge 1 ]
    fi
}

sheets=0 refused=0 pair=0
for mechanism in self causal 'multihead -H 2' sdpa; do
    first=1
    while [ $first -le "$count" ]; do
        other=$first
        while [ $other -le "$count" ]; do
            pair=$((pair + 1))
            if [ $((pair % step)) -eq 0 ]; then
                case $((pair / step % 4)) in 0) format=text ;; 1) format=markdown ;; 2) format=latex ;; 3) format=html ;; esac
                words="$mechanism $(option $first)"
                [ $first -eq $other ] || words="$words $(option $other)"
                check "attn worksheet $words -f $format" is_right $format $words
                [ $status -eq 0 ] && sheets=$((sheets + 1)) || refused=$((refused + 1))
            fi
            other=$((other + 1))
        done
        first=$((first + 1))
    done
done
check "sheets are written ($sheets), and lines refused ($refused)" [ $sheets -gt $refused -a $refused -gt 0 ]
finish
