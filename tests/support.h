/* SPDX-License-Identifier: MIT */
/* Shared by test programs: files, JSON by cJSON's own allocator, a result made in the process. */
#ifndef ATTN_SUPPORT_H
#define ATTN_SUPPORT_H

#include "build/job_files.h"
#include "cli/options.h"
#include "compute/result.h"
#include "read/named_tensors.h"

#include <cjson/cJSON.h>
#include <dirent.h>

/* The expected value for sizes of 64 bits, or of 32. */
#define SUPPORT_BITS(wide, narrow) (SIZE_MAX > UINT32_MAX ? (wide) : (narrow))

/* Reads a file's text, which the caller frees; ends the program where that fails. */
char *support_read(const char *path);

/* The same, with its length: a text may have NUL bytes. */
char *support_bytes(const char *path, size_t *length);

/* Reads a copy of the bytes, without slack after it, and every number of every tensor. */
enum status support_binary(binary_reader *reader, const void *bytes, size_t length, struct error *error);

/* Tests that the file, cut at any byte, is an error with a message; and with `changes` that, with any byte changed to
 * any other (ATTN_QUICK: any bit), it is valid, or an error with a message. */
void support_distort(binary_reader *reader, const char *path, bool changes);

/* Reads a file into a tree of cJSON's own allocator, whatever json.c has set before. */
cJSON *support_json(const char *path);

/* Writes every number below the item, depth first, into numbers (at most `room`; null is minus infinity); returns how
 * many. */
size_t support_numbers(const cJSON *item, double *numbers, size_t room);

/* A problem and its result, from a command line and the text of an input, JSON or a printed table (NULL: none). The
 * arena owns them. */
struct made {
    struct options options;
    struct input_file inputs;
    struct job_files files; /* of support_run */
    struct problem problem;
    struct result result;
    struct progress progress; /* never drawn */
    struct arena arena;
    struct error error;
};

/* Makes "multihead --heads 2", words separated by single blanks. The caller frees made->arena, also after a failure. */
enum status support_make(struct made *made, const char *command_line, const char *json);

/* The same with a text that may have NUL bytes. */
enum status support_make_bytes(struct made *made, const char *command_line, const char *json, size_t length);

/* The same in the program's way, except main: reads the files that the command line names. */
enum status support_run(struct made *made, const char *command_line);

/* The table of that name, or NULL. */
const struct result_table *support_table(const struct made *made, const char *name);

/* Writes the complete table, row-major, into numbers (at most `room`); returns how many. */
size_t support_table_numbers(struct made *made, const struct result_table *table, double *numbers, size_t room);

/* The derivative of a sum with respect to one of its numbers, which it moves and restores: by central differences of
 * the fourth order with smaller and smaller steps, it takes the one that differs least from the one before. */
double support_slope(double (*sum)(void *context), void *context, double *number);

enum { SUPPORT_LINE_BYTES = 512 };

/* Writes the settings of a case of tests/golden as a command line into line (SUPPORT_LINE_BYTES). */
void support_golden_line(const char *mechanism, const cJSON *settings, char *line);

/* An input with the case's inputs and tokens, and with `given` its parameters. The caller frees it. */
char *support_golden_input(const cJSON *golden, bool given);

/* The mistake of that name, or MISTAKE_COUNT. */
enum mistake support_mistake(const char *name, size_t length);

/* For scandir: whether the file is a case of a mechanism. */
int support_is_golden(const struct dirent *entry);

#endif
