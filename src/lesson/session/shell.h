/* SPDX-License-Identifier: MIT */
/* Runs commands with /bin/sh in a temporary folder, which it removes at the end of the program, also when a signal that
 * can be caught ends it. */
#pragma once

#include "base/memory.h"

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct shell {
    char *root;     /* the folder; its bin/attn is this program */
    char *folder;   /* its lesson/, where commands run; both are absolute paths */
    pid_t running;  /* the command, or 0 */
    bool has_modes; /* standard input is a terminal: `modes` are valid */
    struct termios modes;
};

/* Makes the folder in TMPDIR, or /tmp, and puts its bin/ first into PATH; `called` is argv[0] of this program. From now
 * on, signals that end this program leave the terminal as it was. STATUS_SYSTEM where the folder cannot be made. */
enum status shell_open(struct shell *shell, const char *called, struct arena *arena, struct error *error);

/* Runs a command in lesson/, with standard input if `reads`, and standard error on standard output. Returns its exit
 * status as a shell has it: 128 + N where signal N ended it. Ctrl-C and Ctrl-\ end the command alone. */
int shell_run(struct shell *shell, const char *command, bool reads);

/* Runs it in lesson/, without input or output. */
void shell_run_quietly(struct shell *shell, const char *command);

/* Copies lesson/ to the folder NAME next to it; the name is a plain word. */
void shell_copy(struct shell *shell, const char *name);

/* Runs it in such a copy, without input, and returns its output: a text in the arena, a megabyte at most, without NUL
 * bytes. NULL and error where the system refuses. */
char *shell_collect(struct shell *shell, const char *name, const char *command, struct arena *arena,
                    struct error *error);

/* Restores the terminal, and removes the folder. */
void shell_close(struct shell *shell);
