#!/bin/sh
# SPDX-License-Identifier: MIT
# How far the context is from the exact one, of each dtype and kernel: against sums in long double, next to PyTorch's
# scaled_dot_product_attention on the same numbers. Usage: tests/bench/accuracy.sh BUILD; PYTHON says which Python has
# PyTorch. Exits 1 where a kernel is further off than it may be.
#
# The cases: 2 heads, 512 queries, 2048 keys, d 64, normal numbers; the same with a query ten times as large; with the
# same value for every key; and 4 queries of a million keys. Gradients: peer_backward.py.
build=${1:?usage: tests/bench/accuracy.sh BUILD}
rounds=1
. tests/bench/peers.sh
cases='normal tenfold constant million'

if ! room "$scratch" 1500 4000; then
    cases='normal tenfold constant'
    echo "skipped: the accuracy over a million keys: $lacking"
fi
serve 3 4 "$build/bench_kernel"
serve_python torch
mkdir "$scratch/case"

# The errors of a case, a line for each kernel and one of PyTorch: DTYPE CASE KERNEL BEFORE AFTER
measure() { # DTYPE CASE
    drawn=$(ask attn "draw $1 $2 $scratch/case") || exit 1
    for kernel in $(ask attn "kernels $1"); do
        echo "$1 $2 $kernel $(ask attn "error $kernel")"
    done
    ask PyTorch "context $drawn $scratch/case" >/dev/null || return 0
    echo "$1 $2 PyTorch - $(ask attn "compare $scratch/case/context")"
}
for dtype in f32 f64 f16 bf16; do
    for case in $cases; do
        measure $dtype $case >>"$scratch/errors" || exit 1
    done
done

cat <<END

largest error of the context, as a share of its largest number: before it is rounded to the dtype / as it comes out
asked before rounding: in f16 and bf16 a hundredth of PyTorch's, or PyTorch's in f32 where that is more; by fast16 PyTorch's;
in f64 twice PyTorch's; where PyTorch is exact, a rounded result that is exact
END
awk -v cases="$cases" '
    BEGIN { count = split(cases, names) }
    $3 == "PyTorch" { peer[$1, $2] = $5; next }
    { if (!(($1, $3) in seen)) { seen[$1, $3] = ++rows; dtype[rows] = $1; kernel[rows] = $3 }
      before[$1, $3, $2] = $4; after[$1, $3, $2] = $5 }
    function share(type, name) { return name ~ /fast16/ ? 1 : type == "f64" ? 2 : 0.01 }
    function most(type, name, which,    bound) {
        bound = share(type, name) * peer[type, which]
        return share(type, name) < 1 && peer["f32", which] + 0 > bound ? peer["f32", which] : bound
    }
    END {
        printf "%-6s%-18s", "dtype", "kernel"
        for (i = 1; i <= count; i++) printf "%-22s", names[i]
        print "of PyTorch"
        for (row = 1; row <= rows; row++) {
            type = dtype[row]; name = kernel[row]; fell = ""
            printf "%-6s%-18s", type, name
            for (i = 1; i <= count; i++) {
                one = before[type, name, names[i]]; other = after[type, name, names[i]]; torch = peer[type, names[i]]
                printf "%-22s", type == "f32" || type == "f64" ? one : one " / " other
                if (torch == "" || type == "f32") continue
                if (!(torch + 0 == 0 ? other + 0 == 0 : one + 0 <= most(type, name, names[i]))) fell = fell " " names[i]
            }
            known = (type, names[1]) in peer
            print type == "f32" || !known ? "no goal" : fell == "" ? share(type, name) ": yes" : share(type, name) ": NO:" fell
            if (fell != "") worst = 1
            if (dtype[row + 1] != type && known) {
                printf "%-6s%-18s", type, "PyTorch"
                for (i = 1; i <= count; i++) printf "%-22s", peer[type, names[i]]
                print ""
            }
        }
        exit worst
    }' "$scratch/errors" || worst=1
if "$python" -c 'import numpy, torch' 2>/dev/null; then
    "$python" tests/bench/peer_backward.py "$attn" "$scratch" || worst=1
fi
[ "$library" = torch ] || echo "skipped: PyTorch's own errors: it is not installed (PYTHON names an interpreter)"
exec 3>&- 7>&-
wait
exit $worst
