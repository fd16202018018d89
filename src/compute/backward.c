/* SPDX-License-Identifier: MIT */
#include "compute/backward.h"

#include "base/threads.h"
#include "compute/setup.h"
#include "model/stages.h"
#include "stage/backward_mistake.h"
#include "stage/gate.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

#include <math.h>
#include <string.h>

/* The gradients before query, key and value. */
static const uint64_t BEYOND =
    STAGE_BIT(STAGE_GRAD_NORMED_QUERY) | STAGE_BIT(STAGE_GRAD_NORMED_KEY) | STAGE_BIT(STAGE_GRAD_PROJECTED_QUERY) |
    STAGE_BIT(STAGE_GRAD_PROJECTED_KEY) | STAGE_BIT(STAGE_GRAD_PROJECTED_VALUE) | STAGE_BIT(STAGE_GRAD_GATE) |
    STAGE_BIT(STAGE_GRAD_INPUTS) | STAGE_BIT(STAGE_GRAD_KEY_INPUTS) | STAGE_BIT(STAGE_GRAD_PARAMETERS);

/* Stages that are sums over rows of T x T. */
static const uint64_t SUMMED = STAGE_BIT(STAGE_GRAD_VALUE) | STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_GRAD_KEY) |
                               STAGE_BIT(STAGE_GRAD_SINKS) | STAGE_BIT(STAGE_GRAD_ALIBI_SLOPES) |
                               STAGE_BIT(STAGE_GRAD_ATTN_MASK);

/* --- how much that is --------------------------------------------------------------------------------------------- */

static double operand_numbers(const struct problem *problem, enum projection_id id)
{
    const size_t heads = operand_heads(problem, id),
                 rows = id == PROJECTION_QUERY ? problem->size.queries : problem->size.keys;
    return (double)problem->size.items * (double)heads * (double)rows *
           (double)(id == PROJECTION_VALUE ? problem->size.d_value : problem->size.d_head);
}

/* Whether the given gradient has the heads side by side, or each as a matrix. */
static bool is_side_by_side(const struct problem *problem)
{
    return problem_is_side_by_side(problem, problem_grad_stage(problem));
}

/* Bytes besides query, key and value in double, which setup.c counts. */
static double count_extra(const struct problem *problem, uint64_t stages)
{
    const double rows = (double)problem->size.items * (double)problem->size.queries;
    const double contexts = rows * (double)problem->size.heads * (double)problem->size.d_value;
    const double block = fmin((double)problem->size.queries * (double)problem->size.keys, ROW_STREAM_WRITTEN);
    double numbers = contexts + 3 * fmax(block, (double)problem->size.keys);
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) /* the gradients, and the given operands in double */
        numbers += (1 + (!problem_projects(problem) && operand_has_steps(problem, id))) * operand_numbers(problem, id);
    if (is_side_by_side(problem))
        numbers += rows * (double)problem_columns_of_head(problem, STAGE_GRAD_OUTPUT);
    numbers += rows * (double)(problem->size.words > 0 ? problem->size.words + problem->size.d_in : 0);
    if (stage_applies(problem, STAGE_GRAD_ATTN_MASK))
        numbers += (double)tensor_count(&problem->mask.attn_mask);
    if (stage_applies(problem, STAGE_GRAD_GATE)) /* and the contexts, and their gate */
        numbers += 3 * contexts;
    else if (stages & STAGE_BIT(STAGE_GRAD_PARAMETERS) && problem->plan.has_out)
        numbers += contexts;
    return numbers * sizeof(double) + (stages & BEYOND ? backward_operands_bytes(problem) : 0);
}

double backward_bytes(const struct problem *problem, uint64_t stages)
{
    double numbers = 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        if (problem_projects(problem) || operand_has_steps(problem, id))
            numbers += operand_numbers(problem, id);
    return stages == 0 ? 0 : numbers * sizeof(double) + count_extra(problem, stages);
}

/* Converts operands of sdpa that go through steps to double, since the code copies them as they are. */
static enum status widen(struct problem *problem, struct arena *arena, struct error *error)
{
    problem->rounding.dtype = problem->rounding.softmax_dtype = DTYPE_F64;
    problem->rounding.when = ROUNDING_STAGES;
    problem->path.fused = problem->path.kernel_projections = problem->chosen.explains = false;
    problem->path.forced = NULL;
    problem->chosen.stage_count = 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        struct tensor *given = &problem->given.operands[id];
        bool finite = true;
        if (given->rank > 0 && operand_has_steps(problem, id) &&
            tensor_convert(given, DTYPE_F64, problem->given.source, "", &finite, given, arena, error) != STATUS_OK)
            return error->status;
    }
    return gate_make(problem, gate_sigmoid, arena, error);
}

static enum status hold(struct backward *backward, enum stage stage, size_t rank, const size_t *shape,
                        struct arena *arena, struct error *error)
{
    struct tensor *held = &backward->attention.held[stage];
    if (tensor_create(held, DTYPE_F64, rank, shape, arena, error) != STATUS_OK)
        return error->status;
    memset(held->data, 0, tensor_count(held) * sizeof(double));
    return STATUS_OK;
}

/* --- from the last stage to the contexts -------------------------------------------------------------------------- */

static void load_given(const struct problem *problem, size_t first, size_t count, double *numbers)
{
    if (problem->loss.gradient.rank > 0)
        tensor_load(&problem->loss.gradient, first, count, numbers);
    for (size_t i = 0; i < count && problem->loss.gradient.rank == 0; i++)
        numbers[i] = 1;
}

/* Takes a row of grad_output back through out_proj.
 *   weight    (H d_v, columns) as y = x . W
 *   contexts  (H d_v) written */
static void unproject(const double *output, size_t columns, const double *weight, size_t width, double *contexts)
{
    for (size_t k = 0; k < width; k++) {
        contexts[k] = 0;
        for (size_t c = 0; c < columns; c++)
            contexts[k] += output[c] * weight[k * columns + c];
    }
}

/* Writes a row of all heads side by side to that of each head, (B, H, Tq, d_v). */
static void store_heads(const struct problem *problem, size_t row, const double *contexts, const struct tensor *held)
{
    const size_t d = problem->size.d_value, heads = problem->size.heads, queries = problem->size.queries;
    for (size_t head = 0; head < heads && held->rank > 0; head++)
        tensor_store(held, ((row / queries * heads + head) * queries + row % queries) * d, d, contexts + head * d);
}

/* Cuts rows of grad_output, or of the contexts of all heads, into those of each head. */
struct cutting {
    struct backward *backward;
    size_t columns, room;
    double *weight, *unembedding, *rooms; /* (threads, columns + H d_v + V) */
};

static void cut_row(void *context, size_t row, unsigned thread)
{
    const struct cutting *cutting = context;
    const struct problem *problem = &cutting->backward->problem;
    const size_t columns = cutting->columns, width = problem->size.heads * problem->size.d_value;
    const struct tensor *held = cutting->backward->attention.held;
    double *output = cutting->rooms + thread * cutting->room, *contexts = output + columns;
    const size_t words = problem->size.words;
    double *logits = contexts + width;
    load_given(problem, row * (words > 0 ? words : columns), words > 0 ? words : columns, words > 0 ? logits : output);
    if (words > 0) {
        unproject(logits, words, cutting->unembedding, columns, output);
        tensor_store(&held[STAGE_GRAD_LOGITS], row * words, words, logits);
        tensor_store(&held[STAGE_GRAD_RESIDUAL], row * columns, columns, output);
    }
    tensor_store(&held[STAGE_GRAD_OUTPUT], row * columns, columns, output);
    if (cutting->weight != NULL)
        unproject(output, columns, cutting->weight, width, contexts);
    else
        contexts = output;
    store_heads(problem, row, contexts, &held[STAGE_GRAD_GATE]); /* the contexts are not there yet */
    problem_gate_heads(problem, row, contexts);
    store_heads(problem, row, contexts, &held[STAGE_GRAD_CONTEXT]);
}

static enum status cut_heads(struct backward *backward, size_t columns, struct error *error)
{
    const struct problem *problem = &backward->problem;
    const size_t rows = problem->size.items * problem->size.queries,
                 width = problem->size.heads * problem->size.d_value;
    const unsigned threads = setup_threads(problem, (double)rows * (double)columns * (double)width);
    struct cutting cutting = {.backward = backward, .columns = columns, .room = columns + width + problem->size.words};
    struct arena scratch = {0};
    cutting.rooms = arena_allocate(&scratch, threads, cutting.room * sizeof *cutting.rooms, error);
    if (problem->size.words > 0 &&
        projection_weight(&problem->parameters.words.unembedding, &cutting.unembedding, &scratch, error) != STATUS_OK)
        cutting.rooms = NULL;
    if (cutting.rooms != NULL && (!problem->plan.has_out || projection_weight(&problem->parameters.out, &cutting.weight,
                                                                              &scratch, error) == STATUS_OK))
        threads_run(threads, rows, cut_row, &cutting);
    arena_free(&scratch);
    return error->status;
}

static enum status make_contexts(struct backward *backward, struct arena *arena, struct error *error)
{
    const struct problem *problem = &backward->problem;
    const size_t columns = problem_columns_of_head(problem, STAGE_GRAD_OUTPUT);
    const size_t shape[] = {problem->size.items, problem->size.heads, problem->size.queries, problem->size.d_value};
    if (hold(backward, STAGE_GRAD_CONTEXT, 4, shape, arena, error) ||
        (stage_applies(problem, STAGE_GRAD_GATE) && hold(backward, STAGE_GRAD_GATE, 4, shape, arena, error)))
        return error->status;
    if (!is_side_by_side(problem)) {
        const struct tensor *contexts = &backward->attention.held[STAGE_GRAD_CONTEXT];
        load_given(problem, 0, tensor_count(contexts), contexts->data);
        return STATUS_OK;
    }
    const size_t words[] = {problem->size.items, problem->size.queries, problem->size.words};
    const size_t residual[] = {words[0], words[1], columns};
    if (words[2] > 0 && (hold(backward, STAGE_GRAD_LOGITS, 3, words, arena, error) ||
                         hold(backward, STAGE_GRAD_RESIDUAL, 3, residual, arena, error)))
        return error->status;
    if (hold(backward, STAGE_GRAD_OUTPUT, 3, (const size_t[]){problem->size.items, problem->size.queries, columns},
             arena, error))
        return error->status;
    return cut_heads(backward, columns, error);
}

/* --- sums over the queries ---------------------------------------------------------------------------------------- */

/* A block of rows of one head, for the sums. */
struct block {
    struct backward *backward;
    size_t item, head, first, count;
    double *dropped, *scores, *masked; /* (most, Tk) */
    double *queries, *contexts;        /* (most, d), (most, d_v) */
    double *sinks, *slopes;            /* (most) what each row adds to grad_sinks, grad_alibi_slopes */
    double *sums;                      /* (threads, d or d_v) */
};

enum { KEYS_AT_ONCE = 64 };

static double sink_share(const struct problem *problem, const struct attention_scratch *scratch, double sink)
{
    const double *weights = scratch->rows[STAGE_WEIGHTS], *above = scratch->rows[STAGE_GRAD_WEIGHTS];
    double delta = 0;
    for (size_t j = 0; j < problem->size.keys; j++)
        if (above[j] != 0)
            delta += weights[j] * above[j];
    return delta != 0 ? -exp(sink - scratch->rows[STAGE_LSE][0]) * delta : 0;
}

static double slope_share(const struct block *block, size_t row, const double *masked)
{
    const struct problem *problem = &block->backward->problem;
    double sum = 0;
    for (size_t j = 0; j < problem->size.keys; j++)
        if (masked[j] != 0)
            sum -= masked[j] * mask_place(&problem->mask, block->item, row, j);
    return sum / problem->mask.places.root;
}

static void take(void *context, size_t i, const struct attention_scratch *scratch)
{
    const struct block *block = context;
    const struct problem *problem = &block->backward->problem;
    const struct backward_mistake *mistake = problem->mistake.backward;
    const size_t keys = problem->size.keys, d = problem->size.d_head, d_value = problem->size.d_value;
    const size_t row = (block->item * problem->size.heads + block->head) * problem->size.queries + block->first + i;
    memcpy(block->dropped + i * keys, scratch->rows[STAGE_DROPPED], keys * sizeof(double));
    memcpy(block->scores + i * keys, scratch->rows[STAGE_GRAD_SCORES], keys * sizeof(double));
    memcpy(block->masked + i * keys, scratch->rows[STAGE_GRAD_MASKED], keys * sizeof(double));
    memcpy(block->queries + i * d, scratch->rows[STAGE_QUERY], d * sizeof(double));
    memcpy(block->contexts + i * d_value, scratch->rows[STAGE_GRAD_CONTEXT], d_value * sizeof(double));
    tensor_store(&block->backward->attention.held[STAGE_GRAD_QUERY], row * d, d, scratch->rows[STAGE_GRAD_QUERY]);
    if (block->backward->contexts.rank > 0)
        tensor_store(&block->backward->contexts, row * d_value, d_value, scratch->rows[STAGE_CONTEXT]);
    if (problem->mask.sinks != NULL)
        block->sinks[i] = sink_share(problem, scratch, problem->mask.sinks[block->head]);
    if (block->backward->attention.held[STAGE_GRAD_ALIBI_SLOPES].rank > 0)
        block->slopes[i] = slope_share(block, block->first + i, scratch->rows[STAGE_GRAD_MASKED]);
    if (mistake != NULL && mistake->add != NULL)
        mistake->add(&(struct backward_addition){problem, block->item, block->head, block->first + i, scratch->rows,
                                                 scratch->bias, block->backward->attention.held,
                                                 block->dropped + i * keys, block->scores + i * keys,
                                                 problem->mask.sinks != NULL ? &block->sinks[i] : NULL});
}

/* sum (d) += factors of a key x the rows of the block, in order. */
static void add_rows(const struct block *block, const double *factors, const double *rows, size_t d, double *sum)
{
    const size_t keys = block->backward->problem.size.keys;
    for (size_t i = 0; i < block->count; i++) {
        const double factor = factors[i * keys];
        for (size_t c = 0; c < d && factor != 0; c++)
            sum[c] += factor * rows[i * d + c];
    }
}

static void add_keys(void *context, size_t task, unsigned thread)
{
    (void)thread;
    const struct block *block = context;
    const struct problem *problem = &block->backward->problem;
    const struct tensor *held = block->backward->attention.held;
    const size_t matrix =
        (block->item * problem->size.heads + block->head) / (problem->size.heads / problem->size.kv_heads);
    const size_t end = memory_smaller((task + 1) * KEYS_AT_ONCE, problem->size.keys);
    double *key = held[STAGE_GRAD_KEY].data, *value = held[STAGE_GRAD_VALUE].data;
    for (size_t j = task * KEYS_AT_ONCE; j < end; j++) {
        const size_t row = matrix * problem->size.keys + j;
        add_rows(block, block->scores + j, block->queries, problem->size.d_head, key + row * problem->size.d_head);
        add_rows(block, block->dropped + j, block->contexts, problem->size.d_value,
                 value + row * problem->size.d_value);
    }
}

/* Adds grad_masked to the gradient of each number of attn_mask that it uses. */
static void add_attn_mask(const struct block *block)
{
    const struct problem *problem = &block->backward->problem;
    const struct mask *mask = &problem->mask;
    const struct tensor *held = &block->backward->attention.held[STAGE_GRAD_ATTN_MASK];
    double *sums = held->data;
    for (size_t i = 0; i < block->count && held->rank > 0; i++) {
        const size_t at =
            block->item * mask->strides[0] + block->head * mask->strides[1] + (block->first + i) * mask->strides[2];
        for (size_t j = 0; j < memory_smaller(problem->size.keys, mask->masked_keys); j++)
            sums[at + j * mask->strides[3]] += block->masked[i * problem->size.keys + j];
    }
}

/* The same for T5's table, by the distance of key and query. */
static void add_relative(const struct block *block)
{
    const struct problem *problem = &block->backward->problem;
    const struct mask *mask = &problem->mask;
    double *sums = block->backward->relative_bias.data;
    for (size_t i = 0; i < block->count && block->backward->relative_bias.rank > 0; i++) {
        const int64_t position = (int64_t)(block->first + i) + mask_offset(mask, block->item, block->first + i);
        for (size_t j = 0; j < problem->size.keys; j++)
            sums[mask_bucket(mask, (int64_t)j - position) * mask->heads + block->head] +=
                block->masked[i * problem->size.keys + j];
    }
}

static void add_block(struct block *block)
{
    const struct attention *attention = &block->backward->attention;
    double *sinks = attention->held[STAGE_GRAD_SINKS].data;
    double *slopes = attention->held[STAGE_GRAD_ALIBI_SLOPES].data;
    threads_run(attention->threads, (block->backward->problem.size.keys + KEYS_AT_ONCE - 1) / KEYS_AT_ONCE, add_keys,
                block);
    for (size_t i = 0; i < block->count && sinks != NULL; i++)
        sinks[block->head] += block->sinks[i];
    for (size_t i = 0; i < block->count && slopes != NULL; i++)
        slopes[block->head] += block->slopes[i];
    add_attn_mask(block);
    add_relative(block);
}

static enum status create_block(struct block *block, struct arena *scratch, struct error *error)
{
    const struct problem *problem = &block->backward->problem;
    const size_t most = block->backward->rows.most;
    double **const all[] = {&block->dropped,  &block->scores, &block->masked, &block->queries,
                            &block->contexts, &block->sinks,  &block->slopes};
    const size_t columns[] = {
        problem->size.keys, problem->size.keys, problem->size.keys, problem->size.d_head, problem->size.d_value, 1, 1};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = arena_allocate(scratch, most, columns[i] * sizeof(double), error);
        if (*all[i] == NULL)
            return error->status;
    }
    return STATUS_OK;
}

/* Head by head, and the rows of each in order. */
static void make_sums(struct block *block, uint64_t stages, struct progress *progress)
{
    struct row_stream *rows = &block->backward->rows;
    const struct problem *problem = &block->backward->problem;
    const size_t queries = problem->size.queries, all = problem->size.items * problem->size.heads * queries;
    progress_begin(progress, stage_name(STAGE_GRAD_KEY), (double)all);
    for (size_t row = 0; row < all; row += block->count) {
        block->item = row / queries / problem->size.heads;
        block->head = row / queries % problem->size.heads;
        block->first = row % queries;
        block->count = memory_smaller(queries - block->first, rows->most);
        row_stream_run(&(struct row_run){rows, stages, block->item, block->head, block->first, take, .context = block},
                       block->count);
        add_block(block);
        progress_update(progress, (double)(row + block->count));
    }
    progress_end(progress);
}

/* --- beyond query, key and value ---------------------------------------------------------------------------------- */

/* Loads the contexts of all heads of a token, and the gradient of its row of output. */
static void load_token(const struct backward *backward, size_t row, double *room)
{
    const struct problem *problem = &backward->problem;
    const size_t d = problem->size.d_value, heads = problem->size.heads, queries = problem->size.queries;
    const size_t columns = problem->plan.d_output;
    for (size_t head = 0; head < heads; head++)
        tensor_load(&backward->contexts, ((row / queries * heads + head) * queries + row % queries) * d, d,
                    room + head * d);
    problem_gate_heads(problem, row, room);
    tensor_load(&backward->attention.held[STAGE_GRAD_OUTPUT], row * columns, columns, room + heads * d);
}

/* Replaces them by the residual, with out_proj as y = x . W, and the gradient of its logits. */
static void load_residual(const struct backward *backward, size_t row, const double *weight, const double *bias,
                          double *room)
{
    const struct problem *problem = &backward->problem;
    const size_t d_in = problem->size.d_in, words = problem->size.words;
    double *made = room + problem->size.heads * problem->size.d_value + problem->plan.d_output;
    output_row(problem, room, weight, bias, made);
    tensor_load(&problem->given.inputs, row * d_in, d_in, room);
    for (size_t i = 0; i < d_in; i++)
        room[i] += made[i];
    tensor_load(&backward->attention.held[STAGE_GRAD_LOGITS], row * words, words, room + d_in);
}

/* The gradient of out_proj; or with `words` that of the unembedding. */
static enum status make_product(struct backward *backward, bool words, struct error *error)
{
    const struct problem *problem = &backward->problem;
    const size_t width = problem->size.heads * problem->size.d_value,
                 rows = problem->size.items * problem->size.queries;
    struct parameters *made = &backward->operands.parameters;
    struct backward_product product = {words ? &made->words.unembedding : &made->out, 0,
                                       words ? problem->size.d_in : width};
    double *weight = NULL, *bias = NULL;
    struct backward_sums sums = {.products = &product, .product_count = 1};
    struct arena scratch = {0};
    enum status status =
        backward_sums_create(&sums, width + 2 * problem->plan.d_output + problem->size.words, rows, &scratch, error);
    if (words && problem->plan.has_out && status == STATUS_OK)
        status = projection_weight(&problem->parameters.out, &weight, &scratch, error) ||
                         projection_bias(&problem->parameters.out, &bias, &scratch, error)
                     ? error->status
                     : STATUS_OK;
    for (size_t first = 0, count; status == STATUS_OK && first < rows; first += count) {
        count = memory_smaller(sums.tokens_at_once, rows - first);
        for (size_t i = 0; i < count; i++) {
            load_token(backward, first + i, sums.rooms + i * sums.room);
            if (words)
                load_residual(backward, first + i, weight, bias, sums.rooms + i * sums.room);
        }
        backward_sums_add(&sums, problem, count);
    }
    arena_free(&scratch);
    return status;
}

/* Adds the gradient of the residual to that of the inputs, and sums it for the positions that are learned. */
static void add_residual(struct backward *backward)
{
    const struct problem *problem = &backward->problem;
    struct parameters_words *words = &backward->operands.parameters.words;
    const size_t d_in = problem->size.d_in, per_item = problem->size.queries * d_in;
    const double *residual = backward->attention.held[STAGE_GRAD_RESIDUAL].data;
    double *inputs = backward->operands.inputs.data, *positions = words->positions.data;
    const bool learned = problem->given.learns_positions;
    for (size_t i = 0; i < problem->size.items * per_item; i++) {
        inputs[i] += residual != NULL ? residual[i] : 0;
        if (learned)
            positions[i % per_item] += inputs[i];
    }
}

static enum status go_beyond(struct backward *backward, struct arena *arena, struct error *error)
{
    struct tensor *held = backward->attention.held;
    struct backward_operands *operands = &backward->operands;
    const struct tensor made[PROJECTION_COUNT] = {held[STAGE_GRAD_QUERY], held[STAGE_GRAD_KEY], held[STAGE_GRAD_VALUE]};
    const struct problem *problem = &backward->problem;
    const size_t of_head = problem->size.queries * problem->size.d_value;
    double *gate = held[STAGE_GRAD_GATE].data;
    for (size_t i = 0; gate != NULL && i < tensor_count(&backward->contexts); i++)
        gate[i] *= problem_leaves_out(problem, i / of_head % problem->size.heads)
                       ? 0
                       : ((const double *)backward->contexts.data)[i];
    if (backward_operands(operands, problem, made, &held[STAGE_GRAD_GATE], arena, error) != STATUS_OK)
        return error->status;
    if (problem_projects(problem))
        add_residual(backward);
    held[STAGE_GRAD_PROJECTED_QUERY] = operands->projected[PROJECTION_QUERY];
    held[STAGE_GRAD_PROJECTED_KEY] = operands->projected[PROJECTION_KEY];
    held[STAGE_GRAD_PROJECTED_VALUE] = operands->projected[PROJECTION_VALUE];
    held[STAGE_GRAD_NORMED_QUERY] = operands->normed[PROJECTION_QUERY];
    held[STAGE_GRAD_NORMED_KEY] = operands->normed[PROJECTION_KEY];
    held[STAGE_GRAD_INPUTS] = operands->inputs;
    held[STAGE_GRAD_KEY_INPUTS] = operands->key_inputs;
    operands->parameters.relative_bias = backward->relative_bias;
    if (backward->contexts.rank == 0)
        return STATUS_OK;
    return (problem->plan.has_out && make_product(backward, false, error) != STATUS_OK) ||
                   (problem->size.words > 0 && make_product(backward, true, error) != STATUS_OK)
               ? error->status
               : STATUS_OK;
}

static enum status hold_beyond(struct backward *backward, struct arena *arena, struct error *error)
{
    const struct problem *problem = &backward->problem;
    const struct tensor *table = &problem->parameters.relative_bias;
    const size_t shape[] = {problem->size.items, problem->size.heads, problem->size.queries, problem->size.d_value};
    if ((problem->plan.has_out || problem->size.words > 0) &&
        tensor_create(&backward->contexts, DTYPE_F64, 4, shape, arena, error) != STATUS_OK)
        return error->status;
    if (table->rank > 0 &&
        tensor_create(&backward->relative_bias, DTYPE_F64, table->rank, table->shape, arena, error) == STATUS_OK)
        memset(backward->relative_bias.data, 0, tensor_count(table) * sizeof(double));
    return error->status;
}

static enum status hold_sums(struct backward *backward, struct arena *arena, struct error *error)
{
    const struct problem *problem = &backward->problem;
    const struct tensor *mask = &problem->mask.attn_mask;
    const size_t of_queries[] = {problem->size.items, problem->size.heads, problem->size.queries, problem->size.d_head};
    const size_t of_keys[] = {problem->size.items, problem->size.kv_heads, problem->size.keys, problem->size.d_head};
    const size_t of_values[] = {problem->size.items, problem->size.kv_heads, problem->size.keys, problem->size.d_value};
    const struct {
        enum stage stage;
        size_t rank;
        const size_t *shape;
    } sums[] = {{STAGE_GRAD_QUERY, 4, of_queries},
                {STAGE_GRAD_KEY, 4, of_keys},
                {STAGE_GRAD_VALUE, 4, of_values},
                {STAGE_GRAD_SINKS, 1, &problem->size.heads},
                {STAGE_GRAD_ALIBI_SLOPES, 1, &problem->size.heads},
                {STAGE_GRAD_ATTN_MASK, mask->rank, mask->shape}};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        if (stage_applies(problem, sums[i].stage) &&
            hold(backward, sums[i].stage, sums[i].rank, sums[i].shape, arena, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

/* On the reference: sets up rows on demand, and makes the sums over them. */
static enum status go_by_rows(struct backward *backward, uint64_t stages, struct arena *arena, struct error *error)
{
    const struct problem *problem = &backward->problem;
    uint64_t rows = STAGE_BIT(STAGE_GRAD_QUERY) | STAGE_BIT(STAGE_DROPPED) | (stages & ~(SUMMED | BEYOND));
    if (backward->contexts.rank > 0)
        rows |= STAGE_BIT(STAGE_CONTEXT);
    if (problem->mask.sinks != NULL)
        rows |= STAGE_BIT(STAGE_LSE);
    if (setup_attention(&backward->attention, stage_closure(rows) & ~STAGE_BIT(STAGE_LSE), arena, error) ||
        row_stream_create(&backward->rows, problem, &backward->attention, false, arena, error))
        return error->status;
    struct block block = {.backward = backward};
    struct arena scratch = {0};
    if (stages & (SUMMED | BEYOND) && create_block(&block, &scratch, error) == STATUS_OK)
        make_sums(&block, rows, backward->attention.progress);
    arena_free(&scratch);
    return error->status;
}

enum status backward_create(struct backward *backward, const struct problem *problem, uint64_t stages,
                            struct progress *progress, struct arena *arena, struct error *error)
{
    bool made = false;
    *backward = (struct backward){.problem = *problem};
    backward->attention = (struct attention){.problem = &backward->problem,
                                             .progress = progress,
                                             .positions = problem->chosen.rows,
                                             .computed_rows = problem->size.queries,
                                             .extra_bytes = count_extra(problem, stages)};
    if (setup_room(backward->attention.extra_bytes, error) || widen(&backward->problem, arena, error) ||
        make_contexts(backward, arena, error))
        return error->status;
    if ((stages & STAGE_BIT(STAGE_GRAD_PARAMETERS) || backward->attention.held[STAGE_GRAD_GATE].rank > 0) &&
        hold_beyond(backward, arena, error) != STATUS_OK)
        return error->status;
    if (stages & (SUMMED | BEYOND) && hold_sums(backward, arena, error) != STATUS_OK)
        return error->status;
    if (problem->path.fused_backward && stages & (SUMMED | BEYOND) &&
        backward_fused(&backward->attention, &backward->contexts, problem, &made, error) != STATUS_OK)
        return error->status;
    if (!made && go_by_rows(backward, stages, arena, error) != STATUS_OK)
        return error->status;
    return stages & BEYOND ? go_beyond(backward, arena, error) : STATUS_OK;
}

static size_t matrix_of(const struct problem *problem, enum stage stage, size_t item, size_t head)
{
    if (STAGES[stage].joins_heads)
        return item;
    return stage_is_of_keys(stage)
               ? item * problem->size.kv_heads + head / (problem->size.heads / problem->size.kv_heads)
               : item * problem->size.heads + head;
}

void backward_row(struct backward *backward, enum stage stage, size_t item, size_t head, size_t row, double *numbers)
{
    const struct problem *problem = &backward->problem;
    const struct tensor *held = &backward->attention.held[stage];
    const size_t columns = problem_columns_of_head(problem, stage);
    const size_t rows = stage_is_of_keys(stage) ? problem->size.keys : problem->size.queries;
    if (stage_is_square(stage) || held->rank == 0)
        row_stream_get(&backward->rows, stage, item, head, row, numbers);
    else
        tensor_load(held, (matrix_of(problem, stage, item, head) * rows + row) * columns, columns, numbers);
}
