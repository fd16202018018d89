/* SPDX-License-Identifier: MIT */
#include "write/html/page_data.h"

#include "base/text.h"
#include "base/version.h"
#include "model/stages.h"
#include "stage/operand_steps.h"
#include "stage/stage.h"
#include "write/json.h"

#include <math.h>
#include <string.h>

enum { TEXT_COLUMNS = 60, TEXT_BYTES = 512 };

/* A text as people see it, on one line of at most so many columns. */
static void write_shown(struct json *json, const char *key, const char *text, size_t columns)
{
    char shown[TEXT_BYTES];
    text_shown(text, columns, shown, sizeof shown);
    json_text(json, key, shown);
}

/* A name and such a text, as an element of a list. */
static void write_named(struct json *json, const char *name, const char *text, size_t columns)
{
    json_open(json, NULL, '[');
    json_text(json, NULL, name);
    write_shown(json, NULL, text, columns);
    json_close(json);
}

static void write_settings(struct json *json, const struct problem *problem)
{
    char mistake[MISTAKE_NAME_BYTES];
    json_open(json, "settings", '[');
    if (problem->parameters.given)
        write_named(json, "parameters from", problem->parameters.source, TEXT_COLUMNS);
    for (size_t i = 0; i < problem->record.setting_count; i++)
        if (!problem->record.settings[i].idle && strcmp(problem->record.settings[i].name, "mistake") != 0)
            write_named(json, problem->record.settings[i].name, problem->record.settings[i].text, TEXT_COLUMNS);
    for (size_t i = 0; i < problem->mistake.count; i++) /* one by one, so that none is cut */
        write_named(json, "mistake", mistake_text(problem->mistake.choices[i], mistake), TEXT_COLUMNS);
    json_close(json);
}

static void write_norms(struct json *json, const struct problem *problem)
{
    static const char *const KINDS[] = {NORM_KINDS(CHOICE_WORD)};
    static const char *const NAMES[] = {"norm",       "query_norm",   "key_norm",
                                        "value_norm", "query_a_norm", "key_value_a_norm"};
    const struct norm *norms = problem->parameters.norms;
    const struct latent *latent = &problem->parameters.latent;
    const struct norm *const all[] = {&norms[0], &norms[1],           &norms[2],
                                      &norms[3], &latent->query_norm, &latent->key_value_norm};
    json_open(json, "norms", '{');
    for (size_t id = 0; id < sizeof all / sizeof all[0]; id++) {
        const struct norm *norm = all[id];
        if (norm->kind == NORM_NONE || (id == NORM_INPUTS && !problem->given.residual))
            continue;
        json_open(json, NAMES[id], '{');
        json_text(json, "kind", KINDS[norm->kind]);
        json_real(json, "eps", norm->eps);
        json_close(json);
    }
    json_close(json);
}

static void write_table(const struct page_table *table, void *context)
{
    struct json *json = context;
    json_break(json, 2);
    json_open(json, NULL, '{');
    json_text(json, "name", table->name);
    json_truth(json, "transposed", table->transposed);
    json_sizes(json, "shape", table->shape, table->rank);
    json_close(json);
}

/* Whether the page starts at the inputs, why not, and the tables that it then computes from. */
static void write_start(struct json *json, const struct problem *problem)
{
    const char *late = page_starts_late(problem);
    json_text(json, "starts", late == NULL ? "inputs" : "operands");
    write_shown(json, "because", late == NULL ? "" : late, RESULT_FORMULA_BYTES);
    json_open(json, "tables", '[');
    if (late == NULL)
        page_tables_each(problem, write_table, json);
    json_close(json);
    write_norms(json, problem);
    json_truth(json, "stacked", problem->plan.stacked);
}

/* A list for each item that has its own, or null; labels as shown, or as given. */
static void write_labels(struct json *json, const char *key, const struct token_labels *labels, bool shown)
{
    if (labels->texts == NULL) {
        json_text(json, key, NULL);
        return;
    }
    json_open(json, key, '[');
    for (size_t list = 0; list < labels->lists; list++) {
        json_break(json, 2);
        json_open(json, NULL, '[');
        for (size_t i = list * labels->count; i < (list + 1) * labels->count; i++)
            if (shown)
                write_shown(json, NULL, labels->texts[i], TEXT_COLUMNS);
            else
                json_text(json, NULL, labels->texts[i]);
        json_close(json);
    }
    json_close(json);
}

/* The labels as given, where they differ from those shown: for a file that keeps them. */
static void write_texts(struct json *json, const char *key, const struct token_labels *labels)
{
    char shown[TEXT_BYTES];
    bool same = true;
    for (size_t i = 0; i < labels->lists * labels->count && labels->texts != NULL && same; i++) {
        text_shown(labels->texts[i], TEXT_COLUMNS, shown, sizeof shown);
        same = strcmp(shown, labels->texts[i]) == 0;
    }
    if (same)
        json_text(json, key, NULL);
    else
        write_labels(json, key, labels, false);
}

/* The labels of the keys; of the queries where they are other tokens. */
static void write_tokens(struct json *json, const struct problem *problem)
{
    json_text(json, "comment", problem->labels.comment);
    if (problem->labels.words.texts != NULL) {
        write_texts(json, "word_texts", &problem->labels.words);
        write_labels(json, "words", &problem->labels.words, true);
    }
    write_labels(json, "head_names", &problem->labels.heads, true);
    write_texts(json, "token_texts", &problem->labels.keys);
    if (problem->labels.queries_differ)
        write_texts(json, "query_texts", &problem->labels.queries);
    write_labels(json, "tokens", &problem->labels.keys, true);
    if (problem->labels.queries_differ)
        write_labels(json, "query_tokens", &problem->labels.queries, true);
}

/* The stages on the page, with formulas; query, key and value are always there. */
static void write_stages(struct json *json, const struct result *result)
{
    json_open(json, "stages", '[');
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (!STAGES[table->stage].on_page)
            continue;
        json_break(json, 2);
        write_named(json, table->name, table->formula, RESULT_FORMULA_BYTES);
    }
    json_close(json);
}

/* The stages that query or key is computed from, with formulas; the input of its last step; its scale. */
static void write_way(struct json *json, const struct problem *problem, enum projection_id id)
{
    const uint64_t stages = stage_closure(STAGE_BIT(projection_stage(id)));
    char formula[RESULT_FORMULA_BYTES];
    json_open(json, stage_name(projection_stage(id)), '{');
    json_open(json, "made", '[');
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const bool before = stage_is_of_inputs(stage) && stage != STAGE_NORMED;
        if ((stages & STAGE_BIT(stage)) == 0 || !stage_applies(problem, stage) || STAGES[stage].operand || before)
            continue;
        stage_formula(problem, stage, formula, sizeof formula);
        write_named(json, stage_name(stage), formula, sizeof formula);
    }
    json_close(json);
    json_text(json, "from",
              operand_has_last_step(problem, id) ? stage_name(operand_before_last_step(problem, id)) : NULL);
    json_line(json, 0);
    json_real(json, "scale", operand_is_scaled(problem, id) ? problem->scaling.query_factor : 1);
    json_close(json);
}

/* How query and key are computed, where by more than a projection; and the rotated pairs of columns: where the two
 * numbers are read, where they are written, their frequency and axis; and with several axes the time, height and width
 * that a position is. */
static void write_ways(struct json *json, const struct problem *problem)
{
    const struct rope *rope = &problem->rotation.rope;
    const size_t tokens = problem->size.keys - problem->rotation.past;
    json_open(json, "ways", '{');
    for (enum projection_id i = 0; i < PROJECTION_COUNT; i++)
        if (operand_has_steps(problem, i)) {
            json_break(json, 2);
            write_way(json, problem, i);
        }
    json_close(json);
    json_open(json, "pairs", '[');
    for (size_t pair = 0; pair < rope->columns / 2; pair++) {
        const struct rope_pair at = rope_pair(rope, pair);
        json_open(json, NULL, '[');
        for (size_t i = 0; i < 4; i++)
            json_size(json, NULL, i < 2 ? at.from[i] : at.to[i - 2]);
        json_real(json, NULL, rope->frequencies[pair]);
        json_size(json, NULL, rope_axis(&rope->axes, rope->columns / 2, pair).axis);
        json_close(json);
    }
    json_close(json);
    json_open(json, "coordinates", '[');
    for (size_t i = 0; rope->coordinates != NULL && i < tokens * ROPE_AXES; i++)
        json_real(json, NULL, rope->coordinates[i]);
    json_close(json);
}

/* The rotary position of each row of query or key, (B, S) or (B, Tk), from 0, where they are rotated; -1: the
 * row is not rotated, or, a key of the past, not again. */
static void write_rotary_positions(struct json *json, const struct problem *problem, enum projection_id id)
{
    const size_t rows = id == PROJECTION_QUERY ? problem->chosen.row_count : problem->size.keys;
    if (!operand_is_rotated(problem, id))
        return;
    json_open(json, id == PROJECTION_QUERY ? "query_positions" : "key_positions", '[');
    for (size_t i = 0; i < problem->size.items * rows; i++) {
        const size_t row = id == PROJECTION_QUERY ? problem->chosen.rows[i % rows] : i % rows;
        const size_t position = operand_position(problem, id, i / rows, row);
        json_real(json, NULL, position == SIZE_MAX ? -1 : (double)position);
    }
    json_close(json);
}

static void write_sizes(struct json *json, const struct problem *problem)
{
    json_size(json, "items", problem->size.items);
    json_size(json, "heads", problem->size.heads);
    json_size(json, "head", problem->chosen.head > 0 ? problem->chosen.head - 1 : 0);
    json_size(json, "key_heads", problem->size.kv_heads);
    json_size(json, "queries", problem->size.queries);
    json_size(json, "keys", problem->size.keys);
    json_size(json, "d_head", problem->size.d_head);
    json_size(json, "d_value", problem->size.d_value);
    json_truth(json, "has_batch", problem->size.has_batch);
    json_truth(json, "has_heads", problem->size.has_heads);
    json_truth(json, "labelled_queries", problem->labels.first_query != SIZE_MAX);
    json_size(json, "first_query", problem->labels.first_query != SIZE_MAX ? problem->labels.first_query : 0);
}

/* T5's table, (buckets, H), and the bucket of each distance of key and query from -far to far; those beyond have the
 * bucket of the end. */
static void write_relative(struct json *json, const struct mask *mask)
{
    const double widest = fmin((double)mask->relative_distance, (double)(mask->queries + mask->keys));
    const long long far = (long long)widest + 1;
    if (mask->relative == NULL) {
        json_text(json, "relative", NULL);
        return;
    }
    json_open(json, "relative", '{');
    json_size(json, "far", (size_t)far);
    json_open(json, "buckets", '[');
    for (long long distance = -far; distance <= far; distance++)
        json_size(json, NULL, mask_bucket(mask, distance));
    json_close(json);
    json_line(json, 0);
    json_reals(json, "table", mask->relative, mask->buckets * mask->heads);
    json_close(json);
}

/* The ALiBi penalty of each key of a head, (H, Tk), where it is not slope x distance. */
static void write_penalties(struct json *json, const struct problem *problem)
{
    const struct mask *mask = &problem->mask;
    const struct mask slopes = {.keys = mask->keys, .alibi_slopes = mask->alibi_slopes, .places = mask->places};
    double bias;
    if (mask->alibi_slopes == NULL || mask->places.from == MASK_FROM_QUERY)
        return;
    json_open(json, "alibi_penalties", '[');
    for (size_t i = 0; i < problem->size.heads * problem->size.keys; i++) {
        mask_bias(&slopes, 0, i / problem->size.keys, 0, i % problem->size.keys, 1, &bias);
        json_real(json, NULL, -bias);
    }
    json_close(json);
}

static void write_attn_mask(struct json *json, const struct mask *mask)
{
    if (mask->attn_mask.rank == 0) {
        json_text(json, "attn_mask", NULL);
        return;
    }
    json_open(json, "attn_mask", '{');
    json_sizes(json, "strides", mask->strides, 4);
    json_truth(json, "adds", !dtype_is_boolean(mask->attn_mask.dtype));
    json_close(json);
}

static void write_mask(struct json *json, const struct problem *problem)
{
    static const char *const EMPTY_ROW_WORDS[] = {EMPTY_ROWS(CHOICE_WORD)};
    const struct mask *mask = &problem->mask;
    json_truth(json, "masks", problem->masks);
    json_truth(json, "causal", mask->causal);
    json_real(json, "left", (double)mask->left);
    json_real(json, "right", (double)mask->right);
    json_open(json, "offsets", '[');
    for (size_t item = 0; item < problem->size.items; item++)
        json_real(json, NULL, (double)mask_offset(mask, item, 0));
    json_close(json);
    json_truth(json, "has_lengths", mask->lengths != NULL);
    json_size(json, "past", problem->rotation.past);
    json_size(json, "masked_keys", mask->masked_keys);
    write_attn_mask(json, mask);
    json_reals(json, "alibi_slopes", mask->alibi_slopes, problem->size.heads);
    write_penalties(json, problem);
    json_reals(json, "sinks", mask->sinks, problem->size.heads);
    write_relative(json, mask);
    json_text(json, "empty_row", EMPTY_ROW_WORDS[mask->empty_row]);
}

/* The dtype of masked scores: one with infinity. */
static enum dtype masked_dtype(const struct problem *problem)
{
    return dtype_has_infinity(problem->rounding.dtype) ? problem->rounding.dtype
                                                       : problem_stage_dtype(problem, STAGE_MASKED);
}

static void write_dtypes(struct json *json, const struct problem *problem)
{
    const enum dtype dtypes[] = {problem->rounding.dtype, problem->rounding.softmax_dtype, masked_dtype(problem)};
    json_open(json, "dtypes", '{');
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if ((i > 0 && dtypes[i] == dtypes[0]) || (i > 1 && dtypes[i] == dtypes[1]))
            continue;
        json_break(json, 2);
        json_open(json, dtype_name(dtypes[i]), '{');
        json_text(json, "storage", dtype_name(dtype_storage(dtypes[i])));
        json_size(json, "bits", (size_t)dtype_precision(dtypes[i]));
        json_real(json, "smallest", dtype_smallest(dtypes[i]));
        json_real(json, "largest", dtype_largest(dtypes[i]));
        json_truth(json, "infinite", dtype_has_infinity(dtypes[i]));
        json_close(json);
    }
    json_close(json);
}

/* The position of dropout's generator, whose words are among the numbers; null where there is no dropout, or the
 * page gets what it keeps. */
static void write_draws(struct json *json, const struct problem *problem)
{
    static const char *const BUILDS[] = {TORCH_RANDOM_BUILDS(CHOICE_WORD)};
    if (!page_draws(problem)) {
        json_text(json, "draws", NULL);
        return;
    }
    json_open(json, "draws", '{');
    json_size(json, "next", problem->drop.generator.next);
    json_text(json, "build", BUILDS[problem->drop.generator.build]);
    json_close(json);
}

/* --grad: whether the page holds the gradient with respect to its last stage, or that is ones; whether it has the heads
 * side by side; else null. */
static void write_loss(struct json *json, const struct problem *problem)
{
    if (!problem->loss.is_given) {
        json_text(json, "loss", NULL);
        return;
    }
    json_open(json, "loss", '{');
    json_truth(json, "given", problem->loss.gradient.rank > 0 || page_ends_early(problem));
    json_truth(json, "side_by_side", problem_is_side_by_side(problem, STAGE_GRAD_CONTEXT));
    json_close(json);
}

static struct json open_script(const char *id, struct output *output)
{
    struct json json = {.output = output, .lines = true, .script = true};
    output_print(output, "<script type=\"application/json\" id=\"data-%s\">\n", id);
    json_open(&json, NULL, '{');
    return json;
}

static void close_script(struct json *json)
{
    json_end(json);
    output_print(json->output, "</script>\n");
}

void page_write_job(const struct result *result, int precision, struct output *output)
{
    const struct problem *problem = result->problem;
    struct json json = open_script("job", output);
    json_text(&json, "attn", ATTN_VERSION);
    json_text(&json, "title", MECHANISMS[problem->mechanism].title);
    json_text(&json, "mechanism", MECHANISMS[problem->mechanism].name);
    json_truth(&json, "splits", MECHANISMS[problem->mechanism].splits);
    write_settings(&json, problem);
    write_json_settings(&json, "given", problem);
    write_start(&json, problem);
    json_size(&json, "precision", (size_t)precision);
    write_sizes(&json, problem);
    json_text(&json, "dtype", dtype_name(problem->rounding.dtype));
    json_text(&json, "softmax_dtype", dtype_name(problem->rounding.softmax_dtype));
    if (masked_dtype(problem) != problem->rounding.dtype)
        json_text(&json, "masked_dtype", dtype_name(masked_dtype(problem)));
    write_dtypes(&json, problem);
    json_real(&json, "scale", problem->scaling.factor);
    json_truth(&json, "scales_query", problem->scaling.on_query);
    json_real(&json, "query_scale", problem->scaling.query_factor);
    json_text(&json, "rope_dtype", dtype_name(problem->rotation.rope.in_double ? DTYPE_F64 : DTYPE_F32));
    json_real(&json, "rope_attention", problem->rotation.rope.attention);
    json_real(&json, "temperature", problem->scaling.temperature);
    json_real(&json, "softcap", problem->scaling.softcap);
    json_real(&json, "clip", problem->given.clip);
    json_real(&json, "dropout", problem->drop.share);
    write_draws(&json, problem);
    write_loss(&json, problem);
    write_mask(&json, problem);
    write_stages(&json, result);
    write_ways(&json, problem);
    write_rotary_positions(&json, problem, PROJECTION_QUERY);
    write_rotary_positions(&json, problem, PROJECTION_KEY);
    if (problem->mistake.recipe != NULL) /* the stages that mistakes compute differently than the page would */
        write_json_stages(&json, "wrong", problem->mistake.wrong);
    else
        json_text(&json, "wrong", NULL);
    json_truth(&json, "mask_made", problem->mistake.mask_made);
    json_sizes(&json, "positions", problem->chosen.rows, problem->chosen.row_count);
    write_tokens(&json, problem);
    close_script(&json);
    json = open_script("mistakes", output); /* all of them: the page knows which it can make */
    for (enum mistake id = 0; id < MISTAKE_COUNT; id++)
        json_text(&json, MISTAKES[id].name, MISTAKES[id].sentence);
    close_script(&json);
}
