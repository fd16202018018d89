/* SPDX-License-Identifier: MIT */
/* The output of a result: standard output, or a file that appears complete or not at all.
 *
 * attn writes a file in the folder of its target and moves it into place at the end. It follows a symbolic link, and
 * keeps owner, group and permissions of the file that it replaces. Until then the file has no name, so that nothing is
 * left behind however the program ends; one that replaces another is called .attn.XXXXXX for the moment between two
 * calls. Where the file system lacks files without a name, it has that name from the start: a signal handler removes it
 * and lets the signal end the program; so does a truncated input, see mapped_file.h.
 *
 * attn writes a target that is no regular file (a device, a FIFO) in place, and continues /dev/stdout or /dev/fd/N at
 * the position of that descriptor. */
#pragma once

#include "base/memory.h"
#include "base/text.h"

enum { OUTPUT_BUFFER_BYTES = 1 << 16 };

struct output {
    int file;
    char name[TEXT_PATH_BYTES]; /* for messages */
    const char *target;         /* path of the finished file; NULL where it is written in place */
    char *temporary;            /* its temporary name */
    int unnamed;                /* a second descriptor of a file without a name; -1 where its name is `temporary` */
    size_t used;
    struct arena *arena; /* for a text collected in memory; NULL where bytes go to the file */
    char *text;          /* the text so far */
    size_t length, room; /* of text */
    bool one_line;       /* JSON goes into one line, without blanks; false after opening */
    bool ascii;          /* write the marks that attn draws in ASCII; false after opening */
    bool failed;         /* error holds why; later bytes are dropped */
    struct error *error;
    char buffer[OUTPUT_BUFFER_BYTES];
};

/* Opens `path`, or standard output for NULL and "-". STATUS_SYSTEM where the system refuses. */
enum status output_open(struct output *output, const char *path, struct arena *arena, struct error *error);

/* *replaces: whether a result written to `path` would replace the regular file `file`, by whatever name or link; "-" is
 * standard output, or standard input. A missing file is not replaced. STATUS_SYSTEM where the system cannot tell. */
enum status output_replaces(const char *path, const char *file, bool *replaces, struct error *error);

/* Writes to an open stream; output_close closes it. Messages call it `name`. */
void output_open_stream(struct output *output, int stream, const char *name, struct error *error);

/* Collects a text in the arena instead of a file; output_close_text returns it. output_of_text allocates the output in
 * the arena as well; NULL where memory is short. */
void output_open_text(struct output *output, struct arena *arena, struct error *error);
struct output *output_of_text(struct arena *arena, struct error *error);

bool output_is_terminal(const struct output *output);

/* Whether to use colours: on a terminal, unless NO_COLOR or TERM=dumb says no. */
bool output_takes_color(const struct output *output);

/* The columns of a line: of the terminal, else what COLUMNS says, else 80; 30 .. 1000. */
size_t output_columns(const struct output *output);

/* Announces that the output will have `length` bytes, and reserves room for them. A disk without that room fails now,
 * not when it is full; and with its room reserved, the file later replaces another without waiting for the disk. */
void output_expect(struct output *output, size_t length);

/* Adds bytes or formatted text (at most 4096 bytes a call). output_close reports a failure. Bytes that exceed the
 * buffer are written without a copy. */
void output_write(struct output *output, const char *bytes, size_t length);
void output_print(struct output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes bytes at an offset of a file, such as that of an output with a target, before those in front of them. Several
 * threads may call it at once. Returns 0, or an errno. */
int output_write_at(int file, uint64_t offset, const char *bytes, size_t length);

/* Skips the next `length` bytes, which output_write_at has written; `code` is what that returned. */
void output_skip(struct output *output, size_t length, int code);

/* Writes out the buffer, for example before another process writes to the same stream. */
void output_flush(struct output *output);

/* Discards the output; the caller has set the error. */
void output_abandon(struct output *output);

/* Writes the rest and moves the file into place. STATUS_SYSTEM, with no file left behind, where any write failed;
 * without a message where the reader of a pipe has gone. */
enum status output_close(struct output *output);

/* The collected text, NUL-terminated, and its length. NULL where memory is short. */
char *output_close_text(struct output *output, size_t *length);
