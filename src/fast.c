#include "fast.h"

#include "fused.h"

#include <string.h>

static void report_share(void *context, double share)
{
    struct progress *progress = context;
    progress_update(progress, share * progress->total);
}

static struct fused_progress report_to(struct progress *progress, const char *name, size_t rows)
{
    progress_begin(progress, name, (double)rows);
    return (struct fused_progress){report_share, progress};
}

/* The inputs of the queries asked for, (B, S, d_in): as they lie where all are asked for, else a copy. */
static const float *query_inputs(const struct attention *attention, struct arena *scratch, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t d_in = problem->d_in, slots = attention->slots;
    const float *inputs = problem->inputs.data;
    if (slots == problem->tokens)
        return inputs;
    struct tensor gathered;
    const size_t shape[] = {problem->items, slots, d_in};
    if (tensor_create(&gathered, DTYPE_F32, 3, shape, scratch, error) != STATUS_OK)
        return NULL;
    float *to = gathered.data;
    for (size_t item = 0; item < problem->items; item++)
        for (size_t slot = 0; slot < slots; slot++, to += d_in)
            memcpy(to, inputs + (item * problem->tokens + attention->positions[slot]) * d_in, d_in * sizeof *to);
    return gathered.data;
}

enum status fast_projection(const struct attention *attention, size_t module, enum projection_id id,
                            const struct tensor *projected, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct projection *projection = &problem->parameters.modules[module].projections[id];
    const size_t count = projected->shape[2], d = problem->d_head;
    const size_t heads = problem->heads / problem->plan.module_count;
    struct arena scratch = {0};
    const float *x = id == PROJECTION_QUERY ? query_inputs(attention, &scratch, error) : problem->inputs.data;
    const struct fused_projection work = {
        .x = x,
        .weight = projection->weight.data,
        .bias = projection->bias.data,
        .y = (float *)projected->data + module * heads * count * d,
        .items = problem->items,
        .rows = count,
        .d_in = problem->d_in,
        .d_out = problem->plan.d_out,
        .transposed = projection->transposed,
        .d_head = d,
        .row_stride = d,
        .head_stride = count * d,
        .item_stride = problem->heads * count * d,
        .threads = problem->threads,
        .kernel = problem->kernel,
        .progress =
            report_to(problem->progress, stage_name((enum stage)(STAGE_QUERY + (int)id)), problem->items * count),
    };
    enum status status = x == NULL ? error->status : fused_project(&work, error);
    progress_end(problem->progress);
    arena_free(&scratch);
    return status;
}

/* output = the heads' contexts side by side, (B, S, H d), through out_proj where there is one. */
static enum status make_output(const struct attention *attention, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, heads = problem->heads, slots = attention->slots, width = heads * d;
    const struct projection *out = &problem->parameters.out;
    const size_t shape[] = {problem->items, slots, width};
    struct arena scratch = {0};
    struct tensor joined = attention->output;
    if (problem->plan.has_out && tensor_create(&joined, DTYPE_F32, 3, shape, &scratch, error) != STATUS_OK)
        return error->status;
    const float *from = attention->context.data;
    float *to = joined.data;
    for (size_t item = 0; item < problem->items; item++)
        for (size_t head = 0; head < heads; head++)
            for (size_t slot = 0; slot < slots; slot++, from += d)
                memcpy(to + (item * slots + slot) * width + head * d, from, d * sizeof *to);
    const struct fused_projection work = {
        .x = to,
        .weight = out->weight.data,
        .bias = out->bias.data,
        .y = attention->output.data,
        .items = problem->items,
        .rows = slots,
        .d_in = width,
        .d_out = problem->plan.d_out,
        .transposed = out->transposed,
        .d_head = problem->plan.d_out,
        .row_stride = problem->plan.d_out,
        .item_stride = slots * problem->plan.d_out,
        .threads = problem->threads,
        .kernel = problem->kernel,
        .progress = report_to(problem->progress, stage_name(STAGE_OUTPUT), problem->items * slots),
    };
    enum status status = problem->plan.has_out ? fused_project(&work, error) : STATUS_OK;
    progress_end(problem->progress);
    arena_free(&scratch);
    return status;
}

enum status fast_context(const struct attention *attention, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t matrices = problem->items * problem->heads;
    const struct mask mask = {.queries = problem->tokens,
                              .keys = problem->tokens,
                              .causal = problem->causal,
                              .left = -1,
                              .right = -1,
                              .masked_keys = problem->tokens};
    const struct fused_job job = {
        .query = attention->query.data,
        .key = attention->key.data,
        .value = attention->value.data,
        .context = attention->context.data,
        .heads = matrices,
        .queries = attention->slots,
        .keys = problem->tokens,
        .d = problem->d_head,
        .d_v = problem->d_head,
        .positions = attention->positions,
        .mask = &mask,
        .scale = problem->scale,
        .threads = problem->threads,
        .kernel = problem->kernel,
        .progress = report_to(problem->progress, stage_name(STAGE_CONTEXT), matrices * attention->slots),
    };
    enum status status = fused_context(&job, error);
    progress_end(problem->progress);
    if (status == STATUS_OK && attention->output.rank > 0)
        status = make_output(attention, error);
    return status;
}
