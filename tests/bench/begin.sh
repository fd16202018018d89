# SPDX-License-Identifier: MIT
# How each benchmark begins: read with "." once $build is known. A folder of its own, $scratch, which goes with it; the
# processor's goals; and $worst, the exit status, which becomes 1 where something falls short.
attn=$build/attn
python=${PYTHON:-python3}
worst=0
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
. tests/bench/processor.sh
