#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles the program for other systems with zig's C compiler, without a warning, and runs the examples of the manual
# with those that this machine can start.
#
#   sh tests/cross.sh [static] [TARGET...]
#
#   static               one static program for this machine's Linux, by musl-gcc or else zig
#   aarch64-linux-musl   the same for aarch64, emulated
#   aarch64-macos, x86_64-macos, x86_64-freebsd and other names of zig's targets: compiled and linked, and not run
#
# Without names: all of these. What lacks its compiler or emulator is skipped, and says so. ZIG names the compiler (zig,
# or that of the Python package ziglang), CJSON the source tree of cJSON, which apt-get downloads otherwise, CFLAGS other
# flags than -O1 for programs that are not run.
. tests/counts.sh
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
build=${BUILD:-build}
unset BUILD
[ $# -gt 0 ] || set -- static aarch64-linux-musl aarch64-macos x86_64-macos x86_64-freebsd
jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)

find_zig() {
    [ -n "${ZIG-}" ] && return
    ZIG=$(command -v zig) && return
    ZIG=$("${PYTHON:-python3}" -c 'import os, ziglang; print(os.path.join(ziglang.__path__[0], "zig"))' 2>/dev/null)
    [ -n "$ZIG" ]
}

# The source of the system's cJSON, in build/cjson, by this machine's sources of apt.
fetch_cjson() {
    [ -n "${CJSON-}" ] && return
    CJSON=$PWD/build/cjson
    [ -f "$CJSON/cJSON.c" ] && return
    command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return
    state=$PWD/build/cjson-apt
    rm -rf "$state" "$CJSON"
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts"
    for sources in /etc/apt/sources.list /etc/apt/sources.list.d/debian.*; do
        [ ! -f "$sources" ] ||
            sed 's/^deb /deb-src /; s/^Types: deb$/Types: deb-src/' "$sources" >"$state/parts/${sources##*/}"
    done
    (cd "$state" && for step in update 'source cjson'; do
        apt-get -q -o Dir::State="$state" -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
            -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$state/parts" -o APT::Sandbox::User="$(id -un)" \
            -o Acquire::Languages=none $step || exit
    done) >build/cjson.log 2>&1 && mv "$state"/cjson-*/ "$CJSON" && rm -rf "$state"
}

compiled() { # MAKE'S ARGUMENTS...
    make -j "$jobs" CJSON="$CJSON" CPPFLAGS=-Werror "$@" >"$folder/make.log" 2>&1 || { cat "$folder/make.log"; return 1; }
}

# Random numbers, a checkpoint and a picture by both programs, besides the examples.
same_bytes() {
    for line in 'init self -d 24 --d-in 40 --seed 7 -f safetensors' 'causal data/inputs.json --explain' \
        'multihead -H 2 data/inputs.json -f html' 'sdpa --random 1x4x64x32 --causal -f json' 'causal data/inputs.json -f svg'; do
        "$build/attn" $line >"$scratch/here" && "$folder/attn" $line >"$scratch/there" &&
            cmp "$scratch/here" "$scratch/there" || return
    done
}

is_static() { ! grep -aq -e ld-linux -e ld-musl "$1"; }

find_musl() {
    compiler=musl-gcc
    command -v musl-gcc >/dev/null && return
    find_zig && compiler="$ZIG cc -target $(uname -m)-linux-musl"
}

# Puts a script into the folder run/ that starts the emulator.
emulate() { # TARGET
    emulator=$(command -v "qemu-${1%%-*}") || return
    mkdir -p "$folder/run"
    printf '#!/bin/sh\nexec %s -0 "$0" %s/attn "$@"\n' "$emulator" "$PWD/$folder" >"$folder/run/attn"
    chmod +x "$folder/run/attn"
    folder=$folder/run
    export ATTN_SLOW=1
}

target() {
    name=$1 folder=build/cross/$1
    mkdir -p "$folder"
    rm -f "$folder/attn"
    case $name in
    static) find_musl || { skip static "neither musl-gcc (Debian: musl-tools) nor zig is here"; return; } ;;
    *)
        find_zig || { skip "$name" "zig is missing: pip install ziglang"; return; }
        compiler="$ZIG cc -target $name"
        ;;
    esac
    case $name in
    static | *-musl)
        check "$name: compiled without a warning" compiled STATIC="$folder" STATIC_CC="$compiler" static
        [ -x "$folder/attn" ] || return
        check "$name: it needs no library" is_static "$folder/attn"
        ;;
    *)
        check "$name: compiled without a warning, and linked" compiled BUILD="$folder" CC="$compiler" AR="$ZIG ar" \
            CFLAGS="${CFLAGS--O1}" "$folder/attn"
        echo "$name: not run: this machine has no such system"
        return
        ;;
    esac
    [ "$name" = static ] || emulate "$name" || { skip "$name" "compiled, not run: install qemu-user"; return; }
    check "$name: the examples of the manual, and of features" env ATTN_BIN="$folder" "$build/run_examples" man/*.[157] \
        README.md tests/cli/features.test
    check "$name: the same bytes as this build" same_bytes
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p build
if fetch_cjson; then
    for name in "$@"; do target "$name"; done
else
    skip "$*" "no source of cJSON: CJSON=PATH names it"
fi
finish
