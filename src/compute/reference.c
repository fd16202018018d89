#include "compute/reference.h"

#include "stage/output.h"

#include <math.h>

/* What the mask says of the present row; whether it forbids every key. */
static bool load_bias(const struct attention *attention, double *bias, size_t item, size_t head, size_t slot)
{
    const struct mask *rules = &attention->problem->mask;
    const size_t keys = rules->keys, query = attention->positions[slot];
    const struct span span = mask_span(rules, item, query);
    bool empty = true;
    for (size_t j = 0; j < keys; j++)
        bias[j] = -INFINITY;
    if (mask_has_bias(rules))
        mask_bias(rules, item, head, query, span.first, span.end - span.first, bias + span.first);
    for (size_t j = span.first; j < span.end; j++) {
        bias[j] = mask_has_bias(rules) ? bias[j] : 0;
        empty = empty && bias[j] == -INFINITY;
    }
    return empty;
}

void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, uint64_t stages, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, matrix = item * problem->heads + head;
    const struct attention_row row = {.problem = problem,
                                      .key = &attention->held[STAGE_KEY],
                                      .value = &attention->held[STAGE_VALUE],
                                      .first_key = matrix / (problem->heads / problem->kv_heads) * problem->keys,
                                      .stages = scratch->rows,
                                      .bias = scratch->bias,
                                      .empty = load_bias(attention, scratch->bias, item, head, slot),
                                      .sink = problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL,
                                      .kept = kept,
                                      .operand = scratch->operand,
                                      .factor = scratch->scaled_query,
                                      .cast = scratch->cast};
    tensor_load(&attention->held[STAGE_QUERY], (matrix * attention->slots + slot) * d, d, scratch->rows[STAGE_QUERY]);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && stage_is_made_by_row((enum stage)stage))
            stage_make(&row, (enum stage)stage);
}

void reference_output(const struct attention *attention, const double *context, double *output)
{
    output_row(attention->problem, context, attention->out_weight, attention->out_bias, output);
}
