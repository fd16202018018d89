#!/bin/sh
# SPDX-License-Identifier: MIT
# git tracks a family of cases as FAMILY.tar, and of its folder only README.md and cases.txt; make unpacks it for the
# tests. The same files make the same archive, byte for byte.
#
#   sh tests/pack.sh FAMILY...            makes the archives from the folders, after you add or change a case
#   sh tests/pack.sh --unpack FAMILY...   unpacks the archives into the folders
#   sh tests/pack.sh --clean FAMILY...    removes the unpacked files
#
# as in: sh tests/pack.sh tests/layers
set -e
how=pack
case ${1-} in --*) how=${1#--} && shift ;; esac
[ $# -gt 0 ] || { echo "usage: sh tests/pack.sh [--unpack | --clean] FAMILY..." >&2; exit 2; }

# Lists the archive's files, by their path in the folder.
packed() (
    cd "$1"
    find . -type f ! -path ./README.md ! -path ./cases.txt ! -path ./.unpacked -printf '%P\n' | LC_ALL=C sort
)

pack() {
    packed "$1" | tar --create --file="$1.tar" --directory="$1" --format=ustar --mtime=@0 --owner=root:0 --group=root:0 \
        --mode=u=rw,go=r --verbatim-files-from --files-from=-
    touch "$1/.unpacked"
}

clean() {
    [ ! -d "$1" ] || find "$1" -mindepth 1 ! -path "$1/README.md" ! -path "$1/cases.txt" -delete
    rmdir "$1" 2>/dev/null || true
}

unpack() {
    clean "$1"
    mkdir -p "$1"
    tar --extract --touch --file="$1.tar" --directory="$1"
    touch "$1/.unpacked"
}

for family in "$@"; do
    family=${family%/}
    $how "$family"
done
