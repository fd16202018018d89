#include "write/html/page_data.h"

#include "base/decimal.h"
#include "base/text.h"
#include "base/version.h"
#include "model/stages.h"
#include "stage/operand_steps.h"
#include "stage/stage.h"
#include "write/html/page_json.h"

#include <math.h>
#include <string.h>

enum { TEXT_COLUMNS = 60, TEXT_BYTES = 512 };

static void write_setting(const char *name, const char *text, bool first, struct output *output)
{
    page_named(name, text, TEXT_COLUMNS, first, output);
}

static void write_settings(const struct problem *problem, struct output *output)
{
    bool first = !problem->parameters.given;
    char mistake[MISTAKE_NAME_BYTES];
    page_key("settings", output);
    output_print(output, "[");
    if (problem->parameters.given)
        write_setting("parameters from", problem->parameters.source, true, output);
    for (size_t i = 0; i < problem->setting_count; i++) {
        if (problem->settings[i].idle || strcmp(problem->settings[i].name, "mistake") == 0)
            continue;
        write_setting(problem->settings[i].name, problem->settings[i].text, first, output);
        first = false;
    }
    for (size_t i = 0; i < problem->mistake_count; i++) { /* one by one, so that none is cut */
        write_setting("mistake", mistake_text(problem->mistakes[i], mistake), first, output);
        first = false;
    }
    output_print(output, "]");
}

/* The settings as a result has them, for a file that gives the same numbers. */
static void write_given(const struct problem *problem, struct output *output)
{
    page_key("given", output);
    for (size_t i = 0; i < problem->setting_count; i++) {
        const struct setting *setting = &problem->settings[i];
        output_print(output, "%s\"%s\": ", i ? ", " : "{", setting->name);
        if (setting->kind == SETTING_TEXT)
            page_text(setting->text, output);
        else
            output_print(output, "%s", setting->text);
    }
    output_print(output, "}");
}

/* The norms that there are, by name: kind and eps. */
static void write_norms(const struct problem *problem, struct output *output)
{
    static const char *const KINDS[] = {NORM_KINDS(CHOICE_WORD)};
    char eps[DECIMAL_BYTES];
    bool first = true;
    page_key("norms", output);
    for (int id = 0; id < NORM_COUNT; id++) {
        const struct norm *norm = &problem->parameters.norms[id];
        if (norm->kind == NORM_NONE || (id == NORM_INPUTS && !problem->residual))
            continue;
        decimal_from_double(norm->eps, eps);
        output_print(output, "%s\"%s\": {\"kind\": \"%s\", \"eps\": %s}", first ? "{" : ", ",
                     page_norm_name((enum norm_id)id), KINDS[norm->kind], eps);
        first = false;
    }
    output_print(output, first ? "{}" : "}");
}

struct table_list {
    struct output *output;
    size_t count;
};

static void write_table(const struct page_table *table, void *context)
{
    struct table_list *list = context;
    output_print(list->output, "%s{\"name\": \"%s\", \"transposed\": %s, \"shape\": [", list->count++ ? ",\n  " : "[",
                 table->name, table->transposed ? "true" : "false");
    for (size_t axis = 0; axis < table->rank; axis++)
        output_print(list->output, "%s%zu", axis ? ", " : "", table->shape[axis]);
    output_print(list->output, "]}");
}

/* Whether the page starts at the inputs, why not, and the tables that it then computes from. */
static void write_start(const struct problem *problem, struct output *output)
{
    const char *late = page_starts_late(problem);
    struct table_list list = {output, 0};
    page_key("starts", output);
    output_print(output, late == NULL ? "\"inputs\"" : "\"operands\"");
    page_key("because", output);
    page_string(late == NULL ? "" : late, RESULT_FORMULA_BYTES, output);
    page_key("tables", output);
    if (late == NULL)
        page_tables_each(problem, write_table, &list);
    output_print(output, list.count > 0 ? "]" : "[]");
    write_norms(problem, output);
    page_truth("stacked", problem->plan.stacked, output);
}

/* A list for each item that has its own, or null. */
static void write_labels(const char *key, const struct token_labels *labels, struct output *output)
{
    page_key(key, output);
    output_print(output, "%s", labels->texts == NULL ? "null" : "[");
    for (size_t list = 0; list < labels->lists && labels->texts != NULL; list++) {
        for (size_t token = 0; token < labels->count; token++) {
            output_print(output, "%s", token ? ", " : list ? ",\n  [" : "[");
            page_string(labels->texts[list * labels->count + token], TEXT_COLUMNS, output);
        }
        output_print(output, "]");
    }
    output_print(output, "%s", labels->texts == NULL ? "" : "]");
}

/* The labels as the input has them, where a person is shown others: for a file that keeps them. */
static void write_texts(const char *key, const struct token_labels *labels, struct output *output)
{
    char shown[TEXT_BYTES];
    bool same = true;
    for (size_t i = 0; i < labels->lists * labels->count && labels->texts != NULL && same; i++) {
        text_shown(labels->texts[i], TEXT_COLUMNS, shown, sizeof shown);
        same = strcmp(shown, labels->texts[i]) == 0;
    }
    page_key(key, output);
    output_print(output, same ? "null" : "[");
    for (size_t i = 0; i < labels->lists * labels->count && !same; i++) {
        output_print(output, "%s", i % labels->count > 0 ? ", " : i > 0 ? "],\n  [" : "[");
        page_text(labels->texts[i], output);
    }
    output_print(output, same ? "" : "]]");
}

/* Of the keys; of the queries where they are not the keys' tokens. */
static void write_tokens(const struct problem *problem, struct output *output)
{
    write_texts("token_texts", &problem->labels, output);
    if (problem->apart)
        write_texts("query_texts", &problem->query_labels, output);
    write_labels("tokens", &problem->labels, output);
    if (problem->apart)
        write_labels("query_tokens", &problem->query_labels, output);
}

/* What the page shows, with formulas; query, key and value are always there. */
static void write_stages(const struct result *result, struct output *output)
{
    page_key("stages", output);
    for (size_t i = 0, first = 1; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (!STAGES[table->stage].on_page)
            continue;
        output_print(output, "%s[\"%s\", ", first ? "[" : ",\n  ", table->name);
        page_string(table->formula, RESULT_FORMULA_BYTES, output);
        output_print(output, "]");
        first = 0;
    }
    output_print(output, "]");
}

/* What query or key is made of on its way, with formulas; what its last step begins with; which columns are turned. */
static void write_way(const struct problem *problem, enum projection_id id, struct output *output)
{
    const uint64_t stages = stage_closure(STAGE_BIT(projection_stage(id)));
    char formula[RESULT_FORMULA_BYTES];
    bool first = true;
    output_print(output, "{\"made\": [");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        if ((stages & STAGE_BIT(stage)) == 0 || !stage_applies(problem, (enum stage)stage) || STAGES[stage].operand)
            continue;
        stage_formula(problem, (enum stage)stage, formula, sizeof formula);
        page_named(stage_name((enum stage)stage), formula, sizeof formula, first, output);
        first = false;
    }
    output_print(output, "], \"from\": ");
    output_print(output, operand_has_last_step(problem, id) ? "\"%s\"" : "null",
                 stage_name(operand_before_last_step(problem, id)));
    page_real("scale", operand_is_scaled(problem, id) ? problem->query_scale : 1, output);
    output_print(output, "}");
}

/* The ways of query and key that are more than a projection; and the pairs of columns that are turned: where the two
 * numbers are read, and where they are written. */
static void write_ways(const struct problem *problem, struct output *output)
{
    bool first = true;
    page_key("ways", output);
    for (int i = 0; i < PROJECTION_COUNT; i++)
        if (operand_has_steps(problem, (enum projection_id)i)) {
            output_print(output, "%s\"%s\": ", first ? "{" : ",\n  ",
                         stage_name(projection_stage((enum projection_id)i)));
            write_way(problem, (enum projection_id)i, output);
            first = false;
        }
    output_print(output, first ? "{}" : "}");
    page_key("pairs", output);
    for (size_t pair = 0; pair < problem->rope.columns / 2; pair++) {
        const struct rope_pair at = rope_pair(&problem->rope, pair);
        char frequency[DECIMAL_BYTES];
        decimal_from_double(problem->rope.frequencies[pair], frequency);
        output_print(output, "%s[%zu, %zu, %zu, %zu, %s]", pair ? ", " : "[", at.from[0], at.from[1], at.to[0],
                     at.to[1], frequency);
    }
    output_print(output, problem->rope.columns == 0 ? "[]" : "]");
}

/* The rotary position of each row of query or key, (B, S) or (B, Tk), from 0, where they are turned; -1: a key of a
 * past, as it is. */
static void write_turned(const struct problem *problem, enum projection_id id, struct output *output)
{
    const size_t rows = id == PROJECTION_QUERY ? problem->row_count : problem->keys;
    if (!operand_is_turned(problem, id))
        return;
    page_key(id == PROJECTION_QUERY ? "query_positions" : "key_positions", output);
    for (size_t i = 0; i < problem->items * rows; i++) {
        const size_t row = id == PROJECTION_QUERY ? problem->rows[i % rows] : i % rows;
        const size_t position = operand_position(problem, id, i / rows, row);
        output_print(output, i ? ", " : "[");
        output_print(output, position == SIZE_MAX ? "-1" : "%zu", position);
    }
    output_print(output, "]");
}

/* The stages that mistakes make otherwise than the page would; null where it computes all of them. */
static void write_wrong(const struct problem *problem, struct output *output)
{
    bool first = true;
    page_key("wrong", output);
    output_print(output, problem->recipe == NULL ? "null" : "[");
    for (int stage = 0; stage < STAGE_COUNT && problem->recipe != NULL; stage++)
        if (problem->wrong & STAGE_BIT(stage)) {
            output_print(output, "%s\"%s\"", first ? "" : ", ", stage_name((enum stage)stage));
            first = false;
        }
    output_print(output, problem->recipe == NULL ? "" : "]");
}

/* The positions of the queries asked for, from 0. */
static void write_positions(const struct problem *problem, struct output *output)
{
    page_key("positions", output);
    for (size_t row = 0; row < problem->row_count; row++)
        output_print(output, "%s%zu", row ? ", " : "[", problem->rows[row]);
    output_print(output, "]");
}

static void write_sizes(const struct problem *problem, struct output *output)
{
    page_size("items", problem->items, output);
    page_size("heads", problem->heads, output);
    page_size("key_heads", problem->kv_heads, output);
    page_size("queries", problem->queries, output);
    page_size("keys", problem->keys, output);
    page_size("d_head", problem->d_head, output);
    page_size("d_value", problem->d_value, output);
    page_truth("has_batch", problem->has_batch, output);
    page_truth("has_heads", problem->has_heads, output);
    page_truth("labelled_queries", problem->first_query != SIZE_MAX, output);
    page_size("first_query", problem->first_query != SIZE_MAX ? problem->first_query : 0, output);
}

/* T5's table, (buckets, H), and the bucket of each distance of key and query from -far to far; those beyond have that
 * of the end. */
static void write_relative(const struct mask *mask, struct output *output)
{
    const double widest = fmin((double)mask->relative_distance, (double)(mask->queries + mask->keys));
    const long long far = (long long)widest + 1;
    page_key("relative", output);
    output_print(output, mask->relative == NULL ? "null" : "{\"far\": %lld, \"buckets\": ", far);
    for (long long distance = -far; distance <= far && mask->relative != NULL; distance++)
        output_print(output, "%s%zu", distance > -far ? ", " : "[", mask_bucket(mask, distance));
    if (mask->relative == NULL)
        return;
    output_print(output, "]");
    page_list("table", mask->relative, mask->buckets * mask->heads, output);
    output_print(output, "}");
}

/* What ALiBi takes from a key of a head, (H, Tk), where that is no slope x distance. */
static void write_penalties(const struct problem *problem, struct output *output)
{
    const struct mask *mask = &problem->mask;
    const struct mask slopes = {.keys = mask->keys, .alibi_slopes = mask->alibi_slopes, .places = mask->places};
    double bias;
    if (mask->alibi_slopes == NULL || mask->places.from == MASK_FROM_QUERY)
        return;
    page_key("alibi_penalties", output);
    for (size_t i = 0; i < problem->heads * problem->keys; i++) {
        char text[DECIMAL_BYTES];
        mask_bias(&slopes, 0, i / problem->keys, 0, i % problem->keys, 1, &bias);
        decimal_from_double(-bias, text);
        output_print(output, "%s%s", i > 0 ? ", " : "[", text);
    }
    output_print(output, "]");
}

static void write_mask(const struct problem *problem, struct output *output)
{
    static const char *const EMPTY_ROW_WORDS[] = {EMPTY_ROWS(CHOICE_WORD)};
    const struct mask *mask = &problem->mask;
    page_truth("masks", problem->masks, output);
    page_truth("causal", mask->causal, output);
    page_real("left", (double)mask->left, output);
    page_real("right", (double)mask->right, output);
    page_key("offsets", output);
    for (size_t item = 0; item < problem->items; item++)
        output_print(output, "%s%lld", item ? ", " : "[", (long long)mask_offset(mask, item, 0));
    output_print(output, "]");
    page_truth("has_lengths", mask->lengths != NULL, output);
    page_size("past", problem->past, output);
    page_size("masked_keys", mask->masked_keys, output);
    page_key("attn_mask", output);
    if (mask->attn_mask.rank > 0)
        output_print(output, "{\"strides\": [%zu, %zu, %zu, %zu], \"adds\": %s}", mask->strides[0], mask->strides[1],
                     mask->strides[2], mask->strides[3], !dtype_is_boolean(mask->attn_mask.dtype) ? "true" : "false");
    else
        output_print(output, "null");
    page_list("alibi_slopes", mask->alibi_slopes, problem->heads, output);
    write_penalties(problem, output);
    page_list("sinks", mask->sinks, problem->heads, output);
    write_relative(mask, output);
    page_key("empty_row", output);
    output_print(output, "\"%s\"", EMPTY_ROW_WORDS[mask->empty_row]);
}

/* To what masked scores are rounded: infinity is among them. */
static enum dtype masked_dtype(const struct problem *problem)
{
    return dtype_has_infinity(problem->dtype) ? problem->dtype : problem_stage_dtype(problem, STAGE_MASKED);
}

/* What the page rounds by: the facts of its dtypes. */
static void write_dtypes(const struct problem *problem, struct output *output)
{
    const enum dtype dtypes[] = {problem->dtype, problem->softmax_dtype, masked_dtype(problem)};
    char smallest[DECIMAL_BYTES], largest[DECIMAL_BYTES];
    page_key("dtypes", output);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if ((i > 0 && dtypes[i] == dtypes[0]) || (i > 1 && dtypes[i] == dtypes[1]))
            continue;
        decimal_from_double(dtype_smallest(dtypes[i]), smallest);
        decimal_from_double(dtype_largest(dtypes[i]), largest);
        output_print(output, "%s\"%s\": {\"storage\": \"%s\", \"bits\": %d, ", i ? ",\n  " : "{", dtype_name(dtypes[i]),
                     dtype_name(dtype_storage(dtypes[i])), dtype_precision(dtypes[i]));
        output_print(output, "\"smallest\": %s, \"largest\": %s, \"infinite\": %s}", smallest, largest,
                     dtype_has_infinity(dtypes[i]) ? "true" : "false");
    }
    output_print(output, "}");
}

/* Where dropout's generator stands, whose words are among the numbers; null where there is none, or the page has what
 * is kept in its place. */
static void write_draws(const struct problem *problem, struct output *output)
{
    static const char *const BUILDS[] = {TORCH_RANDOM_BUILDS(CHOICE_WORD)};
    page_key("draws", output);
    if (page_draws(problem))
        output_print(output, "{\"next\": %u, \"build\": \"%s\"}", problem->generator.next,
                     BUILDS[problem->generator.build]);
    else
        output_print(output, "null");
}

/* The sentences of all mistakes; which of them the page can make is its own to know. */
static void write_mistakes(struct output *output)
{
    output_print(output, "<script type=\"application/json\" id=\"data-mistakes\">\n");
    for (int id = 0; id < MISTAKE_COUNT; id++) {
        output_print(output, "%s\"%s\": ", id ? ",\n" : "{", MISTAKES[id].name);
        page_text(MISTAKES[id].sentence, output);
    }
    output_print(output, "}\n</script>\n");
}

void page_write_job(const struct result *result, int precision, struct output *output)
{
    const struct problem *problem = result->problem;
    output_print(output, "<script type=\"application/json\" id=\"data-job\">\n{\"attn\": \"" ATTN_VERSION "\"");
    page_key("title", output);
    output_print(output, "\"%s\"", MECHANISMS[problem->mechanism].title);
    page_key("mechanism", output);
    output_print(output, "\"%s\"", MECHANISMS[problem->mechanism].name);
    write_settings(problem, output);
    write_given(problem, output);
    write_start(problem, output);
    page_size("precision", (size_t)precision, output);
    write_sizes(problem, output);
    page_key("dtype", output);
    output_print(output, "\"%s\"", dtype_name(problem->dtype));
    page_key("softmax_dtype", output);
    output_print(output, "\"%s\"", dtype_name(problem->softmax_dtype));
    if (masked_dtype(problem) != problem->dtype) {
        page_key("masked_dtype", output);
        output_print(output, "\"%s\"", dtype_name(masked_dtype(problem)));
    }
    write_dtypes(problem, output);
    page_real("scale", problem->scale, output);
    page_truth("scales_query", problem->scales_query, output);
    page_real("query_scale", problem->query_scale, output);
    page_key("rope_dtype", output);
    output_print(output, "\"%s\"", dtype_name(problem->rope.in_double ? DTYPE_F64 : DTYPE_F32));
    page_real("rope_attention", problem->rope.attention, output);
    page_real("temperature", problem->temperature, output);
    page_real("softcap", problem->softcap, output);
    page_real("clip", problem->clip, output);
    page_real("dropout", problem->dropout, output);
    write_draws(problem, output);
    write_mask(problem, output);
    write_stages(result, output);
    write_ways(problem, output);
    write_turned(problem, PROJECTION_QUERY, output);
    write_turned(problem, PROJECTION_KEY, output);
    write_wrong(problem, output);
    page_truth("mask_made", problem->mask_made, output);
    write_positions(problem, output);
    write_tokens(problem, output);
    output_print(output, "}\n</script>\n");
    write_mistakes(output);
}
