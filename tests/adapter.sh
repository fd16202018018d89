#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes DIR/adapter_model.safetensors, whose tensors have ones, in float32:  sh tests/adapter.sh DIR NAME ROWSxCOLUMNS ...
# A name gets "base_model.model." before it; a list of numbers has the shape ROWS.
dir=$1 at=0 header=
shift
while [ $# -gt 0 ]; do
    count=$(($(echo "$2" | sed 's/x/*/')))
    header="$header${header:+,}\"base_model.model.$1\":{\"dtype\":\"F32\",\"shape\":[$(echo "$2" | tr x ,)],\"data_offsets\":[$at,$((at + 4 * count))]}"
    at=$((at + 4 * count))
    shift 2
done
header="{$header}"
mkdir -p "$dir"
{
    printf "\\$(printf %03o $((${#header} % 256)))\\$(printf %03o $((${#header} / 256)))\\0\\0\\0\\0\\0\\0%s" "$header"
    awk "BEGIN { for (i = 0; i < $at; i += 4) printf \"1\" }" | sed 's/1/\\0\\0\\200\\077/g' | xargs -0 printf
} >"$dir/adapter_model.safetensors"
