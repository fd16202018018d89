#include "compute/plain_path.h"

#include "mistake/plain.h"

#include <string.h>

/* The queries to compute: those asked for, or where queries meet all of them. */
static const size_t *choose_rows(const struct problem *problem, size_t *count, struct arena *arena, struct error *error)
{
    *count = problem->recipe->across ? problem->queries : problem->row_count;
    if (!problem->recipe->across)
        return problem->rows;
    size_t *rows = arena_allocate(arena, *count, sizeof *rows, error);
    for (size_t i = 0; i < *count && rows != NULL; i++)
        rows[i] = i;
    return rows;
}

/* The rows that were asked for, of those that were made: `from` (matrices, made, columns). The queries that were made
 * are `positions`, from 0; NULL: all. */
static enum status pick_rows(const struct problem *problem, const double *from, size_t made, size_t matrices,
                             size_t columns, const struct tensor *to)
{
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0; row < problem->row_count; row++) {
            const size_t at = made == problem->row_count ? row : problem->rows[row];
            tensor_store(to, (matrix * problem->row_count + row) * columns, columns,
                         from + (matrix * made + at) * columns);
        }
    return STATUS_OK;
}

static enum status hold_stage(struct attention *attention, const struct plain *plain, enum stage stage,
                              struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t columns = problem_columns_of_head(problem, stage), heads = problem->heads;
    const bool joins = STAGES[stage].joins_heads, has_columns = stage_has_columns(stage);
    size_t shape[TENSOR_RANK], rank = 0;
    shape[rank++] = problem->items;
    if (!joins)
        shape[rank++] = heads;
    shape[rank++] = problem->row_count;
    if (has_columns)
        shape[rank++] = columns;
    struct tensor *held = &attention->held[stage];
    if (tensor_create(held, DTYPE_F64, rank, shape, arena, error) != STATUS_OK)
        return error->status;
    return pick_rows(problem, plain->stages[stage], plain->row_count, problem->items * (joins ? 1 : heads), columns,
                     held);
}

/* Query has all rows, as it is made, and so has what it was before. */
static enum status hold_query(struct attention *attention, enum stage stage, const struct tensor *made,
                              struct arena *arena, struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t d = problem->d_head, shape[] = {problem->items, problem->heads, problem->row_count, d};
    struct tensor *held = &attention->held[stage];
    if (made->rank == 0)
        return STATUS_OK;
    if (tensor_create(held, made->dtype, 4, shape, arena, error) != STATUS_OK)
        return error->status;
    const size_t row_bytes = d * dtype_size(made->dtype);
    for (size_t i = 0; i < problem->items * problem->heads * problem->row_count; i++)
        memcpy((char *)held->data + i * row_bytes,
               (const char *)made->data +
                   (i / problem->row_count * problem->queries + problem->rows[i % problem->row_count]) * row_bytes,
               row_bytes);
    return STATUS_OK;
}

static enum status hold(struct attention *attention, const struct plain *plain, struct arena *arena,
                        struct error *error)
{
    attention->held[STAGE_KEY] = plain->operands[PROJECTION_KEY];
    attention->held[STAGE_VALUE] = plain->operands[PROJECTION_VALUE];
    attention->held[STAGE_PROJECTED_KEY] = plain->projected[PROJECTION_KEY];
    attention->held[STAGE_NORMED_KEY] = plain->normed[PROJECTION_KEY];
    if (hold_query(attention, STAGE_QUERY, &plain->operands[PROJECTION_QUERY], arena, error) ||
        hold_query(attention, STAGE_PROJECTED_QUERY, &plain->projected[PROJECTION_QUERY], arena, error) ||
        hold_query(attention, STAGE_NORMED_QUERY, &plain->normed[PROJECTION_QUERY], arena, error))
        return error->status;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (plain->stages[stage] != NULL && hold_stage(attention, plain, (enum stage)stage, arena, error) != STATUS_OK)
            return error->status;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (STAGES[stage].repeats)
            attention->held[stage] = attention->held[stage_of_numbers((enum stage)stage)];
    attention->made = stage_existing(UINT64_MAX); /* as many as a run was asked for; plain_run makes them all */
    return STATUS_OK;
}

/* What dropout keeps, of the rows that were asked for. */
static enum status hold_kept(struct attention *attention, const struct plain *plain, struct arena *arena,
                             struct error *error)
{
    const struct problem *problem = attention->problem;
    const size_t matrices = problem->items * problem->heads, rows = problem->row_count, keys = problem->keys;
    if (plain->kept == NULL)
        return STATUS_OK;
    attention->kept = arena_allocate(arena, matrices * rows, keys * sizeof *attention->kept, error);
    for (size_t i = 0; i < matrices * rows && attention->kept != NULL; i++) {
        const size_t at = plain->row_count == rows ? i % rows : problem->rows[i % rows];
        memcpy(attention->kept + i * keys, plain->kept + (i / rows * plain->row_count + at) * keys, keys);
    }
    return attention->kept == NULL ? error->status : STATUS_OK;
}

enum status plain_path(struct attention *attention, const struct problem *problem, uint64_t stages, struct arena *arena,
                       struct error *error)
{
    struct plain *plain = arena_allocate(arena, 1, sizeof *plain, error);
    size_t count;
    *attention = (struct attention){
        .problem = problem, .positions = problem->rows, .slots = problem->row_count, .threads = 1, .output_threads = 1};
    if (plain == NULL)
        return error->status;
    *plain = (struct plain){.wants_normed = stage_applies(problem, STAGE_NORMED)};
    const size_t *rows = choose_rows(problem, &count, arena, error);
    const double needed = plain_bytes(problem, count), there = memory_there();
    if (rows == NULL)
        return error->status;
    if (needed > there)
        return error_system(error, 0,
                            "not enough memory: with this --mistake all stages are held whole, %.1f GB, and %.1f GB "
                            "are there; expected fewer tokens, heads or items",
                            needed / 1e9, there / 1e9);
    if (plain_run(plain, problem->recipe, rows, count, stages, NULL, NULL, arena, error) ||
        hold(attention, plain, arena, error))
        return error->status;
    return hold_kept(attention, plain, arena, error);
}
