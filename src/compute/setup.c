#include "compute/setup.h"

#include "base/threads.h"
#include "compute/float32_path.h"
#include "stage/projections.h"

#include <math.h>
#include <string.h>

/* Cuts one row of a module's projection into its heads.
 *   columns    (heads d) of the module, whose first head is `head`
 *   projected  (B, H or H_kv, count, d) written at row `row` of the item */
static void split_heads(const struct problem *problem, double *columns, size_t item, size_t head, size_t heads,
                        size_t row, const struct tensor *projected)
{
    const size_t d = problem->d_head, all = projected->shape[1], count = projected->shape[2];
    dtype_round(problem->dtype, columns, heads * d);
    for (size_t i = 0; i < heads; i++)
        tensor_store(projected, ((item * all + head + i) * count + row) * d, d, columns + i * d);
}

/* One projection of one module for every item. */
struct projecting {
    const struct attention *attention;
    const struct tensor *projected; /* (B, H or H_kv, count, d) written */
    bool of_queries;                /* count is that of the queries asked for; else of all tokens */
    size_t head, heads;             /* of the module: the first, and how many */
    double *weight, *bias;          /* (d_in, heads d), (heads d) or NULL */
    double *scratch;                /* (threads, d_in + heads d) */
};

/* One row of one item. */
static void project_row(void *context, size_t task, unsigned thread)
{
    const struct projecting *projecting = context;
    const struct attention *attention = projecting->attention;
    const struct problem *problem = attention->problem;
    const size_t d_in = problem->d_in, columns = projecting->heads * problem->d_head;
    const size_t count = projecting->projected->shape[2], item = task / count, row = task % count;
    const size_t token = projecting->of_queries ? attention->positions[row] : row;
    double *x = projecting->scratch + thread * (d_in + columns), *y = x + d_in;
    const struct tensor *inputs = projecting->of_queries ? &problem->inputs : &problem->key_inputs;
    tensor_load(inputs, (item * inputs->shape[inputs->rank - 2] + token) * d_in, d_in, x);
    projection_row(x, projecting->weight, projecting->bias, y, d_in, columns);
    split_heads(problem, y, item, projecting->head, projecting->heads, row, projecting->projected);
}

/* From here on work is worth more than one thread: 2^24 multiply-adds. */
static const double THREADS_WORK = 0x1p24;

static unsigned threads_for(const struct problem *problem, double multiply_adds)
{
    return multiply_adds >= THREADS_WORK ? problem->threads : 1;
}

static enum status project_module(const struct attention *attention, size_t module, enum projection_id id,
                                  const struct tensor *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t heads = projected->shape[1] / problem->plan.module_count, rows = problem->items * projected->shape[2];
    const size_t numbers = problem->d_in + heads * problem->d_head;
    const unsigned threads =
        threads_for(problem, (double)rows * (double)problem->d_in * (double)(heads * problem->d_head));
    struct arena scratch = {0};
    const struct projection *projection = &problem->parameters.modules[module].projections[id];
    struct projecting projecting = {.attention = attention,
                                    .projected = projected,
                                    .of_queries = id == PROJECTION_QUERY,
                                    .head = module * heads,
                                    .heads = heads};
    if (projection_weight(projection, &projecting.weight, &scratch, error) == STATUS_OK &&
        projection_bias(projection, &projecting.bias, &scratch, error) == STATUS_OK)
        projecting.scratch = arena_allocate(&scratch, threads, numbers * sizeof(double), error);
    if (projecting.scratch != NULL)
        threads_run(threads, rows, project_row, &projecting);
    arena_free(&scratch);
    return projecting.scratch == NULL ? error->status : STATUS_OK;
}

static enum status make_scratch(struct attention_scratch *scratch, const struct problem *problem, bool rows,
                                struct arena *arena, struct error *error)
{
    const size_t keys = rows ? problem->keys : 1;
    const size_t widest = memory_larger(problem->d_head, problem->d_value);
    double **const all[] = {&scratch->operand, &scratch->scaled_query, &scratch->bias, &scratch->cast,
                            &scratch->rows[STAGE_QUERY]};
    const size_t sizes[] = {widest, problem->d_head, keys, keys, problem->d_head};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = arena_allocate(arena, sizes[i], sizeof(double), error);
        if (*all[i] == NULL)
            return error->status;
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        const size_t columns = problem_columns_of_head(problem, (enum stage)stage);
        if (!stage_is_made_by_row((enum stage)stage))
            continue;
        scratch->rows[stage] =
            arena_allocate(arena, memory_smaller(columns, rows ? columns : 1), sizeof(double), error);
        if (scratch->rows[stage] == NULL)
            return error->status;
    }
    return STATUS_OK;
}

static enum status make_scratches(struct attention *attention, uint64_t stages, struct arena *arena,
                                  struct error *error)
{
    const struct problem *problem = attention->problem;
    const double rows = (double)problem->items * (double)problem->heads * (double)attention->slots;
    const double work = rows * (double)problem->keys * (double)(problem->d_head + problem->d_value);
    bool asked = !problem->fused;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        asked = asked || (stages & STAGE_BIT(stage) && stage_is_made_by_row((enum stage)stage));
    attention->threads = asked ? threads_for(problem, work) : 1;
    attention->scratch = arena_allocate(arena, attention->threads, sizeof *attention->scratch, error);
    for (unsigned thread = 0; attention->scratch != NULL && thread < attention->threads; thread++)
        if (make_scratch(&attention->scratch[thread], problem, asked, arena, error) != STATUS_OK)
            return error->status;
    return attention->scratch == NULL ? error->status : STATUS_OK;
}

/* Whether a stage asked for is held whole and made here: query, key and value where they are not given as they are,
 * what has one number for each query, and what the fused path makes. */
static bool is_made_whole(const struct attention *attention, enum stage stage)
{
    const struct problem *problem = attention->problem;
    if (STAGES[stage].operand)
        return problem_projects(problem) || (!stage_is_of_keys(stage) && attention->slots != problem->queries);
    if (!stage_has_columns(stage))
        return true;
    if (stage == STAGE_CONTEXT && (problem->packed || !problem_shows_stage(problem, stage)))
        return false;
    return attention->fused && !STAGES[stage].repeats && !stage_is_square(stage);
}

struct held {
    enum stage stage;
    size_t rank, shape[TENSOR_RANK];
};

static struct held shape_held(const struct attention *attention, enum stage stage)
{
    const struct problem *problem = attention->problem;
    struct held held = {.stage = stage};
    held.shape[held.rank++] = problem->items;
    if (!STAGES[stage].joins_heads)
        held.shape[held.rank++] = stage_is_of_keys(stage) ? problem->kv_heads : problem->heads;
    held.shape[held.rank++] = stage_is_of_keys(stage) ? problem->keys : attention->slots;
    if (stage_has_columns(stage))
        held.shape[held.rank++] = problem_columns_of_head(problem, stage);
    return held;
}

static size_t list_held(const struct attention *attention, uint64_t stages, struct held held[STAGE_COUNT])
{
    size_t count = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && is_made_whole(attention, (enum stage)stage))
            held[count++] = shape_held(attention, (enum stage)stage);
    return count;
}

/* Bytes of what is held, and of the largest thing that is made on the way: a weight, packed or in double, or the heads
 * side by side. */
static double count_bytes(const struct attention *attention, const struct held *held, size_t count)
{
    const struct problem *problem = attention->problem;
    const double number = (double)dtype_size(dtype_storage(problem->dtype));
    const size_t d_out = problem->plan.d_out;
    const size_t widest = problem->plan.has_out ? memory_larger(problem->d_in, d_out) : problem->d_in;
    double bytes =
        (double)(problem->float32_projections ? sizeof(float) : sizeof(double)) * (double)d_out * (double)widest;
    for (size_t i = 0; i < count; i++) {
        double numbers = 1;
        for (size_t axis = 0; axis < held[i].rank; axis++)
            numbers *= (double)held[i].shape[axis];
        bytes += numbers * number * (STAGES[held[i].stage].joins_heads && problem->plan.has_out ? 2 : 1);
    }
    return bytes;
}

/* Room for it, before any of it is computed. The system promises more than it has: what cannot be is said here. */
static enum status make_room(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error)
{
    struct held held[STAGE_COUNT];
    const size_t count = list_held(attention, stages, held);
    const double there = memory_there(), needed = count_bytes(attention, held, count);
    if (needed > there)
        return error_system(error, 0,
                            "not enough memory: this job needs %.1f GB for query, key, value and what is made of them, "
                            "%.1f GB are there; expected fewer tokens, columns or items",
                            needed / 1e9, there / 1e9);
    for (size_t i = 0; i < count; i++)
        if (tensor_create(&attention->held[held[i].stage], dtype_storage(attention->problem->dtype), held[i].rank,
                          held[i].shape, arena, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

/* The float32 kernels do not round; what the reference goes on from is rounded to the working dtype. */
static void round_tensor(enum dtype dtype, const struct tensor *tensor)
{
    float *numbers = tensor->data;
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        double number = numbers[i];
        dtype_round(dtype, &number, 1);
        numbers[i] = (float)number;
    }
}

/* One projection of every module. */
static enum status make_projection(const struct attention *attention, enum projection_id id, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct tensor *projected = &attention->held[projection_stage(id)];
    for (size_t module = 0; module < problem->plan.module_count; module++) {
        enum status status = problem->float32_projections
                                 ? float32_path_projection(attention, module, id, projected, error)
                                 : project_module(attention, module, id, projected, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status make_projections(struct attention *attention, uint64_t stages, struct error *error)
{
    for (int id = 0; id < PROJECTION_COUNT; id++)
        if (stages & STAGE_BIT(projection_stage((enum projection_id)id)) &&
            make_projection(attention, (enum projection_id)id, error) != STATUS_OK)
            return error->status;
    return STATUS_OK;
}

static bool all_finite(const struct tensor *tensor)
{
    const float *numbers = tensor->data;
    const size_t count = tensor->rank > 0 ? tensor_count(tensor) : 0;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

/* A key or value that overflowed must not reach a query that does not see it. Only the reference keeps it out. */
static enum status check_overflow(struct attention *attention, struct error *error)
{
    const struct problem *problem = attention->problem;
    if (!attention->fused || !problem->masks ||
        (all_finite(&attention->held[STAGE_KEY]) && all_finite(&attention->held[STAGE_VALUE])))
        return STATUS_OK;
    if (problem->forced)
        return error_usage(error,
                           "--kernel fused: %s overflowed in float32, which the reference alone keeps out of rows "
                           "that may not see it; expected --kernel auto",
                           all_finite(&attention->held[STAGE_KEY]) ? "value" : "key");
    attention->fused = false;
    attention->held[STAGE_CONTEXT].rank = attention->held[STAGE_OUTPUT].rank = 0;
    return STATUS_OK;
}

static void round_projections(const struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const bool rounds =
        problem->float32_projections && !attention->fused && problem->dtype != dtype_storage(problem->dtype);
    for (int stage = 0; stage < STAGE_COUNT && rounds; stage++)
        if (STAGES[stage].operand && attention->held[stage].rank > 0)
            round_tensor(problem->dtype, &attention->held[stage]);
}

/* sdpa's query, key and value as they were given; of query the rows that are asked for. */
static void take_given(struct attention *attention, uint64_t stages)
{
    const struct problem *problem = attention->problem;
    const struct tensor *given = problem->given;
    attention->held[STAGE_KEY] = given[1];
    attention->held[STAGE_VALUE] = given[2];
    if (attention->slots == problem->queries || (stages & STAGE_BIT(STAGE_QUERY)) == 0) {
        attention->held[STAGE_QUERY] = given[0];
        return;
    }
    const size_t row = problem->d_head * dtype_size(given[0].dtype);
    char *to = attention->held[STAGE_QUERY].data;
    for (size_t matrix = 0; matrix < problem->items * problem->heads; matrix++)
        for (size_t slot = 0; slot < attention->slots; slot++, to += row)
            memcpy(to, (const char *)given[0].data + (matrix * problem->queries + attention->positions[slot]) * row,
                   row);
}

struct lse_run {
    const struct attention *attention;
    size_t first; /* row, counted over items, heads and slots */
};

/* lse of one row. */
static void make_lse(void *context, size_t task, unsigned thread)
{
    const struct lse_run *run = context;
    const struct attention *attention = run->attention;
    struct attention_scratch *scratch = &attention->scratch[thread];
    const size_t row = run->first + task, matrix = row / attention->slots, heads = attention->problem->heads;
    reference_row(attention, scratch, matrix / heads, matrix % heads, row % attention->slots,
                  stage_closure(STAGE_BIT(STAGE_LSE)), NULL);
    tensor_store(&attention->held[STAGE_LSE], row, 1, scratch->rows[STAGE_LSE]);
}

/* Some rows at a time, so that progress can be told. */
static void make_lses(struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const size_t rows = problem->items * problem->heads * attention->slots, most = (size_t)attention->threads * 16;
    progress_begin(attention->progress, stage_name(STAGE_LSE), (double)rows);
    for (size_t first = 0; first < rows; first += most) {
        struct lse_run run = {attention, first};
        threads_run(attention->threads, memory_smaller(rows - first, most), make_lse, &run);
        progress_update(attention->progress, (double)memory_smaller(first + most, rows));
    }
    progress_end(attention->progress);
}

enum status setup_attention(struct attention *attention, const struct problem *problem, struct progress *progress,
                            const size_t *positions, size_t slots, uint64_t stages, struct arena *arena,
                            struct error *error)
{
    *attention = (struct attention){.problem = problem,
                                    .progress = progress,
                                    .positions = positions,
                                    .slots = slots,
                                    .fused = problem->fused,
                                    .output_threads = 1};
    if (problem->fused && stages & STAGE_BIT(STAGE_LSE)) /* which comes with a context */
        stages |= STAGE_BIT(STAGE_VALUE);
    if (make_scratches(attention, stages, arena, error) || make_room(attention, stages, arena, error))
        return error->status;
    if (!problem_projects(problem))
        take_given(attention, stages);
    else if (make_projections(attention, stages, error) || check_overflow(attention, error))
        return error->status;
    round_projections(attention);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].repeats)
            attention->held[stage] = attention->held[stage_of_numbers((enum stage)stage)];
    if (attention->fused)
        return stages & (STAGE_BIT(STAGE_CONTEXT) | STAGE_BIT(STAGE_LSE)) ? float32_path_context(attention, error)
                                                                          : STATUS_OK;
    if (stages & STAGE_BIT(STAGE_LSE))
        make_lses(attention);
    if ((stages & STAGE_BIT(STAGE_OUTPUT)) == 0 || !problem->plan.has_out)
        return STATUS_OK;
    attention->output_threads =
        threads_for(problem, (double)problem->items * (double)slots * (double)(problem->heads * problem->d_value) *
                                 (double)problem->plan.d_out);
    if (projection_weight(&problem->parameters.out, &attention->out_weight, arena, error) != STATUS_OK)
        return error->status;
    return projection_bias(&problem->parameters.out, &attention->out_bias, arena, error);
}
