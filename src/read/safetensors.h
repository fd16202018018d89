/* SPDX-License-Identifier: MIT */
/* .safetensors, named tensors (model/safetensors_form.h) -> struct input_file. */
#ifndef ATTN_READ_SAFETENSORS_H
#define ATTN_READ_SAFETENSORS_H

#include "model/safetensors_form.h"
#include "read/named_tensors.h"

/* Whether a file that begins with these bytes is to be read as .safetensors. */
bool safetensors_begins(const unsigned char *bytes, size_t length);

/* Names are JSON's keys. What is of the `kinds` (bits of enum input_file_kind) goes into `input`; of the rest it has
 * the names, and the place in the file is checked all the same. A causal buffer may also be U8, as older modules have
 * it. A foreign tensor is read only where it is the file's one. Data may stay in `bytes`, which must live as long as
 * the arena. STATUS_USAGE "source: name: ..." where the file is not whole and right to the last byte, a name is unknown
 * or given twice, or a tensor that counts is empty, a single number, or of a dtype that attn has not. */
enum status safetensors_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds,
                             struct arena *arena, struct input_file *input, struct error *error);

/* The same by name and place, whatever the names and dtypes are: in the order of the header. */
enum status safetensors_list(const char *source, const unsigned char *bytes, size_t length, struct arena *arena,
                             struct named_list *list, struct error *error);

#endif
