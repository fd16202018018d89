/* SPDX-License-Identifier: MIT */
/* What several test programs need: files, JSON by cJSON's own allocator, a result made in the process. */
#ifndef ATTN_SUPPORT_H
#define ATTN_SUPPORT_H

#include "build/job_files.h"
#include "cli/options.h"
#include "compute/result.h"
#include "read/named_tensors.h"

#include <cjson/cJSON.h>
#include <dirent.h>

/* What is expected where sizes have 64 bits, and where they have 32. */
#define SUPPORT_BITS(wide, narrow) (SIZE_MAX > UINT32_MAX ? (wide) : (narrow))

/* The file's text (freed by the caller); ends the program where it cannot be read. */
char *support_read(const char *path);

/* The same, with its length: a text may have NUL bytes. */
char *support_bytes(const char *path, size_t *length);

/* Reads a copy of the bytes that ends where its memory ends, and every number of every tensor. */
enum status support_binary(binary_reader *reader, const void *bytes, size_t length, struct error *error);

/* As tests: the bytes cut short anywhere are an error with a message; with any one byte changed to any other they are an
 * answer, or an error with a message. */
void support_distort(binary_reader *reader, const char *path, bool changes);

/* The file as a tree of cJSON's own allocator, whatever json.c has set before. */
cJSON *support_json(const char *path);

/* Every number below the item, depth first, into numbers (most `room`; null is minus infinity); returns how many. */
size_t support_numbers(const cJSON *item, double *numbers, size_t room);

/* A problem and its result, from a command line and the text of an input, JSON or a printed table (NULL: none). Lives in
 * the arena. */
struct made {
    struct options options;
    struct input_file inputs;
    struct job_files files; /* of support_run */
    struct problem problem;
    struct result result;
    struct progress progress; /* none is drawn */
    struct arena arena;
    struct error error;
};

/* "multihead --heads 2": words parted by single blanks. The caller frees made->arena, also after a failure. */
enum status support_make(struct made *made, const char *command_line, const char *json);

/* The same, of a text that may have NUL bytes. */
enum status support_make_bytes(struct made *made, const char *command_line, const char *json, size_t length);

/* The same by the program's own way, all but main: the files are those that the command line names. */
enum status support_run(struct made *made, const char *command_line);

/* The table of that name, or NULL. */
const struct result_table *support_table(const struct made *made, const char *name);

/* The whole table, row-major, into numbers (most `room`); returns how many. */
size_t support_table_numbers(struct made *made, const struct result_table *table, double *numbers, size_t room);

/* The derivative of a sum by one of the numbers that it is made of, which is moved and put back: central differences of
 * the fourth order, of ever smaller steps, and of these the one that differs least from that of the step before it. */
double support_slope(double (*sum)(void *context), void *context, double *number);

enum { SUPPORT_LINE_BYTES = 512 };

/* The settings of a case of tests/golden as a command line, into line (SUPPORT_LINE_BYTES). */
void support_golden_line(const char *mechanism, const cJSON *settings, char *line);

/* An input of the case's inputs and tokens, with its parameters where `given`. The caller frees it. */
char *support_golden_input(const cJSON *golden, bool given);

/* For scandir: a case of a whole mechanism. */
int support_is_golden(const struct dirent *entry);

#endif
