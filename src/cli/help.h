/* The help, made from the option table; it fits 80 columns. */
#ifndef ATTN_CLI_HELP_H
#define ATTN_CLI_HELP_H

#include "base/output.h"
#include "cli/options.h"

/* The help of one command, or for COMMAND_COUNT of the whole program. */
void help_write(enum command topic, struct output *output);

/* "attn 0.1.0", and which kernels this processor gets. */
void help_write_version(const char *kernel, struct output *output);

#endif
