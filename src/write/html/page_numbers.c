/* SPDX-License-Identifier: MIT */
#include "write/html/page_data.h"

#include "base/base64.h"
#include "model/stages.h"
#include "stage/operand_steps.h"
#include "stage/projections.h"

#include <stdio.h>

enum { CHUNK = 512, NAME_BYTES = 32 };

static struct base64 open_numbers(const char *name, struct output *output)
{
    output_print(output, "<script type=\"text/plain\" id=\"data-%s\">", name);
    return (struct base64){.output = output};
}

static void close_numbers(struct base64 *base64)
{
    base64_end(base64);
    output_print(base64->output, "</script>\n");
}

static void add_numbers(struct base64 *base64, const double *numbers, size_t count, enum dtype dtype)
{
    unsigned char bytes[CHUNK * sizeof(double)];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        dtype_encode(dtype, numbers + first, now, bytes);
        base64_add(base64, bytes, now * dtype_size(dtype));
    }
}

/* Truth values, eight to a byte, lowest bit first; each row begins a byte. */
static void add_bits(struct base64 *base64, const double *numbers, size_t count)
{
    for (size_t first = 0; first < count; first += 8) {
        unsigned char byte = 0;
        for (size_t bit = 0; bit < 8 && first + bit < count; bit++)
            byte |= (unsigned char)((numbers[first + bit] != 0) << bit);
        base64_add(base64, &byte, 1);
    }
}

/* Numbers first .. first + count of a tensor. */
static void add_tensor(struct base64 *base64, const struct tensor *tensor, size_t first, size_t count, enum dtype dtype)
{
    double numbers[CHUNK];
    for (const size_t end = first + count; first < end; first += CHUNK) {
        const size_t now = memory_smaller(end - first, CHUNK);
        tensor_load(tensor, first, now, numbers);
        add_numbers(base64, numbers, now, dtype_storage(dtype));
    }
}

/* All rows of a table under that name: numbers, or a bit for each that says whether it is not zero. */
static void write_rows(struct result *result, const struct result_table *table, const char *name, bool bits,
                       struct output *output)
{
    struct base64 base64 = open_numbers(name, output);
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < result_rows(table) && !output->failed; row++) {
            result_row(result, table, matrix, row, result->numbers);
            if (bits)
                add_bits(&base64, result->numbers, result_columns(table));
            else
                add_numbers(&base64, result->numbers, result_columns(table), dtype_storage(table->dtype));
        }
    close_numbers(&base64);
}

/* attn_mask as numbers to add, in the order of its strides; as bits where it is boolean. */
static void write_attn_mask(const struct problem *problem, struct output *output)
{
    const struct mask *mask = &problem->mask;
    const struct tensor *tensor = &mask->attn_mask;
    const size_t count = tensor_count(tensor);
    struct base64 base64 = open_numbers("attn_mask", output);
    double numbers[CHUNK];
    if (!dtype_is_boolean(tensor->dtype))
        add_tensor(&base64, tensor, 0, count, problem->rounding.dtype);
    for (size_t first = 0; first < count && dtype_is_boolean(tensor->dtype); first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        tensor_load(tensor, first, now, numbers);
        for (size_t i = 0; i < now; i++)
            numbers[i] = (numbers[i] != 0) != mask->true_drops;
        add_bits(&base64, numbers, now);
    }
    close_numbers(&base64);
}

/* The stages that mistakes made: no equation of the page gives them. The heads of a packed context lie side by side. */
static void write_made(struct result *result, enum stage stage, struct output *output)
{
    const struct problem *problem = result->problem;
    const bool side_by_side = problem_is_side_by_side(problem, stage);
    const struct tensor *held = &result->attention.held[problem_made_as(problem, stage)];
    const size_t columns = problem_columns_of_head(problem, stage);
    const size_t rows = problem->chosen.row_count, heads = problem->size.heads;
    char name[NAME_BYTES];
    if (held->rank == 0)
        return;
    snprintf(name, sizeof name, "made-%s", stage_name(stage));
    struct base64 base64 = open_numbers(name, output);
    for (size_t i = 0; i < problem->size.items * heads * rows; i++) {
        const size_t row = side_by_side ? (i / rows / heads * rows + i % rows) * heads + i / rows % heads : i;
        add_tensor(&base64, held, row * columns, columns, problem->rounding.dtype);
    }
    close_numbers(&base64);
}

/* Cosine and sine of each pair of each rotated row, (B, S or Tk, n / 2, 2). */
static void write_rotations(const struct problem *problem, enum projection_id id, struct output *output)
{
    const size_t rows = id == PROJECTION_QUERY ? problem->chosen.row_count : problem->size.keys;
    struct base64 base64 = open_numbers(id == PROJECTION_QUERY ? "turns-query" : "turns-key", output);
    for (size_t i = 0; i < problem->size.items * rows; i++) {
        const size_t row = id == PROJECTION_QUERY ? problem->chosen.rows[i % rows] : i % rows;
        const size_t position = operand_position(problem, id, i / rows, row);
        for (size_t pair = 0; pair < problem->rotation.rope.columns / 2; pair++) {
            const struct rope_turn turn = operand_turn(problem, position == SIZE_MAX ? 0 : position, pair);
            add_numbers(&base64, (double[]){turn.cosine, turn.sine}, 2, dtype_storage(problem->rounding.dtype));
        }
    }
    close_numbers(&base64);
}

static void write_before(struct result *result, struct output *output)
{
    const struct problem *problem = result->problem;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++) {
        char name[NAME_BYTES];
        if (!operand_has_last_step(problem, id))
            continue;
        snprintf(name, sizeof name, "before-%s", stage_name(projection_stage(id)));
        write_rows(result, result_table_of(result, operand_before_last_step(problem, id)), name, false, output);
    }
}

/* --- what the page computes from --------------------------------------------------------------------------------- */

struct table_writing {
    struct output *output;
    enum dtype dtype;
    struct error *error;
};

static void write_table(const struct page_table *table, void *context)
{
    const struct table_writing *writing = context;
    struct base64 base64 = open_numbers(table->name, writing->output);
    struct arena scratch = {0};
    double *weight;
    if (table->tensor != NULL)
        add_tensor(&base64, table->tensor, 0, tensor_count(table->tensor), writing->dtype);
    else if (projection_weight(table->projection, &weight, &scratch, writing->error) == STATUS_OK)
        add_numbers(&base64, weight, table->shape[0] * table->shape[1], dtype_storage(writing->dtype));
    arena_free(&scratch);
    close_numbers(&base64);
}

/* The gradient that --grad gives; or that with respect to the context, where the page starts late and ends there. */
static void write_loss(struct result *result, struct output *output)
{
    const struct problem *problem = result->problem;
    const struct tensor *gradient = &problem->loss.gradient;
    if (problem->loss.is_given && page_ends_early(problem))
        write_rows(result, result_table_of(result, STAGE_GRAD_CONTEXT), "grad", false, output);
    else if (gradient->rank > 0) {
        struct base64 base64 = open_numbers("grad", output);
        add_tensor(&base64, gradient, 0, tensor_count(gradient), problem->rounding.dtype);
        close_numbers(&base64);
    }
}

static void write_generator(const struct torch_random *generator, struct output *output)
{
    struct base64 base64 = open_numbers("draws", output);
    for (size_t i = 0; i < TORCH_RANDOM_WORDS; i++) {
        const uint32_t word = generator->state[i];
        const unsigned char bytes[] = {(unsigned char)word, (unsigned char)(word >> 8), (unsigned char)(word >> 16),
                                       (unsigned char)(word >> 24)};
        base64_add(&base64, bytes, sizeof bytes);
    }
    close_numbers(&base64);
}

enum status page_write_numbers(const struct writing *writing)
{
    struct result *result = writing->result;
    struct output *output = writing->output;
    const struct problem *problem = result->problem;
    struct table_writing tables = {output, problem->rounding.dtype, writing->error};
    for (enum stage stage = 0; stage < STAGE_COUNT && problem->mistake.recipe != NULL; stage++)
        if (STAGES[stage].on_page && !STAGES[stage].operand)
            write_made(result, stage, output);
    const bool late = page_starts_late(problem) != NULL;
    if (!late)
        page_tables_each(problem, write_table, &tables);
    for (size_t i = 0; i < result->table_count && late; i++)
        if (STAGES[result->tables[i].stage].operand)
            write_rows(result, &result->tables[i], result->tables[i].name, false, output);
    if (late)
        write_before(result, output);
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        if (operand_is_rotated(problem, id))
            write_rotations(problem, id, output);
    /* What dropout keeps: a weight that is zero before dropout is zero either way. */
    const struct result_table *dropped = result_table_of(result, STAGE_DROPPED);
    if (page_draws(problem))
        write_generator(&problem->drop.generator, output);
    else if (dropped != NULL)
        write_rows(result, dropped, "kept", true, output);
    write_loss(result, output);
    if (problem->mask.attn_mask.rank > 0)
        write_attn_mask(problem, output);
    return writing->error->status;
}
