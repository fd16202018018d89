#!/bin/sh
# SPDX-License-Identifier: MIT
# Locale, environment and working directory change no number.
. tests/counts.sh
attn=$ATTN_BIN/attn
case $attn in /*) ;; *) attn=$PWD/$attn ;; esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cp data/inputs.json "$scratch/inputs.json"
printf '{"tokens": ["\303\251t\303\251", "\346\227\245\346\234\254"], "inputs": [[1.5, -2e-3], [0.25, 1e20]]}' >"$scratch/words.json"
cd "$scratch" || exit 1

# Writes the output of many commands into one file: text, JSON, a picture, a table, an explanation, a comparison,
# messages.
everything() { # FILE, and what stands before the command
    file=$1
    shift
    {
        "$@" "$attn" self inputs.json --init rand
        "$@" "$attn" self words.json --precision 17 --full
        "$@" "$attn" multihead inputs.json -H 2 --dropout 0.5 -f json
        for format in svg csv markdown latex; do "$@" "$attn" causal inputs.json -f $format --stages weights; done
        "$@" "$attn" causal inputs.json --heatmap
        "$@" "$attn" causal inputs.json --explain weights:2,1
        "$@" "$attn" causal inputs.json --stages context -o context.npy && cat context.npy
        "$@" "$attn" diff context.npy context.npy --stages context --rtol 0.5
        "$@" "$attn" self inputs.json --dropout 0,5
        echo '{"inputs": [[0,5], [1]]}' | "$@" "$attn" self
        "$@" "$attn" help self
    } >"$file" 2>&1
}
everything expected.txt env -i
check "a run in an empty environment" grep -q '^self-attention: 6 tokens' expected.txt
check "a decimal comma is no number" grep -q "dropout '0,5' is not a number" expected.txt

# same NAME PREFIX...: the prefix precedes each command
same() {
    everything got.txt "$@"
    cmp expected.txt got.txt
}
for locale in C.UTF-8 nowhere de_DE; do
    check "LC_ALL=$locale" same env -i LC_ALL=$locale
done

# In C and POSIX the signs and blocks of text are ASCII, and nothing else differs.
in_ascii() {
    sed 's/≈/~/g; s/·/-/g; s/░/./g; s/▒/:/g; s/▓/+/g; s/█/#/g; s/ …/ .../g; s/…/~/g' "$1"
}
in_ascii expected.txt >ascii.txt
for locale in C POSIX; do
    everything got.txt env -i LC_ALL=$locale
    in_ascii got.txt >got_ascii.txt
    check "LC_ALL=$locale" cmp ascii.txt got_ascii.txt
    check "which is in ASCII" test "$(cmp expected.txt got.txt >different.txt; echo $?)" = 1
done
check "other settings" same env -i TZ=Asia/Tokyo HOME=/nowhere TMPDIR=/nowhere PATH=/nowhere POSIXLY_CORRECT=1 IFS=0 \
    TERM=xterm-256color MALLOC_PERTURB_=85 ATTN_ISA=

# A locale with a decimal comma, made here, of numbers alone. With LOCPATH glibc's newlocale leaks a copy of it: the
# address sanitizer must ignore leaks.
printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n' >comma
mkdir locales
! command -v localedef >/dev/null || localedef -c -i ./comma locales/comma >localedef.txt 2>&1
if [ -e locales/comma/LC_NUMERIC ]; then
    german="ASAN_OPTIONS=detect_leaks=0 LOCPATH=$scratch/locales LC_CTYPE=C.UTF-8 LC_NUMERIC=comma"
    check "a decimal comma is what others print" \
        test "$(env $german "$(command -v printf || echo printf)" %.1f 1,5 2>printf.txt)" = 1,5
    check "a locale with a decimal comma" same env -i $german
else
    skip "a locale with a decimal comma" "localedef is not installed"
fi

# Another working directory.
mkdir -p "$scratch/a folder"
cp inputs.json words.json "$scratch/a folder"
cd "$scratch/a folder" || exit 1
everything ../got.txt env -i
check "another working directory" cmp ../expected.txt ../got.txt
cd "$scratch" || exit 1
"$attn" self inputs.json -f json >there.json
mkdir gone
nowhere() { (cd gone && rmdir ../gone && exec "$attn" self "$scratch/inputs.json" -f json) 2>gone.txt | cmp - there.json; }
check "a working directory that is gone" nowhere

# glibc has variants of exp, log and tanh for processors with FMA, with other last bits; this tries both on one
# processor. join rejects parts that used such a function in different variants, and joins all others. attn does not use
# features that glibc may not use: the kernel is the same for both.
cd "$scratch" || exit 1
export ATTN_ISA=baseline
plain() { GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-FMA_Usable,-AVX2_Usable "$attn" "$@"; }
awk 'BEGIN { srand(4); printf "{\"inputs\": ["
    for (i = 0; i < 400; i++) printf "%s[%.4f, %.4f]", i ? "," : "", 8 * rand() - 4, 8 * rand() - 4
    print "]}" }' >tokens.json
halves() { # COMMAND, for the second part, and options of the job
    second=$1
    shift
    "$attn" causal tokens.json "$@" -o whole.safetensors && "$attn" causal tokens.json "$@" --part 1/2 -o 1.safetensors &&
        $second causal tokens.json "$@" --part 2/2 -o 2.safetensors
}
joined() {
    halves "$@" && "$attn" join 1.safetensors 2.safetensors -o joined.safetensors && cmp whole.safetensors joined.safetensors
}
refused() {
    halves plain "$@" || return 1
    "$attn" join 1.safetensors 2.safetensors -o joined.safetensors 2>message
    [ $? -eq 2 ] && grep -q 'differs in the last bits from that of' message
}
differs() { "$attn" causal tokens.json "$@" -o one.npy && plain causal tokens.json "$@" -o other.npy && ! cmp -s one.npy other.npy; }
if differs --dtype f64 --stages weights; then
    for job in '--stages weights' '--stages context' '--stages lse' '--stages scores,weights' \
        '--stages lse --kernel fused' '--stages capped --softcap 3' \
        '--stages context --mistake softmax-base-2' '--stages weights --mistake softmax-queries'; do
        case $job in *fused*) ;; *) job="$job --dtype f64" ;; esac
        check "parts of two variants are not joined: $job" refused $job
        check "those of one are: $job" joined "$attn" $job
    done
    check "capped differs, too" differs --dtype f64 --stages capped --softcap 3
    for job in '--stages query,scores,masked --dtype f64' '--stages capped --dtype f64' \
        '--stages context --kernel fused --softcap 3'; do
        check "parts that no function went into are the same bytes: $job" joined plain $job
    done
else
    skip "variants of the C library" "this processor or C library has one alone"
fi
finish
