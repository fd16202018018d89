#!/bin/sh
# SPDX-License-Identifier: MIT
# Lists the sources of src that have changed since a commit, or include a changed file.
#
#   sh tests/changed.sh COMMIT
changed=$(git diff --name-only --diff-filter=d "${1:?usage: tests/changed.sh COMMIT}" -- src) || exit
{
    echo "$changed"
    for header in $(echo "$changed" | sed -n 's,^src/\(.*\.h\)$,\1,p'); do
        grep -rlF "#include \"$header\"" src --include='*.c'
    done
} | grep '\.c$' | LC_ALL=C sort -u
