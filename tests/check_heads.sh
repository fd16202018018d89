#!/bin/sh
# SPDX-License-Identifier: MIT
# attn heads: its numbers, from whole tables of weights (tests/heads/measure.py); the heads of data/induction by name,
# however their hidden states are given; memory; the picture.
. tests/counts.sh
attn=$(cd "$ATTN_BIN" && pwd)/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# The trained model: each kind has its head.
model=data/induction
"$attn" heads -w $model $model --residual >"$scratch/expected" || exit 1
best() { grep -qx "$1  .*  $2   *0.[0-9]*  *[0-9]*" "$scratch/expected"; } # NAME LAYER HEAD MEAN
check "the previous-token head is found" best previous '0     1 0.99'
check "the induction head is found" best induction '1     1 1.00'
check "the sink is found" best first '1     2 1.00'
check "lines of 80 columns" test -z "$(grep '.\{81\}' "$scratch/expected")"
same() {
    "$attn" heads "$@" >"$scratch/said" && cmp "$scratch/said" "$scratch/expected"
}
check "files in any order" same -w $model $model/hidden-1.safetensors $model/hidden-0.safetensors --residual
check "the mechanism by name" same layer -w $model $model --residual
check "any number of threads" same -w $model $model --residual -t 3
one() { # LAYER ARGUMENTS...: this layer has the same lines
    layer=$1
    shift
    "$attn" heads -w $model --layer "$layer" --residual "$@" >"$scratch/said" &&
        test "$(grep -c "^    $layer " "$scratch/said")" -eq 2 &&
        test -z "$(grep "^    $layer " "$scratch/said" | grep -vxFf "$scratch/expected")"
}
head_alone() { # its lines are those of all heads
    "$attn" heads -w $model $model --residual --head 2 >"$scratch/said" &&
        test "$(grep '^    [01] ' "$scratch/said")" = "$(grep '^    [01]     2 ' "$scratch/expected")"
}
check "one head alone" head_alone
check "one layer of a folder" one 1 $model/hidden-1.safetensors
cp $model/hidden-0.safetensors "$scratch/states.safetensors"
check "a file without a layer in its name" one 0 "$scratch/states.safetensors"

# Hidden states by the names of their tensors are the residual stream; the one after the last layer is no layer's.
if has_module json; then
    "$python" - "$scratch" <<'END' || exit 1
import json, struct, sys
document, tokens = {}, list("planetsplanets")
for layer in (0, 1):
    data = open(f"data/induction/hidden-{layer}.safetensors", "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    first, end = header["inputs"]["data_offsets"]
    numbers = struct.unpack(f"<{(end - first) // 4}f", data[8 + length + first:8 + length + end])
    columns = header["inputs"]["shape"][-1]
    document[f"hidden_states.{layer}"] = [numbers[i:i + columns] for i in range(0, len(numbers), columns)]
document["hidden_states.2"] = document["hidden_states.1"]
json.dump({**document, "tokens": tokens}, open(f"{sys.argv[1]}/states.json", "w"))
json.dump(document, open(f"{sys.argv[1]}/bare.json", "w"))
json.dump({"tokens": tokens}, open(f"{sys.argv[1]}/tokens.json", "w"))
json.dump([ord(token) for token in tokens], open(f"{sys.argv[1]}/ids.json", "w"))
json.dump({"hidden_states.7": document["hidden_states.1"]}, open(f"{sys.argv[1]}/seventh.json", "w"))
END
    check "hidden_states.N of a file" same -w $model "$scratch/states.json"
    check "tokens of a file" same -w $model "$scratch/bare.json" --tokens "$scratch/tokens.json"
    check "a list of tokens" same -w $model "$scratch/bare.json" --tokens p,l,a,n,e,t,s,p,l,a,n,e,t,s
    "$attn" heads -w $model "$scratch/bare.json" --tokens "$scratch/ids.json" >"$scratch/said"
    check "ids of a file" grep -q '^induction .*  1     1 1.00    0.09       7$' "$scratch/said"
    "$attn" heads -w $model "$scratch/bare.json" >"$scratch/said"
    check "without tokens no induction" grep -q '^induction .* no head is above uniform$' "$scratch/said"
    "$attn" heads -w $model "$scratch/seventh.json" >/dev/null 2>"$scratch/said"
    check "a layer that the model lacks" grep -q 'hidden states of layer 7, and the last layer of data/induction is 1' "$scratch/said"
    "$python" tests/heads/measure.py "$attn" "$scratch" >"$scratch/said" 2>&1
    check "the shares are those of the whole tables: $(tail -n 3 "$scratch/said")" grep -q ' 0 failed$' "$scratch/said"
else
    skip "the numbers of heads" "no $python"
fi

# Rows alone: a table of 8192 x 8192 doubles has 512 MB.
within() (ulimit -v 150000 && exec "$attn" "$@" >"$scratch/said")
check "8192 tokens in 150 MB of addresses" within heads causal --random 8192x4 -d 4 -t 2 -o "$scratch/long.svg"

# The picture: a map for each head, the best in frames.
"$attn" heads -w $model $model --residual -o "$scratch/heads.svg" || exit 1
check "a map for each head" test "$(grep -c '<g><title>layer' "$scratch/heads.svg")" -eq 4
check "frames" test "$(grep -c 'class="wire"' "$scratch/heads.svg")" -eq 3
check "a map has at most 32 x 32 cells" test "$(grep -c '<rect' "$scratch/long.svg")" -le 1026
if command -v xmllint >/dev/null; then
    check "valid XML" xmllint --noout --nonet "$scratch/heads.svg" "$scratch/long.svg"
fi
"$attn" heads -w $model $model --residual -f html >"$scratch/heads.html" || exit 1
check "a page with the same picture" test -z "$(grep -vxFf "$scratch/heads.html" "$scratch/heads.svg" | grep -v '^\.\|^@')"
finish
