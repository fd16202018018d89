/* SPDX-License-Identifier: MIT */
#include "diff/report.h"
#include "model/stage_id.h"
#include "write/json.h"

#include <string.h>

enum {
    CELLS = 96, /* that are told of one table */
    CHUNK = 1024,
};

/* JSON is UTF-8; a name may be any bytes, and is then written as shown. */
static void write_text(struct json *json, const char *key, const char *text)
{
    const char *rest = text != NULL ? text : "";
    while (*rest != '\0' && text_character(rest) > 0)
        rest += text_character(rest);
    if (*rest == '\0')
        json_text(json, key, text);
    else
        json_shown(json, key, text);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

static void write_cell(struct json *json, const char *key, const struct diff *diff, const struct diff_stage *stage,
                       size_t element)
{
    struct diff_step steps[TENSOR_RANK];
    const size_t count = diff_locate(diff, stage, element, steps);
    char token[DIFF_TOKEN_BYTES];
    double a, b;
    diff_numbers(stage, element, 1, &a, &b);
    json_open(json, key, '{');
    for (size_t i = 0; i < count; i++) {
        json_size(json, steps[i].name, steps[i].position);
        snprintf(token, sizeof token, "%s_token", steps[i].name);
        if (steps[i].token != NULL)
            json_text(json, token, steps[i].token);
    }
    write_json_number(json, "a", a, stage->dtype_a);
    write_json_number(json, "b", b, stage->dtype_b);
    json_close(json);
}

/* The first cells that differ, in their order. */
static void write_cells(struct json *json, const struct diff *diff, const struct diff_stage *stage)
{
    const size_t count = stage->comparison.count;
    size_t written = 0;
    json_line(json, 2);
    json_open(json, "cells", '[');
    for (size_t first = 0; first < count && written < CELLS; first += CHUNK) {
        const size_t end = memory_smaller(first + CHUNK, count);
        for (size_t cell = diff_differs(stage, first, end - first) ? first : end; cell < end && written < CELLS;
             cell++) {
            if (!diff_differs(stage, cell, 1))
                continue;
            json_break(json, 4);
            write_cell(json, NULL, diff, stage, cell);
            written++;
        }
    }
    json_close(json);
}

static void write_worst(struct json *json, const struct diff *diff, const struct diff_stage *stage)
{
    json_line(json, 2);
    if (stage->comparison.worst == stage->comparison.count)
        json_text(json, "worst", NULL);
    else
        write_cell(json, "worst", diff, stage, stage->comparison.worst);
}

static void write_stage(struct json *json, const struct diff *diff, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    /* Above 2^53 the digits are a string, since readers of JSON round larger numbers. */
    const char *quote = comparison->ulps > UINT64_C(1) << 53 ? "\"" : "";
    json_open(json, stage->name, '{');
    json_truth(json, "agrees", !stage->departs);
    json_sizes(json, "shape", stage->a->tensor.shape, stage->a->tensor.rank);
    json_sizes(json, "shape_b", stage->b->tensor.shape, stage->b->tensor.rank);
    json_text(json, "dtype", dtype_name(stage->tolerance.dtype));
    json_real(json, "atol", stage->tolerance.absolute);
    json_real(json, "rtol", stage->tolerance.relative);
    if (comparison->printed > 0)
        json_real(json, "printed", comparison->printed);
    json_line(json, 2);
    json_size(json, "count", comparison->count);
    json_size(json, "outside", comparison->outside);
    json_size(json, "unmatched", comparison->unmatched);
    json_real(json, "absolute_error", comparison->absolute);
    json_real(json, "relative_error", comparison->relative);
    json_key(json, "ulps");
    output_print(json->output, "%s%llu%s", quote, (unsigned long long)comparison->ulps, quote);
    json_real(json, "nmse", comparison->nmse);
    json_real(json, "cosine", comparison->cosine);
    write_worst(json, diff, stage);
    if (stage->departs) {
        json_line(json, 2);
        json_text(json, "undone_by", stage->undone_by != STAGE_NAMES ? stage_name(stage->undone_by) : NULL);
        write_cells(json, diff, stage);
    }
    json_close(json);
}

/* --- what differs before any stage ------------------------------------------------------------------------------- */

static void write_setting(struct json *json, const char *name, const char *text_a, const char *text_b)
{
    if (text_a != NULL && text_b != NULL && strcmp(text_a, text_b) == 0)
        return;
    json_open(json, name, '{');
    write_text(json, "a", text_a);
    write_text(json, "b", text_b);
    json_close(json);
}

static void write_settings(struct json *json, const struct diff *diff)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    json_open(json, "settings", '{');
    for (size_t i = 0; i < a->setting_count && b->setting_count > 0; i++)
        write_setting(json, a->settings[i].name, a->settings[i].text, input_file_setting(b, a->settings[i].name));
    for (size_t i = 0; i < b->setting_count && a->setting_count > 0; i++)
        if (input_file_setting(a, b->settings[i].name) == NULL)
            write_setting(json, b->settings[i].name, NULL, b->settings[i].text);
    json_close(json);
}

static void write_source(struct json *json, const struct diff *diff, const struct diff_stage *source)
{
    json_open(json, source->name, '{');
    json_text(json, "in", source->a == NULL ? "b" : source->b == NULL ? "a" : "both");
    if (source->a != NULL)
        json_sizes(json, "shape", source->a->tensor.shape, source->a->tensor.rank);
    if (source->b != NULL)
        json_sizes(json, "shape_b", source->b->tensor.shape, source->b->tensor.rank);
    if (source->comparison.count > 0) {
        json_size(json, "count", source->comparison.count);
        json_size(json, "unequal", source->comparison.unequal);
        json_size(json, "outside", source->comparison.outside);
        write_worst(json, diff, source);
        write_cells(json, diff, source);
    }
    json_close(json);
}

/* The tokens that one file alone has, item by item. */
static void write_left_out(struct json *json, const char *key, const struct diff_alignment *alignment, bool of_a)
{
    const struct token_labels *of = of_a ? alignment->a : alignment->b;
    const size_t count = alignment->used && alignment->whole == of ? of->lists * of->count : 0;
    size_t next = 0;
    json_open(json, key, '[');
    for (size_t i = 0; i < count; i++) {
        next = i % of->count == 0 ? 0 : next;
        if (next < alignment->few->count && alignment->kept[next] == i % of->count)
            next++;
        else
            json_text(json, NULL, of->texts[i]);
    }
    json_close(json);
}

static void write_alignments(struct json *json, const struct diff *diff)
{
    const struct diff_alignment *queries = diff_tokens_of(diff, false), *keys = diff_tokens_of(diff, true);
    write_left_out(json, "tokens_only_a", queries, true);
    write_left_out(json, "tokens_only_b", queries, false);
    if (keys == queries)
        return;
    write_left_out(json, "key_tokens_only_a", keys, true);
    write_left_out(json, "key_tokens_only_b", keys, false);
}

void report_json(const struct report *report)
{
    const struct diff *diff = report->diff;
    struct json json = {.output = report->output, .lines = true};
    json_begin(&json);
    write_text(&json, "a", diff->a.input.source);
    write_text(&json, "b", diff->b.input.source);
    json_truth(&json, "agree", diff_agrees(diff));
    write_text(&json, "first", diff->first < diff->count ? diff->stages[diff->first].name : NULL);
    write_json_stages(&json, "only_a", diff->only_a);
    write_json_stages(&json, "only_b", diff->only_b);
    write_settings(&json, diff);
    json_open(&json, "sources", '{');
    for (size_t i = 0; i < diff->source_count; i++) {
        json_break(&json, 0);
        write_source(&json, diff, &diff->sources[i]);
    }
    json_close(&json);
    write_alignments(&json, diff);
    write_text(&json, "why", report->why);
    observe_write_json(&diff->observations, &json);
    json_open(&json, "stages", '{');
    for (size_t i = 0; i < diff->count; i++) {
        json_break(&json, 0);
        write_stage(&json, diff, &diff->stages[i]);
    }
    json_end(&json);
}
