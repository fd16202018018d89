/* SPDX-License-Identifier: MIT */
/* What a writer gets, and the writers: one for each format, all with one signature. The top of a writer's file
 * describes its format. */
#pragma once

#include "base/output.h"
#include "compute/result.h"
#include "model/format.h"

struct writing {
    struct result *result;
    struct output *output;
    struct arena *arena;
    struct error *error;
    int precision;       /* decimals; where --precision does not say it, a format may choose better ones */
    bool precision_said; /* it does */
    bool full;           /* nothing of long tables is elided */
    bool color;
    bool heatmap; /* text: tables of T x T as coloured cells */
    enum theme theme;
    bool entropy;             /* behind each row of shares: its sum and entropy */
    enum picture_shape shape; /* of a picture */
    enum pool pool;
    bool walks;   /* it is an animation */
    bool caption; /* words beneath it */
};

/* Decimals in the cells of a picture; below 0: two, or as many as the numbers need. */
static inline int writing_cell_decimals(const struct writing *writing)
{
    return writing->precision_said ? writing->precision : -1;
}

/* Each writes all of the result. STATUS_SYSTEM where memory is short, STATUS_USAGE where the format cannot hold the
 * result after all; output_close reports failures to write. Each has a checker, which says the same before the work,
 * when tables have no numbers yet. */
#define WRITER_PROTOTYPES(id, name, writer, checker, ...) \
    enum status writer(const struct writing *writing);    \
    enum status checker(const struct writing *writing);
FORMAT_ROWS(WRITER_PROTOTYPES)

/* A field of CSV: a token, all of it and on one line, and a suffix; never what a spreadsheet takes for a formula. */
void csv_text_field(const char *text, const char *behind, struct output *output);
