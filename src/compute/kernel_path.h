/* SPDX-License-Identifier: MIT */
/* Hands the problem's tensors to the kernels, which compute fast what setup.c and reference.c compute in
 * double.
 *
 * The fused path rounds nothing between the stages, so query, key, value, context and output are all that it has. The
 * bits are the same for any number of threads and any choice of queries. */
#ifndef ATTN_COMPUTE_KERNEL_PATH_H
#define ATTN_COMPUTE_KERNEL_PATH_H

#include "compute/reference.h"
#include "kernel/fused.h"

/* By query (B, H, Tq, d), key (B, H_kv, Tk, d) and value (B, H_kv, Tk, d_v), in the kernel's numbers; and by the sinks
 * of the heads of each item (B H), or NULL where there are none. */
struct kernel_gradients {
    void *query, *key, *value;
    double *sinks;
};

/* One projection of one module into projected, (B, H, count, d): of the queries asked for where `id` is that of query,
 * else of all tokens. STATUS_SYSTEM where memory is short. */
enum status kernel_path_projection(const struct attention *attention, size_t module, enum projection_id id,
                                   const struct tensor *projected, struct error *error);

/* From query, key and value makes those of context, output and row statistics that the attention has room for; a
 * context that is streamed is written and held nowhere. None of them is of use where *found says that key or value is
 * not finite: of sdpa, or where it might reach a query that does not see it; or that the query is not, where it is what
 * sdpa was given as a whole. STATUS_SYSTEM where memory is short. */
enum status kernel_path_context(struct attention *attention, struct fused_found *found, struct error *error);

/* From query, key, value and context, all held, exact_lse, and grad_context (B, H, Tq, d_v) in the kernel's numbers.
 * STATUS_SYSTEM where memory is short. */
enum status kernel_path_gradients(const struct attention *attention, const void *grad_context,
                                  const struct kernel_gradients *gradients, struct error *error);

#endif
