/* SPDX-License-Identifier: MIT */
/* Writes the help from the tables of commands and options, in lines of at most 79 columns, fewer on a narrower terminal
 * or by COLUMNS. */
#ifndef ATTN_CLI_HELP_H
#define ATTN_CLI_HELP_H

#include "base/output.h"
#include "cli/options.h"

/* The help of a command, with `all` also its rare options; for COMMAND_COUNT the first help, of one screen. */
void help_write(enum command topic, bool all, struct output *output);

void help_write_page(enum help_page page, struct output *output);

#endif
