/* SPDX-License-Identifier: MIT */
#include "compute/result.h"

#include "compute/setup.h"
#include "model/stages.h"
#include "stage/backward_mistake.h"
#include "stage/stage.h"

#include <string.h>

/* --- tables ------------------------------------------------------------------------------------------------------ */

enum { NUMBERS_AT_ONCE = 1 << 16 };

/* Adds a table without axes, in the working dtype. */
static struct result_table *add_table(struct result *result, enum stage stage, const char *name,
                                      const struct tensor *tensor)
{
    struct result_table *table = &result->tables[result->table_count++];
    *table =
        (struct result_table){.name = name, .stage = stage, .tensor = tensor, .dtype = result->problem->rounding.dtype};
    return table;
}

static void add_axis(struct result_table *table, enum axis axis, size_t size)
{
    table->axes[table->rank] = axis;
    table->shape[table->rank++] = size;
}

static const enum axis MASK_AXES[] = {AXIS_ITEM, AXIS_HEAD, AXIS_COLUMN, AXIS_COLUMN};

/* The axes of a tensor of the file. sdpa's query, key and value have heads before tokens, except with sequences, (T, H,
 * d), or pages, (B, T, H, d) and caches (pages, tokens, H_kv, d). */
static void axes_of_given(const struct problem *problem, const struct input_tensor *given, enum axis axes[TENSOR_RANK])
{
    const size_t rank = given->tensor.rank;
    const enum stage stage = stage_find(given->name, strlen(given->name));
    const bool operand = stage_exists(stage) && STAGES[stage].operand;
    const bool cache = strcmp(given->name, "key_cache") == 0 || strcmp(given->name, "value_cache") == 0;
    memcpy(axes, MASK_AXES + TENSOR_RANK - rank, rank * sizeof axes[0]);
    if (!cache &&
        !(operand && ((rank == 3 && problem->mask.sequences.count > 0) || (rank == 4 && problem->size.heads_packed))))
        return;
    axes[rank - 2] = AXIS_HEAD;
    axes[rank - 3] = cache ? AXIS_COLUMN : stage_is_of_keys(stage) ? AXIS_TOKEN : AXIS_INPUT;
    axes[0] = cache ? AXIS_PAGE : axes[0];
}

/* Adds attn_mask and the like as in the file. A row need not be a query: a broadcast axis has size 1. */
static void add_given(struct result *result, const struct input_tensor *given)
{
    const struct tensor *tensor = &given->tensor;
    struct result_table *table = add_table(result, STAGE_INPUTS, given->name, tensor);
    enum axis axes[TENSOR_RANK];
    table->dtype = dtype_is_working(tensor->dtype) ? table->dtype : tensor->dtype;
    axes_of_given(result->problem, given, axes);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        add_axis(table, axes[axis], tensor->shape[axis]);
}

static struct result_table *add_rows(struct result *result, enum stage stage, const struct tensor *tensor,
                                     enum axis axis)
{
    const struct problem *problem = result->problem;
    struct result_table *table = add_table(result, stage, stage_name(stage), tensor);
    if (problem->size.has_batch)
        add_axis(table, AXIS_ITEM, problem->size.items);
    add_axis(table, axis, tensor->shape[tensor->rank - 2]);
    add_axis(table, AXIS_COLUMN, tensor->shape[tensor->rank - 1]);
    return table;
}

static void add_inputs(struct result *result)
{
    const struct problem *problem = result->problem;
    if (problem->given.inputs.rank > 0)
        add_rows(result, STAGE_INPUTS, &problem->given.bare, AXIS_INPUT);
    if (problem->given.is_cross && !problem_shows_stage(problem, STAGE_KEY_INPUTS))
        add_rows(result, STAGE_KEY_INPUTS, &problem->given.key_inputs, AXIS_TOKEN);
    for (size_t i = 0; i < problem->given.other_count; i++)
        add_given(result, &problem->given.others[i]);
}

static enum status add_tensor(struct result *result, enum stage stage, const char *name, const struct tensor *tensor,
                              struct arena *arena, struct error *error)
{
    char text[PARAMETER_NAME_BYTES + 8];
    if (tensor->rank == 0)
        return STATUS_OK;
    snprintf(text, sizeof text, "%s%s", STAGES[stage].backward ? "grad_" : "", name);
    struct result_table *table = add_table(result, stage, arena_copy(arena, text, error), tensor);
    for (size_t axis = 0; axis < tensor->rank; axis++)
        add_axis(table, AXIS_COLUMN, tensor->shape[axis]);
    return table->name == NULL ? error->status : STATUS_OK;
}

/* Whether a parameter has a gradient: not the embedding, since the inputs may come from elsewhere. */
static bool has_gradient(const struct problem *problem, const char *name)
{
    return strcmp(name, "embedding") != 0 &&
           (problem->given.learns_positions || strcmp(name, "position_embedding") != 0);
}

static enum status add_parameters(struct result *result, enum stage stage, const struct parameters *parameters,
                                  struct arena *arena, struct error *error)
{
    char name[PARAMETER_NAME_BYTES];
    for (size_t i = 0; i < parameters_count(parameters); i++) {
        const struct tensor *tensor = parameters_named(parameters, result->problem->plan.stacked, i, name);
        if ((!STAGES[stage].backward || has_gradient(result->problem, name)) &&
            add_tensor(result, stage, name, tensor, arena, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}

/* Adds the gradient with respect to an input of the mask: one number per head, or the shape of attn_mask. */
static void add_gradient_of_mask(struct result *result, enum stage stage)
{
    const struct problem *problem = result->problem;
    const struct tensor *mask = &problem->mask.attn_mask;
    const bool of_heads = STAGES[stage].columns == STAGE_COLUMNS_HEADS;
    struct result_table *table = add_table(result, stage, stage_name(stage), NULL);
    stage_formula(problem, stage, table->formula, sizeof table->formula);
    for (size_t axis = 0; axis < (of_heads ? 1 : mask->rank); axis++)
        add_axis(table, of_heads ? AXIS_COLUMN : MASK_AXES[TENSOR_RANK - mask->rank + axis],
                 of_heads ? problem->size.heads : mask->shape[axis]);
}

/* All heads, or that of --head: of key and value the one that it shares. */
static void add_heads(struct result_table *table, const struct problem *problem, bool of_keys)
{
    const size_t heads = of_keys ? problem->size.kv_heads : problem->size.heads;
    add_axis(table, AXIS_HEAD, problem->chosen.cuts_heads ? 1 : heads);
    if (!problem->chosen.cuts_heads)
        return;
    table->heads = heads;
    table->head = (problem->chosen.head - 1) / (problem->size.heads / heads);
}

static void add_stage(struct result *result, enum stage stage)
{
    const struct problem *problem = result->problem;
    const bool of_keys = stage_is_of_keys(stage), side_by_side = problem_is_side_by_side(problem, stage);
    const bool whole = STAGES[stage].whole_shape;
    struct result_table *table = add_table(result, stage, stage_name(stage), NULL);
    table->dtype = problem_stage_dtype(problem, stage);
    table->hides =
        problem->masks && stage_is_square(stage) && stage_follows(stage, STAGE_MASKED) &&
        (problem->mistake.wrong & STAGE_BIT(STAGE_MASKED)) == 0 &&
        !(STAGES[stage].backward && problem->mistake.backward != NULL && problem->mistake.backward->shows_masked);
    stage_formula(problem, stage, table->formula, sizeof table->formula);
    if (problem->size.has_batch || whole)
        add_axis(table, AXIS_ITEM, problem->size.items);
    if ((problem->size.has_heads && !side_by_side) || whole)
        add_heads(table, problem, of_keys);
    add_axis(table, of_keys ? AXIS_TOKEN : AXIS_QUERY, of_keys ? problem->size.keys : problem->chosen.row_count);
    const bool of_words = STAGES[stage].columns == STAGE_COLUMNS_WORDS;
    if (stage_has_columns(stage))
        add_axis(table,
                 stage_is_square(stage) ? AXIS_TOKEN
                 : of_words             ? AXIS_WORD
                                        : AXIS_COLUMN,
                 problem_columns(problem, stage));
}

static void add_gradient_of_rows(struct result *result, enum stage stage)
{
    const struct problem *problem = result->problem;
    const bool of_keys = stage_is_of_keys(stage);
    struct result_table *table = add_rows(result, stage, of_keys ? &problem->given.key_inputs : &problem->given.inputs,
                                          of_keys ? AXIS_TOKEN : AXIS_INPUT);
    stage_formula(problem, stage, table->formula, sizeof table->formula);
}

static bool is_backward(const struct result_table *table)
{
    return STAGES[table->stage].backward;
}

/* An unfilled stage fails, since its zeros would look like numbers. */
static enum status nobody_makes(enum stage stage, struct error *error)
{
    return error_system(error, 0, "internal error: nothing makes '%s'", stage_name(stage));
}

static enum status find_held(struct result *result, struct error *error)
{
    for (size_t i = 0; i < result->table_count; i++) {
        struct result_table *table = &result->tables[i];
        if (!stage_exists(table->stage) || STAGES[table->stage].columns == STAGE_COLUMNS_PARAMETERS)
            continue;
        const struct attention *attention = is_backward(table) ? &result->backward->attention : &result->attention;
        const enum stage made = problem_made_as(result->problem, table->stage);
        table->tensor = attention->held[made].rank > 0 ? &attention->held[made] : NULL;
        if (table->tensor != NULL && !is_backward(table) && (attention->made & STAGE_BIT(made)) == 0)
            return nobody_makes(made, error);
    }
    return STATUS_OK;
}

static enum status add_tables(struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t most = STAGE_NAMES + INPUT_TENSORS + 2 * parameters_count(&problem->parameters);
    result->tables = arena_allocate(arena, most, sizeof result->tables[0], error);
    if (result->tables == NULL)
        return error->status;
    for (size_t i = 0; i < problem->chosen.stage_count && error->status == STATUS_OK; i++) {
        const enum stage stage = problem->chosen.stages[i];
        const bool back = STAGES[stage].backward, exists = stage_exists(stage);
        switch (STAGES[stage].columns) {
        case STAGE_COLUMNS_D_IN:
            if (back)
                add_gradient_of_rows(result, stage);
            else if (exists)
                add_stage(result, stage);
            else
                add_inputs(result);
            break;
        case STAGE_COLUMNS_D_KEY_IN:
            if (back)
                add_gradient_of_rows(result, stage);
            else
                add_rows(result, stage, &problem->given.key_inputs, AXIS_TOKEN);
            break;
        case STAGE_COLUMNS_MASK:
        case STAGE_COLUMNS_HEADS:
            add_gradient_of_mask(result, stage);
            break;
        case STAGE_COLUMNS_PARAMETERS:
            add_parameters(result, stage, &(back ? problem : problem_right(problem))->parameters, arena, error);
            break;
        default:
            add_stage(result, stage);
        }
    }
    return error->status;
}

/* Chooses the computed rows and their number: problem->rows, or those at both ends for an elided table. */
static enum status choose_rows(struct result *result, const size_t **positions, size_t *computed_rows,
                               struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const size_t half = RESULT_ELIDED / 2;
    *positions = problem->chosen.rows;
    *computed_rows = problem->chosen.row_count;
    if (!result->elided || problem->chosen.row_count <= RESULT_ELIDED)
        return STATUS_OK;
    size_t *ends = arena_allocate(arena, RESULT_ELIDED, sizeof *ends, error);
    if (ends == NULL)
        return error->status;
    memcpy(ends, problem->chosen.rows, half * sizeof *ends);
    memcpy(ends + half, problem->chosen.rows + problem->chosen.row_count - half, half * sizeof *ends);
    *positions = ends;
    *computed_rows = RESULT_ELIDED;
    return STATUS_OK;
}

const char *result_layout(const struct result *result)
{
    return result->given ? INPUT_FILE_GIVEN : result->problem->given.is_cross ? INPUT_FILE_CROSS : NULL;
}

enum status result_allocate_row(struct result *result, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < result->table_count; i++)
        result->widest = memory_larger(result->widest, result_columns(&result->tables[i]));
    result->numbers = arena_allocate(arena, result->widest, sizeof result->numbers[0], error);
    return result->numbers == NULL ? error->status : STATUS_OK;
}

static void add_lacking(struct result *result, const char *name)
{
    const size_t length = strlen(result->lacks);
    snprintf(result->lacks + length, sizeof result->lacks - length, "%s%s", length > 0 ? ", " : "", name);
}

/* Whether attn can read a result of sdpa as input, and else what it lacks. */
static void compare_with_given(struct result *result)
{
    const struct problem *problem = result->problem;
    const bool query = problem_shows_stage(problem, STAGE_QUERY),
               shows_inputs = problem_shows_stage(problem, STAGE_INPUTS);
    result->given = !problem_projects(problem) && shows_inputs;
    if (result->given ||
        !(query || problem_shows_stage(problem, STAGE_KEY) || problem_shows_stage(problem, STAGE_VALUE)))
        return;
    if (query && problem->chosen.whole_count < problem->size.queries)
        add_lacking(result, "rows of query");
    if (problem->chosen.cuts_heads)
        add_lacking(result, "heads");
    if (problem->parameters.relative_bias.rank > 0)
        add_lacking(result, "the relative bias");
    for (size_t i = 0; i < problem->given.other_count && !shows_inputs; i++) {
        const char *name = problem->given.others[i].name;
        if (!STAGES[stage_find(name, strlen(name))].operand)
            add_lacking(result, name);
    }
}

enum status result_list(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                        struct arena *arena, struct error *error)
{
    *result = (struct result){.problem = problem, .progress = progress, .elided = elided};
    compare_with_given(result);
    return add_tables(result, arena, error);
}

static uint64_t stages_shown(const struct problem *problem, bool backward)
{
    uint64_t stages = 0;
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        if (stage_exists(problem->chosen.stages[i]) && STAGES[problem->chosen.stages[i]].backward == backward)
            stages |= STAGE_BIT(problem_made_as(problem, problem->chosen.stages[i]));
    return stages;
}

/* Points the tables of parameters' gradients to their tensors. */
static enum status find_parameters(struct result *result, struct arena *arena, struct error *error)
{
    const size_t count = result->table_count;
    size_t first = 0;
    while (first < count && result->tables[first].stage != STAGE_GRAD_PARAMETERS)
        first++;
    if (first == count)
        return STATUS_OK;
    result->table_count = first;
    add_parameters(result, STAGE_GRAD_PARAMETERS, &result->backward->operands.parameters, arena, error);
    result->table_count = count;
    return error->status;
}

static enum status compute_backward(struct result *result, struct arena *arena, struct error *error)
{
    const uint64_t stages = stages_shown(result->problem, true);
    if (stages == 0)
        return STATUS_OK;
    result->backward = arena_allocate(arena, 1, sizeof *result->backward, error);
    if (result->backward == NULL ||
        backward_create(result->backward, result->problem, stages, result->progress, arena, error) != STATUS_OK)
        return error->status;
    return find_parameters(result, arena, error);
}

enum status result_compute(struct result *result, struct arena *arena, struct error *error)
{
    const struct problem *problem = result->problem;
    const uint64_t stages = stages_shown(problem, false);
    const enum stage unmade = stage_unmade(stage_closure(stages | stages_shown(problem, true)));
    if (unmade != STAGE_NAMES)
        return nobody_makes(unmade, error);
    if (stages != 0 && problem->mistake.recipe != NULL) {
        if (plain_path(&result->attention, problem, stage_closure(stages), arena, error) != STATUS_OK)
            return error->status;
        result->rows = (struct row_stream){.problem = problem, .attention = &result->attention};
    } else if (stages != 0) {
        struct attention *attention = &result->attention;
        attention->problem = problem;
        attention->progress = result->progress;
        attention->extra_bytes = backward_bytes(problem, stages_shown(problem, true));
        if (choose_rows(result, &attention->positions, &attention->computed_rows, arena, error) ||
            setup_attention(attention, stage_closure(stages), arena, error))
            return error->status;
        if (row_stream_create(&result->rows, problem, &result->attention, result->elided, arena, error) != STATUS_OK)
            return error->status;
    }
    if (compute_backward(result, arena, error) || find_held(result, error))
        return error->status;
    return result_allocate_row(result, arena, error);
}

enum status result_create(struct result *result, const struct problem *problem, struct progress *progress, bool elided,
                          struct arena *arena, struct error *error)
{
    return result_list(result, problem, progress, elided, arena, error) ? error->status
                                                                        : result_compute(result, arena, error);
}

const struct result_table *result_table_of(const struct result *result, enum stage stage)
{
    for (size_t i = 0; i < result->table_count; i++)
        if (result->tables[i].stage == stage)
            return &result->tables[i];
    return NULL;
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

bool result_is_of_tokens(const struct result_table *table)
{
    const size_t rank = table->rank;
    return rank > 2 && table->axes[rank - 2] == AXIS_HEAD && table->axes[rank - 1] == AXIS_COLUMN;
}

enum axis result_row_axis(const struct result_table *table)
{
    return table->rank > 1 ? table->axes[table->rank - 2] : AXIS_COLUMN;
}

enum axis result_column_axis(const struct result_table *table)
{
    return table->axes[table->rank - 1];
}

bool result_is_shown(const struct result *result, const struct result_table *table)
{
    return stage_exists(table->stage) || result->problem->chosen.stages_asked || result->problem->parameters_only;
}

size_t result_shown_count(size_t count, bool full)
{
    return full || count <= RESULT_ELIDED ? count : RESULT_ELIDED + 1;
}

bool result_shown_index(size_t count, bool full, size_t i, size_t *index)
{
    *index = i;
    if (full || count <= RESULT_ELIDED)
        return true;
    if (i > RESULT_ELIDED / 2)
        *index = count - RESULT_ELIDED - 1 + i;
    return i != RESULT_ELIDED / 2;
}

void result_place(const struct result_table *table, size_t matrix, size_t *item, size_t *head)
{
    *item = *head = 0;
    for (size_t axis = table->rank < 2 ? 0 : table->rank - 2; axis-- > 0;) {
        *(table->axes[axis] == AXIS_ITEM || table->axes[axis] == AXIS_PAGE ? item : head) = matrix % table->shape[axis];
        matrix /= table->shape[axis];
    }
    *head += table->head;
}

/* The matrix among those of all heads. */
static size_t matrix_of_all(const struct result_table *table, size_t matrix)
{
    return result_is_of(table, AXIS_HEAD) && table->heads > 0 ? matrix * table->heads + table->head : matrix;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Reports `count` more rows of this table. Text reads some rows again after the bar is full. */
static void note_progress(struct result *result, const struct result_table *table, size_t count)
{
    struct progress *progress = result->progress;
    if (result->underway != table) {
        result->underway = table;
        result->rows_done = 0;
        progress_begin(progress, table->name, (double)result_matrices(table) * (double)result->attention.computed_rows);
    }
    result->rows_done += (double)count;
    progress_update(progress, result->rows_done);
}

static void piece_row(const struct result_table *table, size_t matrix, size_t row, double *numbers)
{
    const size_t columns = result_columns(table);
    const struct tensor *const *piece = table->pieces;
    if (!stage_has_columns(table->stage)) { /* parts divide its columns */
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

/* A row of a held table, which may have only the queries at both ends. */
static void held_row(const struct result *result, const struct result_table *table, size_t matrix, size_t row,
                     double *numbers)
{
    const size_t columns = result_columns(table), computed_rows = result->attention.computed_rows;
    const bool of_queries = table->rank > 1 && table->axes[table->rank - 2] == AXIS_QUERY && !is_backward(table);
    matrix = matrix_of_all(table, matrix);
    if (table->axes[table->rank - 1] == AXIS_QUERY) {
        const size_t rows = table->heads > 0 ? table->heads : result_rows(table);
        for (size_t slot = 0; slot < computed_rows; slot++)
            tensor_load(table->tensor, (matrix * rows + table->head + row) * computed_rows + slot, 1,
                        numbers + row_stream_of_slot(&result->rows, slot));
        return;
    }
    const size_t rows = of_queries ? computed_rows : result_rows(table);
    tensor_load(table->tensor, (matrix * rows + (of_queries ? row_stream_slot(&result->rows, row) : row)) * columns,
                columns, numbers);
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
        if (table->stage == STAGE_DROPPED && result->attention.kept != NULL) /* for row_stream_kept */
            result->rows.kept = result->attention.kept + matrix_of_all(table, matrix) *
                                                             result->attention.computed_rows *
                                                             result->attention.problem->size.keys;
        if (dtype_is_working(table->dtype))
            dtype_round(table->dtype, numbers, columns);
        return;
    }
    note_progress(result, table, 1);
    if (is_backward(table)) {
        backward_row(result->backward, table->stage, item, head, row, numbers);
        dtype_round(table->dtype, numbers, columns);
    } else if (problem_made_as(result->problem, table->stage) == STAGE_OUTPUT || stage_is_of_words(table->stage))
        row_stream_output(&result->rows, table->stage, item, row, numbers);
    else
        row_stream_get(&result->rows, table->stage, item, head, row, numbers);
}

struct sharpness result_sharpness(const double *numbers, size_t count)
{
    struct sharpness sharpness = {0, stage_row_entropy(numbers, count)};
    for (size_t i = 0; i < count; i++)
        sharpness.sum += numbers[i];
    return sharpness;
}

static bool is_streamed(const struct result *result, const struct result_table *table)
{
    return table->pieces == NULL && table->tensor == NULL && !is_backward(table) &&
           row_stream_makes(&result->rows, problem_made_as(result->problem, table->stage));
}

size_t result_rows_at_once(const struct result *result, const struct result_table *table)
{
    const size_t columns = result_columns(table);
    return memory_smaller(result_rows(table),
                          is_streamed(result, table) ? result->rows.most : memory_larger(NUMBERS_AT_ONCE / columns, 1));
}

/* Rows of a stage as bytes. */
struct encoding {
    const struct result_table *table;
    unsigned char *bytes;
};

static void encode_row(void *context, size_t i, const struct attention_scratch *scratch)
{
    const struct encoding *encoding = context;
    const struct result_table *table = encoding->table;
    const size_t columns = result_columns(table);
    dtype_encode(table->dtype, scratch->rows[table->stage], columns,
                 encoding->bytes + i * columns * dtype_size(table->dtype));
}

void result_encode(struct result *result, const struct result_table *table, size_t matrix, size_t row, size_t count,
                   unsigned char *bytes, struct background_work background)
{
    const size_t columns = result_columns(table), row_bytes = columns * dtype_size(table->dtype);
    size_t item, head;
    result_place(table, matrix, &item, &head);
    if (is_streamed(result, table)) {
        struct encoding encoding = {table, bytes};
        row_stream_run(&(struct row_run){&result->rows, STAGE_BIT(table->stage), item, head, row, encode_row, &encoding,
                                         background},
                       count);
        note_progress(result, table, count);
        return;
    }
    if (background.work != NULL)
        background.work(background.context);
    for (size_t i = 0; i < count; i++) {
        result_row(result, table, matrix, row + i, result->numbers);
        dtype_encode(table->dtype, result->numbers, columns, bytes + i * row_bytes);
    }
}

const char *result_label(const struct result *result, enum axis axis, size_t item, size_t index, size_t *position)
{
    const struct problem *problem = result->problem;
    if (axis == AXIS_QUERY || axis == AXIS_TOKEN)
        return problem_label(problem, axis == AXIS_TOKEN, item, index, position);
    const char **labels = axis == AXIS_INPUT  ? problem_query_labels(problem, item)
                          : axis == AXIS_WORD ? problem->labels.words.texts
                                              : NULL;
    *position = (axis == AXIS_HEAD && problem->chosen.cuts_heads ? problem->chosen.head - 1 : 0) + index + 1;
    return labels != NULL ? labels[index] : NULL;
}

struct result_mask result_mask_of(const struct result *result, const struct result_table *table, size_t matrix,
                                  size_t row)
{
    const struct problem *problem = result->problem;
    struct result_mask of_row = {0};
    if (!table->hides)
        return of_row;
    result_place(table, matrix, &of_row.item, &of_row.head);
    of_row.query = problem->chosen.rows[row];
    const bool numbers = !STAGES[table->stage].infinite && problem->mask.empty_row != EMPTY_ROW_ZERO;
    if (!numbers || !mask_is_empty(&problem->mask, of_row.item, of_row.head, of_row.query))
        of_row.rules = &problem->mask;
    return of_row;
}

bool result_masks(const struct result_mask *mask, size_t column)
{
    return mask->rules != NULL && mask_forbids(mask->rules, mask->item, mask->head, mask->query, column);
}
