#!/bin/sh
# SPDX-License-Identifier: MIT
# pip installs the module in a fresh environment: the README's lines run there, `python -m attn` is the program, and
# pytest ends with the bug of a wrong kernel. Without cJSON, pip says what to install. PYTHON is the interpreter.
. tests/counts.sh
top=$PWD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
unset ATTN_PROGRAM PYTHONPATH MAKEFLAGS MFLAGS MAKELEVEL

install_module() { "$scratch/bin/pip" install --no-deps ./src/python >"$scratch/log" 2>&1; }
says() { grep -q -- "$1" "$scratch/log" || { cat "$scratch/log"; false; }; }
last_line() { tail -n 1 "$scratch/log"; }

# With the system's NumPy and pytest.
check "an environment" "$python" -m venv --system-site-packages "$scratch"
check "without cJSON it fails" sh -c "! PKG_CONFIG=false '$scratch/bin/pip' install --no-deps ./src/python >'$scratch/log' 2>&1"
check "and says what to install" says "apt install make gcc libc6-dev pkg-config libcjson-dev"
check "pip install ./src/python" install_module || cat "$scratch/log"
check "the checkout stays as it is" test ! -e src/python/build
cd "$scratch" || exit 1
awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' "$top/README.md" >readme.py
bin/python readme.py >log
check "the README's lines" grep -qxF "$(sed -n 's/^It prints `\(.*\)`. In pytest.*/\1/p' "$top/README.md")" log
check "the program is that of the module" sh -c "bin/python -c 'import attn; print(attn.program())' | grep -q '^$scratch/'"
check "python -m attn" test "$(bin/python -m attn --version | head -n 1)" = "attn $(sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' "$top/src/base/version.h")"
cp "$top/tests/python/kernel_tiled.py" .
bin/python -m pytest -q kernel_tiled.py >log 2>&1
check "the last line of pytest names the bug: $(last_line)" says "^tiles-context-not-rescaled:16: "
cd "$top" || exit 1
finish
