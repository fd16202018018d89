#!/bin/sh
# SPDX-License-Identifier: MIT
# The benchmarks, or the parts of them that are named: each result is checked before it is timed, and each time is a ratio
# to a peer measured in the same run, best of several in turn. What falls short makes the whole fail, when all have run.
#
#     sh tests/bench/run.sh BUILD [PART...]     kernel accuracy files decode start why layer long
#
# PYTHON names the interpreter that has PyTorch, OpenVINO, NumPy and transformers; ROUNDS how often both sides are
# measured. With BENCH_PROCESSOR_TIME the kernels count the seconds of all processors together, not those of a clock on
# the wall.
build=${1:?usage: tests/bench/run.sh BUILD [PART...]}
shift
. tests/bench/processor.sh
parts='kernel accuracy files decode start why layer long'
[ $# -gt 0 ] || set -- $parts
for part in "$@"; do
    case " $parts " in *" $part "*) ;; *) echo "there is no part $part; expected some of $parts" >&2 && exit 1 ;; esac
done

name=$(of_cpuinfo 'model name')
echo "processor: ${name:-$(uname -m)}, $(nproc) cores; goals: $vendor"
[ "$vendor" != other ] || echo "of this processor nothing is asked but memory and accuracy: the ratios are information"
echo isas | "$build/bench_kernel" | sed 's/^/instruction sets: /'
echo absent | "$build/bench_kernel" | sed -n 's/^./not on this processor: &/p'
"${PYTHON:-python3}" -c 'import torch; print("PyTorch:", torch.__version__)' 2>/dev/null ||
    echo "PyTorch: missing (PYTHON names an interpreter that has it)"
began=$(date +%s)
failed=''
for part in "$@"; do
    sh "tests/bench/$part.sh" "$build" || failed="$failed $part"
done
echo
echo "$(($(date +%s) - began)) seconds; $([ -n "$failed" ] && echo "fell short:$failed" || echo "all that is asked holds")"
[ -z "$failed" ]
