#!/bin/sh
# SPDX-License-Identifier: MIT
# The site of the manual: every page is there, every link leads somewhere in the folder, and nothing needs the network.
# Also the files for packagers name the version of the program.
. tests/counts.sh
attn=$(cd "$ATTN_BIN" && pwd)/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
version=$("$attn" --version | sed -n '1s/^attn //p')

# Prints "FILE TARGET" for each link of the folder's pages whose file or anchor is missing, and each to the network. The
# page of attention is a program with no links.
broken() { # FOLDER
    for file in "$1"/*.html; do
        tr '\n' ' ' <"$file" | grep -oE '(href|src)="[^"]*"' | sed 's/^[a-z]*="//; s/"$//' | sort -u | while read -r link; do
            target=${link%%#*} anchor=
            case $link in *#*) anchor=${link#*#} ;; esac
            case $link in
            *://* | //* | mailto:*) echo "${file##*/} $link" ;;
            *) [ -s "$1/${target:-${file##*/}}" ] &&
                { [ -z "$anchor" ] || grep -qF "id=\"$anchor\"" "$1/${target:-${file##*/}}"; } || echo "${file##*/} $link" ;;
            esac
        done
    done
}

if command -v mandoc >/dev/null; then
    check "the site is made" sh data/packaging/site.sh "$attn" "$scratch/site"
    found=$(broken "$scratch/site")
    check "no link is broken${found:+: $found}" [ -z "$found" ]
    check "each page of the manual is in the index" [ "$(grep -c '<td><a href' "$scratch/site/index.html")" -eq "$(ls man/*.[157] | wc -l)" ]
    check "the index names the version" grep -qF "<h1>attn $version</h1>" "$scratch/site/index.html"
    check "links to other programs are words" sh -c 'grep -q "jq(1)" "$1" && ! grep -q "jq.1.html" "$1"' - "$scratch/site/attn-files.5.html"
    printf '<a href="gone.html">x</a> <a href="site.css#no">y</a> <img src="https://z/">\n' >"$scratch/site/wrong.html"
    check "the check finds broken links" [ "$(broken "$scratch/site" | wc -l)" -eq 3 ]
else
    skip "the site of the manual" "mandoc is not installed"
fi

sum=$(printf '%064d' 7)
for file in attn.rb PKGBUILD; do
    sh data/packaging/fill.sh "$file" "$sum" >"$scratch/$file"
    check "$file names the version and the checksum" sh -c 'grep -qF "$2" "$1" && grep -qF "$3" "$1" && ! grep -q "@[A-Z]*@" "$1"' - \
        "$scratch/$file" "$version" "$sum"
done
if command -v bash >/dev/null; then
    check "PKGBUILD is a script" bash -n "$scratch/PKGBUILD"
else
    skip "the syntax of PKGBUILD" "bash is not installed"
fi
check "the changelog begins with this version" [ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ]
finish
