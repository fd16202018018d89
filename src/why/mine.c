/* SPDX-License-Identifier: MIT */
#include "why/mine.h"

#include "base/decimal.h"
#include "mistake/plain.h"
#include "model/stages.h"
#include "read/file_part.h"
#include "read/foreign_name.h"
#include "stage/stage.h"
#include "tensor/compare.h"
#include "why/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the file ---------------------------------------------------------------------------------------------------- */

#define SAME_SHARE 1e-6 /* within which numbers of two formats are the same */

/* The name of the first table if all are the job's own inputs, whose comparison proves nothing. A gradient may have the
 * name of its input. */
static const char *find_input(const struct input_file *file, const struct options *options)
{
    const bool given = !MECHANISMS[options->mechanism].projects;
    const unsigned inputs = INPUT_FILE_SOURCE | (given ? INPUT_FILE_OPERAND : 0);
    size_t i = 0;
    while (i < file->tensor_count && input_file_kind(file->tensors[i].name) & inputs)
        i++;
    const bool checked = !file->nameless && !file->is_result && options->grad == NULL;
    return checked && i == file->tensor_count && (i == 1 || given) ? file->tensors[0].name : NULL;
}

static enum status refuse_input(const struct mine *mine, const char *input, struct error *error)
{
    return error_usage(error,
                       "%s: %.80s is an input, not a result; expected a table that your code computed, such as "
                       "weights or context",
                       mine->file.source, input);
}

static bool are_same(const struct tensor *mine, const struct tensor *input)
{
    double number, theirs;
    size_t i = 0, count = tensor_count(input);
    if (tensor_count(mine) != count)
        return false;
    do {
        tensor_load(mine, i, 1, &number);
        tensor_load(input, i, 1, &theirs);
    } while (fabs(number - theirs) <= SAME_SHARE * fabs(theirs) && ++i < count);
    return i == count;
}

enum status mine_refuse_input(const struct mine *mine, const struct input_file *inputs, struct error *error)
{
    for (size_t i = 0; inputs != NULL && i < inputs->tensor_count && mine->file.tensor_count == 1; i++) {
        const struct file_tensor *input = &inputs->tensors[i];
        if (input_file_kind(input->name) & INPUT_FILE_SOURCE && are_same(&mine->file.tensors[0].tensor, &input->tensor))
            return refuse_input(mine, mine->file.nameless ? "the table" : mine->file.tensors[0].name, error);
    }
    return STATUS_OK;
}

enum status mine_read(struct mine *mine, const struct options *options, struct arena *arena, struct error *error)
{
    *mine = (struct mine){.decimals = -1};
    if (file_part_load(options->mine, "--mine", options, INPUT_FILE_OF_DIFF, arena, &mine->file, error) != STATUS_OK)
        return error->status;
    if (mine->file.tensor_count == 0)
        return error_usage(error, "%s: holds no table; expected a result, or one table", mine->file.source);
    const char *input = find_input(&mine->file, options);
    return input != NULL ? refuse_input(mine, input, error) : STATUS_OK;
}

/* --- how far a number may be off --------------------------------------------------------------------------------- */

enum { MOST_DECIMALS = 6, LEAST_NUMBERS = 4, MANY_DECIMALS = 8, MOST_NAMES = 8 };

static bool has_decimals(double number, int decimals)
{
    const double shifted = number * pow(10, decimals);
    return !isfinite(number) || fabs(shifted - round(shifted)) <= 1e-9 * fmax(1, fabs(shifted));
}

/* JSON keeps no last digit; numbers that all have few decimals were rounded to these. */
static int decimals_of(const double *numbers, size_t count)
{
    for (int decimals = 0; decimals <= MOST_DECIMALS && count >= LEAST_NUMBERS; decimals++) {
        size_t i = 0;
        while (i < count && has_decimals(numbers[i], decimals))
            i++;
        if (i == count)
            return decimals;
    }
    return -1;
}

static bool are_all_of(enum dtype dtype, const double *numbers, size_t count)
{
    bool plain = true;
    for (size_t i = 0; i < count; i++) {
        double number = numbers[i], rounded = numbers[i];
        dtype_round(DTYPE_F32, &number, 1); /* written with nine digits */
        dtype_round(dtype, &rounded, 1);
        if (rounded != number && !isnan(number))
            return false;
        plain = plain && (number == floor(number) || isnan(number));
    }
    return !plain; /* integers prove nothing */
}

/* Whether it has more digits than prints for people: few digits would fit a coarse dtype by chance. */
static bool has_many_digits(const struct file_tensor *named, const double *numbers, size_t count)
{
    enum { MANY = 5 };
    const int decimals = decimals_of(numbers, count);
    int finest = 0;
    for (size_t i = 0; named->last_digit != NULL && i < count; i++)
        if (named->last_digit[i] != INT16_MIN && named->last_digit[i] < finest)
            finest = named->last_digit[i];
    return count >= LEAST_NUMBERS && (named->last_digit != NULL ? finest <= -MANY : decimals < 0 || decimals >= MANY);
}

/* Whether all are shortest decimals of the dtype, as attn writes them, and enough of them have more digits than chance
 * allows in so few bits. */
static bool are_shortest(enum dtype dtype, const double *numbers, size_t count)
{
    enum { ENOUGH = 12 };
    const int few = dtype_precision(dtype) * 3 / 10; /* digits that it always holds */
    size_t telling = 0;
    for (size_t i = 0; i < count; i++) {
        char text[DECIMAL_BYTES], cut[64];
        double rounded = numbers[i];
        dtype_round(dtype, &rounded, 1);
        if (!isfinite(numbers[i]) || !isfinite(rounded))
            continue;
        dtype_decimal(dtype, rounded, text);
        if (strtod(text, NULL) != numbers[i])
            return false;
        snprintf(cut, sizeof cut, "%.*e", few - 1, numbers[i]);
        telling += strtod(cut, NULL) != numbers[i];
    }
    return telling >= ENOUGH;
}

/* Whether all have the same number of decimals, as in prints for people, unlike shortest decimals. JSON does not keep
 * them: there, none has more than a few. */
static bool has_fixed_decimals(const struct file_tensor *named, const double *numbers, size_t count)
{
    enum { FEW = 2 };
    const int decimals = decimals_of(numbers, count);
    if (named->last_digit == NULL)
        return decimals >= 0 && decimals <= FEW;
    int common = INT16_MIN; /* NaN: no decimals */
    for (size_t i = 0; i < count; i++) {
        const int digit = named->last_digit[i];
        if (digit != INT16_MIN && common != INT16_MIN && digit != common)
            return false;
        common = digit != INT16_MIN ? digit : common;
    }
    return true;
}

/* The dtype that a result of attn states; DTYPE_COUNT: none. */
static enum dtype dtype_said(const struct input_file *file)
{
    const char *text = file->is_result ? input_file_setting(file, "dtype") : NULL;
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT && text != NULL; dtype++)
        if (dtype_is_working(dtype) && strcmp(dtype_name(dtype), text) == 0)
            return dtype;
    return DTYPE_COUNT;
}

/* The dtype of a table: the stated one, or one that all its numbers fit. */
static enum dtype dtype_of(const struct input_file *file, const struct file_tensor *named, enum dtype of_job,
                           const double *numbers, size_t count)
{
    static const enum dtype COARSE[] = {DTYPE_BF16, DTYPE_F16}; /* numbers fit dtypes of fewer bits by chance */
    const enum dtype says[] = {of_job, dtype_said(file), named->stated, named->tensor.dtype};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++)
        if ((i == 0 && dtype_is_coarse(of_job)) || mistake_of_dtype(says[i]) != MISTAKE_COUNT)
            return says[i];
    if (are_all_of(DTYPE_F8E4M3, numbers, count) || are_all_of(DTYPE_F8E5M2, numbers, count))
        return of_job; /* rounded to it: bfloat16 has smaller errors */
    for (size_t i = 0; i < 2; i++)
        if ((has_many_digits(named, numbers, count) && are_all_of(COARSE[i], numbers, count)) ||
            (!has_fixed_decimals(named, numbers, count) && are_shortest(COARSE[i], numbers, count)))
            return COARSE[i];
    return of_job;
}

/* The largest error of a right computation in that dtype, relative to the largest number. */
static double share_of(enum dtype dtype)
{
    return dtype_is_coarse(dtype) ? 3 * pow(2, -dtype_precision(dtype)) : 5e-6;
}

static double half_unit(const struct file_tensor *named, size_t i, int decimals)
{
    if (named->last_digit != NULL)
        return compare_half_unit(named->last_digit, i);
    return decimals < 0 ? 0 : 0.5 * pow(10, -decimals);
}

/* Whether a number counts for the largest: not infinities, nor large negative numbers that mask scores. */
static bool counts(enum stage stage, double number)
{
    return isfinite(number) && !(STAGES[stage].infinite && number <= PLAIN_MASKED);
}

double mine_bits(const struct mine *mine)
{
    const struct file_tensor *named = &mine->file.tensors[0];
    while (named->tensor.data == NULL) /* a name not compared */
        if (++named == mine->file.tensors + mine->file.tensor_count)
            return 0;
    const size_t count = tensor_count(&named->tensor);
    double bits = 0, largest = 0, number;
    for (size_t i = 0; i < count; i++) {
        tensor_load(&named->tensor, i, 1, &number);
        largest = isfinite(number) ? fmax(largest, fabs(number)) : largest;
    }
    for (size_t i = 0; i < count && largest > 0; i++) {
        const bool whole = named->last_digit != NULL && named->last_digit[i] == INT16_MIN; /* 2, not 2.0 */
        bits += fmax(0, log2(largest / ((whole ? 0.5 : half_unit(named, i, -1)) + share_of(DTYPE_F32) * largest)));
    }
    return bits;
}

/* How far a sum may be off that adds all numbers to a float32, one by one. */
static double error_of_sum(const struct mine_table *table, const double *numbers)
{
    double sizes = 0;
    for (size_t i = 0; i < table->shown; i++)
        sizes += isfinite(numbers[i]) ? fabs(numbers[i]) / (double)table->shown : 0;
    return file_part_sum_error(mine_layout_count(table), sizes);
}

/* Sets each number's tolerance from the job's dtype and the last digit. */
static enum status set_tolerance(struct mine *mine, struct mine_table *table, enum dtype of_job, struct arena *arena,
                                 struct error *error)
{
    double *numbers = arena_allocate(arena, table->count, sizeof *numbers, error), largest = 0;
    double *tolerance = arena_allocate(arena, table->count, sizeof *tolerance, error);
    double *printed = arena_allocate(arena, table->count, sizeof *printed, error);
    if (numbers == NULL || tolerance == NULL || printed == NULL)
        return error->status;
    tensor_load(&table->named->tensor, 0, table->count, numbers);
    for (size_t i = 0; i < table->count; i++)
        largest = counts(table->stage, numbers[i]) ? fmax(largest, fabs(numbers[i])) : largest;
    const enum dtype dtype = dtype_of(&mine->file, table->named, of_job, numbers, table->shown);
    table->decimals = mine->file.is_text && table->named->last_digit == NULL && dtype == of_job
                          ? decimals_of(numbers, table->count)
                          : -1;
    /* Some units in the last place, for sums in float32; one for a dtype that is only rounded to. */
    const double own_share = noise_unit(dtype) * (dtype_is_coarse(dtype) ? 1 : 16);
    /* Integers may be exact: a zero need not mean anything below a half. */
    const int decimals = table->decimals == 0 ? -1 : table->decimals;
    for (size_t i = 0; i < table->count; i++) {
        printed[i] = half_unit(table->named, i, decimals) * (1 + 1e-9);
        if (i >= table->shown && file_part_is_of_ggml(table->given))
            printed[i] += error_of_sum(table, numbers);
        tolerance[i] = printed[i] + (isfinite(numbers[i]) ? own_share * fabs(numbers[i]) : 0);
    }
    if (dtype_precision(dtype) < dtype_precision(mine->dtype))
        mine->dtype = dtype;
    if (decimals >= 0)
        mine->decimals = decimals > mine->decimals ? decimals : mine->decimals;
    table->numbers = numbers;
    table->printed = printed;
    table->tolerance = tolerance;
    table->screen = 2 * share_of(dtype) * largest;
    return STATUS_OK;
}

/* If all tables of JSON but those of integers are rounded, integers are rounded, too: 0 means anything below half of
 * the last place. */
static void loosen_wholes(struct mine *mine)
{
    int most = 0;
    for (size_t i = 0; i < mine->count; i++) {
        if (mine->tables[i].decimals < 0 && mine->tables[i].count >= LEAST_NUMBERS)
            return;
        most = mine->tables[i].decimals > most ? mine->tables[i].decimals : most;
    }
    for (size_t i = 0; i < mine->count && most > 0; i++)
        for (size_t k = 0; k < mine->tables[i].count && mine->tables[i].decimals == 0; k++) {
            const double half = half_unit(mine->tables[i].named, k, most);
            mine->tables[i].printed[k] += half;
            mine->tables[i].tolerance[k] += half;
        }
}

/* Sets the decimals of all printed numbers, if they are equal. */
static void set_decimals(struct mine *mine)
{
    int common = INT16_MIN;
    for (size_t i = 0; i < mine->count; i++) {
        const struct mine_table *table = &mine->tables[i];
        const size_t count = table->shown > 0 ? table->shown : table->count;
        for (size_t k = 0; table->named->last_digit != NULL && k < count; k++) {
            const int digit = table->named->last_digit[k];
            if (digit != INT16_MIN && (common == INT16_MIN || digit < common))
                common = digit;
        }
    }
    if (common != INT16_MIN && common > -MANY_DECIMALS)
        mine->decimals = common < 0 ? -common : 0;
}

/* --- matching a table to a stage --------------------------------------------------------------------------------- */

static size_t product(const size_t sizes[MINE_AXES])
{
    size_t count = 1;
    for (int axis = 0; axis < MINE_AXES; axis++)
        count *= sizes[axis];
    return count;
}

/* Expands a shape of up to four axes, the last being columns. */
static void spread(const size_t *shape, size_t rank, size_t whole[MINE_AXES])
{
    for (size_t axis = 0; axis < MINE_AXES; axis++)
        whole[axis] = axis + rank < MINE_AXES ? 1 : shape[axis + rank - MINE_AXES];
}

/* The sizes of a stage's axes; 1 for a missing one. */
static void shape_of(const struct problem *problem, enum stage stage, size_t whole[MINE_AXES])
{
    if (stage_is_of_mask(stage)) {
        const struct tensor *mask = &problem->mask.attn_mask;
        const bool of_mask = STAGES[stage].columns == STAGE_COLUMNS_MASK; /* else one per head */
        spread(of_mask ? mask->shape : &problem->size.heads, of_mask ? mask->rank : 1, whole);
        return;
    }
    const bool of_keys = stage_is_of_keys(stage), joins = problem_is_side_by_side(problem, stage);
    whole[MINE_ITEM] = problem->size.items;
    whole[MINE_HEAD] = joins ? 1 : of_keys ? problem->size.kv_heads : problem->size.heads;
    whole[MINE_ROW] = of_keys ? problem->size.keys : problem->chosen.row_count;
    whole[MINE_COLUMN] = stage_has_columns(stage) ? problem_columns(problem, stage) : 1;
}

enum fit { FIT_NONE, FIT_FLAT, FIT_SOME, FIT_ROWS, FIT_WHOLE };

/* Whether it is the size of an axis that a print elides without its shape: SIZE_MAX less the numbers that it shows. */
static bool is_open(size_t size)
{
    return size > SIZE_MAX / 2;
}

static bool may_be(size_t size, size_t whole)
{
    return is_open(size) ? whole > SIZE_MAX - size : whole == size;
}

/* Maps the stage's axes in `kept`, in that order, to the table's axes longer than 1. */
static enum fit try_layout(const struct tensor *tensor, const size_t whole[MINE_AXES], unsigned kept,
                           const int order[MINE_AXES], struct mine_layout *layout)
{
    size_t axis = 0, stride = 1;
    enum fit fit = FIT_WHOLE;
    if (tensor->rank > 1 && tensor->shape[tensor->rank - 1] == 1 && whole[MINE_COLUMN] > 1)
        return FIT_NONE; /* a single column is no row */
    for (int i = 0; i < MINE_AXES; i++) {
        const int of_stage = order[i];
        layout->axis[of_stage] = -1;
        layout->size[of_stage] = 1;
        layout->whole[of_stage] = whole[of_stage];
        layout->stride[of_stage] = 0;
        if ((kept & 1U << of_stage) == 0) {
            if (whole[of_stage] > 1 && of_stage == MINE_COLUMN)
                return FIT_NONE;
            if (whole[of_stage] > 1)
                fit = of_stage == MINE_ROW && fit != FIT_SOME ? FIT_ROWS : FIT_SOME;
            continue;
        }
        while (axis < tensor->rank && tensor->shape[axis] == 1)
            axis++;
        if (axis == tensor->rank || whole[of_stage] == 1)
            return FIT_NONE;
        const size_t size = is_open(tensor->shape[axis]) ? whole[of_stage] : tensor->shape[axis];
        if (size > whole[of_stage] || (size < whole[of_stage] && of_stage != MINE_ROW) ||
            !may_be(tensor->shape[axis], size))
            return FIT_NONE;
        if (size < whole[of_stage])
            fit = fit == FIT_SOME ? FIT_SOME : FIT_ROWS;
        layout->axis[of_stage] = (int)axis;
        layout->size[of_stage] = size;
        axis++;
    }
    while (axis < tensor->rank && tensor->shape[axis] == 1)
        axis++;
    for (int i = MINE_AXES; i-- > 0;)
        if (layout->axis[order[i]] >= 0) {
            layout->stride[order[i]] = stride;
            stride *= layout->size[order[i]];
        }
    return axis == tensor->rank ? fit : FIT_NONE;
}

/* Tries all layouts of one order. */
static enum fit try_order(const struct tensor *tensor, const size_t whole[MINE_AXES], const int order[MINE_AXES],
                          struct mine_layout *best)
{
    enum fit found = FIT_NONE;
    for (unsigned kept = 1U << MINE_AXES; kept-- > 0;) {
        struct mine_layout layout = {.rows = NULL};
        const enum fit fit = try_layout(tensor, whole, kept, order, &layout);
        if (fit > found) {
            found = fit;
            *best = layout;
        }
    }
    return found;
}

/* Joins an axis of packed heads after that of the tokens: the same numbers in the same order. */
static bool join_heads(const struct problem *problem, struct tensor *tensor)
{
    const size_t rank = tensor->rank;
    if (!problem->size.heads_packed || rank < 3 || tensor->shape[rank - 2] != problem->size.heads ||
        tensor->shape[rank - 1] != problem->size.d_value || (rank == 3 && problem->size.has_batch))
        return false;
    tensor->rank--;
    tensor->shape[rank - 2] *= problem->size.d_value;
    return true;
}

/* The axes of stages, with the heads before the rows and behind them. */
static const int ORDERS[][MINE_AXES] = {{MINE_ITEM, MINE_HEAD, MINE_ROW, MINE_COLUMN},
                                        {MINE_ITEM, MINE_ROW, MINE_HEAD, MINE_COLUMN}};

/* The best layout of a table in a stage, with the heads of that way. */
static enum fit try_way(const struct tensor *tensor, const struct problem *problem, enum stage stage, enum mine_way way,
                        struct mine_layout *best)
{
    size_t whole[MINE_AXES];
    struct tensor joined = *tensor;
    shape_of(problem, stage, whole);
    if (stage_packed(stage) != stage && join_heads(problem, &joined))
        tensor = &joined;
    if (way != MINE_SIDE_BY_SIDE)
        return try_order(tensor, whole, ORDERS[way == MINE_HEADS_BEHIND], best);
    const size_t last = tensor->rank - 1;
    if (whole[MINE_HEAD] == 1 || tensor->rank == TENSOR_RANK || stage_is_of_mask(stage) ||
        !may_be(tensor->shape[last], whole[MINE_HEAD] * whole[MINE_COLUMN]) || stage_is_square(stage))
        return FIT_NONE;
    struct tensor parted = *tensor;
    parted.shape[parted.rank++] = whole[MINE_COLUMN];
    parted.shape[last] = whole[MINE_HEAD];
    return try_order(&parted, whole, ORDERS[1], best) == FIT_NONE ? FIT_NONE
                                                                  : FIT_SOME; /* output has that shape, too */
}

/* The best of all ways. */
static enum fit find_layout(const struct tensor *tensor, const struct problem *problem, enum stage stage,
                            struct mine_layout *best)
{
    enum fit found = FIT_NONE;
    for (enum mine_way way = 0; way < MINE_WAYS; way++) {
        struct mine_layout layout;
        const enum fit fit = try_way(tensor, problem, stage, way, &layout);
        if (fit > found) {
            found = fit;
            *best = layout;
        }
    }
    return found;
}

/* The shape of all of a tensor of which a part may be shown; ggml pads its keys. */
static struct tensor shape_of_all(const struct file_tensor *named, const struct problem *problem, enum stage stage)
{
    const struct file_part *part = named->part;
    struct tensor all = named->tensor;
    if (part == NULL)
        return all;
    if (part->rank > 0) {
        all.rank = part->rank;
        memcpy(all.shape, part->whole, sizeof all.shape);
        if (part->of_ggml && stage_is_square(stage))
            all.shape[all.rank - 1] = memory_smaller(all.shape[all.rank - 1], problem_columns(problem, stage));
        return all;
    }
    for (size_t axis = 0; axis < all.rank && axis < TENSOR_RANK; axis++)
        all.shape[axis] = part->lead[axis] > 0 ? SIZE_MAX - all.shape[axis] : all.shape[axis];
    return all;
}

/* Whether it may be a flattened tensor of `count` numbers, or its first ones, or is only totals. */
static bool is_flat(const struct file_tensor *named, size_t count)
{
    const struct file_part *part = named->part;
    return named->tensor.rank == 1 && named->last_digit != NULL && named->tensor.shape[0] < count &&
           (part == NULL || part->rank == 0 || (part->rank == 1 && part->whole[0] == count));
}

/* The layout of a part, or of a complete table, with the heads of that way, or MINE_WAYS: any. */
static enum fit find_part(const struct file_tensor *named, const struct problem *problem, enum stage stage,
                          enum mine_way way, struct mine_layout *layout)
{
    enum { ELIDED = 1000 }; /* prints elide more than these */
    const struct tensor all = shape_of_all(named, problem, stage);
    const int *order = ORDERS[way == MINE_HEADS_BEHIND];
    struct tensor flat = {.rank = 0};
    size_t whole[MINE_AXES];
    shape_of(problem, stage, whole);
    const bool no_row = all.shape[0] == 0 || (all.rank == 1 && is_open(all.shape[0]) && whole[MINE_COLUMN] <= ELIDED);
    const enum fit fit = no_row             ? FIT_NONE
                         : way == MINE_WAYS ? find_layout(&all, problem, stage, layout)
                                            : try_way(&all, problem, stage, way, layout);
    if (fit != FIT_NONE || way == MINE_SIDE_BY_SIDE || !is_flat(named, product(whole)))
        return fit;
    for (int i = 0; i < MINE_AXES; i++)
        if (whole[order[i]] > 1)
            flat.shape[flat.rank++] = whole[order[i]];
    return try_order(&flat, whole, order, layout) != FIT_NONE ? FIT_FLAT : FIT_NONE;
}

/* Finds rows by number, as in CSV. STATUS_USAGE: the stage lacks one. */
static enum status find_numbered(const struct mine *mine, const struct problem *problem, const struct mine_table *table,
                                 struct mine_layout *layout, struct arena *arena, struct error *error)
{
    const bool of_keys = stage_is_of_keys(table->stage);
    const size_t count = layout->size[MINE_ROW], whole = layout->whole[MINE_ROW];
    if (count == whole || count != table->named->row_count)
        return STATUS_OK;
    size_t *rows = arena_allocate(arena, count, sizeof *rows, error);
    if (rows == NULL)
        return error->status;
    for (size_t i = 0, row = 0; i < count; i++) { /* both ascend */
        while (row < whole && (of_keys ? row : problem->chosen.rows[row]) + 1 != table->named->rows[i])
            row++;
        if (row == whole)
            return error_usage(error, "%s: %s: row %zu is not one of the %zu computed rows; expected only these",
                               mine->file.source, table->named->name, table->named->rows[i], whole);
        rows[i] = row;
    }
    layout->rows = rows;
    return STATUS_OK;
}

/* Finds rows by label, if the table has labels and each occurs exactly once. */
static enum status find_rows(const struct mine *mine, const struct problem *problem, struct mine_layout *layout,
                             struct arena *arena, struct error *error)
{
    const struct token_labels *labels = &mine->file.tokens;
    const char **queries = problem_query_labels(problem, 0);
    const size_t count = layout->size[MINE_ROW];
    if (labels->texts == NULL || queries == NULL || labels->lists != 1 || labels->count != count ||
        count == layout->whole[MINE_ROW])
        return STATUS_OK;
    size_t *rows = arena_allocate(arena, count, sizeof *rows, error);
    if (rows == NULL)
        return error->status;
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (size_t row = 0; row < problem->chosen.row_count; row++)
            if (strcmp(queries[problem->chosen.rows[row]], labels->texts[i]) == 0) {
                rows[i] = row;
                found++;
            }
        if (found != 1)
            return STATUS_OK;
    }
    layout->rows = rows;
    return STATUS_OK;
}

/* Fits a gradient with respect to a parameter, in the parameter's shape. */
static enum fit find_parameter(const struct file_tensor *named, const struct problem *problem,
                               const struct gradient *gradient, struct mine_layout *best)
{
    const struct tensor all = shape_of_all(named, problem, STAGE_GRAD_PARAMETERS);
    size_t whole[MINE_AXES];
    spread(gradient->shape, gradient->rank, whole);
    const enum fit fit = try_order(&all, whole, ORDERS[0], best);
    return fit == FIT_WHOLE ? fit : FIT_NONE;
}

/* Whether the job shows the stage; any gradient unless --stages names some. */
static bool is_shown(const struct problem *problem, enum stage stage)
{
    const bool could = STAGES[stage].backward && !problem->chosen.stages_asked && stage_applies(problem, stage);
    return stage_exists(stage) && !STAGES[stage].repeats && (could || problem_shows_stage(problem, stage)) &&
           STAGES[stage].columns != STAGE_COLUMNS_PARAMETERS;
}

static enum stage guess_stage(const struct problem *problem, const struct file_tensor *named,
                              struct mine_layout *layout)
{
    enum stage stage = STAGE_NAMES;
    enum fit best = FIT_NONE;
    for (enum stage i = 0; i < STAGE_COUNT; i++) {
        struct mine_layout found;
        const enum fit fit =
            is_shown(problem, i) && !STAGES[i].on_demand ? find_part(named, problem, i, MINE_WAYS, &found) : FIT_NONE;
        if (fit != FIT_NONE && fit >= best) {
            best = fit;
            stage = i;
            *layout = found;
        }
    }
    return stage;
}

/* Adds "6 x 2", the shape of a stage. */
static void add_shape(const struct problem *problem, enum stage stage, struct text *text)
{
    size_t whole[MINE_AXES];
    shape_of(problem, stage, whole);
    for (int axis = 0, more = 0; axis < MINE_AXES; axis++)
        if (whole[axis] > 1 || axis >= MINE_ROW)
            text_add(text, "%s%zu", more++ ? " x " : "", whole[axis]);
}

/* Adds "context 6 x 2, weights 6 x 6", the shapes of the stages. */
static void list_shapes(const struct problem *problem, struct text *text)
{
    bool first = true;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        if (!is_shown(problem, stage) || STAGES[stage].on_demand || STAGES[stage].backward)
            continue;
        text_add(text, "%s%s ", first ? "" : ", ", stage_name(stage));
        add_shape(problem, stage, text);
        first = false;
    }
    if (problem->loss.is_given)
        text_add(text, "%sthe gradient with respect to a stage or a parameter", first ? "" : ", ");
}

static enum status refuse(const struct mine *mine, const struct problem *problem, const struct file_tensor *named,
                          enum stage stage, struct error *error)
{
    char shape[TENSOR_SHAPE_BYTES], shapes[512];
    struct text text = text_begin(shapes, sizeof shapes);
    const char *name = mine->file.nameless ? "the table" : named->name;
    const bool stated = named->part != NULL && named->part->rank > 0;
    const struct tensor all = stated ? shape_of_all(named, problem, STAGE_NAMES) : named->tensor;
    tensor_shape_text(&all, shape);
    if (stage != STAGE_NAMES) {
        add_shape(problem, stage, &text);
        return error_usage(error, "%s: %s is %s, which fits no part of %s; expected %s, or rows of it",
                           mine->file.source, name, shape, stage_name(stage), shapes);
    }
    list_shapes(problem, &text);
    return error_usage(error, "%s: %s is %s, which fits no part of any stage; expected %s%s", mine->file.source, name,
                       shape, strchr(shapes, ',') != NULL ? "one of " : "", shapes);
}

/* --- a part of a table ------------------------------------------------------------------------------------------- */

size_t mine_layout_count(const struct mine_table *table)
{
    return product(table->layout.size);
}

/* The place among all numbers of the layout of number i of those given, or SIZE_MAX for padding. */
static size_t place_of_given(const struct mine_table *table, const struct tensor *all, size_t i)
{
    const struct tensor *given = &table->given->tensor;
    const struct mine_layout *layout = &table->layout;
    const struct file_part *part = table->given->part;
    size_t place = 0, stride = 1;
    for (size_t axis = given->rank; axis-- > 0 && part != NULL; i /= given->shape[axis]) {
        const bool open = is_open(all->shape[axis]), flat = open && given->rank == 1;
        size_t at = i % given->shape[axis], size = flat ? mine_layout_count(table) : open ? 1 : all->shape[axis];
        for (int k = 0; k < MINE_AXES && open && !flat; k++) /* two are heads side by side */
            if (layout->axis[k] == (int)axis || (axis + 1 == given->rank && layout->axis[k] == (int)given->rank))
                size *= layout->size[k];
        if (part->lead[axis] > 0 && at >= part->lead[axis])
            at += (part->rank > 0 ? part->whole[axis] : size) - given->shape[axis];
        if (at >= size && part->rank > 0)
            return SIZE_MAX;
        place += at * stride;
        stride *= size;
    }
    return place + i * stride;
}

/* The numbers shown of a part, and its totals, become the table to compare. */
static enum status take_part(const struct mine *mine, struct mine_table *table, const struct problem *problem,
                             struct arena *arena, struct error *error)
{
    const struct file_tensor *given = table->given;
    const struct tensor all = shape_of_all(given, problem, table->stage);
    const enum projection_id id = projection_of(table->stage);
    /* ggml has the columns in pairs, 0, d/2, 1, d/2 + 1, ..., as its checkpoints of Llama have. */
    const bool paired =
        mine->in_pairs && (id == PROJECTION_QUERY || id == PROJECTION_KEY) && file_part_is_of_ggml(given);
    const size_t count = tensor_count(&given->tensor), room = count + FILE_TOTALS,
                 columns = table->layout.size[MINE_COLUMN];
    table->named = given;
    table->count = table->shown = count;
    table->rows = count / columns;
    const bool cuts = table->layout.head > 0 && table->layout.axis[MINE_HEAD] >= 0;
    if (given->part == NULL && count == mine_layout_count(table) && !cuts)
        return STATUS_OK;
    struct file_tensor *named = arena_allocate(arena, 1, sizeof *named, error);
    size_t *places = arena_allocate(arena, room, sizeof *places, error);
    double *numbers = arena_allocate(arena, room, sizeof *numbers, error);
    int16_t *digits = arena_allocate(arena, room, sizeof *digits, error);
    if (named == NULL || places == NULL || numbers == NULL || digits == NULL)
        return error->status;
    table->count = table->rows = 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = place_of_given(table, &all, i);
        const size_t at = table->count, column = place % columns;
        if (place == SIZE_MAX ||
            (cuts && mine_place_at(table, (struct mine_index){{0}}, place).at[MINE_HEAD] != table->layout.head - 1))
            continue;
        place += paired ? column % 2 * (columns / 2) + column / 2 - column : 0;
        table->rows += at == 0 || place / columns != places[at - 1] / columns;
        tensor_load(&given->tensor, i, 1, &numbers[at]);
        digits[at] = (int16_t)(given->last_digit != NULL ? given->last_digit[i] : 0);
        places[table->count++] = place;
    }
    table->shown = table->count;
    table->places = paired || table->shown < mine_layout_count(table) ? places : NULL;
    for (size_t i = 0; i < FILE_TOTALS && table->places != NULL && given->part != NULL; i++)
        if (given->part->has[i]) {
            numbers[table->count] = given->part->totals[i];
            digits[table->count] = given->part->last_digit[i];
            places[table->count++] = i;
        }
    *named = *given;
    named->tensor = (struct tensor){.rank = 1, .shape = {table->count}, .dtype = DTYPE_F64, .data = numbers};
    named->last_digit = given->last_digit != NULL ? digits : NULL;
    table->named = named;
    return table->count > 0 ? STATUS_OK
                            : error_usage(error, "%s: shows no number of %s; expected some, or their sum",
                                          mine->file.source, mine_name(table));
}

const char *mine_total_name(const struct mine_table *table, size_t i)
{
    return file_total_name((enum file_total)table->places[i]);
}

double mine_total(const struct mine_table *table, size_t i, struct file_sum sum)
{
    return file_part_total((enum file_total)table->places[i], sum, table->numbers[i]);
}

/* --- all tables -------------------------------------------------------------------------------------------------- */

bool mine_is_backward(const struct mine_table *table)
{
    return STAGES[table->stage].backward;
}

bool mine_has_backward(const struct mine *mine)
{
    for (size_t i = 0; i < mine->count; i++)
        if (mine_is_backward(&mine->tables[i]))
            return true;
    return false;
}

bool mine_is_dump(const struct mine *mine)
{
    return file_part_is_of_ggml(&mine->file.tensors[0]);
}

bool mine_has_part(const struct mine *mine)
{
    for (size_t i = 0; i < mine->count; i++)
        if (mine->tables[i].places != NULL)
            return true;
    return false;
}

bool mine_may_be_tf32(const struct mine *mine)
{
    static const double NORMAL = 0x1p-14;
    for (size_t i = 0; i < mine->count; i++) {
        const struct mine_table *table = &mine->tables[i];
        if (table->given->tensor.dtype == DTYPE_F16 || table->given->stated == DTYPE_F16)
            return false;
        for (size_t k = 0; k < table->shown; k++)
            if (table->numbers[k] != 0 && fabs(table->numbers[k]) < NORMAL)
                return false;
    }
    return mine->dtype == DTYPE_F16;
}

const struct mine_table *mine_table_of(const struct mine *mine, enum stage stage)
{
    for (size_t i = 0; i < mine->count; i++)
        if (mine->tables[i].stage == stage)
            return &mine->tables[i];
    return NULL;
}

const char *mine_name(const struct mine_table *table)
{
    return table->parameter != NULL ? table->parameter : stage_name(table->stage);
}

size_t mine_whole(const struct mine_table *table)
{
    return product(table->layout.whole);
}

/* The stage that a table states; STAGE_NAMES: none. */
static enum stage stage_said(const struct mine *mine, const struct file_tensor *named, const struct options *options)
{
    static const char BEGIN[] = "grad_";
    const char *name = mine->file.nameless ? "" : named->name;
    const enum stage stage = stage_find(name, strlen(name));
    if (stage_exists(stage))
        return stage;
    if (strncmp(name, BEGIN, sizeof BEGIN - 1) == 0 &&
        input_file_kind(name + sizeof BEGIN - 1) & INPUT_FILE_PARAMETER) /* place_parameter checks that it exists */
        return STAGE_GRAD_PARAMETERS;
    return options->stage_count == 1 && mine->file.tensor_count == 1 && options->stages[0] != STAGE_GRAD_PARAMETERS
               ? options->stages[0]
               : STAGE_NAMES;
}

/* Adds a table whose stage and layout are known. */
static enum status add_table(struct mine *mine, const struct problem *problem, struct mine_table table,
                             struct arena *arena, struct error *error)
{
    if (mine->count == MINE_TABLES)
        return error_usage(error, "%s: more than %d tables; expected fewer", mine->file.source, (int)MINE_TABLES);
    if (problem->chosen.head > 0 && table.layout.whole[MINE_HEAD] > 1)
        table.layout.head = (problem->chosen.head - 1) / (problem->size.heads / table.layout.whole[MINE_HEAD]) + 1;
    if (take_part(mine, &table, problem, arena, error) != STATUS_OK)
        return error->status;
    if ((table.named->rows != NULL ? find_numbered(mine, problem, &table, &table.layout, arena, error)
                                   : find_rows(mine, problem, &table.layout, arena, error)) ||
        set_tolerance(mine, &table, problem->rounding.dtype, arena, error))
        return error->status;
    mine->tables[mine->count++] = table;
    return STATUS_OK;
}

/* Finds the first parameter whose gradient the table may be; the stage stays STAGE_NAMES if none. */
static enum status guess_parameter(const struct problem *problem, struct mine_table *table, struct arena *arena,
                                   struct error *error)
{
    const struct gradient *gradients = NULL;
    size_t count = 0;
    if (!problem_shows_stage(problem, STAGE_GRAD_PARAMETERS))
        return STATUS_OK;
    if (gradients_list(problem, &gradients, &count, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < count && table->stage == STAGE_NAMES; i++)
        if (find_parameter(table->given, problem, &gradients[i], &table->layout) != FIT_NONE) {
            table->stage = STAGE_GRAD_PARAMETERS;
            table->parameter = gradients[i].name;
        }
    return STATUS_OK;
}

/* The gradient with respect to a layer's weight, by the layer's name, "grad_W_query"; or NULL. */
static const char *with_weight(const struct gradient *gradients, size_t count, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(gradients[i].name, name, length) == 0 && strcmp(gradients[i].name + length, ".weight") == 0)
            return gradients[i].name;
    return NULL;
}

/* Matches a table to the gradient with respect to the parameter of that name. */
static enum status place_parameter(struct mine *mine, const struct problem *problem, const struct file_tensor *named,
                                   struct arena *arena, struct error *error)
{
    struct mine_table table = {.given = named, .stage = STAGE_GRAD_PARAMETERS, .told = true};
    char got[TENSOR_SHAPE_BYTES], wanted[TENSOR_SHAPE_BYTES];
    const char *name = named->name;
    const struct gradient *gradients;
    size_t count = 0, i = 0;
    if (gradients_list(problem, &gradients, &count, arena, error) != STATUS_OK)
        return error->status;
    while (i < count && strcmp(gradients[i].name, name) != 0)
        i++;
    if (i == count) {
        const char *meant = with_weight(gradients, count, name);
        return meant == NULL ? error_usage(error, "%s: %.80s: there is no such parameter here", mine->file.source, name)
                             : error_usage(error, "%s: %.80s: there is no such parameter here; did you mean '%s'?",
                                           mine->file.source, name, meant);
    }
    table.parameter = gradients[i].name;
    if (find_parameter(named, problem, &gradients[i], &table.layout) == FIT_NONE) {
        struct tensor shaped = {.rank = gradients[i].rank};
        memcpy(shaped.shape, gradients[i].shape, sizeof gradients[i].shape);
        return error_usage(error, "%s: %.80s is %s; expected %s", mine->file.source, named->name,
                           tensor_shape_text(&named->tensor, got), tensor_shape_text(&shaped, wanted));
    }
    return add_table(mine, problem, table, arena, error);
}

static enum status place_table(struct mine *mine, const struct problem *problem, const struct file_tensor *named,
                               enum stage said, struct arena *arena, struct error *error)
{
    if (stage_exists(said) && STAGES[said].backward &&
        stage_check(problem, said, mine->file.source, error) != STATUS_OK)
        return error->status;
    if (said == STAGE_GRAD_PARAMETERS)
        return place_parameter(mine, problem, named, arena, error);
    struct mine_table table = {.given = named, .told = said != STAGE_NAMES};
    table.stage = table.told ? stage_of_numbers(said) : guess_stage(problem, named, &table.layout);
    if (table.told && find_part(named, problem, table.stage, MINE_WAYS, &table.layout) == FIT_NONE)
        return refuse(mine, problem, named, said, error);
    if (table.stage == STAGE_NAMES && guess_parameter(problem, &table, arena, error) != STATUS_OK)
        return error->status;
    if (table.stage == STAGE_NAMES)
        return refuse(mine, problem, named, STAGE_NAMES, error);
    return add_table(mine, problem, table, arena, error);
}

static bool was_asked(const struct options *options, enum stage stage)
{
    for (size_t i = 0; i < options->stage_count; i++)
        if (options->stages[i] == stage)
            return true;
    return options->stage_count == 0;
}

/* Goes stage by stage, so that the tables are in their order. */
static enum status place_named(struct mine *mine, const struct problem *problem, const struct options *options,
                               struct arena *arena, struct error *error)
{
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        for (size_t i = 0; i < mine->file.tensor_count; i++) {
            const struct file_tensor *named = &mine->file.tensors[i];
            if (named->tensor.rank > 0 && stage_said(mine, named, options) == stage && was_asked(options, stage) &&
                !STAGES[stage].repeats && place_table(mine, problem, named, stage, arena, error) != STATUS_OK)
                return error->status;
        }
    return STATUS_OK;
}

static void begin(struct mine *mine, const struct problem *problem)
{
    mine->count = 0;
    mine->decimals = -1;
    mine->dtype = problem->rounding.dtype;
}

const struct mine_candidate *mine_candidates(const struct problem *problem, size_t *count, struct arena *arena,
                                             struct error *error)
{
    const struct gradient *gradients = NULL;
    size_t parameters = 0;
    *count = 0;
    if (problem_shows_stage(problem, STAGE_GRAD_PARAMETERS) &&
        gradients_list(problem, &gradients, &parameters, arena, error) != STATUS_OK)
        return NULL;
    struct mine_candidate *candidates =
        arena_allocate(arena, (size_t)STAGE_COUNT * MINE_WAYS + parameters, sizeof *candidates, error);
    for (enum stage stage = 0; stage < STAGE_COUNT && candidates != NULL; stage++)
        for (enum mine_way way = 0; way < MINE_WAYS; way++)
            if (is_shown(problem, stage) && !STAGES[stage].on_demand)
                candidates[(*count)++] = (struct mine_candidate){stage, way, NULL};
    for (size_t i = 0; i < parameters && candidates != NULL; i++)
        candidates[(*count)++] = (struct mine_candidate){STAGE_GRAD_PARAMETERS, MINE_HEADS_BEFORE, gradients[i].name};
    return candidates;
}

/* Whether the table is the candidate. */
static bool fits(const struct file_tensor *named, const struct problem *problem, const struct mine_candidate *candidate,
                 struct mine_layout *layout, struct arena *arena, struct error *error)
{
    const struct gradient *gradients;
    size_t count = 0, i = 0;
    if (candidate->parameter == NULL)
        return find_part(named, problem, candidate->stage, candidate->way, layout) != FIT_NONE;
    if (gradients_list(problem, &gradients, &count, arena, error) != STATUS_OK)
        return false;
    while (i < count && strcmp(gradients[i].name, candidate->parameter) != 0)
        i++;
    return i < count && find_parameter(named, problem, &gradients[i], layout) != FIT_NONE;
}

bool mine_place_as(struct mine *mine, const struct problem *problem, const struct mine_candidate *candidate,
                   struct arena *arena, struct error *error)
{
    struct mine_table table = {
        .given = mine->tables[0].given, .stage = candidate->stage, .parameter = candidate->parameter};
    if (!fits(table.given, problem, candidate, &table.layout, arena, error))
        return false;
    begin(mine, problem);
    if (add_table(mine, problem, table, arena, error) != STATUS_OK)
        return false;
    set_decimals(mine);
    return true;
}

/* The stage that others call so, unless a table has it. */
static const char *meant_by(const struct mine *mine, const struct problem *problem, const char *name)
{
    const char *meant = foreign_name_stage(name, stage_name(problem_last_stage(problem)));
    for (size_t i = 0; i < mine->count && meant != NULL; i++)
        if (strcmp(mine_name(&mine->tables[i]), meant) == 0)
            meant = NULL;
    return meant;
}

/* Lists the tables that match no stage, and those of stages that repeat another. A result of attn also has its
 * inputs. */
static enum status list_passed(struct mine *mine, const struct problem *problem, const struct options *options,
                               struct arena *arena, struct error *error)
{
    const struct input_file *file = &mine->file;
    if (file->tensor_count == 1 && !file->nameless && mine->count > 0 && !mine->tables[0].told)
        mine->meant = meant_by(mine, problem, file->tensors[0].name);
    if (mine->passed != NULL || file->is_result || file->tensor_count == 1)
        return STATUS_OK;
    mine->passed = arena_allocate(arena, file->tensor_count, sizeof mine->passed[0], error);
    for (size_t i = 0; i < file->tensor_count && mine->passed != NULL; i++) {
        struct mine_passed passed = {.name = file->tensors[i].name};
        const enum stage stage = stage_said(mine, &file->tensors[i], options);
        if (!stage_exists(stage))
            passed.meant = meant_by(mine, problem, passed.name);
        else if (STAGES[stage].repeats && was_asked(options, stage))
            passed.repeated = stage_name(stage_of_numbers(stage));
        else
            continue;
        mine->passed[mine->passed_count++] = passed;
    }
    return mine->passed == NULL ? error->status : STATUS_OK;
}

static void add_name(struct text *names, const char *name)
{
    text_add(names, "%s%.80s", names->length > 0 ? ", " : "", name);
}

/* Lists expected names: those of --stages, those that these names mean, or a common one. */
static void list_expected(const struct mine *mine, const struct problem *problem, const struct options *options,
                          struct text *names)
{
    for (size_t i = 0; i < options->stage_count; i++)
        add_name(names, stage_name(options->stages[i]));
    for (size_t i = 0; i < mine->passed_count && options->stage_count == 0; i++) {
        const struct mine_passed *passed = &mine->passed[i];
        const char *meant = passed->repeated != NULL ? passed->repeated : passed->meant;
        for (size_t k = 0; k < i && meant != NULL; k++)
            if (mine->passed[k].meant != NULL && strcmp(mine->passed[k].meant, meant) == 0)
                meant = NULL;
        if (meant != NULL)
            add_name(names, meant);
    }
    if (names->length > 0)
        return;
    add_name(names, stage_name(problem->loss.is_given ? STAGE_GRAD_QUERY : STAGE_CONTEXT));
    if (problem->loss.is_given) {
        add_name(names, stage_name(STAGE_GRAD_KEY));
        add_name(names, stage_name(STAGE_GRAD_VALUE));
    }
}

static enum status refuse_names(const struct mine *mine, const struct problem *problem, const struct options *options,
                                struct error *error)
{
    char held[512], wanted[512];
    struct text has = text_begin(held, sizeof held), expected = text_begin(wanted, sizeof wanted);
    for (size_t i = 0; i < mine->passed_count && i < MOST_NAMES; i++)
        add_name(&has, mine->passed[i].name);
    if (mine->passed_count > MOST_NAMES)
        text_add(&has, " and %zu more", mine->passed_count - MOST_NAMES);
    list_expected(mine, problem, options, &expected);
    return error_usage(error, "%s: no table is named after %s%s%s; expected one, such as %s, or a single table",
                       mine->file.source, options->stage_count > 0 ? "one of --stages" : "a stage",
                       held[0] != '\0' ? ": it has " : "", held, wanted);
}

static enum status place_all(struct mine *mine, const struct problem *problem, const struct options *options,
                             struct arena *arena, struct error *error)
{
    begin(mine, problem);
    if (place_named(mine, problem, options, arena, error) != STATUS_OK)
        return error->status;
    if (mine->count == 0 && mine->file.tensor_count == 1 &&
        place_table(mine, problem, &mine->file.tensors[0], STAGE_NAMES, arena, error) != STATUS_OK)
        return error->status;
    if (list_passed(mine, problem, options, arena, error) != STATUS_OK)
        return error->status;
    if (mine->count == 0)
        return refuse_names(mine, problem, options, error);
    loosen_wholes(mine);
    set_decimals(mine);
    return STATUS_OK;
}

enum status mine_place(struct mine *mine, const struct problem *problem, const struct options *options,
                       struct arena *arena, struct error *error)
{
    if (place_all(mine, problem, options, arena, error) != STATUS_OK)
        mine->count = 0; /* nothing is matched */
    return error->status;
}

/* --- indices ----------------------------------------------------------------------------------------------------- */

static bool has_one_head(const struct mine_layout *layout, int axis)
{
    return axis == MINE_HEAD && layout->head > 0 && layout->axis[axis] < 0;
}

static size_t choices_of(const struct mine_layout *layout, int axis)
{
    if (has_one_head(layout, axis))
        return 1;
    if (axis == MINE_ROW)
        return layout->rows != NULL ? 1 : layout->whole[axis] - layout->size[axis] + 1;
    return layout->axis[axis] < 0 ? layout->whole[axis] : 1;
}

size_t mine_indices(const struct mine_table *table)
{
    size_t count = 1;
    for (int axis = 0; axis < MINE_AXES; axis++)
        count *= choices_of(&table->layout, axis);
    return count;
}

struct mine_index mine_index(const struct mine_table *table, size_t i)
{
    struct mine_index index = {{0}};
    for (int axis = MINE_AXES; axis-- > 0; i /= choices_of(&table->layout, axis))
        index.at[axis] =
            i % choices_of(&table->layout, axis) + (has_one_head(&table->layout, axis) ? table->layout.head - 1 : 0);
    return index;
}

struct mine_index mine_place_of(const struct mine_table *table, struct mine_index first, size_t i)
{
    return mine_place_at(table, first, table->places != NULL ? table->places[i] : i);
}

struct mine_index mine_place_at(const struct mine_table *table, struct mine_index first, size_t i)
{
    const struct mine_layout *layout = &table->layout;
    for (int axis = 0; axis < MINE_AXES; axis++) {
        const size_t at = layout->axis[axis] < 0 ? 0 : i / layout->stride[axis] % layout->size[axis];
        first.at[axis] = axis == MINE_ROW && layout->rows != NULL ? layout->rows[at]
                         : has_one_head(layout, axis)             ? layout->head - 1
                                                                  : first.at[axis] + at;
    }
    return first;
}

static void add_row(const struct problem *problem, enum stage stage, size_t item, size_t row, struct text *text)
{
    size_t position = row + 1;
    const char *label = problem_label(problem, stage_is_of_keys(stage), item, row, &position);
    char shown[128];
    text_add(text, " %zu", position);
    if (label == NULL)
        return;
    text_shown(label, 20, shown, sizeof shown);
    text_add(text, " (%s)", shown);
}

void mine_describe_number(const struct mine_table *table, const struct problem *problem, struct mine_index index,
                          struct text *text)
{
    const size_t *whole = table->layout.whole, item = index.at[MINE_ITEM];
    text_add(text, "%s", mine_name(table));
    if (whole[MINE_ITEM] > 1)
        text_add(text, ", item %zu", item + 1);
    if (whole[MINE_HEAD] > 1)
        text_add(text, ", head %zu", index.at[MINE_HEAD] + 1);
    text_add(text, ", row");
    if (table->parameter != NULL || stage_is_of_mask(table->stage))
        text_add(text, " %zu", index.at[MINE_ROW] + 1);
    else
        add_row(problem, table->stage, item, index.at[MINE_ROW], text);
    text_add(text, ", column %zu", index.at[MINE_COLUMN] + 1);
}

void mine_describe(const struct mine_table *table, const struct problem *problem, struct mine_index first,
                   struct text *text)
{
    const struct mine_layout *layout = &table->layout;
    const size_t rows = layout->size[MINE_ROW], item = first.at[MINE_ITEM];
    text_add(text, "%s", mine_name(table));
    if (table->parameter != NULL || stage_is_of_mask(table->stage))
        return;
    if (layout->axis[MINE_ITEM] < 0 && layout->whole[MINE_ITEM] > 1)
        text_add(text, ", item %zu", item + 1);
    if (layout->axis[MINE_HEAD] < 0 && layout->whole[MINE_HEAD] > 1)
        text_add(text, ", head %zu", first.at[MINE_HEAD] + 1);
    if (rows == layout->whole[MINE_ROW])
        return;
    text_add(text, rows == 1 ? ", row" : ", rows");
    for (size_t i = 0; i < rows && layout->rows != NULL; i++) {
        text_add(text, "%s", i == 0 ? "" : ",");
        add_row(problem, table->stage, item, layout->rows[i], text);
    }
    if (layout->rows != NULL)
        return;
    add_row(problem, table->stage, item, first.at[MINE_ROW], text);
    if (rows > 1) {
        text_add(text, " to");
        add_row(problem, table->stage, item, first.at[MINE_ROW] + rows - 1, text);
    }
}
