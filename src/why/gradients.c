/* SPDX-License-Identifier: MIT */
#include "why/mine.h"

#include "compute/result.h"
#include "stage/stage.h"

#include <string.h>

/* The problem, showing only those of these stages that it has: a guess may remove the sinks, or attn_mask. */
static struct problem showing(const struct problem *problem, uint64_t stages)
{
    struct problem shows = *problem;
    shows.path.threads = 1;
    shows.path.forced = NULL;
    shows.path.fused = shows.path.fused_backward = shows.path.kernel_projections = false;
    shows.chosen.stage_count = 0;
    struct error absent = {0};
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if ((stages & STAGE_BIT(stage)) && stage_check(problem, stage, "", &absent) == STATUS_OK)
            shows.chosen.stages[shows.chosen.stage_count++] = stage;
    return shows;
}

enum status gradients_list(const struct problem *problem, const struct gradient **gradients, size_t *count,
                           struct arena *arena, struct error *error)
{
    struct problem *shows = arena_allocate(arena, 1, sizeof *shows, error);
    struct result *result = arena_allocate(arena, 1, sizeof *result, error);
    if (shows == NULL || result == NULL)
        return error->status;
    *shows = showing(problem, STAGE_BIT(STAGE_GRAD_PARAMETERS));
    if (result_list(result, shows, NULL, false, arena, error) != STATUS_OK)
        return error->status;
    struct gradient *list = arena_allocate(arena, result->table_count, sizeof *list, error);
    for (size_t i = 0; i < result->table_count && list != NULL; i++) {
        list[i] = (struct gradient){.name = result->tables[i].name, .rank = result->tables[i].rank};
        memcpy(list[i].shape, result->tables[i].shape, list[i].rank * sizeof list[i].shape[0]);
    }
    *gradients = list;
    *count = result->table_count;
    return list == NULL ? error->status : STATUS_OK;
}

static const struct result_table *find(const struct result *result, const struct mine_table *table)
{
    for (size_t i = 0; i < result->table_count; i++)
        if (result->tables[i].stage == table->stage &&
            (table->parameter == NULL || strcmp(result->tables[i].name, table->parameter) == 0))
            return &result->tables[i];
    return NULL;
}

static const double *load(struct result *result, const struct result_table *table, struct arena *arena,
                          struct error *error)
{
    const size_t matrices = result_matrices(table), rows = result_rows(table), columns = result_columns(table);
    double *numbers = arena_allocate(arena, matrices * rows, columns * sizeof *numbers, error);
    for (size_t i = 0; i < matrices * rows && numbers != NULL; i++)
        result_row(result, table, i / rows, i % rows, numbers + i * columns);
    return numbers;
}

enum status gradients_make(const struct problem *problem, const struct mine *mine, const double **made,
                           struct arena *arena, struct error *error)
{
    uint64_t stages = 0;
    for (size_t i = 0; i < mine->count; i++) {
        made[i] = NULL;
        stages |= mine_is_backward(&mine->tables[i]) ? STAGE_BIT(mine->tables[i].stage) : 0;
    }
    if (stages == 0)
        return STATUS_OK;
    struct problem *shows = arena_allocate(arena, 1, sizeof *shows, error);
    struct result *result = arena_allocate(arena, 1, sizeof *result, error);
    struct progress *silent = arena_allocate(arena, 1, sizeof *silent, error);
    if (shows == NULL || result == NULL || silent == NULL)
        return error->status;
    *shows = showing(problem, stages);
    if (shows->chosen.stage_count == 0)
        return STATUS_OK;
    progress_start(silent, false, false);
    if (result_create(result, shows, silent, false, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < mine->count; i++) {
        const struct result_table *table = mine_is_backward(&mine->tables[i]) ? find(result, &mine->tables[i]) : NULL;
        if (table != NULL && result_matrices(table) * result_rows(table) * result_columns(table) ==
                                 mine_whole(&mine->tables[i])) /* other numbers of keys change the count */
            made[i] = load(result, table, arena, error);
    }
    return error->status;
}
