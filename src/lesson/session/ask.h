/* SPDX-License-Identifier: MIT */
/* A session, and its questions: for a line, or for one of the keys. */
#pragma once

#include "lesson/lessons.h"
#include "lesson/session/shell.h"
#include "lesson/session/show.h"

#include <sys/stat.h>

/* --- line.c: reads the reader's lines ---------------------------------------------------------------------------- */

enum { LINE_BYTES = 1 << 14 };

enum line_read {
    LINE_READ,
    LINE_END,   /* of the input */
    LINE_WRONG, /* too long, or with a NUL byte: skipped */
};

/* Starts as {0}. */
struct line_input {
    char bytes[LINE_BYTES]; /* read from standard input, but not yet returned */
    size_t used;
    bool ended;
};

/* The next line, without its newline, into line (LINE_BYTES). */
enum line_read line_read(struct line_input *input, char *line);

/* --- own_files.c: the files that the reader made or changed in the folder of a lesson ---------------------------- */

struct own_file {
    char *name;
    struct stat seen; /* at the last look */
    bool own;         /* the reader made it, or changed it last */
    struct own_file *next;
};

/* Looks at the regular files of the folder, and adds them to the list. Files that changed since the last look are
 * the reader's if `own`, else the lesson's. STATUS_SYSTEM where memory is short, or the folder cannot be read. */
enum status own_files_look(struct own_file **files, const char *folder, bool own, struct arena *arena,
                           struct error *error);

bool own_files_are_there(const char *folder, const struct own_file *file);

/* The reader's file that the command names; `written`: that it would overwrite, by > or -o; or NULL. */
const char *own_files_named(const struct own_file *files, const char *command, bool written);

/* Copies a file of the folder to a new one. STATUS_SYSTEM where it cannot; `there`: because a file of that name
 * exists. */
enum status own_files_keep(const char *folder, const char *name, const char *target, bool *there, struct error *error);

/* --- ask.c ------------------------------------------------------------------------------------------------------- */

enum { SAID_BYTES = 512 }; /* of a prediction, as shown */

enum move { MOVE_ON, MOVE_BACK, MOVE_QUIT };

struct session {
    struct show show;
    struct shell shell;
    struct own_file *files;
    bool live;    /* a person at a terminal */
    bool reading; /* standard input has lines; else the session continues without questions */
    size_t shown; /* lines since the last question */
    struct line_input input;
    char line[LINE_BYTES];    /* the last one */
    char command[LINE_BYTES]; /* the command that it began */
    const char *predicted;    /* the right prediction of the next command; or NULL */
    bool predicts_word;
    char prediction[SAID_BYTES]; /* the reader's; "": none */
    struct arena *arena;
    struct error *error;
};

/* Asks for a line into session->line, without blanks at its ends. False at the end of the input: a person wants to
 * leave; a script continues without input. */
bool ask_reader(struct session *session, const char *prompt);

/* Writes an empty line between a text and a question, if the session asks. */
void ask_apart(const struct session *session);

/* Asks until `take` accepts the line, or the reader skips the question; `help` explains it, NULL: ask_help. At the end
 * of the input a person leaves and a script continues. */
enum move ask_until(struct session *session, const char *prompt, bool take(void *context), void help(void *context),
                    void *context);

/* Waits for Enter; runs a command typed instead, and asks again. */
enum move ask_to_go_on(struct session *session, const char *prompt);

/* A line that is a key, not an answer. */
enum key { KEY_NONE, KEY_ENTER, KEY_BACK, KEY_SKIP, KEY_QUIT, KEY_HELP };
enum key ask_key(const struct session *session);

/* Lists all keys, and the folder of the files. */
void ask_help(const struct session *session);

/* Runs a command of the lesson, or the reader's `own`; returns its exit status as a shell has it. */
int ask_run(struct session *session, const char *command, bool own);

/* Whether a line starts like a command in the lessons. */
bool ask_is_command(const char *line);

/* Whether session->line is a command, or follows "$ ", which it then removes. */
bool ask_takes_command(struct session *session);

/* Runs the line as a command, with its continuation by a backslash or <<END, and reports a failure. Leaves it in
 * session->command. */
int ask_run_typed(struct session *session);

/* Runs the line if it is a command; else explains which lines are. */
void ask_run_or_refuse(struct session *session);

/* Whether Ctrl-C or Ctrl-\ ended a command of that status. */
bool ask_was_interrupted(int status);

/* --- exercise.c -------------------------------------------------------------------------------------------------- */

/* An exercise: runs the reader's commands, and compares their output with the answer's. Asks until it is done, or the
 * reader skips it. */
enum move exercise_do(struct session *session, const struct lesson_part *exercise);
