/* SPDX-License-Identifier: MIT */
/* What PyTorch's modules, Keras, JAX and transformers call the things that attn reads. attn rejects these names, since
 * a name does not tell whether a matrix is stored transposed; the error suggests attn's own. */
#ifndef ATTN_READ_FOREIGN_NAME_H
#define ATTN_READ_FOREIGN_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* A hint for an unknown name, into text (size bytes). The first `head` bytes of the name, "heads.0.", are attn's own.
 * False for a name that no row has. */
bool foreign_name_hint(const char *name, size_t head, char *text, size_t size);

/* The stage that others call so in a file of results: "dq", "grad_q" and "q.grad" are grad_query; their names for the
 * output give `last`. NULL for a name that no row has. */
const char *foreign_name_stage(const char *name, const char *last);

#endif
