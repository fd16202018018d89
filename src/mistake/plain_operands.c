/* SPDX-License-Identifier: MIT */
/* query, key and value of a recipe. */
#include "mistake/plain.h"

#include "stage/latent.h"
#include "stage/norm.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"
#include "stage/stage.h"

#include <math.h>
#include <string.h>

static size_t tokens_of(const struct problem *problem, enum projection_id id)
{
    return id == PROJECTION_QUERY ? problem->size.queries : problem->size.keys;
}

/* --- x . W + bias ------------------------------------------------------------------------------------------------ */

/* Loads a row of the projection's input: inputs, or normed. */
static void load_source(const struct plain *plain, enum projection_id id, size_t row, double *x)
{
    const struct problem *problem = plain->problem;
    const bool of_keys = id != PROJECTION_QUERY;
    const struct tensor *inputs = of_keys ? &problem->given.key_inputs : &problem->given.inputs;
    const size_t d_in = of_keys ? problem->size.d_key_in : problem->size.d_in;
    tensor_load(inputs, row * d_in, d_in, x);
    if (!stage_applies(problem, STAGE_NORMED) || (of_keys && problem->given.is_cross))
        return;
    if (plain->own[STAGE_NORMED] != NULL) {
        memcpy(x, plain->own[STAGE_NORMED] + row * d_in, d_in * sizeof *x);
        return;
    }
    norm_input_row(problem, x);
}

void plain_make_embedded(const struct plain *plain, enum stage stage, double *made)
{
    const struct problem *problem = plain->problem;
    const size_t d_in = problem->size.d_in, rows = plain->row_count;
    const struct tensor *from = stage == STAGE_POSITIONS ? &problem->given.positions : &problem->given.inputs;
    for (size_t i = 0; i < problem->size.items * rows; i++) {
        const size_t item = stage == STAGE_POSITIONS ? 0 : i / rows;
        tensor_load(from, (item * problem->size.queries + plain->rows[i % rows]) * d_in, d_in, made + i * d_in);
    }
}

void plain_make_normed(const struct plain *plain, double *normed)
{
    const struct problem *problem = plain->problem;
    for (size_t i = 0; problem_projects(problem) && i < problem->size.items * plain->row_count; i++)
        load_source(plain, PROJECTION_QUERY,
                    i / plain->row_count * problem->size.queries + plain->rows[i % plain->row_count],
                    normed + i * problem->size.d_in);
}

enum { ROWS = 256, COLUMNS = 32 };

enum status plain_project(const struct plain *plain, const struct projection *projection, const double *x, size_t rows,
                          size_t d_in, size_t columns, double *y, size_t y_stride)
{
    double *bias = NULL, *weight;
    struct arena scratch = {0};
    projection_bias(projection, &bias, &scratch, plain->error);
    for (size_t first = 0; first < columns && plain->error->status == STATUS_OK; first += COLUMNS) {
        struct arena of_part = {0};
        const size_t count = memory_smaller(columns - first, COLUMNS);
        if (projection_columns(projection, first, count, &weight, &of_part, plain->error) == STATUS_OK)
            projection_rows(plain->problem, x, rows, d_in,
                            &(struct projection_part){weight, bias == NULL ? NULL : bias + first, count, count},
                            y + first, y_stride);
        arena_free(&of_part);
    }
    arena_free(&scratch);
    return plain->error->status;
}

/* Whether only the queries of plain->rows are needed: the recipe exchanges nothing between tokens or operands. */
static bool needs_rows(const struct plain *plain, enum projection_id id)
{
    const struct recipe *recipe = plain->recipe;
    bool exchanges = recipe->across || recipe->split != RECIPE_SPLIT_HEADS;
    for (int role = 0; role < PROJECTION_COUNT; role++)
        exchanges = exchanges || recipe->roles[role] != RECIPE_ROLE_OWN;
    return id == PROJECTION_QUERY && plain->few_columns > 0 && (recipe->changed_projections & OF_QUERY) && !exchanges;
}

/* Projects one module, or all through the latent, to its columns of made (B, T, columns). */
static enum status project_module(const struct plain *plain, enum projection_id id, size_t module, size_t modules,
                                  double *made)
{
    const struct problem *problem = plain->problem;
    const size_t columns = operand_heads(problem, id) * operand_columns(problem, id), own = columns / modules;
    const size_t d_in = id == PROJECTION_QUERY ? problem->size.d_in : problem->size.d_key_in;
    const bool some = needs_rows(plain, id);
    const size_t tokens = tokens_of(problem, id), rows = problem->size.items * (some ? plain->row_count : tokens),
                 most = some ? 1 : memory_smaller(rows, ROWS);
    const bool latent = latent_makes(problem, id);
    struct arena scratch = {0};
    struct latent_step step;
    double *x =
        arena_allocate(&scratch, most * d_in + (latent ? latent_scratch(problem, id) : 0), sizeof *x, plain->error);
    if (x != NULL && latent)
        latent_load(problem, id, &step, &scratch, plain->error);
    for (size_t first = 0; x != NULL && first < rows && plain->error->status == STATUS_OK; first += most) {
        const size_t now = memory_smaller(rows - first, most);
        const size_t at = some ? first / plain->row_count * tokens + plain->rows[first % plain->row_count] : first;
        double *y = made + at * columns + module * own;
        for (size_t row = 0; row < now; row++)
            load_source(plain, id, at + row, x + row * d_in);
        for (size_t row = 0; row < now && latent; row++)
            latent_row(problem, id, &step, x + row * d_in, x + most * d_in, y + row * columns);
        if (!latent)
            plain_project(plain, &problem->parameters.modules[module].projections[id], x, now, d_in, own, y, columns);
    }
    arena_free(&scratch);
    return plain->error->status;
}

/* Makes the columns of a projection with another bias, (rows, width), from the right ones. */
static const double *derive(const struct plain *plain, enum projection_id id, size_t rows, size_t width)
{
    const double *right = plain->columns->made[id], *addends = plain->recipe->addends[id];
    double *made = arena_allocate(plain->arena, rows, width * sizeof *made, plain->error);
    for (size_t i = 0; i < rows * width && made != NULL; i++)
        made[i] = right[i] + addends[i % width];
    return made;
}

/* Returns (B, T, columns), all modules side by side. */
static const double *project(const struct plain *plain, enum projection_id id)
{
    const struct problem *problem = plain->problem;
    struct plain_columns *columns = plain->columns;
    const bool can_share = columns != NULL && plain->own[STAGE_NORMED] == NULL;
    const bool changed = plain->recipe->changed_projections & 1U << id, derived = plain->recipe->addends[id] != NULL;
    const bool shared = can_share && !changed && !derived;
    const size_t rows = problem->size.items * tokens_of(problem, id),
                 width = operand_heads(problem, id) * operand_columns(problem, id), count = rows * width;
    if (shared && columns->made[id] != NULL)
        return columns->made[id];
    if (can_share && derived && !changed && columns->made[id] != NULL)
        return derive(plain, id, rows, width);
    double *made = arena_allocate(shared ? plain->lasting : plain->arena, count, sizeof *made, plain->error);
    const size_t modules = latent_makes(problem, id) ? 1 : problem->plan.module_count;
    if (made != NULL && needs_rows(plain, id))
        memset(made, 0, count * sizeof *made);
    for (size_t module = 0; module < modules && made != NULL; module++)
        if (project_module(plain, id, module, modules, made) != STATUS_OK)
            return NULL;
    if (shared)
        columns->made[id] = made;
    return made;
}

/* --- cut into heads ---------------------------------------------------------------------------------------------- */

/* The index, in its projection (B, T, columns), of column c of head h of a token. */
static size_t source_of(const struct plain *plain, enum projection_id id, size_t item, size_t head, size_t token,
                        size_t column)
{
    const struct problem *problem = plain->problem;
    const size_t d = operand_columns(problem, id), heads = operand_heads(problem, id), width = heads * d;
    const size_t tokens = tokens_of(problem, id), first = (item * tokens + token) * width;
    if (plain->recipe->split == RECIPE_SPLIT_VIEW)
        return item * tokens * width + (head * tokens + token) * d + column;
    return first + (plain->recipe->split == RECIPE_SPLIT_INTERLEAVED ? column * heads + head : head * d + column);
}

static void split_heads(const struct plain *plain, const double *made, enum projection_id id, double *row,
                        const struct tensor *operand)
{
    const struct problem *problem = plain->problem;
    const size_t d = operand->shape[3], tokens = operand->shape[2],
                 now = plain->recipe->split == RECIPE_SPLIT_HEADS ? d : 1; /* columns that are neighbours there */
    for (size_t matrix = 0; matrix < operand->shape[0] * operand->shape[1]; matrix++)
        for (size_t token = 0; token < tokens; token++) {
            const size_t item = matrix / operand->shape[1], head = matrix % operand->shape[1];
            for (size_t column = 0; column < d; column += now) /* NOLINTNEXTLINE(clang-analyzer-core.*): made before */
                memcpy(row + column, made + source_of(plain, id, item, head, token, column), now * sizeof *row);
            operand_clip(problem, row, d);
            dtype_round(problem->rounding.dtype, row, d);
            tensor_store(operand, (matrix * tokens + token) * d, d, row);
        }
}

/* --- bits that are misread --------------------------------------------------------------------------------------- */

static double misread(enum dtype dtype, enum recipe_bits bits, double number)
{
    unsigned char bytes[sizeof(double)], misread_bytes[sizeof(double)];
    const size_t size = dtype_size(dtype);
    if (bits == RECIPE_BITS_BF16) {
        const uint16_t half = (uint16_t)dtype_bits(DTYPE_F16, number);
        dtype_load(DTYPE_BF16, &half, 1, &number);
        return number;
    }
    uint64_t whole = dtype_bits(dtype, number);
    for (size_t i = 0; i < size; i++, whole >>= 8)
        bytes[size - 1 - i] = (unsigned char)whole; /* the least significant last */
    uint64_t other = 0;
    for (size_t i = size; i-- > 0;)
        other = other << 8 | bytes[i];
    const uint32_t word = (uint32_t)other;
    const uint16_t half = (uint16_t)other;
    const void *const read[] = {&half, &word, &other};
    memcpy(misread_bytes, read[size / 4], size);
    dtype_load(dtype, misread_bytes, 1, &number);
    return number;
}

/* Copies an operand, misread or not. */
static enum status copy(const struct plain *plain, enum recipe_bits bits, struct arena *arena, struct tensor *operand)
{
    struct tensor made;
    if (tensor_create(&made, dtype_storage(plain->problem->rounding.dtype), operand->rank, operand->shape, arena,
                      plain->error) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < tensor_count(operand); i++) {
        double number;
        tensor_load(operand, i, 1, &number);
        number = bits == RECIPE_BITS_KEPT ? number : misread(plain->problem->rounding.dtype, bits, number);
        tensor_store(&made, i, 1, &number);
    }
    *operand = made;
    return STATUS_OK;
}

/* --- operands ---------------------------------------------------------------------------------------------------- */

static enum status create_operand(const struct plain *plain, enum projection_id id, struct arena *arena,
                                  struct tensor *operand)
{
    const struct problem *problem = plain->problem;
    const size_t shape[] = {problem->size.items, operand_heads(problem, id), tokens_of(problem, id),
                            operand_columns(problem, id)};
    return tensor_create(operand, dtype_storage(problem->rounding.dtype), 4, shape, arena, plain->error);
}

/* The columns of x . W that the recipe moves there, from those of all three. */
static const double *move_columns(const struct plain *plain, enum projection_id id,
                                  const double *const made[PROJECTION_COUNT])
{
    const struct problem *problem = plain->problem;
    const size_t *moved = plain->recipe->moved[id], rows = problem->size.items * tokens_of(problem, id);
    size_t columns[PROJECTION_COUNT];
    for (enum projection_id each = 0; each < PROJECTION_COUNT; each++)
        columns[each] = operand_heads(problem, each) * operand_columns(problem, each);
    double *numbers = arena_allocate(plain->arena, rows * columns[id], sizeof *numbers, plain->error);
    for (size_t c = 0; c < columns[id] && numbers != NULL; c++) {
        size_t from = moved[c];
        int source = 0;
        for (; from >= columns[source]; source++)
            from -= columns[source];
        for (size_t row = 0; row < rows; row++)
            numbers[row * columns[id] + c] = made[source][row * columns[source] + from];
    }
    return numbers;
}

/* Whether it is the same without mistakes, so that trials can share it. */
static bool is_shared(const struct plain *plain, enum projection_id id)
{
    const struct recipe *recipe = plain->recipe;
    const bool cut = recipe->split == RECIPE_SPLIT_HEADS || recipe->split == RECIPE_SPLIT_NONE;
    return plain->columns != NULL && cut && recipe->moved[id] == NULL &&
           ((recipe->changed_projections | recipe->changed_steps) & 1U << id) == 0 &&
           plain->own[projection_stage(id)] == NULL;
}

/* Cosines and sines (n / 2 each) for a head; those of the head before where they are the same. */
static void turns_of(const struct plain *plain, size_t position, size_t head, double *cosines, double *sines)
{
    const struct problem *problem = plain->problem;
    const struct rope *rope = &problem->rotation.rope;
    const enum recipe_turn turn = plain->recipe->turn;
    if (turn == RECIPE_TURN_ALL_HEADS || (head > 0 && turn != RECIPE_TURN_HEADS))
        return;
    struct rope of_heads = *rope;
    of_heads.coordinates = NULL;
    rope_turns(turn == RECIPE_TURN_HEADS ? &of_heads : rope, turn == RECIPE_TURN_HEADS ? head : position,
               problem_rounding(problem)->rope, problem->rounding.dtype, cosines, sines);
    for (size_t i = 0; i < rope->columns / 2 && turn == RECIPE_TURN_BF16_ANGLES; i++) {
        double angle[] = {rope_coordinate(rope, position, i), rope->frequencies[i]};
        dtype_round(DTYPE_BF16, angle, 2);
        angle[0] *= angle[1];
        dtype_round(DTYPE_BF16, angle, 1);
        cosines[i] = cos(angle[0]) * rope->attention;
        sines[i] = sin(angle[0]) * rope->attention;
    }
    if (turn == RECIPE_TURN_BF16_COSINES) {
        dtype_round(DTYPE_BF16, cosines, rope->columns / 2);
        dtype_round(DTYPE_BF16, sines, rope->columns / 2);
    }
}

/* Rotates a head x (d) -> y (d) with a mistake. */
static void turn_head(const struct plain *plain, const double *cosines, const double *sines, const double *x, double *y)
{
    const struct rope *rope = &plain->problem->rotation.rope;
    const bool mixed = plain->recipe->turn == RECIPE_TURN_MIXED, plus = plain->recipe->turn == RECIPE_TURN_PLUS;
    memcpy(y, x, plain->problem->size.d_head * sizeof *y);
    for (size_t i = 0; i < rope->columns / 2; i++) {
        const struct rope_pair at = rope_pair(rope, i);
        for (size_t which = 0; which < 2; which++) {
            const size_t column = at.to[which] - rope->first;
            const size_t angle = !mixed ? i : rope->kind == ROPE_PAIRS ? column % (rope->columns / 2) : column / 2;
            const double sine = which == 0 && !plus ? -sines[angle] : sines[angle];
            y[at.to[which]] = x[at.from[which]] * cosines[angle] + x[at.from[1 - which]] * sine;
        }
    }
}

/* operand_steps with a mistake in the rotation. */
static void turn_otherwise(const struct plain *plain, enum projection_id id, size_t position, const double *projected,
                           double *normed, double *made, double *turns)
{
    struct problem part = *plain->problem;
    const struct rope *all = &plain->recipe->all_heads[id];
    const size_t d = part.size.d_head, count = operand_heads(&part, id) * d;
    part.scaling.on_query = false;
    part.scaling.growth.by = 0;
    part.rotation.rope.kind = ROPE_NONE;
    operand_steps(&part, id, position, projected, normed, made, turns);
    for (size_t head = 0; head < operand_heads(&part, id); head++) {
        turns_of(plain, position, head, turns, turns + d / 2);
        if (plain->recipe->turn != RECIPE_TURN_ALL_HEADS)
            turn_head(plain, turns, turns + d / 2, normed + head * d, made + head * d);
    }
    if (plain->recipe->turn == RECIPE_TURN_ALL_HEADS)
        rope_row(all, position, ROPE_ROUNDING_ONCE, part.rounding.dtype, normed, made);
    dtype_round(part.rounding.dtype, made, count);
    operand_scale(plain->problem, id, position, made);
}

/* Takes a token's heads through the steps; arguments as in operand_steps. With recipe->norms_last `normed` equals
 * projected. */
static void make_steps(const struct plain *plain, enum projection_id id, size_t position, const double *projected,
                       double *normed, double *made, double *angles)
{
    if (plain->recipe->turn != RECIPE_TURN_RIGHT && position != SIZE_MAX) {
        turn_otherwise(plain, id, position, projected, normed, made, angles);
        return;
    }
    if (!plain->recipe->norms_last) {
        operand_steps(plain->problem, id, position, projected, normed, made, angles);
        return;
    }
    struct problem rotating = *plain->problem, norming = *plain->problem;
    const size_t count = operand_heads(plain->problem, id) * operand_columns(plain->problem, id);
    rotating.parameters.norms[projection_norm(id)].kind = NORM_NONE;
    rotating.scaling.on_query = false;
    rotating.scaling.growth.by = 0;
    norming.rotation.rope.kind = ROPE_NONE;
    operand_steps(&rotating, id, position, projected, normed, made, angles);
    memcpy(normed, made, count * sizeof *normed);
    operand_steps(&norming, id, position, normed, angles, made, angles);
    memcpy(normed, projected, count * sizeof *normed);
}

/* Applies norm, rotation and scale to every token; also keeps projected and normed. */
static enum status finish(struct plain *plain, enum projection_id id, const struct tensor *operand)
{
    const struct problem *problem = plain->problem;
    const size_t width = operand->shape[1] * operand->shape[3], rows = operand->shape[2];
    struct tensor *projected = &plain->projected[id], *normed = &plain->normed[id];
    double *room = arena_allocate(plain->arena, 4 * width, sizeof *room, plain->error);
    struct arena *arena = is_shared(plain, id) ? plain->lasting : plain->arena;
    if (room == NULL || create_operand(plain, id, arena, projected) || create_operand(plain, id, arena, normed))
        return plain->error->status;
    for (size_t task = 0; task < problem->size.items * rows; task++) {
        const size_t item = task / rows, row = task % rows;
        operand_load_heads(operand, item, row, room);
        make_steps(plain, id, operand_position(problem, id, item, row), room, room + width, room + 2 * width,
                   room + 3 * width);
        operand_store_heads(projected, item, row, room);
        operand_store_heads(normed, item, row, room + width);
        operand_store_heads(operand, item, row, room + 2 * width);
    }
    return STATUS_OK;
}

/* Shares an operand and its earlier forms with other trials. */
static void share(const struct plain *plain, enum projection_id id)
{
    plain->columns->operands[id] = plain->operands[id];
    plain->columns->projected[id] = plain->projected[id];
    plain->columns->normed[id] = plain->normed[id];
    plain->columns->given[id] = plain->problem->given.operands[id].data;
}

static void take_shared(struct plain *plain, enum projection_id id)
{
    plain->operands[id] = plain->columns->operands[id];
    plain->projected[id] = plain->columns->projected[id];
    plain->normed[id] = plain->columns->normed[id];
}

/* Cuts the projection into heads. */
static enum status cut_heads(struct plain *plain, enum projection_id id, const double *const made[PROJECTION_COUNT])
{
    const bool shared = is_shared(plain, id);
    struct tensor *operand = &plain->operands[id];
    double *row = arena_allocate(plain->arena, operand_columns(plain->problem, id), sizeof *row, plain->error);
    if (row == NULL || create_operand(plain, id, shared ? plain->lasting : plain->arena, operand) != STATUS_OK)
        return plain->error->status;
    split_heads(plain, made[id], id, row, operand);
    if (operand_has_steps(plain->problem, id) && finish(plain, id, operand) != STATUS_OK)
        return plain->error->status;
    if (shared)
        share(plain, id);
    return STATUS_OK;
}

/* Takes the given operand, or a copy that is misread or goes through steps. */
static enum status take_given(struct plain *plain, enum projection_id id)
{
    const enum recipe_bits bits = plain->recipe->bits[id];
    const bool has_steps = operand_has_steps(plain->problem, id);
    const bool shared = has_steps && bits == RECIPE_BITS_KEPT && is_shared(plain, id);
    const struct tensor *given = &plain->problem->given.operands[id];
    if (shared && plain->columns->operands[id].rank > 0 && plain->columns->given[id] == given->data) {
        take_shared(plain, id);
        return STATUS_OK;
    }
    plain->operands[id] = *given;
    if ((bits != RECIPE_BITS_KEPT || has_steps) &&
        copy(plain, bits, shared ? plain->lasting : plain->arena, &plain->operands[id]) != STATUS_OK)
        return plain->error->status;
    if (has_steps && finish(plain, id, &plain->operands[id]) != STATUS_OK)
        return plain->error->status;
    if (shared)
        share(plain, id);
    return STATUS_OK;
}

/* Rotates a copy of value as key. */
static enum status rotate_value(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const struct tensor given = plain->operands[PROJECTION_VALUE];
    const size_t d = problem->size.d_value, rows = problem->size.keys;
    double *x = arena_allocate(plain->arena, 2 * d, sizeof *x, plain->error);
    if (x == NULL || copy(plain, RECIPE_BITS_KEPT, plain->arena, &plain->operands[PROJECTION_VALUE]) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < given.shape[0] * given.shape[1] * rows; i++) {
        const size_t position = operand_position(problem, PROJECTION_KEY, i / rows / given.shape[1], i % rows);
        tensor_load(&given, i * d, d, x);
        if (position == SIZE_MAX)
            continue;
        rope_row(&problem->rotation.rope, position, ROPE_ROUNDING_ONCE, problem->rounding.dtype, x, x + d);
        dtype_round(problem->rounding.dtype, x + d, d);
        tensor_store(&plain->operands[PROJECTION_VALUE], i * d, d, x + d);
    }
    return STATUS_OK;
}

/* Somebody's own numbers before query or key: normed, or projected; NULL: none. */
static const double *own_before(const struct plain *plain, enum projection_id id, bool *normed)
{
    static const enum stage NORMED[] = {STAGE_NORMED_QUERY, STAGE_NORMED_KEY};
    *normed = id != PROJECTION_VALUE && plain->own[NORMED[id]] != NULL;
    if (plain->own[projection_stage(id)] != NULL)
        return NULL;
    return *normed ? plain->own[NORMED[id]] : plain->own[projection_unstepped(id)];
}

/* Takes somebody's own operand, or applies the remaining steps to their own earlier stage. */
static enum status take_own(struct plain *plain, enum projection_id id)
{
    bool normed;
    const double *before = own_before(plain, id, &normed), *own = plain->own[projection_stage(id)];
    struct tensor *operand = &plain->operands[id];
    if (create_operand(plain, id, plain->arena, operand) != STATUS_OK)
        return plain->error->status;
    tensor_store(operand, 0, tensor_count(operand), before != NULL ? before : own);
    if (before == NULL)
        return STATUS_OK;
    const struct problem *whole = plain->problem;
    struct problem rest = *whole;
    if (normed)
        rest.parameters.norms[NORM_QUERY].kind = rest.parameters.norms[NORM_KEY].kind = NORM_NONE;
    plain->problem = &rest;
    finish(plain, id, operand);
    plain->problem = whole;
    return plain->error->status;
}

/* Makes an operand: somebody's own, projected, or given. */
static enum status make_operand(struct plain *plain, enum projection_id id, const double *const made[PROJECTION_COUNT])
{
    struct plain_columns *columns = plain->columns;
    bool normed;
    if (plain->own[projection_stage(id)] != NULL || own_before(plain, id, &normed) != NULL)
        return take_own(plain, id);
    if (!problem_projects(plain->problem))
        return take_given(plain, id);
    if (!is_shared(plain, id) || columns->operands[id].rank == 0)
        return cut_heads(plain, id, made);
    take_shared(plain, id);
    return STATUS_OK;
}

static enum status exchange_early(struct plain *plain)
{
    struct tensor exchanged[PROJECTION_COUNT];
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        exchanged[id] = *plain_operand(plain, id, &exchanged[id]);
    memcpy(plain->operands, exchanged, sizeof exchanged);
    return plain->error->status;
}

enum status plain_operands(struct plain *plain)
{
    const struct problem *problem = plain->problem;
    const double *made[PROJECTION_COUNT] = {NULL}, *moved[PROJECTION_COUNT];
    for (enum projection_id id = 0; id < PROJECTION_COUNT && problem_projects(problem); id++) {
        made[id] = project(plain, id);
        if (made[id] == NULL)
            return plain->error->status;
    }
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        moved[id] = plain->recipe->moved[id] == NULL ? made[id] : move_columns(plain, id, made);
    if (plain->error->status != STATUS_OK)
        return plain->error->status;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        if (make_operand(plain, id, moved) != STATUS_OK)
            return plain->error->status;
    if (plain->recipe->rotates_value && plain->own[STAGE_VALUE] == NULL && rotate_value(plain) != STATUS_OK)
        return plain->error->status;
    return plain->recipe->roles_early ? exchange_early(plain) : STATUS_OK;
}

/* --- roles ------------------------------------------------------------------------------------------------------- */

/* Cuts the key inputs into heads as values; if they are as wide as one head, each head has all columns. */
static enum status cut_inputs(struct plain *plain, struct tensor *cut)
{
    const struct problem *problem = plain->problem;
    const size_t d = problem->size.d_value, keys = problem->size.keys,
                 shape[] = {problem->size.items, problem->size.kv_heads, keys, d};
    const size_t step = problem->size.d_key_in == d ? 0 : d;
    double *row = arena_allocate(plain->arena, d, sizeof *row, plain->error);
    if (row == NULL ||
        tensor_create(cut, dtype_storage(problem->rounding.dtype), 4, shape, plain->arena, plain->error) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < problem->size.items * problem->size.kv_heads * keys; i++) {
        const size_t token = i % keys, head = i / keys % problem->size.kv_heads,
                     item = i / keys / problem->size.kv_heads;
        tensor_load(&problem->given.key_inputs, (item * keys + token) * problem->size.d_key_in + head * step, d, row);
        tensor_store(cut, i * d, d, row);
    }
    return STATUS_OK;
}

/* Copies an operand, each row from its source. */
static enum status reread(struct plain *plain, recipe_source *source, struct tensor *operand)
{
    const size_t keys = operand->shape[2], heads = operand->shape[1],
                 row = operand->shape[3] * dtype_size(operand->dtype);
    struct tensor made;
    if (tensor_create(&made, operand->dtype, 4, operand->shape, plain->arena, plain->error) != STATUS_OK)
        return plain->error->status;
    for (size_t i = 0; i < operand->shape[0] * heads * keys; i++) {
        const size_t from = source(plain->recipe, i / keys / heads, i / keys % heads, i % keys);
        if (from == SIZE_MAX)
            memset((char *)made.data + i * row, 0, row);
        else
            memcpy((char *)made.data + i * row, (const char *)operand->data + from * row, row);
    }
    *operand = made;
    return STATUS_OK;
}

const struct tensor *plain_operand(struct plain *plain, enum projection_id id, struct tensor *room)
{
    const struct recipe *recipe = plain->recipe;
    const enum recipe_role role = recipe->roles[id];
    *room = plain->operands[role == RECIPE_ROLE_OWN || role == RECIPE_ROLE_INPUTS ? id : role - RECIPE_ROLE_QUERY];
    if (role == RECIPE_ROLE_INPUTS)
        cut_inputs(plain, room);
    if (recipe->sources[id] != NULL && plain->error->status == STATUS_OK)
        reread(plain, recipe->sources[id], room);
    return room;
}
