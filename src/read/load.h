/* Files -> bundles: JSON, .npy or .safetensors, told apart by their first bytes.
 *
 * A regular file is mapped, read-only and private, so that what is not needed of it is not read; a pipe is read whole,
 * unless it begins no format, up to half of the memory there is.
 * Mappings belong to the arena. A file that another program cuts short meanwhile ends this one by SIGBUS. */
#ifndef ATTN_READ_LOAD_H
#define ATTN_READ_LOAD_H

#include "cli/options.h"

struct load {
    struct input_file *inputs;  /* NULL where none is read: init with --d-in */
    struct input_file *weights; /* that of --weights, or NULL */
    struct input_file files[2];
};

/* Whether standard input is to be read for lack of a file. */
bool load_wants_input(const struct options *options);

/* Reads what the options name. A file gives only what counts: with --weights, that file the parameters and nothing else,
 * the other one everything but them. The bundles belong to the arena. STATUS_SYSTEM where a file cannot be read,
 * STATUS_USAGE where it is wrong. */
enum status load_files(struct load *load, const struct options *options, struct arena *arena, struct error *error);

/* Reads one file whole, with its recorded stages. */
enum status load_result(const char *path, struct input_file *input, struct arena *arena, struct error *error);

/* Reads one side of diff: stages, tokens, settings and mechanism, and what else it holds by name; the one tensor of a
 * file, whatever its name; a .npy and a JSON array too. */
enum status load_compared(const char *path, struct input_file *input, struct arena *arena, struct error *error);

#endif
