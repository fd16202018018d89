# SPDX-License-Identifier: MIT
# Processes that answer requests, and rows of both sides in turn: read by the benchmarks with ".", which set $build
# and $rounds, and end with $worst.
. tests/bench/begin.sh
library=

# A process that answers requests: its requests on descriptor $1, its answers on descriptor $2.
serve() {
    to=$1 from=$2
    shift 2
    mkfifo "$scratch/$to" "$scratch/$from"
    "$@" <"$scratch/$to" >"$scratch/$from" &
    eval "exec $to>\"\$scratch/$to\" $from<\"\$scratch/$from\""
}

# The peer in Python of library $1, torch or openvino, in place of the one before; none where Python lacks it.
serve_python() {
    exec 7>&- 8<&-
    library=
    "$python" -c "import $1" 2>/dev/null || return 0
    rm -f "$scratch/7" "$scratch/8"
    OMP_WAIT_POLICY=passive serve 7 8 "$python" "tests/bench/peer_$1.py"
    library=$1
}

# What side $1 answers to the request $2; nothing where it is missing.
ask() {
    case $1 in
    attn) echo "$2" >&3 && read -r answer <&4 ;;
    BLIS) echo "$2" >&5 && read -r answer <&6 ;;
    PyTorch) [ "$library" = torch ] && echo "$2" >&7 && read -r answer <&8 ;;
    OpenVINO) [ "$library" = openvino ] && echo "$2" >&7 && read -r answer <&8 ;;
    process) answer=$(process $2) ;;
    esac || return 1
    case $answer in
    wrong*) echo "$1: $2: $answer" >&2 && exit 1 ;;
    missing) return 1 ;;
    esac
    echo "$answer"
}

heading() {
    printf '\n%-46s %8s %8s  %-8s %5s %7s\n' "$1, best of $rounds in turn" attn peer "" ratio goal
}

# row LABEL GOAL SIDE REQUEST PEER PEER_REQUEST
row() {
    round=0
    : >"$scratch/times"
    while [ $round -lt "$rounds" ]; do
        ours=$(ask "$3" "$4") || exit 1
        theirs=$(ask "$5" "$6") || break
        echo "$ours $theirs" >>"$scratch/times"
        round=$((round + 1))
    done
    if [ $round -eq 0 ]; then
        printf '%-46s %8s   skipped: its peer, %s, is missing\n' "$1" "$ours" "$5"
        return
    fi
    set -- "$1" "$2" "$5" $(awk '$1 > ours { ours = $1 } $2 > theirs { theirs = $2 }
        END { printf "%.1f %.1f %.3f", ours, theirs, ours / theirs }' "$scratch/times")
    held=$(verdict "$6" at-least "$2") || worst=1
    printf '%-46s %8s %8s  %-8s %5.2f %7s  %s\n' "$1" "$4" "$5" "$3" "$6" "$2" "$held"
}
