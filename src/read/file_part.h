/* SPDX-License-Identifier: MIT */
/* A table of which a file, or a text such as "sum=12.3", may show only a part (struct file_part). */
#pragma once

#include "cli/options.h"
#include "read/input_file.h"

/* As load_file, with INPUT_FILE_PARTS. Also takes the text itself, whose source is `name`, if there is no such file and
 * it begins like "sum=12.3". Of a dump of ggml keeps the tensors of the layer of --layer, or of its only one.
 * STATUS_USAGE if it has none, or others. */
enum status file_part_load(const char *path, const char *name, const struct options *options, unsigned kinds,
                           struct arena *arena, struct input_file *input, struct error *error);

bool file_part_is_of_ggml(const struct file_tensor *named);

/* Sums over all numbers of a table. */
struct file_sum {
    double sum, squares;
    size_t count;
};

/* The total of a table; of the two deviations the one nearer to what is `shown`. */
double file_part_total(enum file_total total, struct file_sum sum, double shown);

/* How far a sum may be off that adds so many numbers of that mean size to a float32, one by one. */
double file_part_sum_error(size_t count, double size);
