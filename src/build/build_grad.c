/* SPDX-License-Identifier: MIT */
#include "build/build.h"
#include "model/stage_id.h"

#include <string.h>

/* An option without gradients, or NULL. */
static const char *obstacle(const struct build *build)
{
    const struct problem *problem = build->problem;
    const struct options *options = build->options;
    if (options->parts > 0 || problem->chosen.row_count != problem->size.queries)
        return "a choice of queries: the loss covers all of them; leave out --query and --part";
    if (options_format(options)->computes && options->mistake_count > 0)
        return "a page of a mistake; leave out --mistake, or type another --format";
    return NULL;
}

/* Writes the axes of the given gradient in a result into shape; returns how many. */
static size_t shape_last(const struct problem *problem, size_t shape[TENSOR_RANK])
{
    const enum stage last = problem_grad_stage(problem);
    size_t rank = 0;
    if (problem->size.has_batch)
        shape[rank++] = problem->size.items;
    if (problem->size.has_heads && !problem_is_side_by_side(problem, last))
        shape[rank++] = problem->size.heads;
    shape[rank++] = problem->size.queries;
    shape[rank++] = problem_columns(problem, last);
    return rank;
}

/* The tensor; rejects other tensors, which attn would ignore, except in a result. */
static const struct file_tensor *find_given(const struct build *build, const char *name)
{
    const struct input_file *file = build->grad;
    const struct file_tensor *found =
        file->nameless && file->tensor_count == 1 ? &file->tensors[0] : input_file_find(file, name);
    if (found == NULL)
        error_usage(build->error,
                    "%s: no \"%s\"; expected the gradient with respect to %s, or one tensor without a name",
                    file->source, name, name + strlen("grad_"));
    for (size_t i = 0; i < file->tensor_count && found != NULL && !file->is_result; i++)
        if (&file->tensors[i] != found) {
            error_usage(build->error, "%s: %.80s does not belong here; expected %s alone", file->source,
                        file->tensors[i].name, name);
            return NULL;
        }
    return found;
}

/* Whether it is ... x H x d_v and the last table ... x H d_v: the same numbers in the same order. */
static bool has_heads_apart(const struct tensor *given, const struct tensor *last, size_t heads)
{
    const size_t axis = last->rank - 1;
    return given->rank == last->rank + 1 && memcmp(given->shape, last->shape, axis * sizeof last->shape[0]) == 0 &&
           given->shape[axis] == heads && heads * given->shape[axis + 1] == last->shape[axis];
}

enum status build_grad(const struct build *build)
{
    struct problem *problem = build->problem;
    const char *name = stage_name(problem_grad_stage(problem));
    struct tensor last = {0};
    if (build->options->grad == NULL)
        return STATUS_OK;
    problem->loss.is_given = true;
    const char *why = obstacle(build);
    if (why != NULL)
        return error_usage(build->error, "--grad does not go with %s", why);
    if (build->grad == NULL)
        return STATUS_OK;
    const struct file_tensor *given = find_given(build, name);
    if (given == NULL)
        return build->error->status;
    last.rank = shape_last(problem, last.shape);
    const char *said = build->grad->nameless ? name : given->name;
    if (!tensor_same_shape(&given->tensor, &last) &&
        !(problem->size.heads_packed && has_heads_apart(&given->tensor, &last, problem->size.heads)))
        return error_usage(build->error, "%s: %s is %s; expected %s, as %s is", build->grad->source, said,
                           SHAPE_TEXT(&given->tensor), SHAPE_TEXT(&last), name + strlen("grad_"));
    if (tensor_convert(&given->tensor, DTYPE_F64, build->grad->source, said, NULL, &problem->loss.gradient,
                       build->arena, build->error) != STATUS_OK)
        return build->error->status;
    problem->loss.gradient.rank = last.rank;
    memcpy(problem->loss.gradient.shape, last.shape, last.rank * sizeof last.shape[0]);
    return STATUS_OK;
}
