#include "problem/problem.h"

bool problem_projects(const struct problem *problem)
{
    return MECHANISMS[problem->mechanism].projects;
}

const char **problem_key_labels(const struct problem *problem, size_t item)
{
    if (problem->labels == NULL)
        return NULL;
    return problem->labels + (problem->label_lists > 1 ? item * problem->keys : 0);
}

const char **problem_query_labels(const struct problem *problem, size_t item)
{
    const char **labels = problem_key_labels(problem, item);
    return labels == NULL || problem->first_query == SIZE_MAX ? NULL : labels + problem->first_query;
}

bool problem_is_side_by_side(const struct problem *problem, enum stage stage)
{
    return stage == STAGE_OUTPUT || (stage == STAGE_CONTEXT && problem->packed);
}

size_t problem_columns(const struct problem *problem, enum stage stage)
{
    if (stage == STAGE_LSE)
        return 1;
    if (stage_is_square(stage))
        return problem->keys;
    if (stage == STAGE_OUTPUT && problem->plan.has_out)
        return problem->plan.d_out;
    if (problem_is_side_by_side(problem, stage))
        return problem->heads * problem->d_value;
    return stage == STAGE_VALUE || stage == STAGE_PRESENT_VALUE || stage == STAGE_CONTEXT ? problem->d_value
                                                                                          : problem->d_head;
}

bool problem_shows_stage(const struct problem *problem, enum stage stage)
{
    for (size_t i = 0; i < problem->stage_count; i++)
        if (problem->stages[i] == stage)
            return true;
    return false;
}

bool problem_has_stage(const struct problem *problem, enum stage stage)
{
    switch (stage) {
    case STAGE_INPUTS:
        return problem_projects(problem) && !problem->parameters_only;
    case STAGE_PARAMETERS:
        return problem_projects(problem);
    case STAGE_SCORES:
        return problem->rounding != ROUNDING_OPERATIONS && !problem->parameters_only;
    case STAGE_CAPPED:
        return problem->softcap > 0 && !problem->parameters_only;
    case STAGE_MASKED:
        return problem->masks && !problem->parameters_only;
    case STAGE_DROPPED:
        return problem->dropout > 0 && !problem->parameters_only;
    case STAGE_OUTPUT:
        return MECHANISMS[problem->mechanism].splits && !problem->parameters_only;
    default:
        return stage <= STAGE_CONTEXT && !problem->parameters_only;
    }
}

double problem_work(const struct problem *problem)
{
    const double rows = (double)problem->items * (double)problem->queries, heads = (double)problem->heads;
    const double width = heads * (double)problem->d_head,
                 kv_width = (double)problem->kv_heads * (double)problem->d_head;
    double work = rows * (double)problem->keys * heads * (double)(problem->d_head + problem->d_value);
    if (!problem_projects(problem))
        return work;
    work += rows * (double)problem->d_in * (width + 2 * kv_width);
    if (problem->plan.has_out)
        work += rows * width * (double)problem->plan.d_out;
    return work;
}
