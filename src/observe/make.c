/* SPDX-License-Identifier: MIT */
/* Other tables of the observed job: other stages, and the same stage of a changed job. */
#include "observe/observing.h"

#include "model/stages.h"

/* Whether plain.h makes it, row by row or as an operand. */
static bool can_make(const struct problem *problem, enum stage stage)
{
    return stage_exists(stage) && !STAGES[stage].backward && !STAGES[stage].repeats && stage != STAGE_NORMED &&
           !stage_is_of_mask(stage) &&
           (stage_applies(problem, stage) || STAGES[problem_made_as(problem, stage)].on_demand);
}

/* Lays out the table of a stage: the items of the observed table, its heads if both have the same, its rows if both
 * have rows of queries, or of keys, and all columns. */
static bool lay_out(struct observing *observing, enum stage stage, struct observe_table *table)
{
    const struct observed *observed = observing->observed;
    const struct problem *problem = observed->problem;
    const bool of_keys = stage_is_of_keys(stage), joins = problem_is_side_by_side(problem, stage);
    const bool same_kind = of_keys == stage_is_of_keys(observed->right.stage);
    const bool same_heads = same_kind && joins == problem_is_side_by_side(problem, observed->right.stage);
    const size_t heads = joins ? 1 : of_keys ? problem->size.kv_heads : problem->size.heads;
    const size_t rows = of_keys ? problem->size.keys : problem->size.queries;
    const bool same[] = {true, same_heads, same_kind, stage == observed->right.stage};
    const size_t whole[] = {problem->size.items, heads, rows, problem_columns(problem, stage)};
    table->stage = stage;
    for (int axis = 0; axis < OBSERVE_AXES; axis++) {
        table->size[axis] = same[axis] ? observed->right.size[axis] : whole[axis];
        size_t *index = observe_zeros(observing, table->size[axis], sizeof *index);
        for (size_t i = 0; i < table->size[axis] && index != NULL; i++) {
            index[i] = same[axis] ? observe_index(&observed->right, axis, i) : i;
            if (index[i] >= whole[axis])
                return false;
        }
        table->index[axis] = index;
    }
    table->numbers = arena_allocate(observing->arena, observe_count(table), sizeof *table->numbers, observing->error);
    return observing->error->status == STATUS_OK;
}

static void take_numbers(const struct plain *plain, struct observe_table *table)
{
    for (size_t i = 0, count = observe_count(table); i < count; i++) {
        size_t at[OBSERVE_AXES], left = i;
        for (int axis = OBSERVE_AXES; axis-- > 0; left /= table->size[axis])
            at[axis] = table->index[axis][left % table->size[axis]];
        table->numbers[i] =
            plain_number(plain, table->stage, at[OBSERVE_ITEM], at[OBSERVE_HEAD], at[OBSERVE_ROW], at[OBSERVE_COLUMN]);
    }
}

/* The queries to compute: those of the observed table, ascending and each once; all, if the stage has other rows. */
static const size_t *list_rows(struct observing *observing, const struct recipe *recipe,
                               const struct observe_table *table, size_t *count, struct arena *arena)
{
    const size_t queries = recipe->problem.size.queries;
    size_t *rows = arena_allocate(arena, queries, sizeof *rows, observing->error);
    bool *asked = observe_zeros(observing, queries, sizeof *asked);
    *count = 0;
    if (rows == NULL || asked == NULL)
        return NULL;
    for (size_t i = 0; i < table->size[OBSERVE_ROW] && !stage_is_of_keys(table->stage); i++)
        asked[table->index[OBSERVE_ROW][i]] = true;
    for (size_t i = 0; i < queries; i++)
        if (asked[i])
            rows[(*count)++] = i;
    return plain_rows(recipe, rows, count, arena, observing->error);
}

struct recipe *observe_recipe(struct observing *observing, const struct mistake_choice *choice)
{
    struct recipe *recipe = arena_allocate(observing->arena, 1, sizeof *recipe, observing->error);
    if (recipe == NULL || recipe_create(recipe, observing->observed->problem, choice, choice != NULL, false,
                                        observing->arena, observing->error) != STATUS_OK)
        return NULL;
    return recipe;
}

static const struct observe_table *make_stage(struct observing *observing, const struct recipe *recipe,
                                              enum stage stage)
{
    const struct problem *problem = observing->observed->problem;
    struct observe_table *table = arena_allocate(observing->arena, 1, sizeof *table, observing->error);
    struct arena scratch = {0};
    struct plain *plain = arena_allocate(&scratch, 1, sizeof *plain, observing->error);
    size_t count;
    bool made = false;
    if (table != NULL && plain != NULL && recipe->reason == NULL && problem != NULL && can_make(problem, stage) &&
        lay_out(observing, stage, table)) {
        const size_t *rows = list_rows(observing, recipe, table, &count, &scratch);
        const size_t last = observe_index(table, OBSERVE_COLUMN, table->size[OBSERVE_COLUMN] - 1);
        *plain = (struct plain){.recipe = recipe, .few_columns = stage == STAGE_OUTPUT ? last + 1 : 0};
        made = rows != NULL &&
               plain_run(plain, recipe, rows, count, stage_closure(STAGE_BIT(problem_made_as(problem, stage))),
                         &observing->columns, observing->arena, &scratch, observing->error) == STATUS_OK;
        if (made)
            take_numbers(plain, table);
    }
    arena_free(&scratch);
    return made ? table : NULL;
}

const double *observe_make(struct observing *observing, const struct recipe *recipe)
{
    const struct observe_table *table = make_stage(observing, recipe, observing->observed->right.stage);
    return table != NULL ? table->numbers : NULL;
}

/* The inputs, as a stage; NULL: none, or out of memory. */
static const struct observe_table *take_inputs(struct observing *observing)
{
    const struct tensor *inputs = &observing->observed->problem->given.inputs;
    struct observe_table *table = arena_allocate(observing->arena, 1, sizeof *table, observing->error);
    const size_t rank = inputs->rank;
    if (rank < 2 || rank > 3 || table == NULL)
        return NULL;
    *table = (struct observe_table){
        STAGE_INPUTS,
        {rank == 3 ? inputs->shape[0] : 1, 1, inputs->shape[rank - 2], inputs->shape[rank - 1]},
        {NULL},
        arena_allocate(observing->arena, tensor_count(inputs), sizeof(double), observing->error)};
    if (table->numbers != NULL)
        tensor_load(inputs, 0, tensor_count(inputs), table->numbers);
    return table->numbers != NULL ? table : NULL;
}

const struct observe_table *observe_other(struct observing *observing, enum stage stage)
{
    const struct observed *observed = observing->observed;
    const struct recipe *recipe;
    for (size_t i = 0; i < observed->other_count; i++)
        if (observed->others[i].stage == stage)
            return &observed->others[i];
    if (observed->problem == NULL || observing->tried & STAGE_BIT(stage))
        return observing->made[stage];
    observing->tried |= STAGE_BIT(stage);
    if (stage == STAGE_INPUTS)
        observing->made[stage] = take_inputs(observing);
    else if ((recipe = observe_recipe(observing, NULL)) != NULL)
        observing->made[stage] = make_stage(observing, recipe, stage);
    return observing->made[stage];
}

const double *observe_values(const struct observing *observing, const struct observe_table *value, size_t i)
{
    const struct problem_sizes *size = &observing->observed->problem->size;
    const size_t head = observe_index_of(observing, i, OBSERVE_HEAD) / (size->heads / size->kv_heads);
    const size_t matrix = observe_place(observing, i, OBSERVE_ITEM) * size->kv_heads + head;
    return value->numbers + matrix * size->keys * size->d_value;
}
