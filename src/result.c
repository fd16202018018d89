#include "result.h"

#include "formula.h"

#include <math.h>
#include <string.h>

/* --- dropout's generator, kept in step --------------------------------------------------------------------------- */

/* Rows from one checkpoint to the next, and of one block of contexts. */
enum { DROPOUT_BLOCK = 64 };

/* Dropout draws for one row after another. Heads of one module draw in one call, (B, H, T, T) row-major; stacked heads
 * draw in a call each, (B, T, T). A row is found again from the nearest checkpoint before it. */
struct dropout_track {
    struct generator generator; /* about to draw row `next` */
    size_t next;
    size_t rows_per_call;
    struct generator *checkpoints; /* [i] is about to draw row i x DROPOUT_BLOCK */
    size_t checkpoint_count;
};

static enum status create_track(struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    struct dropout_track *track = arena_allocate(arena, 1, sizeof *track, error);
    result->kept = arena_allocate(arena, problem->keys, sizeof *result->kept, error);
    if (track == NULL || result->kept == NULL)
        return error->status;
    size_t matrices, rows;
    if (!memory_multiply(problem->items, problem->heads, &matrices) ||
        !memory_multiply(matrices, problem->queries, &rows))
        return error_system(error, 0, "not enough memory: too many rows of weights");
    *track = (struct dropout_track){.generator = problem->generator,
                                    .rows_per_call = problem->plan.stacked ? rows / problem->plan.module_count : rows};
    track->checkpoints = arena_allocate(arena, rows / DROPOUT_BLOCK + 1, sizeof *track->checkpoints, error);
    if (track->checkpoints == NULL)
        return error->status;
    track->checkpoints[track->checkpoint_count++] = track->generator;
    result->track = track;
    return STATUS_OK;
}

static void draw_next_row(struct result *result)
{
    struct dropout_track *track = result->track;
    if (track->next == track->checkpoint_count * DROPOUT_BLOCK)
        track->checkpoints[track->checkpoint_count++] = track->generator;
    if (track->next % track->rows_per_call == 0)
        generator_dropout_begin(&track->generator);
    generator_dropout(&track->generator, result->problem->dropout, result->kept, result->problem->keys);
    track->next++;
}

/* Sets result->kept to what dropout keeps of a query's row. */
static void draw_row(struct result *result, size_t item, size_t head, size_t query)
{
    const struct problem *problem = result->problem;
    struct dropout_track *track = result->track;
    const size_t matrix = problem->plan.stacked ? head * problem->items + item : item * problem->heads + head;
    const size_t row = matrix * problem->queries + query;
    size_t checkpoint = row / DROPOUT_BLOCK;
    if (checkpoint >= track->checkpoint_count)
        checkpoint = track->checkpoint_count - 1;
    if (row < track->next || checkpoint * DROPOUT_BLOCK > track->next) {
        track->generator = track->checkpoints[checkpoint];
        track->next = checkpoint * DROPOUT_BLOCK;
    }
    while (track->next <= row)
        draw_next_row(result);
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

static void add_axis(struct result_table *table, enum axis axis, size_t size)
{
    table->axes[table->rank] = axis;
    table->shape[table->rank++] = size;
}

static void add_inputs(struct result *result)
{
    const struct problem *problem = result->problem;
    struct result_table *table = &result->tables[result->table_count++];
    *table = (struct result_table){.name = stage_name(STAGE_INPUTS), .stage = STAGE_INPUTS, .tensor = &problem->inputs};
    if (problem->has_batch)
        add_axis(table, AXIS_ITEM, problem->items);
    add_axis(table, AXIS_TOKEN, problem->keys);
    add_axis(table, AXIS_COLUMN, problem->d_in);
}

static enum status add_tensor(struct result *result, const char *name, const struct tensor *tensor, struct arena *arena,
                              struct error *error)
{
    if (tensor->rank == 0)
        return STATUS_OK;
    struct result_table *table = &result->tables[result->table_count++];
    *table = (struct result_table){.stage = STAGE_PARAMETERS, .tensor = tensor};
    table->name = arena_text(arena, name, strlen(name), error);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        add_axis(table, AXIS_COLUMN, tensor->shape[axis]);
    return table->name == NULL ? error->status : STATUS_OK;
}

static enum status add_parameters(struct result *result, struct arena *arena, struct error *error)
{
    const struct parameters *parameters = &result->problem->parameters;
    const bool stacked = result->problem->plan.stacked;
    char name[PARAMETER_NAME_BYTES];
    for (size_t module = 0; module < parameters->module_count; module++)
        for (int i = 0; i < PROJECTION_COUNT; i++) {
            const enum projection_id id = (enum projection_id)i;
            const struct projection *projection = &parameters->modules[module].projections[id];
            parameters_name(name, module, stacked, id, projection->transposed ? ".weight" : "");
            if (add_tensor(result, name, &projection->weight, arena, error) != STATUS_OK)
                return error->status;
            parameters_name(name, module, stacked, id, ".bias");
            if (add_tensor(result, name, &projection->bias, arena, error) != STATUS_OK)
                return error->status;
        }
    if (add_tensor(result, "out_proj.weight", &parameters->out.weight, arena, error) != STATUS_OK)
        return error->status;
    return add_tensor(result, "out_proj.bias", &parameters->out.bias, arena, error);
}

/* Whether its rows are those of all heads, one behind the other: output, and the context of packed heads. */
static bool is_side_by_side(const struct problem *problem, enum stage stage)
{
    return stage == STAGE_OUTPUT || (stage == STAGE_CONTEXT && problem->packed);
}

static size_t stage_columns(const struct problem *problem, enum stage stage)
{
    if (stage_is_square(stage))
        return problem->keys;
    if (stage == STAGE_OUTPUT && problem->plan.has_out)
        return problem->plan.d_out;
    if (is_side_by_side(problem, stage))
        return problem->heads * problem->d_value;
    return stage == STAGE_VALUE || stage == STAGE_PRESENT_VALUE || stage == STAGE_CONTEXT ? problem->d_value
                                                                                          : problem->d_head;
}

static void add_stage(struct result *result, enum stage stage)
{
    const struct problem *problem = result->problem;
    const struct attention *attention = &result->attention;
    const bool of_keys = stage_is_of_keys(stage), side_by_side = is_side_by_side(problem, stage);
    const bool present = stage == STAGE_PRESENT_KEY || stage == STAGE_PRESENT_VALUE;
    struct result_table *table = &result->tables[result->table_count++];
    *table = (struct result_table){.name = stage_name(stage), .stage = stage};
    formula_of_stage(problem, stage, table->formula, sizeof table->formula);
    if (problem->has_batch || present)
        add_axis(table, AXIS_ITEM, problem->items);
    if ((problem->has_heads && !side_by_side) || present)
        add_axis(table, AXIS_HEAD, of_keys ? problem->kv_heads : problem->heads);
    add_axis(table, of_keys ? AXIS_TOKEN : AXIS_QUERY, of_keys ? problem->keys : problem->row_count);
    if (stage != STAGE_LSE)
        add_axis(table, stage_is_square(stage) ? AXIS_TOKEN : AXIS_COLUMN, stage_columns(problem, stage));
    const struct tensor *const held[STAGE_COUNT] = {
        [STAGE_QUERY] = &attention->query,     [STAGE_KEY] = &attention->key,
        [STAGE_VALUE] = &attention->value,     [STAGE_CONTEXT] = &attention->context,
        [STAGE_OUTPUT] = &attention->output,   [STAGE_LSE] = &attention->lse,
        [STAGE_PRESENT_KEY] = &attention->key, [STAGE_PRESENT_VALUE] = &attention->value,
    };
    const enum stage from = side_by_side ? STAGE_OUTPUT : stage;
    if (held[from] != NULL && held[from]->rank > 0)
        table->tensor = held[from];
}

static enum status add_tables(struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t most = STAGE_NAMES + problem->parameters.module_count * PROJECTION_COUNT * 2 + 2;
    result->tables = arena_allocate(arena, most, sizeof result->tables[0], error);
    if (result->tables == NULL)
        return error->status;
    for (size_t i = 0; i < problem->stage_count; i++) {
        const enum stage stage = problem->stages[i];
        if (stage == STAGE_INPUTS)
            add_inputs(result);
        else if (stage != STAGE_PARAMETERS)
            add_stage(result, stage);
        else if (add_parameters(result, arena, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}

/* How many of problem->rows are computed, and the rows themselves: those at the ends where the table is elided. */
static enum status choose_rows(struct result *result, const size_t **positions, size_t *slots, struct arena *arena,
                               struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t half = RESULT_ELIDED / 2;
    *positions = problem->rows;
    *slots = problem->row_count;
    if (!result->elided || problem->row_count <= RESULT_ELIDED)
        return STATUS_OK;
    size_t *ends = arena_allocate(arena, RESULT_ELIDED, sizeof *ends, error);
    if (ends == NULL)
        return error->status;
    memcpy(ends, problem->rows, half * sizeof *ends);
    memcpy(ends + half, problem->rows + problem->row_count - half, half * sizeof *ends);
    *positions = ends;
    *slots = RESULT_ELIDED;
    return STATUS_OK;
}

/* Where a row of problem->rows lies among those that are computed. */
static size_t slot_of(const struct result *result, size_t row)
{
    const size_t left_out = result->problem->row_count - result->attention.slots;
    return left_out > 0 && row >= RESULT_ELIDED / 2 ? row - left_out : row;
}

enum status result_make_room(struct result *result, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < result->table_count; i++)
        result->widest = memory_larger(result->widest, result_columns(&result->tables[i]));
    result->numbers = arena_allocate(arena, result->widest, sizeof result->numbers[0], error);
    return result->numbers == NULL ? error->status : STATUS_OK;
}

/* --- what text shows: each row goes through the stages once, for all tables --------------------------------------- */

enum { SQUARE_STAGES = STAGE_DROPPED - STAGE_SCORES + 1, SHOWN_NUMBERS = SQUARE_STAGES * RESULT_ELIDED };

/* The i-th column that an elided row shows. */
static size_t shown_column(const struct result *result, size_t i)
{
    return i < RESULT_ELIDED / 2 ? i : result->problem->keys - RESULT_ELIDED + i;
}

/* The last stage that rows are made for. */
static enum stage last_stage(const struct problem *problem)
{
    enum stage last = STAGE_SCORES;
    for (size_t i = 0; i < problem->stage_count; i++) {
        const enum stage stage = problem->stages[i] == STAGE_OUTPUT ? STAGE_CONTEXT : problem->stages[i];
        if (stage <= STAGE_CONTEXT && stage > last)
            last = stage;
    }
    return last;
}

static enum status create_shown(struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    size_t rows, numbers;
    if (!result->elided || problem->keys <= RESULT_ELIDED || result->attention.fused)
        return STATUS_OK;
    if (!memory_multiply(problem->items * problem->heads, result->attention.slots, &rows) ||
        !memory_multiply(rows, SHOWN_NUMBERS + problem->d_value, &numbers))
        return error_system(error, 0, "not enough memory: too many rows to show");
    result->shown = arena_allocate(arena, numbers, sizeof result->shown[0], error);
    result->shown_made = arena_allocate(arena, rows, sizeof result->shown_made[0], error);
    if (result->shown == NULL || result->shown_made == NULL)
        return error->status;
    memset(result->shown_made, 0, rows * sizeof result->shown_made[0]);
    return STATUS_OK;
}

enum status result_create(struct result *result, const struct problem *problem, bool elided, struct arena *arena,
                          struct error *error)
{
    *result = (struct result){.problem = problem, .elided = elided};
    unsigned stages = 0;
    for (size_t i = 0; i < problem->stage_count; i++)
        if (problem->stages[i] < STAGE_COUNT)
            stages |= STAGE_BIT(is_side_by_side(problem, problem->stages[i]) ? STAGE_OUTPUT : problem->stages[i]);
    if (stages != 0) {
        const size_t *positions;
        size_t slots;
        if (choose_rows(result, &positions, &slots, arena, error) ||
            attention_create(&result->attention, problem, positions, slots, stage_closure(stages), arena, error))
            return error->status;
        result->block = problem->dropout > 0 && !elided ? DROPOUT_BLOCK : 1;
        size_t width;
        if (!memory_multiply(problem->heads, problem->d_value * sizeof result->contexts[0], &width))
            return error_system(error, 0, "not enough memory: too many columns of context");
        result->contexts = arena_allocate(arena, result->block, width, error);
        if (result->contexts == NULL)
            return error->status;
        if ((problem->dropout > 0 && create_track(result, arena, error)) || create_shown(result, arena, error))
            return error->status;
    }
    if (add_tables(result, arena, error) != STATUS_OK)
        return error->status;
    return result_make_room(result, arena, error);
}

size_t result_matrices(const struct result_table *table)
{
    size_t matrices = 1;
    for (size_t axis = 0; axis + 2 < table->rank; axis++)
        matrices *= table->shape[axis];
    return matrices;
}

size_t result_rows(const struct result_table *table)
{
    return table->rank > 1 ? table->shape[table->rank - 2] : 1;
}

size_t result_columns(const struct result_table *table)
{
    return table->shape[table->rank - 1];
}

bool result_is_of(const struct result_table *table, enum axis axis)
{
    for (size_t leading = 0; leading + 2 < table->rank; leading++)
        if (table->axes[leading] == axis)
            return true;
    return false;
}

void result_place(const struct result_table *table, size_t matrix, size_t *item, size_t *head)
{
    *item = *head = 0;
    for (size_t axis = table->rank < 2 ? 0 : table->rank - 2; axis-- > 0;) {
        *(table->axes[axis] == AXIS_ITEM ? item : head) = matrix % table->shape[axis];
        matrix /= table->shape[axis];
    }
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void compute_row(struct result *result, size_t item, size_t head, size_t row, enum stage stage)
{
    const bool drops = result->track != NULL && stage >= STAGE_DROPPED;
    if (drops)
        draw_row(result, item, head, result->problem->rows[row]);
    attention_row(&result->attention, item, head, slot_of(result, row), stage, drops ? result->kept : NULL);
}

/* The numbers that are shown of a row: of each T x T stage RESULT_ELIDED, then the context. */
static const double *shown_row(struct result *result, size_t item, size_t head, size_t row)
{
    const struct problem *problem = result->problem;
    const size_t index = (item * problem->heads + head) * result->attention.slots + slot_of(result, row);
    const enum stage last = last_stage(problem);
    double *numbers = result->shown + index * (SHOWN_NUMBERS + problem->d_value);
    if (result->shown_made[index])
        return numbers;
    compute_row(result, item, head, row, last);
    for (int stage = STAGE_SCORES; stage <= (int)last && stage <= STAGE_DROPPED; stage++)
        for (size_t i = 0; i < RESULT_ELIDED; i++)
            numbers[(stage - STAGE_SCORES) * RESULT_ELIDED + (int)i] =
                result->attention.rows[stage][shown_column(result, i)];
    if (last == STAGE_CONTEXT)
        memcpy(numbers + SHOWN_NUMBERS, result->attention.rows[STAGE_CONTEXT], problem->d_value * sizeof *numbers);
    result->shown_made[index] = true;
    return numbers;
}

/* One head's context, (d_v), until the next row. */
static const double *context_row(struct result *result, size_t item, size_t head, size_t row)
{
    if (result->shown != NULL)
        return shown_row(result, item, head, row) + SHOWN_NUMBERS;
    compute_row(result, item, head, row, STAGE_CONTEXT);
    return result->attention.rows[STAGE_CONTEXT];
}

/* A row of a T x T stage; of an elided one the columns that are shown, and the others are left as they are. */
static void square_row(struct result *result, size_t item, size_t head, size_t row, enum stage stage, double *numbers)
{
    if (result->shown == NULL) {
        compute_row(result, item, head, row, stage);
        memcpy(numbers, result->attention.rows[stage], result->problem->keys * sizeof *numbers);
        return;
    }
    const double *shown = shown_row(result, item, head, row) + (stage - STAGE_SCORES) * RESULT_ELIDED;
    for (size_t i = 0; i < RESULT_ELIDED; i++)
        numbers[shown_column(result, i)] = shown[i];
}

/* The contexts of every head for a block of rows from `first` on: a head's rows in one go, since dropout draws them so. */
static void fill_block(struct result *result, size_t item, size_t first)
{
    const struct problem *problem = result->problem;
    const size_t d = problem->d_value, left = problem->row_count - first;
    result->block_item = item;
    result->block_first = first;
    result->block_count = left < result->block ? left : result->block;
    for (size_t head = 0; head < problem->heads; head++)
        for (size_t i = 0; i < result->block_count; i++)
            memcpy(result->contexts + (i * problem->heads + head) * d, context_row(result, item, head, first + i),
                   d * sizeof *result->contexts);
}

static void output_row(struct result *result, size_t item, size_t row, double *numbers)
{
    const size_t width = result->problem->heads * result->problem->d_value;
    const bool held =
        item == result->block_item && row >= result->block_first && row - result->block_first < result->block_count;
    if (!held)
        fill_block(result, item, row);
    attention_output(&result->attention, result->contexts + (row - result->block_first) * width, numbers);
}

/* One more row of this table is computed; text asks for some more than once, the bar is full then. */
static void note_progress(struct result *result, const struct result_table *table)
{
    struct progress *progress = result->problem->progress;
    if (result->underway != table) {
        result->underway = table;
        result->rows_done = 0;
        progress_begin(progress, table->name, (double)result_matrices(table) * (double)result->attention.slots);
    }
    progress_update(progress, ++result->rows_done);
}

/* A row of a table that was put together from parts. */
static void piece_row(const struct result_table *table, size_t matrix, size_t row, double *numbers)
{
    const size_t columns = result_columns(table);
    const struct tensor *const *piece = table->pieces;
    if (table->stage == STAGE_LSE) { /* cut along its columns */
        for (size_t first = 0, count; first < columns; first += count, piece++) {
            count = (*piece)->shape[table->rank - 1];
            tensor_load(*piece, (matrix * result_rows(table) + row) * count, count, numbers + first);
        }
        return;
    }
    while (row >= (*piece)->shape[table->rank - 2])
        row -= (*piece++)->shape[table->rank - 2];
    tensor_load(*piece, (matrix * (*piece)->shape[table->rank - 2] + row) * columns, columns, numbers);
}

/* A row of a table that is held whole; of queries only those at the ends may be there. */
static void held_row(const struct result *result, const struct result_table *table, size_t matrix, size_t row,
                     double *numbers)
{
    const size_t columns = result_columns(table), slots = result->attention.slots;
    const bool of_queries = table->rank > 1 && table->axes[table->rank - 2] == AXIS_QUERY;
    if (table->axes[table->rank - 1] == AXIS_QUERY) {
        for (size_t query = 0; query < columns; query++)
            tensor_load(table->tensor, (matrix * result_rows(table) + row) * slots + slot_of(result, query), 1,
                        numbers + query);
        return;
    }
    const size_t rows = of_queries ? slots : result_rows(table);
    tensor_load(table->tensor, (matrix * rows + (of_queries ? slot_of(result, row) : row)) * columns, columns, numbers);
}

void result_row(struct result *result, const struct result_table *table, size_t matrix, size_t row, double *numbers)
{
    const size_t columns = result_columns(table);
    size_t item, head;
    result_place(table, matrix, &item, &head);
    if (table->pieces != NULL) {
        piece_row(table, matrix, row, numbers);
        return;
    }
    if (table->tensor != NULL) {
        held_row(result, table, matrix, row, numbers);
        tensor_round(result->problem->dtype, numbers, columns);
        return;
    }
    note_progress(result, table);
    if (is_side_by_side(result->problem, table->stage)) {
        output_row(result, item, row, numbers);
        return;
    }
    if (stage_is_square(table->stage))
        square_row(result, item, head, row, table->stage, numbers);
    else
        memcpy(numbers, context_row(result, item, head, row), columns * sizeof *numbers);
}

const char *result_label(const struct result *result, enum axis axis, size_t item, size_t index, size_t *position)
{
    const struct problem *problem = result->problem;
    const size_t token = axis == AXIS_QUERY ? problem->rows[index] : index;
    const char **labels = axis == AXIS_QUERY   ? problem_query_labels(problem, item)
                          : axis == AXIS_TOKEN ? problem_key_labels(problem, item)
                                               : NULL;
    *position = token + 1;
    return labels != NULL ? labels[token] : NULL;
}

bool result_masked(const struct result *result, const struct result_table *table, size_t matrix, size_t row,
                   size_t column)
{
    const struct problem *problem = result->problem;
    size_t item, head;
    if (!problem->masks || !stage_is_square(table->stage) || table->stage < STAGE_MASKED)
        return false;
    result_place(table, matrix, &item, &head);
    const struct span span = mask_span(&problem->mask, item, problem->rows[row]);
    if (column < span.first || column >= span.end)
        return true;
    double bias;
    mask_bias(&problem->mask, item, head, problem->rows[row], column, 1, &bias);
    return bias == -INFINITY;
}
