#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python module: its examples and its tests, by pytest. PYTHON names an interpreter that has NumPy and pytest
# (python3); without them this is skipped. What needs PyTorch, JAX or ml_dtypes is skipped where they are missing.
. tests/counts.sh
for module in numpy pytest; do
    has_module $module && continue
    skip "the Python module" "$python has no $module"
    finish
done
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

ATTN_PROGRAM=$(cd "$ATTN_BIN" && pwd)/attn PYTHONPATH=$PWD/src/python
export ATTN_PROGRAM PYTHONPATH PYTHONDONTWRITEBYTECODE=1
"$python" -m pytest -q -rs -p no:cacheprovider -p attn.pytest_plugin --basetemp "$scratch/tests" --doctest-modules \
    --ignore-glob "*/kernel_*" src/python/attn tests/python >"$scratch/log" 2>&1
ended=$?
# The last line, "2 failed, 70 passed, 5 skipped in 9.0s", has the counts.
count() { sed -n '$s/.*\b\([0-9][0-9]*\) '"$1"'.*/\1/p' "$scratch/log"; }
passed=$(count passed) failed=$(count failed) skipped=$(count skipped)
passed=${passed:-0} failed=${failed:-0} skipped=${skipped:-0}
[ $ended -eq 0 ] || cat "$scratch/log"
sed -n 's/^SKIPPED \[[0-9]*\] /skipped: /p' "$scratch/log"
[ $ended -eq 0 ] || [ $failed -gt 0 ] || failed=1
finish
