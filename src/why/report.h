/* SPDX-License-Identifier: MIT */
/* What was found, in words and as JSON. */
#ifndef ATTN_WHY_REPORT_H
#define ATTN_WHY_REPORT_H

#include "why/why.h"

enum { REPORT_COMMAND_BYTES = 4200 };

/* "attn causal data/inputs.json -s 789 --mistake scale-missing": what gives the table; into text
 * (REPORT_COMMAND_BYTES). Returns text, or NULL where no line is long enough. */
const char *why_command(const struct why_explanation *explanation, char *text);

/* Whether nothing was found, but no more than one in ten numbers is off: a slip, more often than a mistake. */
bool why_is_nearly_right(const struct why *why);

/* Then the number that is furthest off; its place, "context, row 3 (starts), column 2", is added. */
double why_worst(const struct why *why, struct text *place);

void why_write_text(const struct why *why, struct output *output);
void why_write_json(const struct why *why, struct output *output);

#endif
