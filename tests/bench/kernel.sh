#!/bin/sh
# The kernels against their peers: each shape is measured on both sides in turn, ROUNDS times, and the best of each
# makes the ratio. Usage: tests/bench/kernel.sh BUILD; PYTHON says which Python has PyTorch. Exits 1 where a result is
# wrong or a ratio falls short.
build=${1:?usage: tests/bench/kernel.sh BUILD}
rounds=${ROUNDS:-4}
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
worst=0

# A process that answers requests: its requests on descriptor $1, its answers on descriptor $2.
serve() {
    to=$1 from=$2
    shift 2
    mkfifo "$scratch/$to" "$scratch/$from"
    "$@" <"$scratch/$to" >"$scratch/$from" &
    eval "exec $to>\"\$scratch/$to\" $from<\"\$scratch/$from\""
}

# What side $1 answers to the request $2; nothing where it is missing.
ask() {
    case $1 in
    attn) echo "$2" >&3 && read -r answer <&4 ;;
    BLIS) echo "$2" >&5 && read -r answer <&6 ;;
    PyTorch) [ -n "$torch" ] && echo "$2" >&7 && read -r answer <&8 ;;
    esac || return 1
    case $answer in
    wrong*) echo "$1: $2: $answer" >&2 && exit 1 ;;
    missing) return 1 ;;
    esac
    echo "$answer"
}

# row LABEL REQUIRED REQUEST PEER PEER_REQUEST
row() {
    round=0
    : >"$scratch/times"
    while [ $round -lt "$rounds" ]; do
        ours=$(ask attn "$3") || exit 1
        theirs=$(ask "$4" "$5") || break
        echo "$ours $theirs" >>"$scratch/times"
        round=$((round + 1))
    done
    if [ $round -eq 0 ]; then
        printf '%-40s %8s   skipped: its peer, %s, is missing\n' "$1" "$ours" "$4"
        return
    fi
    awk -v label="$1" -v required="$2" -v peer="$4" '
        $1 > ours { ours = $1 }
        $2 > theirs { theirs = $2 }
        END {
            ratio = ours / theirs
            printf "%-40s %8.1f %8.1f  %-8s %5.2f %9.2f  %s\n", label, ours, theirs, peer, ratio, required,
                (ratio >= required ? "yes" : "NO")
            exit (ratio < required)
        }' "$scratch/times" || worst=1
}

# attention LABEL REQUIRED SHAPE against PyTorch
attention() {
    row "$1" "$2" "attention - $3" PyTorch "attention - $3"
}

serve 3 4 "$build/bench_kernel"
OMP_WAIT_POLICY=passive serve 5 6 "$build/bench_kernel"
torch=
if "$python" -c 'import torch' 2>/dev/null; then
    OMP_WAIT_POLICY=passive serve 7 8 "$python" tests/bench/peer_torch.py
    torch=yes
fi

echo "processor:$(grep -m 1 '^model name' /proc/cpuinfo 2>/dev/null | cut -d: -f2), $(nproc) cores"
echo "instruction sets: $(ask attn isas)"
echo "PyTorch: $(ask PyTorch version || echo missing)"
printf '%-40s %8s %8s  %-8s %5s %9s\n' "GF/s, best of $rounds in turn" attn peer "" ratio required
for tokens in 4096 16384; do
    attention "T $tokens, whole" 1.2 "1 $tokens 64 0 2"
    row "T $tokens, whole : sgemm n = 2048" 0.93 "attention - 1 $tokens 64 0 2" BLIS "sgemm 2048 2048 2048 2"
    attention "T $tokens, causal" 1.85 "1 $tokens 64 1 2"
done
attention "12 heads, T 1024, causal" 1.6 "12 1024 64 1 2"
attention "8 heads, T 2048, d 128, whole" 1.1 "8 2048 128 0 2"
attention "8 heads, T 2048, d 128, causal" 1.35 "8 2048 128 1 2"
attention "T 65536, causal" 1.75 "1 65536 64 1 2"
attention "one thread, T 4096, whole" 1.15 "1 4096 64 0 1"
attention "one thread, T 4096, causal" 1.3 "1 4096 64 1 1"
# Each mask against the plain path: operations for each key that a query sees.
for kind in causal:0.8 past:0.8 window:0.8 lengths:0.8 boolean:0.8 alibi:0.8 softcap:0.75 float:0.6; do
    row "T 4096, ${kind%:*} : whole" "${kind#*:}" "masked - 1 4096 64 ${kind%:*} 2" attn "masked - 1 4096 64 whole 2"
done
for threads in 2 1; do
    shape="4096 768 768 $threads"
    row "4096 x 768 by 768 x 768, $threads thread(s)" 0.97 "project - $shape" BLIS "sgemm $shape"
done
case $(ask attn isas) in
*avx512*)
    row "AVX2 : AVX-512, T 4096, whole" 0.9 "attention avx2 1 4096 64 0 2" attn "attention avx512 1 4096 64 0 2"
    row "AVX2 : AVX-512, T 4096, causal" 0.9 "attention avx2 1 4096 64 1 2" attn "attention avx512 1 4096 64 1 2"
    ;;
esac
bytes=$(ask attn "scratch - 1 65536 64 1 2") || exit 1
printf '%-40s %8d bytes, at most 2000000: %s\n' "memory of its own, T 65536" "$bytes" \
    "$([ "$bytes" -le 2000000 ] && echo yes || { echo NO && false; })" || worst=1
exec 3>&- 5>&- 7>&-
wait
exit $worst
