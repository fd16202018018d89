/* SPDX-License-Identifier: MIT */
#include "compute/setup.h"

#include "mistake/plain.h"
#include "model/stages.h"

#include <string.h>

/* The selected rows of (matrices, made, bytes): in place if no others were made. */
static void *pick_rows(const struct problem *problem, void *from, size_t made, size_t matrices, size_t bytes,
                       struct arena *arena, struct error *error)
{
    const size_t rows = problem->chosen.row_count;
    char *to = made == rows ? NULL : arena_allocate(arena, matrices * rows, bytes, error);
    for (size_t i = 0; i < matrices * rows && to != NULL; i++)
        memcpy(to + i * bytes, (const char *)from + (i / rows * made + problem->chosen.rows[i % rows]) * bytes, bytes);
    return made == rows ? from : to;
}

/* Holds the selected rows of a stage; `axis` counts rows, of which more may have been made. */
static enum status hold_rows(struct attention *attention, enum stage stage, struct tensor made, size_t axis,
                             struct arena *arena, struct error *error)
{
    const size_t rows = attention->problem->chosen.row_count;
    size_t matrices = 1, bytes = dtype_size(made.dtype);
    if (made.rank == 0)
        return STATUS_OK;
    for (size_t i = 0; i < made.rank; i++)
        *(i < axis ? &matrices : &bytes) *= i != axis ? made.shape[i] : 1;
    made.data = pick_rows(attention->problem, made.data, made.shape[axis], matrices, bytes, arena, error);
    made.shape[axis] = rows;
    attention->held[stage] = made;
    return error->status;
}

static enum status hold_stage(struct attention *attention, const struct plain *plain, enum stage stage,
                              struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    struct tensor made = {.dtype = DTYPE_F64, .rank = 1, .shape = {problem->size.items}, .data = plain->stages[stage]};
    if (!STAGES[stage].joins_heads)
        made.shape[made.rank++] = problem->size.heads;
    made.shape[made.rank++] = plain->row_count;
    if (stage_has_columns(stage))
        made.shape[made.rank++] = problem_columns_of_head(problem, stage);
    return hold_rows(attention, stage, made, STAGES[stage].joins_heads ? 1 : 2, arena, error);
}

static enum status hold(struct attention *attention, const struct plain *plain, struct arena *arena,
                        struct error *error)
{
    const struct problem *problem = attention->problem;
    attention->held[STAGE_KEY] = plain->operands[PROJECTION_KEY];
    attention->held[STAGE_VALUE] = plain->operands[PROJECTION_VALUE];
    attention->held[STAGE_PROJECTED_KEY] = plain->projected[PROJECTION_KEY];
    attention->held[STAGE_PROJECTED_VALUE] = plain->projected[PROJECTION_VALUE];
    attention->held[STAGE_NORMED_KEY] = plain->normed[PROJECTION_KEY];
    if (hold_rows(attention, STAGE_QUERY, plain->operands[PROJECTION_QUERY], 2, arena, error) ||
        hold_rows(attention, STAGE_PROJECTED_QUERY, plain->projected[PROJECTION_QUERY], 2, arena, error) ||
        hold_rows(attention, STAGE_NORMED_QUERY, plain->normed[PROJECTION_QUERY], 2, arena, error) ||
        hold_rows(attention, STAGE_GATE, problem->given.gate, 2, arena, error))
        return error->status;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (plain->stages[stage] != NULL && hold_stage(attention, plain, stage, arena, error) != STATUS_OK)
            return error->status;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].repeats)
            attention->held[stage] = attention->held[stage_of_numbers(stage)];
    attention->made = stage_existing(UINT64_MAX); /* plain_run makes every stage that it is asked for */
    if (plain->kept != NULL)
        attention->kept = pick_rows(problem, plain->kept, plain->row_count, problem->size.items * problem->size.heads,
                                    problem->size.keys * sizeof *plain->kept, arena, error);
    return error->status;
}

enum status plain_path(struct attention *attention, const struct problem *problem, uint64_t stages, struct arena *arena,
                       struct error *error)
{
    struct plain *plain = arena_allocate(arena, 1, sizeof *plain, error);
    size_t count = problem->chosen.row_count;
    *attention = (struct attention){.problem = problem,
                                    .positions = problem->chosen.rows,
                                    .computed_rows = problem->chosen.row_count,
                                    .threads = 1,
                                    .output_threads = 1};
    if (plain == NULL)
        return error->status;
    *plain = (struct plain){.wants_normed = stage_applies(problem, STAGE_NORMED)};
    const size_t *rows = plain_rows(problem->mistake.recipe, problem->chosen.rows, &count, arena, error);
    const double needed = plain_bytes(problem, count), there = memory_there();
    if (rows == NULL)
        return error->status;
    if (needed > there)
        return error_system(error, 0,
                            "not enough memory: with this --mistake attn holds all stages, %.1f GB, but only %.1f GB "
                            "are free; expected fewer tokens, heads or items",
                            needed / 1e9, there / 1e9);
    if (plain_run(plain, problem->mistake.recipe, rows, count, stages, NULL, NULL, arena, error) != STATUS_OK)
        return error->status;
    return hold(attention, plain, arena, error);
}
