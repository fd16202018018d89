/* SPDX-License-Identifier: MIT */
/* What a person is told of a checkpoint before its numbers are computed. */
#ifndef ATTN_LAYER_WARNINGS_H
#define ATTN_LAYER_WARNINGS_H

#include "layer/reading.h"

/* Adds what there is to say of a module whose family is known, each sentence once; texts live in the arena. Searches a
 * part of the config for the first of its modules only, and the folder for the first of all. */
enum status layer_warn(const struct reading *reading, const struct layer_module *module,
                       const struct family_row *family, struct layer_warnings *warnings);

#endif
