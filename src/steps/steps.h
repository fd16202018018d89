/* SPDX-License-Identifier: MIT */
/* attn MECHANISM --steps: computes a causal job again, a few tokens at a time, as a model generates text.
 *
 * A step is a job of its own, made of the inputs of its tokens (of sdpa: their query, key and value) and of cached keys
 * and values of earlier steps. Keys that no later query may see leave the cache. The rows are compared with those of
 * the whole pass, bit by bit.
 *
 *   B items, T queries, H_kv heads of key and value, d and d_v columns of a key and of a value. */
#pragma once

#include "base/progress.h"
#include "cli/options.h"
#include "problem/problem.h"

/* One step. Numbers are those of all items and heads of key and value together. */
struct step {
    size_t first, end;   /* its queries, from 0 */
    size_t cached, made; /* keys that they see, of the item with most: from the cache, and made in this step */
    size_t read, kept;   /* numbers read from the cache, and numbers that it keeps after the step */
    size_t rows, same;   /* of the stage that is compared, and how many of them have the same bits */
    double largest;      /* difference of two numbers; NaN where one of them is no number */
};

struct steps {
    const struct problem *problem;
    enum stage stage;   /* that is compared: the last one */
    bool fused;         /* the fused path made it, in both */
    struct step *steps; /* (count) */
    size_t count;
    size_t made;         /* keys of an item that are made with the cache, */
    size_t remade;       /* and that would be made without it, of the item with most; */
    size_t remade_least; /* and of that with fewest */
    struct step total;   /* read and rows of all together; kept of the last */
};

/* Before the work: STATUS_USAGE where the job cannot be done in steps; the message names its options. */
enum status steps_check(const struct options *options, const struct problem *problem, struct error *error);

/* Does the whole pass and all steps. The problem shows its last stage alone, and must outlive the steps. STATUS_SYSTEM
 * where memory is short. */
enum status steps_make(struct steps *steps, const struct options *options, const struct problem *problem,
                       struct progress *progress, struct arena *arena, struct error *error);

/* Writes them to the open output, and closes it. STATUS_DIFFERENT where a row has other bits; STATUS_SYSTEM as
 * output_close. */
enum status steps_write(const struct steps *steps, const struct options *options, struct output *output,
                        struct arena *arena, struct error *error);

/* Copies rows of an item, of all its heads, of one (B, H_kv, rows, d) to another. Key j of a cache is in slot j
 * modulo the number of slots, until another key takes it: a window needs no more than it allows; without one there is
 * a slot for every key. */
void steps_copy_rows(const struct tensor *from, size_t from_row, const struct tensor *to, size_t to_row, size_t count,
                     size_t item);

/* The keys of an item that queries first .. end - 1 are allowed, by causal rule, window and length. */
struct span steps_allowed(const struct problem *problem, size_t item, size_t first, size_t end);

/* The first key of an item that a query from `query` on may see. */
size_t steps_needed(const struct problem *problem, size_t item, size_t query);

double steps_bytes(const struct steps *steps, size_t numbers);

/* --- the steps as a format has them --- */

/* STATUS_SYSTEM where memory is short; output_close reports failures to write. */
typedef enum status steps_writer(const struct steps *steps, const struct options *options, struct output *output,
                                 struct arena *arena, struct error *error);

steps_writer steps_text, steps_json, steps_svg;
