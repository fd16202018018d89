# fish completion for attn, written by: attn help --completion fish

# Asks attn what may stand at the cursor: a line with words, list or files, then a word a line, its meaning behind
# a tab. What is typed is compared by attn, never expanded.
function __attn_answer
    set -l before (commandline -opc)
    set -l program $before[1]
    set -l word (commandline -ct)
    set -e before[1]
    command -sq -- $program; or return
    command $program --complete $before "$word" 2>/dev/null
end

function __attn_wants_words
    set -l answer (__attn_answer)
    contains -- "$answer[1]" words list
end

complete -c attn -n __attn_wants_words -f -a '(__attn_answer)[2..-1]'
complete -c attn -n 'not __attn_wants_words' -F
