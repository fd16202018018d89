#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks every include of src/ against the table of rooms in src/README.md: a file includes its own room, those of its
# row, and those that they may use. Also checks the length of lines, and that an example says what it needs.
. tests/counts.sh
set -f

rows=$(sed -n 's/^| `\([a-z/]*\)` |[^|]*| \(.*\) |$/\1 \2/p' src/README.md | tr -d '`' | sed 's/ -$//')
rooms=$(echo "$rows" | cut -d ' ' -f 1)

# Lines of "ROOM all that it may use".
reaches=$(echo "$rows" | awk '
    { room[NR] = $1; for (i = 2; i <= NF; i++) uses[$1, $i] }
    END { # Warshall: the ways through each room in turn
        for (k = 1; k <= NR; k++) for (i = 1; i <= NR; i++) if ((room[i], room[k]) in uses)
            for (j = 1; j <= NR; j++) if ((room[k], room[j]) in uses) uses[room[i], room[j]]
        for (i = 1; i <= NR; i++) {
            line = room[i]
            for (j = 1; j <= NR; j++) if ((room[i], room[j]) in uses) line = line " " room[j]
            print line
        }
    }')

reach() { # ROOM
    echo "$reaches" | sed -n "s,^$1 ,,p"
}

# Lists forbidden includes, one per line.
strays() { # ROOM FILE...
    allowed=" $1 $(reach "$1") "
    shift
    grep -HoE '^#include [<"][a-z/]*/[^/]*[">]$' "$@" | sed 's/:#include [<"]/ /; s/\/[^/]*$//' | while read -r file used; do
        case $allowed in *" $used "*) continue ;; esac
        [ ! -d "src/$used" ] || echo "$file includes $used" # else one of the system's
    done
}

for room in $rooms; do
    found=$(set +f; strays "$room" src/"$room"/*.[ch])
    check "$room names what its row lists${found:+: $found}" [ -z "$found" ]
    check "$room has a README" [ -s "src/$room/README.md" ]
done
check "every folder with a source is a room" [ "$(set +f; dirname src/*/*.[ch] src/*/*/*.[ch] | sort -u | sed 's/^src.//')" = "$(echo "$rooms" | sort)" ]
cycles=$(for room in $rooms; do case " $(reach "$room") " in *" $room "*) echo "$room" ;; esac; done)
check "no room comes back to itself${cycles:+: $cycles}" [ -z "$cycles" ]

found=$(grep -rl '^#include [<"]read/' src/write)
check "a writer names nothing of read${found:+: $found}" [ -z "$found" ]

# Lists lines of more than 120 characters, except in tables that clang-format skips.
too_long() { # FILE...
    LC_ALL=C awk '
        FNR == 1 || /clang-format on/ { off = 0 }
        /clang-format off/ { off = 1 }
        { gsub(/[\200-\277]/, "") } # of each character its first byte is left
        !off && length($0) > 120 { print FILENAME ":" FNR }' "$@"
}

found=$(set +f; too_long src/*.[ch] src/*/*.[ch] src/*/*/*.[ch])
check "no line is beyond 120 columns${found:+: $found}" [ -z "$found" ]

# Lists the first lines of examples that run a program which a fresh system lacks, without a skip-without.
unsaid() { # FILE...
    awk 'BEGIN { RS = "" }
        { for (program in needs) if ($0 ~ "(^|\n)[$>] (.*[ |;(])?" program && $0 !~ "skip-without " needs[program])
              print FILENAME ": " substr($0, 1, index($0 "\n", "\n") - 1) }
        BEGIN { needs["python3 "] = "python3"; needs["script -"] = "pseudo-terminal"; needs["node "] = "node" }' "$@"
}
found=$(set +f; unsaid tests/*/*.test)
check "examples say which programs they need${found:+: $found}" [ -z "$found" ]

# The linker takes one of two functions of the same name in a library, and says nothing.
if [ -f "$ATTN_BIN/libattn.a" ] && command -v nm >/dev/null; then
    found=$(nm -g --defined-only "$ATTN_BIN/libattn.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort | uniq -d)
    check "no two functions have the same name${found:+: $found}" [ -z "$found" ]
fi

# Tests itself: it must find a forbidden include and a long line.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
printf '#include "write/csv.h"\n#include "base/text.h"\n' >"$scratch/up.c"
check "an include that goes up is seen" [ "$(strays compute "$scratch/up.c")" = "$scratch/up.c includes write" ]
printf '/* é %112s */\n/* %115s */\n' '' '' >"$scratch/long.c"
printf '$ python3 -c 1\n\nskip-without python3\n$ true | python3 -c 1\n\n$ true |\n> python3 -c 2\n' >"$scratch/a.test"
check "an example that needs more is seen" [ "$(unsaid "$scratch/a.test" | wc -l)" -eq 2 ]
check "a line that is too long is seen" [ "$(too_long "$scratch/long.c")" = "$scratch/long.c:2" ]
finish
