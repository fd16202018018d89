#!/bin/sh
# SPDX-License-Identifier: MIT
# A change of a writer rebuilds little, and one of a sentence less: the compiler lists the objects of each header.
# The pictures are twelve objects, which share svg.h with that of attn heads. Shared headers do not count: cells and colours in src/write/picture, and writing.h, which all writers get.
. tests/counts.sh
most=13
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
# Sentences of rows: the rows' ids are in another header, and few files ask for facts about a stage.
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
