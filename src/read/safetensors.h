/* SPDX-License-Identifier: MIT */
/* .safetensors, named tensors (model/safetensors_form.h) -> struct input_file. */
#ifndef ATTN_READ_SAFETENSORS_H
#define ATTN_READ_SAFETENSORS_H

#include "model/safetensors_form.h"
#include "read/named_tensors.h"

/* Whether a file that begins with these bytes is to be read as .safetensors. */
bool safetensors_begins(const unsigned char *bytes, size_t length);

/* Of what is not of the `kinds` the place in the file is checked all the same. A causal buffer may also be U8, as older
 * modules have it. */
binary_reader safetensors_read;

#endif
