/* SPDX-License-Identifier: MIT */
#include "lesson/session/ask.h"

#include <signal.h>
#include <string.h>

#define COMMAND_WORDS "attn, cat, cp, nano or sed"

enum { MOST_LETTERS = 15 };

static bool ask_line(struct session *session, const char *prompt)
{
    struct output *output = session->show.output;
    char shown[256];
    session->shown = 0;
    for (;;) {
        if (session->live) {
            output_print(output, "%s%s> ", prompt, prompt[0] != '\0' ? " " : "");
            output_flush(output);
        }
        const enum line_read read = output->failed ? LINE_END : line_read(&session->input, session->line);
        if (read == LINE_END) {
            session->reading = false;
            output_print(output, "%s", session->live ? "\n" : "");
            return false;
        }
        if (!session->live) { /* echo the line, as on a terminal */
            text_shown(read == LINE_READ ? session->line : "", sizeof shown / 2, shown, sizeof shown);
            output_print(output, "%s%s> %s\n", prompt, prompt[0] != '\0' ? " " : "", shown);
        }
        if (read == LINE_READ)
            return true;
        show_print(&session->show, "That line is longer than %d bytes or has a NUL byte: it is ignored.",
                   LINE_BYTES - 1);
    }
}

bool ask_reader(struct session *session, const char *prompt)
{
    char *line = session->line;
    if (!ask_line(session, prompt))
        return false;
    memmove(line, line + strspn(line, " \t"), strlen(line + strspn(line, " \t")) + 1);
    for (size_t length = strlen(line); length > 0 && strchr(" \t\r", line[length - 1]) != NULL; length--)
        line[length - 1] = '\0';
    return true;
}

void ask_apart(const struct session *session)
{
    output_print(session->show.output, "%s", session->live ? "\n" : "");
}

enum key ask_key(const struct session *session)
{
    static const struct {
        const char *word;
        enum key key;
    } KEYS[] = {{"", KEY_ENTER}, {"b", KEY_BACK},    {"s", KEY_SKIP},    {"q", KEY_QUIT},
                {"?", KEY_HELP}, {"quit", KEY_QUIT}, {"exit", KEY_QUIT}, {"help", KEY_HELP}};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (strcmp(KEYS[i].word, session->line) == 0)
            return KEYS[i].key;
    return KEY_NONE;
}

void ask_help(const struct session *session)
{
    static const struct {
        const char *key, *meaning;
    } KEYS[] = {
        {"Enter", "runs the command that is shown, or goes on."},
        {"b", "goes back to the previous question."},
        {"s", "skips the command that is shown."},
        {"?", "shows this help; at an exercise, the answer."},
        {"q", "ends, as Ctrl-D does."},
    };
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        show_text(&session->show, KEYS[i].meaning, KEYS[i].key, 9);
    show_print(&session->show,
               "A line that begins with " COMMAND_WORDS " runs as a command. For any other command, type $ and a blank "
               "first: $ ls . Each command has its own shell, in %s. Ctrl-C ends a running command. To use a file of "
               "yours, copy it there: cp FILE . At the end you can keep the files that you made or changed there.",
               session->shell.folder);
}

int ask_run(struct session *session, const char *command, bool own)
{
    struct error ignored = {0}; /* files that cannot be read are not offered */
    own_files_look(&session->files, session->shell.folder, true, session->arena, &ignored);
    output_flush(session->show.output);
    const int status = shell_run(&session->shell, command, session->live);
    own_files_look(&session->files, session->shell.folder, own, session->arena, &ignored);
    return status;
}

/* Reads the command that the line begins: with the lines after a backslash at its end, or up to the word of <<END. */
static void read_command(struct session *session)
{
    char word[MOST_LETTERS + 1] = "";
    struct text command = text_begin(session->command, sizeof session->command);
    text_add(&command, "%s", session->line);
    const char *here = strstr(command.bytes, "<<");
    const bool until = here != NULL && sscanf(here, "<<%*[- '\"]%15[A-Za-z_]", word) == 1;
    if (here != NULL && !until)
        sscanf(here, "<<%15[A-Za-z_]", word);
    while ((word[0] != '\0' || (command.length > 0 && command.bytes[command.length - 1] == '\\')) &&
           ask_line(session, "")) {
        text_add(&command, "\n%s", session->line);
        if (strcmp(session->line, word) == 0)
            break;
    }
    if (command.cut)
        show_print(&session->show, "The command is longer than %d bytes: it is ignored.", LINE_BYTES - 1);
    if (command.cut)
        strcpy(session->command, ":");
}

bool ask_is_command(const char *line)
{
    static const char *const WORDS[] = {"attn", "cat ", "cp ", "nano ", "sed "}; /* a blank at the end: more must
                                                                                    follow */
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        const size_t length = strlen(WORDS[i]);
        if (strncmp(line, WORDS[i], length) == 0 &&
            (WORDS[i][length - 1] == ' ' || strchr(" \t;|&<>", line[length]) != NULL))
            return true;
    }
    return false;
}

bool ask_takes_command(struct session *session)
{
    char *line = session->line;
    const bool marked = line[0] == '$' && (line[1] == ' ' || line[1] == '\t');
    if (marked) {
        const size_t mark = 1 + strspn(line + 1, " \t");
        memmove(line, line + mark, strlen(line + mark) + 1);
    }
    return marked || ask_is_command(line);
}

void ask_run_or_refuse(struct session *session)
{
    if (ask_takes_command(session))
        ask_run_typed(session);
    else
        show_print(&session->show, "Not run: expected a command that begins with " COMMAND_WORDS ". For any other "
                                   "command, type $ and a blank first: $ ls");
}

int ask_run_typed(struct session *session)
{
    read_command(session);
    const int status = ask_run(session, session->command, true);
    if (ask_was_interrupted(status))
        output_print(session->show.output, "\n");
    else if (status > 128)
        show_print(&session->show, "(ended by signal %d)", status - 128);
    else if (status != 0)
        show_print(&session->show, "(exit status %d)", status);
    return status;
}

bool ask_was_interrupted(int status)
{
    return status == 128 + SIGINT || status == 128 + SIGQUIT;
}

enum move ask_until(struct session *session, const char *prompt, bool take(void *context), void help(void *context),
                    void *context)
{
    while (session->reading && ask_reader(session, prompt)) {
        const enum key key = ask_key(session);
        if (key == KEY_ENTER || key == KEY_SKIP)
            return MOVE_ON;
        if (key == KEY_BACK || key == KEY_QUIT)
            return key == KEY_BACK ? MOVE_BACK : MOVE_QUIT;
        if (key == KEY_HELP && help != NULL)
            help(context);
        else if (key == KEY_HELP)
            ask_help(session);
        else if (take(context))
            return MOVE_ON;
    }
    return session->live && !session->reading ? MOVE_QUIT : MOVE_ON;
}

static bool take_command(void *context)
{
    ask_run_or_refuse(context);
    return false;
}

enum move ask_to_go_on(struct session *session, const char *prompt)
{
    const enum move move = ask_until(session, prompt, take_command, NULL, session);
    return session->reading ? move : MOVE_QUIT;
}
