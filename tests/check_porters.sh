#!/bin/sh
# SPDX-License-Identifier: MIT
# Mistakes in porting a model: each equals, number by number, the job of another command line or file, or awk's
# computation. attn why names it from that table.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
done=''

# A file of parameters, NAME:ROWSxCOLUMNS or NAME:COUNT each, perhaps with =ones, =zeros, =twice (the numbers repeated),
# =rows (a list of lists of 4), =turned (a table with its halves exchanged, except the first row), =groups or =blocks
# (the rows of a packed weight in that order, read in the other).
make_file() {
    printf '%s\n' inputs:5x4 "$@" | awk -F '[:x=]' '
        function number(name, row, column,   i, sum) {
            for (sum = i = 0; i < length(name); i++) sum = sum * 3 + index("abcdefghijklmnopqrstuvwxyz_.KQVW", substr(name, i + 1, 1))
            return ((row * 7 + column * 5 + row * column * 3 + sum + row * row) % 13 - 6) / 4
        }
        function entry(at, order,   group, place) { # "W_query 3": row `at` of 8 of query, 4 of key and 4 of value, heads of 2
            if (order == "blocks") return at < 8 ? "W_query " at : at < 12 ? "W_key " (at - 8) : "W_value " (at - 12)
            group = int(at / 8); place = at % 8
            return place < 4 ? "W_query " (group * 4 + place) : place < 6 ? "W_key " (group * 2 + place - 4) : "W_value " (group * 2 + place - 6)
        }
        function packed(name, row, column, lies,   at, parts) {
            for (at = 0; entry(at, lies == "groups" ? "blocks" : "groups") != name " " row; at++);
            split(entry(at, lies), parts, " ")
            return number(parts[1] ".weight", parts[2], column)
        }
        function value(row, column,   name) {
            if (how == "ones") return 1
            if (how == "zeros") return 0
            if (how == "turned") return number($1, row == 0 || row == 4 ? row : (row + 4) % 8, column)
            name = $1; sub(/[.].*/, "", name)
            if (how == "groups" || how == "blocks") return packed(name, row, column, how)
            return number($1, row, column)
        }
        { how = $NF ~ /^[a-z]+$/ ? $NF : ""; list = NF - (how != "") == 2; rows = list ? 1 : $2; columns = list ? $2 : $3
          printf "%s\"%s\": ", NR == 1 ? "{" : ",\n ", $1
          if (how == "rows") { printf "["; for (c = 0; c < columns; c++) printf "%s%s%s", c == 0 ? "[" : c % 4 ? ", " : "], [", value(0, c), c == columns - 1 ? "]]" : ""; next }
          for (r = 0; r < rows; r++) {
              printf "%s[", r ? ", " : list ? "" : "["
              for (c = 0; c < columns * (how == "twice" ? 2 : 1); c++) printf "%s%s", c ? ", " : "", value(r, c % columns)
              printf "]"
          }
          printf "%s", list ? "" : "]" }
        END { print "}" }'
}

# MISTAKE STAGES: the job $right with the mistake has these stages of the job $wrong.
same() {
    done="$done ${1%:*}"
    for stage in $2; do
        check "$1: made" "$attn" $right --mistake "$1" --stages "$stage" -o "$scratch/made.npy"
        check "$1: asked for" "$attn" $wrong --stages "$stage" -o "$scratch/asked.npy"
        "$attn" diff "$scratch/made.npy" "$scratch/asked.npy" >"$scratch/diff" 2>&1
        check "$1: $stage is that of $wrong" test $? -eq 0
    done
    "$attn" why $right --mine "$scratch/asked.npy" --stages "$stage" >"$scratch/why"
    check "$1: attn why names it" grep -q -- "${1%:*}" "$scratch/why"
}

# MISTAKE STAGE PROGRAM: the same for two heads of 4 columns, where awk computes each row y[0..3] from x[0..3] of
# projected_query at position p.
computed() {
    done="$done $1"
    check "$1: made" "$attn" $right --mistake "$1" --stages "$2" -f csv -p 9 -o "$scratch/made.csv"
    "$attn" $right --stages "${4-projected_query}" -f csv -p 9 -o "$scratch/before.csv"
    check "$1: $2 as awk has it" awk -F, '
        function turn(angle0, angle1) { # halves
            y[0] = x[0] * cos(angle0) - x[2] * sin(angle0); y[2] = x[2] * cos(angle0) + x[0] * sin(angle0)
            y[1] = x[1] * cos(angle1) - x[3] * sin(angle1); y[3] = x[3] * cos(angle1) + x[1] * sin(angle1)
        }
        function rms(   c, sum) { for (c = sum = 0; c < 4; c++) sum += y[c] * y[c]; for (c = 0; c < 4; c++) y[c] /= sqrt(sum / 4 + 1e-6) }
        /^stage,/ { next }
        NR == FNR { row[FNR] = $0; next }
        { split(row[FNR], all, ","); n = NF - 4; for (c = 0; c < 4; c++) x[c] = all[n + c + 1]
          p = (rows++) % 5; '"$3"'
          for (c = 0; c < 4; c++) if ((d = y[c] - $(n + c + 1)) > 1e-5 || d < -1e-5) exit bad = 1 }
        END { exit bad || rows < 10 }' "$scratch/before.csv" "$scratch/made.csv"
}

whole='W_query.weight:8x4 W_key.weight:8x4 W_value.weight:8x4 out_proj.weight:4x8'
file="$scratch/in.json" other="$scratch/other.json"
make_file $whole >"$file"
job="multihead -H 2 $file"

# --- rope: other options -------------------------------------------------------------------------------------------
all='query key output'
right="$job --rope half --rope-theta 100" wrong="$job --rope pairs --rope-theta 100"
same rope-pairs "$all"
right=$wrong wrong="$job --rope half --rope-theta 100"
same rope-halves "$all"
right=$wrong wrong=$job
same rope-missing "$all"
same rope-query-missing query
same rope-key-missing key
wrong="$job --rope half"
same rope-theta:10000 "$all"
wrong="$right --positions 1-5"
same rope-query-plus-1 query
same rope-key-plus-1 key
same rope-positions-from:1 'query key'
wrong=$right right="$right --positions 1-5"
same rope-query-minus-1 query
same rope-key-minus-1 key
right="$job --rope half --rope-scaling yarn:factor=4,old=8,attention=1.5" wrong="$job --rope half"
same rope-scaling-missing "$all"
wrong="$job --rope half --rope-scaling linear:factor=4"
same rope-scaling-linear "$all"
wrong="$job --rope half --rope-scaling yarn:factor=4,old=8,attention=1"
same rope-attention-missing "$all"
make_file W_query.weight:8x4 W_key.weight:8x4 W_value.weight:8x4 out_proj.weight:4x8 >"$other"
scaled="multihead -H 1 $other --rope half --rope-theta 100 --rope-scaling"
right="$scaled yarn:factor=4,old=16" wrong="$scaled yarn:factor=4,old=64"
same rope-scaling-old "$all"
right="$scaled yarn:factor=4,old=64,fast=4" wrong="$scaled yarn:factor=4,old=64,fast=4,truncate=no"
same rope-scaling-truncate "$all"
right="$scaled yarn:factor=4,old=64,fast=8,slow=4" wrong="$scaled yarn:factor=4,old=64"
same rope-scaling-usual "$all"
right="$scaled longrope:old=4,max=16,short=1;1.5;2;3,long=2;3;4;5"
wrong="$scaled longrope:old=4,max=16,short=2;3;4;5,long=1;1.5;2;3"
same rope-scaling-lists "$all"
right="$job --rope half --rope-columns 2" wrong="$job --rope half"
same rope-all-columns "$all"
wrong="$job --rope half --rope-columns last:2"
same rope-other-end "$all"
echo '{"query": [[[[1, 2, 0, 3], [2, 0, 1, 1]]]], "key": [[[[0, 1, 2, 1], [1, 1, 0, 2]]]], "value": [[[[1, 2], [3, 5]]]],
    "past_key": [[[[1, 2, 0, 3]]]], "past_value": [[[[3, 2]]]]}' >"$scratch/past.json"
right="sdpa --causal --rope half $scratch/past.json" wrong="sdpa --causal --rope half --positions 0-1 $scratch/past.json"
same rope-past-missing 'query key context'

# --- rope: computed by awk -----------------------------------------------------------------------------------------
right="$job --rope half --rope-theta 100"
computed rope-backwards query 'turn(-p, -p / 10)'
computed rope-twice query 'turn(2 * p, p / 5)'
computed rope-on-values value 'turn(p, p / 10)' value
right="multihead -H 1 $file --rope half --rope-columns 4 --rope-theta 10000" # 10000^(-2 i / 8) is 100^(-2 i / 4)
wrong="multihead -H 1 $file --rope half --rope-columns 4 --rope-theta 100"
same rope-exponent-of-head "$all"

# --- norms ---------------------------------------------------------------------------------------------------------
make_file $whole norm.weight:4 >"$file"
right="$job --residual --norm layer --norm-eps 0.5" wrong="$job --norm layer"
same norm-missing 'query output'
right="$job --norm layer --norm-eps 0.5" wrong="$right --residual"
same norm-twice 'query output'
right=$wrong wrong="$job --residual --norm layer --norm-eps 1e-5"
same norm-eps:1e-5 "normed $all"
wrong="$job --residual --norm rms --norm-eps 0.5"
same norm-mean-kept "normed $all"
right=$wrong wrong="$job --residual --norm layer --norm-eps 0.5"
same norm-mean-subtracted "normed $all"
wrong="$job --residual --norm rms-plus-one --norm-eps 0.5"
same norm-plus-1 "normed $all"
right=$wrong wrong="$job --residual --norm rms --norm-eps 0.5"
same norm-plus-1-missing "normed $all"
make_file $whole norm.weight:4 norm.bias:4 >"$file"
right="$job --residual --norm layer" wrong="multihead -H 2 $other --residual --norm layer"
make_file $whole norm.weight:4=ones norm.bias:4 >"$other"
same norm-weight-missing "normed $all"
make_file $whole norm.weight:4 norm.bias:4=zeros >"$other"
same norm-bias-missing "normed $all"
make_file $whole >"$file"
make_file $whole norm.weight:4=ones >"$other"
right=$job
for kind in layer rms; do
    wrong="multihead -H 2 $other --residual --norm $kind --norm-eps 1e-5"
    same norm-added:$kind "$all"
done

make_file $whole query_norm.weight:4 key_norm.weight:4 >"$file"
right="$job --rope half --qk-norm rms --qk-norm-eps 0.5" wrong="multihead -H 2 $other --rope half"
make_file $whole >"$other"
same qk-norm-missing "$all"
same qk-norm-query-missing query
same qk-norm-key-missing key
wrong="$job --rope half --qk-norm rms --qk-norm-eps 1e-5"
same qk-norm-eps:1e-5 "$all"
wrong="$job --rope half --qk-norm rms-plus-one --qk-norm-eps 0.5"
same qk-norm-plus-1 "$all"
right=$wrong wrong="$job --rope half --qk-norm rms --qk-norm-eps 0.5"
same qk-norm-plus-1-missing "$all"
right=$wrong wrong="multihead -H 2 $other --rope half --qk-norm rms --qk-norm-eps 0.5"
make_file $whole query_norm.weight:4=ones key_norm.weight:4=ones >"$other"
same qk-norm-weight-missing "$all"
make_file $whole query_norm.weight:4=twice key_norm.weight:4=twice >"$other"
same qk-norm-all-heads "$all"
make_file $whole query_norm.weight:8 key_norm.weight:8 >"$file"
make_file $whole query_norm.weight:8=rows key_norm.weight:8=rows >"$other"
same qk-norm-each-head "$all"
right="$job --rope half --rope-theta 100 --qk-norm rms --qk-norm-eps 1e-6"
make_file $whole query_norm.weight:4 key_norm.weight:4 >"$file"
computed qk-norm-after-rope query 'turn(p, p / 10); rms(); y[0] *= '"$(sed -n 's/.*"query_norm.weight": \[\([^,]*\), \([^,]*\), \([^,]*\), \([^]]*\)\].*/(\1); y[1] *= (\2); y[2] *= (\3); y[3] *= (\4)/p' "$file")"

# --- the rest of a config ------------------------------------------------------------------------------------------
make_file $whole >"$file"
right="$job --clip 1" wrong=$job
same clip-missing "$all"
right="$job --query-growth 0.5,2" wrong=$job
same growth-missing "$all"
right="$job --scale 0.3" wrong=$job
same scale-usual output
right="$job --scale 0.3 --scale-on query" wrong="$job --scale-on query"
same scale-usual 'query output'
make_file W_query.weight:12x4 W_key.weight:12x4 W_value.weight:12x4 out_proj.weight:4x12 >"$file"
right="multihead -H 3 $file --alibi scaled" wrong="multihead -H 3 $file --alibi slopes"
same alibi-not-scaled output
right=$wrong wrong="multihead -H 3 $other"
sed 's/}$/, "alibi_slopes": [0.15749013123685915, 0.024803141437003122, 0.00390625]}/' "$file" >"$other" # 2^(-8 h / 3)
same alibi-one-series output

make_file W_query.weight:8x4 W_key.weight:4x4 W_value.weight:4x4 out_proj.weight:4x8 >"$file"
right="multihead -H 4 --kv-heads 2 $file" wrong="multihead -H 4 --kv-heads 2 $other"
make_file W_query.weight:8x4=blocks W_key.weight:4x4=blocks W_value.weight:4x4=blocks out_proj.weight:4x8 >"$other"
same packing-groups "$all"
make_file W_query.weight:8x4=groups W_key.weight:4x4=groups W_value.weight:4x4=groups out_proj.weight:4x8 >"$other"
same packing-blocks "$all"

make_file $whole relative_bias.weight:8x2 >"$file"
right="$job --no-causal --relative-distance 5" wrong="multihead -H 2 $other --no-causal"
make_file $whole >"$other"
same relative-missing output
make_file $whole relative_bias.weight:8x2=turned >"$other"
wrong="multihead -H 2 $other --no-causal --relative-distance 5"
same relative-turned output

# --- a checkpoint --------------------------------------------------------------------------------------------------
model=tests/layers/llama-3
right="layer $model/hidden.npy -w $model --layer 1" wrong="layer $model/hidden.npy -w $model --layer 0"
same draw-layer:0 "$all"
right="layer $model/hidden.npy -w $model --layer 1 --module model.layers.1.self_attn"
same draw-layer:0 "$all"

# Only tests/test_mistakes.c and tests/test_stress.c have tables for these: no command asks for them.
done="$done relative-one-way relative-both-ways qk-norm-latent-missing"
# check_wrong.sh has tables for these.
done="$done $(cut -d ' ' -f 2 tests/wrong/cases.txt | tr '|,\n' '   ')"
for name in $(sed -n 's/.*\.name = "\(\(rope\|norm\|qk-norm\|packing\|clip\|relative\)-[a-z0-9-]*\)".*/\1/p' src/model/mistake_rows.h); do
    check "$name is made here" test "${done#*" $name"}" != "$done"
done
finish
