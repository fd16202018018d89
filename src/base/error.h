/* SPDX-License-Identifier: MIT */
/* What went wrong, in words for a person and as the exit status.
 *
 * A function that can fail returns an enum status and fills a struct error; the caller passes both on unchanged.
 * Only main prints the error and ends the process.
 *
 * A message names the file, the place and what was expected: "inputs.json: W_key: row 2 has 3 numbers, expected 2
 * (as row 1)". It is one line without "attn: " and without a newline; what does not fit is cut. Text from a file or
 * from the command line may be put into it as it is: error_print masks what would act on a terminal. */
#ifndef ATTN_BASE_ERROR_H
#define ATTN_BASE_ERROR_H

#include <stdbool.h>
#include <stdio.h>

enum status {
    STATUS_OK = 0,
    STATUS_DIFFERENT = 1, /* attn diff, or --steps, found a difference: no error, the report says it */
    STATUS_USAGE = 2,     /* a usage error or bad input */
    STATUS_SYSTEM = 3,    /* the system refused: open, read, write, memory */
};

struct error {
    enum status status;
    bool quiet;  /* nothing is to be printed: the reader of a pipe has gone */
    bool memory; /* memory is short: what is tried next would fail, too */
    char message[1024];
    char detail[1024]; /* printed as it is beneath the message: an excerpt with its caret, lines end in '\n'; or "" */
};

/* Bad input or usage: sets status and message, returns STATUS_USAGE. */
enum status error_usage(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The system refused: sets status and message, to which ": " and strerror(code) are added unless code is 0;
 * returns STATUS_SYSTEM. */
enum status error_system(struct error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Nothing can be made in the directory of that path: error_system, which names the directory. */
enum status error_directory(struct error *error, int code, const char *path);

/* Ends with that status and no message: what there is to say has been said. Returns the status. */
enum status error_quietly(struct error *error, enum status status);

/* "attn: " and the message on one line, then the detail. Nothing where the error is quiet. */
void error_print(const struct error *error, FILE *stream);

/* "attn: warning: " and the message on one line. */
void error_warn(const char *message, FILE *stream);

#endif
