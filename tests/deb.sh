#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks a Debian package with lintian, installs it into a folder, runs it there and removes it; the machine's packages
# do not change.
. tests/counts.sh
package=${1:?usage: tests/deb.sh PACKAGE}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
: >"$root/var/lib/dpkg/status"

if command -v lintian >/dev/null; then
    lintian --fail-on error "$package" >"$scratch/lintian" 2>&1
    status=$?
    sed 's/^/  /' "$scratch/lintian"
    check "lintian finds no error" test $status -eq 0
else
    skip "lintian" "it is not installed"
fi

# The dependencies are the machine's, which this folder's list of packages lacks.
in_root() {
    dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log="$scratch/log" "$@" \
        >"$scratch/dpkg" 2>&1 || { cat "$scratch/dpkg"; return 1; }
}
field() { dpkg-deb --field "$package" "$1"; }
version=$(sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' src/base/version.h)
check "its version is the program's" test "$(field Version)" = "$version-1"
check "it depends on the C library and cJSON, nothing else" \
    test "$(field Depends | sed 's/ ([^)]*)//g')" = "libc6, libcjson1"
check "it has no scripts" test -z "$(dpkg-deb --ctrl-tarfile "$package" | tar t | grep -vE '^\./((control|md5sums)?)$')"
check "it installs" in_root --install "$package"
check "every file is as packed" sh -c 'cd "$1" && md5sum --quiet -c var/lib/dpkg/info/attn.md5sums' - "$root"
check "md5sums names every file" test "$(wc -l <"$root/var/lib/dpkg/info/attn.md5sums")" -eq "$(find "$root/usr" -type f | wc -l)"
attn=$root/usr/bin/attn
check "it runs" test "$(env -i "$attn" --version | head -n 1)" = "attn $version"
check "and computes" sh -c '"$1" causal data/inputs.json --format svg | cmp - data/causal.svg' - "$attn"
check "its examples are there" "$attn" self "$root/usr/share/doc/attn/examples/inputs.json" -o "$scratch/self.txt"
for page in man/*.[157]; do
    check "its $page is this one" sh -c 'gzip -dc "$1/usr/share/man/man${2##*.}/${2##*/}.gz" | cmp - "$2"' - "$root" "$page"
done
for file in bash-completion/completions/attn zsh/vendor-completions/_attn fish/vendor_completions.d/attn.fish; do
    check "share/$file" test -s "$root/usr/share/$file"
done
check "it is purged" in_root --purge attn
check "nothing is left" test -z "$(find "$root" -path "$root/var/lib/dpkg" -prune -o -type f -print)"
check "no folder either" test ! -e "$root/usr"
finish
