#!/bin/sh
# SPDX-License-Identifier: MIT
# attn reads to the digit what NumPy prints in many settings, and PyTorch, as imitated by tests/printed/prints.py.
# PYTHON names an interpreter that has NumPy (python3); without it this is skipped, and only tests/cli/printed.test
# covers it.
. tests/counts.sh
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

if has_module numpy; then
    "$python" tests/printed/prints.py "$ATTN_BIN/attn" "$scratch"
    exit
fi
skip "NumPy's prints" "$python has no numpy"
finish
