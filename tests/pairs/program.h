/* SPDX-License-Identifier: MIT */
/* One run of the program: what it wrote, what it said, how it ended, and what it left behind. */
#ifndef ATTN_PAIRS_PROGRAM_H
#define ATTN_PAIRS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct program_run {
    int status;             /* -1 where a signal ended it */
    int signal;             /* 0 where it ended by itself; SIGALRM: it took longer than PROGRAM_SECONDS */
    char *output, *message; /* with a NUL behind them */
    size_t length, message_length;
    bool there;  /* the file that --out names */
    size_t left; /* files beside it */
};

enum { PROGRAM_SECONDS = 600 };

enum { PROGRAM_PATH_BYTES = 512 };

/* Makes a scratch folder, and one for results in it; the end removes both. */
void program_begin(void);
void program_end(void);

/* The scratch folder's path, and that of a file in it, "NAME" or printf-like, into path (PROGRAM_PATH_BYTES). */
const char *program_scratch(void);
char *program_path(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

void program_write(const char *path, const char *bytes, size_t length);

/* Runs attn in a process of its own, with these words (`count`, the command first), its standard input that file; the
 * result goes through standard output, or with `to_file` to a file by --out. program_release frees what comes back. */
void program_run(const char *const *words, size_t count, const char *input, bool to_file, struct program_run *run);
void program_release(struct program_run *run);

/* The same by another function than attn's main, with the words of a command line, "attn" the first of them. */
void program_run_by(int (*start)(int argc, char **argv), const char *const *words, size_t count, const char *input,
                    bool to_file, struct program_run *run);

/* Runs a command of the machine (`words` end in NULL) for at most so many seconds, its standard output and error into
 * *output (the caller frees it). Returns its status, or -1. */
int program_command(const char *const *words, unsigned seconds, char **output);

/* Whether the machine has a command of that name. */
bool program_is_installed(const char *name);

/* Whether attn can write that format here: PNG and PDF need rsvg-convert. */
bool program_may_write(const char *format);

#endif
