/* SPDX-License-Identifier: MIT */
/* Writes the help from the tables of commands and options, in lines of at most 79 columns, fewer on a narrower terminal
 * or by COLUMNS. */
#pragma once

#include "base/output.h"
#include "cli/options.h"

/* The help of a command, with `all` also its rare options; for COMMAND_COUNT the first help, of one screen. */
void help_write(enum command topic, bool all, struct output *output);

void help_write_page(enum help_page page, struct output *output);

/* --- shared by the pages of the help --- */

/* Writes words, wrapped and continued at `indent`; the first starts at `column`. */
void help_wrap(struct output *output, const char *text, size_t column, size_t indent);

/* " head text": the text, wrapped, from `column` on; or below the head, if that is too long or the window too
 * narrow. */
void help_entry(struct output *output, const char *head, size_t column, const char *text);

/* The command line for the class of that name, or NULL. */
const char *help_class_line(const char *name);

/* schema.json, which the Makefile compiles into the program: the JSON Schema without the definitions made from rows. */
extern const unsigned char schema_bytes[]; /* (schema_length) */
extern const size_t schema_length;

/* The pages of the help: command.h. */
#define HELP_PAGE_WRITER(id, name, meaning, function) void function(struct output *output);
HELP_PAGE_ROWS(HELP_PAGE_WRITER)
