#include "base/text.h"
#include "base/version.h"
#include "diff/align.h"
#include "diff/place.h"
#include "diff/report.h"
#include "model/stage_id.h"
#include "write/json.h"

#include <string.h>

enum {
    CELLS = 96, /* that are told of one table */
    CHUNK = 1024,
    PATH_BYTES = 4 * TEXT_PATH_BYTES + 64,
};

/* --- members ----------------------------------------------------------------------------------------------------- */

static void write_text_member(const char *key, const char *text, struct output *output)
{
    char shown[PATH_BYTES];
    output_print(output, "\"%s\": ", key);
    if (text == NULL) {
        output_print(output, "null");
        return;
    }
    const char *rest = text;
    while (*rest != '\0' && text_character(rest) > 0)
        rest += text_character(rest);
    text_shown(text, SIZE_MAX, shown, sizeof shown);
    write_json_string(*rest == '\0' ? text : shown, output); /* JSON is UTF-8, a name may be anything */
}

static void write_number_member(const char *key, double number, enum dtype dtype, struct output *output)
{
    output_print(output, ", \"%s\": ", key);
    write_json_number(number, dtype, output);
}

static void write_shape_member(const char *key, const struct tensor *tensor, struct output *output)
{
    output_print(output, ", \"%s\": [", key);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        output_print(output, "%s%zu", axis ? ", " : "", tensor->shape[axis]);
    output_print(output, "]");
}

static void write_only_member(const char *key, uint64_t stages, struct output *output)
{
    bool first = true;
    output_print(output, ",\n\"%s\": [", key);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage)) {
            output_print(output, "%s\"%s\"", first ? "" : ", ", stage_name((enum stage)stage));
            first = false;
        }
    output_print(output, "]");
}

static void write_place(const struct diff *diff, const struct diff_stage *stage, size_t element, struct output *output)
{
    struct diff_step steps[TENSOR_RANK];
    const size_t count = diff_place(diff, stage, element, steps);
    for (size_t i = 0; i < count; i++) {
        output_print(output, "%s\"%s\": %zu", i ? ", " : "{", steps[i].name, steps[i].position);
        if (steps[i].token == NULL)
            continue;
        output_print(output, ", \"%s_token\": ", steps[i].name);
        write_json_string(steps[i].token, output);
    }
}

static void write_cell(const struct diff *diff, const struct diff_stage *stage, size_t element, struct output *output)
{
    double a, b;
    diff_numbers(stage, element, 1, &a, &b);
    write_place(diff, stage, element, output);
    write_number_member("a", a, stage->dtype_a, output);
    write_number_member("b", b, stage->dtype_b, output);
    output_print(output, "}");
}

/* The first cells that differ, in their order. */
static void write_cells_member(const struct diff *diff, const struct diff_stage *stage, struct output *output)
{
    const size_t count = stage->comparison.count;
    size_t told = 0;
    output_print(output, ",\n  \"cells\": [");
    for (size_t first = 0; first < count && told < CELLS; first += CHUNK) {
        const size_t end = memory_smaller(first + CHUNK, count);
        for (size_t cell = diff_differs(stage, first, end - first) ? first : end; cell < end && told < CELLS; cell++) {
            if (!diff_differs(stage, cell, 1))
                continue;
            output_print(output, "%s", told++ > 0 ? ",\n    " : "");
            write_cell(diff, stage, cell, output);
        }
    }
    output_print(output, "]");
}

static void write_worst_member(const struct diff *diff, const struct diff_stage *stage, struct output *output)
{
    const struct comparison *comparison = &stage->comparison;
    output_print(output, ",\n  \"worst\": ");
    if (comparison->worst == comparison->count)
        output_print(output, "null");
    else
        write_cell(diff, stage, comparison->worst, output);
}

/* Above 2^53 the digits are a string, since readers of JSON round larger numbers. */
static void write_ulps(uint64_t ulps, struct output *output)
{
    const char *quote = ulps > UINT64_C(1) << 53 ? "\"" : "";
    output_print(output, ", \"ulps\": %s%llu%s", quote, (unsigned long long)ulps, quote);
}

static void write_undone_member(const struct diff_stage *stage, struct output *output)
{
    output_print(output, ",\n  \"undone_by\": ");
    if (stage->undone_by == STAGE_NAMES)
        output_print(output, "null");
    else
        output_print(output, "\"%s\"", stage_name(stage->undone_by));
}

static void write_stage_member(const struct diff *diff, const struct diff_stage *stage, struct output *output)
{
    const struct comparison *comparison = &stage->comparison;
    output_print(output, "\"%s\": {\"agrees\": %s", stage->name, stage->departs ? "false" : "true");
    write_shape_member("shape", &stage->a->tensor, output);
    write_shape_member("shape_b", &stage->b->tensor, output);
    output_print(output, ", \"dtype\": \"%s\"", dtype_name(stage->tolerance.dtype));
    write_number_member("atol", stage->tolerance.absolute, DTYPE_F64, output);
    write_number_member("rtol", stage->tolerance.relative, DTYPE_F64, output);
    if (comparison->printed > 0)
        write_number_member("printed", comparison->printed, DTYPE_F64, output);
    output_print(output, ",\n  \"count\": %zu, \"outside\": %zu, \"unmatched\": %zu", comparison->count,
                 comparison->outside, comparison->unmatched);
    write_number_member("absolute_error", comparison->absolute, DTYPE_F64, output);
    write_number_member("relative_error", comparison->relative, DTYPE_F64, output);
    write_ulps(comparison->ulps, output);
    write_number_member("nmse", comparison->nmse, DTYPE_F64, output);
    write_number_member("cosine", comparison->cosine, DTYPE_F64, output);
    write_worst_member(diff, stage, output);
    if (stage->departs) {
        write_undone_member(stage, output);
        write_cells_member(diff, stage, output);
    }
    output_print(output, "}");
}

/* --- what differs before any stage ------------------------------------------------------------------------------- */

static void write_setting(const char *name, const char *text_a, const char *text_b, bool *first, struct output *output)
{
    if (text_a != NULL && text_b != NULL && strcmp(text_a, text_b) == 0)
        return;
    output_print(output, "%s", *first ? "" : ", ");
    write_json_string(name, output);
    output_print(output, ": {");
    write_text_member("a", text_a, output);
    output_print(output, ", ");
    write_text_member("b", text_b, output);
    output_print(output, "}");
    *first = false;
}

static void write_settings(const struct diff *diff, struct output *output)
{
    const struct input_file *a = &diff->a.input, *b = &diff->b.input;
    bool first = true;
    output_print(output, ",\n\"settings\": {");
    for (size_t i = 0; i < a->setting_count && b->setting_count > 0; i++)
        write_setting(a->settings[i].name, a->settings[i].text, input_file_setting(b, a->settings[i].name), &first,
                      output);
    for (size_t i = 0; i < b->setting_count && a->setting_count > 0; i++)
        if (input_file_setting(a, b->settings[i].name) == NULL)
            write_setting(b->settings[i].name, NULL, b->settings[i].text, &first, output);
    output_print(output, "}");
}

static void write_source(const struct diff *diff, const struct diff_stage *source, struct output *output)
{
    write_json_string(source->name, output);
    output_print(output, ": {\"in\": \"%s\"", source->a == NULL ? "b" : source->b == NULL ? "a" : "both");
    if (source->a != NULL)
        write_shape_member("shape", &source->a->tensor, output);
    if (source->b != NULL)
        write_shape_member("shape_b", &source->b->tensor, output);
    if (source->comparison.count > 0) {
        output_print(output, ", \"count\": %zu, \"unequal\": %zu, \"outside\": %zu", source->comparison.count,
                     source->comparison.unequal, source->comparison.outside);
        write_worst_member(diff, source, output);
        write_cells_member(diff, source, output);
    }
    output_print(output, "}");
}

static void write_sources(const struct diff *diff, struct output *output)
{
    output_print(output, ",\n\"sources\": {");
    for (size_t i = 0; i < diff->source_count; i++) {
        output_print(output, "%s", i ? ",\n" : "");
        write_source(diff, &diff->sources[i], output);
    }
    output_print(output, "}");
}

/* The tokens that one file alone has, of one item after the other. */
static void write_left_out(const char *key, const struct diff_alignment *alignment, bool of_a, struct output *output)
{
    const struct token_labels *of = of_a ? alignment->a : alignment->b;
    const size_t count = alignment->used && alignment->whole == of ? of->lists * of->count : 0;
    size_t next = 0, told = 0;
    output_print(output, ",\n\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        next = i % of->count == 0 ? 0 : next;
        if (next < alignment->few->count && alignment->kept[next] == i % of->count) {
            next++;
            continue;
        }
        output_print(output, "%s", told++ > 0 ? ", " : "");
        write_json_string(of->texts[i], output);
    }
    output_print(output, "]");
}

static void write_alignments(const struct diff *diff, struct output *output)
{
    const struct diff_alignment *queries = diff_tokens_of(diff, false), *keys = diff_tokens_of(diff, true);
    write_left_out("tokens_only_a", queries, true, output);
    write_left_out("tokens_only_b", queries, false, output);
    if (keys == queries)
        return;
    write_left_out("key_tokens_only_a", keys, true, output);
    write_left_out("key_tokens_only_b", keys, false, output);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

void report_json(const struct sheet *sheet)
{
    const struct diff *diff = sheet->diff;
    struct output *output = sheet->output;
    output_print(output, "{\"attn\": \"" ATTN_VERSION "\",\n");
    write_text_member("a", diff->a.input.source, output);
    output_print(output, ",\n");
    write_text_member("b", diff->b.input.source, output);
    output_print(output, ",\n\"agree\": %s,\n", diff_agrees(diff) ? "true" : "false");
    write_text_member("first", diff->first < diff->count ? diff->stages[diff->first].name : NULL, output);
    write_only_member("only_a", diff->only_a, output);
    write_only_member("only_b", diff->only_b, output);
    write_settings(diff, output);
    write_sources(diff, output);
    write_alignments(diff, output);
    output_print(output, ",\n");
    write_text_member("why", sheet->why, output);
    output_print(output, ",\n\"stages\": {");
    for (size_t i = 0; i < diff->count; i++) {
        output_print(output, "%s", i ? ",\n" : "");
        write_stage_member(diff, &diff->stages[i], output);
    }
    output_print(output, "}}\n");
}
