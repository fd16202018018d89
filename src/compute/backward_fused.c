/* SPDX-License-Identifier: MIT */
#include "compute/backward_operands.h"

#include "compute/kernel_path.h"
#include "compute/setup.h"
#include "model/stage_id.h"

static const uint64_t FORWARD =
    STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_KEY) | STAGE_BIT(STAGE_VALUE) | STAGE_BIT(STAGE_CONTEXT);

/* Makes the job show only the stages that the backward pass begins with. */
static void ask_forward(struct problem *forward)
{
    forward->loss.is_given = forward->size.heads_packed = false;
    forward->chosen.stage_count = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (FORWARD & STAGE_BIT(stage))
            forward->chosen.stages[forward->chosen.stage_count++] = stage;
}

/* What the kernel makes in its own numbers; the sinks' gradients are sums in double. */
static const enum stage GRADIENTS[] = {STAGE_GRAD_QUERY, STAGE_GRAD_KEY, STAGE_GRAD_VALUE};
enum { GRADIENT_COUNT = sizeof GRADIENTS / sizeof GRADIENTS[0] };

/* The first gradient that overflowed in the kernel's numbers, since in double it may be finite; or NULL. NaN is right
 * for values with --empty-row nan and empty rows. */
static const char *find_overflow(const struct problem *problem, const struct tensor numbers[GRADIENT_COUNT])
{
    for (size_t i = 0; i < GRADIENT_COUNT; i++) {
        const bool may_be_nan = GRADIENTS[i] == STAGE_GRAD_VALUE && problem->mask.empty_row == EMPTY_ROW_NAN;
        if (!may_be_nan && !tensor_finite(&numbers[i], problem->path.threads))
            return stage_name(GRADIENTS[i]);
    }
    return NULL;
}

static enum status run(const struct tensor held[STAGE_COUNT], const struct attention *attention,
                       const void *grad_context, bool *made, struct arena *scratch, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t heads = problem->size.items * problem->size.heads;
    const enum dtype number = problem->path.kernel->number;
    struct tensor numbers[GRADIENT_COUNT];
    double *sinks = NULL;
    for (size_t i = 0; i < GRADIENT_COUNT; i++) {
        const struct tensor *wide = &held[GRADIENTS[i]];
        if (tensor_create(&numbers[i], number, wide->rank, wide->shape, scratch, error) != STATUS_OK)
            return error->status;
    }
    if (held[STAGE_GRAD_SINKS].rank > 0 && !(sinks = arena_allocate(scratch, heads, sizeof(double), error)))
        return error->status;
    if (kernel_path_gradients(attention,
                              (struct fused_backward_job){.grad_context = grad_context,
                                                          .grad_query = numbers[0].data,
                                                          .grad_key = numbers[1].data,
                                                          .grad_value = numbers[2].data,
                                                          .grad_sinks = sinks},
                              error) != STATUS_OK)
        return error->status;
    const char *overflow = find_overflow(problem, numbers);
    *made = overflow == NULL;
    if (!*made && problem->path.forced != NULL)
        return error_usage(error, "--kernel %s: %s overflowed in %s; expected --kernel auto", problem->path.forced,
                           overflow, dtype_title(number));
    if (!*made)
        return STATUS_OK;
    for (size_t i = 0; i < GRADIENT_COUNT; i++)
        tensor_load(&numbers[i], 0, tensor_count(&numbers[i]), held[GRADIENTS[i]].data);
    for (size_t i = 0; sinks != NULL && i < heads; i++)
        ((double *)held[STAGE_GRAD_SINKS].data)[i % problem->size.heads] += sinks[i];
    return STATUS_OK;
}

static enum status go(const struct tensor held[STAGE_COUNT], const struct tensor *contexts, struct attention *attention,
                      bool *made, struct arena *scratch, struct error *error)
{
    const struct problem *problem = attention->problem;
    const struct tensor *wide = &held[STAGE_GRAD_CONTEXT];
    const enum dtype number = problem->path.kernel->number;
    struct tensor grad;
    if (tensor_create(&grad, number, wide->rank, wide->shape, scratch, error) != STATUS_OK)
        return error->status;
    dtype_store(number, wide->data, tensor_count(wide), grad.data);
    *made = tensor_finite(&grad, problem->path.threads);
    if (!*made && problem->path.forced != NULL)
        return error_usage(error,
                           "--kernel %s: grad_context holds NaN or infinity, or overflows %s; expected --kernel auto",
                           problem->path.forced, dtype_title(number));
    attention->exact_lse = arena_allocate(scratch, problem->size.items * problem->size.heads,
                                          problem->size.queries * sizeof(double), error);
    if (attention->exact_lse == NULL)
        return error->status;
    if (!*made || setup_attention(attention, FORWARD, scratch, error) != STATUS_OK)
        return error->status;
    *made = attention->fused;
    if (*made && contexts->rank > 0)
        tensor_load(&attention->held[STAGE_CONTEXT], 0, tensor_count(contexts), contexts->data);
    return *made ? run(held, attention, grad.data, made, scratch, error) : STATUS_OK;
}

/* Bytes of the gradients and grad_context in the kernel's numbers, and of lse. */
static double count_bytes(const struct attention *back, const struct problem *problem)
{
    static const enum stage COPIED[] = {STAGE_GRAD_CONTEXT, STAGE_GRAD_QUERY, STAGE_GRAD_KEY, STAGE_GRAD_VALUE};
    const double rows = (double)(problem->size.items * problem->size.heads) * (double)problem->size.queries;
    double numbers = 0;
    for (size_t i = 0; i < sizeof COPIED / sizeof COPIED[0]; i++)
        numbers += (double)tensor_count(&back->held[COPIED[i]]);
    return numbers * (double)dtype_size(problem->path.kernel->number) + rows * sizeof(double);
}

enum status backward_fused(const struct attention *back, const struct tensor *contexts, const struct problem *problem,
                           bool *made, struct error *error)
{
    struct arena scratch = {0};
    struct problem forward = *problem;
    struct attention attention = {.problem = &forward,
                                  .progress = back->progress,
                                  .positions = problem->chosen.rows,
                                  .computed_rows = problem->size.queries,
                                  .extra_bytes = back->extra_bytes + count_bytes(back, problem)};
    ask_forward(&forward);
    const enum status status = go(back->held, contexts, &attention, made, &scratch, error);
    arena_free(&scratch);
    return status;
}
