# bash completion for attn, written by: attn help --completion bash

# Asks attn what may stand at the cursor: a line with words, list or files, then a word a line, its meaning behind
# a tab. Names of files are readline's. What is typed is compared by attn, never expanded.
_attn()
{
    local kind='' line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("${line%%$'\t'*}"); fi
    done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $kind in
    words) compopt +o default 2>/dev/null ;;
    list) compopt +o default -o nospace 2>/dev/null ;;
    esac
}

complete -o default -F _attn attn
