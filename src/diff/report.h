/* SPDX-License-Identifier: MIT */
/* The parts of diff's report: text for people, JSON for pipes. */
#pragma once

#include "base/output.h"
#include "base/text.h"
#include "diff/diff.h"

struct report {
    const struct diff *diff;
    int precision; /* digits of an error behind its point */
    int decimals;  /* of a number in a table */
    bool color;
    const char *why; /* the command line that asks for the mistake; NULL where there is nothing to ask */
    struct output *output;
};

enum {
    REPORT_NUMBER_BYTES = 40,
    REPORT_ROWS = 12, /* a table of no more rows and columns is small */
    REPORT_COLUMNS = 8,
};

/* "0.1839849", with as many digits as tell it from its neighbours in its dtype, into text (REPORT_NUMBER_BYTES);
 * returns text. */
const char *report_number(double number, enum dtype dtype, char *text);

/* Lists the stages under a title, in order; nothing where there are none. */
void report_stages(const struct report *report, const char *title, uint64_t stages);

/* Writes a line, and indents what does not fit below it. */
void report_line(const struct report *report, const char *text, bool bold);

/* Adds "inputs, one, column 3: 0.9, was 0.1 (1 of 18 differs)". */
void report_add_source(struct text *line, const struct diff *diff, const struct diff_stage *source);

/* Adds "'journey', 'starts' and 2 more": the tokens that one file lacks. */
void report_add_left_out(struct text *line, const struct diff_alignment *alignment);

/* A line for each source that differs, except the first `told`, and for settings and tokens that do. */
void report_sources(const struct report *report, size_t told);

/* The first line, and below it the sources that differ, the stage that departs first, and a hint. */
void report_cause(const struct report *report);

/* Small tables side by side, or below each other where the line is too short: the first source that differs, and the
 * stage that departs. */
void report_tables(const struct report *report);

/* The whole as one JSON object. */
void report_json(const struct report *report);

/* Adds "attn why causal expected.json --mine mine.json", where a stage departs that no later one undoes, and no
 * setting, source or token explains it. A must be a result that can be computed again, without a mistake, and both
 * must be files. Else, or where it does not fit, returns false. */
bool diff_ask_why(const struct diff *diff, const struct options *options, struct text *line);
