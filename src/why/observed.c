/* SPDX-License-Identifier: MIT */
/* Describes the first wrong table, if nothing explains it. */
#include "why/why.h"

#include "why/fit.h"

#include <string.h>

/* The indices of an axis of the table in its stage; those of rows of queries are the queries. */
static size_t *list_index(const struct why *why, const struct mine_table *table, struct mine_index first, int axis)
{
    const struct mine_layout *layout = &table->layout;
    const bool of_queries = axis == MINE_ROW && !mine_is_backward(table) && !stage_is_of_keys(table->stage);
    size_t *index = arena_allocate(why->arena, layout->size[axis], sizeof *index, why->error);
    for (size_t i = 0; i < layout->size[axis] && index != NULL; i++) {
        index[i] = axis == MINE_ROW && layout->rows != NULL ? layout->rows[i] : first.at[axis] + i;
        index[i] = of_queries ? why->problem->chosen.rows[index[i]] : index[i];
    }
    return index;
}

/* The labels of its rows; NULL if items have different ones, or out of memory. */
static const char **list_labels(const struct why *why, const struct mine_table *table, struct mine_index first)
{
    const struct mine_layout *layout = &table->layout;
    const char **labels = arena_allocate(why->arena, layout->size[MINE_ROW], sizeof *labels, why->error);
    size_t position;
    if (layout->size[MINE_ITEM] > 1 || table->parameter != NULL || stage_is_of_mask(table->stage))
        return NULL;
    for (size_t i = 0; i < layout->size[MINE_ROW] && labels != NULL; i++)
        labels[i] = problem_label(why->problem, stage_is_of_keys(table->stage), first.at[MINE_ITEM],
                                  layout->rows != NULL ? layout->rows[i] : first.at[MINE_ROW] + i, &position);
    return labels;
}

/* Lays the table out as the stage does, with the right numbers. */
static enum status lay_out(struct why *why, const struct trial_base *base, size_t at, const struct trial_made *made,
                           struct observed *observed)
{
    const struct mine_table *table = &why->mine.tables[at];
    const size_t *size = table->layout.size, *stride = table->layout.stride;
    const struct mine_index first = mine_index(table, why->right.indices[at]);
    observed->right.stage = table->stage;
    for (int axis = 0; axis < MINE_AXES; axis++) {
        observed->right.size[axis] = size[axis];
        observed->right.index[axis] = list_index(why, table, first, axis);
    }
    observed->labels = list_labels(why, table, first);
    if (observe_begin(observed) != STATUS_OK)
        return why->error->status;
    for (size_t i = 0; i < table->count; i++) {
        const double *noise = base->noise[at];
        size_t left = i, from = 0;
        for (int axis = MINE_AXES; axis-- > 0; left /= size[axis])
            from += left % size[axis] * stride[axis];
        observed->right.numbers[i] =
            trial_made_number(made, table, made->gradients[at], mine_place_of(table, first, from));
        observed->mine[i] = table->numbers[from];
        observed->printed[i] = table->printed[from];
        observed->tolerance[i] =
            noise != NULL ? table->printed[from] + fit_most_noise(base) * noise[from] : table->tolerance[from];
    }
    return STATUS_OK;
}

enum status why_observe(struct why *why, const struct trial_base *base)
{
    const uint64_t departs = why_departs(why);
    struct observed observed = {.most_rms = fit_most_rms(base, TRIAL_NONE) / fit_most_noise(base),
                                .dtype = why->mine.dtype,
                                .problem = why->problem,
                                .columns = base->problem == why->problem ? &base->columns : NULL,
                                .arena = why->arena,
                                .error = why->error};
    struct arena scratch = {0};
    struct trial_made made;
    const struct mine_table *table = why->mine.tables, *end = table + why->mine.count;
    while (table < end && (!(departs & STAGE_BIT(table->stage)) || table->places != NULL))
        table++;
    if (table == end || mine_indices(table) > 1) /* nobody knows its place */
        return STATUS_OK;
    const size_t at = (size_t)(table - why->mine.tables);
    if (fit_make(base, why->problem, TRIAL_NONE, &made, &scratch, why->error) &&
        (made.gradients[at] != NULL || !mine_is_backward(table)) &&
        lay_out(why, base, at, &made, &observed) == STATUS_OK)
        observe(&observed, &why->observations);
    arena_free(&scratch);
    return why->error->status;
}
