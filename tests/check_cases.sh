#!/bin/sh
# SPDX-License-Identifier: MIT
# attn cases: a folder appears complete or not at all, whatever interrupts it. With PyTorch, the manual's script passes
# every case that its function supports, except NaN behind a mask, which the function multiplies; and a kernel that
# supports all passes all.
. tests/counts.sh
attn=$ATTN_BIN/attn
case $attn in /*) ;; *) attn=$PWD/$attn ;; esac
page=$PWD/man/attn-cases.1
kernel=$PWD/tests/cases/kernel.py
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
count() { grep -vc '^#' "$1/cases.txt"; }
left() { find . -mindepth 1 -maxdepth 1 ! -name message ! -name text | sort | tr '\n' ' '; }

# --- complete or not at all
full() { (ulimit -f 2 && trap '' XFSZ && exec "$attn" cases full) >text 2>message; }
check "a full disk" test "$(full; echo $?)" = 3
check "is told" grep -q '^attn: full: cannot write: ' message
check "and leaves nothing" test -z "$(left)"
begun() { [ -n "$(left)" ]; }
for signal in INT TERM HUP; do
    env --default-signal "$attn" cases cut --max-tokens 16384 --heads 1 >text 2>message &
    process=$!
    check "it begins" during $process begun
    kill -$signal $process
    wait $process 2>>message
    check "SIG$signal while it writes ends it" test $? -gt 128
    check "and leaves nothing: $(left)" test -z "$(left)"
done
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed && chmod 555 closed
    check "a folder that may not be written" test "$("$attn" cases closed/v >text 2>message; echo $?)" = 3
    check "is told" grep -q '^attn: closed: cannot write to this directory: ' message
    chmod 755 closed && rmdir closed
else
    skip "a folder that may not be written" "this is root"
fi
within() (ulimit -v 40000 && exec "$attn" "$@" >text 2>message)
if within --version; then
    check "memory that is not there" test "$(within cases large --max-tokens 8192; echo $?)" = 3
    check "leaves nothing: $(left)" test -z "$(left)"
else
    skip "memory that is not there" "this build asks for more than 40 MB of addresses by itself"
fi
if strace -o text "$attn" --version >/dev/null 2>message; then
    for fault in mkdir:error=EACCES:when=1 mkdir:error=ENOSPC:when=2 mkdir:error=ENOSPC:when=40 \
        pwrite64:error=ENOSPC:when=1 pwrite64:error=EIO:when=300 openat:error=EMFILE:when=100 \
        rename:error=EROFS:when=1 /chmod:error=EPERM:when=1; do
        check "$fault" test "$(strace -f -o text -e inject="$fault" "$attn" cases fault --d-head 2 --max-tokens 16 >report 2>message; echo $?)" = 3
        rm -f report
        check "is told: $(cat message)" grep -q '^attn: \(fault\|\.\): cannot ' message
        check "and leaves nothing: $(left)" test -z "$(left)"
    done
    check "a write that is interrupted goes on" strace -f -o text -e inject=pwrite64:error=EINTR:when=30 "$attn" cases fault --d-head 2 --max-tokens 16 -- >report 2>message
    "$attn" cases listed --d-head 2 --max-tokens 16 >report
    check "a folder that cannot be listed" test "$(strace -f -o text -e inject=getdents64:error=EIO:when=1 "$attn" cases --check listed >report 2>message; echo $?)" = 3
    check "is told: $(cat message)" grep -q '^attn: listed/edge-15: ' message
    rm -rf fault listed report
else
    skip "calls of the system that fail" "strace is not installed, or may not trace this build"
fi
: >file
check "a file in its place" test "$("$attn" cases file >text 2>message; echo $?)" = 2
check "stays" test -f file
mkdir there && : >there/mine
check "a folder that holds something" test "$("$attn" cases there >text 2>message; echo $?)" = 2
check "stays as it is" test "$(ls there)" = mine
rm -rf file there && mkdir empty && chmod 700 empty
check "an empty folder is taken" test "$("$attn" cases empty/ --max-tokens 16 --d-head 2 | head -n 1)" = "$(count empty) cases in empty/"
"$attn" cases again --max-tokens 16 --d-head 2 >text
check "the same options are the same bytes" diff -r empty again
check "who may open it stays as it was" test "$(stat -c %a empty)" = 700
mkdir -m 2775 shared && (umask 022 && cd shared && "$attn" cases new --max-tokens 16 --d-head 2 >../text)
check "a new one takes its group from where it is" test "$(stat -c %a shared/new shared/new/edge-15 | uniq)" = 2755
cp again/edge-15/expected_context.npy again/edge-15/context.npy && mv again ./-x
check "a name that begins like an option" test "$("$attn" cases --check -- -x | tail -n 1)" = "1 passed, 0 failed, $(($(count ./-x) - 1)) missing"
printf '\0\0\0\100' | dd of=./-x/edge-15/context.npy bs=1 seek=200 conv=notrunc 2>message
ask=$("$attn" cases --check -- -x | sed -n 's/^ *ask: //p')
check "what it says to ask can be asked: $ask" test "$(cd . && PATH=${attn%/*}:$PATH && eval "$ask" >text 2>message; echo $?)" = 1
rm -rf ./-x shared
"$attn" cases again --max-tokens 16 --d-head 2 >text
"$attn" cases other --max-tokens 16 --d-head 2 -s 7 >text
check "another seed is other numbers" sh -c '! cmp -s again/edge-16/query.npy other/edge-16/query.npy'
rm -rf empty again other

# --- the script for PyTorch: a kernel that stops leaves no results of an earlier run, and runs in the folder's dtype
sed -n '/^import json/,/^\.Ed/p' "$page" | sed '/^\.Ed/d; s/\\-/-/g; s/\\e/\\/g' >script.py
mkdir -p standin/torch/nn
cat >standin/numpy.py <<'END'
def load(file):
    return file.read_bytes()[10:118].decode().split("'")[3]
END
cat >standin/torch/__init__.py <<'END'
float16, bfloat16, float32, float64 = "float16", "bfloat16", "float32", "float64"
class Tensor:
    def __init__(self, descr): self.dtype = {"<f2": float16, "<f4": float32, "<f8": float64}.get(descr, descr)
    def is_floating_point(self): return "float" in self.dtype
    def requires_grad_(self): return self
    def to(self, dtype): return Tensor(dtype)
from_numpy = Tensor
END
cat >standin/torch/nn/functional.py <<'END'
def scaled_dot_product_attention(query, key, value, *others, **settings):
    raise RuntimeError("a kernel in " + ", ".join({query.dtype, key.dtype, value.dtype}))
END
if python3 -c 'import pathlib' 2>/dev/null; then
    for dtype in f16:float16 bf16:bfloat16 f32:float32 f64:float64; do
        rm -rf vectors
        "$attn" cases vectors --dtype ${dtype%:*} --d-head 2 --max-tokens 16 >text
        for file in vectors/*/expected_*.npy; do
            case $file in *_f64.npy) ;; *) cp "$file" "${file%/*}/${file##*/expected_}" ;; esac
        done
        check "the results of a run pass" sh -c '"$0" cases --check vectors >text' "$attn"
        PYTHONPATH=standin python3 script.py >text 2>&1
        check "the script in ${dtype%:*}: $(tail -n 1 text)" test "$(tail -n 1 text)" = "RuntimeError: a kernel in ${dtype#*:}"
        check "leaves none of an earlier run" test "$("$attn" cases --check vectors | tail -n 1)" = "0 passed, 0 failed, $(count vectors) missing"
    done
else
    skip "the script for PyTorch with a kernel that stops" "there is no python3"
fi
rm -rf vectors standin

# --- PyTorch
if python3 -c 'import torch, numpy' 2>/dev/null; then
    for dtype in f32 f64 f16; do
        for backend in MATH FLASH_ATTENTION; do
            rm -rf vectors
            "$attn" cases vectors --dtype $dtype >text
            { echo "import torch.nn.attention as a; a.sdpa_kernel(a.SDPBackend.$backend).__enter__()"; cat script.py; } >run.py
            [ $backend = MATH ] || grep -l '^"features".*"d-value"' vectors/*/case.json | while read -r case; do
                rm -r "${case%/*}" # which it refuses
            done
            check "PyTorch runs the script in $dtype, $backend" sh -c 'python3 -W ignore run.py >text 2>&1 || ! cat text'
            "$attn" cases --check vectors >report
            check "and passes all but NaN behind a mask: $(tail -n 1 report)" \
                test "$(sed -n 's/^failed *\([^ ]*\) .*/\1/p' report | tr '\n' ' ')" = "nan-masked nan-behind "
            check "more than 50 of them" test "$(grep -c ^passed report)" -gt 50
        done
    done

    # A right kernel that shares nothing with attn passes every case.
    for folder in 'f32 bhtd --d-head 16' 'bf16 bthd --d-head 8 --heads 6 --kv-heads 2' 'f16 thd --d-head 8 --d-value 12'; do
        set -- $folder
        dtype=$1 layout=$2
        shift 2
        rm -rf vectors
        "$attn" cases vectors --dtype $dtype --layout $layout --max-tokens 70 "$@" >text
        check "a right kernel runs in $dtype, $layout" sh -c 'python3 -W ignore "$1" vectors >text 2>&1 || ! cat text' - "$kernel"
        check "and passes all" test "$("$attn" cases --check vectors | tail -n 1)" = "$(count vectors) passed, 0 failed, 0 missing"
    done
else
    skip "the script for PyTorch, and a right kernel" "there is no PyTorch"
fi
cd "$OLDPWD" || exit 1
finish
