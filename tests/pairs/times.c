/* SPDX-License-Identifier: MIT */
#include "times.h"

#include "check.h"
#include "cli/options.h"
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* LaTeX takes six times as long as JSON, and noise makes it three times that. A test of all keys for each cell takes more. */
enum { LONG_TOKENS = 800, MOST_TIMES = 18, TRIES = 5 };

static double seconds_of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Many tokens, none of which sees a key. */
static void write_long_input(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    for (int i = 0; i < LONG_TOKENS; i++)
        fprintf(file, "%s[%d]", i ? "," : "{\"inputs\": [", i % 3);
    for (int i = 0; i < LONG_TOKENS; i++)
        fprintf(file, "%sfalse", i ? "," : "], \"attn_mask\": [[");
    fprintf(file, "]]}\n");
    fclose(file);
}

static double time_of(const char *path, const char *empty_row, const char *format, const char *view)
{
    const char *words[] = {"self",    path,     "--stages", "weights", "--empty-row",
                           empty_row, "--full", "--format", format,    view};
    struct program_run run;
    const double before = seconds_of_children();
    program_run(words, view != NULL ? 10 : 9, path, false, &run);
    const double seconds = seconds_of_children() - before;
    check_begin("a long input, --empty-row %s, --format %s %s", empty_row, format, view != NULL ? view : "");
    CHECK(run.status == 0, "status %d: %s", run.status, run.message);
    program_release(&run);
    return seconds;
}

/* The least of some tries: other work on the machine makes some of them longer. */
static void check_time(const char *path, const char *empty_row, const char *format, const char *view, double most)
{
    double seconds = INFINITY;
    for (int try = 0; try < TRIES && seconds > most; try++)
        seconds = fmin(seconds, time_of(path, empty_row, format, view));
    CHECK(seconds <= most, "%.3f s, expected at most %.3f", seconds, most);
}

/* A table of T x T takes no format, and no way to show it, more than some times what JSON takes. */
void times_check(bool sample)
{
    static const char *const VIEWS[] = {"--heatmap", "--explain", "--color=always"};
    enum { VIEW_COUNT = sizeof VIEWS / sizeof VIEWS[0] };
    const char *const *formats = OPTIONS[OPTION_FORMAT].choices, *const *rows = OPTIONS[OPTION_EMPTY_ROW].choices;
    char path[PROGRAM_PATH_BYTES];
    size_t row_count = 0;
    while (rows[row_count] != NULL)
        row_count++;
    write_long_input(program_path(path, "long.json"));
    for (size_t row = 0; row < row_count; row++) {
        const double most = MOST_TIMES * time_of(path, rows[row], "json", NULL);
        for (size_t i = 0; formats[i] != NULL; i++)
            if (format_is_written(COMMAND_SELF, &FORMATS[i]) && program_may_write(formats[i]) && (!sample || i % row_count == row))
                check_time(path, rows[row], formats[i], NULL, most);
        for (size_t i = 0; i < VIEW_COUNT; i++)
            if (!sample || i % row_count == row)
                check_time(path, rows[row], "text", VIEWS[i], most);
    }
    if (sample) {
        check_begin("a long input, each --empty-row with each format");
        check_skip("each format with one of them; with ATTN_WHOLE, as in release-check, all of them");
    }
}
