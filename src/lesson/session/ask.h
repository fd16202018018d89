/* SPDX-License-Identifier: MIT */
/* The state of a session, and how it asks: for a line, or a key instead. */
#ifndef ATTN_LESSON_SESSION_ASK_H
#define ATTN_LESSON_SESSION_ASK_H

#include "lesson/lessons.h"
#include "lesson/session/line.h"
#include "lesson/session/own_files.h"
#include "lesson/session/shell.h"
#include "lesson/session/show.h"

enum { SAID_BYTES = 512 }; /* of a prediction, as it is shown */

/* Where to go after a part. */
enum move { MOVE_ON, MOVE_BACK, MOVE_QUIT };

struct session {
    struct show show;
    struct shell shell;
    struct own_file *files;
    bool live;    /* a person at a terminal */
    bool reading; /* lines come; else it goes on without asking */
    size_t shown; /* lines since the last question */
    struct line_input input;
    char line[LINE_BYTES];    /* the last one, */
    char command[LINE_BYTES]; /* and the command that it began */
    const char *predicted;    /* the right prediction of the next command; or NULL */
    bool predicts_word;
    char prediction[SAID_BYTES]; /* what the reader said; "": nothing */
    struct arena *arena;
    struct error *error;
};

/* Asks for a line, which is then in session->line, without blanks at its ends. False where the input has ended: a
 * person wants to leave; where it was a script, the rest goes on by itself. */
bool ask_reader(struct session *session, const char *prompt);

/* An empty line between a text and what is asked about it, where something is asked. */
void ask_apart(const struct session *session);

/* Waits for Enter; a command that is typed in its place is run, and then asked again. */
enum move ask_to_go_on(struct session *session, const char *prompt);

/* What a line says that asks for no answer. */
enum key { KEY_NONE, KEY_ENTER, KEY_BACK, KEY_SKIP, KEY_QUIT, KEY_HELP };
enum key ask_key(const struct session *session);

/* Says all keys, and where the files are; `answers`: of an exercise. */
void ask_help(const struct session *session);

/* Runs a command of the lesson; its exit status, as in a shell. */
int ask_run(struct session *session, const char *command);

/* Whether a line is a command and no prose: of attn, or with another word that begins one in the lessons. */
bool ask_is_command(const char *line);

/* Whether session->line is one, or anything behind "$ ", which is then taken away. */
bool ask_takes_command(struct session *session);

/* Runs the line as a command, with those that a backslash or <<END goes on to, and says how it ended if that was not
 * well. It is then in session->command. */
int ask_run_typed(struct session *session);

/* The same where it is a command; else says what is. */
void ask_run_or_refuse(struct session *session);

/* Whether Ctrl-C or Ctrl-\ ended a command of that status. */
bool ask_was_interrupted(int status);

#endif
