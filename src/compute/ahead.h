/* Rows of the context that go to their place in the file while others are still computed: the work of writing is then
 * done beside that of computing, by whichever thread has made them. */
#ifndef ATTN_COMPUTE_AHEAD_H
#define ATTN_COMPUTE_AHEAD_H

#include "base/output.h"
#include "tensor/dtype.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ahead {
    const struct output *output; /* NULL: all is written at the end */
    uint64_t offset;             /* where the table begins in the file */
    enum dtype dtype;            /* of its numbers, which lie as the file has them */
    bool begun;                  /* rows come, and unless `failed` says otherwise, all of them */
    atomic_bool failed;          /* some could not be written, or are not as a file has them */
};

/* `count` numbers of the table, from the one at `first` on, are made. Threads may say so at the same time. */
void ahead_rows(struct ahead *ahead, const void *numbers, size_t first, size_t count);

/* Whether the whole table is in the file. */
bool ahead_is_done(const struct ahead *ahead);

#endif
