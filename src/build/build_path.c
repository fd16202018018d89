#include "build/build.h"

#include "kernel/fused.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* From here on a job goes to the float32 kernels: 2^24 multiply-adds. */
static const double FUSED_WORK = 0x1p24;

static bool fits_float32(enum dtype dtype)
{
    return dtype_storage(dtype) == DTYPE_F32;
}

static const char *name_in_float32(enum dtype dtype)
{
    return dtype_is_working(dtype) && fits_float32(dtype) ? dtype_name(dtype) : NULL;
}

/* Why the fused path cannot do what is asked, into text; NULL where it can. */
static const char *obstacle(const struct problem *problem, char *text, size_t size)
{
    char list[DTYPE_LIST_BYTES];
    if (!fits_float32(problem->dtype)) {
        snprintf(text, size, "it computes in float32; expected --dtype %s", dtype_list(name_in_float32, list));
        return text;
    }
    if (problem->explains)
        return "--explain shows rows of T x T, which it never forms";
    if (problem->dropout > 0)
        return "dropout draws for each of T x T weights, which it never forms";
    if (problem->rounding != ROUNDING_STAGES)
        return "it computes in float32 and rounds its result once; expected --rounding stages";
    if (problem->mask.alibi_slopes != NULL && problem->mask.places.rounds)
        return "slopes that are scaled are rounded on the way, by the reference alone";
    if (problem->softmax_dtype != problem->dtype && problem->softmax_dtype != DTYPE_F32)
        return "its softmax is in float32; expected --softmax-dtype f32";
    if (!fused_takes_scale(problem->scale)) {
        snprintf(text, size,
                 "its logits are to the base 2, and a scale of %g x log2(e) overflows float32; expected one up to "
                 "2.35e38",
                 problem->scale);
        return text;
    }
    if (problem->not_finite != NULL) {
        snprintf(text, size,
                 "%s holds NaN or infinity, which the reference alone keeps out of rows that may not see it",
                 problem->not_finite);
        return text;
    }
    for (size_t i = 0; i < problem->stage_count; i++)
        if (stage_is_square(problem->stages[i])) {
            snprintf(text, size, "it never forms '%s', which is T x T; expected --stages without it, such as context",
                     stage_name(problem->stages[i]));
            return text;
        }
    return NULL;
}

/* Those that this process may run on. */
static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a cpu_set_t holds */
    return online > 0 && online <= 1024 ? (unsigned)online : 1;
}

enum status build_path(const struct build *build)
{
    struct problem *problem = build->problem;
    const enum path path = build->options->kernel;
    const bool large = problem_work(problem) >= FUSED_WORK;
    problem->kernel = kernel_choose(getenv("ATTN_ISA"), build->error);
    if (problem->kernel == NULL)
        return build->error->status;
    problem->threads = build->options->threads > 0 ? (unsigned)build->options->threads : processors();
    char text[160];
    const char *why = obstacle(problem, text, sizeof text);
    if (path == PATH_FUSED && why != NULL)
        return error_usage(build->error, "--kernel fused: %s", why);
    if (problem->recipe != NULL && path == PATH_FUSED)
        return error_usage(build->error, "--kernel fused: it makes no mistakes; expected --kernel auto");
    problem->forced = path == PATH_FUSED;
    problem->fused = path == PATH_FUSED || (path == PATH_AUTO && large && why == NULL);
    problem->fused = problem->fused && problem->recipe == NULL;
    problem->float32_projections = problem->fused || (path == PATH_AUTO && large && fits_float32(problem->dtype) &&
                                                      !problem_rounding(problem)->product_first);
    return STATUS_OK;
}
