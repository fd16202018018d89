/* SPDX-License-Identifier: MIT */
/* What stages are made from, where two results hold it: inputs, parameters, masks, a past. */
#ifndef ATTN_DIFF_SOURCES_H
#define ATTN_DIFF_SOURCES_H

#include "diff/pair.h"

/* Whether the tensor is known by its name as such. */
bool diff_is_source(const struct input_file *input, const struct file_tensor *named);

/* Whether the stage is not computed but given, as `sdpa` is given its query, key and value, and all the gradient that
 * the way back begins at: in one of the files, or `both`. */
bool diff_is_given(const struct diff *diff, enum stage stage, bool both);

/* Whether one of the files says, or shows by what it holds, that query, key and value are made of inputs. */
bool diff_is_projected(const struct diff *diff);

/* Sets diff->sources (stages that both files were given among them), aligned by tokens where stages are. One that a
 * file lacks counts where both files hold all that they were made from. Sources that cannot meet, as their shapes
 * differ or one is boolean, have a comparison of 0 numbers. STATUS_SYSTEM where memory is short. */
enum status diff_compare_sources(struct diff *diff, const struct options *options, struct arena *arena,
                                 struct error *error);

#endif
