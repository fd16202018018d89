/* SPDX-License-Identifier: MIT */
#include "compute/backward_operands.h"

#include "base/threads.h"
#include "compute/setup.h"

enum { NUMBERS_AT_ONCE = 1 << 21 }; /* 16 MB */

static size_t rooms_of(size_t room, size_t tokens)
{
    const size_t least = 16, fit = memory_larger(NUMBERS_AT_ONCE / memory_larger(room, 1), least);
    return memory_smaller(fit, tokens);
}

enum status backward_sums_create(struct backward_sums *sums, size_t room, size_t tokens, struct arena *arena,
                                 struct error *error)
{
    sums->room = room;
    sums->tokens_at_once = rooms_of(room, tokens);
    sums->rooms = arena_allocate(arena, sums->tokens_at_once, room * sizeof *sums->rooms, error);
    return sums->rooms == NULL ? error->status : STATUS_OK;
}

double backward_sums_bytes(size_t room, size_t tokens)
{
    return (double)rooms_of(room, tokens) * (double)room * sizeof(double);
}

/* A task for each stored row of all weights, over all tokens. */
struct adding {
    const struct backward_sums *sums;
    size_t tokens;
};

static void add_row(void *context, size_t row, unsigned thread)
{
    (void)thread;
    const struct adding *adding = context;
    const struct backward_product *product = adding->sums->products;
    for (; row >= product->gradient->weight.shape[0]; product++)
        row -= product->gradient->weight.shape[0];
    const struct projection *gradient = product->gradient;
    const size_t columns = gradient->weight.shape[1];
    double *restrict sum = (double *)gradient->weight.data + row * columns;
    for (size_t token = 0; token < adding->tokens; token++) {
        const double *room = adding->sums->rooms + token * adding->sums->room;
        const double *restrict x = room + product->x, *restrict above = room + product->above;
        for (size_t j = 0; j < columns && gradient->transposed && above[row] != 0; j++)
            sum[j] += x[j] * above[row];
        for (size_t j = 0; j < columns && !gradient->transposed; j++)
            if (above[j] != 0)
                sum[j] += x[row] * above[j];
    }
}

static void add_products(const struct backward_sums *sums, const struct problem *problem, size_t tokens)
{
    struct adding adding = {sums, tokens};
    size_t rows = 0;
    double work = 0;
    for (size_t i = 0; i < sums->product_count; i++) {
        const size_t *shape = sums->products[i].gradient->weight.shape;
        rows += shape[0];
        work += (double)tokens * (double)shape[0] * (double)shape[1];
    }
    threads_run(setup_threads(problem, work), rows, add_row, &adding);
}

static void add_bias(const struct backward_sums *sums, const struct backward_product *product, size_t tokens)
{
    const struct tensor *bias = &product->gradient->bias;
    double *sum = bias->data;
    for (size_t token = 0; token < tokens && bias->rank > 0; token++)
        for (size_t j = 0; j < bias->shape[0]; j++)
            sum[j] += sums->rooms[token * sums->room + product->above + j];
}

static void add_norm(const struct backward_sums *sums, const struct tensor *part, size_t at, size_t count,
                     size_t tokens)
{
    double *sum = part->data;
    for (size_t token = 0; token < tokens && part->rank > 0; token++)
        for (size_t i = 0; i < count; i++)
            sum[i % tensor_count(part)] += sums->rooms[token * sums->room + at + i];
}

void backward_sums_add(const struct backward_sums *sums, const struct problem *problem, size_t tokens)
{
    add_products(sums, problem, tokens);
    for (size_t i = 0; i < sums->product_count; i++)
        add_bias(sums, &sums->products[i], tokens);
    for (size_t i = 0; i < sums->norm_count; i++) {
        const struct backward_norm *norm = &sums->norms[i];
        add_norm(sums, &norm->gradient->weight, norm->by_weight, norm->count, tokens);
        add_norm(sums, &norm->gradient->bias, norm->by_bias, norm->count, tokens);
    }
}
