/* SPDX-License-Identifier: MIT */
/* Commands, run by /bin/sh in a folder of their own, which goes with the program: at its end, and where a signal ends
 * it that a program can catch. */
#ifndef ATTN_LESSON_SESSION_SHELL_H
#define ATTN_LESSON_SESSION_SHELL_H

#include "base/memory.h"

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct shell {
    char *root;     /* the folder: bin/attn is this program, */
    char *folder;   /* and in lesson/ the commands run; both are absolute paths */
    pid_t running;  /* the command, or 0 */
    bool has_modes; /* standard input is a terminal, with these */
    struct termios modes;
};

/* Makes the folder in TMPDIR, or /tmp, and puts its bin/ first into PATH. From now on, signals that end this program
 * leave the terminal as it was. STATUS_SYSTEM where the folder cannot be made. */
enum status shell_open(struct shell *shell, struct arena *arena, struct error *error);

/* Runs it in lesson/, with standard input where `reads`, else none, and both its streams on standard output. Returns
 * its exit status: 128 + N if signal N ended it. Ctrl-C and Ctrl-\ end the command alone. */
int shell_run(struct shell *shell, const char *command, bool reads);

/* Runs it in lesson/, without input, and shows nothing. */
void shell_run_quietly(struct shell *shell, const char *command);

/* Copies lesson/ to the folder NAME next to it; the name is a plain word. */
void shell_copy(struct shell *shell, const char *name);

/* Runs it in such a copy, without input, and keeps what it prints: a text in the arena, a megabyte of it at most, NUL
 * bytes left out. NULL and error where the system refuses. */
char *shell_collect(struct shell *shell, const char *name, const char *command, struct arena *arena,
                    struct error *error);

/* Leaves the terminal as it was, and removes the folder. */
void shell_close(struct shell *shell);

#endif
