/* SPDX-License-Identifier: MIT */
/* The findings, in words and as JSON. */
#pragma once

#include "why/why.h"

enum { REPORT_COMMAND_BYTES = 4200, REPORT_SENTENCE_BYTES = 256 };

/* Writes the command that gives the table, "attn causal data/inputs.json -s 789 --mistake scale-missing", to text
 * (REPORT_COMMAND_BYTES). Returns text, or NULL if it does not fit. */
const char *why_command(const struct why_explanation *explanation, char *text);

/* The sentence of a mistake, with the job's number filled in; text has REPORT_SENTENCE_BYTES. */
const char *why_sentence(const struct problem *problem, enum mistake id, char *text);

/* Whether attn found nothing, but at most one in ten numbers is wrong: probably a slip, not a mistake. */
bool why_is_nearly_right(const struct why *why);

/* The number with the largest error; adds its place, "context, row 3 (starts), column 2". */
double why_worst(const struct why *why, struct text *place);

void why_write_text(const struct why *why, struct output *output);
void why_write_json(const struct why *why, struct output *output);
