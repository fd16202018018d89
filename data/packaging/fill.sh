#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints a file for packagers with the version, the checksum of the source and where it comes from filled in.
#
#     [URL=https://...] sh data/packaging/fill.sh FILE SHA256
set -eu
version=$(sed -n 's/^.define ATTN_VERSION "\(.*\)"/\1/p' src/base/version.h)
sed "s,@VERSION@,$version,; s,@SHA256@,$2,;
    s,@URL@,${URL:-file://#{__dir__\}},; s,^\(source=(\)\(attn\),\1${URL:+$URL/}\2," "data/packaging/$1.in"
