/* SPDX-License-Identifier: MIT */
/* The names in PyTorch's modules, Keras, JAX and transformers of the tensors that attn reads. attn rejects these names,
 * since a name does not tell whether a matrix is stored transposed; the error suggests attn's own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes a hint for an unknown name into text (size bytes). The first `head` bytes of the name, "heads.0.", are attn's
 * prefix. False for a name in no row. */
bool foreign_name_hint(const char *name, size_t head, char *text, size_t size);

/* The stage that other programs' results call by this name: "dq", "grad_q" and "q.grad" are grad_query; names of the
 * output give `last`. NULL for a name in no row. */
const char *foreign_name_stage(const char *name, const char *last);
