/* SPDX-License-Identifier: MIT */
/* The command line that computes what was asked for: one that a person can type again. */
#ifndef ATTN_CLI_OPTION_LINE_H
#define ATTN_CLI_OPTION_LINE_H

#include "base/text.h"
#include "cli/options.h"

enum { OPTION_LINE_BYTES = 4000 }; /* more would be no line for a person; output_print takes it */

/* Adds "attn causal data/inputs.json -s 789 --init rand": the mechanism, by its own name where another command names
 * it, the input, and each option of the command line that changes numbers or names a file that is read, in the order of
 * the table and quoted for a shell. It leaves out what the mechanism does not take, and how a result is shown or made.
 * An input that was not named stays so. Fields and origins count, not what was typed: they may have been changed, but
 * not to a flag's false that no option says. Where it does not fit, the text is cut, and no command line. */
void options_command_line(const struct options *options, struct text *line);

/* Adds the same, and --stages and --kernel where they were given: what all parts of a job have in common. */
void options_part_line(const struct options *options, struct text *line);

/* Adds the input behind a mechanism: " data/inputs.json", " -", " -i -begins-with-a-dash.json". */
void option_line_input(const char *file, struct text *line);

#endif
