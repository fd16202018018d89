/* SPDX-License-Identifier: MIT */
#include "compute/setup.h"

#include "base/threads.h"
#include "compute/kernel_path.h"
#include "stage/latent.h"
#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

#include <string.h>

/* --- inputs of the projections ------------------------------------------------------------------------------------ */

/* Normalises every row of the inputs. */
struct norming {
    const struct problem *problem;
    const struct tensor *normed; /* (B, T, d_in) written */
    double *scratch;             /* (threads, d_in) */
};

static void norm_task(void *context, size_t row, unsigned thread)
{
    const struct norming *norming = context;
    const struct problem *problem = norming->problem;
    const size_t d_in = problem->size.d_in;
    double *x = norming->scratch + thread * d_in;
    tensor_load(&problem->given.inputs, row * d_in, d_in, x);
    norm_input_row(problem, x);
    tensor_store(norming->normed, row * d_in, d_in, x);
}

static enum status norm_inputs(const struct problem *problem, struct tensor *normed, struct arena *arena,
                               struct error *error)
{
    const size_t shape[] = {problem->size.items, problem->size.queries, problem->size.d_in}, rows = shape[0] * shape[1];
    const unsigned threads = setup_threads(problem, (double)rows * (double)problem->size.d_in * 8);
    struct norming norming = {.problem = problem, .normed = normed};
    struct arena scratch = {0};
    if (tensor_create(normed, dtype_storage(problem->rounding.dtype), 3, shape, arena, error) == STATUS_OK)
        norming.scratch = arena_allocate(&scratch, threads, problem->size.d_in * sizeof(double), error);
    if (norming.scratch != NULL)
        threads_run(threads, rows, norm_task, &norming);
    arena_free(&scratch);
    return norming.scratch == NULL ? error->status : STATUS_OK;
}

void operands_gather(const struct attention *attention, const struct tensor *all, size_t matrices, size_t columns,
                     const struct tensor *gathered)
{
    const size_t row = columns * dtype_size(all->dtype);
    char *to = gathered->data;
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t slot = 0; slot < attention->computed_rows; slot++, to += row)
            memcpy(to,
                   (const char *)all->data +
                       (matrix * attention->problem->size.queries + attention->positions[slot]) * row,
                   row);
}

static void hold_embedded(struct attention *attention)
{
    const struct problem *problem = attention->problem;
    const size_t d_in = problem->size.d_in;
    const struct tensor *embedded = &attention->held[STAGE_EMBEDDED];
    struct tensor positions = attention->held[STAGE_POSITIONS];
    attention->made |= STAGE_BIT(STAGE_POSITIONS) | STAGE_BIT(STAGE_EMBEDDED);
    if (embedded->rank > 0)
        operands_gather(attention, &problem->given.inputs, problem->size.items, d_in, embedded);
    /* the same for every item */
    for (size_t item = 0; item < problem->size.items && positions.rank > 0; item++) {
        operands_gather(attention, &problem->given.positions, 1, d_in, &positions);
        positions.data = (char *)positions.data + attention->computed_rows * d_in * dtype_size(positions.dtype);
    }
}

static enum status make_sources(struct attention *attention, struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    hold_embedded(attention);
    attention->sources[0] = problem->given.inputs;
    attention->sources[1] = problem->given.key_inputs;
    if (!stage_applies(problem, STAGE_NORMED))
        return STATUS_OK;
    if (norm_inputs(problem, &attention->sources[0], arena, error) != STATUS_OK)
        return error->status;
    if (!problem->given.is_cross)
        attention->sources[1] = attention->sources[0];
    attention->made |= STAGE_BIT(STAGE_NORMED);
    if (attention->held[STAGE_NORMED].rank > 0)
        operands_gather(attention, &attention->sources[0], problem->size.items, problem->size.d_in,
                        &attention->held[STAGE_NORMED]);
    return STATUS_OK;
}

/* --- projected ---------------------------------------------------------------------------------------------------- */

/* Cuts one row of a module's projection into its heads.
 *   columns    (heads d) of the module, whose first head is `head`
 *   projected  (B, H or H_kv, count, d) written at row `row` of the item */
static void split_heads(const struct problem *problem, double *columns, size_t item, size_t head, size_t heads,
                        size_t row, const struct tensor *projected)
{
    const size_t all = projected->shape[1], count = projected->shape[2], d = projected->shape[3];
    operand_clip(problem, columns, heads * d);
    dtype_round(problem->loss.noise > 0 ? DTYPE_F32 : problem->rounding.dtype, columns,
                heads * d); /* each draws its own noise */
    for (size_t i = 0; i < heads; i++)
        tensor_store(projected, ((item * all + head + i) * count + row) * d, d, columns + i * d);
}

/* One projection of one module for every item. */
struct projecting {
    const struct attention *attention;
    enum projection_id id;
    const struct tensor *source;    /* (B, T, d_in) */
    const struct tensor *projected; /* (B, H or H_kv, count, d) written */
    size_t head, heads;             /* of the module: first and count */
    size_t d_in, columns;           /* heads d */
    double *weight, *bias;          /* (d_in, columns), (columns) or NULL; or */
    struct latent_step step;
    double *scratch; /* (threads, scratch_count) */
    size_t scratch_count;
};

static void project_row(void *context, size_t task, unsigned thread)
{
    const struct projecting *projecting = context;
    const struct attention *attention = projecting->attention;
    const struct problem *problem = attention->problem;
    const size_t d_in = projecting->d_in, count = projecting->projected->shape[2];
    const size_t item = task / count, row = task % count,
                 tokens = projecting->source->shape[projecting->source->rank - 2];
    const size_t token = projecting->id == PROJECTION_QUERY ? attention->positions[row] : row;
    double *x = projecting->scratch + thread * projecting->scratch_count, *y = x + d_in;
    tensor_load(projecting->source, (item * tokens + token) * d_in, d_in, x);
    if (latent_makes(problem, projecting->id))
        latent_row(problem, projecting->id, &projecting->step, x, y + projecting->columns, y);
    else
        projection_row(problem, x, projecting->weight, projecting->bias, y, d_in, projecting->columns);
    split_heads(problem, y, item, projecting->head, projecting->heads, row, projecting->projected);
}

static enum status load_matrices(struct projecting *projecting, size_t module, size_t first, struct arena *scratch,
                                 struct error *error)
{
    const struct problem *problem = projecting->attention->problem;
    const struct projection *projection = &problem->parameters.modules[module].projections[projecting->id];
    const size_t columns = projecting->columns;
    if (latent_makes(problem, projecting->id)) {
        projecting->scratch_count += latent_scratch(problem, projecting->id);
        return latent_load(problem, projecting->id, &projecting->step, scratch, error);
    }
    if (projection_columns(projection, first, columns, &projecting->weight, scratch, error) ||
        projection_bias(projection, &projecting->bias, scratch, error))
        return error->status;
    projecting->bias = projecting->bias == NULL ? NULL : projecting->bias + first;
    return STATUS_OK;
}

/* Heads first .. first + count of a module. */
static enum status project_heads(struct projecting projecting, size_t module, size_t first, size_t count,
                                 struct error *error)
{
    const struct problem *problem = projecting.attention->problem;
    const size_t rows = problem->size.items * projecting.projected->shape[2], d = projecting.projected->shape[3];
    struct arena scratch = {0};
    projecting.head = module * projecting.heads + first;
    projecting.heads = count;
    projecting.columns = count * d;
    projecting.scratch_count = projecting.d_in + projecting.columns;
    const unsigned threads =
        setup_threads(problem, (double)rows * (double)projecting.d_in * (double)projecting.columns);
    if (load_matrices(&projecting, module, first * d, &scratch, error) == STATUS_OK)
        projecting.scratch = arena_allocate(&scratch, threads, projecting.scratch_count * sizeof(double), error);
    if (projecting.scratch != NULL)
        threads_run(threads, rows, project_row, &projecting);
    arena_free(&scratch);
    return projecting.scratch == NULL ? error->status : STATUS_OK;
}

/* Projects as many heads at a time as fit PIECE_NUMBERS, at least one; with a latent, all of them. */
static enum status project_module(const struct attention *attention, size_t module, enum projection_id id,
                                  const struct tensor *projected, struct error *error)
{
    enum { PIECE_NUMBERS = 1 << 21 }; /* of the weight in double, 16 MB */
    const struct problem *problem = attention->problem;
    const struct projecting projecting = {.attention = attention,
                                          .id = id,
                                          .source = &attention->sources[id != PROJECTION_QUERY],
                                          .projected = projected,
                                          .heads = projected->shape[1] / problem->plan.module_count,
                                          .d_in = id == PROJECTION_QUERY ? problem->size.d_in : problem->size.d_key_in};
    const size_t fit = PIECE_NUMBERS / (projecting.d_in * projected->shape[3]);
    const size_t most = latent_makes(problem, id) ? projecting.heads : fit > 0 ? fit : 1;
    for (size_t first = 0; first < projecting.heads; first += most)
        if (project_heads(projecting, module, first, memory_smaller(most, projecting.heads - first), error))
            return error->status;
    return STATUS_OK;
}

static void clip_all(const struct problem *problem, const struct tensor *projected)
{
    enum { RUN = 256 };
    double numbers[RUN];
    const size_t count = problem->given.clip > 0 ? tensor_count(projected) : 0;
    for (size_t first = 0, run; first < count; first += run) {
        run = memory_smaller(RUN, count - first);
        tensor_load(projected, first, run, numbers);
        operand_clip(problem, numbers, run);
        tensor_store(projected, first, run, numbers);
    }
}

static enum status make_projection(struct attention *attention, enum projection_id id, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct tensor *projected = &attention->held[projection_stage(id)];
    for (size_t module = 0; module < problem->plan.module_count; module++) {
        enum status status = problem->path.kernel_projections && !latent_makes(problem, id)
                                 ? kernel_path_projection(attention, module, id, projected, error)
                                 : project_module(attention, module, id, projected, error);
        if (status != STATUS_OK)
            return status;
    }
    if (problem->path.kernel_projections)
        clip_all(problem, projected);
    attention->made |= STAGE_BIT(projection_stage(id));
    return STATUS_OK;
}

/* --- given -------------------------------------------------------------------------------------------------------- */

/* Takes sdpa's operands, or copies if steps follow; only the selected rows of query. */
static void take_given(struct attention *attention, uint64_t stages)
{
    const struct problem *problem = attention->problem;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        const struct tensor *given = &problem->given.operands[id];
        struct tensor *held = &attention->held[projection_stage(id)];
        attention->made |= STAGE_BIT(projection_stage(id));
        if (held->rank == 0)
            *held = *given;
        else if ((stages & STAGE_BIT(projection_stage(id))) == 0)
            continue;
        else if (id == PROJECTION_QUERY)
            operands_gather(attention, given, problem->size.items * problem->size.heads, problem->size.d_head, held);
        else
            memcpy(held->data, given->data, tensor_count(given) * dtype_size(given->dtype));
    }
}

/* --- norm, rotation, scale ---------------------------------------------------------------------------------------- */

/* All heads of one token of query, key or value. */
struct finishing {
    const struct attention *attention;
    enum projection_id id;
    const struct tensor *made, *projected, *normed; /* (B, H, count, d); the last two may be of rank 0 */
    double *scratch;                                /* (threads, 3 H d + d) */
};

static void finish_task(void *context, size_t task, unsigned thread)
{
    const struct finishing *finishing = context;
    const struct attention *attention = finishing->attention;
    const struct problem *problem = attention->problem;
    const size_t rows = finishing->made->shape[2], item = task / rows, row = task % rows;
    const size_t d = finishing->made->shape[3], width = finishing->made->shape[1] * d;
    double *projected = finishing->scratch + thread * (3 * width + d), *normed = projected + width,
           *made = normed + width;
    operand_load_heads(finishing->made, item, row, projected);
    dtype_round(problem->rounding.dtype, projected, width); /* the kernels do not round */
    operand_steps(problem, finishing->id,
                  operand_position(problem, finishing->id, item,
                                   finishing->id == PROJECTION_QUERY ? attention->positions[row] : row),
                  projected, normed, made, made + width);
    operand_store_heads(finishing->projected, item, row, projected);
    operand_store_heads(finishing->normed, item, row, normed);
    operand_store_heads(finishing->made, item, row, made);
}

static enum status finish(struct attention *attention, enum projection_id id, struct error *error)
{
    const struct problem *problem = attention->problem;
    static const enum stage NORMED[] = {STAGE_NORMED_QUERY, STAGE_NORMED_KEY, STAGE_VALUE};
    static const struct tensor NONE = {0};
    struct finishing finishing = {
        .attention = attention,
        .id = id,
        .made = &attention->held[projection_stage(id)],
        .projected = &attention->held[projection_unstepped(id)],
        .normed = id == PROJECTION_VALUE ? &NONE : &attention->held[NORMED[id]],
    };
    const size_t tasks = problem->size.items * finishing.made->shape[2];
    const size_t d = finishing.made->shape[3], width = finishing.made->shape[1] * d;
    const unsigned threads = setup_threads(problem, (double)tasks * (double)width * 8);
    struct arena scratch = {0};
    finishing.scratch = arena_allocate(&scratch, threads, (3 * width + d) * sizeof(double), error);
    if (finishing.scratch != NULL)
        threads_run(threads, tasks, finish_task, &finishing);
    arena_free(&scratch);
    attention->made |= STAGE_BIT(projection_unstepped(id)) | STAGE_BIT(NORMED[id]);
    return finishing.scratch == NULL ? error->status : STATUS_OK;
}

static void hold_gate(struct attention *attention)
{
    const struct problem *problem = attention->problem;
    attention->made |= STAGE_BIT(STAGE_GATE);
    if (attention->held[STAGE_GATE].rank > 0)
        operands_gather(attention, &problem->given.gate, problem->size.items * problem->size.heads,
                        problem->size.d_value, &attention->held[STAGE_GATE]);
}

enum status operands_make(struct attention *attention, uint64_t stages, struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    if (!problem_projects(problem))
        take_given(attention, stages);
    else if (make_sources(attention, arena, error) != STATUS_OK)
        return error->status;
    hold_gate(attention);
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        if ((stages & STAGE_BIT(projection_stage(id))) == 0)
            continue;
        if ((problem_projects(problem) && make_projection(attention, id, error)) ||
            (operand_has_steps(problem, id) && finish(attention, id, error)))
            return error->status;
    }
    return STATUS_OK;
}
