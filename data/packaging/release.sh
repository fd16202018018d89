#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the files of a release in BUILD/release: source, static programs, the Debian package, wheels, the site of the
# manual, files for packagers, checksums. It names what this machine cannot make, and fails for it unless
# ALLOW_SKIPPED=1.
#
#     CJSON=PATH sh data/packaging/release.sh BUILD VERSION     (make release)
#
# CJSON is cJSON's source tree, for the static programs. URL says where the source will be, for the packagers' files.
set -eu
build=${1:?usage: data/packaging/release.sh BUILD VERSION} version=${2:?usage: data/packaging/release.sh BUILD VERSION}
make=${MAKE:-make} python=${PYTHON:-python3}
skipped=''
rm -rf "$build/release"
mkdir -p "$build/release"
release=$(cd "$build/release" && pwd)

has() { command -v "$1" >/dev/null; }
skip() { # NAME WHY
    echo "skipped: $1: $2"
    skipped="$skipped
  $1: $2"
}

# The compiler and the archiver of a static program; false where there are none. Without musl it contains the C library
# of the machine's cross-compiler.
compiler() { # MACHINE
    zig=$(command -v zig) ||
        zig=$("$python" -c 'import os, ziglang; print(os.path.join(ziglang.__path__[0], "zig"))' 2>/dev/null) || zig=''
    if [ "$1" = "$(uname -m)" ] && has musl-gcc; then
        cc=musl-gcc ar=ar
    elif [ -n "$zig" ]; then
        cc="$zig cc -target $1-linux-musl" ar="$zig ar"
    elif has "$1-linux-gnu-gcc"; then
        cc=$1-linux-gnu-gcc ar=$1-linux-gnu-ar
    else
        return 1
    fi
}

# Runs the manual's examples with the program, on this machine or emulated.
try() { # MACHINE PROGRAM
    folder=$build/static-$1/try runner=
    [ "$1" = "$(uname -m)" ] || runner=$(command -v "qemu-$1" || command -v "qemu-$1-static") ||
        { skip "a test of attn-$version-linux-$1" "qemu-$1 is missing"; return 0; }
    mkdir -p "$folder"
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$runner" "$(cd "${2%/*}" && pwd)/${2##*/}" >"$folder/attn"
    chmod +x "$folder/attn"
    ATTN_BIN=$folder "$build/run_examples" README.md man/attn.1 man/attn-sdpa.1 tests/cli/features.test
    # Programs of zig see no instruction set of an x86_64 processor, and are slow there.
    [ "$1" != "$(uname -m)" ] || [ "$("$folder/attn" --version)" = "$("$build/attn" --version)" ] ||
        { echo "attn-$version-linux-$1 lacks kernels that this machine has: install musl-gcc (Debian: musl-tools)" >&2; exit 1; }
}

static() { # MACHINE
    if [ ! -f "${CJSON:-}/cJSON.c" ]; then
        skip "attn-$version-linux-$1" "CJSON=PATH must name the source tree of cJSON"
    elif ! compiler "$1"; then
        skip "attn-$version-linux-$1" "musl-gcc, zig (pip install ziglang) or $1-linux-gnu-gcc is missing"
    else
        rm -rf "$build/static-$1" # another compiler may have made it
        $make static STATIC="$build/static-$1" STATIC_CC="$cc" AR="$ar" CJSON="$CJSON"
        cp "$build/static-$1/attn" "$release/attn-$version-linux-$1"
        try "$1" "$release/attn-$version-linux-$1"
    fi
}

deb() {
    has dpkg-source && has dpkg-deb || { skip "attn_$version-1_*.deb" "dpkg-dev is missing"; return 0; }
    CJSON='' $make CJSON= check-deb # with the system's package of cJSON
    cp "$build/attn_$version-1_"*.deb "$release"
}

# A wheel carries the static program, so that it needs no library.
wheel() { # MACHINE
    name=attn-$version-py3-none-manylinux2014_$1.musllinux_1_1_$1.whl program=$release/attn-$version-linux-$1
    [ -f "$program" ] || { skip "$name" "there is no attn-$version-linux-$1"; return 0; }
    "$python" -c 'import setuptools, pip; assert [int(n) for n in setuptools.__version__.split(".")[:2]] >= [70, 1]' 2>/dev/null ||
        { skip "$name" "$python lacks pip, or setuptools 70.1: PYTHON names one that has them"; return 0; }
    rm -rf "$build/wheel-try" "$build/python/wheel"
    ATTN_STATIC="$1:$program" "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$release" ./src/python
    "$python" -m zipfile -e "$release/$name" "$build/wheel-try"
    cmp "$build/wheel-try/attn/program" "$program"
}

site() {
    has mandoc || { skip "attn-$version-site.tar.gz" "mandoc is missing"; return 0; }
    $make site
    tar --create --gzip --file="$release/attn-$version-site.tar.gz" --directory="$build" --owner=root:0 --group=root:0 \
        --transform="s,^site,attn-$version-site," site
}

cp "$build/attn-$version.tar.gz" "$release"
static x86_64
static aarch64
deb
wheel x86_64
wheel aarch64
site
sum=$(sha256sum <"$release/attn-$version.tar.gz" | cut -d ' ' -f 1)
for file in attn.rb PKGBUILD; do
    sh data/packaging/fill.sh "$file" "$sum" >"$release/$file"
done
(cd "$release" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
ls -l "$release"
[ -z "$skipped" ] || echo "skipped:$skipped"
[ -z "$skipped" ] || [ "${ALLOW_SKIPPED:-}" = 1 ] || {
    echo "this release is not complete; ALLOW_SKIPPED=1 accepts it" >&2
    exit 1
}
