/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "kernel/fused.h"
#include "model/stages.h"
#include "stage/operand_steps.h"

#include <stdlib.h>

/* Jobs from this many multiply-adds on use the kernels. */
static const double FUSED_WORK = 0x1p24;

/* Why the fused path cannot do the job, perhaps in text; NULL where it can. */
static const char *obstacle(const struct problem *problem, char *text, size_t size)
{
    const enum dtype number = problem->path.kernel->number;
    if (problem->chosen.explains)
        return "--explain shows rows of T x T, which it never forms";
    if (problem->drop.share > 0)
        return "dropout draws for each of T x T weights, which it never forms";
    if (problem->rounding.when != ROUNDING_STAGES)
        return "it rounds its result once; type --rounding stages";
    if (problem->mask.alibi_slopes != NULL && problem->mask.places.rounds)
        return "only the reference rounds scaled slopes on the way";
    if (problem->rounding.softmax_dtype != problem->rounding.dtype && problem->rounding.softmax_dtype != number)
        return text_format(text, size, "its softmax is in %s; expected --softmax-dtype %s", dtype_title(number),
                           dtype_name(number));
    if (!fused_takes_scale(number, problem->scaling.factor))
        return text_format(
            text, size,
            "its logits are to the base 2, and a scale of %g x log2(e) overflows %s; expected one up to %.3g",
            problem->scaling.factor, dtype_title(number), dtype_largest(number) / 1.448);
    if (problem->given.not_finite != NULL)
        return text_format(text, size,
                           "%s holds NaN or infinity, which the reference alone keeps out of rows that may not see it",
                           problem->given.not_finite);
    for (size_t i = 0; i < problem->chosen.stage_count; i++) {
        const enum stage stage = problem->chosen.stages[i];
        const bool square = stage_is_square(stage) && !STAGES[stage].backward;
        if (!square && !stage_is_of_words(stage) && (stage_has_columns(stage) || stage_statistic(stage).number != NULL))
            continue;
        return text_format(text, size, "it never forms '%s'%s; expected --stages without it, such as context",
                           stage_name(stage), square ? ", which is T x T" : "");
    }
    return NULL;
}

/* The same for the gradients. */
static const char *obstacle_backward(const struct problem *problem, char *text, size_t size)
{
    const bool relative = problem->parameters.relative_bias.rank > 0;
    if (problem->mask.sequences.count > 0 && problem->mask.empty_row == EMPTY_ROW_NAN)
        return "with --empty-row nan the gradients of a sequence are its own, and there NaN is in those of all keys; "
               "expected --kernel reference";
    for (size_t i = 0; i < problem->chosen.stage_count; i++) {
        const enum stage stage = problem->chosen.stages[i];
        if (!stage_exists(stage) || !STAGES[stage].backward)
            continue;
        if (problem->path.kernel->differentiate == NULL)
            return text_format(text, size, "it has gradients in float32 and float64, and query, key and value are %s",
                               dtype_title(problem->path.kernel->dtype));
        if (stage_is_square(stage) || STAGES[stage].sums_square ||
            (STAGES[stage].columns == STAGE_COLUMNS_PARAMETERS && relative))
            return text_format(
                text, size,
                "'%s' is made of gradients that are T x T, which it never forms; expected --stages without it, "
                "such as grad_query",
                stage_name(stage));
    }
    return NULL;
}

/* The fused path checks that query, key and value are finite as it reads them. This checks a query of which a job reads
 * only some rows, or changed ones, so that every part takes the path of the full job. */
static void check_query(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct tensor *query = &problem->given.operands[PROJECTION_QUERY];
    const bool read_whole = problem->chosen.row_count == problem->size.queries &&
                            !options_format(build->options)->elides && !operand_has_steps(problem, PROJECTION_QUERY);
    if (problem->given.not_finite == NULL && query->rank > 0 && !read_whole &&
        !tensor_finite(query, problem->path.threads))
        problem->given.not_finite = "query";
}

enum status build_path(const struct build *build)
{
    struct problem *problem = build->problem;
    const enum path path = build->options->kernel;
    const bool large = problem_work(problem) >= FUSED_WORK, forced = path == PATH_FUSED || path == PATH_FAST16;
    /* The kernels for query, key and value by their storage, and for projections. */
    const char *isa = getenv("ATTN_ISA");
    const enum dtype storage = dtype_storage(problem->rounding.dtype);
    const enum dtype operands = problem_projects(problem) ? storage : problem->given.operands[1].dtype;
    problem->path.kernel = kernel_choose(isa, operands, path == PATH_FAST16, build->error);
    problem->path.projector = kernel_choose(isa, storage, false, build->error);
    if (build->error->status != STATUS_OK)
        return build->error->status;
    if (forced || (path == PATH_AUTO && large))
        check_query(build);
    const char *name = path == PATH_FAST16 ? "fast16" : "fused";
    char text[200];
    const char *why = obstacle(problem, text, sizeof text);
    if (forced && why != NULL)
        return error_usage(build->error, "--kernel %s: %s", name, why);
    if (forced && (problem->mistake.recipe != NULL || problem->mistake.backward != NULL))
        return error_usage(build->error, "--kernel %s: it cannot make mistakes; type --kernel auto", name);
    if (path == PATH_FAST16 && problem_projects(problem))
        return error_usage(build->error, "--kernel fast16 is for sdpa: a projection is held in %s; type --kernel fused",
                           dtype_title(problem->path.projector->number));
    if (path == PATH_FAST16 && dtype_size(problem->rounding.dtype) != 2)
        return error_usage(build->error,
                           "--kernel fast16 needs numbers of 16 bits, and these are %s; type --dtype bf16 or f16",
                           dtype_title(problem->rounding.dtype));
    problem->path.forced = forced ? name : NULL;
    problem->path.fused = forced || (path == PATH_AUTO && large && why == NULL);
    problem->path.fused = problem->path.fused && problem->mistake.recipe == NULL;
    why = problem->loss.is_given ? obstacle_backward(problem, text, sizeof text) : NULL;
    if (forced && why != NULL)
        return error_usage(build->error, "--kernel %s: %s", name, why);
    problem->path.fused_backward =
        problem->path.fused && problem->loss.is_given && problem->mistake.backward == NULL && why == NULL;
    problem->path.kernel_projections =
        problem->path.fused || (path == PATH_AUTO && large && !problem_rounding(problem)->product_first);
    return STATUS_OK;
}
