/* SPDX-License-Identifier: MIT */
/* The dtype that the decimals of a text stand for: its settings tell it, or the other file does. */
#ifndef ATTN_DIFF_DTYPES_H
#define ATTN_DIFF_DTYPES_H

#include "diff/pair.h"

/* Sets side->dtype and side->unstated. STATUS_USAGE where the settings have a dtype that attn has not. */
enum status diff_read_dtype(struct diff_side *side, struct error *error);

/* Gives each tensor of a text its dtype (file_tensor.stated), and rounds those that are no sources to it. A text that
 * does not say its dtype takes that of the tensor it meets where its decimals, as far as they go, are numbers of it;
 * else they are float32's. STATUS_USAGE where one overflows, as it would pass for an infinity. STATUS_SYSTEM where
 * memory is short. */
enum status diff_round_texts(struct diff *diff, struct arena *arena, struct error *error);

#endif
