/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

static const char BASH[] =
    "# bash completion for attn, written by: attn help --completion bash\n"
    "\n"
    "# Asks attn what may stand at the cursor: a line with words, list or files, then a word a line, its meaning "
    "behind\n"
    "# a tab. Names of files are readline's. What is typed is compared by attn, never expanded.\n"
    "_attn()\n"
    "{\n"
    "    local kind='' line\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=(\"${line%%$'\\t'*}\"); fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    case $kind in\n"
    "    words) compopt +o default 2>/dev/null ;;\n"
    "    list) compopt +o default -o nospace 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "complete -o default -F _attn attn\n";

static const char ZSH[] =
    "#compdef attn\n"
    "# zsh completion for attn, written by: attn help --completion zsh\n"
    "\n"
    "# Asks attn what may stand at the cursor: a line with words, list or files, then a word a line, its meaning "
    "behind\n"
    "# a tab. What is typed is compared by attn, never expanded.\n"
    "_attn() {\n"
    "    local -a answer unended\n"
    "    answer=(\"${(@f)$(\"${(Q)words[1]}\" --complete \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    case $answer[1] in\n"
    "    words|list)\n"
    "        [[ $answer[1] == list ]] && unended=(-S '')\n"
    "        answer=(\"${(@)answer[2,-1]/$'\\t'/:}\")\n"
    "        _describe -t words word answer \"${(@)unended}\"\n"
    "        ;;\n"
    "    *)\n"
    "        [[ $PREFIX == --*=* ]] && compset -P '*='\n"
    "        _files\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "_attn \"$@\"\n";

static const char FISH[] = "# fish completion for attn, written by: attn help --completion fish\n"
                           "\n"
                           "# Asks attn what may stand at the cursor: a line with words, list or files, then a word a "
                           "line, its meaning behind\n"
                           "# a tab. What is typed is compared by attn, never expanded.\n"
                           "function __attn_answer\n"
                           "    set -l before (commandline -opc)\n"
                           "    set -l program $before[1]\n"
                           "    set -l word (commandline -ct)\n"
                           "    set -e before[1]\n"
                           "    command -sq -- $program; or return\n"
                           "    command $program --complete $before \"$word\" 2>/dev/null\n"
                           "end\n"
                           "\n"
                           "function __attn_wants_words\n"
                           "    set -l answer (__attn_answer)\n"
                           "    contains -- \"$answer[1]\" words list\n"
                           "end\n"
                           "\n"
                           "complete -c attn -n __attn_wants_words -f -a '(__attn_answer)[2..-1]'\n"
                           "complete -c attn -n 'not __attn_wants_words' -F\n";

void completion_write(enum shell shell, struct output *output)
{
    static const char *const SCRIPTS[] = {[SHELL_BASH] = BASH, [SHELL_ZSH] = ZSH, [SHELL_FISH] = FISH};
    _Static_assert(sizeof SCRIPTS / sizeof SCRIPTS[0] == SHELL_COUNT, "a script for each shell");
    output_print(output, "%s", SCRIPTS[shell]);
}
