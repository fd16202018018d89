/* SPDX-License-Identifier: MIT */
/* Runs the problem's tensors through the kernels, the fast path for what setup.c and reference.c compute in double.
 *
 * The fused path rounds nothing between the stages, so it has only query, key, value, context and output. The bits are
 * the same for any number of threads and any choice of queries. */
#pragma once

#include "compute/reference.h"
#include "kernel/fused_backward.h"

/* Writes one projection of one module to projected, (B, H, count, d): for the query, of the selected queries; else of
 * all tokens. STATUS_SYSTEM: out of memory. */
enum status kernel_path_projection(const struct attention *attention, size_t module, enum projection_id id,
                                   const struct tensor *projected, struct error *error);

/* From query, key and value makes context, output and row statistics, as far as the attention has room for them; writes
 * a streamed context without holding it. All are useless if *found reports a non-finite key or value (checked for sdpa,
 * or if it might reach a query that may not attend to it) or query (checked if it is all of sdpa's query).
 * STATUS_SYSTEM: out of memory. */
enum status kernel_path_context(struct attention *attention, struct fused_found *found, struct error *error);

/* From the held query, key, value and context, and exact_lse: the caller fills in grad_context and the gradients.
 * STATUS_SYSTEM: out of memory. */
enum status kernel_path_gradients(const struct attention *attention, struct fused_backward_job job,
                                  struct error *error);
