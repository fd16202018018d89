/* SPDX-License-Identifier: MIT */
/* Mistakes of slots packing and rows: the code reads the rows of one packed weight of query, key and value, or those of
 * a projection, in another order. */
#include "mistake/recipe.h"

#include "stage/operand_steps.h"

#include <string.h>

/* Rows of the three projections, (H d), (H_kv d) and (H_kv d); each has `width` numbers. */
struct packed {
    const struct projection *projections; /* of the one module */
    size_t heads, kv_heads, d, width;
    const char *order; /* of the blocks: "kqv" */
};

/* A row of a projection, by head. */
struct packed_row {
    enum projection_id id;
    size_t row;
};

/* Row `at` of all queries, then all keys, then all values. */
static struct packed_row in_blocks(const struct packed *packed, size_t at)
{
    const size_t queries = packed->heads * packed->d, keys = packed->kv_heads * packed->d;
    if (at < queries)
        return (struct packed_row){PROJECTION_QUERY, at};
    return at < queries + keys ? (struct packed_row){PROJECTION_KEY, at - queries}
                               : (struct packed_row){PROJECTION_VALUE, at - queries - keys};
}

/* Row `at` of, for each key head, its queries, its key, its value. */
static struct packed_row in_groups(const struct packed *packed, size_t at)
{
    const size_t d = packed->d, group = packed->heads / packed->kv_heads;
    const size_t head = at / d, of = head / (group + 2), place = head % (group + 2), row = at % d;
    if (place < group)
        return (struct packed_row){PROJECTION_QUERY, (of * group + place) * d + row};
    return (struct packed_row){place == group ? PROJECTION_KEY : PROJECTION_VALUE, of * d + row};
}

/* Row `at` of, for each column of all heads, its query, its key, its value. */
static struct packed_row by_column(const struct packed *packed, size_t at)
{
    (void)packed;
    return (struct packed_row){(enum projection_id)(at % PROJECTION_COUNT), at / PROJECTION_COUNT};
}

/* Row `at` of the three blocks in another order. */
static struct packed_row in_order(const struct packed *packed, size_t at)
{
    for (const char *each = packed->order;; each++) {
        const enum projection_id id = *each == 'q'   ? PROJECTION_QUERY
                                      : *each == 'k' ? PROJECTION_KEY
                                                     : PROJECTION_VALUE;
        const size_t rows = (id == PROJECTION_QUERY ? packed->heads : packed->kv_heads) * packed->d;
        if (at < rows)
            return (struct packed_row){id, at};
        at -= rows;
    }
}

typedef struct packed_row packing_order(const struct packed *packed, size_t at);

/* Copies a row of the weight and its bias, 0 if it has none; row (width) is scratch. */
static void copy_row(const struct packed *packed, struct packed_row from, const struct projection *made, size_t to,
                     double *row)
{
    const struct projection *projection = &packed->projections[from.id];
    const size_t rows = projection->weight.shape[1], bytes = packed->width * dtype_size(made->weight.dtype);
    double bias = 0;
    if (projection->transposed && projection->weight.dtype == made->weight.dtype) {
        memcpy((char *)made->weight.data + to * bytes, (const char *)projection->weight.data + from.row * bytes, bytes);
    } else {
        if (projection->transposed)
            tensor_load(&projection->weight, from.row * packed->width, packed->width, row);
        for (size_t i = 0; i < packed->width && !projection->transposed; i++)
            tensor_load(&projection->weight, i * rows + from.row, 1, &row[i]);
        tensor_store(&made->weight, to * packed->width, packed->width, row);
    }
    if (projection->bias.rank > 0)
        tensor_load(&projection->bias, from.row, 1, &bias);
    if (made->bias.rank > 0)
        tensor_store(&made->bias, to, 1, &bias);
}

/* Makes an unfilled projection of as many rows, in the dtype of the first weights if that is narrow. */
static enum status create_projection(struct recipe *recipe, const struct packed *packed, size_t weights,
                                     enum projection_id id, bool has_bias, struct projection *made)
{
    const size_t rows = (id == PROJECTION_QUERY ? packed->heads : packed->kv_heads) * packed->d;
    const size_t shape[] = {rows, packed->width};
    const enum dtype working = dtype_storage(recipe->problem.rounding.dtype),
                     given = packed->projections[0].weight.dtype;
    bool narrow = dtype_size(given) < dtype_size(working);
    for (size_t i = 0; i < weights; i++)
        narrow = narrow && packed->projections[i].weight.dtype == given;
    *made = (struct projection){.transposed = true};
    if (tensor_create(&made->weight, narrow ? given : working, 2, shape, recipe->arena, recipe->error) != STATUS_OK ||
        !has_bias)
        return recipe->error->status;
    return tensor_create(&made->bias, working, 1, &rows, recipe->arena, recipe->error);
}

/* The same without parameters: each column of x . W is another one of the right projections. */
static void move_columns(struct recipe *recipe, const struct packed *packed, packing_order *lies, packing_order *read)
{
    const size_t queries = packed->heads * packed->d, keys = packed->kv_heads * packed->d, rows = queries + 2 * keys;
    const size_t first[PROJECTION_COUNT] = {0, queries, queries + keys};
    size_t *moved = arena_allocate(recipe->arena, rows, sizeof *moved, recipe->error);
    for (size_t at = 0; at < rows && moved != NULL; at++) {
        const struct packed_row to = read(packed, at), from = lies(packed, at);
        moved[first[to.id] + to.row] = first[from.id] + from.row;
    }
    for (int id = 0; id < PROJECTION_COUNT && moved != NULL; id++)
        recipe->moved[id] = moved + first[id];
}

/* Reads rows in the order `lies` as if they were in the order `read`. */
static enum status repack(struct recipe *recipe, const struct packed *packed, packing_order *lies, packing_order *read,
                          struct projection made[PROJECTION_COUNT])
{
    const size_t rows = (packed->heads + 2 * packed->kv_heads) * packed->d;
    bool has_bias = false;
    double *row = arena_allocate(recipe->arena, packed->width, sizeof *row, recipe->error);
    if (recipe->moves) {
        move_columns(recipe, packed, lies, read);
        return recipe->error->status;
    }
    for (int id = 0; id < PROJECTION_COUNT; id++)
        has_bias = has_bias || packed->projections[id].bias.rank > 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT && row != NULL; id++)
        if (create_projection(recipe, packed, PROJECTION_COUNT, id, has_bias, &made[id]) != STATUS_OK)
            return recipe->error->status;
    for (size_t at = 0; at < rows && row != NULL; at++) {
        const struct packed_row to = read(packed, at);
        copy_row(packed, lies(packed, at), &made[to.id], to.row, row);
    }
    return recipe->error->status;
}

static const char *read_otherwise(struct recipe *recipe, packing_order *lies, packing_order *read, const char *formula)
{
    const struct problem *problem = &recipe->problem;
    struct projection made[PROJECTION_COUNT];
    if (!problem_projects(problem) || problem->parameters.module_count != 1 || problem->parameters.latent.rank > 0)
        return "query, key and value are not packed in one weight";
    if (problem->given.is_cross || problem->size.d_value != problem->size.d_head)
        return "their shapes differ";
    struct module *modules = recipe_copy_modules(recipe);
    if (modules == NULL)
        return NULL;
    const struct packed packed = {modules[0].projections, problem->size.heads,
                                  problem->size.kv_heads, problem->size.d_head,
                                  problem->size.d_in,     MISTAKES[MISTAKE_PACKING_ORDER].forms[(size_t)recipe->form]};
    if (repack(recipe, &packed, lies, read, made) != STATUS_OK)
        return NULL;
    if (!recipe->moves) {
        memcpy(modules[0].projections, made, sizeof made);
        recipe->changed_projections = OF_ALL;
    }
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        recipe_tells(recipe, projection_stage(id), formula);
    return NULL;
}

/* Query, key and value have as many rows. */
#define SPLIT_PACKED(read, how)                                            \
    (problem->size.heads != problem->size.kv_heads ? "their shapes differ" \
                                                   : read_otherwise(recipe, in_blocks, read, how))

CHANGE(SPLIT_PACKED_BY_HEAD, problem->size.heads == 1
                                 ? "nothing is split into heads"
                                 : SPLIT_PACKED(in_groups, "query, key, value side by side, read as heads x 3 x d"))
CHANGE(SPLIT_PACKED_BY_COLUMN, SPLIT_PACKED(by_column, "query, key, value side by side, read as heads x d x 3"))

static const char ONE_GROUP[] = "there is one head of key: one group";

CHANGE(PACKING_GROUPS, problem->size.kv_heads == 1 ? ONE_GROUP
                       : problem->size.heads == problem->size.kv_heads
                           ? "split-packed-by-head does the same"
                           : read_otherwise(recipe, in_blocks, in_groups, "of weights in blocks, read as if in groups"))
CHANGE(PACKING_BLOCKS, problem->size.kv_heads == 1
                           ? ONE_GROUP
                           : read_otherwise(recipe, in_groups, in_blocks, "of weights in groups, read as if in blocks"))

CHANGE(PACKING_ORDER, !problem->parameters.given
                          ? "parameters are drawn: draw-order does the same"
                          : read_otherwise(recipe, in_blocks, in_order, "of a block of weights in another place"))

/* Row `at` of, for each head, its query, its gate. */
static struct packed_row by_gate(const struct packed *packed, size_t at)
{
    const size_t d = packed->d, row = at % (2 * d);
    return (struct packed_row){row < d ? PROJECTION_QUERY : PROJECTION_KEY, at / (2 * d) * d + row % d};
}

/* The forms: all queries, then all gates; or each head's gate, then its query. */
CHANGE_BY(PACKING_GATE)
{
    struct projection pair[] = {{.transposed = false}, problem->parameters.gate}, made[2];
    const size_t d = problem->size.d_head, heads = problem->size.heads;
    if (pair[1].weight.rank == 0 || pair[1].weight.shape[0] != heads * d)
        return "query and gate are not packed in one weight";
    struct module *modules = recipe_copy_modules(recipe);
    double *row = arena_allocate(recipe->arena, problem->size.d_in, sizeof *row, recipe->error);
    if (modules == NULL || row == NULL)
        return NULL;
    pair[0] = modules[0].projections[PROJECTION_QUERY];
    const struct packed packed = {.projections = pair, heads, heads, d, problem->size.d_in, NULL};
    for (int id = 0; id < 2; id++)
        if (create_projection(recipe, &packed, 2, (enum projection_id)id, pair[0].bias.rank > 0, &made[id]))
            return NULL;
    for (size_t at = 0; at < 2 * heads * d; at++) {
        const struct packed_row to = in_blocks(&packed, at);
        copy_row(&packed, form == 0 ? by_gate(&packed, at) : in_blocks(&packed, (at + heads * d) % (2 * heads * d)),
                 &made[to.id], to.row, row);
    }
    modules[0].projections[PROJECTION_QUERY] = made[0];
    problem->parameters.gate = made[1];
    recipe->changed_projections |= OF_QUERY;
    recipe_tells_projected(recipe, OF_QUERY, "of a weight of queries and gates, split in another way");
    return recipe_make_gate(recipe, gate_sigmoid, "sigmoid of the rows that are no query's here");
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static size_t to_pairs(size_t at, size_t d)
{
    return at / 2 + at % 2 * (d / 2);
}

static size_t to_halves(size_t at, size_t d)
{
    return at % (d / 2) * 2 + at / (d / 2);
}

/* An order of the rows of heads with d each: `from` in a head; without it, `shift` further in a head, or after the rows
 * below d - shift of all heads if these are together. */
struct row_order {
    size_t d;
    recipe_order *from;
    size_t shift;
    bool together;
};

static size_t source_of(const struct row_order *order, size_t at, size_t heads)
{
    const size_t d = order->d, head = at / d, row = at % d, first = d - order->shift;
    if (order->together)
        return row < first ? head * first + row : heads * first + head * order->shift + row - first;
    return head * d + (order->from != NULL ? order->from(row, d) : (row + order->shift) % d);
}

/* Permutes the rows of a projection, and those of its bias. */
static enum status permute_rows(struct recipe *recipe, struct projection *projection, const struct row_order *order,
                                bool with_bias)
{
    const struct packed packed = {.projections = projection,
                                  .heads = projection->weight.shape[projection->transposed ? 0 : 1] / order->d,
                                  .d = order->d,
                                  .width = projection->weight.shape[projection->transposed ? 1 : 0]};
    struct projection made;
    double *row = arena_allocate(recipe->arena, packed.width, sizeof *row, recipe->error);
    if (row == NULL ||
        create_projection(recipe, &packed, 1, PROJECTION_QUERY, projection->bias.rank > 0, &made) != STATUS_OK)
        return recipe->error->status;
    for (size_t at = 0; at < packed.heads * packed.d; at++)
        copy_row(&packed, (struct packed_row){0, source_of(order, at, packed.heads)}, &made, at, row);
    if (!with_bias)
        made.bias = projection->bias;
    *projection = made;
    return STATUS_OK;
}

/* The same without parameters, for those of `ids`. */
static void permute_columns(struct recipe *recipe, unsigned ids, recipe_order *from)
{
    const struct problem *problem = &recipe->problem;
    size_t first = 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        const size_t d = operand_columns(problem, id), columns = operand_heads(problem, id) * d;
        if (ids & 1U << id)
            recipe->moved[id] = arena_allocate(recipe->arena, columns, sizeof *recipe->moved[id], recipe->error);
        for (size_t at = 0; at < columns && recipe->moved[id] != NULL; at++)
            recipe->moved[id][at] = first + at / d * d + from(at % d, d);
        first += columns;
    }
}

/* The forms: whose rows, and whether the bias keeps its order. */
static const char *permute(struct recipe *recipe, recipe_order *from)
{
    static const unsigned SETS[] = {OF_QUERY | OF_KEY, OF_QUERY, OF_KEY, OF_VALUE, OF_ALL};
    enum { SET_COUNT = sizeof SETS / sizeof SETS[0] };
    const struct problem *problem = &recipe->problem;
    const unsigned form = (unsigned)recipe->form, ids = SETS[form % SET_COUNT];
    const size_t d = ids == OF_VALUE ? problem->size.d_value : problem->size.d_head;
    const bool with_bias = form < SET_COUNT;
    bool has_bias = with_bias;
    if (ids == OF_ALL && problem->size.d_value != d)
        return "their shapes differ";
    if (!problem_projects(problem) || problem->parameters.latent.rank > 0)
        return "query, key and value are not projected directly";
    if (problem->rotation.rope.kind == ROPE_NONE || d % 2 != 0)
        return "there is no rotation of pairs";
    for (size_t i = 0; i < problem->parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++)
            has_bias = has_bias || (ids & 1U << id && problem->parameters.modules[i].projections[id].bias.rank > 0);
    if (!has_bias)
        return "there is no bias";
    recipe_tells_projected(recipe, ids, "inputs . the matrix, its rows permuted");
    if (recipe->moves && with_bias) {
        permute_columns(recipe, ids, from);
        return NULL;
    }
    const struct row_order order = {d, from, 0, false};
    struct module *modules = recipe_copy_modules(recipe);
    for (size_t i = 0; modules != NULL && i < problem->parameters.module_count; i++)
        for (int id = 0; id < PROJECTION_COUNT; id++)
            if (ids & 1U << id && permute_rows(recipe, &modules[i].projections[id], &order, with_bias) != STATUS_OK)
                return NULL;
    recipe->changed_projections |= ids;
    return NULL;
}

CHANGE(ROWS_TO_PAIRS, permute(recipe, to_pairs))
CHANGE(ROWS_TO_HALVES, permute(recipe, to_halves))

/* The forms: all keys before all values, each head's value before its key; columns to rotate first, of key or query. */
CHANGE_BY(PACKING_LATENT)
{
    struct latent *latent = &problem->parameters.latent;
    struct projection *const weights[] = {&latent->key_value_b, &latent->key_value_b, &latent->key_value_a,
                                          &latent->query_b};
    const size_t value = problem->size.d_value, rope = latent->d_rope;
    const struct row_order orders[] = {{latent->d_nope + value, NULL, value, true},
                                       {latent->d_nope + value, NULL, value, false},
                                       {latent->rank + rope, NULL, rope, false},
                                       {latent->d_nope + rope, NULL, rope, false}};
    if (latent->rank == 0 || weights[(int)form]->weight.rank == 0)
        return latent->rank == 0 ? "key and value do not come from a latent" : "the query does not come from a latent";
    recipe->changed_projections |= form < 3 ? OF_KEY | OF_VALUE : OF_QUERY;
    permute_rows(recipe, weights[(int)form], &orders[(int)form], true);
    return NULL;
}
