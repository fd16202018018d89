#!/bin/sh
# SPDX-License-Identifier: MIT
# Whoever changes a writer waits for little, and who changes a sentence for less: the compiler says which objects are made
# from a header. No writer are cells and colours, src/write/picture, which several share, and writing.h, what all of them
# are given.
. tests/counts.sh
most=10
dependencies=$(for folder in $(cd src && find . -type d); do ls "$ATTN_BIN/$folder"/*.d; done 2>/dev/null)
if [ -z "$dependencies" ]; then
    skip "what is made again" "nothing was compiled in this build folder"
    finish
fi
objects_of() { grep -l " $1\( \|\$\)" $dependencies | wc -l; }
for header in $(find src/write -path src/write/picture -prune -o -name writing.h -o -name '*.h' -print | LC_ALL=C sort); do
    count=$(objects_of "$header")
    check "$header is part of $count objects, of $most at most" test "$count" -ge 1 -a "$count" -le $most
done
# Sentences of rows: the ids of the rows are in another header, and what is known of a stage is asked by few.
check_most() { # MOST HEADER...
    most=$1
    shift
    for header in "$@"; do
        count=$(objects_of "$header")
        check "$header is part of $count objects, of $most at most" test "$count" -ge 1 -a "$count" -le "$most"
    done
}
check_most 3 src/model/mistake_rows.h src/model/stage_rows.h src/cli/option_rows.h
check_most 60 src/model/stages.h
finish
