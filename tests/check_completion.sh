#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts of `attn help --completion` complete command lines in bash, zsh and fish, if installed. attn's answers to
# them are in tests/cli/completion.test.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
PATH=$(cd "$ATTN_BIN" && pwd):$PATH
commands='self causal multihead layer sdpa init diff why page heads worksheet join cases example lesson help'
for shell in bash zsh fish; do
    check "a script for $shell" sh -c '"$1" help --completion "$2" >"$3"' - "$attn" $shell "$scratch/attn.$shell"
done

# Lists the long options in the help of a command, sorted, in one line.
listed() {
    "$attn" help "$1" --help=all | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\).*/\2/p' | sort | tr '\n' ' '
}
sorted() {
    tr ' ' '\n' | sort | tr '\n' ' '
}
same() {
    [ "$1" = "$2" ] || { echo "expected: $1"; echo "got:      $2"; false; }
}

# Prints bash's completions after the last of these words; readline splits --format=js at the =.
in_bash() {
    bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _attn; echo "${COMPREPLY[*]}"' "$scratch/attn.bash" "$@"
}
bash_says() {
    expected=$1
    shift
    same "$expected" "$(in_bash "$@")"
}
if command -v bash >/dev/null; then
    check "bash: commands" bash_says "$commands" attn ''
    check "bash: what stands in the place of a command" bash_says "--help --version" attn -
    check "bash: the start of a command" bash_says "self sdpa" attn s
    for command in $commands; do
        check "bash: the options of $command" same "$(listed $command)" "$(in_bash attn $command -- | sorted)"
    done
    check "bash: the start of an option" bash_says "--heads --head --heatmap --help" attn multihead --he
    check "bash: an option of another command" bash_says "" attn self --heads
    check "bash: choices" bash_says "markdown" attn self -f m
    check "bash: choices behind an option in words" bash_says "auto always never" attn self data/inputs.json --color ''
    check "bash: choices behind =" bash_says "json" attn self --format = js
    check "bash: all of them" bash_says "f32 f64 f16 bf16 f8e4m3 f8e5m2" attn self --dtype =
    check "bash: a stage" bash_says "scores scaled" attn self --stages sc
    in_bash attn self --stages "\$(touch\${IFS}$scratch/run),we" >/dev/null
    check "bash: what is typed is not run" test ! -e "$scratch/run"
    check "bash: a further stage" bash_says "weights,scores,scaled" attn self --stages weights,scores,sc
    check "bash: none twice" bash_says "key,scaled" attn self --stages key,sca
    check "bash: none again" bash_says "" attn self --stages scaled,sca
    check "bash: a further mistake" bash_says "mask-causal,scale-heads" attn self --mistake mask-causal,scale-h
    check "bash: mechanisms" bash_says "self causal multihead" attn init ''
    check "bash: all mechanisms" bash_says "self causal multihead layer sdpa" attn why ''
    check "bash: then files, which readline completes" bash_says "" attn init self ''
    check "bash: topics" bash_says "multihead" attn help mu
    check "bash: lessons" bash_says "9" attn lesson 9
    check "bash: one of them" bash_says "" attn lesson 9 ''
    check "bash: shells" bash_says "bash" attn help --completion b
    check "bash: files" bash_says "" attn self --in ''
    check "bash: what only the user knows" bash_says "" attn self --seed ''
    check "bash: an option's value is no mechanism" bash_says "self causal multihead" attn init --seed 3 ''
    check "bash: the options of a mechanism that is named" bash_says "--help" attn init self --he
    check "bash: what attn does not know" bash_says "" attn foo ''
    check "bash: no attn to ask" bash_says "" ./no/attn self -f ''
    check "bash: quotes and blanks are text" bash_says "" attn self --stages "a b',sc"
    check "bash: names of files are readline's, nothing else is" same "words list files" "$(bash -c '. "$0"
        compopt() { [ "$*" != "+o default" ] || way=words; [ "$*" != "+o default -o nospace" ] || way=list; }
        for last in -f --stages --in; do
            way=files COMP_WORDS=(attn self $last "") COMP_CWORD=3
            _attn
            printf "%s " $way
        done' "$scratch/attn.bash" | sed 's/ $//')"
    check "bash: it is bound to attn" sh -c 'bash -c ". \"\$0\"; complete -p attn" "$1" | grep -q -- "-F _attn attn"' - "$scratch/attn.bash"
else
    skip "the completion of bash" "bash is not installed"
fi

# zsh's functions need its line editor; their arguments are enough for the test.
in_zsh() {
    zsh -f -c 'script=$1; shift; words=("$@") CURRENT=$#
        _describe() { print -rl -- ${(P)4}; shift 4; print -r -- "($*)" }
        _files() { print -r -- files }
        . $script' - "$scratch/attn.zsh" "$@"
}
# Prints the words, and (-S ) if a comma may follow.
zsh_says() {
    expected=$1
    shift
    same "$expected" "$(in_zsh "$@" | sed 's/:.*//' | tr '\n' ' ' | sed 's/ ()//; s/ $//')"
}
if command -v zsh >/dev/null; then
    check "zsh: commands" zsh_says "$commands" attn ''
    for command in $commands; do
        check "zsh: the options of $command" same "$(listed $command)" "$(in_zsh attn $command -- | sed -n 's/^\(--[^:]*\):.*/\1/p' | sort | tr '\n' ' ')"
    done
    check "zsh: what an option means" sh -c 'echo "$1" | grep -qxF -- "--format:how the result is written"' - "$(in_zsh attn self --f)"
    check "zsh: choices" zsh_says "markdown" attn self -f m
    check "zsh: choices behind =" zsh_says "--format=json" attn self --format=j
    check "zsh: a further stage, and a comma" zsh_says "weights,scores weights,scaled (-S )" attn self --stages weights,sc
    check "zsh: mechanisms" zsh_says "self causal multihead" attn init ''
    check "zsh: quotes around a word" zsh_says "markdown" attn self "'-f'" m
    check "zsh: files" zsh_says "files" attn self --in ''
    check "zsh: what only the user knows" zsh_says "" attn self --seed ''
    check "zsh: no attn to ask" zsh_says "files" ./no/attn self -f ''
    in_zsh attn self --stages "\$(touch $scratch/run),we" >/dev/null
    check "zsh: what is typed is not run" test ! -e "$scratch/run"
    check "zsh: it compiles" zsh -f -c 'zcompile "$1.zwc" "$1"' - "$scratch/attn.zsh"
else
    skip "the completion of zsh" "zsh is not installed"
fi

# Prints fish's completions of a command line, without descriptions.
in_fish() {
    HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch \
        fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$scratch/attn.fish" "$1" | cut -f 1 | sort | tr '\n' ' '
}
if command -v fish >/dev/null; then
    check "fish: commands" same "$(echo $commands | sorted)" "$(in_fish 'attn ')"
    for command in $commands; do
        check "fish: the options of $command" same "$(listed $command)" "$(in_fish "attn $command --")"
    done
    check "fish: choices" same "markdown " "$(in_fish 'attn self -f m')"
    check "fish: a further stage" same "weights,scaled weights,scores " "$(in_fish 'attn self --stages weights,sc')"
    check "fish: choices behind =" same "--format=json " "$(in_fish 'attn self --format=j')"
    check "fish: files behind =" same "--in=data/inputs.json " "$(in_fish 'attn self --in=data/inp')"
    check "fish: what an option means" sh -c 'HOME=$3 fish --no-config -c "source \$argv[1]; complete -C \$argv[2]" "$1" "$2" | grep -qF "how the result is written"' - "$scratch/attn.fish" 'attn self --form' "$scratch"
    check "fish: no attn to ask" same "data/inputs.json " "$(in_fish './no/attn self data/inp')"
    in_fish "attn self --stages (touch $scratch/run),we" >/dev/null
    check "fish: what is typed is not run" test ! -e "$scratch/run"
    check "fish: mechanisms" same "causal multihead self " "$(in_fish 'attn init ')"
    check "fish: files" same "data/inputs.json " "$(in_fish 'attn self data/inp')"
    check "fish: what only the user knows" same "" "$(in_fish 'attn self --seed ')"
else
    skip "the completion of fish" "fish is not installed"
fi
finish
