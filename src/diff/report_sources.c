/* SPDX-License-Identifier: MIT */
#include "base/wrap.h"
#include "diff/report.h"

#include <math.h>
#include <string.h>

enum {
    SOURCES_TOLD = 4,
    TOKENS_TOLD = 3,
    LINE_BYTES = 1024,
    SOURCE_COLUMNS = 40,
};

const char *report_number(double number, enum dtype dtype, char *text)
{
    if (!isfinite(number))
        snprintf(text, REPORT_NUMBER_BYTES, "%s", isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    else
        dtype_decimal(dtype, number, text);
    return text;
}

void report_line(const struct report *report, const char *text, bool bold)
{
    struct wrap line = {.output = report->output, .columns = WRAP_COLUMNS, .indent = 4};
    bold = bold && report->color;
    output_print(report->output, "%s", bold ? TEXT_BOLD : "");
    wrap_words(&line, text);
    output_print(report->output, "%s\n", bold ? TEXT_PLAIN : "");
}

/* ", one, column 3", ", row 2 (the), column 3", ", query 1 (Your), key 2 (journey)" */
static void add_place(struct text *line, const struct diff *diff, const struct diff_stage *source)
{
    struct diff_step steps[TENSOR_RANK];
    char token[DIFF_TOKEN_BYTES];
    const size_t count = diff_locate(diff, source, source->comparison.worst, steps);
    size_t tokens = 0;
    for (size_t i = 0; i < count; i++)
        tokens += steps[i].token != NULL;
    for (size_t i = 0; i < count; i++) {
        text_shown(steps[i].token != NULL ? steps[i].token : "", DIFF_TOKEN_COLUMNS, token, sizeof token);
        if (tokens == 1 && steps[i].alone && token[0] != '\0')
            text_add(line, ", %s", token);
        else
            text_add(line, ", %s %zu%s%s%s", steps[i].name, steps[i].position, token[0] ? " (" : "", token,
                     token[0] ? ")" : "");
    }
}

void report_add_source(struct text *line, const struct diff *diff, const struct diff_stage *source)
{
    const struct comparison *found = &source->comparison;
    char in_a[TENSOR_SHAPE_BYTES], in_b[TENSOR_SHAPE_BYTES], name[4 * SOURCE_COLUMNS + 64];
    text_shown(source->name, SOURCE_COLUMNS, name, sizeof name);
    text_add(line, "%s", name);
    if (source->a == NULL || source->b == NULL) {
        text_add(line, ": only in %s", source->a != NULL ? "A" : "B");
    } else if (found->count > 0) {
        add_place(line, diff, source);
        text_add(line, ": %s, was %s (%zu of %zu differ%s", report_number(found->worst_b, source->dtype_b, in_b),
                 report_number(found->worst_a, source->dtype_a, in_a), found->unequal, found->count,
                 found->unequal > 1 ? "" : "s");
        if (found->unequal > 1)
            text_add(line, ", this %s", found->unmatched > 0 ? "is the first with NaN or infinity" : "one most");
        text_add(line, "%s)", found->outside == 0 ? ", within the tolerance" : "");
    } else if (!diff_same_shape(&source->a->tensor, &source->b->tensor)) {
        text_add(line, ": %s, was %s", tensor_shape_text(&source->b->tensor, in_b),
                 tensor_shape_text(&source->a->tensor, in_a));
    } else {
        const bool boolean = dtype_is_boolean(source->b->tensor.dtype);
        text_add(line, ": %s, was %s", boolean ? "boolean" : "numbers", boolean ? "numbers" : "boolean");
    }
}

/* All but the first `told`. */
static void write_sources(const struct report *report, size_t told)
{
    const struct diff *diff = report->diff;
    char text[LINE_BYTES];
    for (; told < diff->source_count && told < SOURCES_TOLD; told++) {
        struct text line = text_begin(text, sizeof text);
        text_add(&line, "  ");
        report_add_source(&line, diff, &diff->sources[told]);
        report_line(report, text, false);
    }
    if (told < diff->source_count)
        output_print(report->output, "  others that differ: %zu\n", diff->source_count - told);
}

static void add_setting(struct wrap *line, const char *name, const char *text_a, const char *text_b)
{
    char shown[DIFF_TOKEN_BYTES], in_a[4 * SOURCE_COLUMNS + 64], in_b[4 * SOURCE_COLUMNS + 64];
    text_a = text_a != NULL ? text_a : "absent";
    text_b = text_b != NULL ? text_b : "absent";
    if (strcmp(text_a, text_b) == 0)
        return;
    text_shown(name, DIFF_TOKEN_COLUMNS, shown, sizeof shown);
    text_shown(text_a, SOURCE_COLUMNS, in_a, sizeof in_a);
    text_shown(text_b, SOURCE_COLUMNS, in_b, sizeof in_b);
    wrap_add(line, "%s%s %s, not %s", line->column == 0 ? "  settings: " : "", shown, in_b, in_a);
}

/* Settings that differ, where both files have settings; one that a file lacks is absent. */
static void write_settings(const struct report *report)
{
    const struct input_file *a = &report->diff->a.input, *b = &report->diff->b.input;
    struct wrap line = {.output = report->output, .columns = WRAP_COLUMNS, .indent = 12};
    for (size_t i = 0; i < a->setting_count && b->setting_count > 0; i++)
        add_setting(&line, a->settings[i].name, a->settings[i].text, input_file_setting(b, a->settings[i].name));
    for (size_t i = 0; i < b->setting_count && a->setting_count > 0; i++)
        if (input_file_setting(a, b->settings[i].name) == NULL)
            add_setting(&line, b->settings[i].name, NULL, b->settings[i].text);
    if (line.column > 0)
        output_print(report->output, "\n");
}

/* Tokens that differ at the same positions. */
static void write_tokens(const struct report *report, const char *title, const struct diff_alignment *alignment)
{
    const struct token_labels *a = alignment->a, *b = alignment->b;
    const size_t count = a->lists * a->count;
    char in_a[DIFF_TOKEN_BYTES], in_b[DIFF_TOKEN_BYTES];
    size_t first = count, differ = 0;
    if (a->texts == NULL || b->texts == NULL || a->lists != b->lists || a->count != b->count)
        return;
    for (size_t i = count; i-- > 0;)
        if (strcmp(a->texts[i], b->texts[i]) != 0) {
            first = i;
            differ++;
        }
    if (differ == 0)
        return;
    text_shown(a->texts[first], DIFF_TOKEN_COLUMNS, in_a, sizeof in_a);
    text_shown(b->texts[first], DIFF_TOKEN_COLUMNS, in_b, sizeof in_b);
    output_print(report->output, "  %s, %zu: '%s', was '%s' (%zu of %zu differ%s)\n", title, first + 1, in_b, in_a,
                 differ, count, differ > 1 ? ", this one first" : "s");
}

void report_add_left_out(struct text *line, const struct diff_alignment *alignment)
{
    const size_t all = alignment->whole->count, kept = alignment->few->count;
    char token[DIFF_TOKEN_BYTES];
    for (size_t i = 0, next = 0, told = 0; i < all && told < TOKENS_TOLD; i++) {
        if (next < kept && alignment->kept[next] == i) {
            next++;
            continue;
        }
        text_add(line, "%s", told == 0 ? "" : told + 1 == all - kept ? " and " : ", ");
        text_shown(alignment->whole->texts[i], DIFF_TOKEN_COLUMNS, token, sizeof token);
        if (alignment->whole->lists > 1)
            text_add(line, "token %zu of each item", i + 1);
        else
            text_add(line, "'%s'", token);
        told++;
    }
    if (all - kept > TOKENS_TOLD)
        text_add(line, " and %zu more", all - kept - TOKENS_TOLD);
}

static void write_alignment(const struct report *report, const char *of_what, const struct diff_alignment *alignment)
{
    char text[LINE_BYTES];
    struct text line = text_begin(text, sizeof text);
    if (!alignment->used)
        return;
    text_add(&line, "  compared without ");
    report_add_left_out(&line, alignment);
    text_add(&line, "%s, which %s lacks", of_what, alignment->whole == alignment->a ? "B" : "A");
    report_line(report, text, false);
}

void report_sources(const struct report *report, size_t told)
{
    const struct diff_alignment *queries = diff_tokens_of(report->diff, false),
                                *keys = diff_tokens_of(report->diff, true);
    write_settings(report);
    write_sources(report, told);
    write_tokens(report, "tokens", queries);
    write_alignment(report, "", queries);
    if (keys == queries)
        return;
    write_tokens(report, "key_tokens", keys);
    write_alignment(report, " of the keys", keys);
}
