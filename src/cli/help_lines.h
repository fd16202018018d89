/* SPDX-License-Identifier: MIT */
/* The lines of the help: what its pages share. */
#ifndef ATTN_CLI_HELP_LINES_H
#define ATTN_CLI_HELP_LINES_H

#include "base/output.h"

/* Words, broken before the last column and continued at `indent`; the first begins at `column`. */
void help_wrap(struct output *output, const char *text, size_t column, size_t indent);

/* "  head   text": the text from `column` on, beneath itself; beneath the head, where that is too long or the window
 * too narrow. */
void help_entry(struct output *output, const char *head, size_t column, const char *text);

/* The command line that does what a class of that name does, or NULL. */
const char *help_class_line(const char *name);

/* schema.json, which the Makefile makes part of the program: the JSON Schema without the definitions that rows give. */
extern const unsigned char schema_bytes[]; /* (schema_length) */
extern const size_t schema_length;

/* The pages of help_pages.h. */
void help_write_commands(struct output *output);
void help_write_classes(struct output *output);
void help_write_mistakes(struct output *output);
void help_write_families(struct output *output);
void help_write_schema(struct output *output);
void help_write_all(struct output *output);

#endif
