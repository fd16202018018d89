#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the README's command lines, Start and Test, on a Debian bookworm that has only sudo; and installs the package of
# `make deb` with its dependencies, runs it and removes it there.
#
#   sh tests/fresh_debian.sh     as root, where mmdebstrap is installed
#
# Uses the mirror of this machine's apt.
. tests/counts.sh
[ "$(id -u)" -eq 0 ] || { echo "tests/fresh_debian.sh: a chroot needs root" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "tests/fresh_debian.sh: mmdebstrap is missing" >&2; exit 2; }
scratch=$(mktemp -d) || exit 1
root=$scratch/root
clean() {
    mountpoint -q "$root/proc" && umount -l "$root/proc"
    rm -rf --one-file-system "$scratch"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$scratch"

# The mirror of bookworm in this machine's apt.
sources() {
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
        awk '$2 ~ /^bookworm/ && $3 == "main" && $4 == "Debian" { print "deb", $1, $2, $3 }' | sort -u
}
sources >"$scratch/sources"
grep -q . "$scratch/sources" || { echo "tests/fresh_debian.sh: apt here has no source of Debian bookworm" >&2; exit 2; }
mmdebstrap --quiet --variant=minbase --include=sudo bookworm "$root" <"$scratch/sources" >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log"; exit 1; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Copies apt's settings, such as a proxy, but not those for this machine's dpkg.
apt-config dump | grep -E '^Acquire::(http|https|ftp)::Proxy' >"$root/etc/apt/apt.conf.d/90proxy"
mount -t proc proc "$root/proc"

# A user with sudo, in a checkout of the last commit.
chroot "$root" useradd --create-home reader
echo 'reader ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/reader"
mkdir "$root/home/reader/attn"
git archive HEAD | tar x -C "$root/home/reader/attn"
chroot "$root" chown -R reader: /home/reader/attn

inside() { # USER COMMAND-LINE
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        sudo -u "$1" --preserve-env=DEBIAN_FRONTEND bash -c "cd /home/reader/attn && $2" >"$scratch/log" 2>&1 ||
        { grep -A 8 '^FAILED' "$scratch/log" || tail -n 40 "$scratch/log"; return 1; }
}
block() { # the first command line of a section of the README
    awk -v section="$1" '/^## / { inside = $2 == section } inside && /^```/ { fence++; next } inside && fence == 1' README.md
}
without() { ! chroot "$root" sh -c "command -v $1" >/dev/null; }
check "a system without compiler, make and pkg-config" eval 'without cc && without make && without pkg-config'
check "Start" inside reader "$(block Start)"
check "it printed a result" grep -q 'attention: 6 tokens' "$scratch/log"
check "Start, again" inside reader "$(block Start)"
check "Test" inside reader "$(block Test)"
tail -n 1 "$scratch/log"
check "no test failed" grep -qE '^[0-9]+ passed, 0 failed(, [0-9]+ skipped)?$' "$scratch/log"
check "as root" inside root "make clean && $(block Start)"

if command -v dpkg-shlibdeps >/dev/null; then
    check "make deb" make -s deb >"$scratch/deb" 2>&1
    cp build/attn_*.deb "$root/tmp/attn.deb"
    inside root 'apt-get purge -y libcjson-dev libcjson1 gcc make pkg-config && apt-get autoremove -y'
    check "pkg-config and cJSON are gone" eval 'without pkg-config && without cc && ! inside root "ldconfig -p | grep cjson"'
    check "the package installs" inside root 'apt-get install -y /tmp/attn.deb'
    check "it runs" inside reader 'attn self data/inputs.json && attn --version'
    inside root 'dpkg -L attn >/tmp/files'
    check "it is purged" inside root 'apt-get purge -y attn && ! command -v attn'
    check "nothing is left" inside root 'while read -r file; do if [ -f "$file" ]; then exit 1; fi; done </tmp/files'
else
    skip "the package" "dpkg-dev is not installed"
fi
finish
