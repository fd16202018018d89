/* SPDX-License-Identifier: MIT */
/* A long context on its way into a file: each thread writes the rows that it has made to their place, while others are
 * computed. They are held nowhere. */
#ifndef ATTN_COMPUTE_STREAMED_OUTPUT_H
#define ATTN_COMPUTE_STREAMED_OUTPUT_H

#include "base/output.h"
#include "tensor/dtype.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct streamed_output {
    const struct output *output; /* NULL: what is made is held, and written later */
    uint64_t offset;             /* where the table begins in the file */
    enum dtype made, dtype;      /* of the numbers as they are made, and in the file */
    bool begun;                  /* the rows come so, all of them */
    atomic_int code;             /* of errno, where some could not be written */
};

/* `count` numbers of the table of a streamed output, from the one at `first` on, are made. Threads may call it at the
 * same time. */
void streamed_output_write(void *streamed, const void *numbers, size_t first, size_t count);

#endif
