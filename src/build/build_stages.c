/* SPDX-License-Identifier: MIT */
#include "build/build.h"
#include "model/stages.h"

#include <string.h>

/* Rejects the inputs of sdpa, which have names of stages but are given. */
static enum status check_given(const struct build *build, const char *place)
{
    const struct options *options = build->options;
    if (options_format(options)->pictures)
        return error_usage(build->error, "%s: sdpa has three inputs to draw; type query,key,value", place);
    if (options->parts > 0)
        return error_usage(build->error, "%s: a part holds no inputs of sdpa; leave them out of --stages", place);
    for (size_t i = 0; i < options->stage_count; i++)
        if (STAGES[options->stages[i]].operand)
            return error_usage(build->error, "%s: inputs of sdpa include '%s'; leave one of them out", place,
                               stage_name(options->stages[i]));
    return STATUS_OK;
}

/* Whether --head cannot choose one head of it. */
static bool lacks_heads(const struct problem *problem, enum stage stage)
{
    return stage_exists(stage) ? problem_is_side_by_side(problem, stage) || stage_is_of_mask(stage) ||
                                     STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS
                               : !problem_projects(problem);
}

enum status build_check_stage(const struct build *build, const char *place, enum stage stage)
{
    const struct problem *problem = build->problem;
    if (!problem_projects(problem) && stage == STAGE_PARAMETERS)
        return error_usage(build->error, "%s: sdpa has no 'parameters'; type inputs for what it is given", place);
    if (stage == STAGE_KEY_INPUTS && !problem->given.is_cross)
        return error_usage(build->error, "%s: there are no key_inputs; add --key-inputs FILE, or type other stages",
                           place);
    if (problem->chosen.cuts_heads && lacks_heads(problem, stage))
        return error_usage(build->error, "%s: %s is of all heads; leave it out, or --head", place, stage_name(stage));
    if (!problem_projects(problem) && stage == STAGE_INPUTS && check_given(build, place) != STATUS_OK)
        return build->error->status;
    return stage_check(problem, stage, place, build->error);
}

/* Lists all stages of the mechanism; of sdpa only the context, and gradients that are not T x T; of steps the last. */
static void list_stages(struct problem *problem, const struct options *options)
{
    const bool page = options_format(options)->computes;
    const bool picture = options->heatmap || options_format(options)->pictures || page; /* mostly of T x T tables */
    if (options->steps) {
        problem->chosen.stages[problem->chosen.stage_count++] = problem_last_stage(problem);
        return;
    }
    if (!problem_projects(problem) && !picture) {
        problem->chosen.stages[problem->chosen.stage_count++] = STAGE_CONTEXT;
        for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
            if (STAGES[stage].backward && !stage_is_square(stage) && stage_applies(problem, stage))
                problem->chosen.stages[problem->chosen.stage_count++] = stage;
        return;
    }
    if (stage_applies(problem, STAGE_INPUTS) && !options->heatmap && !page)
        problem->chosen.stages[problem->chosen.stage_count++] = STAGE_INPUTS;
    const bool elsewhere = MECHANISMS[problem->mechanism].opens; /* in a large checkpoint */
    if (stage_applies(problem, STAGE_PARAMETERS) && !picture && !elsewhere)
        problem->chosen.stages[problem->chosen.stage_count++] = STAGE_PARAMETERS;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stage_applies(problem, stage) && (!page || STAGES[stage].on_page) &&
            (!options->heatmap || stage_is_square(stage)))
            problem->chosen.stages[problem->chosen.stage_count++] = stage;
}

/* With --head lists those alone that have heads. */
static enum status list_of_head(const struct build *build)
{
    struct problem_chosen *chosen = &build->problem->chosen;
    size_t count = 0;
    for (size_t i = 0; i < chosen->stage_count; i++)
        if (stage_exists(chosen->stages[i]) && !lacks_heads(build->problem, chosen->stages[i]))
            chosen->stages[count++] = chosen->stages[i];
    chosen->stage_count = count;
    return count > 0
               ? STATUS_OK
               : error_usage(build->error, "--head %zu: context has all heads side by side; type --stages weights",
                             chosen->head);
}

/* Explains a computed stage; a given one only if asked for. */
static void explain_stage(struct problem *problem, enum stage stage)
{
    const bool asked = problem->chosen.stages_asked && problem_shows_stage(problem, stage);
    const bool names = problem->chosen.has_cell && stage == problem->chosen.cell.stage;
    const bool given = stage == problem_grad_stage(problem);
    const bool there =
        stage_applies(problem, stage) &&
        (stage_is_explained(problem, stage) || (STAGES[stage].backward && !given && !problem->chosen.has_cell));
    if (problem->chosen.stages_asked ? asked : names || there)
        problem->chosen.explained[problem->chosen.explained_count++] = stage;
}

/* The stages to explain for a cell: its sources in the same pass. For a gradient with respect to a parameter or
 * attn_mask only itself, with respect to inputs only the next step: earlier ones involve all queries and keys. */
static uint64_t sources_of_cell(const struct problem *problem)
{
    static const uint64_t BEFORE_STEPS = STAGE_BIT(STAGE_GRAD_PROJECTED_QUERY) | STAGE_BIT(STAGE_GRAD_PROJECTED_KEY) |
                                         STAGE_BIT(STAGE_GRAD_PROJECTED_VALUE);
    static const uint64_t OF_KEYS = STAGE_BIT(STAGE_GRAD_KEY) | STAGE_BIT(STAGE_GRAD_VALUE) |
                                    STAGE_BIT(STAGE_GRAD_PROJECTED_KEY) | STAGE_BIT(STAGE_GRAD_PROJECTED_VALUE);
    const enum stage stage = problem->chosen.cell.stage;
    if (problem->chosen.cell_name != NULL || STAGES[stage].columns == STAGE_COLUMNS_MASK || stage_is_of_words(stage))
        return STAGE_BIT(stage);
    if (!STAGES[stage].backward || !STAGES[stage].joins_heads) {
        uint64_t sources = stage_closure(STAGE_BIT(stage));
        for (enum stage other = 0; other < STAGE_COUNT; other++)
            if (STAGES[other].backward != STAGES[stage].backward)
                sources &= ~STAGE_BIT(other);
        return sources;
    }
    const uint64_t from = STAGES[stage].from | BEFORE_STEPS;
    return STAGE_BIT(stage) | (from & ~(problem->given.is_cross ? stage_is_of_keys(stage) ? ~OF_KEYS : OF_KEYS : 0));
}

/* Lists the cell's stage and its sources backwards, then the projections in their order. */
static enum status follow_cell(const struct build *build)
{
    struct problem *problem = build->problem;
    const uint64_t made_from = sources_of_cell(problem);
    for (int stage = STAGE_COUNT - 1; stage >= 0; stage--)
        if (made_from & STAGE_BIT(stage) && stage_is_attended((enum stage)stage))
            explain_stage(problem, (enum stage)stage);
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (made_from & STAGE_BIT(stage) && !stage_is_attended((enum stage)stage))
            explain_stage(problem, (enum stage)stage);
    if (problem->chosen.explained_count == 0)
        return error_usage(build->error, "--explain %.80s uses none of --stages %.80s; leave --stages out",
                           build->options->cell, build->options->stages_text);
    return STATUS_OK;
}

static enum status choose_explained(const struct build *build)
{
    struct problem *problem = build->problem;
    uint64_t made = 0;
    if (problem->chosen.has_cell) {
        if (follow_cell(build) != STATUS_OK)
            return build->error->status;
    } else if (problem->chosen.stages_asked) {
        for (size_t i = 0; i < problem->chosen.stage_count; i++)
            problem->chosen.explained[problem->chosen.explained_count++] = problem->chosen.stages[i];
    } else {
        for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
            explain_stage(problem, stage);
    }
    for (size_t i = 0; i < problem->chosen.explained_count; i++)
        made |= STAGE_BIT(problem->chosen.explained[i]);
    made = stage_closure(made);
    memcpy(problem->chosen.stages, problem->chosen.explained, sizeof problem->chosen.stages);
    problem->chosen.stage_count = problem->chosen.explained_count;
    for (enum stage stage = 0; stage < STAGE_NAMES; stage++) /* the explanations read their numbers */
        if (stage_applies(problem, stage) && !problem_shows_stage(problem, stage) &&
            (!STAGES[stage].backward || (made & STAGE_BIT(stage)) != 0))
            problem->chosen.stages[problem->chosen.stage_count++] = stage;
    return STATUS_OK;
}

enum status build_stages(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct options *options = build->options;
    problem->chosen.stages_asked = options->stage_count > 0;
    for (size_t i = 0; i < options->stage_count; i++) {
        if (build_check_stage(build, "--stages", options->stages[i]) != STATUS_OK)
            return build->error->status;
        problem->chosen.stages[problem->chosen.stage_count++] = options->stages[i];
    }
    if (!problem->chosen.stages_asked)
        list_stages(problem, options);
    if (!problem->chosen.stages_asked && problem->chosen.cuts_heads && list_of_head(build) != STATUS_OK)
        return build->error->status;
    if (options_format(options)->computes && build_page_stages(build) != STATUS_OK)
        return build->error->status;
    size_t shares = 0;
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        shares += stage_is_square(problem->chosen.stages[i]) && stage_is_shares(problem->chosen.stages[i]);
    if (options->entropy && shares == 0)
        return error_usage(build->error,
                           "--entropy ends rows of weights, and no stage here has any; add --stages weights");
    return problem->chosen.explains ? choose_explained(build) : STATUS_OK;
}
