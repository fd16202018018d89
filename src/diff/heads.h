/* SPDX-License-Identifier: MIT */
/* Tables of packed heads, which kernels and attn lay out in other ways: the same numbers in other axes. */
#ifndef ATTN_DIFF_HEADS_H
#define ATTN_DIFF_HEADS_H

#include "diff/pair.h"

/* Gives the tables of both files the same axes, where one of them has its heads elsewhere:
 *
 *     context, grad_context          (…, T, H, d_v) becomes (…, T, H d_v)
 *     grad_query, grad_key, _value   (…, T, H, d) and (…, T, H d) become (…, H, T, d), where a file says that
 *                                    heads are packed: query, key and value are then given so
 *
 * What is changed becomes a copy; all else stays, so that its shape is refused. STATUS_SYSTEM where memory is short. */
enum status diff_meet_heads(const struct diff *diff, enum stage stage, const struct file_tensor **a,
                            const struct file_tensor **b, struct arena *arena, struct error *error);

#endif
