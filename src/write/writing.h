/* SPDX-License-Identifier: MIT */
/* What a writer is given, and the writers: one for each row of the formats, all with one signature. What a format looks
 * like is said at the top of its writer's file. */
#ifndef ATTN_WRITE_WRITING_H
#define ATTN_WRITE_WRITING_H

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
    bool caption; /* words beneath a picture */
};

/* Decimals in the cells of a picture; below 0: two, or what the numbers need. */
static inline int writing_cell_decimals(const struct writing *writing)
{
    return writing->precision_said ? writing->precision : -1;
}

/* Each writes the whole result. STATUS_SYSTEM where memory is short, STATUS_USAGE where the format cannot hold the
 * result after all; a failure to write is output_close's to tell. Before the work each says of tables that have no
 * numbers yet, in the same way, whether they can be written. */
#define WRITER_PROTOTYPES(id, name, writer, checker, ...) \
    enum status writer(const struct writing *writing);    \
    enum status checker(const struct writing *writing);
FORMAT_ROWS(WRITER_PROTOTYPES)
#undef WRITER_PROTOTYPES

#endif
