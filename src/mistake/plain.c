/* SPDX-License-Identifier: MIT */
#include "mistake/plain.h"

#include "model/stages.h"
#include "stage/head.h"

#include <math.h>
#include <string.h>

size_t plain_count(const struct problem *problem, enum stage stage, size_t row_count)
{
    const size_t matrices = problem->size.items * (STAGES[stage].joins_heads ? 1 : problem->size.heads);
    return matrices * row_count * problem_columns_of_head(problem, stage);
}

const size_t *plain_rows(const struct recipe *recipe, const size_t *rows, size_t *count, struct arena *arena,
                         struct error *error)
{
    if (!recipe->across)
        return rows;
    *count = recipe->problem.size.queries;
    size_t *all = arena_allocate(arena, *count, sizeof *all, error);
    for (size_t i = 0; i < *count && all != NULL; i++)
        all[i] = i;
    return all;
}

double plain_bytes(const struct problem *problem, size_t row_count)
{
    double numbers = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT && !STAGES[stage].backward; stage++)
        if (stage_is_of_words(stage) ? problem->size.words > 0 : !stage_is_of_inputs(stage) || stage == STAGE_NORMED)
            numbers += (double)problem->size.items * (double)problem->size.heads * (double)row_count *
                       (double)problem_columns_of_head(problem, stage);
    return 2 * sizeof(double) * numbers;
}

/* The index of a query head's first key, or value, among those of all items and heads. */
static size_t first_key(const struct plain *plain, enum projection_id id, size_t item, size_t head)
{
    const struct problem *problem = plain->problem;
    const size_t group = problem->size.heads / problem->size.kv_heads;
    const enum recipe_groups groups = plain->recipe->groups[id];
    const size_t kv_head = groups == RECIPE_GROUPS_TILED   ? head % problem->size.kv_heads
                           : groups == RECIPE_GROUPS_FIRST ? 0
                                                           : head / group;
    return (item * problem->size.kv_heads + kv_head) * problem->size.keys;
}

/* An extra logit of a head's softmax, or NULL: its sink, and keys of zeros, whose `count` terms of exp(0) are a logit
 * of log(count). */
static const double *sink_of(const struct plain *plain, size_t head, double *room)
{
    const double *sinks = plain->problem->mask.sinks, padding = plain->recipe->padding;
    if (padding == 0)
        return sinks != NULL ? sinks + head : NULL;
    *room = log(padding + (sinks != NULL ? exp(sinks[head]) : 0));
    return room;
}

/* --- inputs of rows ---------------------------------------------------------------------------------------------- */

static enum status load_biases(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t rows = problem->size.items * problem->size.heads * plain->row_count, keys = problem->size.keys;
    plain->bias = arena_allocate(plain->arena, rows, keys * sizeof *plain->bias, plain->error);
    plain->empty = arena_allocate(plain->arena, rows, sizeof *plain->empty, plain->error);
    for (size_t index = 0; index < rows && plain->bias != NULL && plain->empty != NULL; index++)
        plain->empty[index] = mask_row(&problem->mask, index / plain->row_count / problem->size.heads,
                                       index / plain->row_count % problem->size.heads,
                                       plain->rows[index % plain->row_count], plain->bias + index * keys);
    return plain->error->status;
}

/* Draws dropout for every row, in order, and stores that of the computed rows. */
static enum status draw_kept(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const size_t matrices = problem->size.items * problem->size.heads, keys = problem->size.keys;
    struct torch_random generator = problem->drop.generator;
    bool *kept = arena_allocate(plain->arena, keys, sizeof *kept, plain->error);
    plain->kept = arena_allocate(plain->arena, matrices * plain->row_count, keys * sizeof *plain->kept, plain->error);
    for (size_t i = 0; i < matrices && kept != NULL && plain->kept != NULL; i++) {
        const bool stacked = problem->plan.stacked; /* one call per head */
        const size_t matrix = stacked ? i % problem->size.items * problem->size.heads + i / problem->size.items : i;
        if (i == 0 || (stacked && i % problem->size.items == 0))
            torch_random_dropout_begin(&generator);
        for (size_t query = 0, row = 0; query < problem->size.queries; query++) {
            torch_random_dropout(&generator, problem->drop.share, kept, keys);
            if (row < plain->row_count && plain->rows[row] == query)
                memcpy(plain->kept + (matrix * plain->row_count + row++) * keys, kept, keys * sizeof *kept);
        }
    }
    return plain->error->status;
}

/* --- a stage, all rows of it ------------------------------------------------------------------------------------- */

/* The inputs of its rows, for the equations of stage/. */
struct maker {
    struct plain *plain;
    struct tensor query, key, value; /* as used */
    struct head head;
    double *query_row, *pairs, *cast, *weights_column;
    double *scores;               /* source of weights, in place of masked; or NULL */
    enum stage held[STAGE_COUNT]; /* (held_count) the stages that plain->stages has, */
    size_t held_count, columns[STAGE_COUNT];
    double *row[STAGE_COUNT]; /* the row's numbers of each stage; NULL: not held */
};

/* Makes a row of a column of its head's weights. */
static void take_weights_column(const struct maker *maker, size_t index)
{
    const struct plain *plain = maker->plain;
    const size_t keys = plain->problem->size.keys, rows = plain->row_count, column = index % rows;
    const double *dropped = plain->stages[STAGE_DROPPED] + index / rows * rows * keys;
    for (size_t j = 0; j < keys; j++)
        maker->weights_column[j] = dropped[j * keys + column];
}

static void make_row(struct maker *maker, enum stage stage, size_t index)
{
    const struct plain *plain = maker->plain;
    const struct problem *problem = plain->problem;
    const struct recipe *recipe = plain->recipe;
    const size_t matrix = index / plain->row_count, head = matrix % problem->size.heads, d = problem->size.d_head;
    const size_t query = plain->rows[index % plain->row_count], keys = problem->size.keys;
    double **stages = maker->row, room;
    for (size_t i = 0; i < maker->held_count; i++)
        stages[maker->held[i]] = plain->stages[maker->held[i]] + index * maker->columns[maker->held[i]];
    stages[STAGE_QUERY] = maker->query_row;
    if (stage == STAGE_WEIGHTS && maker->scores != NULL)
        stages[STAGE_MASKED] = maker->scores + index * keys;
    struct attention_row row = {.problem = problem,
                                .key = maker->head.key,
                                .prescaled_key = maker->head.prescaled_key,
                                .value = maker->head.value,
                                .stages = stages,
                                .computed = {0, keys},
                                .at = query,
                                .own = mask_sequence(&problem->mask, query),
                                .allowed = {0, keys},
                                .bias = plain->bias + index * keys,
                                .empty = plain->empty[index],
                                .sink = sink_of(plain, head, &room),
                                .kept = plain->kept != NULL ? plain->kept + index * keys : NULL,
                                .query = maker->pairs,
                                .cast = maker->cast};
    recipe_row *const make = stage == STAGE_WEIGHTS && row.empty ? NULL : recipe->rows[stage];
    head_load(&maker->head, stage, &maker->key, &maker->value,
              first_key(plain, stage == STAGE_CONTEXT ? PROJECTION_VALUE : PROJECTION_KEY, matrix / problem->size.heads,
                        head));
    if (stage == STAGE_SCORES || !stage_applies(problem, STAGE_SCORES))
        tensor_load(&maker->query, (matrix * problem->size.queries + query) * d, d, stages[STAGE_QUERY]);
    if (stage == STAGE_CONTEXT && recipe->weights_transposed && make == NULL) {
        take_weights_column(maker, index);
        stages[STAGE_DROPPED] = maker->weights_column;
        row.bias = maker->weights_column + keys; /* zeros */
        row.empty = false;
    }
    if (make != NULL && stage != STAGE_LSE) /* without keys of zeros, which `make` counts itself */
        row.sink = problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL;
    if (make != NULL)
        make(&row, recipe);
    else
        stage_make(&row, stage);
}

/* --- stages that the recipe makes otherwise ---------------------------------------------------------------------- */

/* Sums the heads' scores to those of one head of all columns. */
static void join_scores(const struct plain *plain, double *scores)
{
    const struct problem *problem = plain->problem;
    const size_t matrix = plain->row_count * problem->size.keys;
    for (size_t item = 0; item < problem->size.items; item++)
        for (size_t i = 0; i < matrix; i++) {
            double *of_item = scores + item * problem->size.heads * matrix + i, sum = 0;
            for (size_t head = 0; head < problem->size.heads; head++)
                sum += of_item[head * matrix];
            dtype_round(problem_stage_dtype(problem, STAGE_SCORES), &sum, 1);
            for (size_t head = 0; head < problem->size.heads; head++)
                of_item[head * matrix] = sum;
        }
}

static void make_scores(const struct plain *plain, double *scores)
{
    if (plain->recipe->split == RECIPE_SPLIT_NONE)
        join_scores(plain, scores);
    if (plain->recipe->overflows)
        dtype_round(DTYPE_F16, scores, plain_count(plain->problem, STAGE_SCORES, plain->row_count));
}

/* Forbidden scores that become numbers take part from here on. */
static void make_masked(const struct plain *plain, double *masked)
{
    const struct recipe *recipe = plain->recipe;
    const double softcap = plain->problem->scaling.softcap, *capped = plain->stages[STAGE_CAPPED];
    const size_t count = plain_count(plain->problem, STAGE_MASKED, plain->row_count), keys = plain->problem->size.keys;
    for (size_t i = 0; i < count; i++) {
        if ((recipe->fills_weights || recipe->added != 0) && plain->bias[i] == -INFINITY)
            masked[i] = capped[i] + recipe->added;
        else if (recipe->fill != -INFINITY && plain->bias[i] == -INFINITY)
            masked[i] = recipe->fill;
        if (recipe->caps_masked)
            masked[i] = softcap * tanh(masked[i] / softcap);
        if (masked[i] > -INFINITY || isnan(masked[i])) {
            plain->bias[i] = plain->bias[i] == -INFINITY ? 0 : plain->bias[i];
            plain->empty[i / keys] = false;
        }
    }
    dtype_round(problem_stage_dtype(plain->problem, STAGE_MASKED), masked, count);
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

/* For somebody's own numbers, whatever the mask says: masked scores above PLAIN_MASKED take part, and each weight that
 * is not 0 multiplies its value. */
static void follow_own(struct plain *plain, enum stage stage)
{
    const double *own = plain->own[stage];
    const size_t keys = plain->problem->size.keys, count = plain_count(plain->problem, stage, plain->row_count);
    const bool masks = stage == STAGE_MASKED;
    for (size_t i = 0; i < count; i++) {
        const bool out = masks ? own[i] <= PLAIN_MASKED : own[i] == 0;
        plain->empty[i / keys] = masks && out && (i % keys == 0 || plain->empty[i / keys]);
        plain->bias[i] = out ? -INFINITY : 0;
    }
}

static enum status make_stage(struct maker *maker, enum stage stage)
{
    struct plain *plain = maker->plain;
    const struct recipe *recipe = plain->recipe;
    const bool wrong = (plain->problem->mistake.wrong & STAGE_BIT(stage)) != 0;
    double *numbers = plain->stages[stage];
    if (plain->has_only) /* rows that are not made */
        memset(numbers, 0, plain_count(plain->problem, stage, plain->row_count) * sizeof *numbers);
    if (plain->own[stage] != NULL) {
        memcpy(numbers, plain->own[stage], plain_count(plain->problem, stage, plain->row_count) * sizeof *numbers);
        if (stage == STAGE_MASKED || stage == STAGE_WEIGHTS || stage == STAGE_DROPPED)
            follow_own(plain, stage);
        return STATUS_OK;
    }
    if (stage == STAGE_POSITIONS || stage == STAGE_EMBEDDED) {
        plain_make_embedded(plain, stage, numbers);
        return STATUS_OK;
    }
    if (stage == STAGE_NORMED) {
        plain_make_normed(plain, numbers);
        return STATUS_OK;
    }
    if (stage == STAGE_CONTEXT && recipe->attends_heads)
        return plain_attend_heads(plain, (const struct tensor[]){maker->query, maker->key, maker->value});
    if (stage == STAGE_OUTPUT) /* residual of one head is made from its context */
        return problem_last_stage(plain->problem) == stage || plain->problem->size.heads_packed ? plain_output(plain)
                                                                                                : STATUS_OK;
    if (stage_is_of_words(stage))
        return plain_words(plain, stage);
    if (stage == STAGE_WEIGHTS && recipe->drops_scores && plain_drop_scores(plain, &maker->scores) != STATUS_OK)
        return plain->error->status;
    if (stage == STAGE_WEIGHTS && recipe->axis != RECIPE_AXIS_KEYS)
        return plain_softmax(plain, maker->scores != NULL ? maker->scores : plain->stages[STAGE_MASKED]);
    const bool only = plain->has_only && stage == STAGE_CONTEXT && recipe->merge != RECIPE_MERGE_VIEW;
    for (size_t index = only ? plain->only : 0;
         index < plain->problem->size.items * plain->problem->size.heads * plain->row_count;
         index += only ? plain->row_count : 1)
        make_row(maker, stage, index);
    if (stage == STAGE_WEIGHTS && wrong)
        plain_finish_weights(plain);
    else if (stage == STAGE_SCORES && wrong)
        make_scores(plain, numbers);
    else if (stage == STAGE_MASKED && wrong)
        make_masked(plain, numbers);
    if (stage == STAGE_CONTEXT && problem_last_stage(plain->problem) == stage)
        plain_finish_result(plain, numbers);
    return STATUS_OK;
}

static enum status allocate_stages(struct maker *maker, uint64_t stages)
{
    struct plain *plain = maker->plain;
    const struct problem *problem = plain->problem;
    const size_t keys = problem->size.keys;
    maker->query_row = arena_allocate(plain->arena, problem->size.d_head, sizeof(double), plain->error);
    maker->pairs = arena_allocate(plain->arena, problem->size.d_head, 2 * sizeof(double), plain->error);
    maker->cast = arena_allocate(plain->arena, keys, sizeof(double), plain->error);
    maker->weights_column = arena_allocate(plain->arena, keys, 2 * sizeof(double), plain->error);
    if (head_create(&maker->head, problem, stages, plain->arena, plain->error) != STATUS_OK)
        return plain->error->status;
    for (size_t j = 0; j < keys; j++)
        maker->weights_column[keys + j] = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const bool embeds = (stage == STAGE_POSITIONS || stage == STAGE_EMBEDDED) && stage_applies(problem, stage);
        if ((!(stages & STAGE_BIT(stage)) || (!stage_is_attended(stage) && !embeds)) &&
            (stage != STAGE_NORMED || !plain->wants_normed))
            continue;
        plain->stages[stage] =
            arena_allocate(plain->arena, plain_count(problem, stage, plain->row_count), sizeof(double), plain->error);
        if (plain->stages[stage] == NULL)
            return plain->error->status;
        maker->columns[stage] = problem_columns_of_head(problem, stage);
        maker->held[maker->held_count++] = stage;
    }
    return STATUS_OK;
}

enum status plain_run(struct plain *plain, const struct recipe *recipe, const size_t *rows, size_t row_count,
                      uint64_t stages, struct plain_columns *columns, struct arena *lasting, struct arena *arena,
                      struct error *error)
{
    struct maker maker = {.plain = plain};
    plain->recipe = recipe;
    plain->problem = &recipe->problem;
    plain->rows = rows;
    plain->row_count = row_count;
    plain->columns = columns;
    plain->lasting = lasting;
    plain->arena = arena;
    plain->error = error;
    if (allocate_stages(&maker, stages) || load_biases(plain) || plain_operands(plain) ||
        (recipe->problem.drop.share > 0 && draw_kept(plain)))
        return error->status;
    maker.query = plain->operands[PROJECTION_QUERY];
    maker.key = plain->operands[PROJECTION_KEY];
    maker.value = plain->operands[PROJECTION_VALUE];
    if (!recipe->roles_early) {
        plain_operand(plain, PROJECTION_QUERY, &maker.query);
        plain_operand(plain, PROJECTION_KEY, &maker.key);
        plain_operand(plain, PROJECTION_VALUE, &maker.value);
    }
    for (size_t i = 0; i < maker.held_count && error->status == STATUS_OK; i++)
        make_stage(&maker, maker.held[i]);
    return error->status;
}

/* --- a number of a stage ----------------------------------------------------------------------------------------- */

/* The index of a query in the ascending rows. */
static size_t row_of(const struct plain *plain, size_t query)
{
    size_t first = 0, end = plain->row_count;
    while (first + 1 < end) {
        const size_t middle = first + (end - first) / 2;
        if (plain->rows[middle] <= query)
            first = middle;
        else
            end = middle;
    }
    return first;
}

const struct tensor *plain_tensor(const struct plain *plain, enum stage stage)
{
    const enum projection_id id = projection_of(stage);
    if (stage == STAGE_GATE)
        return &plain->problem->given.gate;
    if (id == PROJECTION_COUNT || STAGES[stage].repeats)
        return NULL;
    if (STAGES[stage].operand)
        return &plain->operands[id];
    const struct tensor *before =
        stage == STAGE_NORMED_QUERY || stage == STAGE_NORMED_KEY ? &plain->normed[id] : &plain->projected[id];
    return before->rank > 0 ? before : &plain->operands[id];
}

double plain_number(const struct plain *plain, enum stage stage, size_t item, size_t head, size_t row, size_t column)
{
    const struct problem *problem = plain->problem;
    const struct tensor *operand = plain_tensor(plain, stage);
    if (operand != NULL) {
        double number;
        tensor_load(operand, ((item * operand->shape[1] + head) * operand->shape[2] + row) * operand->shape[3] + column,
                    1, &number);
        return number;
    }
    const enum stage made = problem_made_as(problem, stage);
    const size_t columns = problem_columns_of_head(problem, made);
    /* NOLINTNEXTLINE(clang-analyzer-core.*): plain has a problem */
    const size_t heads = STAGES[made].joins_heads ? 1 : problem->size.heads;
    return plain->stages[made][((item * heads + head) * plain->row_count + row_of(plain, row)) * columns + column];
}
