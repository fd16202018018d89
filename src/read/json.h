/* SPDX-License-Identifier: MIT */
/* JSON -> struct input_file. json_syntax checks the grammar, cJSON builds the tree, and json.c interprets it. */
#pragma once

#include "read/input_file.h"

/* Reads text[0 .. length), ended by text[length] == '\0', and changes it. Only names of the `kinds` (bits of enum
 * input_file_kind) go into `input`; it lists the others, and unknown and repeated keys are errors. Every tensor must be
 * regular and not empty, and its numbers finite, except in stages and under foreign names (null is minus infinity;
 * "NaN", "Infinity" and "-Infinity"). A foreign tensor is read only if it is the file's only one or a source. An array
 * alone is a printed table (read/printed.h). STATUS_USAGE: "source: key: row 2, column 3: what is wrong". */
enum status json_read(const char *source, char *text, size_t length, unsigned kinds, struct arena *arena,
                      struct input_file *input, struct error *error);
