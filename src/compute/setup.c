/* SPDX-License-Identifier: MIT */
#include "compute/setup.h"

#include "base/threads.h"
#include "compute/kernel_path.h"
#include "model/stages.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

/* Multiply-adds from which work is worth more than one thread. */
static const double THREADS_WORK = 0x1p24;

unsigned setup_threads(const struct problem *problem, double multiply_adds)
{
    return multiply_adds >= THREADS_WORK ? problem->path.threads : 1;
}

static enum status make_scratch(struct attention_scratch *scratch, const struct problem *problem, bool rows,
                                struct arena *arena, struct error *error)
{
    const size_t keys = rows ? problem->size.keys : 1;
    double **const all[] = {&scratch->query, &scratch->bias, &scratch->cast, &scratch->rows[STAGE_QUERY],
                            &scratch->rows[STAGE_GRAD_CONTEXT]};
    const size_t sizes[] = {2 * problem->size.d_head, keys, keys, problem->size.d_head, problem->size.d_value};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = arena_allocate(arena, sizes[i], sizeof(double), error);
        if (*all[i] == NULL)
            return error->status;
    }
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const size_t columns = problem_columns_of_head(problem, stage);
        if (!stage_is_made_by_row(stage) || (STAGES[stage].backward && !problem->loss.is_given))
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
    const double rows = (double)problem->size.items * (double)problem->size.heads * (double)attention->computed_rows;
    const double work = rows * (double)problem->size.keys * (double)(problem->size.d_head + problem->size.d_value);
    bool asked = !problem->path.fused;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        asked = asked || (stages & STAGE_BIT(stage) && stage_is_made_by_row(stage));
    attention->threads = asked ? setup_threads(problem, work) : 1;
    attention->scratch = arena_allocate(arena, attention->threads, sizeof *attention->scratch, error);
    for (unsigned thread = 0; attention->scratch != NULL && thread < attention->threads; thread++)
        if (make_scratch(&attention->scratch[thread], problem, asked, arena, error) != STATUS_OK)
            return error->status;
    return attention->scratch == NULL ? error->status : STATUS_OK;
}

/* Whether this file makes and holds the stage: query, key and value unless used as given, row statistics, and what the
 * fused path makes. */
static bool is_made_whole(const struct attention *attention, enum stage stage)
{
    const struct problem *problem = attention->problem;
    if (STAGES[stage].backward) /* backward.c holds gradients */
        return false;
    if (STAGES[stage].operand)
        return problem_projects(problem) ||
               (!stage_is_of_keys(stage) && attention->computed_rows != problem->size.queries) ||
               operand_has_steps(problem, projection_of(stage));
    if (!stage_is_attended(stage) && !STAGES[stage].repeats)
        return stage_applies(problem, stage);
    if (!stage_has_columns(stage))
        return true;
    if (stage == STAGE_CONTEXT &&
        (attention->streamed.begun || problem->size.heads_packed || !problem_shows_stage(problem, stage)))
        return false;
    return attention->fused && !STAGES[stage].repeats && !stage_is_square(stage);
}

struct held {
    enum stage stage;
    enum dtype dtype;
    size_t rank, shape[TENSOR_RANK];
};

static struct held shape_held(const struct attention *attention, enum stage stage)
{
    const struct problem *problem = attention->problem;
    const bool given = STAGES[stage].operand && !problem_projects(problem); /* sdpa's operands stay in place */
    struct held held = {.stage = stage,
                        .dtype = given ? problem->given.operands[PROJECTION_QUERY].dtype
                                       : dtype_storage(problem->rounding.dtype)};
    held.shape[held.rank++] = problem->size.items;
    if (!STAGES[stage].joins_heads)
        held.shape[held.rank++] = stage_is_of_keys(stage) ? problem->size.kv_heads : problem->size.heads;
    held.shape[held.rank++] = stage_is_of_keys(stage) ? problem->size.keys : attention->computed_rows;
    if (stage_has_columns(stage))
        held.shape[held.rank++] = problem_columns_of_head(problem, stage);
    return held;
}

static size_t list_held(const struct attention *attention, uint64_t stages, struct held held[STAGE_COUNT])
{
    size_t count = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && is_made_whole(attention, stage))
            held[count++] = shape_held(attention, stage);
    return count;
}

/* Bytes of the held tensors, of the reference's current head and contexts for output, and of the largest temporary: a
 * weight, packed or in double, or the heads side by side. */
static double count_bytes(const struct attention *attention, uint64_t stages, const struct held *held, size_t count)
{
    const struct problem *problem = attention->problem;
    const size_t d_out = memory_larger(problem->plan.d_out, problem->plan.has_out ? problem->plan.d_output : 0);
    const size_t widest =
        problem->plan.has_out ? memory_larger(problem->size.d_in, problem->plan.d_out) : problem->size.d_in;
    double bytes =
        (double)(problem->path.kernel_projections ? dtype_size(problem->path.projector->number) : sizeof(double)) *
            (double)d_out * (double)widest +
        attention->extra_bytes;
    if (!attention->fused)
        bytes += sizeof(double) * head_numbers(problem, stages);
    if (!attention->fused && stages & STAGE_BIT(STAGE_OUTPUT))
        bytes += (double)dtype_size(dtype_storage(problem->rounding.dtype)) *
                 (double)(problem->size.items * problem->size.heads * attention->computed_rows) *
                 (double)problem->size.d_value;
    for (size_t i = 0; i < count; i++) {
        double numbers = (double)dtype_size(held[i].dtype);
        for (size_t axis = 0; axis < held[i].rank; axis++)
            numbers *= (double)held[i].shape[axis];
        bytes += numbers * (STAGES[held[i].stage].joins_heads && problem->plan.has_out ? 2 : 1);
    }
    return bytes;
}

enum status setup_room(double needed, struct error *error)
{
    const double there = memory_there();
    if (needed <= there)
        return STATUS_OK;
    const bool small = needed < 1e9;
    return error_system(error, 0,
                        "not enough memory: this job needs %.1f %s for query, key, value and the tables made from "
                        "them, but only %.1f %s are free; expected fewer tokens, columns or items",
                        needed / (small ? 1e6 : 1e9), small ? "MB" : "GB", there / (small ? 1e6 : 1e9),
                        small ? "MB" : "GB");
}

/* Allocates all of it before computing any. */
static enum status create_held(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error)
{
    struct held held[STAGE_COUNT];
    const size_t count = list_held(attention, stages, held);
    if (setup_room(count_bytes(attention, stages, held, count), error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < count; i++)
        if (tensor_create(&attention->held[held[i].stage], held[i].dtype, held[i].rank, held[i].shape, arena, error) !=
            STATUS_OK)
            return error->status;
    return STATUS_OK;
}

/* Rounds what the kernels made to the working dtype, for the reference. */
static void round_tensor(enum dtype dtype, const struct tensor *tensor)
{
    float *numbers = tensor->data;
    for (size_t i = 0; i < tensor_count(tensor); i++) {
        double number = numbers[i];
        dtype_round(dtype, &number, 1);
        numbers[i] = (float)number;
    }
}

/* Runs the fused path. A non-finite key or value must not reach a query that may not attend to it. Only the reference
 * ensures that, so it takes over then. */
static enum status make_fused(struct attention *attention, uint64_t stages, struct error *error)
{
    const struct problem *problem = attention->problem;
    const bool made = problem_projects(problem);
    struct fused_found found;
    if (!attention->fused || (stages & (STAGE_BIT(STAGE_CONTEXT) | stage_statistics(stages))) == 0)
        return STATUS_OK;
    if (kernel_path_context(attention, &found, error) != STATUS_OK || (!found.key && !found.value && !found.query))
        return error->status;
    if (problem->path.forced != NULL)
        return error_usage(
            error, "--kernel %s: %s %s%s, and only the reference keeps that out of rows where the key is masked%s",
            problem->path.forced,
            found.query ? "query"
            : found.key ? "key"
                        : "value",
            made ? "overflowed in " : "holds NaN or infinity", made ? dtype_title(problem->path.kernel->number) : "",
            made ? "; expected --kernel auto" : "");
    attention->fused = attention->streamed.begun = false;
    attention->held[STAGE_CONTEXT].rank = attention->held[STAGE_OUTPUT].rank = 0;
    return STATUS_OK;
}

static void round_projections(const struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const bool rounds = problem->path.kernel_projections && problem_projects(problem) && !attention->fused &&
                        problem->rounding.dtype != dtype_storage(problem->rounding.dtype);
    for (enum stage stage = 0; stage < STAGE_COUNT && rounds; stage++)
        if (STAGES[stage].operand && attention->held[stage].rank > 0)
            round_tensor(problem->rounding.dtype, &attention->held[stage]);
}

struct statistics_run {
    const struct attention *attention;
    uint64_t stages;
    size_t first; /* row over items, heads and computed_rows */
};

static void make_row_statistics(void *context, size_t task, unsigned thread)
{
    const struct statistics_run *run = context;
    const struct attention *attention = run->attention;
    struct attention_scratch *scratch = &attention->scratch[thread];
    const size_t row = run->first + task, matrix = row / attention->computed_rows,
                 heads = attention->problem->size.heads;
    reference_row(attention, scratch, matrix / heads, matrix % heads, row % attention->computed_rows, run->stages,
                  NULL);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (run->stages & STAGE_BIT(stage))
            tensor_store(&attention->held[stage], row, 1, scratch->rows[stage]);
}

/* Makes row statistics, some rows at a time, to report progress. */
static void make_statistics(struct attention *attention, uint64_t stages)
{
    const struct problem *problem = attention->problem;
    int named = 0;
    while ((stages & STAGE_BIT(named)) == 0)
        named++;
    const size_t rows = problem->size.items * problem->size.heads * attention->computed_rows,
                 most = (size_t)attention->threads * 16;
    progress_begin(attention->progress, stage_name((enum stage)named), (double)rows);
    for (size_t first = 0, count; first < rows; first += count) {
        const size_t matrix = first / attention->computed_rows;
        struct statistics_run run = {attention, stages, first};
        count = memory_smaller((matrix + 1) * attention->computed_rows - first, most); /* of one head */
        reference_begin(attention, matrix / problem->size.heads, matrix % problem->size.heads, stages);
        threads_run(attention->threads, count, make_row_statistics, &run);
        progress_update(attention->progress, (double)(first + count));
    }
    progress_end(attention->progress);
    attention->made |= stages;
}

enum status setup_attention(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    attention->fused = problem->path.fused;
    attention->output_threads = 1;
    attention->streamed.begun = attention->fused && attention->streamed.output != NULL &&
                                stages & STAGE_BIT(STAGE_CONTEXT) && (stages & STAGE_BIT(STAGE_OUTPUT)) == 0;
    if (problem->path.fused && stage_statistics(stages) != 0) /* statistics come with a context */
        stages |= STAGE_BIT(STAGE_VALUE);
    if (stages & (STAGE_BIT(STAGE_PROJECTED_QUERY) | STAGE_BIT(STAGE_NORMED_QUERY))) /* filled while making query */
        stages |= STAGE_BIT(STAGE_QUERY);
    if (stages & (STAGE_BIT(STAGE_PROJECTED_KEY) | STAGE_BIT(STAGE_NORMED_KEY)))
        stages |= STAGE_BIT(STAGE_KEY);
    if (stages & STAGE_BIT(STAGE_PROJECTED_VALUE))
        stages |= STAGE_BIT(STAGE_VALUE);
    if (make_scratches(attention, stages, arena, error) || create_held(attention, stages, arena, error))
        return error->status;
    if (operands_make(attention, stages, arena, error) || make_fused(attention, stages, error))
        return error->status;
    round_projections(attention);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].repeats) {
            attention->held[stage] = attention->held[stage_of_numbers(stage)];
            attention->made |= STAGE_BIT(stage);
        }
    if (attention->fused)
        return STATUS_OK;
    attention->head = arena_allocate(arena, 1, sizeof *attention->head, error);
    if (attention->head == NULL || head_create(attention->head, problem, stages, arena, error) != STATUS_OK)
        return error->status;
    if (stage_statistics(stages) != 0)
        make_statistics(attention, stage_statistics(stages));
    const struct projection *unembedding = &problem->parameters.words.unembedding;
    if (stages & STAGE_BIT(STAGE_LOGITS) && (projection_weight(unembedding, &attention->unembedding, arena, error) ||
                                             projection_bias(unembedding, &attention->unembedding_bias, arena, error)))
        return error->status;
    if ((stages & STAGE_BIT(STAGE_OUTPUT)) == 0 || !problem->plan.has_out)
        return STATUS_OK;
    attention->output_threads = setup_threads(problem, (double)problem->size.items * (double)attention->computed_rows *
                                                           (double)(problem->size.heads * problem->size.d_value) *
                                                           (double)problem->plan.d_output);
    if (projection_weight(&problem->parameters.out, &attention->out_weight, arena, error) != STATUS_OK)
        return error->status;
    return projection_bias(&problem->parameters.out, &attention->out_bias, arena, error);
}
