#!/bin/sh
# SPDX-License-Identifier: MIT
# Pages of -f html: node runs the equations of each, in tests/page/equations.js, and compares the page with attn's JSON
# for the same job. check_browser.sh reads this file too, and shows the cases with `page` in a browser.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
node=$(command -v node) || { skip "the equations of the page" "node is not installed" && finish; }

# equations OPTION...: the page and the JSON of a job, which one process compares at the end.
mkdir "$scratch/equations"
equations() {
    [ -z "${in_browser-}" ] || { passed=$((passed - 1)) && return; }
    turn=$((turn + 1))
    echo "$checked" >"$scratch/equations/$turn.name"
    "$attn" "$@" -f html >"$scratch/equations/$turn.page" && "$attn" "$@" -f json >"$scratch/equations/$turn.json"
}

# page NAME OPTION...: the same, or what the browser needs.
page() {
    label=$1
    shift
    pages=$((pages + 1))
    ${in_browser:-equations} "$@"
}

echo '{"tokens": ["a", "b", "c", "d"], "kv_lengths": [3, 1], "query": [[[[1, 2], [0, 1]]], [[[2, 1], [1, 1]]]],
    "key": [[[[1, 0], [0, 1], [1, 1], [2, 0]]], [[[1, 1], [0, 2], [1, -1], [0.5, 0]]]],
    "value": [[[[1], [2], [3], [4]]], [[[5], [6], [7], [8]]]], "attn_mask": [[0.5, -1, 0.25]]}' >"$scratch/lengths.json"
echo '{"query": [[[1, 2, 3, 4], [0, 1, 0, 2]]], "key": [[[1, 0, 2, 1], [0, 1, 1, -1]]],
    "value": [[[1, 2], [4, 3]]], "settings": {"heads": 2}}' >"$scratch/packed.json"
# The same with edits; attn computes the saved file.
reader() {
    script=reader
    page "$@"
    made=$?
    script=check
    return $made
}

# The same in a narrow frame.
phone() {
    width=375
    page "$@"
    made=$?
    width=1000
    return $made
}

# The same at 1280 x 800: what is above the fold, level, and on the first sheet of paper.
fold() {
    script=fold width=1280 height=800
    page "$@"
    made=$?
    script=check width=1000 height=700
    return $made
}

width=1000
height=700
script=check
pages=0
golden=tests/golden/sdpa
all=scores,scaled,masked,weights,context
check "self" page self self data/inputs.json
check "causal with dropout" page dropout causal data/inputs.json --dropout 0.5
check "one head of several" equations multihead -H 4 --kv-heads 2 -d 8 data/inputs.json --head 3 --qkv-bias
check "gradients of one head" equations multihead -H 2 -d 4 data/inputs.json --head 2 --grad ones
check "several heads on a phone" phone heads multihead -H 3 -d 6 data/inputs.json
check "stacked heads with dropout" page stacked multihead -H 2 --stacked data/inputs.json --dropout 0.3
check "some queries" page queries causal data/inputs.json --query 2,5 -p 6
check "float64" page float64 causal data/inputs.json --dtype f64 -p 12
check "float16" page float16 causal data/inputs.json --dtype f16 -p 7 --softcap 0.5
check "bfloat16, softmax in float32" page bfloat16 self data/inputs.json --dtype bf16 --softmax-dtype f32 --window 1,2
check "many heads" page many multihead -H 40 -d 40 data/inputs.json --no-causal
check "empty rows" page empty sdpa $golden/bool-mask-empty-row.safetensors --empty-row mean --stages $all
check "cross-attention" page cross self data/inputs.json --key-inputs tests/pairs/other.json --window 1,-1
check "lengths of a cache" page lengths sdpa "$scratch/lengths.json" --causal --window 2,-1 --empty-row nan --stages $all
check "some stages" page stages causal data/inputs.json --stages weights,capped,scores
check "the entropy of each row" equations multihead -H 2 data/batch.json --dropout 0.5 --stages weights,entropy --dtype bf16
check "hostile tokens on a phone" phone hostile self tests/page/hostile.json
for masks in float-mask-empty-row bool-mask-of-heads grouped-causal; do
    check "sdpa: $masks" page "$masks" sdpa "$golden/$masks.safetensors" --stages $all
done
check "sdpa with dropout" page dropout-mask sdpa "$golden/dropout-grouped-float-mask.safetensors" --stages $all,dropped
awk 'BEGIN { srand(3); printf "{\"inputs\": ["
    for (item = 0; item < 2; item++) for (i = 0; i < 20; i++)
        for (j = 0; j < 12; j++) printf "%s%.2f", j ? ", " : i ? "], [" : item ? "]], [[" : "[[", 4 * rand() - 2
    print "]]], \"alibi_slopes\": [0.5, 0.25], \"sinks\": [0.5, -1]}" }' >"$scratch/batch.json"
check "a batch with ALiBi and sinks" page batch multihead -H 2 "$scratch/batch.json" --no-causal

# Norms, rotations, latents, T5's table, a scale on query: from the stage before to query and key.
blocks=tests/blocks
check "a rotation" page turned causal data/inputs.json -d 6 --rope pairs --rope-columns 4 --rope-theta 9 --positions 3-8
check "norms and a rotation" equations multihead tests/pairs/inputs/blocks.json
check "a rotation by three axes" equations causal data/inputs.json -d 6 --rope pairs --rope-axes t1,h1,w1 \
    --positions '0,1,1,1,1,4;0,1,1,2,2,4;0,1,2,1,2,4'
check "a rotation by row and column, with unrotated tokens" equations self data/inputs.json -d 8 --rope half \
    --rope-axes h,w,restarted,centred,rest-first=2 --positions grid:2x2
check "a rotation in float64" equations causal data/inputs.json -d 6 --rope half --positions 999983-999988 --dtype f64
check "T5's table and a scale on query, on a phone" phone relative multihead $blocks/relative.json
check "latents, pairs written as halves" equations multihead $blocks/latent.json --dtype bf16
check "key inputs of another width, slopes" equations multihead $blocks/cross.json --dtype f64
echo '{"query": [[[1, 2, 3, 4]]], "key": [[[1, 0, 2, 1]]], "value": [[[1, 2]]], "past_key": [[[[0.5, 1, -1, 2], [1, 1, 0, -2]]]],
    "past_value": [[[[3, 4], [5, 6]]]]}' >"$scratch/past.json"
check "a past, which is turned already" equations sdpa "$scratch/past.json" --rope half --scale-on query --stages $all

# Numbers at the limits of the dtypes. The weights of `magnitudes` have all magnitudes of a double, down to 0.
every=scores,scaled,capped,masked,weights,context,entropy
echo '{"query": [[1]], "key": [[740], [0]], "value": [[1], [2]]}' >"$scratch/underflow.json"
awk 'BEGIN { for (i = 0; i < 760; i++) { key = key (i ? ", " : "") "[" (-i / 1.02) "]"; value = value (i ? ", " : "") "[1]" }
    print "{\"query\": [[1], [-1], [0.001]], \"key\": [" key "], \"value\": [" value "]}" }' >"$scratch/magnitudes.json"
echo '{"query": [[1], [-1]], "key": [[1], [2], [3]], "value": [[1], [2], [3]], "alibi_slopes": [1.7e308],
    "attn_mask": [[0, -1.7e308, null], [-1, 0, 1]]}' >"$scratch/slope.json"
for dtype in f32 f64 f16 bf16 f8e4m3 f8e5m2; do
    check "a weight that underflows $dtype" equations sdpa "$scratch/underflow.json" --dtype $dtype --stages $every
    check "all magnitudes in $dtype" equations sdpa "$scratch/magnitudes.json" --dtype $dtype --stages $every
    check "a softmax in $dtype" equations sdpa "$scratch/magnitudes.json" --dtype f32 --softmax-dtype $dtype --stages $every
done
while read -r name number module kind; do
    case " gpt2 gptj bloom-three-heads mpt-clip falcon-rw llama-3 qwen3 gemma-2-sliding gemma-3-full phi-3-long gpt-oss-full \
        deepseek-v2 olmo-2-groups cohere-norms bert t5-cross whisper-decoder modernbert-local qwen3-next afmoe gemma-4 \
        qwen2-vl-image dinov3 " in
        *" $name "*) ;;
        *) [ -n "${ATTN_WHOLE-}" ] || continue ;;
    esac
    of=tests/layers/$name residual=hidden
    set -- -w $of --module $module
    [ $kind = self ] || set -- "$@" --key-inputs $of/encoder.npy
    positions=$(sed -n 's/^  "positions": "\(.*\)",*$/\1/p' $of/case.json)
    [ -z "$positions" ] || set -- "$@" --positions "$positions"
    [ ! -f $of/residual.npy ] || { set -- "$@" --residual && residual=residual; }
    case $name in
        *-growing) lacks=--query-growth ;;
        hunyuan-v1*) lacks='a norm after the rotation' ;;
        *) lacks='' ;;
    esac
    if [ -n "$lacks" ]; then
        message=$("$attn" page layer $of/$residual.npy "$@" -o "$scratch/none.html" 2>&1)
        check "no page of $name: $message" expr "$message" : ".* does not compute $lacks;"
    else
        check "layer $number of $name" equations layer $of/$residual.npy "$@" --grad ones
    fi
done <tests/layers/cases.txt
falcon=tests/layers/falcon-rw
check "the stages of Falcon's ALiBi" equations layer $falcon/hidden.npy -w $falcon --layer 1 --stages $every
check "a slope of ALiBi near the largest number" equations sdpa "$scratch/slope.json" --dtype f64 --stages $every
echo '{"inputs": [[0.5, -1, 2], [1, 0.25, -0.5], [-1.5, 1, 1], [2, -0.75, 0.5]]}' >"$scratch/small.json"
echo '{"query": [[[1, 2], [0, 1], [1, 1]], [[2, 0], [1, -1], [0, 2]], [[1, 0], [3, 1], [1, 2]], [[2, 2], [0, 0], [-1, 1]]],
    "key": [[[1, 0], [0, 1], [1, 1]], [[2, 0], [1, -1], [1, 3]]], "value": [[[1], [2], [3]], [[4], [-1], [0.5]]],
    "sinks": [0.5, -1, 0, 1], "attn_mask": [[true, false, true], [true, true, true], [false, false, false]]}' \
    >"$scratch/kernel.json"
check "packed heads" equations sdpa "$scratch/packed.json" --stages $every

# An edited page shows the numbers that attn computes from the file that it saves: random jobs and edits.
edited=5
[ -z "${ATTN_WHOLE-}" ] || edited=60
[ -z "${ATTN_ALL-}" ] || edited=1500
edits() {
    timeout 3600 "$node" tests/page/edits.js "$attn" "$scratch" "$@" >"$scratch/edits" && return
    cat "$scratch/edits"
    return 1
}
[ -n "${in_browser-}" ] || check "$edited jobs whose pages are edited" edits $edited

# Gradients, which the page computes as a layer over its tables.
"$attn" multihead $blocks/cross.json --dtype f64 --random-seed 4 -f json --stages output 2>"$scratch/err" |
    sed 's/"output"/"grad_output"/' >"$scratch/loss.json"
check "gradients of a batch with ALiBi and sinks" equations multihead -H 2 "$scratch/batch.json" --grad ones --dropout 0.2
check "gradients of norms and a rotation" equations multihead tests/pairs/inputs/blocks.json --grad ones
check "gradients of T5's table" equations multihead $blocks/relative.json --grad ones
check "gradients of latents" equations multihead $blocks/latent.json --grad ones --dtype f64
check "gradients of packed heads" equations sdpa "$scratch/packed.json" --grad ones
check "gradients of a given loss" equations multihead $blocks/cross.json --dtype f64 --grad "$scratch/loss.json"

# A model of words, with its stages up to the next word.
check "a trained model of words" equations multihead data/trained.json
check "gradients of a model of words" equations multihead data/trained.json --grad ones
check "a head taken out" equations multihead data/trained.json --text "the dogs near the cat" --without-heads 2 --dtype f64
check "sines and cosines" equations causal data/inputs.json --add-positions sinusoidal

# With a mistake a page holds its numbers, and explains those that it cannot compute as a mistake.
check "a softmax over the queries" page queries-softmax causal data/inputs.json -s 789 --mistake softmax-queries -q 2-6
pages_of_mistakes=1
for mistake in softmax-all tiles-last-alone:2 split-view; do
    check "the numbers of $mistake" equations multihead -H 2 -d 6 --dropout 0.3 "$scratch/small.json" --mistake $mistake
done
if [ -n "${ATTN_WHOLE-}" ]; then
    pages_of_mistakes=4
    check "zeros in place of minus infinity" page fill multihead -H 2 -d 4 data/inputs.json --mistake fill-zero --dropout 0.3
    check "a mask of a mistake" page mask-made sdpa "$golden/grouped-causal.safetensors" --mistake mask-one-ahead --stages $all
    check "a context of a mistake" page values-shifted causal data/inputs.json --mistake values-shifted,scale-twice
    for mistake in softmax-all softmax-base-2,scale-after-softmax softmax-missing tiles-last-alone:2 weights-transposed \
        roles-query-key-swapped roles-inputs-for-value split-view split-missing merge-view dropout-before-softmax \
        dropout-not-rescaled dropout-missing mask-mirrored fill-after-softmax keys-padding-counted:5 dtype-bf16; do
        set -- multihead -H 2 -d 6 --no-causal
        case $mistake in mask* | fill*) set -- multihead -H 2 -d 6 ;; esac
        check "the numbers of $mistake" equations "$@" --dropout 0.3 "$scratch/small.json" --mistake $mistake
    done
    for mistake in groups-tiled softcap-after-mask softcap-not-multiplied lse-base-2 empty-mean bits-swapped overflow-f16; do
        check "the numbers of $mistake" equations sdpa "$scratch/kernel.json" --softcap 2 --window 1,0 --stages $every \
            --mistake $mistake
    done
    check "packed heads that are merged otherwise" equations sdpa "$scratch/packed.json" --stages $every --mistake merge-reversed
else
    echo 'some pages with mistakes: ATTN_WHOLE=1 sh tests/run.sh build check_page.sh takes all, as .ci/run does'
fi
check "what is seen first" fold first causal data/inputs.json
check "what is seen first of two heads" fold first-heads multihead -H 2 -d 4 data/inputs.json
check "what is seen first of a sentence" fold first-words multihead data/trained.json
# Edited as a reader does.
check "a page that is edited" reader edit-causal causal data/inputs.json
if [ -n "${ATTN_WHOLE-}" ]; then
    pages_edited=6
    check "several heads, edited" reader edit-heads multihead -H 2 -d 4 data/inputs.json --dropout 0.2
    check "stacked heads, edited" reader edit-stacked multihead -H 2 --stacked data/inputs.json --qkv-bias
    check "a batch, edited" reader edit-batch multihead -H 2 "$scratch/batch.json" --no-causal
    check "query, key and value, edited" reader edit-sdpa sdpa data/kernel-plain.json --stages $all
    check "a mask and sinks, edited" reader edit-mask sdpa "$scratch/kernel.json" --stages $all
else
    pages_edited=1
    echo 'one page is edited: ATTN_WHOLE=1 sh tests/run.sh build check_page.sh edits all, as .ci/run does'
fi
check "all pages were made" test $pages -eq $((24 + pages_of_mistakes + pages_edited))
[ -z "${in_browser-}" ] || return
# Ends an endless loop.
timeout 3600 "$node" tests/page/every.js "$scratch/equations" >"$scratch/every"
for number in $(seq $turn); do
    check "the equations of $(cat "$scratch/equations/$number.name")" grep -q "^$number: [1-9][0-9]* numbers are the same, 0 are not$" "$scratch/every"
done
grep -v ' 0 are not$' "$scratch/every"
check "the walk says what the manual and attn say" "$node" tests/page/walk.js man/attn-lessons.7 "$scratch/equations"
finish
