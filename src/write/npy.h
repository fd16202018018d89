/* result -> .npy: its one table, byte for byte as numpy.save writes it.
 *
 * Version 1.0 (npy.h says what that is): the header is padded so that the numbers begin at a multiple of 64. As NumPy
 * does since 1.23, the first size is given room to grow to 21 digits. */
#ifndef ATTN_WRITE_NPY_H
#define ATTN_WRITE_NPY_H

#include "base/output.h"
#include "compute/result.h"

/* The result must have one table: options.c sees to it. A failure to write is output_close's to tell. */
void write_npy(struct result *result, struct output *output);

#endif
