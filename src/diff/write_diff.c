/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"
#include "cli/option_text.h"
#include "diff/report.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    PATH_BYTES = 4 * TEXT_PATH_BYTES + 64,
    WIDE_ULPS = 10000000,
    MANY_DECIMALS = 12,
    CELL_DECIMALS = 4, /* in tables, unless --precision says otherwise */
};

/* --- what was compared ------------------------------------------------------------------------------------------- */

static void write_side(const struct report *report, const char *title, const struct input_file *input)
{
    char path[PATH_BYTES], mechanism[DIFF_TOKEN_BYTES];
    text_shown(input->source, SIZE_MAX, path, sizeof path);
    text_shown(input->mechanism != NULL ? input->mechanism : "", DIFF_TOKEN_COLUMNS, mechanism, sizeof mechanism);
    output_print(report->output, "%s%s%s%s", title, path, mechanism[0] ? ": " : "", mechanism);
    if (input->part != NULL)
        output_print(report->output, ", part %.20s", input->part);
    output_print(report->output, "\n");
}

/* One line for each dtype that stages were compared in. */
static void write_tolerances(const struct report *report)
{
    const struct diff *diff = report->diff;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        size_t stage = 0;
        while (stage < diff->count && (int)diff->stages[stage].tolerance.dtype != dtype)
            stage++;
        if (stage == diff->count)
            continue;
        output_print(report->output, "tolerance    |a - b| <= %.6g + %.6g |a| in %s, nmse <= %g\n",
                     diff->stages[stage].tolerance.absolute, diff->stages[stage].tolerance.relative,
                     dtype_name((enum dtype)dtype), COMPARE_LARGEST_NMSE);
    }
}

/* --- printed tables: the digits that they do not show ------------------------------------------------------------ */

/* The last digits of a side's compared numbers, exact ones left out. */
struct digits {
    bool any;
    int finest, coarsest;
};

static void add_digits(struct digits *digits, const struct file_tensor *named)
{
    for (size_t i = 0; named->last_digit != NULL && i < tensor_count(&named->tensor); i++) {
        const int digit = named->last_digit[i];
        if (digit == INT16_MIN)
            continue;
        digits->finest = !digits->any || digit < digits->finest ? digit : digits->finest;
        digits->coarsest = !digits->any || digit > digits->coarsest ? digit : digits->coarsest;
        digits->any = true;
    }
}

static bool is_fixed(const struct digits *digits)
{
    return digits->any && digits->finest == digits->coarsest && digits->finest < 0 && digits->finest > -MANY_DECIMALS;
}

static void write_digits(const struct input_file *input, const struct digits *digits, bool shows, struct output *output)
{
    char path[PATH_BYTES];
    text_shown(input->source, SIZE_MAX, path, sizeof path);
    output_print(output, "%s", path);
    if (shows)
        output_print(output, " shows %d decimal%s", -digits->finest, digits->finest == -1 ? "" : "s");
}

/* Half a unit of the last digit, of both sides together; their decimals where all numbers have as many. */
static void write_sides(const struct diff *diff, const struct digits *a, const struct digits *b, struct output *output)
{
    const bool shows = (!a->any || is_fixed(a)) && (!b->any || is_fixed(b));
    const int finest = !b->any || (a->any && a->finest < b->finest) ? a->finest : b->finest;
    const double within = (a->any ? 0.5 * pow(10, a->finest) : 0) + (b->any ? 0.5 * pow(10, b->finest) : 0);
    output_print(output, "printed      ");
    if (a->any)
        write_digits(&diff->a.input, a, shows, output);
    if (a->any && b->any)
        output_print(output, ", ");
    if (b->any)
        write_digits(&diff->b.input, b, shows, output);
    if (shows)
        output_print(output, ": numbers agree within %.*f\n", 1 - finest, within);
    else
        output_print(output, ": numbers agree within half a unit of their last digits\n");
}

/* "printed      mine.txt shows 4 decimals: numbers agree within 0.00005": where digits added to a tolerance. */
static void write_printed(const struct diff *diff, struct output *output)
{
    struct digits a = {0}, b = {0};
    for (size_t i = 0; i < diff->count; i++)
        if (diff->stages[i].comparison.printed > 0) {
            add_digits(&a, diff->stages[i].a);
            add_digits(&b, diff->stages[i].b);
        }
    if (a.any || b.any)
        write_sides(diff, &a, &b, output);
}

/* --- the stages -------------------------------------------------------------------------------------------------- */

/* The width of "1.2e-07", or of the heading. */
static int number_width(int precision)
{
    return precision < 1 ? (int)strlen("absolute") : precision + 7;
}

static const char *error_text(const struct report *report, double error, char *text)
{
    if (error == 0 || isinf(error) || isnan(error))
        return strcpy(text, error == 0 ? "0" : isnan(error) ? "nan" : "inf");
    return text_format(text, REPORT_NUMBER_BYTES, "%.*e", report->precision, error);
}

static const char *ulps_text(const struct report *report, uint64_t ulps, char *text)
{
    return ulps >= WIDE_ULPS ? error_text(report, (double)ulps, text)
                             : text_format(text, REPORT_NUMBER_BYTES, "%llu", (unsigned long long)ulps);
}

static void write_worst(const struct report *report, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    struct wrap line = {.output = report->output, .columns = WRAP_COLUMNS, .indent = 4};
    struct diff_step steps[TENSOR_RANK];
    char expected[REPORT_NUMBER_BYTES], got[REPORT_NUMBER_BYTES], token[DIFF_TOKEN_BYTES];
    if (comparison->worst == comparison->count)
        return;
    const size_t count = diff_locate(report->diff, stage, comparison->worst, steps);
    for (size_t i = 0; i < count; i++) {
        text_shown(steps[i].token != NULL ? steps[i].token : "", DIFF_TOKEN_COLUMNS, token, sizeof token);
        wrap_add(&line, "%s%s %zu%s%s%s", i ? "" : "  worst at ", steps[i].name, steps[i].position,
                 token[0] ? " (" : "", token, token[0] ? ")" : "");
    }
    wrap_add(&line, "%s instead of %s", report_number(comparison->worst_b, stage->dtype_b, got),
             report_number(comparison->worst_a, stage->dtype_a, expected));
    output_print(report->output, "\n");
}

/* Below a departing stage: how many of its numbers depart, and the worst. */
static void write_departure(const struct report *report, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    output_print(report->output, "  differs: %zu of %zu outside the tolerance", comparison->outside, comparison->count);
    if (comparison->unmatched > 0)
        output_print(report->output, ", %zu of them NaN or infinite", comparison->unmatched);
    if (comparison->outside == 0)
        output_print(report->output, ", but nmse is above %g", COMPARE_LARGEST_NMSE);
    output_print(report->output, "\n");
    write_worst(report, stage);
}

/* A's shape, and B's where it has other leading axes of size 1; or the part of the complete table. */
static const char *shape_text(const struct diff_stage *stage, char *text, size_t size)
{
    char of_b[TENSOR_SHAPE_BYTES];
    tensor_shape_text(&stage->a->tensor, text);
    tensor_shape_text(stage->shown != NULL ? &stage->whole->tensor : &stage->b->tensor, of_b);
    if (stage->shown != NULL)
        snprintf(text + strlen(text), size - strlen(text), " of %s", of_b);
    else if (strcmp(text, of_b) != 0)
        snprintf(text + strlen(text), size - strlen(text), " (B: %s)", of_b);
    return text;
}

static void write_stage(const struct report *report, const struct diff_stage *stage, int name_width)
{
    const struct comparison *comparison = &stage->comparison;
    const int width = number_width(report->precision);
    char absolute[REPORT_NUMBER_BYTES], relative[REPORT_NUMBER_BYTES], ulps[REPORT_NUMBER_BYTES],
        nmse[REPORT_NUMBER_BYTES], cosine[REPORT_NUMBER_BYTES], row[256];
    char shape[2 * TENSOR_SHAPE_BYTES + 8];
    text_number(cosine, sizeof cosine, report->precision + 3, false, comparison->cosine);
    const int length =
        snprintf(row, sizeof row, "%-*s  %*s  %*s  %*s  %*s  %*s", name_width, stage->name, width,
                 error_text(report, comparison->absolute, absolute), width,
                 error_text(report, comparison->relative, relative), width, ulps_text(report, comparison->ulps, ulps),
                 width, error_text(report, comparison->nmse, nmse), report->precision + 6, cosine);
    const bool bold = report->color && stage->departs;
    shape_text(stage, shape, sizeof shape);
    const bool fits = (size_t)length + 2 + strlen(shape) <= WRAP_COLUMNS;
    output_print(report->output, "%s%s%s%s%s\n", bold ? TEXT_BOLD : "", row, fits ? "  " : "\n  ", shape,
                 bold ? TEXT_PLAIN : "");
    if (stage->departs)
        write_departure(report, stage);
}

static void report_text(const struct report *report)
{
    const struct diff *diff = report->diff;
    struct output *output = report->output;
    const int precision = report->precision, width = number_width(precision);
    int name_width = (int)strlen("stage");
    for (size_t i = 0; i < diff->count; i++)
        if ((int)strlen(diff->stages[i].name) > name_width)
            name_width = (int)strlen(diff->stages[i].name);
    report_cause(report);
    output_print(output, "\n");
    write_side(report, "A, expected  ", &diff->a.input);
    write_side(report, "B, checked   ", &diff->b.input);
    write_tolerances(report);
    write_printed(diff, output);
    report_stages(report, "only in A    ", diff->only_a);
    report_stages(report, "only in B    ", diff->only_b);
    output_print(output, "\n%-*s  %*s  %*s  %*s  %*s  %*s  shape\n", name_width, "stage", width, "absolute", width,
                 "relative", width, "ulps", width, "nmse", precision + 6, "cosine");
    for (size_t i = 0; i < diff->count; i++)
        write_stage(report, &diff->stages[i], name_width);
    report_tables(report);
    if (report->why != NULL)
        output_print(output, "\nask why: %s\n", report->why);
}

/* --- the format asked for ---------------------------------------------------------------------------------------- */

/* Of the formats that report (model/format.h): each its writer. */
#define report_no NULL
#define REPORT(id, name, writer, checker, report, ...) [FORMAT_##id] = report_##report,
static void (*const REPORTS[FORMAT_COUNT])(const struct report *report) = {FORMAT_ROWS(REPORT)};

enum status write_diff(const struct options *options, const struct diff *diff, struct output *output,
                       struct error *error)
{
    const bool said = options_said(options, OPTION_PRECISION);
    char bytes[OPTION_LINE_BYTES];
    struct text why = text_begin(bytes, sizeof bytes);
    const struct report report = {.diff = diff,
                                  .precision = (int)options->precision,
                                  .decimals = said ? (int)options->precision : CELL_DECIMALS,
                                  .color = options_want_color(options, output),
                                  .why = diff_ask_why(diff, options, &why) ? bytes : NULL,
                                  .output = output};
    REPORTS[options->format](&report);
    if (output_close(output) != STATUS_OK || diff_agrees(diff))
        return error->status;
    return error_quietly(error, STATUS_DIFFERENT);
}
