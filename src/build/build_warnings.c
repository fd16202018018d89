/* SPDX-License-Identifier: MIT */
#include "build/build.h"

enum { WARNING_BYTES = 2 * TEXT_PATH_BYTES + 160 };

/* "--seed does nothing: why". */
static enum status warn(const struct build *build, enum option_id id, const char *why)
{
    struct problem *problem = build->problem;
    char text[WARNING_BYTES];
    const int length = snprintf(text, sizeof text, "--%s does nothing: %s", OPTIONS[id].name, why);
    const char *kept = arena_text(build->arena, text, (size_t)length, build->error);
    problem->record.warnings[problem->record.warning_count++] = kept;
    return kept == NULL ? build->error->status : STATUS_OK;
}

static bool draws_parameters(const struct problem *problem)
{
    return problem_projects(problem) && !problem->parameters.given;
}

/* Each build differs from torch in one point: torch-mkl in dropout, torch-scalar in what nn.Linear draws. */
static bool rng_changes_draws(const struct build *build)
{
    const struct problem *problem = build->problem;
    const struct init_row *init = &INIT_ROWS[build->options->init];
    const bool linear = (init->unit != INIT_UNIT_ONE && !init->normal) || problem->plan.has_out;
    if (build->options->rng == TORCH_RANDOM_MKL)
        return problem->drop.share > 0;
    if (build->options->rng == TORCH_RANDOM_SCALAR)
        return draws_parameters(problem) && linear;
    return problem->drop.share > 0 || draws_parameters(problem);
}

/* Dropout continues after the parameters' draws unless it has its own seed. */
bool build_changes_draws(const struct build *build, enum option_id id)
{
    const struct problem *problem = build->problem;
    if (id == OPTION_RNG)
        return rng_changes_draws(build);
    return draws_parameters(problem) || (problem->drop.share > 0 && !options_said(build->options, OPTION_DROPOUT_SEED));
}

static const char *why_no_draws(const struct build *build, enum option_id id, char *text)
{
    const struct problem *problem = build->problem;
    const bool dropout = problem->drop.share > 0, draws = dropout || draws_parameters(problem);
    if (id == OPTION_RNG && build->options->rng == TORCH_RANDOM_SCALAR && draws)
        snprintf(text, WARNING_BYTES, "torch-scalar differs from torch only in nn.Linear, and this job draws none");
    else if (problem->parameters.given)
        snprintf(text, WARNING_BYTES, "the parameters come from %s, and %s", problem->parameters.source,
                 dropout ? "dropout has its own seed" : "there is no dropout");
    else if (!problem_projects(problem))
        snprintf(text, WARNING_BYTES, "sdpa draws only for dropout, %s",
                 dropout ? "which has its own seed" : "and there is none");
    else
        snprintf(text, WARNING_BYTES, "torch-mkl differs from torch only in dropout, and there is none");
    return text;
}

static enum status warn_of_draws(const struct build *build)
{
    static const enum option_id DRAWING[] = {OPTION_SEED, OPTION_SKIP, OPTION_INIT, OPTION_RNG};
    char why[WARNING_BYTES];
    for (size_t i = 0; i < sizeof DRAWING / sizeof DRAWING[0]; i++)
        if (build->options->origin[DRAWING[i]] == ORIGIN_COMMAND_LINE && !build_changes_draws(build, DRAWING[i]) &&
            warn(build, DRAWING[i], why_no_draws(build, DRAWING[i], why)) != STATUS_OK)
            return build->error->status;
    return STATUS_OK;
}

struct idle {
    enum option_id id;
    bool idle;
    const char *why;
};

static enum status warn_of(const struct build *build, const struct idle *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].idle && build->options->origin[options[i].id] == ORIGIN_COMMAND_LINE &&
            warn(build, options[i].id, options[i].why) != STATUS_OK)
            return build->error->status;
    return STATUS_OK;
}

static enum status warn_of_numbers(const struct build *build)
{
    const struct problem *problem = build->problem;
    const struct options *options = build->options;
    const struct mask *mask = &problem_right(problem)->mask;
    const struct tensor *attn_mask = &mask->attn_mask;
    const bool lengths = mask->lengths != NULL, booleans = attn_mask->rank > 0 && attn_mask->dtype == DTYPE_BOOL;
    const bool placed = problem->rotation.has_past || lengths, packed = mask->sequences.count > 0;
    const bool normed = problem->parameters.norms[NORM_QUERY].kind != NORM_NONE ||
                        problem->parameters.norms[NORM_KEY].kind != NORM_NONE ||
                        problem->parameters.norms[NORM_VALUE].kind != NORM_NONE || problem->parameters.latent.rank > 0;
    const bool rotates_in_float32 = problem->rounding.dtype == DTYPE_F64 && problem->rotation.rope.kind != ROPE_NONE;
    const struct idle idle[] = {
        {OPTION_RANDOM_SEED, options->random == NULL, "there is no --random"},
        {OPTION_DROPOUT_SEED, !(problem->drop.share > 0), "there is no dropout"},
        {OPTION_CHUNK, options->prefill > 0 && options->prefill == problem->size.queries, "--prefill takes all tokens"},
        {OPTION_MASK_TRUE, !booleans, attn_mask->rank == 0 ? "there is no attn_mask" : "attn_mask holds numbers"},
        {OPTION_ALIGN, placed,
         problem->rotation.has_past ? "past_key gives the positions of the queries"
                                    : "kv_lengths gives the positions of the queries"},
        {OPTION_ALIGN, !placed && packed && options->align == ALIGN_BOTTOM_RIGHT,
         "the last query of a sequence is aligned with its last key by default"},
        {OPTION_ALIGN,
         !placed && !packed && options->align == ALIGN_BOTTOM_RIGHT && problem->size.queries == problem->size.keys,
         "there are as many queries as keys"},
        {OPTION_TOKEN_TYPES, mask->images == NULL, "the mask is not causal, so all keys are allowed"},
        {OPTION_RESIDUAL, problem->given.residual && problem->parameters.norms[NORM_INPUTS].kind == NORM_NONE,
         "this attention takes the residual stream without a norm"},
        {OPTION_FAMILY, problem->layer == NULL && options->rounding != ROUNDING_TRANSFORMERS,
         "without a checkpoint it only changes --rounding transformers"},
        {OPTION_ROUNDING,
         options->rounding == ROUNDING_TRANSFORMERS && problem->rounding.when == ROUNDING_STAGES && !rotates_in_float32,
         "a model rounds only to its dtype, here float32 or float64; type --dtype bf16"},
        {OPTION_NORM, !problem->given.residual, "without --residual there is no norm of the inputs"},
        {OPTION_NORM_EPS, !problem->given.residual && !normed, "there is no norm"},
        {OPTION_QK_NORM_EPS, !normed, "query, key and value have no norm"},
        {OPTION_RELATIVE_DISTANCE, problem->parameters.relative_bias.rank == 0, "there is no relative_bias.weight"},
        {OPTION_EMPTY_ROW, options->empty_row != EMPTY_ROW_ZERO && !problem->masks, "nothing is masked"},
    };
    return warn_of(build, idle, sizeof idle / sizeof idle[0]);
}

static enum status warn_of_looks(const struct build *build)
{
    const struct options *options = build->options;
    const struct format_row *format = options_format(options);
    char whole[WARNING_BYTES], plain[WARNING_BYTES];
    snprintf(whole, sizeof whole, "%s holds every number whole", format->name);
    snprintf(plain, sizeof plain, "%s has no colours to choose", format->name);
    const struct idle idle[] = {
        {OPTION_PRECISION, format->holds_whole, whole},
        {OPTION_COLOR, !format->terminal && options->color == WHEN_ALWAYS, plain},
        {OPTION_FULL, format->pictures, "a picture shows as many cells as it has room for"},
    };
    return warn_of(build, idle, sizeof idle / sizeof idle[0]);
}

/* Warns if the model's mask treats images as blocks, but --token-types is missing. */
static enum status warn_of_images(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct mask *mask = &problem_right(problem)->mask;
    char text[WARNING_BYTES];
    if (problem->layer == NULL || problem->layer->images_of == NULL || build->options->token_types != NULL ||
        !mask->causal || mask->attn_mask.rank > 0)
        return STATUS_OK;
    const int length = snprintf(text, sizeof text,
                                "in %.40s the tokens of an image see each other, and here all tokens count as text; "
                                "--token-types marks those of an image",
                                problem->layer->images_of);
    problem->record.warnings[problem->record.warning_count++] =
        arena_text(build->arena, text, (size_t)length, build->error);
    return problem->record.warnings[problem->record.warning_count - 1] == NULL ? build->error->status : STATUS_OK;
}

enum status build_warnings(const struct build *build)
{
    if (warn_of_images(build) != STATUS_OK)
        return build->error->status;
    return warn_of_draws(build) || warn_of_numbers(build) || warn_of_looks(build) ? build->error->status : STATUS_OK;
}
