/* SPDX-License-Identifier: MIT */
/* Keys, or values, that are kept from step to step: for each item and head a ring of slots, in which key j of an item
 * lies in slot j modulo their number, until another one takes its place. A window needs no more than it sees; without
 * one there is a slot for every key.
 *
 *   B items, H_kv heads, d columns. Rows of an item are those of all its heads. */
#ifndef ATTN_STEPS_CACHE_H
#define ATTN_STEPS_CACHE_H

#include "tensor/tensor.h"

struct cache {
    struct tensor ring; /* (B, H_kv, slots, d) */
};

/* For rows like those of `whole` (B, H_kv, any number, d), nothing kept yet. STATUS_SYSTEM where memory is short. */
enum status cache_create(struct cache *cache, const struct tensor *whole, size_t slots, struct arena *arena,
                         struct error *error);

/* Rows from .. from + count of an item of a tensor (B, H_kv, rows, d) become keys first .. first + count. */
void cache_write(const struct cache *cache, const struct tensor *source, size_t from, size_t first, size_t count,
                 size_t item);

/* Keys first .. end - 1 of an item into these rows of a tensor (B, H_kv, rows, d). */
void cache_read(const struct cache *cache, size_t first, size_t end, const struct tensor *target, size_t item);

#endif
