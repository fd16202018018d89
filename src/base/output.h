/* SPDX-License-Identifier: MIT */
/* Where a result goes: standard output, or a file that appears whole or not at all.
 *
 * A file is written in the folder of its target and put in its place at the end. It keeps owner, group and permissions
 * of the file that was there, and a symbolic link is followed. Until then it has no name, so that whatever ends the
 * program leaves nothing behind; one that replaces another has a name of its own, .attn.XXXXXX, for the moment between
 * two calls. Where the file system has no files without a name it is called so from the start: a signal removes it and
 * then ends the program as that signal does; so does an input that is cut short, see mapped_file.h.
 *
 * A target that is no regular file (a device, a FIFO) is written in place, and /dev/stdout or /dev/fd/N goes on where
 * that descriptor stands. */
#ifndef ATTN_BASE_OUTPUT_H
#define ATTN_BASE_OUTPUT_H

#include "base/memory.h"
#include "base/text.h"

enum { OUTPUT_BUFFER_BYTES = 1 << 16 };

struct output {
    int file;
    char name[TEXT_PATH_BYTES]; /* for messages */
    const char *target;         /* where the finished file goes; NULL where it is written in place */
    char *temporary;            /* its name before that */
    int unnamed;                /* another descriptor of a file that has no name yet; -1 where it is `temporary` */
    size_t used;
    struct arena *arena; /* of the text that is collected instead; NULL where bytes go to the file */
    char *text;          /* what is collected so far */
    size_t length, room; /* of text */
    bool ascii;          /* marks that attn draws are written in ASCII; false where it was opened */
    bool failed;         /* error holds why; what follows is thrown away */
    struct error *error;
    char buffer[OUTPUT_BUFFER_BYTES];
};

/* Opens `path`, or standard output for NULL and "-". STATUS_SYSTEM where it cannot. */
enum status output_open(struct output *output, const char *path, struct arena *arena, struct error *error);

/* *replaces: whether a result written to `path` would replace that regular file, by whatever name or link; "-" stands
 * for standard output and standard input. What is absent replaces nothing; STATUS_SYSTEM where the system does not say
 * what is there. */
enum status output_replaces(const char *path, const char *file, bool *replaces, struct error *error);

/* Writes to a stream that is open; output_close closes it. `name` stands for it in messages. */
void output_open_stream(struct output *output, int stream, const char *name, struct error *error);

/* Writes to no file, but collects a text in the arena, for output_close_text. output_of_text makes one in the arena,
 * too; NULL where memory is short. */
void output_open_text(struct output *output, struct arena *arena, struct error *error);
struct output *output_of_text(struct arena *arena, struct error *error);

bool output_is_terminal(const struct output *output);

/* Whether colours are welcome: on a terminal, unless NO_COLOR or TERM=dumb says no. */
bool output_takes_color(const struct output *output);

/* The columns of a line: of the terminal, else what COLUMNS says, else 80; 30 .. 1000. */
size_t output_columns(const struct output *output);

/* So many bytes will be written in all: the file gets room for them at once. A disk that has no room is a failure now,
 * not when it is full; and a file whose room is found is put in the place of another one without waiting for that. */
void output_expect(struct output *output, size_t length);

/* Adds bytes or formatted text (at most 4096 bytes a call). A failure is kept for output_close. Bytes that are more
 * than the buffer holds go out as they lie. */
void output_write(struct output *output, const char *bytes, size_t length);
void output_print(struct output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes bytes at their place in a file that output_takes_parts, before those in front of them are there. Threads may
 * do it at the same time. Returns 0, or what errno says. */
bool output_takes_parts(const struct output *output);
int output_write_at(const struct output *output, uint64_t offset, const char *bytes, size_t length);

/* Goes on behind the next `length` bytes, which output_write_at has written; `code` is 0, or what it returned where it
 * failed. */
void output_skip(struct output *output, size_t length, int code);

/* Hands on what has been written so far, as before another process writes to the same stream. */
void output_flush(struct output *output);

/* What was written is not to become a file: its error is already set. */
void output_abandon(struct output *output);

/* Writes what is left and puts the file in its place. STATUS_SYSTEM, and nothing left behind, where any write failed;
 * quietly where the reader of a pipe has gone. */
enum status output_close(struct output *output);

/* The text that output_open_text began, NUL-terminated, and its length. NULL where memory is short. */
char *output_close_text(struct output *output, size_t *length);

#endif
