#include "cli/completion.h"

#include <string.h>

/* What may stand as the value of an option. */
enum values { VALUES_NONE, VALUES_CHOICES, VALUES_FILES, VALUES_STAGES, VALUES_UNKNOWN };

/* One that may also stand alone is completed alone: the next word is for another option. */
static bool takes_value(const struct option_row *row)
{
    return row->argument != NULL && !row->optional;
}

static enum values values_of(enum option_id id)
{
    const struct option_row *row = &OPTIONS[id];
    if (!takes_value(row))
        return VALUES_NONE;
    if (row->kind == OPTION_CHOICE)
        return VALUES_CHOICES;
    if (strcmp(row->argument, "FILE") == 0)
        return VALUES_FILES;
    return id == OPTION_STAGES ? VALUES_STAGES : VALUES_UNKNOWN;
}

/* The words that may follow a command before any FILE: the mechanisms of init, the topics of help. */
static bool is_topic(enum command command, enum command word)
{
    return command_takes(command, word);
}

static void write_choices(const struct option_row *row, struct output *output)
{
    for (size_t i = 0; row->choices[i] != NULL; i++)
        output_print(output, "%s%s", i > 0 ? " " : "", row->choices[i]);
}

static void write_topics(enum command command, struct output *output)
{
    for (int word = 0, count = 0; word < COMMAND_COUNT; word++)
        if (is_topic(command, (enum command)word))
            output_print(output, "%s%s", count++ > 0 ? " " : "", command_name((enum command)word));
}

static void write_commands(struct output *output)
{
    for (int command = 0; command < COMMAND_VERSION; command++)
        output_print(output, "%s%s", command > 0 ? " " : "", command_name((enum command)command));
}

static void write_stages(struct output *output)
{
    for (int stage = 0; stage < STAGE_NAMES; stage++)
        output_print(output, "%s%s", stage > 0 ? " " : "", stage_name((enum stage)stage));
}

/* A text of the table within '...', each character of `special` after a backslash. */
static void write_quoted(const char *text, const char *special, struct output *output)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            output_write(output, "'\\'", 3);
        else if (strchr(special, *text) != NULL)
            output_write(output, "\\", 1);
        output_write(output, text, 1);
    }
}

/* What is typed so far is compared, never expanded: `compgen -W` sees words of the table alone. */

/* --- bash -------------------------------------------------------------------------------------------------------- */

static const char BASH_BEGIN[] = "# bash completion for attn, written by: attn help --completion bash\n"
                                 "\n"
                                 "# Names of stages after the last comma, those before it left out.\n"
                                 "_attn_stages()\n"
                                 "{\n"
                                 "    local chosen='' stage\n"
                                 "    [[ $1 == *,* ]] && chosen=${1%,*},\n";

static const char BASH_STAGES[] =
    "; do\n"
    "        [[ ,$chosen == *,\"$stage\",* || $chosen$stage != \"$1\"* ]] || COMPREPLY+=(\"$chosen$stage\")\n"
    "    done\n"
    "    compopt -o nospace 2>/dev/null\n"
    "}\n"
    "\n"
    "# An empty answer leaves the word to readline, which completes files; nothing else is wanted where\n"
    "# only the user knows the value.\n"
    "_attn()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=''\n"
    "    local IFS=$' \\t\\n'\n"
    "    COMPREPLY=()\n"
    "    [[ $word == = ]] && word=''\n"
    "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    if ((COMP_CWORD == 1)); then\n";

/* "--format | -f", after " | " where it is not the first of its line. */
static void write_bash_pattern(const struct option_row *row, bool first, struct output *output)
{
    output_print(output, "%s--%s", first ? "        " : " | ", row->name);
    if (row->letter != '\0')
        output_print(output, " | -%c", row->letter);
}

static void write_bash_choices(struct output *output)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (values_of((enum option_id)id) != VALUES_CHOICES)
            continue;
        write_bash_pattern(&OPTIONS[id], true, output);
        output_print(output, ") words='");
        write_choices(&OPTIONS[id], output);
        output_print(output, "' ;;\n");
    }
}

/* One line for all options of these values. */
static void write_bash_action(enum values values, const char *action, struct output *output)
{
    bool first = true;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (values_of((enum option_id)id) == values) {
            write_bash_pattern(&OPTIONS[id], first, output);
            first = false;
        }
    output_print(output, ") %s ;;\n", action);
}

static void write_bash_options(enum command command, struct output *output)
{
    output_print(output, "        %s) words='", command_name(command));
    for (int id = 0, count = 0; id < OPTION_COUNT; id++)
        if (options_lists(command, COMMANDS[command].mechanism, (enum option_id)id))
            output_print(output, "%s--%s", count++ > 0 ? " " : "", OPTIONS[id].name);
    output_print(output, "' ;;\n");
}

static void write_bash_topics(enum command command, struct output *output)
{
    output_print(output, "        %s) words='", command_name(command));
    write_topics(command, output);
    output_print(output, "' ;;\n");
}

static void write_bash(struct output *output)
{
    output_print(output, "%s    for stage in ", BASH_BEGIN);
    write_stages(output);
    output_print(output, "%s        words='", BASH_STAGES);
    write_commands(output);
    output_print(output, " --help --version'\n    else\n        case $before in\n");
    write_bash_choices(output);
    write_bash_action(VALUES_STAGES, "_attn_stages \"$word\"; return", output);
    write_bash_action(VALUES_FILES, "return", output);
    write_bash_action(VALUES_UNKNOWN, "compopt +o default 2>/dev/null; return", output);
    output_print(output, "        esac\n    fi\n"
                         "    if [[ -z $words && $word == -* ]]; then\n        case ${COMP_WORDS[1]} in\n");
    for (int command = 0; command < COMMAND_VERSION; command++)
        write_bash_options((enum command)command, output);
    output_print(output, "        esac\n    elif [[ -z $words ]] && ((COMP_CWORD == 2)); then\n"
                         "        case ${COMP_WORDS[1]} in\n");
    write_bash_topics(COMMAND_INIT, output);
    write_bash_topics(COMMAND_HELP, output);
    output_print(output, "        esac\n    fi\n"
                         "    [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
                         "\ncomplete -o default -F _attn attn\n");
}

/* --- zsh --------------------------------------------------------------------------------------------------------- */

static const char ZSH_BEGIN[] = "#compdef attn\n"
                                "# zsh completion for attn, written by: attn help --completion zsh\n"
                                "\n"
                                "_attn() {\n"
                                "    local -a commands=(\n";

static const char ZSH_COMMANDS[] =
    "    )\n"
    "    if (( CURRENT == 2 )); then\n"
    "        _describe -t commands command commands\n"
    "        _arguments --help'[the commands and all options]' --version'[the version]'\n"
    "        return\n"
    "    fi\n"
    "    shift words\n"
    "    (( CURRENT-- ))\n"
    "    case $words[1] in\n";

/* '(-f --format)'{-f,--format=}'[how the result is written]:FORMAT:(text json)' */
static void write_zsh_option(enum option_id id, struct output *output)
{
    const struct option_row *row = &OPTIONS[id];
    const char *value = takes_value(row) ? "=" : "";
    if (row->letter != '\0')
        output_print(output, "            '(-%c --%s)'{-%c,--%s%s}'[", row->letter, row->name, row->letter, row->name,
                     value);
    else
        output_print(output, "            '--%s%s[", row->name, value);
    write_quoted(row->help, "[]\\", output);
    output_print(output, "]");
    if (takes_value(row))
        output_print(output, ":%s:", row->argument);
    switch (values_of(id)) {
    case VALUES_CHOICES:
        output_print(output, "(");
        write_choices(row, output);
        output_print(output, ")");
        break;
    case VALUES_FILES:
        output_print(output, "_files");
        break;
    case VALUES_STAGES:
        output_print(output, "_values -s , stage ");
        write_stages(output);
        break;
    case VALUES_NONE:
    case VALUES_UNKNOWN:
        break;
    }
    output_print(output, "' \\\n");
}

static void write_zsh_command(enum command command, struct output *output)
{
    output_print(output, "    %s)\n        _arguments -s \\\n", command_name(command));
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_lists(command, COMMANDS[command].mechanism, (enum option_id)id))
            write_zsh_option((enum option_id)id, output);
    if (command == COMMAND_INIT || command == COMMAND_HELP) {
        output_print(output, "            '1:%s:(", command == COMMAND_INIT ? "MECHANISM" : "COMMAND");
        write_topics(command, output);
        output_print(output, ")'%s\n", command == COMMAND_INIT ? " \\" : "");
    }
    output_print(output, "%s        ;;\n", command == COMMAND_HELP ? "" : "            '*:FILE:_files'\n");
}

static void write_zsh(struct output *output)
{
    output_print(output, "%s", ZSH_BEGIN);
    for (int command = 0; command < COMMAND_VERSION; command++) {
        output_print(output, "        '%s:", command_name((enum command)command));
        write_quoted(command_manual((enum command)command)->summary, ":\\", output);
        output_print(output, "'\n");
    }
    output_print(output, "%s", ZSH_COMMANDS);
    for (int command = 0; command < COMMAND_VERSION; command++)
        write_zsh_command((enum command)command, output);
    output_print(output, "    esac\n}\n\n_attn \"$@\"\n");
}

/* --- fish -------------------------------------------------------------------------------------------------------- */

static const char FISH_BEGIN[] =
    "# fish completion for attn, written by: attn help --completion fish\n"
    "\n"
    "# Whether the command is one of these; and whether nothing stands behind it yet.\n"
    "function __attn_is\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "end\n"
    "\n"
    "function __attn_is_second\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -eq 2; and contains -- $words[2] $argv\n"
    "end\n"
    "\n"
    "# Names of stages after the last comma, those before it left out.\n"
    "function __attn_stages\n"
    "    set -l chosen (commandline -ct | string replace -r '^--stages=' '' | string replace -r '[^,]*$' '')\n"
    "    for stage in ";

static const char FISH_STAGES[] =
    "\n"
    "        string match -q \"*,$stage,*\" \",$chosen\"; or echo $chosen$stage\n"
    "    end\n"
    "end\n"
    "\n"
    "complete -c attn -f\n"
    "complete -c attn -n 'test (count (commandline -opc)) -eq 1' -l help -d 'the commands and all options'\n"
    "complete -c attn -n 'test (count (commandline -opc)) -eq 1' -l version -d 'the version'\n";

static void write_fish_option(enum option_id id, struct output *output)
{
    const struct option_row *row = &OPTIONS[id];
    output_print(output, "complete -c attn -n '__attn_is");
    for (int command = 0; command < COMMAND_VERSION; command++)
        if (options_lists((enum command)command, COMMANDS[command].mechanism, id))
            output_print(output, " %s", command_name((enum command)command));
    output_print(output, "' -l %s", row->name);
    if (row->letter != '\0')
        output_print(output, " -s %c", row->letter);
    switch (values_of(id)) {
    case VALUES_CHOICES:
        output_print(output, " -x -a '");
        write_choices(row, output);
        output_print(output, "'");
        break;
    case VALUES_FILES:
        output_print(output, " -r -F");
        break;
    case VALUES_STAGES:
        output_print(output, " -x -a '(__attn_stages)'");
        break;
    case VALUES_UNKNOWN:
        output_print(output, " -x");
        break;
    case VALUES_NONE:
        break;
    }
    output_print(output, " -d '");
    write_quoted(row->help, "\\", output);
    output_print(output, "'\n");
}

static void write_fish_topics(enum command command, struct output *output)
{
    output_print(output, "complete -c attn -n '__attn_is_second %s' -a '", command_name(command));
    write_topics(command, output);
    output_print(output, "'\n");
}

static void write_fish(struct output *output)
{
    output_print(output, "%s", FISH_BEGIN);
    write_stages(output);
    output_print(output, "%s", FISH_STAGES);
    for (int command = 0; command < COMMAND_VERSION; command++) {
        output_print(output, "complete -c attn -n 'test (count (commandline -opc)) -eq 1' -a %s -d '",
                     command_name((enum command)command));
        write_quoted(command_manual((enum command)command)->summary, "\\", output);
        output_print(output, "'\n");
    }
    output_print(output, "complete -c attn -n '__attn_is");
    for (int command = 0; command < COMMAND_HELP; command++)
        output_print(output, " %s", command_name((enum command)command));
    output_print(output, "; and not __attn_is_second init' -F\n");
    write_fish_topics(COMMAND_INIT, output);
    write_fish_topics(COMMAND_HELP, output);
    for (int id = 0; id < OPTION_COUNT; id++)
        write_fish_option((enum option_id)id, output);
}

void completion_write(enum shell shell, struct output *output)
{
    static void (*const WRITERS[])(struct output * output) = {
        [SHELL_BASH] = write_bash, [SHELL_ZSH] = write_zsh, [SHELL_FISH] = write_fish};
    WRITERS[shell](output);
}
