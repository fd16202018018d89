/* SPDX-License-Identifier: MIT */
#include "compute/kernel_path.h"

#include "compute/setup.h"
#include "kernel/project.h"
#include "model/stage_id.h"

#include <string.h>

static void report_share(void *context, double share)
{
    struct progress *progress = context;
    progress_update(progress, share * progress->total);
}

static struct work_progress report_to(struct progress *progress, const char *name, size_t rows)
{
    progress_begin(progress, name, (double)rows);
    return (struct work_progress){report_share, progress};
}

/* The inputs of the selected queries, (B, S, d_in): in place if all are selected, else a copy. */
static const void *query_inputs(const struct attention *attention, struct arena *scratch, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct tensor *source = &attention->sources[0];
    const size_t shape[] = {problem->size.items, attention->computed_rows, problem->size.d_in};
    struct tensor gathered;
    if (attention->computed_rows == problem->size.queries)
        return source->data;
    if (tensor_create(&gathered, source->dtype, 3, shape, scratch, error) != STATUS_OK)
        return NULL;
    operands_gather(attention, source, problem->size.items, problem->size.d_in, &gathered);
    return gathered.data;
}

/* A bias in the kernel's numbers: in place, or a copy. NULL: none, or error says out of memory. */
static const void *take_bias(const struct problem *problem, const struct tensor *bias, struct arena *scratch,
                             struct error *error)
{
    const enum dtype number = problem->path.projector->number;
    if (bias->rank == 0 || bias->dtype == number)
        return bias->rank == 0 ? NULL : bias->data;
    void *numbers = arena_allocate(scratch, tensor_count(bias), dtype_size(number), error);
    if (numbers != NULL && number == DTYPE_F64)
        dtype_load(bias->dtype, bias->data, tensor_count(bias), numbers);
    else if (numbers != NULL)
        dtype_load_floats(bias->dtype, bias->data, tensor_count(bias), numbers);
    return numbers;
}

/* Runs a projection, whose sizes, x and y the job has, with progress under `name`. */
static enum status project(const struct attention *attention, const struct projection *projection,
                           struct project_job job, const char *name, struct arena *scratch, struct error *error)
{
    const struct problem *problem = attention->problem;
    job.weight = projection->weight.data;
    job.weight_dtype = projection->weight.dtype;
    job.bias = take_bias(problem, &projection->bias, scratch, error);
    job.transposed = projection->transposed;
    job.items = problem->size.items;
    job.threads = problem->path.threads;
    job.kernel = problem->path.projector;
    job.progress = report_to(attention->progress, name, job.items * job.rows);
    const enum status status = error->status == STATUS_OK ? project_compute(&job, error) : error->status;
    progress_end(attention->progress);
    return status;
}

enum status kernel_path_projection(const struct attention *attention, size_t module, enum projection_id id,
                                   const struct tensor *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t count = projected->shape[2], d = projected->shape[3];
    const size_t all_heads = projected->shape[1], heads = all_heads / problem->plan.module_count;
    struct arena scratch = {0};
    const struct project_job job = {
        .x = id == PROJECTION_QUERY ? query_inputs(attention, &scratch, error) : attention->sources[1].data,
        .y = (char *)projected->data + module * heads * count * d * dtype_size(projected->dtype),
        .rows = count,
        .d_in = id == PROJECTION_QUERY ? problem->size.d_in : problem->size.d_key_in,
        .d_out = heads * d,
        .d_head = d,
        .row_stride = d,
        .head_stride = count * d,
        .item_stride = all_heads * count * d,
    };
    const enum status status = project(attention, &problem->parameters.modules[module].projections[id], job,
                                       stage_name(projection_stage(id)), &scratch, error);
    arena_free(&scratch);
    return status;
}

/* (B, H, S, d_v) -> (B, S, H d_v) */
static void join_heads(const struct attention *attention, char *joined)
{
    const struct problem *problem = attention->problem;
    const struct tensor *context = &attention->held[STAGE_CONTEXT];
    const size_t heads = problem->size.heads, computed_rows = attention->computed_rows,
                 d = problem->size.d_value * dtype_size(context->dtype);
    const size_t width = heads * d;
    const char *from = context->data;
    for (size_t item = 0; item < problem->size.items; item++)
        for (size_t head = 0; head < heads; head++)
            for (size_t slot = 0; slot < computed_rows; slot++, from += d)
                memcpy(joined + (item * computed_rows + slot) * width + head * d, from, d);
}

/* Multiplies the heads side by side, (B, S, H d_v), by their gate, and leaves heads out. */
static enum status gate_joined(const struct attention *attention, const struct tensor *joined, struct arena *scratch,
                               struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t width = problem->size.heads * problem->size.d_value, rows = attention->computed_rows;
    const bool changes = problem->given.gate.rank > 0 || problem->given.heads_out != NULL;
    double *contexts = changes ? arena_allocate(scratch, width, sizeof *contexts, error) : NULL;
    for (size_t row = 0; row < problem->size.items * rows && contexts != NULL; row++) {
        tensor_load(joined, row * width, width, contexts);
        problem_gate_heads(problem, row / rows * problem->size.queries + attention->positions[row % rows], contexts);
        tensor_store(joined, row * width, width, contexts);
    }
    return error->status;
}

/* Lists the held statistics, and the lse for the backward pass. */
static size_t list_statistics(struct attention *attention, struct fused_statistic list[STAGE_COUNT])
{
    size_t count = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const struct tensor *held = &attention->held[stage];
        if (stage_has_columns(stage) || held->rank == 0)
            continue;
        list[count] = stage_statistic(stage);
        list[count].dtype = held->dtype;
        list[count++].numbers = held->data;
        attention->made |= STAGE_BIT(stage);
    }
    if (attention->exact_lse != NULL) {
        list[count] = stage_statistic(STAGE_LSE);
        list[count].dtype = DTYPE_F64;
        list[count++].numbers = attention->exact_lse;
    }
    return count;
}

/* --- a streamed context ------------------------------------------------------------------------------------------- */

struct file_position {
    struct streamed_output *streamed;
    uint64_t offset;
};

static bool put(void *context, const void *bytes, size_t length)
{
    struct file_position *position = context;
    const int code = output_write_at(position->streamed->output->file, position->offset, bytes, length);
    if (code != 0)
        atomic_store_explicit(&position->streamed->code, code, memory_order_relaxed);
    position->offset += length;
    return code == 0;
}

/* Writes `count` numbers of the table from index `first` on. Threads call it at the same time. */
static void write_streamed(void *context, const void *numbers, size_t first, size_t count)
{
    struct streamed_output *streamed = context;
    struct file_position position = {streamed, streamed->offset + first * dtype_size(streamed->dtype)};
    if (atomic_load_explicit(&streamed->code, memory_order_relaxed) == 0)
        dtype_encode_all(streamed->dtype, streamed->made, numbers, count, put, &position);
}

/* What both directions take of the problem; progress shows under `name`. */
static struct fused_job job_of(const struct attention *attention, const char *name)
{
    const struct problem *problem = attention->problem;
    const size_t heads = problem->size.items * problem->size.heads;
    return (struct fused_job){
        .query = attention->held[STAGE_QUERY].data,
        .key = attention->held[STAGE_KEY].data,
        .value = attention->held[STAGE_VALUE].data,
        .context = attention->held[STAGE_CONTEXT].data,
        .heads = heads,
        .group = problem->size.heads / problem->size.kv_heads,
        .heads_per_item = problem->size.heads,
        .queries = attention->computed_rows,
        .keys = problem->size.keys,
        .d = problem->size.d_head,
        .d_v = problem->size.d_value,
        .mask = problem->masks || problem->mask.sinks != NULL ? &problem->mask : NULL,
        .scale = problem->scaling.factor,
        .softcap = problem->scaling.softcap,
        .threads = problem->path.threads,
        .kernel = problem->path.kernel,
        .progress = report_to(attention->progress, name, heads * attention->computed_rows),
    };
}

static enum status attend(struct attention *attention, void *context, size_t side_by_side, struct fused_found *found,
                          struct error *error)
{
    const struct problem *problem = attention->problem;
    struct fused_statistic statistics[STAGE_COUNT];
    struct fused_job job = job_of(attention, stage_name(STAGE_CONTEXT));
    job.context = context;
    job.statistics = statistics;
    job.statistic_count = list_statistics(attention, statistics);
    job.side_by_side = side_by_side;
    job.positions = attention->positions;
    job.row_sink = (struct fused_row_sink){context == NULL ? write_streamed : NULL, &attention->streamed};
    job.found = problem->masks || !problem_projects(problem) ? found : NULL;
    enum status status = fused_context(&job, error);
    progress_end(attention->progress);
    return status;
}

enum status kernel_path_context(struct attention *attention, struct fused_found *found, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t shape[] = {problem->size.items, attention->computed_rows, problem->size.heads * problem->size.d_value};
    const size_t d_out = problem->plan.d_output;
    const bool split = attention->held[STAGE_CONTEXT].rank > 0 || attention->streamed.begun;
    bool output = attention->held[STAGE_OUTPUT].rank > 0;
    *found = (struct fused_found){false, false, false};
    struct arena scratch = {0};
    struct tensor joined = attention->held[STAGE_OUTPUT];
    enum status status = STATUS_OK;
    if (!output ? !split : problem->plan.has_out)
        status = tensor_create(&joined, problem->path.kernel->number, 3, shape, &scratch, error);
    if (status == STATUS_OK)
        status = split ? attend(attention, attention->held[STAGE_CONTEXT].data, 0, found, error)
                       : attend(attention, joined.data, problem->size.heads, found, error);
    found->query = found->query && attention->held[STAGE_QUERY].data == problem->given.operands[PROJECTION_QUERY].data;
    if (found->key || found->value || found->query)
        output = false;
    if (split)
        attention->made |= STAGE_BIT(STAGE_CONTEXT);
    if (output)
        attention->made |= STAGE_BIT(STAGE_OUTPUT);
    if (status == STATUS_OK && split && output)
        join_heads(attention, joined.data);
    if (status == STATUS_OK && output)
        status = gate_joined(attention, &joined, &scratch, error);
    if (status == STATUS_OK && output && problem->plan.has_out)
        status = project(attention, &problem->parameters.out,
                         (struct project_job){.x = joined.data,
                                              .y = attention->held[STAGE_OUTPUT].data,
                                              .rows = attention->computed_rows,
                                              .d_in = problem->size.heads * problem->size.d_value,
                                              .d_out = d_out,
                                              .d_head = d_out,
                                              .row_stride = d_out,
                                              .item_stride = attention->computed_rows * d_out},
                         stage_name(STAGE_OUTPUT), &scratch, error);
    arena_free(&scratch);
    return status;
}

enum status kernel_path_gradients(const struct attention *attention, struct fused_backward_job job, struct error *error)
{
    const struct fused_job forward = job_of(attention, stage_name(STAGE_GRAD_QUERY));
    job.forward = &forward;
    job.lse = attention->exact_lse;
    enum status status = fused_backward(&job, error);
    progress_end(attention->progress);
    return status;
}
