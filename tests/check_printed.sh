#!/bin/sh
# SPDX-License-Identifier: MIT
# What NumPy prints in many settings, and what PyTorch prints as tests/printed/prints.py does it, is read to the digit.
# PYTHON names an interpreter that has NumPy (python3); without it this is skipped, and tests/cli/printed.test stands for
# it.
. tests/counts.sh
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

if command -v "$python" >"$scratch/log" && "$python" -c 'import numpy' 2>"$scratch/log"; then
    "$python" tests/printed/prints.py "$ATTN_BIN/attn" "$scratch"
    exit
fi
skip "NumPy's prints" "$python has no numpy"
finish
