/* SPDX-License-Identifier: MIT */
/* Key and value of one head as doubles, shared by all its queries. */
#pragma once

#include "stage/stage.h"

struct head {
    const struct problem *problem;
    double *key;           /* (Tk / DOT_KEYS rounded up, d, DOT_KEYS) panels, the last one padded with zeros */
    double *prescaled_key; /* the same times the root of the scale; NULL: unused (stage/scaled.h) */
    double *value;         /* (Tk, d_v) */
    double *rows;          /* (DOT_KEYS, d) rows of key for one panel */
    size_t key_of, prescaled_of, value_of; /* first row of the current contents; SIZE_MAX: none */
};

/* The count of numbers that a head holds for these stages. */
double head_numbers(const struct problem *problem, uint64_t stages);

/* Allocates them. STATUS_SYSTEM: out of memory. */
enum status head_create(struct head *head, const struct problem *problem, uint64_t stages, struct arena *arena,
                        struct error *error);

/* Loads what the stage needs from the head whose rows of key (…, Tk, d) and value (…, Tk, d_v) begin at row `first`,
 * unless already loaded. */
void head_load(struct head *head, enum stage stage, const struct tensor *key, const struct tensor *value, size_t first);

/* Writes query . key of the row's computed span to products (Tk), maybe also of keys next to it. `key` is the row's key
 * or prescaled key. */
void head_products(const struct attention_row *row, const double *key, double *products);
