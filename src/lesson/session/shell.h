/* Commands, run by /bin/sh in a folder of their own that goes with the program, however that ends: a process beside it,
 * the keeper, waits for its end, ends what the commands have left running, and removes the folder. */
#ifndef ATTN_LESSON_SESSION_SHELL_H
#define ATTN_LESSON_SESSION_SHELL_H

#include "base/memory.h"

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct shell {
    char *root;   /* the folder: bin/attn is this program, */
    char *folder; /* and in lesson/ the commands run; both are whole paths */
    pid_t keeper; /* also the process group of all commands */
    int lifeline; /* the keeper reads its other end: closed, it ends */
    int terminal; /* that this program is in front of, or -1 */
    struct termios modes;
};

/* Makes the folder in TMPDIR, or /tmp, and puts its bin/ first into PATH. From now on, signals that end this program
 * leave the terminal as it was. STATUS_SYSTEM where the folder cannot be made. */
enum status shell_open(struct shell *shell, struct arena *arena, struct error *error);

/* Runs it in lesson/, with standard input where `reads`, else none, and both its streams on standard output. Returns
 * its exit status as a shell tells it: 128 + N where signal N ended it. Ctrl-C, Ctrl-\ and Ctrl-Z act on the
 * command. */
int shell_run(struct shell *shell, const char *command, bool reads);

/* Runs it in lesson/, without input, and shows nothing. */
void shell_run_quietly(struct shell *shell, const char *command);

/* Makes the folder NAME beside lesson/ a copy of it; the name is a plain word. */
void shell_copy(struct shell *shell, const char *name);

/* Runs it in such a copy, without input, and keeps what it prints: a text in the arena, a megabyte of it at most, NUL
 * bytes left out. NULL and error where the system refuses. */
char *shell_collect(struct shell *shell, const char *name, const char *command, struct arena *arena,
                    struct error *error);

/* Ends what still runs, and removes the folder. */
void shell_close(struct shell *shell);

#endif
