/* SPDX-License-Identifier: MIT */
#include "compute/reference.h"

#include "model/stage_id.h"
#include "stage/backward_mistake.h"
#include "stage/projections.h"

/* The stages before the mask. */
static const uint64_t BEFORE_MASK = STAGE_BIT(STAGE_SCORES) | STAGE_BIT(STAGE_SCALED) | STAGE_BIT(STAGE_CAPPED);

/* Adds the stages that a mistake of the backward pass needs. */
static uint64_t with_mistake(const struct problem *problem, uint64_t stages)
{
    const struct backward_mistake *mistake = problem->mistake.backward;
    return mistake != NULL && stage_closure(stages) & mistake->makes ? stages | mistake->from : stages;
}

/* These stages and those whose rows they are made from; --rounding operations has no scores. */
static uint64_t made_for(const struct problem *problem, uint64_t stages)
{
    uint64_t made = 0;
    stages = stage_closure(with_mistake(problem, stages));
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && stage_is_made_by_row(stage))
            made |= STAGE_BIT(stage);
    return stage_applies(problem, STAGE_SCORES) ? made : made & ~STAGE_BIT(STAGE_SCORES);
}

void reference_begin(const struct attention *attention, size_t item, size_t head, uint64_t stages)
{
    const struct problem *problem = attention->problem;
    const uint64_t made = made_for(problem, stages);
    const size_t kv_head = (item * problem->size.heads + head) / (problem->size.heads / problem->size.kv_heads);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (made & STAGE_BIT(stage))
            head_load(attention->head, stage, &attention->held[STAGE_KEY], &attention->held[STAGE_VALUE],
                      kv_head * problem->size.keys);
}

void reference_row(const struct attention *attention, struct attention_scratch *scratch, size_t item, size_t head,
                   size_t slot, uint64_t stages, const bool *kept)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->size.d_head, matrix = item * problem->size.heads + head,
                 query = attention->positions[slot];
    const struct span allowed = mask_span(&problem->mask, item, query), all = {0, problem->size.keys};
    const uint64_t made = made_for(problem, stages);
    const bool empty = mask_row(&problem->mask, item, head, query, scratch->bias);
    const struct attention_row row = {.problem = problem,
                                      .key = attention->head->key,
                                      .prescaled_key = attention->head->prescaled_key,
                                      .value = attention->head->value,
                                      .stages = scratch->rows,
                                      .own = mask_sequence(&problem->mask, query),
                                      .allowed = allowed,
                                      .computed = with_mistake(problem, stages) & BEFORE_MASK || empty ? all : allowed,
                                      .bias = scratch->bias,
                                      .empty = empty,
                                      .sink = problem->mask.sinks != NULL ? problem->mask.sinks + head : NULL,
                                      .kept = kept,
                                      .query = scratch->query,
                                      .cast = scratch->cast};
    tensor_load(&attention->held[STAGE_QUERY], (matrix * attention->computed_rows + slot) * d, d,
                scratch->rows[STAGE_QUERY]);
    if (attention->held[STAGE_GRAD_CONTEXT].rank > 0)
        tensor_load(&attention->held[STAGE_GRAD_CONTEXT],
                    (matrix * attention->computed_rows + slot) * problem->size.d_value, problem->size.d_value,
                    scratch->rows[STAGE_GRAD_CONTEXT]);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (made & STAGE_BIT(stage))
            stage_make(&row, stage);
}
