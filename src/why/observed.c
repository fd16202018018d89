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
    double *lists[4]; /* right, mine, tolerance, printed */
    for (size_t i = 0; i < 4; i++)
        lists[i] = arena_allocate(why->arena, table->count, sizeof *lists[i], why->error);
    observed->right = (struct observe_table){.stage = table->stage, .numbers = lists[0]};
    for (int axis = 0; axis < MINE_AXES; axis++) {
        observed->right.size[axis] = size[axis];
        observed->right.index[axis] = list_index(why, table, first, axis);
    }
    observed->labels = list_labels(why, table, first);
    for (size_t i = 0; i < table->count && why->error->status == STATUS_OK; i++) {
        size_t left = i, from = 0;
        for (int axis = MINE_AXES; axis-- > 0; left /= size[axis])
            from += left % size[axis] * stride[axis];
        lists[0][i] = trial_made_number(made, table, made->gradients[at], mine_place_of(table, first, from));
        lists[1][i] = table->numbers[from];
        lists[2][i] = base->noise[at] != NULL ? table->printed[from] + fit_most_noise(base) * base->noise[at][from]
                                              : table->tolerance[from];
        lists[3][i] = table->printed[from];
    }
    observed->mine = lists[1];
    observed->tolerance = lists[2];
    observed->printed = lists[3];
    return why->error->status;
}

enum status why_observe(struct why *why, const struct trial_base *base)
{
    const struct trial_guess none = {.count = 0};
    const uint64_t departs = why_departs(why);
    struct arena scratch = {0};
    struct recipe recipe;
    struct trial_made made = {.plain.wants_normed = mine_table_of(&why->mine, STAGE_NORMED) != NULL};
    size_t at = 0;
    while (at < why->mine.count && !(departs & STAGE_BIT(why->mine.tables[at].stage)))
        at++;
    if (at == why->mine.count || mine_indices(&why->mine.tables[at]) > 1 /* nobody knows its place */ ||
        recipe_create(&recipe, why->problem, NULL, 0, &scratch, why->error) ||
        trial_make(base, &recipe, why->problem->chosen.rows, why->problem->chosen.row_count, &made, &scratch,
                   why->error)) {
        arena_free(&scratch);
        return why->error->status;
    }
    struct observed observed = {.name = mine_name(&why->mine.tables[at]),
                                .most_rms = fit_most_rms(base, &none) / fit_most_noise(base),
                                .dtype = why->mine.dtype,
                                .problem = why->problem,
                                .arena = why->arena,
                                .error = why->error};
    if (made.gradients[at] != NULL || !mine_is_backward(&why->mine.tables[at])) {
        if (lay_out(why, base, at, &made, &observed) == STATUS_OK)
            observe(&observed, &why->observations);
    }
    arena_free(&scratch);
    return why->error->status;
}
