/* SPDX-License-Identifier: MIT */
/* .safetensors, named tensors (model/safetensors_form.h) -> struct input_file. */
#pragma once

#include "model/safetensors_form.h"
#include "read/named_tensors.h"

bool safetensors_begins(const unsigned char *bytes, size_t length);

/* Also checks the extents of tensors that are not of the `kinds`. A causal buffer may be U8, as in older modules. */
binary_reader safetensors_read;
