/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "model/stages.h"
#include "stage/operand_steps.h"

/* A page draws T x T stages and recomputes them from query, key and value, so it needs these too, and with dropout the
 * weights that it keeps, with --grad the gradient with respect to context. */
enum status build_page_stages(const struct build *build)
{
    struct problem *problem = build->problem;
    bool draws = false;
    for (size_t i = 0; i < problem->chosen.stage_count; i++) {
        const enum stage stage = problem->chosen.stages[i];
        if (!STAGES[stage].on_page)
            return error_usage(build->error,
                               "--stages: a page does not show '%s'; type T x T stages, such as scores,weights, "
                               "and context",
                               stage_name(stage));
        draws = draws || stage_is_square(stage);
    }
    if (!draws)
        return error_usage(build->error, "--stages: a page draws T x T stages; expected one, such as weights");
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].operand && !problem_shows_stage(problem, stage))
            problem->chosen.stages[problem->chosen.stage_count++] = stage;
    for (enum projection_id i = 0; i < PROJECTION_COUNT; i++) /* before rotation and scaling */
        if (operand_has_last_step(problem, i))
            problem->chosen.stages[problem->chosen.stage_count++] = operand_before_last_step(problem, i);
    if (problem->drop.share > 0 && !problem_shows_stage(problem, STAGE_DROPPED))
        problem->chosen.stages[problem->chosen.stage_count++] = STAGE_DROPPED;
    if (problem->loss.is_given)
        problem->chosen.stages[problem->chosen.stage_count++] = STAGE_GRAD_CONTEXT;
    return STATUS_OK;
}

/* How many numbers a page has of them: one per number of query and key, a cosine and a sine per pair. */
static double numbers_before(const struct problem *problem)
{
    const double pairs = (double)problem->rotation.rope.columns, d = (double)problem->size.d_head;
    const double queries = (double)problem->chosen.row_count, keys = (double)problem->size.keys;
    double numbers = 0;
    if (operand_has_last_step(problem, PROJECTION_QUERY))
        numbers += queries * ((double)problem->size.heads * d + pairs);
    if (operand_has_last_step(problem, PROJECTION_KEY))
        numbers += keys * ((double)problem->size.kv_heads * d + pairs);
    return numbers * (double)problem->size.items;
}

/* Limits for a browser: cells of one head, and numbers of all. */
enum { PAGE_CELLS = 1 << 22, PAGE_NUMBERS = 1 << 23 };

/* With mistakes a page holds all numbers of the stages and of their sources. */
static double made_numbers(const struct problem *problem)
{
    double numbers = 0;
    uint64_t stages = 0;
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        stages |= STAGE_BIT(problem->chosen.stages[i]);
    stages = stage_closure(stages);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage) && STAGES[stage].on_page && !STAGES[stage].operand)
            numbers += (double)problem->chosen.row_count * (double)problem_columns_of_head(problem, stage);
    return numbers * (double)problem->size.items * (double)problem->size.heads;
}

/* Whether the model's code rounds a page's stages otherwise than once each. */
static bool rounds_between(const struct problem *problem)
{
    const struct family_rounding *rounding = problem_rounding(problem);
    return rounding->softcap_each || rounding->softmax_each || rounding->wide != 0 ||
           (problem->mask.alibi_slopes != NULL && (rounding->wide_with_slopes != 0 || rounding->sum_last));
}

enum status build_page(const struct build *build)
{
    const struct problem *problem = build->problem;
    const struct tensor *attn_mask = &problem->mask.attn_mask;
    if (!options_format(build->options)->computes)
        return STATUS_OK;
    if (problem->rounding.when == ROUNDING_OPERATIONS)
        return error_usage(build->error, "a page cannot compute --rounding operations; type --rounding "
                                         "stages, or another --format");
    if (rounds_between(problem))
        return error_usage(build->error,
                           "--rounding transformers: %s rounds between scores and context, which no page computes; "
                           "type --rounding stages, or another --format",
                           problem->rounding.family->name);
    if (problem->scaling.growth.by != 0 || operand_norm_is_last(problem, PROJECTION_QUERY))
        return error_usage(build->error, "a page does not compute %s; type another --format",
                           problem->scaling.growth.by != 0 ? "--query-growth" : "a norm after the rotation");
    if (problem->mask.images != NULL)
        return error_usage(build->error, "a page does not compute --token-types; type another --format");
    if (problem->masks && mask_is_given(&problem->mask) && build_mask_entries(build) != STATUS_OK)
        return build->error->status;
    if (build->options->kernel == PATH_FUSED)
        return error_usage(build->error, "--kernel fused never forms the T x T stages that a page shows; type "
                                         "--kernel auto or reference");
    const double rows = (double)problem->chosen.row_count, keys = (double)problem->size.keys,
                 items = (double)problem->size.items;
    const double numbers =
        items * (rows * (double)(problem->size.heads * problem->size.d_head) +
                 keys * (double)(problem->size.kv_heads * (problem->size.d_head + problem->size.d_value))) +
        (problem_projects(problem) ? items * (double)problem->size.queries * (double)problem->size.d_in : 0) +
        numbers_before(problem) + (attn_mask->rank > 0 ? (double)tensor_count(attn_mask) : 0) +
        (problem->drop.share > 0 ? items * (double)problem->size.heads * rows * keys / 32 : 0) +
        (problem->mistake.recipe != NULL ? made_numbers(problem) : 0);
    if (numbers > (double)PAGE_NUMBERS)
        return error_usage(build->error,
                           "the job has %.0f numbers, and a page holds "
                           "at most %d; ask for fewer "
                           "queries with --query, or give a shorter input",
                           numbers, PAGE_NUMBERS);
    if (rows * keys > (double)PAGE_CELLS)
        return error_usage(build->error,
                           "%zu x %zu are more cells than the %d that a page draws; ask for fewer queries, as in "
                           "--query 1-%zu",
                           problem->chosen.row_count, problem->size.keys, PAGE_CELLS, PAGE_CELLS / problem->size.keys);
    return STATUS_OK;
}
