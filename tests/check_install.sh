#!/bin/sh
# SPDX-License-Identifier: MIT
# make install, by a user who is not root, puts each file where PREFIX and DESTDIR say and the shells look; make uninstall
# removes it.
. tests/counts.sh
# The makes below must not inherit the flags of make check.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES PREFIX DESTDIR BUILD
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Runs as nobody if called by root.
user=''
if [ "$(id -u)" -eq 0 ]; then
    user="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chmod 711 "$scratch"
fi
# The programs exist: make must not build anything.
install_to() { # TARGET ROOT ASSIGNMENTS...
    target=$1
    shift
    $user make -s BUILD="$ATTN_BIN" "$@" "$target"
}
installed() { (cd "$1" && find . -type f -printf '%m %P\n' | LC_ALL=C sort -k 2); }
expected() { # PREFIX without its first slash
    cat <<LIST
755 $1/bin/attn
644 $1/share/bash-completion/completions/attn
644 $1/share/fish/vendor_completions.d/attn.fish
644 $1/share/man/man1/attn-cases.1
644 $1/share/man/man1/attn-diff.1
644 $1/share/man/man1/attn-heads.1
644 $1/share/man/man1/attn-layer.1
644 $1/share/man/man1/attn-sdpa.1
644 $1/share/man/man1/attn-why.1
644 $1/share/man/man1/attn.1
644 $1/share/man/man5/attn-files.5
644 $1/share/man/man7/attn-lessons.7
644 $1/share/man/man7/attn-numbers.7
644 $1/share/zsh/site-functions/_attn
LIST
}
tried() { # NAME, the folder, PREFIX in it, ASSIGNMENTS...
    name=$1 folder=$2 prefix=$3
    shift 3
    mkdir "$folder" && chmod 777 "$folder"
    check "$name: make install" install_to install "$@"
    check "$name: its files and modes" test "$(installed "$folder")" = "$(expected "$prefix")"
    check "$name: the program runs" test "$("$folder/$prefix/bin/attn" --version | head -n 1)" = "attn $version"
    check "$name: so does the first step of its manual" sh -c 'cd "$1" && "$2" example | "$2" self --stages context | grep -q journey' - "$scratch" "$folder/$prefix/bin/attn"
    check "$name: make uninstall" install_to uninstall "$@"
    check "$name: nothing is left" test -z "$(installed "$folder")"
}
version=$(sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' src/base/version.h)

if ! command -v make >/dev/null; then
    skip "make install" "make is not installed"
elif [ -n "$user" ] && ! $user test -r Makefile -a -x "$ATTN_BIN/attn"; then
    skip "make install" "nobody may not read this folder, and this is root"
else
    if [ -n "${ATTN_WHOLE-}" ]; then
        tried "DESTDIR and PREFIX" "$scratch/root" usr DESTDIR="$scratch/root" PREFIX=/usr
    else
        skip "DESTDIR and PREFIX" "with ATTN_WHOLE, as in .ci/run; with a blank in both it is tried"
    fi
    tried "PREFIX alone" "$scratch/home" here PREFIX="$scratch/home/here"
    tried "neither, but DESTDIR" "$scratch/plain" usr/local DESTDIR="$scratch/plain"
    mkdir "$scratch/blank" && chmod 777 "$scratch/blank" && $user touch "$scratch/blank/a"
    tried "a blank" "$scratch/blank/a b" "c d" DESTDIR="$scratch/blank/a b" PREFIX="/c d"
    check "a blank: what is named before it stays" test -e "$scratch/blank/a"
fi
finish
