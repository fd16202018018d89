/* What completes a command line in bash, zsh and fish, made from the option table. */
#ifndef ATTN_CLI_COMPLETION_H
#define ATTN_CLI_COMPLETION_H

#include "base/output.h"
#include "cli/options.h"

/* Writes the script for that shell. */
void completion_write(enum shell shell, struct output *output);

#endif
