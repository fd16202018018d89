#!/bin/sh
# What `attn help --completion` writes completes command lines in bash, zsh and fish, each where it is installed.
. tests/counts.sh
attn=$ATTN_BIN/attn
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
commands='self causal multihead sdpa init diff join help'
for shell in bash zsh fish; do
    check "a script for $shell" sh -c '"$1" help --completion "$2" >"$3"' - "$attn" $shell "$scratch/attn.$shell"
done

# The long options that the help of a command lists, sorted, in one line.
listed() {
    "$attn" help "$1" | sed -n 's/^  \(-[a-zA-Z], \|    \)\(--[a-z-]*\).*/\2/p' | sort | tr '\n' ' '
}
sorted() {
    tr ' ' '\n' | sort | tr '\n' ' '
}
same() {
    [ "$1" = "$2" ] || { echo "expected: $1"; echo "got:      $2"; false; }
}

# What bash answers where the cursor is behind the last of these words; readline splits --format=js at the =.
in_bash() {
    bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _attn; echo "${COMPREPLY[*]}"' "$scratch/attn.bash" "$@"
}
bash_says() {
    expected=$1
    shift
    same "$expected" "$(in_bash "$@")"
}
if command -v bash >/dev/null; then
    check "bash: commands" bash_says "$commands --help --version" attn ''
    check "bash: the start of a command" bash_says "self sdpa" attn s
    for command in $commands; do
        check "bash: the options of $command" same "$(listed $command)" "$(in_bash attn $command -- | sorted)"
    done
    check "bash: the start of an option" bash_says "--heads --heatmap --help" attn multihead --he
    check "bash: an option of another command" bash_says "" attn self --heads
    check "bash: choices" bash_says "markdown" attn self -f m
    check "bash: choices behind an option in words" bash_says "auto always never" attn self data/inputs.json --color ''
    check "bash: choices behind =" bash_says "json" attn self --format = js
    check "bash: all of them" bash_says "f32 f64 f16 bf16" attn self --dtype =
    check "bash: a stage" bash_says "scores scaled" attn self --stages sc
    in_bash attn self --stages "\$(touch\${IFS}$scratch/run),we" >/dev/null
    check "bash: what is typed is not run" test ! -e "$scratch/run"
    check "bash: a further stage" bash_says "weights,scores,scaled" attn self --stages weights,scores,sc
    check "bash: none twice" bash_says "key,scaled" attn self --stages key,sca
    check "bash: none again" bash_says "" attn self --stages scaled,sca
    check "bash: mechanisms" bash_says "self causal multihead" attn init ''
    check "bash: then files, which readline completes" bash_says "" attn init self ''
    check "bash: topics" bash_says "multihead" attn help mu
    check "bash: shells" bash_says "bash" attn help --completion b
    check "bash: files" bash_says "" attn self --in ''
    check "bash: what only the user knows" bash_says "" attn self --seed ''
    check "bash: it is bound to attn" sh -c 'bash -c ". \"\$0\"; complete -p attn" "$1" | grep -q -- "-F _attn attn"' - "$scratch/attn.bash"
else
    skip "the completion of bash" "bash is not installed"
fi

# zsh's own functions are for its line editor; what they are asked says it too.
in_zsh() {
    zsh -f -c 'script=$1; shift; words=("$@") CURRENT=$#
        _arguments() { print -rl -- "$@" }
        _describe() { print -rl -- ${(P)4} }
        . $script' - "$scratch/attn.zsh" "$@"
}
zsh_options() {
    in_zsh "$@" | sed -n 's/^\(([^)]*)\)\{0,1\}\(--[a-z-]*\)=\{0,1\}\[.*/\2/p' | sort | tr '\n' ' '
}
if command -v zsh >/dev/null; then
    check "zsh: commands" same "$(echo $commands)" "$(in_zsh attn '' | sed -n 's/^\([a-z]*\):.*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
    for command in $commands; do
        check "zsh: the options of $command" same "$(listed $command)" "$(zsh_options attn $command --)"
    done
    check "zsh: choices" sh -c 'echo "$1" | grep -qF -- "-f[how the result is written]:FORMAT:(text json "' - "$(in_zsh attn self -f '')"
    check "zsh: mechanisms" sh -c 'echo "$1" | grep -qxF "1:MECHANISM:(self causal multihead)"' - "$(in_zsh attn init '')"
    check "zsh: it compiles" zsh -f -c 'zcompile "$1.zwc" "$1"' - "$scratch/attn.zsh"
else
    skip "the completion of zsh" "zsh is not installed"
fi

# What fish offers for a command line, without the descriptions.
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
    check "fish: mechanisms" same "causal multihead self " "$(in_fish 'attn init ')"
    check "fish: files" same "data/inputs.json " "$(in_fish 'attn self data/inp')"
    check "fish: what only the user knows" same "" "$(in_fish 'attn self --seed ')"
else
    skip "the completion of fish" "fish is not installed"
fi
finish
