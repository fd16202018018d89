# SPDX-License-Identifier: MIT
# Which goals hold: read by the benchmarks with ".". Those of the kernels were set on an Intel processor with AMX and on
# a Zen 4; of another nothing was asked, and its figures are information.
of_cpuinfo() { sed -n "s/^$1[^:]*: *//p" /proc/cpuinfo 2>/dev/null | head -n 1; }
case $(of_cpuinfo vendor_id) in
GenuineIntel) vendor=Intel ;;
AuthenticAMD) vendor=AMD ;;
*) vendor=other ;;
esac

# The goal for this processor, or "-": goal INTEL AMD; goal BOTH
goal() {
    case $vendor in
    Intel) echo "$1" ;;
    AMD) echo "${2-$1}" ;;
    *) echo - ;;
    esac
}

# What is to be printed behind a figure: verdict VALUE at-least|at-most GOAL; status 1 where it falls short. Nothing is
# asked where GOAL is "-".
verdict() {
    awk -v value="$1" -v sense="$2" -v goal="$3" 'BEGIN {
        held = goal == "-" || (sense == "at-least" ? value >= goal + 0 : value <= goal + 0)
        print goal == "-" ? "no goal" : held ? "yes" : "NO"
        exit !held
    }'
}

# The same as words: at_most VALUE GOAL UNIT
at_most() {
    if held=$(verdict "$1" at-most "$2"); then fell=0; else fell=1; fi
    [ "$2" = - ] || held="at most $2 $3: $held"
    echo "$held"
    return $fell
}

# Whether a row has room: room FOLDER MEGABYTES_OF_DISK MEGABYTES_OF_MEMORY; else $lacking says what is short.
room() {
    disk=$(df -kP "$1" | awk 'NR == 2 { print int($4 / 1024) }')
    memory=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
    lacking="it needs $2 MB of disk in $1 and $3 MB of memory; there are $disk and ${memory:-unknown}"
    [ "$disk" -ge "$2" ] && [ "${memory:-$3}" -ge "$3" ]
}
