/* SPDX-License-Identifier: MIT */
/* Describes the first wrong table, if nothing explains it. */
#include "why/why.h"

#include "why/fit.h"

#include <string.h>

/* Lists the indices of its shown numbers, from one on, on each axis of the stage; `place` has the place of each index
 * among them. Whether the numbers are all combinations of these. */
static bool list_grid(const struct why *why, const struct mine_table *table, struct mine_index first, size_t from,
                      struct observe_table *grid, size_t *place[MINE_AXES])
{
    size_t product = 1;
    for (int axis = 0; axis < MINE_AXES; axis++) {
        const size_t whole = table->layout.whole[axis];
        place[axis] = arena_allocate(why->arena, whole, sizeof *place[axis], why->error);
        grid->index[axis] = arena_allocate(why->arena, whole, sizeof *grid->index[axis], why->error);
        if (place[axis] == NULL || grid->index[axis] == NULL)
            return false;
        memset(place[axis], 0, whole * sizeof *place[axis]);
        for (size_t i = from; i < table->shown; i++)
            place[axis][mine_place_of(table, first, i).at[axis]] = 1;
        grid->size[axis] = 0;
        for (size_t index = 0; index < whole; index++)
            if (place[axis][index] > 0) {
                place[axis][index] = grid->size[axis];
                grid->index[axis][grid->size[axis]++] = index;
            }
        product *= grid->size[axis];
    }
    return product == table->shown - from;
}

/* The labels of its rows; NULL if items have different ones, or out of memory. */
static const char **list_labels(const struct why *why, const struct mine_table *table, const struct observe_table *grid)
{
    const char **labels = arena_allocate(why->arena, grid->size[OBSERVE_ROW], sizeof *labels, why->error);
    size_t position;
    if (grid->size[OBSERVE_ITEM] > 1 || table->parameter != NULL || stage_is_of_mask(table->stage))
        return NULL;
    for (size_t i = 0; i < grid->size[OBSERVE_ROW] && labels != NULL; i++)
        labels[i] = problem_label(why->problem, stage_is_of_keys(table->stage), grid->index[OBSERVE_ITEM][0],
                                  grid->index[OBSERVE_ROW][i], &position);
    return labels;
}

/* Lays the table out as the stage does, with the right numbers; of a flattened one its last row. False: it cannot. */
static bool lay_out(struct why *why, const struct trial_base *base, size_t at, const struct trial_made *made,
                    struct observed *observed)
{
    const struct mine_table *table = &why->mine.tables[at];
    const struct mine_index first = mine_index(table, why->right.indices[at]);
    struct observe_table *right = &observed->right;
    size_t *place[MINE_AXES], from = 0;
    if (table->shown == 0)
        return false;
    if (!list_grid(why, table, first, from, right, place)) {
        const size_t last = mine_place_of(table, first, table->shown - 1).at[MINE_ROW];
        for (from = table->shown; from > 0 && mine_place_of(table, first, from - 1).at[MINE_ROW] == last;)
            from--;
        if (why->error->status != STATUS_OK || !list_grid(why, table, first, from, right, place))
            return false;
    }
    right->stage = table->stage;
    observed->elided = table->shown < mine_layout_count(table);
    observed->labels = list_labels(why, table, right);
    if (observe_begin(observed) != STATUS_OK)
        return false;
    for (size_t i = from; i < table->shown; i++) {
        const struct mine_index index = mine_place_of(table, first, i);
        const double *noise = base->noise[at];
        size_t k = 0;
        for (int axis = 0; axis < MINE_AXES; axis++)
            k = k * right->size[axis] + place[axis][index.at[axis]];
        right->numbers[k] = trial_made_number(made, table, made->gradients[at], index);
        observed->mine[k] = table->numbers[i];
        observed->printed[k] = table->printed[i];
        observed->tolerance[k] =
            noise != NULL ? table->printed[i] + fit_most_noise(base) * noise[i] : table->tolerance[i];
    }
    for (size_t i = 0; i < right->size[OBSERVE_ROW]; i++) /* those of rows of queries are the queries */
        if (!mine_is_backward(table) && !stage_is_of_keys(table->stage))
            right->index[OBSERVE_ROW][i] = why->problem->chosen.rows[right->index[OBSERVE_ROW][i]];
    return true;
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
    while (table < end && !(departs & STAGE_BIT(table->stage)))
        table++;
    if (table == end || mine_indices(table) > 1) /* nobody knows its place */
        return STATUS_OK;
    const size_t at = (size_t)(table - why->mine.tables);
    if (fit_make(base, why->problem, TRIAL_NONE, &made, &scratch, why->error) &&
        (made.gradients[at] != NULL || !mine_is_backward(table)) && lay_out(why, base, at, &made, &observed))
        observe(&observed, &why->observations);
    arena_free(&scratch);
    return why->error->status;
}
