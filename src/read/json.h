/* SPDX-License-Identifier: MIT */
/* JSON -> struct input_file. The grammar is checked by json_syntax, the tree is cJSON's; what it means is decided
 * here. */
#ifndef ATTN_READ_JSON_H
#define ATTN_READ_JSON_H

#include "read/input_file.h"

/* Reads text[0 .. length), which text[length] == '\0' ends and which is changed on the way. Only what is of the `kinds`
 * (bits of enum input_file_kind) goes into `input`; of the rest it has the names, but unknown and repeated keys are
 * errors. Every number is finite, but for those of stages and of foreign names (null is minus infinity; "NaN",
 * "Infinity" and "-Infinity"); every tensor is regular and not empty. A foreign tensor is read only where it is the
 * file's one or a source. An array alone is a printed table (read/printed.h). STATUS_USAGE: "source: key: row 2, column
 * 3: what is wrong". */
enum status json_read(const char *source, char *text, size_t length, unsigned kinds, struct arena *arena,
                      struct input_file *input, struct error *error);

#endif
