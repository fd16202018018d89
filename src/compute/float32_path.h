/* The problem's tensors on their way to the float32 kernels: what setup.c and reference.c compute in double, at length.
 *
 * The fused path computes in float32 and rounds nothing in between: its stages are query, key, value, context and output
 * alone. Equal bits for any number of threads and for any choice of queries. */
#ifndef ATTN_COMPUTE_FLOAT32_PATH_H
#define ATTN_COMPUTE_FLOAT32_PATH_H

#include "compute/reference.h"

/* One projection of one module into projected, (B, H, count, d): of the queries asked for where `id` is that of query,
 * else of all tokens. STATUS_SYSTEM where memory is short. */
enum status float32_path_projection(const struct attention *attention, size_t module, enum projection_id id,
                                    const struct tensor *projected, struct error *error);

/* From query, key and value what the attention has room for: context, output, lse. STATUS_SYSTEM where memory is short. */
enum status float32_path_context(const struct attention *attention, struct error *error);

#endif
