#!/bin/sh
# SPDX-License-Identifier: MIT
# One layer at the sizes of Llama 3 8B, from a file of bfloat16 weights to the context: attn layer as a whole process, files in
# and out, against transformers' eager module, whose start, file and weights are not in its time. Both in turn, ROUNDS times,
# and the best of each makes the ratio. Usage: tests/bench/layer.sh BUILD; PYTHON says which Python has transformers.
# Exits 1 where the result is wrong or the ratio falls short.
build=${1:?usage: tests/bench/layer.sh BUILD}
rounds=${ROUNDS:-5}
. tests/bench/begin.sh
required=$(goal 1.5)

if ! "$python" -c 'import transformers, torch, numpy' 2>/dev/null; then
    echo "skipped: a layer of Llama 3 8B: its peer, transformers, is not installed (PYTHON names an interpreter)"
    exit 0
fi
mkfifo "$scratch/to" "$scratch/from" && "$python" tests/bench/peer_layer.py make "$scratch" || exit 1
"$python" tests/bench/peer_layer.py serve "$scratch" <"$scratch/to" >"$scratch/from" &
exec 3>"$scratch/to" 4<"$scratch/from"

ask() {
    echo "$1" >&3 && read -r answer <&4 || { echo "the peer ended" >&2; exit 1; }
    echo "$answer"
}

run() { # COMMAND...
    "$build/bench_measure" 1 "$@" | cut -d ' ' -f 1
}

set -- "$attn" layer "$scratch/hidden.npy" -w "$scratch" --layer 0 --stages context -o "$scratch/context.npy"
version=$(ask version) && ask "save $scratch/peer.npy" >/dev/null && "$@" || exit 1
"$python" - "$scratch/context.npy" "$scratch/peer.npy" <<'END' || exit 1
import sys, numpy
got, wanted = (numpy.squeeze(numpy.load(path)) for path in sys.argv[1:])
off = numpy.abs(got - wanted).max() / numpy.abs(wanted).max() if got.shape == wanted.shape else numpy.inf
sys.exit(0 if off < 1e-4 else f"the context is wrong: {got.shape}, {wanted.shape}, {off:.1e} of the largest apart")
END

echo "transformers: $version; $(nproc) cores"
round=0
while [ $round -lt "$rounds" ]; do
    ours=$(run "$@") && theirs=$(ask "context float32") && narrow=$(ask "context bfloat16") || exit 1
    echo "$ours $theirs $narrow" >>"$scratch/times"
    round=$((round + 1))
done
exec 3>&- 4<&-
printf '\n%-46s %9s %9s %9s %7s %9s\n' "seconds, best of $rounds in turn" attn float32 bfloat16 ratio goal
set -- $(awk 'function least(a, b) { return NR == 1 || b < a ? b : a }
    { ours = least(ours, $1); wide = least(wide, $2); narrow = least(narrow, $3) }
    END { printf "%.3f %.3f %.3f %.2f", ours, wide, narrow, wide / ours }' "$scratch/times")
held=$(verdict "$4" at-least "$required")
fell=$?
printf '%-46s %9s %9s %9s %7s %9s  %s\n' "4096 wide, 32 heads of 128, 8 of keys, T 2048" "$@" "$required" "$held"
exit $fell
