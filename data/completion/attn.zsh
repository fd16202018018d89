#compdef attn
# zsh completion for attn, written by: attn help --completion zsh

# Asks attn what may stand at the cursor: a line with words, list or files, then a word a line, its meaning behind
# a tab. What is typed is compared by attn, never expanded.
_attn() {
    local -a answer unended
    answer=("${(@f)$("${(Q)words[1]}" --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case $answer[1] in
    words|list)
        [[ $answer[1] == list ]] && unended=(-S '')
        answer=("${(@)answer[2,-1]/$'\t'/:}")
        _describe -t words word answer "${(@)unended}"
        ;;
    *)
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
        ;;
    esac
}

_attn "$@"
