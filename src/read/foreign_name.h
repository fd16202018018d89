/* SPDX-License-Identifier: MIT */
/* Names that other programs have for what attn reads: PyTorch's modules, Keras, JAX, transformers. They are not taken,
 * since a name alone does not say which way round a matrix is stored; the error says the name that attn wants. */
#ifndef ATTN_READ_FOREIGN_NAME_H
#define ATTN_READ_FOREIGN_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* What to tell of an unknown name, into text (size bytes). `head` bytes of the name, "heads.0.", are attn's own. False
 * where nothing is known of it. */
bool foreign_name_hint(const char *name, size_t head, char *text, size_t size);

/* The stage that others call so in a file of results: "dq", "grad_q" and "q.grad" are grad_query; what others call the
 * output is `last`. NULL where nothing is known of the name. */
const char *foreign_name_stage(const char *name, const char *last);

#endif
