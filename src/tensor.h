/* Numbers with a shape, row-major. The data belongs to an arena; a tensor is passed by value or const pointer. */
#ifndef ATTN_TENSOR_H
#define ATTN_TENSOR_H

#include "memory.h"

enum { TENSOR_RANK = 4, TENSOR_SHAPE_BYTES = 96 };

struct tensor {
    size_t rank; /* 1 to TENSOR_RANK; 0 where there is no tensor */
    size_t shape[TENSOR_RANK];
    float *data; /* the product of shape[0 .. rank) */
};

/* Room for a tensor of that shape, not cleared. STATUS_SYSTEM where the product overflows or memory is short. */
enum status tensor_create(struct tensor *tensor, size_t rank, const size_t *shape, struct arena *arena,
                          struct error *error);

/* How many numbers it has; for a tensor that exists. */
size_t tensor_count(const struct tensor *tensor);

/* "6 x 3" into text (TENSOR_SHAPE_BYTES); returns text. */
const char *tensor_shape_text(const struct tensor *tensor, char *text);

#endif
