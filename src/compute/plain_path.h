/* SPDX-License-Identifier: MIT */
/* A job with mistakes that no problem can express: mistake/plain.h makes complete stages. */
#pragma once

#include "compute/reference.h"

/* Fills `attention` with all of these stages, a set closed under stage_closure, of the problem's rows. STATUS_SYSTEM:
 * out of memory. */
enum status plain_path(struct attention *attention, const struct problem *problem, uint64_t stages, struct arena *arena,
                       struct error *error);
