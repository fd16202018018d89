/* SPDX-License-Identifier: MIT */
/* The numbers of a sheet without a file: their sizes, by the options, and the numbers as an input. */
#include "build/problem_create.h"
#include "model/stage_id.h"
#include "worksheet/worksheet.h"

#include <math.h>
#include <string.h>

/* The defaults: three tokens of two numbers; four columns, whose root is whole, but one for each of several heads;
 * where value is given, it has two, which are not divided by a root. */
enum { TOKENS = 3, D_IN = 2, D_HEAD = 4, D_OF_HEADS = 1, D_VALUE = 2 };

static const char *const WORDS[] = {"the", "cat", "sat", "on", "a", "mat"};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

/* --- the plan ----------------------------------------------------------------------------------------------------- */

/* The scale to search numbers for: that of the job where scores can be whole with it, else 1. */
static double usable_scale(const struct options *options, size_t d_head, bool *usable)
{
    const double scale =
        (options_said(options, OPTION_SCALE) ? options->scale : 1 / sqrt((double)d_head)) / options->temperature;
    const double size = fabs(scale), whole = size >= 1 ? size : 1 / size;
    *usable = isfinite(whole) && fabs(whole - round(whole)) < 1e-9;
    return *usable ? scale : 1;
}

/* Of query, key and value themselves: (H, T, d) and (B, H, T, d), or packed (B, T, H d). */
static void plan_operands(struct numbers_plan *plan, const struct options *options)
{
    const size_t rank = options->random_rank, *shape = options->random_shape;
    const bool packed = options->heads > 0;
    plan->d_head = D_HEAD;
    plan->d_value = D_VALUE;
    if (rank == 0)
        return;
    plan->tokens = shape[rank - 2];
    plan->d_head = plan->d_value = shape[rank - 1] / (packed ? plan->heads : 1);
    plan->items = rank == 4 || (packed && rank == 3) ? shape[0] : 1;
    if (!packed && rank > 2)
        plan->heads = plan->kv_heads = shape[rank - 3];
}

static void plan_projections(struct numbers_plan *plan, const struct options *options)
{
    const size_t rank = options->random_rank, *shape = options->random_shape;
    const bool splits = MECHANISMS[options->mechanism].splits, has_out = splits && !options->stacked;
    if (rank > 0) {
        plan->items = rank == 3 ? shape[0] : 1;
        plan->tokens = shape[rank - 2];
        plan->d_in = shape[rank - 1];
    }
    plan->d_head = splits ? D_OF_HEADS : D_HEAD;
    if (options->d_out > 0)
        plan->d_head = (size_t)options->d_out / (has_out ? plan->heads : 1);
    plan->d_value = plan->d_head;
    plan->d_output = has_out ? plan->heads * plan->d_head : 0;
    plan->has_bias = options->qkv_bias;
}

static enum status check_division(const struct numbers_plan *plan, const struct options *options, struct error *error)
{
    const bool splits = MECHANISMS[options->mechanism].splits && !options->stacked;
    if (plan->heads % plan->kv_heads != 0)
        return error_usage(
            error,
            "--heads %zu is not a multiple of --kv-heads %zu: each key head serves the same number of query heads",
            plan->heads, plan->kv_heads);
    if (splits && options->d_out % plan->heads != 0)
        return error_usage(error,
                           "--d-out %llu is not a multiple of --heads %zu: each head gets the same number of columns",
                           (unsigned long long)options->d_out, plan->heads);
    if (!plan->projects && options->heads > 0 && options->random_rank > 0 &&
        options->random_shape[options->random_rank - 1] % plan->heads != 0)
        return error_usage(error, "--random %s: its columns are not a multiple of --heads %zu", options->random,
                           plan->heads);
    if (options->stacked && plan->kv_heads != plan->heads)
        return error_usage(error,
                           "--kv-heads %zu does not go with --stacked: each stacked head has its own key and value",
                           plan->kv_heads);
    return STATUS_OK;
}

enum status drawn_check(const char *source, const char *what, size_t count, size_t most, struct error *error)
{
    if (count <= most)
        return STATUS_OK;
    return error_usage(error, "%s: %zu %s are too many for a worksheet; expected at most %zu", source, count, what,
                       most);
}

enum status drawn_plan(struct numbers_plan *plan, bool *whole, const struct options *options, struct error *error)
{
    static const enum option_id GIVEN[] = {OPTION_WEIGHTS, OPTION_KEY_INPUTS};
    for (size_t i = 0; i < sizeof GIVEN / sizeof GIVEN[0]; i++)
        if (options_said(options, GIVEN[i]))
            return error_usage(error,
                               "--%s needs a FILE with matching inputs; a worksheet without FILE draws its own numbers",
                               OPTIONS[GIVEN[i]].name);
    if (options_said(options, OPTION_RANDOM_SEED))
        return error_usage(error, "--random-seed: a worksheet draws all numbers from --seed; use --seed alone");
    *plan = (struct numbers_plan){
        .projects = MECHANISMS[options->mechanism].projects, .items = 1, .tokens = TOKENS, .d_in = D_IN};
    if (drawn_check("--random", "axes", options->random_rank, plan->projects ? 3 : 4, error) != STATUS_OK)
        return error->status;
    const bool several = MECHANISMS[options->mechanism].splits || !plan->projects; /* packed operands of sdpa, too */
    plan->heads = several && options->heads > 0 ? (size_t)options->heads : 1;
    plan->kv_heads = several && options->kv_heads > 0 ? (size_t)options->kv_heads : plan->heads;
    if (plan->projects)
        plan_projections(plan, options);
    else
        plan_operands(plan, options);
    if (check_division(plan, options, error) || drawn_check("--random", "items", plan->items, NUMBERS_HEADS, error) ||
        drawn_check("--random", "tokens", plan->tokens, NUMBERS_MOST, error) ||
        drawn_check("--random", "columns", plan->d_in, NUMBERS_MOST, error) ||
        drawn_check(plan->projects ? "--heads" : "--random", "heads", plan->heads, NUMBERS_HEADS, error) ||
        drawn_check(plan->projects ? "--d-out" : "--random", "columns", plan->d_head, NUMBERS_MOST, error))
        return error->status;
    plan->causal = problem_asks_causal(options, false);
    plan->scale = usable_scale(options, plan->d_head, whole);
    return STATUS_OK;
}

/* --- as a file ---------------------------------------------------------------------------------------------------- */

struct drawing {
    struct input_file *file;
    const struct numbers *numbers;
    const struct numbers_plan *plan;
    struct arena *arena;
    struct error *error;
};

/* Adds a tensor to the file; NULL where memory is short. */
static float *add(const struct drawing *drawing, const char *name, size_t rank, const size_t *shape)
{
    struct file_tensor *added = &drawing->file->tensors[drawing->file->tensor_count++];
    *added = (struct file_tensor){.name = arena_copy(drawing->arena, name, drawing->error)};
    if (added->name == NULL ||
        tensor_create(&added->tensor, DTYPE_F32, rank, shape, drawing->arena, drawing->error) != STATUS_OK)
        return NULL;
    return added->tensor.data;
}

static enum status add_inputs(const struct drawing *drawing, bool has_batch)
{
    const struct numbers_plan *plan = drawing->plan;
    const size_t shape[] = {plan->items, plan->tokens, plan->d_in};
    float *inputs = add(drawing, "inputs", has_batch ? 3 : 2, has_batch ? shape : shape + 1);
    if (inputs == NULL)
        return drawing->error->status;
    memcpy(inputs, drawing->numbers->inputs, plan->items * plan->tokens * plan->d_in * sizeof *inputs);
    return STATUS_OK;
}

/* The matrix (d_in, heads x columns) of `heads` heads from the first on, and its bias. */
static enum status add_projection(const struct drawing *drawing, enum projection_id id, size_t first, size_t heads,
                                  bool stacked)
{
    const struct numbers_plan *plan = drawing->plan;
    const size_t columns = id == PROJECTION_VALUE ? plan->d_value : plan->d_head, d_in = plan->d_in;
    const size_t shape[] = {d_in, heads * columns};
    char name[PARAMETER_NAME_BYTES];
    float *matrix = add(drawing, parameters_name(name, first, stacked, id, ""), 2, shape);
    if (matrix == NULL)
        return drawing->error->status;
    for (size_t head = 0; head < heads; head++)
        for (size_t i = 0; i < d_in; i++)
            memcpy(matrix + i * shape[1] + head * columns,
                   drawing->numbers->weights[id] + ((first + head) * d_in + i) * columns, columns * sizeof *matrix);
    if (!plan->has_bias)
        return STATUS_OK;
    float *bias = add(drawing, parameters_name(name, first, stacked, id, ".bias"), 1, &shape[1]);
    if (bias == NULL)
        return drawing->error->status;
    memcpy(bias, drawing->numbers->biases[id] + first * columns, shape[1] * sizeof *bias);
    return STATUS_OK;
}

static enum status add_parameters(const struct drawing *drawing, bool stacked)
{
    const struct numbers_plan *plan = drawing->plan;
    const size_t modules = stacked ? plan->heads : 1, shape[] = {plan->d_output, plan->heads * plan->d_value};
    for (size_t module = 0; module < modules; module++)
        for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
            const size_t heads = id == PROJECTION_QUERY ? plan->heads : plan->kv_heads;
            if (add_projection(drawing, id, module, stacked ? 1 : heads, stacked) != STATUS_OK)
                return drawing->error->status;
        }
    if (plan->d_output == 0)
        return STATUS_OK;
    float *out = add(drawing, "out_proj.weight", 2, shape);
    if (out == NULL)
        return drawing->error->status;
    memcpy(out, drawing->numbers->out, shape[0] * shape[1] * sizeof *out);
    return STATUS_OK;
}

/* Query, key or value: (T, d), (H, T, d) or (B, H, T, d), or packed (B, T, H d). */
static enum status add_operand(const struct drawing *drawing, enum projection_id id, size_t rank, bool packed)
{
    const struct numbers_plan *plan = drawing->plan;
    const size_t heads = id == PROJECTION_QUERY ? plan->heads : plan->kv_heads, tokens = plan->tokens;
    const size_t columns = id == PROJECTION_VALUE ? plan->d_value : plan->d_head;
    const size_t apart[] = {plan->items, heads, tokens, columns}, side[] = {plan->items, tokens, heads * columns};
    float *operand = add(drawing, stage_name(projection_stage(id)), rank, packed ? side + 3 - rank : apart + 4 - rank);
    if (operand == NULL)
        return drawing->error->status;
    for (size_t item = 0; item < plan->items; item++)
        for (size_t head = 0; head < heads; head++)
            for (size_t token = 0; token < tokens; token++) {
                const size_t from = (item * heads + head) * tokens + token;
                const size_t to = packed ? (item * tokens + token) * heads + head : from;
                memcpy(operand + to * columns, drawing->numbers->made[id] + from * columns, columns * sizeof *operand);
            }
    return STATUS_OK;
}

enum status drawn_file(struct input_file *file, const struct numbers *numbers, const struct numbers_plan *plan,
                       const struct options *options, struct arena *arena, struct error *error)
{
    const struct drawing drawing = {file, numbers, plan, arena, error};
    const size_t most = 2 + 2 * (size_t)PROJECTION_COUNT * plan->heads;
    *file = (struct input_file){.source = "the worksheet's own numbers",
                                .tensors = arena_allocate(arena, most, sizeof file->tensors[0], error)};
    if (plan->tokens <= WORD_COUNT)
        file->tokens = (struct token_labels){
            .texts = arena_allocate(arena, plan->tokens, sizeof(char *), error), .lists = 1, .count = plan->tokens};
    if (file->tensors == NULL || (plan->tokens <= WORD_COUNT && file->tokens.texts == NULL))
        return error->status;
    for (size_t i = 0; i < file->tokens.count; i++)
        file->tokens.texts[i] = WORDS[i];
    const size_t rank = options->random_rank > 0 ? options->random_rank : 2;
    for (enum projection_id id = 0; id < PROJECTION_COUNT && !plan->projects; id++)
        if (add_operand(&drawing, id, rank, options->heads > 0) != STATUS_OK)
            return error->status;
    if (plan->projects && (add_inputs(&drawing, rank == 3) || add_parameters(&drawing, options->stacked)))
        return error->status;
    input_file_sort(file);
    return STATUS_OK;
}
