/* SPDX-License-Identifier: MIT */
/* Writes bytes as text of 64 letters (RFC 4648, section 4), piece by piece. */
#pragma once

#include "base/output.h"

/* Starts as {.output = output}. */
struct base64 {
    struct output *output;
    unsigned char waiting[3]; /* bytes that do not yet make four letters */
    size_t count;             /* how many there are, below 3 */
};

/* Adds bytes; output_close reports a failure to write. */
void base64_add(struct base64 *base64, const unsigned char *bytes, size_t length);

/* Writes the waiting bytes, padded with '='. */
void base64_end(struct base64 *base64);
