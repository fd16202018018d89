/* SPDX-License-Identifier: MIT */
/* Streams a long context to a file: each thread writes its rows at their offset while others compute. Nothing holds
 * them. */
#pragma once

#include "base/output.h"
#include "tensor/dtype.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct streamed_output {
    const struct output *output; /* NULL: no stream, the writer writes held rows later */
    uint64_t offset;             /* of the table in the file */
    enum dtype made, dtype;      /* of the computed numbers, and of the file's */
    bool begun;                  /* all rows come through the stream */
    atomic_int code;             /* errno of a failed write, or 0 */
};
