/* SPDX-License-Identifier: MIT */
/* The layout of .safetensors, for its reader and its writer.
 *
 * The format (the README of huggingface/safetensors, "Format"): 8 bytes, little-endian: the length N of the header; N
 * bytes of JSON; the data, all of it little-endian, row-major.
 *
 *     {"__metadata__": {"attn": "0.2.0", "settings": "{...}", "tokens": "[...]"},
 *      "W_query": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}, ...}
 *
 * data_offsets begin with the data. The tensors fill the data without holes and without overlaps. __metadata__ is a map
 * of strings: settings and tokens are the JSON texts of those keys of a JSON file. */
#pragma once

enum { SAFETENSORS_LENGTH_BYTES = 8, SAFETENSORS_LONGEST_HEADER = 100 * 1000 * 1000 };

#define SAFETENSORS_METADATA "__metadata__"
