/* SPDX-License-Identifier: MIT */
/* Bytes as text of 64 letters (RFC 4648, section 4), written as they come. */
#ifndef ATTN_BASE_BASE64_H
#define ATTN_BASE_BASE64_H

#include "base/output.h"

/* Starts as {.output = output}. */
struct base64 {
    struct output *output;
    unsigned char waiting[3]; /* bytes that do not yet make four letters */
    size_t count;             /* how many there are, below 3 */
};

/* Adds bytes; a failure to write is output_close's to tell. */
void base64_add(struct base64 *base64, const unsigned char *bytes, size_t length);

/* Writes what is waiting, filled up with '='. */
void base64_end(struct base64 *base64);

#endif
