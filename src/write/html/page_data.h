/* SPDX-License-Identifier: MIT */
/* The data of the page, in <script> elements that no browser runs: one JSON object, and numbers in base64,
 * little-endian, of float64 for that dtype and else of float32.
 *
 *   B items, H heads, H_kv of key and value, S queries asked for, Tq queries, Tk keys, d and d_v columns of a head */
#ifndef ATTN_WRITE_HTML_PAGE_DATA_H
#define ATTN_WRITE_HTML_PAGE_DATA_H

#include "write/writing.h"

/* page.html of the folder page/ with its style and its scripts put in: page_length bytes, and a NUL. The lines @theme@
 * and @data@ are left, where the theme and the numbers go. */
extern const unsigned char page_bytes[];
extern const size_t page_length;

/* Why the page starts at query, key and value, a sentence for people; NULL: it starts at the inputs and parameters. */
const char *page_starts_late(const struct problem *problem);

/* Whether the page draws what dropout keeps, by the generator; else it is given it, a bit for each weight. */
bool page_draws(const struct problem *problem);

/* Each table that the page computes from, but query, key and value: in the order in which people meet them. */
struct page_table {
    char name[PARAMETER_NAME_BYTES];
    size_t rank, shape[TENSOR_RANK];     /* as y = x . W has it: (d_in, d_out) */
    const struct tensor *tensor;         /* its numbers; or NULL, then those of */
    const struct projection *projection; /* this one's weight */
    bool transposed;                     /* attn stores it the other way round */
};

/* Calls back for each. */
typedef void page_table_take(const struct page_table *table, void *context);
void page_tables_each(const struct problem *problem, page_table_take *take, void *context);

/* What a norm's parameters are called: "query_norm". */
const char *page_norm_name(enum norm_id id);

/* The JSON object, in page_job.c. */
void page_write_job(const struct result *result, int precision, struct output *output);

/* The numbers, in page_numbers.c. STATUS_SYSTEM where memory is short. */
enum status page_write_numbers(const struct writing *writing);

#endif
