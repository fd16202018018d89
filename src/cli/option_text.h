/* SPDX-License-Identifier: MIT */
/* Options as text: a value, for the settings of a result; and the command line of a job, for a person to type again. */
#pragma once

#include "base/text.h"
#include "cli/options.h"

/* Fits any value that is not returned as typed: the longest has a mistake of each slot. */
enum { OPTION_TEXT_BYTES = MISTAKE_SLOT_COUNT * MISTAKE_NAME_BYTES };

/* The value of the option: "123", "0.5", "true", "top-left", or the typed text, unless its row has another function. In
 * text (OPTION_TEXT_BYTES), or in the options; NULL for a missing text. */
const char *option_text(const struct options *options, enum option_id id, char *text);

/* For the row of --mistake: "scale-missing,tiles-last-alone:4", in the order of the slots; NULL: none. */
option_teller option_tell_mistakes;

enum { OPTION_LINE_BYTES = 4000 }; /* longer than a person types; fits output_print */

/* Adds "attn causal data/inputs.json -s 789 --init rand": the mechanism, under its own command; the input, if named;
 * and each option of the command line that changes numbers or names a file to read, in the order of the table, quoted
 * for a shell. It omits options that the mechanism does not take, and those about display and speed. Fields and origins
 * count, not the typed text: callers may change them, but not to a flag's false without an option for that. Cuts a text
 * that does not fit, which is then no command line. */
void options_command_line(const struct options *options, struct text *line);

/* Adds the same with --stages and --kernel, if given: the line that all parts of a job share. */
void options_part_line(const struct options *options, struct text *line);

/* Adds the input after a mechanism: " data/inputs.json", " -", " -i -begins-with-a-dash.json". */
void option_line_input(const char *file, struct text *line);
