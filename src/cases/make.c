/* SPDX-License-Identifier: MIT */
#include "build/problem_create.h"
#include "cases/cases.h"

#include <string.h>

/* attn sdpa with the row's options, in a dtype, for these stages. */
static enum status parse(struct options *options, const struct case_row *row, const char *dtype, const char *stages,
                         const char *mistakes, struct arena *arena, struct error *error)
{
    char line[CASES_LINE_BYTES], *argv[CASES_WORDS + 1];
    int count = 0;
    snprintf(line, sizeof line, "attn sdpa --kernel reference --threads 1 --dtype %s --stages %s %s%s%s %s", dtype,
             stages, case_has(row, CASE_GRAD) ? "--grad ones " : "", mistakes != NULL ? "--mistake " : "",
             mistakes != NULL ? mistakes : "", row->options);
    char *words = arena_copy(arena, line, error), *rest = NULL;
    if (words == NULL)
        return error->status;
    for (char *word = strtok_r(words, " ", &rest); word != NULL && count < CASES_WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count] = NULL;
    return options_parse(options, count, argv, error);
}

/* A job and all of its rows. */
static enum status compute(struct result *result, struct problem *problem, const struct options *options,
                           const struct job_files *files, struct arena *arena, struct error *error)
{
    struct progress *progress = arena_allocate(arena, 1, sizeof *progress, error);
    if (progress == NULL || problem_create(problem, options, files, arena, error) != STATUS_OK)
        return error->status;
    progress_start(progress, false, false);
    return result_create(result, problem, progress, false, arena, error);
}

/* Gives a table of tokens before heads its axis of heads: B x T x H d becomes B x T x H x d. */
static void split_heads(struct result_table *table, size_t heads)
{
    const size_t last = table->rank++ - 1;
    table->shape[last + 1] = table->shape[last] / heads;
    table->axes[last + 1] = AXIS_COLUMN;
    table->shape[last] = heads;
    table->axes[last] = AXIS_HEAD;
}

/* Computes all rows of the table into the result. Where tokens come before heads, gradients come as B x H x T x
 * columns, and become B x T x H x columns, like their inputs. */
static enum status hold(struct case_made *made, struct case_result *result, struct arena *arena, struct error *error)
{
    struct result_table *table = &result->table;
    const size_t matrices = result_matrices(table), rows = result_rows(table), columns = result_columns(table);
    const bool last = made->truth_job.size.heads_packed,
               transposed = last && case_has(made->row, CASE_GRAD) && table->rank > 2;
    const size_t heads = transposed ? table->shape[table->rank - 3] : 1;
    const struct result_table made_of = *table;
    for (size_t axis = 0; axis < 2 && transposed; axis++) {
        const size_t to = table->rank - 3 + axis, from = table->rank - 2 - axis;
        table->shape[to] = made_of.shape[from];
        table->axes[to] = made_of.axes[from];
    }
    if (last && table->stage == STAGE_CONTEXT)
        split_heads(table, made->sizes.heads);
    if (tensor_create(&result->truth, DTYPE_F64, table->rank, table->shape, arena, error) != STATUS_OK)
        return error->status;
    double *numbers = result->truth.data;
    for (size_t matrix = 0; matrix < matrices; matrix++)
        for (size_t row = 0; row < rows; row++) {
            const size_t token = matrix / heads * rows + row;
            const size_t at = transposed ? token * heads + matrix % heads : matrix * rows + row;
            result_row(&made->truth, &made_of, matrix, row, numbers + at * columns);
        }
    result->columns = table->rank > 1 && table->axes[table->rank - 1] == AXIS_COLUMN ? result_columns(table) : 1;
    result->rows = tensor_count(&result->truth) / result->columns;
    table->tensor = &result->truth;
    return STATUS_OK;
}

/* The stages that a kernel writes: all but those that the bound needs. */
static enum status list_results(struct case_made *made, enum dtype dtype, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < made->truth.table_count; i++) {
        const struct result_table *table = &made->truth.tables[i];
        struct case_result *result = &made->results[made->count];
        const bool is_lse = table->stage == STAGE_LSE;
        const enum dtype own = is_lse ? case_sums(dtype) : dtype;
        if (table->stage == STAGE_WEIGHTS || table->stage == STAGE_GRAD_CONTEXT)
            continue;
        *result = (struct case_result){
            .name = table->name, .dtype = own, .optional = is_lse, .table = *table, .relative = case_unit(own)};
        if (hold(made, result, arena, error) != STATUS_OK)
            return error->status;
        made->count++;
    }
    return STATUS_OK;
}

/* Shows the tensors as drawn: a result would leave out unused pages, and number the others again. */
static void show_drawn(struct case_made *made)
{
    for (size_t i = 0; i < made->inputs.table_count; i++) {
        struct result_table *table = &made->inputs.tables[i];
        const struct file_tensor *drawn = input_file_find(made->files.inputs, table->name);
        if (drawn == NULL || drawn->tensor.rank != table->rank)
            continue;
        table->tensor = &drawn->tensor;
        memcpy(table->shape, drawn->tensor.shape, table->rank * sizeof table->shape[0]);
    }
}

/* The stages to write, and those that the bound needs. */
static const char *stages_of(const struct case_row *row)
{
    return !case_has(row, CASE_GRAD)   ? "context,lse,weights"
           : case_has(row, CASE_SINKS) ? "weights,grad_context,grad_query,grad_key,grad_value,grad_sinks"
                                       : "weights,grad_context,grad_query,grad_key,grad_value";
}

enum status case_make(struct case_made *made, const struct case_row *row, const struct options *options,
                      struct arena *arena, struct error *error)
{
    *made = (struct case_made){.row = row};
    case_sizes_of(row, options, &made->sizes);
    if (case_draw(row, options, &made->sizes, false, &made->files, arena, error) ||
        parse(&made->given_options, row, dtype_name(options->dtype), "inputs", NULL, arena, error) ||
        parse(&made->truth_options, row, "f64", stages_of(row), NULL, arena, error) ||
        compute(&made->inputs, &made->given, &made->given_options, &made->files, arena, error) ||
        compute(&made->truth, &made->truth_job, &made->truth_options, &made->files, arena, error))
        return error->status;
    show_drawn(made);
    return list_results(made, options->dtype, arena, error) != STATUS_OK
               ? error->status
               : case_bound(made, options->dtype, case_sums(options->dtype), arena, error);
}

enum status case_make_mistaken(struct case_made *mistaken, const struct case_made *made, const char *mistakes,
                               enum dtype sums, struct arena *arena, struct error *error)
{
    const enum dtype dtype = made->given_options.dtype;
    *mistaken = (struct case_made){.row = made->row, .sizes = made->sizes, .files = made->files};
    mistaken->files.inputs = &mistaken->files.files[0];
    mistaken->files.grad = made->files.grad != NULL ? &mistaken->files.files[3] : NULL;
    if (parse(&mistaken->truth_options, made->row, dtype_name(sums), stages_of(made->row), mistakes, arena, error) ||
        compute(&mistaken->truth, &mistaken->truth_job, &mistaken->truth_options, &mistaken->files, arena, error) ||
        list_results(mistaken, dtype, arena, error))
        return error->status;
    const struct result_table *own = result_table_of(&mistaken->truth, STAGE_WEIGHTS);
    const struct result_table *right = result_table_of(&made->truth, STAGE_WEIGHTS);
    const double factor = mistaken->truth_job.scaling.factor;
    for (size_t i = 0; i < mistaken->count && i < made->count; i++) {
        const struct case_result *bound = &made->results[i];
        struct case_result *result = &mistaken->results[i];
        result->absolute = bound->absolute;
        result->rms = bound->rms;
    }
    if (own == NULL || result_matrices(own) != result_matrices(right) || result_rows(own) != result_rows(right) ||
        result_columns(own) != result_columns(right)) /* of other keys: the bounds of the right ones */
        return STATUS_OK;
    mistaken->truth_job = made->truth_job; /* in float64, as the bounds need it */
    mistaken->truth_job.scaling.factor = factor;
    return case_bound(mistaken, dtype, case_sums(dtype), arena, error);
}
