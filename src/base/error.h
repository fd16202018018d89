/* SPDX-License-Identifier: MIT */
/* An error: a message for a person, and the exit status.
 *
 * A function that can fail returns an enum status and fills a struct error; the caller passes both on unchanged.
 * Only main prints the error and ends the process.
 *
 * A message names the file, the position and the expected value: "inputs.json: W_key: row 2 has 3 numbers, expected 2
 * (as row 1)". It is one line without "attn: " and without a newline, cut to fit. It may contain text from a file or
 * the command line as it is: error_print masks characters that would act on a terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum status {
    STATUS_OK = 0,
    STATUS_DIFFERENT = 1, /* a difference (attn diff, --steps) or a line of --jsonl that failed: the output says it */
    STATUS_USAGE = 2,     /* a usage error or bad input */
    STATUS_SYSTEM = 3,    /* the system refused: open, read, write, memory */
};

struct error {
    enum status status;
    bool quiet;  /* print nothing: the reader of a pipe has gone */
    bool memory; /* memory is short: a next attempt would fail too */
    char message[1024];
    char detail[1024]; /* lines printed below the message: an excerpt with its caret; or "" */
};

/* Bad input or usage: sets status and message, returns STATUS_USAGE. */
enum status error_usage(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The system refused: sets status and message, to which ": " and strerror(code) are added unless code is 0;
 * returns STATUS_SYSTEM. */
enum status error_system(struct error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* error_system for a file that cannot be created: the message names the directory of `path`. */
enum status error_directory(struct error *error, int code, const char *path);

/* Sets the status without a message, where the user already has one. Returns the status. */
enum status error_quietly(struct error *error, enum status status);

/* "attn: " and the message on one line, then the detail. Nothing where the error is quiet. */
void error_print(const struct error *error, FILE *stream);
