/* SPDX-License-Identifier: MIT */
#include "why/report.h"

/* Of the formats that report (model/format.h): each its writer. */
#define why_write_no NULL
#define REPORT(id, name, writer, checker, report, ...) [FORMAT_##id] = why_write_##report,
static void (*const REPORTS[FORMAT_COUNT])(const struct why *why, struct output *output) = {FORMAT_ROWS(REPORT)};

enum status why_write(const struct why *why, struct output *output)
{
    REPORTS[why->options->format](why, output);
    if (output_close(output) != STATUS_OK || why->count > 0)
        return why->error->status;
    return error_quietly(why->error, STATUS_DIFFERENT);
}
