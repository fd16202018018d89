/* SPDX-License-Identifier: MIT */
#include "explain/explanation.h"
#include "model/stages.h"

#include <math.h>
#include <string.h>

/* Numbers from here on need an exponent to fit. */
static const double WIDEST_FIXED = 1e15;

/* --- reading rows ------------------------------------------------------------------------------------------------- */

void explain_load(const struct explanation *e, enum stage stage, struct explain_place place, double *numbers)
{
    e->source.load(e->source.context, stage, place, e->back, numbers);
}

const double *explain_row(struct explanation *e, enum stage stage, struct explain_place place, bool made)
{
    const bool back = e->back && !made;
    for (size_t i = 0; i < EXPLAIN_LOADED; i++) {
        const struct explain_loaded *row = &e->loaded[i];
        if (row->there && row->stage == stage && row->back == back && row->place.item == place.item &&
            row->place.head == place.head && row->place.row == place.row)
            return row->numbers;
    }
    struct explain_loaded *row = &e->loaded[e->loads++ % EXPLAIN_LOADED];
    *row = (struct explain_loaded){stage, place, back, true, row->numbers};
    e->source.load(e->source.context, stage, place, back, row->numbers);
    return row->numbers;
}

enum mask_rule explain_rule(const struct explanation *e, struct explain_place place, size_t key)
{
    const struct problem *problem = e->problem;
    if (!problem->masks || problem->mistake.wrong & STAGE_BIT(STAGE_MASKED)) /* all keys have numbers, and take part */
        return MASK_ALLOWS;
    return mask_rule_of(&problem->mask, place.item, place.head, problem->chosen.rows[place.row], key);
}

void explain_list_allowed(struct explanation *e, struct explain_place place)
{
    e->listed_count = 0;
    for (size_t key = 0; key < e->problem->size.keys; key++)
        if (explain_rule(e, place, key) == MASK_ALLOWS)
            e->listed[e->listed_count++] = key;
}

void explain_list_weighed(struct explanation *e, struct explain_place place)
{
    explain_list_allowed(e, place);
    if (e->listed_count == 0 && e->problem->mask.empty_row != EMPTY_ROW_ZERO)
        explain_list_first(e, e->problem->size.keys);
}

void explain_list_first(struct explanation *e, size_t count)
{
    for (e->listed_count = 0; e->listed_count < count; e->listed_count++)
        e->listed[e->listed_count] = e->listed_count;
}

void explain_list_one(struct explanation *e, size_t key)
{
    e->listed[0] = key;
    e->listed_count = 1;
}

/* --- the explained part ------------------------------------------------------------------------------------------- */

size_t explain_next(const struct explanation *e, struct explain_range range, size_t i)
{
    const size_t count = range.end - range.first;
    if (range.ends)
        return i + 1 < range.end ? range.end - 1 : range.end;
    return !e->full && count > EXPLAIN_MOST && i + 1 == range.first + EXPLAIN_ENDS ? range.end - EXPLAIN_ENDS : i + 1;
}

static struct explain_range range_of(bool one, size_t index, size_t count)
{
    return one ? (struct explain_range){index, index + 1, false} : (struct explain_range){0, count, false};
}

/* Whether a mistake may have brought other heads and tokens into the cell. */
static bool is_mixed(const struct explanation *e)
{
    static const uint64_t MIXES = STAGE_BIT(STAGE_SCORES) | STAGE_BIT(STAGE_CONTEXT) | STAGE_BIT(STAGE_OUTPUT);
    const struct problem *problem = e->problem;
    return problem->chosen.has_cell &&
           (problem->mistake.wrong & MIXES & stage_closure(STAGE_BIT(problem->chosen.cell.stage))) != 0;
}

/* Whether the cell is of a gradient, which rows of other queries enter, too. */
static bool is_of_gradient(const struct problem *problem)
{
    return problem->chosen.has_cell && STAGES[problem->chosen.cell.stage].backward;
}

/* Whether the stage sums over all items, heads and queries. */
static bool is_whole(enum stage stage)
{
    return stage == STAGE_GRAD_PARAMETERS || stage == STAGE_GRAD_ATTN_MASK;
}

/* The same, or one number per head. */
static bool is_of_heads(enum stage stage)
{
    return stage_is_of_mask(stage) || is_whole(stage);
}

struct explain_range explain_items(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->problem;
    if (is_of_heads(stage))
        return range_of(false, 0, 1);
    return range_of(problem->chosen.has_cell && problem->chosen.cell.item != SIZE_MAX, problem->chosen.cell.item,
                    problem->size.items);
}

/* For a cell of key or value, the query heads that share its head. */
static struct explain_range heads_of_gradient(const struct problem *problem, enum stage stage)
{
    const struct cell *cell = &problem->chosen.cell;
    const size_t group = problem->size.heads / problem->size.kv_heads;
    if (STAGES[cell->stage].joins_heads)
        return range_of(false, 0, stage_is_of_keys(stage) ? problem->size.kv_heads : problem->size.heads);
    const size_t head = is_of_heads(cell->stage) ? cell->column : cell->head == SIZE_MAX ? 0 : cell->head;
    if (stage_is_of_keys(cell->stage) && !stage_is_of_keys(stage))
        return (struct explain_range){head * group, (head + 1) * group, false};
    return range_of(true, stage_is_of_keys(stage) && !stage_is_of_keys(cell->stage) ? head / group : head, 0);
}

struct explain_range explain_heads(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->problem;
    const struct cell *cell = &problem->chosen.cell;
    const bool of_keys = stage_is_of_keys(stage);
    if (problem_is_side_by_side(problem, stage) || is_whole(stage))
        return range_of(false, 0, 1);
    if (is_of_gradient(problem))
        return heads_of_gradient(problem, stage);
    if (problem->chosen.head > 0 && !problem->chosen.has_cell)
        return range_of(true, (problem->chosen.head - 1) / (of_keys ? problem->size.heads / problem->size.kv_heads : 1),
                        0);
    if (!problem->chosen.has_cell || (cell->stage == STAGE_OUTPUT && problem->plan.has_out) ||
        (is_mixed(e) && (STAGES[stage].operand || problem->mistake.wrong & STAGE_BIT(STAGE_OUTPUT)) &&
         stage != cell->stage))
        return range_of(false, 0, of_keys ? problem->size.kv_heads : problem->size.heads);
    size_t head = cell->head == SIZE_MAX ? 0 : cell->head;
    if (problem_is_side_by_side(problem, cell->stage))
        head = cell->column / problem->size.d_value;
    if (of_keys && !stage_is_of_keys(cell->stage))
        head /= problem->size.heads / problem->size.kv_heads;
    return range_of(true, head, 0);
}

/* The rows that a cell leaves, whatever the mask says. */
static struct explain_range range_of_rows(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->problem;
    const struct cell *cell = &problem->chosen.cell;
    if (is_of_heads(stage))
        return range_of(false, 0, 1);
    if (is_of_gradient(problem) && !is_of_heads(cell->stage) &&
        (STAGES[cell->stage].joins_heads || stage_is_of_keys(stage) == stage_is_of_keys(cell->stage)))
        return range_of(true, cell->row, 0);
    if (!stage_is_of_keys(stage))
        return range_of(false, 0, problem->chosen.row_count);
    if (!problem->chosen.has_cell)
        return range_of(false, 0, problem->size.keys);
    const bool of_one_key = stage_is_square(cell->stage) && !is_mixed(e);
    return range_of(of_one_key || stage_is_of_keys(cell->stage), of_one_key ? cell->column : cell->row,
                    problem->size.keys);
}

/* Lists the tokens that the mask allows the explained query heads of this key head; for values, those with a weight. */
static void list_tokens(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const struct explain_range range = range_of_rows(e, stage), heads = explain_heads(e, STAGE_WEIGHTS);
    const size_t group = problem->size.heads / problem->size.kv_heads;
    memset(e->has_part, 0, problem->size.keys * sizeof *e->has_part);
    for (size_t head = heads.first; head < heads.end; head++) {
        if (head / group != place.head)
            continue;
        const struct explain_place query = {place.item, head, 0};
        if (stage == STAGE_VALUE)
            explain_list_weighed(e, query);
        else
            explain_list_allowed(e, query);
        for (size_t i = 0; i < e->listed_count; i++)
            e->has_part[e->listed[i]] = true;
    }
    for (size_t key = range.first; key < range.end; key++)
        if (e->has_part[key])
            e->rows[e->row_count++] = key;
}

bool explain_by_token(const struct problem *problem, enum stage stage)
{
    return stage_is_of_keys(stage) || (stage == STAGE_NORMED && !problem->given.is_cross);
}

/* Marks the tokens of a stage of keys that the cell is made from. */
static void mark_normed(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range heads = explain_heads(e, stage);
    if ((stage_closure(STAGE_BIT(e->problem->chosen.cell.stage)) & STAGE_BIT(stage)) == 0)
        return;
    for (place.head = heads.first; place.head < heads.end; place.head++) {
        explain_list_rows(e, stage, place);
        for (size_t i = 0; i < e->row_count; i++)
            e->normed[e->rows[i]] = true;
    }
}

/* Lists the tokens whose norm to explain: the selected ones, or those that a cell is made from. */
static void list_normed(struct explanation *e, struct explain_place place)
{
    const struct problem *problem = e->problem;
    const bool of_keys = problem->chosen.has_cell && stage_is_of_keys(problem->chosen.cell.stage);
    memset(e->normed, 0, problem->size.keys * sizeof *e->normed);
    for (size_t row = 0; row < problem->chosen.row_count && !of_keys; row++)
        e->normed[problem->chosen.rows[row]] = true;
    for (enum stage stage = 0; problem->chosen.has_cell && stage < STAGE_COUNT; stage++)
        if (stage_is_of_keys(stage))
            mark_normed(e, stage, place);
    e->row_count = 0;
    for (size_t token = 0; token < problem->size.keys; token++)
        if (e->normed[token])
            e->rows[e->row_count++] = token;
}

bool explain_adds(const struct explanation *e, enum stage stage, struct explain_place place, size_t key)
{
    const struct mask *mask = &e->problem->mask;
    return explain_rule(e, place, key) == MASK_ALLOWS ||
           (stage == STAGE_GRAD_VALUE && mask->empty_row != EMPTY_ROW_ZERO &&
            mask_is_empty(mask, place.item, place.head, e->problem->chosen.rows[place.row]));
}

void explain_list_rows(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range range = range_of_rows(e, stage);
    if (stage == STAGE_NORMED && explain_by_token(e->problem, stage)) {
        list_normed(e, place);
        return;
    }
    e->row_count = 0;
    /* A key has a part in the cell only if its row may attend to it. */
    const struct problem *problem = e->problem;
    if (problem->chosen.has_cell && stage_is_of_keys(stage) && !is_mixed(e) && !is_of_gradient(problem) &&
        stage_follows(problem->chosen.cell.stage, STAGE_MASKED)) {
        list_tokens(e, stage, place);
        return;
    }
    /* Not every row adds to a cell of the gradient with respect to key or value. */
    const struct cell *cell = &problem->chosen.cell;
    const bool all = !is_of_gradient(problem) || !stage_is_of_keys(cell->stage) || stage_is_of_keys(stage);
    for (place.row = range.first; place.row < range.end; place.row++)
        if (all || explain_adds(e, cell->stage, place, cell->row))
            e->rows[e->row_count++] = place.row;
}

bool explain_one_key(const struct explanation *e)
{
    const struct problem *problem = e->problem;
    return problem->chosen.has_cell && (stage_is_square(problem->chosen.cell.stage) ||
                                        (is_of_gradient(problem) && stage_is_of_keys(problem->chosen.cell.stage)));
}

struct explain_range explain_keys(const struct explanation *e)
{
    const struct cell *cell = &e->problem->chosen.cell;
    return range_of(explain_one_key(e), stage_is_of_keys(cell->stage) ? cell->row : cell->column,
                    e->problem->size.keys);
}

/* The columns of a stage before query or key that the cell needs: a norm needs all, a rotation a pair. */
static struct explain_range columns_of_way(const struct problem *problem, enum stage stage)
{
    const struct cell *cell = &problem->chosen.cell;
    const enum norm_id norm = projection_norm(projection_of(stage));
    const bool first = (STAGES[stage].from & STAGE_BIT(STAGE_INPUTS)) != 0;
    size_t which;
    if (first && problem->parameters.norms[norm].kind != NORM_NONE)
        return range_of(false, 0, problem->size.d_head);
    const size_t pair = rope_pair_of(&problem->rotation.rope, false, cell->column, &which);
    if (pair == SIZE_MAX)
        return range_of(true, cell->column, 0);
    const struct rope_pair of = rope_pair(&problem->rotation.rope, pair);
    return (struct explain_range){of.from[0], of.from[1] + 1, true};
}

struct explain_range explain_columns(const struct explanation *e, enum stage stage)
{
    const struct problem *problem = e->problem;
    const struct cell *cell = &problem->chosen.cell;
    const bool side_by_side =
        cell->stage == STAGE_OUTPUT && !problem->plan.has_out; /* its columns are those of the heads */
    const bool of_context = stage == STAGE_CONTEXT && side_by_side;
    const bool of_value = stage == STAGE_VALUE && (side_by_side || cell->stage == STAGE_CONTEXT);
    size_t column = cell->column;
    if (problem->chosen.has_cell && projection_of(stage) != PROJECTION_COUNT && stage != cell->stage &&
        projection_of(stage) == projection_of(cell->stage))
        return columns_of_way(problem, stage);
    if (of_context || of_value)
        column %= problem->size.d_value;
    return range_of(problem->chosen.has_cell && (stage == cell->stage || of_context || of_value), column,
                    problem_columns(problem, stage));
}

/* --- numbers and labels ------------------------------------------------------------------------------------------- */

const char *explain_number(struct explanation *e, int kind, double value)
{
    const bool exponent = e->exponent[kind] || fabs(value) >= WIDEST_FIXED;
    const int precision = e->whole[kind] && !exponent ? 0 : e->precision;
    return text_number(e->number, sizeof e->number, precision, exponent && value != 0, value);
}

void explain_row_line(struct explanation *e, size_t group, struct explain_place place, struct explain_row row)
{
    char label[WORKED_LINE_LABEL_BYTES], shown[WORKED_LINE_LABEL_BYTES];
    size_t position;
    struct text text = text_begin(label, sizeof label);
    const char *token = problem_label(e->problem, row.of_keys, place.item, place.row, &position);
    if (row.item)
        text_add(&text, "item %zu, ", place.item + 1);
    if (row.head)
        text_add(&text, "head %zu, ", place.head + 1);
    size_t width = text.length;
    if (token != NULL) {
        width += text_shown(token, EXPLAIN_LABEL_COLUMNS, shown, sizeof shown);
        text_add(&text, "%s", shown);
    } else {
        text_add(&text, "%s %zu", row.of_keys ? "key" : "query", position);
        width = text.length;
    }
    worked_line_line(&e->lines, group, label, width);
}

/* Writes "  item 1, head 2, ". */
static void write_item_and_head(const struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct problem *problem = e->problem;
    output_print(e->lines.output, "  ");
    if (problem->size.has_batch)
        output_print(e->lines.output, "item %zu, ", place.item + 1);
    if (problem->size.has_heads && !problem_is_side_by_side(problem, stage))
        output_print(e->lines.output, "head %zu, ", place.head + 1);
}

/* Longer words go below the place, so that all headings of a stage look alike. */
enum { HEADING_WORDS = 48 };

void explain_heading(struct explanation *e, enum stage stage, struct explain_place place, const char *what)
{
    const struct problem *problem = e->problem;
    const bool of_keys = explain_by_token(problem, stage);
    char shown[WORKED_LINE_LABEL_BYTES];
    size_t position;
    if (e->lines.measuring)
        return;
    if (is_whole(stage)) {
        output_print(e->lines.output, "  %s\n", what);
        return;
    }
    if (is_of_heads(stage)) {
        output_print(e->lines.output, "  head %zu%s%s\n", place.head + 1, what[0] != '\0' ? ": " : "", what);
        return;
    }
    const char *token = problem_label(problem, of_keys, place.item, place.row, &position);
    if (token != NULL)
        text_shown(token, EXPLAIN_LABEL_COLUMNS, shown, sizeof shown);
    else
        snprintf(shown, sizeof shown, "%zu", position);
    write_item_and_head(e, stage, place);
    output_print(e->lines.output, "%s %s", of_keys ? "token" : "query", shown);
    if (what[0] != '\0')
        output_print(e->lines.output, text_columns(what) > HEADING_WORDS ? "\n    (%s)" : ": %s", what);
    output_print(e->lines.output, "\n");
}

void explain_left_out(struct explanation *e, enum stage stage, struct explain_place place)
{
    const struct explain_range range = range_of_rows(e, stage);
    const size_t masked = stage_is_of_keys(stage) ? range.end - range.first - e->row_count : 0;
    if (masked == 0 || e->lines.measuring)
        return;
    write_item_and_head(e, stage, place);
    output_print(e->lines.output, "%zu%s token%s: masked, not used\n", masked, e->row_count > 0 ? " more" : "",
                 masked == 1 ? "" : "s");
}

void explain_note(struct explanation *e, const char *format, ...)
{
    char text[WORKED_LINE_LABEL_BYTES];
    TEXT_FORMAT(text, format);
    if (!e->lines.measuring)
        output_print(e->lines.output, "    %s\n", text);
}

void explain_note_masked(struct explanation *e, const char *what)
{
    const size_t masked = e->problem->size.keys - e->listed_count;
    if (masked > 0)
        explain_note(e, "(%zu key%s masked: %s)", masked, masked == 1 ? " is" : "s are", what);
}

/* --- a weight ----------------------------------------------------------------------------------------------------- */

void explain_load_weight(const struct projection *projection, size_t column, double *numbers)
{
    const struct tensor *weight = &projection->weight;
    const size_t rows = weight->shape[0], columns = weight->shape[1];
    if (projection->transposed) {
        tensor_load(weight, column * columns, columns, numbers);
        return;
    }
    for (size_t row = 0; row < rows; row++)
        tensor_load(weight, row * columns + column, 1, numbers + row);
}

double explain_load_bias(const struct projection *projection, size_t column)
{
    double bias = 0;
    if (projection->bias.rank > 0)
        tensor_load(&projection->bias, column, 1, &bias);
    return bias;
}

/* --- how it begins ------------------------------------------------------------------------------------------------ */

/* Raises a magnitude to that of a tensor, which may have rank 0. */
static void measure_tensor(const struct tensor *tensor, double *magnitude)
{
    double value;
    for (size_t i = 0; tensor->rank > 0 && i < tensor_count(tensor); i++) {
        tensor_load(tensor, i, 1, &value);
        *magnitude = fmax(*magnitude, fabs(value));
    }
}

static void measure(const struct projection *projection, double *magnitude)
{
    measure_tensor(&projection->weight, magnitude);
    measure_tensor(&projection->bias, magnitude);
}

/* Chooses fixed decimals or exponents for each kind; of a latent only the shown numbers count. */
static void choose_notation(struct explanation *e)
{
    const struct parameters *parameters = &e->problem->parameters;
    double magnitudes[PROJECTION_COUNT + 1] = {0};
    for (size_t i = 0; i < parameters->module_count * PROJECTION_COUNT; i++)
        measure(&parameters->modules[i / PROJECTION_COUNT].projections[i % PROJECTION_COUNT],
                &magnitudes[i % PROJECTION_COUNT]);
    measure(&parameters->latent.query_b, &magnitudes[PROJECTION_QUERY]);
    for (int id = PROJECTION_KEY; id <= PROJECTION_VALUE; id++) {
        measure(&parameters->latent.key_value_a, &magnitudes[id]);
        measure(&parameters->latent.key_value_b, &magnitudes[id]);
    }
    measure(&parameters->out, &magnitudes[PROJECTION_COUNT]);
    for (int id = 0; id <= PROJECTION_COUNT; id++)
        e->exponent[EXPLAIN_WEIGHTS + id] = text_wants_exponent(magnitudes[id]);
}

enum status explain_create(struct explanation *e, const struct problem *problem, struct explain_source source,
                           size_t widest, int precision, bool full, struct output *output, struct arena *arena,
                           struct error *error)
{
    const struct latent *latent = &problem->parameters.latent;
    const struct tensor *const firsts[] = {&latent->query_a.weight, &latent->key_value_a.weight};
    /* The terms of the longest sum over queries: of all heads that share a key, of all items with a sink, of both with
     * attn_mask. */
    const size_t items = problem->size.items, heads = problem->size.heads, group = heads / problem->size.kv_heads;
    const size_t matrices = problem->mask.attn_mask.rank > 0 ? items * heads : memory_larger(group, items);
    const size_t terms =
        problem->loss.is_given ? matrices * memory_larger(problem->size.queries, problem->size.keys) : 0;
    widest = memory_larger(memory_larger(widest, terms), problem->size.heads * problem->size.d_value);
    widest = memory_larger(memory_larger(widest, problem->size.d_in), problem->size.heads * problem->size.d_head);
    widest = memory_larger(widest, problem->size.d_key_in);
    for (size_t i = 0; i < 2; i++) /* first steps of latents */
        widest = memory_larger(widest, firsts[i]->rank > 0 ? firsts[i]->shape[0] : 0);
    *e = (struct explanation){.problem = problem, .source = source, .precision = precision, .full = full};
    double **const rows[] = {
        &e->operand,           &e->factor,           &e->made, &e->loaded[0].numbers, &e->loaded[1].numbers,
        &e->loaded[2].numbers, &e->loaded[3].numbers};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = arena_allocate(arena, widest, sizeof(double), error);
        if (*rows[i] == NULL)
            return error->status;
    }
    e->listed = arena_allocate(arena, memory_larger(problem->size.keys, terms), sizeof *e->listed, error);
    e->rows =
        arena_allocate(arena, memory_larger(problem->size.keys, problem->chosen.row_count), sizeof *e->rows, error);
    e->has_part = arena_allocate(arena, problem->size.keys, sizeof *e->has_part, error);
    e->normed = arena_allocate(arena, problem->size.keys, sizeof *e->normed, error);
    if (e->listed == NULL || e->rows == NULL || e->has_part == NULL || e->normed == NULL ||
        worked_line_create(&e->lines, output, full ? widest + 1 : EXPLAIN_MOST + 2, arena, error) != STATUS_OK)
        return error->status;
    choose_notation(e);
    return STATUS_OK;
}
