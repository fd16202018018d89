/* .safetensors, named tensors -> struct input_file.
 *
 * The format (the README of huggingface/safetensors, "Format"): 8 bytes, little-endian: the length N of the header; N
 * bytes of JSON; the data, all of it little-endian, row-major.
 *
 *     {"__metadata__": {"attn": "0.1.0", "settings": "{...}", "tokens": "[...]"},
 *      "W_query": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}, ...}
 *
 * data_offsets begin with the data. The tensors fill the data without holes and without overlaps. __metadata__ is a map
 * of strings: settings and tokens are the JSON texts of those keys of a JSON file. */
#ifndef ATTN_READ_SAFETENSORS_H
#define ATTN_READ_SAFETENSORS_H

#include "read/input_file.h"

enum { SAFETENSORS_LENGTH_BYTES = 8, SAFETENSORS_LONGEST_HEADER = 100 * 1000 * 1000 };

#define SAFETENSORS_METADATA "__metadata__"

/* Whether a file that begins with these bytes is to be read as .safetensors. */
bool safetensors_begins(const unsigned char *bytes, size_t length);

/* Names are JSON's keys. What is of the `kinds` (bits of enum input_file_kind) goes into `input`; of the rest it has the
 * names, and the place in the file is checked all the same. A causal buffer may also be U8, as older modules have it. A
 * foreign tensor is read only where it is the file's one. Data may stay in `bytes`, which must live as long as the
 * arena. STATUS_USAGE "source: name: ..." where the file is not whole and right to the last byte, a name is unknown or
 * given twice, or a tensor that counts is empty, a single number, or of a dtype that attn has not. */
enum status safetensors_read(const char *source, const unsigned char *bytes, size_t length, unsigned kinds,
                             struct arena *arena, struct input_file *input, struct error *error);

#endif
