#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits of memory: attn rejects a job before it allocates too much, and endless input. It never prints characters that
# act on a terminal. It executes and fetches nothing, and writes only --out.
. tests/counts.sh
attn=$ATTN_BIN/attn
case $attn in /*) ;; *) attn=$PWD/$attn ;; esac
root=$PWD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
cp "$root/data/inputs.json" . || exit 1

# status EXPECTED TEXT COMMAND...: its standard error contains the text.
status() {
    expected=$1 text=$2
    shift 2
    "$@" >out 2>message
    [ $? -eq "$expected" ] && grep -qF -- "$text" message
}

# --- memory
within() (ulimit -v 200000 && exec "$attn" "$@")
endless() { yes "$1" | tr -d '\n' | within self; }
if within --version >/dev/null 2>&1; then
    check "parameters beyond memory" status 3 "not enough memory" within init self --d-in 1048576 -d 1048576
    check "heads beyond memory" status 3 "not enough memory" within init multihead --stacked -H 65536 --d-in 1048576
    check "JSON without an end" status 3 "0.1 GB and no end, more than half of the memory there is" endless '{"a":'
    check "blanks without an end" status 3 "0.1 GB and no end, more than half of the memory there is" endless ' '
    check "a string without an end" status 3 "0.1 GB and no end, more than half of the memory there is" endless '{"'
    check "a printed row without an end" status 3 "0.1 GB and no end, more than half of the memory there is" endless '1,'
    check "what is no table whatever follows" status 2 "1:2: expected a number or '['" endless '[,'
else
    skip "memory" "this build asks for more than 200 MB of addresses by itself"
fi

# --- a checkpoint of 100 GB, nearly all of it a hole: no more of it is read than the header, nor mapped in than one layer
make_checkpoint() { # FOLDER: 40 layers 512 wide behind a table
    mkdir "$1" && cd "$1" || return 1
    awk 'BEGIN {
        printf "{\"embed.weight\":{\"dtype\":\"BF16\",\"shape\":[97656250,512],\"data_offsets\":[0,%.0f]}", at = 97656250 * 1024
        split("q k v o", names, " ")
        for (i = 0; i < 160; i++) {
            printf ",\"model.layers.%d.self_attn.%s_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[512,512],", int(i / 4), names[i % 4 + 1]
            printf "\"data_offsets\":[%.0f,%.0f]}", at, at + 524288
            at += 524288
        }
        printf "}"
        printf "%.0f", at >"size" }' >header
    length=$(wc -c <header)
    printf "\\$(printf %03o $((length % 256)))\\$(printf %03o $((length / 256)))\\0\\0\\0\\0\\0\\0" | cat - header >model.safetensors
    echo '{"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 40}' >config.json
    truncate -s $(($(cat size) + length + 8)) model.safetensors && cd ..
}
layer() { "$@" "$attn" layer --random 64x512 -w checkpoint --layer 20 --stages context -f csv; }
# The peak memory of a process, in kilobytes, when it has written the first byte of more than a pipe takes.
peak() {
    mkfifo pipe && { layer exec >pipe & } && exec 3<pipe && head -c 1 <&3 >first
    awk '/^VmHWM/ { print $2 }' "/proc/$!/status"
    cat <&3 >rest
    exec 3<&-
    wait $!
}
held() { kilobytes=$(peak) && [ "$(wc -l <rest)" -eq 513 ] && [ "$kilobytes" -gt 1000 ] && [ "$kilobytes" -lt 40000 ]; }
read_by_calls() {
    layer strace -f -qq -o trace -e trace=read,pread64,readv,preadv >out || return 1
    awk -F ' = ' '{ bytes += $NF } END { exit !(NR > 0 && bytes < 100000) }' trace
}
if [ -n "${ATTN_PORT-}" ]; then
    skip "a checkpoint of 100 GB" "not each of the ports has addresses for it"
elif ! (make_checkpoint checkpoint) 2>message; then
    skip "a checkpoint of 100 GB" "the file system makes no holes: $(cat message)"
else
    if within --version >/dev/null 2>&1; then
        check "a checkpoint of 100 GB is worked on in 40 MB" held
    else
        skip "the memory of a checkpoint of 100 GB" "this build asks for some by itself"
    fi
    if strace -o /dev/null "$attn" --version >/dev/null 2>&1; then
        check "of which no call reads more than 100 KB" read_by_calls
    else
        skip "what is read of a checkpoint of 100 GB" "strace is not installed, or may not trace this build"
    fi
fi
rm -rf checkpoint

# --- a small stack: deep nesting does not use it
nested() { # DEPTH BEFORE OPENING MIDDLE CLOSING AFTER
    awk -v depth="$1" -v before="$2" -v opening="$3" -v middle="$4" -v closing="$5" -v after="$6" 'BEGIN {
        printf "%s", before
        for (i = 0; i < depth; i++) printf "%s", opening
        printf "%s", middle
        for (i = 0; i < depth; i++) printf "%s", closing
        print after }'
}
quiet() { "$@" >out 2>message && [ -s out ] && [ ! -s message ]; }
narrow() (ulimit -s "$kilobytes" && exec "$attn" "$@")
for kilobytes in 64 96 128; do
    if ! narrow --version >/dev/null 2>&1; then
        skip "a stack of $kilobytes kilobytes" "this build asks for more by itself"
        continue
    fi
    check "shallow JSON in a stack of $kilobytes kilobytes" quiet narrow causal inputs.json
    for depth in 20 100 300 999; do
        nested $depth '{"inputs": [[1, 2]], "comment": ' '[' '1' ']' '}' >comment.json
        nested $depth '{"inputs": [[1, 2]], "comment": ' '{"a":' '1' '}' '}' >object.json
        nested $depth '{"inputs": ' '[' '1' ']' '}' >inside.json
        nested $depth '{"context": [[1, 2]], "other": ' '[' '1' ']' '}' >result.json
        check "a comment $depth deep" quiet narrow self comment.json
        check "of objects" quiet narrow self object.json
        check "inputs $depth deep" status 2 "inputs has more than four levels: item, head, row and column" narrow self inside.json
        check "$depth deep for diff" quiet narrow diff result.json result.json
    done
    nested 1001 '' '[' '' ']' '' >deep.txt
    check "a printed table 1001 deep" status 2 "deep.txt:1:5: expected at most 4 nested brackets" narrow self deep.txt
    nested 1001 '{"comment":' '[' '' ']' '}' >deep.json
    check "1001 deep" status 2 "deep.json:1:1011: arrays and objects are nested deeper than 1000" narrow self deep.json
done

# --- what would act on a terminal: C0 but for the newline, DEL, C1, marks that turn a line's direction or annotate it
printf '%s' '{"tokens": ["a\u001b[31m", "\u009b2J\u0007\u007f", "\u202e\u2066\u200b\u061c\u180e\ufff9\ufffa\ufffb\r\t\n"], "inputs": [[1], [2], [3]]}' >hostile.json
sed 's/1\], /1.5], /' hostile.json >other.json
harmless() {
    "$@" >out 2>message
    [ -s out ] && ! LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xd8\x9c|\xe1\xa0\x8e|\xef\xbf[\xb9-\xbb]' out message
}
if echo a | grep -qP a 2>/dev/null; then
    for format in text json csv markdown latex svg; do
        check "hostile tokens in $format" harmless "$attn" causal hostile.json -f $format
        check "and as a whole" harmless "$attn" causal hostile.json -f $format --full
    done
    for option in --heatmap --explain --explain=weights:3,1 --query=3; do
        check "hostile tokens with $option" harmless "$attn" causal hostile.json $option
    done
    "$attn" causal hostile.json -f json -o a.json
    "$attn" causal other.json -f json -o b.json
    check "hostile tokens in a difference" harmless "$attn" diff a.json b.json
    check "and in JSON" harmless "$attn" diff a.json b.json -f json
    check "JSON gives the same bytes again" sh -c '"$1" causal a.json -f json | cmp - a.json' - "$attn"
else
    skip "what would act on a terminal" "grep has no -P"
fi

# --- nothing else: the system calls of all threads, in one run of each kind
traced() { # FILES-WRITTEN COMMAND...: the files opened to be written, and what is renamed
    expected=$1
    shift
    strace -f -qq -o trace -e trace=file,process,network,ipc "$@" >out 2>message </dev/null || return 1
    [ "$(grep -c 'execve' trace)" -eq 1 ] || return 1
    ! grep -E ' (socket|connect|bind|listen|accept4?|sendto|mkdir|rmdir|mknod|link|symlink|truncate|chdir|fork|vfork|ptrace|shmget|msgget)\(' trace || return 1
    [ -n "$expected" ] || ! grep -E ' (linkat|unlink|unlinkat|rename|renameat2?|chmod|fchmodat2?)\(' trace || return 1
    written=$(grep -E ' (open(at2?)?|creat)\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)' trace |
        sed 's/.*"\(.*\)".*/\1/; s/[0-9a-zA-Z]*\.tmp$/TMP/' | sort -u)
    [ -z "$expected" ] && [ -z "$written" ] ||
        { [ "$(echo "$written" | wc -l)" -eq 1 ] && grep -qE "(rename|linkat).*\"$expected\"" trace; }
}
if [ -n "${ATTN_PORT-}" ]; then
    skip "nothing else is done" "a script starts the programs of a port"
elif strace -f -o /dev/null "$attn" --version >/dev/null 2>&1; then
    "$attn" causal inputs.json --stages context --part 1/2 -o 1.safetensors
    "$attn" causal inputs.json --stages context --part 2/2 -o 2.safetensors
    "$attn" causal inputs.json -o a.json
    check "text writes no file" traced '' "$attn" causal inputs.json
    check "nor does a picture" traced '' "$attn" causal inputs.json -f svg
    check "nor a heatmap" traced '' "$attn" causal inputs.json --heatmap --color always
    check "nor the help" traced '' "$attn" self --help
    check "nor a pickle" traced '' "$attn" causal inputs.json -w "$root/tests/golden/archive/state-dict.pt"
    check "nor diff" traced '' "$attn" diff a.json a.json
    check "nor work on several threads" traced '' "$attn" causal inputs.json -t 4 --kernel fused --stages context
    check "nor parameters" traced '' "$attn" init multihead -H 2 --d-in 4
    check "--out writes one" traced out.json "$attn" causal inputs.json -o out.json
    check "and so does join" traced whole.npy "$attn" join 1.safetensors 2.safetensors -o whole.npy
else
    skip "nothing else is done" "strace is not installed, or may not trace this build"
fi
finish
