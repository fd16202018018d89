#!/bin/sh
# SPDX-License-Identifier: MIT
# The schema of attn help schema accepts every kind of JSON that attn writes, and PyTorch's goldens in that form; it
# rejects broken samples. PYTHON names an interpreter that has jsonschema (python3); without it this is skipped.
. tests/counts.sh
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

if has_module jsonschema; then
    "$python" tests/schema/validate.py "$ATTN_BIN/attn" "$scratch"
    exit
fi
skip "the JSON Schema" "$python has no jsonschema"
finish
