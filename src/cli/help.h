/* SPDX-License-Identifier: MIT */
/* The help, made from the tables of commands and options. Its lines have at most 79 columns, and no more than the
 * terminal has, or COLUMNS says. */
#ifndef ATTN_CLI_HELP_H
#define ATTN_CLI_HELP_H

#include "base/output.h"
#include "cli/options.h"

/* The help of one command, with `all` its rare options too; or for COMMAND_COUNT the first help, a screen. */
void help_write(enum command topic, bool all, struct output *output);

/* A page that is about no command. */
void help_write_page(enum help_page page, struct output *output);

/* "attn 0.1.0", and which kernels this processor gets. */
void help_write_version(const char *kernel, struct output *output);

#endif
