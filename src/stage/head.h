/* SPDX-License-Identifier: MIT */
/* Key and value of one head as doubles, made once for all queries that meet them. */
#ifndef ATTN_STAGE_HEAD_H
#define ATTN_STAGE_HEAD_H

#include "stage/stage.h"

struct head {
    const struct problem *problem;
    double *key;           /* (Tk / DOT_KEYS rounded up, d, DOT_KEYS) panels, the last one filled up with zeros */
    double *prescaled_key; /* the same, multiplied with the root of the scale; NULL where none has: stage/scaled.h */
    double *value;         /* (Tk, d_v) */
    double *rows;          /* (DOT_KEYS, d) of key on their way into a panel */
    size_t key_of, prescaled_of, value_of; /* the first row of what is there now; SIZE_MAX: nothing yet */
};

/* Numbers that a head holds; the stages that will be made say of what. */
double head_numbers(const struct problem *problem, uint64_t stages);

/* Room for that. STATUS_SYSTEM where memory is short. */
enum status head_create(struct head *head, const struct problem *problem, uint64_t stages, struct arena *arena,
                        struct error *error);

/* What a stage is made of, of the head whose rows of key (…, Tk, d) and value (…, Tk, d_v) begin at row `first`; others
 * are left as they are. Nothing is done where it is there. */
void head_load(struct head *head, enum stage stage, const struct tensor *key, const struct tensor *value, size_t first);

/* query . key of the keys that row->query meets, into products (Tk); those of keys beside them may be set, too.
 * `key` is the row's, or its prescaled one. */
void head_products(const struct attention_row *row, const double *key, double *products);

#endif
