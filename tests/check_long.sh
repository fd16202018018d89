#!/bin/sh
# SPDX-License-Identifier: MIT
# Long inputs: memory does not grow with T x T, and the bytes are the same for any number of threads and parts.
. tests/counts.sh
attn=$ATTN_BIN/attn readme=$PWD/README.md
case $attn in /*) ;; *) attn=$PWD/$attn ;; esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

make_input() { # T D FILE
    awk -v tokens="$1" -v width="$2" 'BEGIN { srand(2); printf "{\"inputs\": ["
        for (i = 0; i < tokens; i++) {
            printf "%s[", i ? "," : ""
            for (j = 0; j < width; j++) printf "%s%.4f", j ? "," : "", 2 * rand() - 1
            printf "]"
        }
        print "]}" }' | "$attn" self --stages inputs -o "$3"
}
# Makes a file for the checks below.
made() { check "a file is made" "$@"; }
made make_input 3000 8 long.npy
made make_input 700 48 wide.npy

# 3000 x 3000 float32 are 36 MB, which none of these may allocate.
within() (ulimit -v 40000 && exec "$attn" "$@")
if within --version >/dev/null 2>&1; then
    check "weights to .npy in 40 MB" within causal long.npy --stages weights -o weights.npy
    check "which is as large as it should be" test "$(wc -c <weights.npy)" -eq $((128 + 3000 * 3000 * 4))
    check "all T x T stages to .safetensors in 40 MB" within causal long.npy -o all.safetensors
    check "text in 40 MB" within causal long.npy -o all.txt
    check "a heatmap in 40 MB" within causal long.npy --heatmap --stages weights -o heatmap.txt
    check "an SVG in 40 MB" within causal long.npy --stages weights -o weights.svg
    check "context by the fused path in 40 MB" within causal long.npy --stages context --kernel fused -t 2 -o c.npy
    check "a module with a gate, of 16384 tokens, in 40 MB" \
        within layer -w "${readme%/README.md}/tests/layers/qwen3-next" --layer 1 --random 16384x24 --stages output -t 2 -o o.npy
    check "the way back by the fused path in 40 MB" \
        within causal long.npy --grad ones --stages grad_inputs,grad_parameters --kernel fused -t 2 -o g.safetensors
    # 32768 x 32768 are 4 GB.
    back() (ulimit -v 150000 && exec "$attn" sdpa --random 1x32768x8 --causal --grad ones --kernel fused -t 2 "$@")
    check "that of 32768 tokens in 150 MB" back --stages grad_query,grad_key,grad_value -o g.safetensors
    rm -f all.safetensors weights.npy
    too_large() { within causal long.npy -d 100000 --stages context -o c.npy 2>message; [ $? -eq 3 ]; }
    check "a job that 40 MB cannot hold is refused" too_large
    check "before it starts, with both sizes" grep -q 'needs [0-9.]* GB .* 0.0 GB are free' message
    too_large() { within multihead long.npy -d 256 -H 2 --grad ones --stages "$1" -o c.safetensors 2>message; [ $? -eq 3 ]; }
    check "the way back is counted: a job whose gradients 40 MB cannot hold is refused" \
        too_large output,grad_inputs
    check "before it starts, with both sizes" grep -q 'needs [0-9.]* MB .* [0-9.]* MB are free' message
    check "and without a stage of the way forward" too_large grad_inputs
    check "with both sizes, too" grep -q 'needs [0-9.]* MB .* [0-9.]* MB are free' message
    check "sums over 16384 queries in 40 MB, where a T x T would be 1 GB" \
        within sdpa --random 1x1x16384x1 --causal --grad ones --stages grad_query,grad_key,grad_value -o sums.safetensors
    rm -f sums.safetensors
else
    skip "memory" "this build asks for more than 40 MB of addresses by itself"
fi

# The rows that text shows are those of the full result, whichever rows attn computes.
made "$attn" causal wide.npy --stages context,query --kernel fused -o shown.txt
made "$attn" causal wide.npy --stages context,query --kernel fused --full -o full.txt
ends() { grep -E '^  (1|6|695|700) ' "$1" | awk '{ print $1, $2, $3, $NF }'; }
check "an elided table has its rows" test "$(ends shown.txt | wc -l)" -eq 8
check "an elided table computes the rows of the whole" test "$(ends shown.txt)" = "$(ends full.txt)"

# A table whose columns are the queries, by both paths.
made "$attn" causal long.npy --stages lse -o shown.txt
made "$attn" causal long.npy --stages lse --full -o full.txt
check "an elided lse is that of the whole" \
    test "$(tail -n 1 shown.txt | tr -s ' ' | cut -d' ' -f 2-7,9-14)" = \
    "$(tail -n 1 full.txt | tr -s ' ' | cut -d' ' -f 2-7,2996-3001)"
check "an elided lse by the fused path" "$attn" causal long.npy --stages lse --kernel fused -o fused.txt

# A long job in bfloat16 continues from rounded projections.
made "$attn" self wide.npy --dtype bf16 -q 1-3 --stages query,scores -o fast.safetensors
made "$attn" self wide.npy --dtype bf16 -q 1-3 --stages query,scores --kernel reference -o reference.safetensors
check "scores of a long job in bfloat16 are the reference's" "$attn" diff reference.safetensors fast.safetensors --atol 0 --rtol 0.016 -o difference.txt

# float32 holds the scale, but not the scale times log2(e): the largest score has all the weight.
made "$attn" self long.npy -d 2 --stages context --scale 2.5e38 --kernel reference -o reference.npy
made "$attn" self long.npy -d 2 --stages context --scale 2.5e38 -o context.npy
made "$attn" self long.npy -d 2 --stages context --scale 2.5e38 -q 1-9 -o numbers.json
check "a scale of 2.5e38 gives numbers" test "$(grep -c 'NaN\|Infinity\|null' numbers.json)" -eq 0
check "which are the reference's" "$attn" diff reference.npy context.npy -o difference.txt

# The same for T x T stages, where each row is computed once.
stages=query,key,value,scores,scaled,masked,context
made "$attn" causal wide.npy --dropout 0.1 --stages $stages -o shown.txt
made "$attn" causal wide.npy --dropout 0.1 --stages $stages --full -o full.txt
check "elided stages of T x T have their rows" test "$(ends shown.txt | wc -l)" -eq 28
check "elided stages of T x T are those of the whole" test "$(ends shown.txt)" = "$(ends full.txt)"
for stage in weights dropped; do
    made "$attn" causal wide.npy --dropout 0.1 --stages $stage -p 6 -o shown.txt
    made "$attn" causal wide.npy --dropout 0.1 --stages $stage -p 6 --full -o full.txt
    largest=$(awk '$1 == 700 { for (i = 2; i <= NF; i++) if ($i > $best || !best) best = i; print "key", best - 1, $best }' full.txt)
    check "an elided row of $stage begins with its largest key" test "$(awk '$1 == 700 { print $2, $3, $4 }' shown.txt)" = "$largest"
done

job() { "$attn" multihead -H 4 wide.npy --stages query,context,output --kernel fused "$@"; }
made job -t 1 -o whole.safetensors
for threads in 2 3 7; do
    made job -t $threads -o threads.safetensors
    check "the same bytes on $threads threads" cmp threads.safetensors whole.safetensors
done
for parts in 2 3 8; do
    part=1
    while [ $part -le $parts ]; do
        made job --part $part/$parts -o part-$part.safetensors
        part=$((part + 1))
    done
    check "$parts parts joined are the whole" "$attn" join part-*.safetensors -o joined.safetensors
    check "byte for byte" cmp joined.safetensors whole.safetensors
    rm part-*.safetensors
done

# On a terminal a command without input says what to type; join reads nothing from there.
join_on_terminal() {
    job --part 1/1 -o only.safetensors &&
        script -qec "'$attn' join only.safetensors -o terminal.safetensors" typescript >/dev/null
}
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    check "join on a terminal" join_on_terminal
    check "gives the whole there, too" cmp terminal.safetensors whole.safetensors
else
    skip "join on a terminal" "script is not installed, or has no pseudo-terminal"
fi

if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q GNU; then
    check "GNU parallel's parts" parallel -j 2 "$attn" multihead -H 4 wide.npy --stages query,context,output \
        --kernel fused --part {}/4 -o part-{}.safetensors ::: 1 2 3 4 2>parallel.log
    check "GNU parallel's parts joined" "$attn" join part-*.safetensors -o joined.safetensors
    check "are the whole" cmp joined.safetensors whole.safetensors
    # The README's lines, unchanged. The first time, part 3 is killed.
    mkdir recipe
    cat >recipe/attn <<END
#!/bin/sh
case "\$*" in
*"--part 3/8"*) [ -e killed ] || { : >killed && kill -9 \$\$; } ;;
esac
exec "$attn" "\$@"
END
    chmod +x recipe/attn
    "$attn" init causal wide.npy -o recipe/layer.safetensors
    cp wide.npy recipe/x.npy
    line() { (cd recipe && PATH=$PWD:$PATH && eval "$(grep -m 1 "^$1" "$readme")") 2>parallel.log; }
    part_is_killed() { ! line 'parallel ' && [ -e recipe/killed ]; }
    check "the README's parts, one of which is killed" part_is_killed
    no_join() { ! line 'attn join ' && grep -q '^make part 3: ' parallel.log; }
    check "cannot be joined, and join says how part 3 is made" no_join
    check "the same line makes it" line 'parallel '
    check "and no other" test "$(wc -l <recipe/log)" -eq 10
    check "they are joined" line 'attn join '
    made "$attn" causal wide.npy -w recipe/layer.safetensors --stages context -o context.npy
    check "into the whole" cmp context.npy recipe/context.npy
else
    skip "GNU parallel" "it is not installed"
fi

# join rejects parts of different instruction sets, whose last bits may differ.
refused() {
    ATTN_ISA=baseline job --part 1/2 -o isa-1.safetensors && ATTN_ISA=avx2 job --part 2/2 -o isa-2.safetensors || return 1
    "$attn" join isa-1.safetensors isa-2.safetensors -o isa.safetensors 2>message
    [ $? -eq 2 ] && grep -q 'isa-2.safetensors: belongs to another job' message && [ ! -e isa.safetensors ]
}
if ATTN_ISA=avx2 "$attn" --version >/dev/null 2>&1; then
    check "parts of different instruction sets are refused" refused
else
    skip "parts of different instruction sets" "this processor has one"
fi

# A job in parts by the reference, with dropout, whose draws continue from part to part.
drops() { "$attn" causal wide.npy --stages dropped,context --dropout 0.3 "$@"; }
made drops -o whole.safetensors
made drops --part 1/2 -o part-1.safetensors
made drops --part 2/2 -o part-2.safetensors
check "dropout in parts" "$attn" join part-1.safetensors part-2.safetensors -o joined.safetensors
check "is that of the whole" cmp joined.safetensors whole.safetensors

# All threads compute rows of T x T, and dropout's draws stay in order.
made drops -t 1 -o one.safetensors
made drops -t 5 -o five.safetensors
check "dropout by five threads is that of one" cmp one.safetensors five.safetensors
made "$attn" causal wide.npy --stages scores,weights,lse,context --dtype f64 -t 1 -o one.safetensors
made "$attn" causal wide.npy --stages scores,weights,lse,context --dtype f64 -t 3 -o three.safetensors
check "float64 by three threads is that of one" cmp one.safetensors three.safetensors

# All threads also compute the reference's projections and, for few tokens with many columns, the output's.
made make_input 64 48 short.npy
queries() { "$attn" self wide.npy --kernel reference -d 1024 --stages query "$@"; }
output() { "$attn" multihead -H 4 -d 768 short.npy --kernel reference --stages output "$@"; }
for stage in queries output; do
    made $stage -t 1 -o one.npy
    made $stage -t 3 -o three.npy
    check "$stage by three threads: the same bytes" cmp one.npy three.npy
done
program=$attn
traced() { strace -f -qq -o trace -e trace=clone,clone3 "$program" "$@"; }
if [ -z "${ATTN_PORT-}${TSAN_OPTIONS-}" ] && traced --version >/dev/null 2>&1 && ! grep -q clone trace; then
    attn=traced
    for stage in queries output; do
        made $stage -t 3 -o three.npy
        check "$stage are made by three threads" test "$(grep -c 'clone' trace)" -eq 2
        made $stage -t 1 -o one.npy
        check "$stage are made by one thread" test "$(grep -c 'clone' trace)" -eq 0
    done
    attn=$program
else
    skip "threads of projections" "strace is not installed, or may not trace this build, or ThreadSanitizer starts one of its own"
fi

# A token whose value overflows must not change earlier tokens, however the queries are cut.
awk 'BEGIN { srand(3); printf "{\"inputs\": ["
    for (i = 1; i <= 1000; i++) {
        printf "%s[", (i > 1) ? "," : ""
        for (j = 0; j < 16; j++) printf "%s%s", j ? "," : "", i == 501 ? "3e38" : sprintf("%.4f", 2 * rand() - 1)
        printf "]"
    }
    print "]}" }' >overflow.json
made "$attn" causal overflow.json --stages context -o whole.npy
for k in 1 2 3 4 5 6 7; do made "$attn" causal overflow.json --stages context --part $k/7 -o part-$k.safetensors; done
check "parts where a value overflows" "$attn" join part-[1-7].safetensors -o joined.npy
check "are those of the whole" cmp joined.npy whole.npy
made "$attn" causal overflow.json --stages context -q 1-500 -o earlier.json
check "and it stays out of earlier rows" test "$(grep -c 'NaN\|Infinity\|null' earlier.json)" -eq 0
made "$attn" causal overflow.json --stages context -q 501 -o own.json
check "but not out of its own" test "$(grep -c 'NaN\|Infinity\|null' own.json)" -eq 1
forced() { "$attn" causal overflow.json --stages context --kernel fused 2>message; [ $? -eq 2 ]; }
check "--kernel fused refuses it" forced
check "and says why" grep -q 'overflowed in float32' message

# Rows without an allowed key, which weigh all keys equally.
awk 'BEGIN { n = 1600; printf "{\"attn_mask\": [[false]]"
    split("query key value", names)
    for (i = 1; i <= 3; i++) {
        printf ", \"%s\": [[1]", names[i]
        for (j = 1; j < n; j++) printf ", [1]"
        printf "]"
    }
    print "}" }' >empty.json
check "a heatmap of 1600 empty rows" \
    "$attn" sdpa empty.json --heatmap --stages weights --empty-row mean -o heatmap.txt
check "which weigh each key the same" grep -q '0.00062' heatmap.txt
check "and their numbers in colour" \
    "$attn" sdpa empty.json --full --color always --stages weights --empty-row mean -o colour.txt

# In parts with other tokens the same names are other rows.
echo '{"tokens": ["a", "b", "c"], "inputs": [[1, 2], [3, 4], [5, 6]]}' >abc.json
echo '{"tokens": ["b", "c", "a"], "inputs": [[1, 2], [3, 4], [5, 6]]}' >bca.json
made "$attn" causal abc.json -q a,b --stages context --part 1/2 -o part-1.safetensors
made "$attn" causal bca.json -q a,b --stages context --part 2/2 -o part-2.safetensors
other() { "$attn" join part-1.safetensors part-2.safetensors -o other.npy 2>message; [ $? -eq 2 ]; }
check "parts with other tokens are of another job" other

# The progress bar fits the terminal, and does not mix with a result on it.
if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "stty cols 48; '$attn' causal wide.npy --stages weights --progress always -o w.npy" /dev/null \
        </dev/null | tr '\r' '\n' | sed "s/$(printf '\033')\[K//g" >bar.txt
    check "a bar is drawn" grep -q 'attn: weights .*700 of 700 rows' bar.txt
    check "and is narrower than the terminal" test -z "$(grep -E '^.{48}' bar.txt)"
    script -qec "'$attn' causal wide.npy --stages weights --progress always -f json" /dev/null </dev/null >both.txt
    tr '\r' '\n' <both.txt | sed -n '/^{"attn"/,$p' >result.txt
    check "a result comes on the terminal" test -s result.txt
    check "and is not drawn over" test "$(grep -c 'rows' result.txt)" -eq 0
else
    skip "the bar on a terminal" "script is not installed, or has no pseudo-terminal"
fi
finish
