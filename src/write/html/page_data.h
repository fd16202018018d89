/* SPDX-License-Identifier: MIT */
/* The data of the page, in <script> elements that no browser runs: one JSON object, and numbers in base64,
 * little-endian, of float64 for that dtype and else of float32.
 *
 *   B items, H heads, H_kv of key and value, S queries asked for, Tq queries, Tk keys, d and d_v columns of a head */
#pragma once

#include "write/writing.h"

/* page.html of the folder page/ with its style and scripts: page_length bytes, and a NUL. @theme@ and @data@ are
 * still to be replaced. */
extern const unsigned char page_bytes[];
extern const size_t page_length;

/* Why the page starts at query, key and value, as a sentence; NULL: it starts at the inputs and parameters. */
const char *page_starts_late(const struct problem *problem);

/* Whether the page ends at the context, and the job does not: then --grad is the gradient with respect to context. */
bool page_ends_early(const struct problem *problem);

/* Whether the page draws dropout itself, with the generator; else it gets one bit for each weight. */
bool page_draws(const struct problem *problem);

/* A table that the page computes from, other than query, key and value. */
struct page_table {
    char name[PARAMETER_NAME_BYTES];
    size_t rank, shape[TENSOR_RANK];     /* as y = x . W has it: (d_in, d_out) */
    const struct tensor *tensor;         /* its numbers; or NULL, then those of */
    const struct projection *projection; /* this one's weight */
    bool transposed;                     /* attn stores it the other way round */
};

/* Calls back for each, in the order in which the page shows them. */
typedef void page_table_take(const struct page_table *table, void *context);
void page_tables_each(const struct problem *problem, page_table_take *take, void *context);

void page_write_job(const struct result *result, int precision, struct output *output);

/* The numbers, in page_numbers.c. STATUS_SYSTEM where memory is short. */
enum status page_write_numbers(const struct writing *writing);
