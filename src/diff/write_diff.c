#include "diff/write_diff.h"

#include "base/text.h"
#include "base/version.h"
#include "base/wrap.h"
#include "diff/write_printed.h"
#include "write/json.h"

#include <math.h>
#include <string.h>

enum {
    NAME_COLUMNS = 20,
    NAME_BYTES = 4 * NAME_COLUMNS + 64,
    PATH_BYTES = 4 * TEXT_PATH_BYTES + 64,
    CELL_NUMBER_BYTES = 40,
    WIDE_ULPS = 10000000,
};

/* Above the first, a cosine says that b is a times a factor; the factor is told where it is further from 1 than the
 * second. */
static const double PROPORTIONAL = 0.999999, FACTOR = 0.01;

struct sheet {
    const struct diff *diff;
    int precision;
    bool color;
    struct output *output;
};

/* --- text: what it comes to -------------------------------------------------------------------------------------- */

static bool is_equal(const struct diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        if (diff->stages[i].comparison.worst < diff->stages[i].comparison.count)
            return false;
    return true;
}

/* What is wrong, or NULL where all is the same: into text (size bytes). */
static const char *verdict(const struct diff *diff, char *text, size_t size)
{
    if (diff->first < diff->count) {
        snprintf(text, size, "different: the first stage that departs is %s", diff->stages[diff->first].name);
        return text;
    }
    size_t lacking = 0, first = STAGE_COUNT;
    for (size_t stage = STAGE_COUNT; stage-- > 0;)
        if (diff->only_a & STAGE_BIT(stage)) {
            first = stage;
            lacking++;
        }
    if (lacking == 0)
        return NULL;
    const int length = snprintf(text, size, "different: B lacks %s", stage_name((enum stage)first));
    if (lacking > 1)
        snprintf(text + length, size - (size_t)length, " and %zu more stage%s of A", lacking - 1,
                 lacking > 2 ? "s" : "");
    return text;
}

static void write_verdict(const struct sheet *sheet)
{
    const struct diff *diff = sheet->diff;
    const char *bold = sheet->color ? TEXT_BOLD : "", *plain = sheet->color ? TEXT_PLAIN : "";
    const char *how = is_equal(diff) ? "every number is equal" : "every number is within the tolerance";
    char text[128], misspelt[NAME_BYTES];
    if (verdict(diff, text, sizeof text) == NULL)
        output_print(sheet->output, "%sthe same: %s%s\n", bold, how, plain);
    else
        output_print(sheet->output, "%s%s%s\n", bold, text, plain);
    if (diff->first == diff->count && diff->only_a != 0)
        output_print(sheet->output, "  of the stages that both have, %s\n", how);
    if (diff->misspelt == NULL)
        return;
    text_shown(diff->misspelt, NAME_COLUMNS, misspelt, sizeof misspelt);
    output_print(sheet->output, "  is '%s' in %s meant as %s?\n", misspelt, diff->misspelt_in_a ? "A" : "B",
                 stage_name(diff->meant));
}

/* What the numbers of the first stage that departs tell by themselves. */
static void write_evidence(const struct sheet *sheet, const struct comparison *comparison)
{
    if (comparison->hidden_a + comparison->hidden_b > 0)
        output_print(sheet->output, "  minus infinity in A alone: %zu, in B alone: %zu\n", comparison->hidden_a,
                     comparison->hidden_b);
    if (comparison->unmatched == 0 && fabs(comparison->cosine) > PROPORTIONAL && fabs(comparison->ratio - 1) > FACTOR)
        output_print(sheet->output, "  B is %.6g times A throughout: a factor too many or missing\n",
                     comparison->ratio);
}

/* The stages under a title, in their order; nothing where there are none. */
static void write_stages(const struct sheet *sheet, const char *title, uint64_t stages)
{
    struct wrap line = {.output = sheet->output, .columns = WRAP_COLUMNS, .indent = strlen(title)};
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage))
            wrap_add(&line, "%s%s", line.column == 0 ? title : "", stage_name((enum stage)stage));
    if (line.column > 0)
        output_print(sheet->output, "\n");
}

/* The stages around the first one that departs, and what it hints at where all before it agree. */
static void write_hint(const struct sheet *sheet)
{
    const struct diff *diff = sheet->diff;
    const struct diff_stage *stage = &diff->stages[diff->first];
    uint64_t agree = 0;
    for (size_t i = 0; i < diff->first; i++)
        agree |= STAGE_BIT(diff->stages[i].stage);
    write_stages(sheet, "  these before it agree: ", agree);
    write_evidence(sheet, &stage->comparison);
    if (!stage_exists(stage->stage))
        return;
    const uint64_t needed = stage_existing(stage_closure(STAGE_BIT(stage->stage))) & ~STAGE_BIT(stage->stage);
    if (needed & diff->left)
        write_stages(sheet, "  not compared before it: ", needed & diff->left);
    else if (needed != 0 && agree == 0)
        output_print(sheet->output, "  no stage before it was compared\n");
    else if (STAGES[stage->stage].hint != NULL)
        output_print(sheet->output, "  %s\n", STAGES[stage->stage].hint);
}

/* --- text: what was compared ------------------------------------------------------------------------------------- */

static void write_side(const struct sheet *sheet, const char *title, const struct input_file *input)
{
    char path[PATH_BYTES], mechanism[NAME_BYTES];
    text_shown(input->source, SIZE_MAX, path, sizeof path);
    text_shown(input->mechanism != NULL ? input->mechanism : "", NAME_COLUMNS, mechanism, sizeof mechanism);
    output_print(sheet->output, "%s%s%s%s", title, path, mechanism[0] ? ": " : "", mechanism);
    if (input->part != NULL)
        output_print(sheet->output, ", part %.20s", input->part);
    output_print(sheet->output, "\n");
}

static void add_setting(struct wrap *line, const char *name, const char *text_a, const char *text_b)
{
    char shown[NAME_BYTES], in_a[NAME_BYTES], in_b[NAME_BYTES];
    text_a = text_a != NULL ? text_a : "absent";
    text_b = text_b != NULL ? text_b : "absent";
    if (strcmp(text_a, text_b) == 0)
        return;
    text_shown(name, NAME_COLUMNS, shown, sizeof shown);
    text_shown(text_a, NAME_COLUMNS, in_a, sizeof in_a);
    text_shown(text_b, NAME_COLUMNS, in_b, sizeof in_b);
    wrap_add(line, "%s%s %s, not %s", line->column == 0 ? "settings     " : "", shown, in_b, in_a);
}

/* Settings that are not the same in both files, where both tell any; one that a file does not tell is absent. */
static void write_settings(const struct sheet *sheet)
{
    const struct input_file *a = &sheet->diff->a.input, *b = &sheet->diff->b.input;
    struct wrap line = {.output = sheet->output, .columns = WRAP_COLUMNS, .indent = 13};
    for (size_t i = 0; i < a->setting_count && b->setting_count > 0; i++)
        add_setting(&line, a->settings[i].name, a->settings[i].text, input_file_setting(b, a->settings[i].name));
    for (size_t i = 0; i < b->setting_count && a->setting_count > 0; i++)
        if (input_file_setting(a, b->settings[i].name) == NULL)
            add_setting(&line, b->settings[i].name, NULL, b->settings[i].text);
    if (line.column > 0)
        output_print(sheet->output, "\n");
}

/* For each dtype that stages were compared in. */
static void write_tolerances(const struct sheet *sheet)
{
    const struct diff *diff = sheet->diff;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        size_t stage = 0;
        while (stage < diff->count && (int)diff->stages[stage].tolerance.dtype != dtype)
            stage++;
        if (stage == diff->count)
            continue;
        output_print(sheet->output, "tolerance    |a - b| <= %.6g + %.6g |a| in %s, nmse <= %g\n",
                     diff->stages[stage].tolerance.absolute, diff->stages[stage].tolerance.relative,
                     dtype_name((enum dtype)dtype), COMPARE_LARGEST_NMSE);
    }
}

/* --- text: the stages -------------------------------------------------------------------------------------------- */

/* Columns of "1.2e-07", and no fewer than the heading has. */
static int number_width(int precision)
{
    return precision < 1 ? (int)strlen("absolute") : precision + 7;
}

static const char *error_text(const struct sheet *sheet, double error, char *text)
{
    if (error == 0 || isinf(error) || isnan(error))
        snprintf(text, CELL_NUMBER_BYTES, "%s", error == 0 ? "0" : isnan(error) ? "nan" : "inf");
    else
        snprintf(text, CELL_NUMBER_BYTES, "%.*e", sheet->precision, error);
    return text;
}

static const char *ulps_text(const struct sheet *sheet, uint64_t ulps, char *text)
{
    if (ulps >= WIDE_ULPS)
        return error_text(sheet, (double)ulps, text);
    snprintf(text, CELL_NUMBER_BYTES, "%llu", (unsigned long long)ulps);
    return text;
}

/* "0.1839849", as many digits as tell it from its neighbours in its dtype. */
static const char *number_text(double number, enum dtype dtype, char *text)
{
    if (!isfinite(number))
        snprintf(text, CELL_NUMBER_BYTES, "%s", isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
    else
        dtype_decimal(dtype, number, text);
    return text;
}

static void write_worst(const struct sheet *sheet, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    struct wrap line = {.output = sheet->output, .columns = WRAP_COLUMNS, .indent = 4};
    struct diff_step steps[TENSOR_RANK];
    char expected[CELL_NUMBER_BYTES], got[CELL_NUMBER_BYTES], token[NAME_BYTES];
    if (comparison->worst == comparison->count)
        return;
    const size_t count = diff_place(sheet->diff, stage, steps);
    for (size_t i = 0; i < count; i++) {
        text_shown(steps[i].token != NULL ? steps[i].token : "", NAME_COLUMNS, token, sizeof token);
        wrap_add(&line, "%s%s %zu%s%s%s", i ? "" : "  worst at ", steps[i].name, steps[i].position,
                 token[0] ? " (" : "", token, token[0] ? ")" : "");
    }
    wrap_add(&line, "%s instead of %s", number_text(comparison->worst_b, stage->dtype_b, got),
             number_text(comparison->worst_a, stage->dtype_a, expected));
    output_print(sheet->output, "\n");
}

/* Beneath a stage that departs: how many of its numbers, and where it is worst. */
static void write_departure(const struct sheet *sheet, const struct diff_stage *stage)
{
    const struct comparison *comparison = &stage->comparison;
    output_print(sheet->output, "  departs: %zu of %zu outside the tolerance", comparison->outside, comparison->count);
    if (comparison->unmatched > 0)
        output_print(sheet->output, ", %zu by NaN or infinity", comparison->unmatched);
    if (comparison->outside == 0)
        output_print(sheet->output, ", but nmse above %g", COMPARE_LARGEST_NMSE);
    output_print(sheet->output, "\n");
    write_worst(sheet, stage);
}

/* A's shape, and B's where it has other leading axes of size 1. */
static const char *shape_text(const struct diff_stage *stage, char *text, size_t size)
{
    char of_b[TENSOR_SHAPE_BYTES];
    tensor_shape_text(&stage->a->tensor, text);
    tensor_shape_text(&stage->b->tensor, of_b);
    if (strcmp(text, of_b) != 0)
        snprintf(text + strlen(text), size - strlen(text), " (B: %s)", of_b);
    return text;
}

static void write_stage(const struct sheet *sheet, const struct diff_stage *stage, int name_width)
{
    const struct comparison *comparison = &stage->comparison;
    const int width = number_width(sheet->precision);
    char absolute[CELL_NUMBER_BYTES], relative[CELL_NUMBER_BYTES], ulps[CELL_NUMBER_BYTES], nmse[CELL_NUMBER_BYTES],
        cosine[CELL_NUMBER_BYTES], row[256];
    char shape[2 * TENSOR_SHAPE_BYTES + 8];
    text_number(cosine, sizeof cosine, sheet->precision + 3, false, comparison->cosine);
    const int length =
        snprintf(row, sizeof row, "%-*s  %*s  %*s  %*s  %*s  %*s", name_width, stage->name, width,
                 error_text(sheet, comparison->absolute, absolute), width,
                 error_text(sheet, comparison->relative, relative), width, ulps_text(sheet, comparison->ulps, ulps),
                 width, error_text(sheet, comparison->nmse, nmse), sheet->precision + 6, cosine);
    const bool bold = sheet->color && stage->departs;
    shape_text(stage, shape, sizeof shape);
    const bool fits = (size_t)length + 2 + strlen(shape) <= WRAP_COLUMNS;
    output_print(sheet->output, "%s%s%s%s%s\n", bold ? TEXT_BOLD : "", row, fits ? "  " : "\n  ", shape,
                 bold ? TEXT_PLAIN : "");
    if (stage->departs)
        write_departure(sheet, stage);
}

static void write_text(const struct diff *diff, int precision, bool color, struct output *output)
{
    const struct sheet sheet = {diff, precision, color, output};
    const int width = number_width(precision);
    int name_width = (int)strlen("stage");
    for (size_t i = 0; i < diff->count; i++)
        if ((int)strlen(diff->stages[i].name) > name_width)
            name_width = (int)strlen(diff->stages[i].name);
    write_verdict(&sheet);
    if (diff->first < diff->count)
        write_hint(&sheet);
    output_print(output, "\n");
    write_side(&sheet, "A, expected  ", &diff->a.input);
    write_side(&sheet, "B, checked   ", &diff->b.input);
    write_settings(&sheet);
    write_tolerances(&sheet);
    write_printed(diff, output);
    write_stages(&sheet, "only in A    ", diff->only_a);
    write_stages(&sheet, "only in B    ", diff->only_b);
    output_print(output, "\n%-*s  %*s  %*s  %*s  %*s  %*s  shape\n", name_width, "stage", width, "absolute", width,
                 "relative", width, "ulps", width, "nmse", precision + 6, "cosine");
    for (size_t i = 0; i < diff->count; i++)
        write_stage(&sheet, &diff->stages[i], name_width);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

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

static void write_worst_member(const struct diff *diff, const struct diff_stage *stage, struct output *output)
{
    const struct comparison *comparison = &stage->comparison;
    struct diff_step steps[TENSOR_RANK];
    output_print(output, ",\n  \"worst\": ");
    if (comparison->worst == comparison->count) {
        output_print(output, "null");
        return;
    }
    const size_t count = diff_place(diff, stage, steps);
    for (size_t i = 0; i < count; i++) {
        output_print(output, "%s\"%s\": %zu", i ? ", " : "{", steps[i].name, steps[i].position);
        if (steps[i].token == NULL)
            continue;
        output_print(output, ", \"%s_token\": ", steps[i].name);
        write_json_string(steps[i].token, output);
    }
    write_number_member("a", comparison->worst_a, stage->dtype_a, output);
    write_number_member("b", comparison->worst_b, stage->dtype_b, output);
    output_print(output, "}");
}

/* Above 2^53 the digits are a string, since readers of JSON round larger numbers. */
static void write_ulps(uint64_t ulps, struct output *output)
{
    const char *quote = ulps > UINT64_C(1) << 53 ? "\"" : "";
    output_print(output, ", \"ulps\": %s%llu%s", quote, (unsigned long long)ulps, quote);
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
    output_print(output, "}");
}

static void write_report_json(const struct diff *diff, struct output *output)
{
    output_print(output, "{\"attn\": \"" ATTN_VERSION "\",\n");
    write_text_member("a", diff->a.input.source, output);
    output_print(output, ",\n");
    write_text_member("b", diff->b.input.source, output);
    output_print(output, ",\n\"agree\": %s,\n", diff_agrees(diff) ? "true" : "false");
    write_text_member("first", diff->first < diff->count ? diff->stages[diff->first].name : NULL, output);
    write_only_member("only_a", diff->only_a, output);
    write_only_member("only_b", diff->only_b, output);
    output_print(output, ",\n\"stages\": {");
    for (size_t i = 0; i < diff->count; i++) {
        output_print(output, "%s", i ? ",\n" : "");
        write_stage_member(diff, &diff->stages[i], output);
    }
    output_print(output, "}}\n");
}

enum status write_diff(const struct options *options, const struct diff *diff, struct output *output,
                       struct error *error)
{
    if (options->format == FORMAT_JSON)
        write_report_json(diff, output);
    else
        write_text(diff, (int)options->precision, options_want_color(options, output), output);
    if (output_close(output) != STATUS_OK || diff_agrees(diff))
        return error->status;
    return error_quietly(error, STATUS_DIFFERENT);
}
