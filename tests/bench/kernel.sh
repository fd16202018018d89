#!/bin/sh
# SPDX-License-Identifier: MIT
# The kernels against their peers: each shape is measured on both sides in turn, ROUNDS times, and the best of each
# makes the ratio. Usage: tests/bench/kernel.sh BUILD; PYTHON says which Python has PyTorch. Exits 1 where a result is
# wrong or a ratio falls short.
build=${1:?usage: tests/bench/kernel.sh BUILD}
rounds=${ROUNDS:-4}
. tests/bench/peers.sh
serve 3 4 "$build/bench_kernel"
OMP_WAIT_POLICY=passive serve 5 6 "$build/bench_kernel"
serve_python torch
isas=$(ask attn isas) absent=$(ask attn absent)

# attention LABEL GOAL SHAPE against PyTorch: SHAPE is DTYPE HEADS TOKENS D KIND THREADS. Of a kernel that there is not
# nothing is measured.
attention() {
    kernel_row "$1" "$2" - "$3"
}
kernel_row() { # LABEL GOAL KERNEL SHAPE
    if ask attn "attention $3 ${4%% *} 1 32 8 whole 1" >/dev/null; then
        row "$1" "$2" attn "attention $3 $4" PyTorch "attention - $4"
    else
        printf '%-46s skipped: this processor has no such kernel\n' "$1"
    fi
}
both() { # LABEL WHOLE_GOAL CAUSAL_GOAL KERNEL "DTYPE HEADS TOKENS D"
    kernel_row "$1, whole" "$2" "$4" "$5 whole 2"
    kernel_row "$1, causal" "$3" "$4" "$5 causal 2"
}

heading "GF/s in float32"
both "T 4096" "$(goal 1.22 1.2)" "$(goal 1.95 1.85)" - "f32 1 4096 64"
both "T 16384" "$(goal 1.2)" "$(goal 1.85)" - "f32 1 16384 64"
for tokens in 4096 16384; do
    row "T $tokens, whole : sgemm n = 2048" "$(goal 0.93)" attn "attention - f32 1 $tokens 64 whole 2" BLIS "sgemm 2048 2048 2048 2"
done
attention "12 heads, T 1024, causal" "$(goal 1.6)" "f32 12 1024 64 causal 2"
both "8 heads, T 2048, d 128" "$(goal 1.15 1.1)" "$(goal 1.45 1.35)" - "f32 8 2048 128"
attention "one thread, T 4096, whole" "$(goal 1.15)" "f32 1 4096 64 whole 1"
attention "one thread, T 4096, causal" "$(goal 1.3)" "f32 1 4096 64 causal 1"
once=$rounds rounds=2
attention "T 65536, causal, best of $rounds" "$(goal 1.75)" "f32 1 65536 64 causal 2"
rounds=$once

# With 12 heads whole PyTorch has three quarters of what a product of large matrices reaches on this processor (sgemm of
# MKL): 1.5 times that cannot be.
heading "GF/s of the backward pass in float32"
for shape in "1 4096 whole 1.5" "1 4096 causal 1.5" "12 1024 whole 1.2" "12 1024 causal 1.5"; do
    set -- $shape
    row "$1 head(s), T $2, $3" "$(goal "$4")" attn "backward - f32 $1 $2 64 $3 2" PyTorch "backward - f32 $1 $2 64 $3 2"
done

# What bfloat16 is asked for follows from what multiplies it: tiles, dot products of pairs, or float32.
heading "GF/s in other dtypes"
case $vendor,$isas in
*amx*) narrow_whole=1.35 narrow_causal=1.75 fast_whole=1.65 fast_causal=1.95 widened=- ;;
AMD,*avx512bf16*) narrow_whole=- narrow_causal=- fast_whole=- fast_causal=- widened=1.2 widened_fast=1.5 ;;
*) narrow_whole=- narrow_causal=- fast_whole=- fast_causal=- widened=$(goal 1) ;;
esac
both "bf16, T 16384" $narrow_whole $narrow_causal - "bf16 1 16384 64"
both "bf16, T 16384, fast16" $fast_whole $fast_causal -/fast16 "bf16 1 16384 64"
both "f16, T 4096" "$(goal 1.7)" "$(goal 1.7)" - "f16 1 4096 64"
once=$rounds rounds=2
both "f64, 12 heads, T 4096, best of $rounds" "$(goal 1.2)" "$(goal 1.2)" - "f64 12 4096 64"
rounds=$once

# Pairs are multiplied in half the time of float32. The scores gain all of that; the weights, in two parts, are multiplied
# twice and gain nothing: 2 : (1/2 + 1), which is 4/3, is the most. With one part (fast16) it is 2.
heading "GF/s of attn itself"
for kernel in - -/fast16; do
    ask attn "attention $kernel bf16 1 32 8 whole 1" >/dev/null || continue
    asked=$widened
    [ $kernel = - ] || asked=${widened_fast--}
    for kind in whole causal; do
        row "T 16384, $kind, bf16${kernel#-} : f32" "$asked" attn "attention $kernel bf16 1 16384 64 $kind 2" \
            attn "attention - f32 1 16384 64 $kind 2"
    done
done
# Each mask against the plain path: operations for each key that a query sees.
for kind in causal:0.8 past:0.8 window:0.8 lengths:0.8 boolean:0.8 alibi:0.8 softcap:0.75 float:0.65; do
    row "T 4096, ${kind%:*} : whole" "$(goal "${kind#*:}" "$(echo "${kind#*:}" | sed s/0.65/0.6/)")" \
        attn "attention - f32 1 4096 64 ${kind%:*} 2" attn "attention - f32 1 4096 64 whole 2"
done
for threads in 2 1; do
    shape="4096 768 768 $threads"
    row "4096 x 768 by 768 x 768, $threads thread(s)" "$(goal 0.97)" attn "project - $shape" BLIS "sgemm $shape"
done
# Information: each kernel against the one that is chosen for its dtype.
once=$rounds rounds=1
for dtype in f32 f64 f16 bf16; do
    for kernel in $(ask attn "kernels $dtype"); do
        row "T 4096, whole, $dtype: $kernel : chosen" - attn "attention $kernel $dtype 1 4096 64 whole 2" \
            attn "attention - $dtype 1 4096 64 whole 2"
    done
done
rounds=$once
serve_python openvino
heading "GF/s in float32 on many heads"
for shape in "12 1024 64" "8 2048 128"; do
    for kind in whole causal; do
        request="attention - f32 $shape $kind 2"
        row "heads, T, d: $shape, $kind" "$(goal 1 -)" attn "$request" OpenVINO "$request"
    done
done
[ -z "${absent% }" ] || echo "untried, as this processor lacks them: $absent"

bytes=$(ask attn "scratch - f32 1 65536 64 causal 2") || exit 1
held=$(at_most "$bytes" 2000000 bytes) || worst=1
printf '%-46s %8d bytes, %s\n' "memory of its own, T 65536" "$bytes" "$held"
exec 3>&- 5>&- 7>&-
wait
exit $worst
