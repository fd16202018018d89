#!/bin/sh
# SPDX-License-Identifier: MIT
# A release is complete: unpacked without git, its checksum is right, it passes its tests (DISTCHECK, or make
# check-quick), can be installed and removed, and builds itself again, byte for byte; so does the checkout, on another
# day, under another umask.
. tests/counts.sh
archive=${1:?usage: tests/distcheck.sh ARCHIVE}
name=$(basename "$archive" .tar.gz)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD PREFIX DESTDIR

quietly() { "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; return 1; }; }
check "the checksum" sh -c 'cd "$(dirname "$1")" && sha256sum --quiet -c "$(basename "$1").sha256"' - "$archive"
check "one folder, $name" test "$(tar tzf "$archive" | cut -d / -f 1 | sort -u)" = "$name"
if [ -e .git ]; then
    check "all that git tracks" \
        test "$(tar tzf "$archive" | sed 's,^[^/]*/,,' | LC_ALL=C sort)" = "$(git ls-files | LC_ALL=C sort)"
fi
again() { (umask 077 && TZ=Asia/Tokyo LC_ALL=C quietly make BUILD="$scratch/build" dist) && cmp "$archive" "$scratch/build/$name.tar.gz"; }
check "made again, the same bytes" again

# A git that fails, as if it were not installed.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "git was called: $*" >&2\nexit 127\n' >"$scratch/bin/git"
chmod +x "$scratch/bin/git"
PATH=$scratch/bin:$PATH
tar xzf "$archive" -C "$scratch" && cd "$scratch/$name" || exit 1
check "make" quietly make -j "$(nproc)"
check "make ${DISTCHECK:=check-quick}" quietly make -j "$(nproc)" $DISTCHECK
tail -n 1 "$scratch/log"
check "make install" quietly make DESTDIR="$scratch/root" PREFIX=/opt/attn install
check "it runs where it was installed" "$scratch/root/opt/attn/bin/attn" self data/inputs.json -o "$scratch/self.txt"
check "make uninstall" quietly make DESTDIR="$scratch/root" PREFIX=/opt/attn uninstall
check "nothing is left" test -z "$(find "$scratch/root" -type f)"
check "make dist" quietly make dist
check "which is the same again" cmp "build/$name.tar.gz" "$scratch/build/$name.tar.gz"
check "make clean" quietly make clean
check "all is as it was unpacked" sh -c 'tar tzf "$0" | sed "s,^[^/]*/,," | LC_ALL=C sort | diff - "$1"' \
    "$scratch/build/$name.tar.gz" /dev/stdin <<LIST
$(find . -type f -printf '%P\n' | LC_ALL=C sort)
LIST
finish
