#!/bin/sh
# Every include of src/ against the table of rooms in src/README.md: a file names its own room, those of its row, and what
# these may use.
. tests/counts.sh
set -f

rows=$(sed -n 's/^| `\([a-z/]*\)` |[^|]*| \(.*\) |$/\1 \2/p' src/README.md | tr -d '`' | sed 's/ -$//')
rooms=$(echo "$rows" | cut -d ' ' -f 1)

# The rooms that a room may use, in one line with blanks around each.
reach() { # ROOM
    all=" $1 "
    before=
    while [ "$all" != "$before" ]; do
        before=$all
        for known in $before; do
            for used in $(echo "$rows" | sed -n "s,^$known ,,p"); do
                case $all in *" $used "*) ;; *) all="$all$used " ;; esac
            done
        done
    done
    echo "$all"
}

# Includes of one file that its room may not use, a line each.
strays() { # FILE ROOMS
    sed -n 's/^#include [<"]\([a-z/]*\)\/[^/]*[">]$/\1/p' "$1" | while read -r used; do
        case $2 in *" $used "*) continue ;; esac
        [ ! -d "src/$used" ] || echo "$1 includes $used" # else one of the system's
    done
}

for room in $rooms; do
    allowed=$(reach "$room")
    found=$(set +f; for file in src/"$room"/*.[ch]; do strays "$file" "$allowed"; done)
    check "$room names what its row lists${found:+: $found}" [ -z "$found" ]
    check "$room has a README" [ -s "src/$room/README.md" ]
done
check "every folder with a source is a room" [ "$(set +f; dirname src/*/*.c src/*/*/*.c | sort -u | sed 's/^src.//')" = "$(echo "$rooms" | sort)" ]
cycles=$(for room in $rooms; do for other in $(reach "$room"); do
    [ "$room" = "$other" ] || case $(reach "$other") in *" $room "*) echo "$room and $other" ;; esac; done; done)
check "no room comes back to itself${cycles:+: $cycles}" [ -z "$cycles" ]

found=$(grep -rl '^#include [<"]read/' src/write)
check "a writer names nothing of read${found:+: $found}" [ -z "$found" ]

# The test itself: an include that goes up is seen.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
printf '#include "write/csv.h"\n#include "base/text.h"\n' >"$scratch/up.c"
check "an include that goes up is seen" [ "$(strays "$scratch/up.c" "$(reach compute)")" = "$scratch/up.c includes write" ]
finish
