#!/bin/sh
# Whoever changes a writer waits for little: the compiler says which objects are made from one of its headers. No writer
# are cells and colours, src/write/picture, which several share, and writing.h, what all of them are given.
. tests/counts.sh
most=10
dependencies=$(for folder in $(cd src && find . -type d); do ls "$ATTN_BIN/$folder"/*.d; done 2>/dev/null)
if [ -z "$dependencies" ]; then
    skip "what is made again" "nothing was compiled in this build folder"
    finish
fi
for header in $(find src/write -path src/write/picture -prune -o -name writing.h -o -name '*.h' -print | LC_ALL=C sort); do
    count=$(grep -l " $header\( \|\$\)" $dependencies | wc -l)
    check "$header is part of $count objects, of $most at most" test "$count" -ge 1 -a "$count" -le $most
done
finish
