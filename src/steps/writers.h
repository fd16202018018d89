/* SPDX-License-Identifier: MIT */
/* The steps as a format has them. */
#ifndef ATTN_STEPS_WRITERS_H
#define ATTN_STEPS_WRITERS_H

#include "steps/steps.h"

/* STATUS_SYSTEM where memory is short; a failure to write is output_close's to tell. */
typedef enum status steps_writer(const struct steps *steps, const struct options *options, struct output *output,
                                 struct arena *arena, struct error *error);

steps_writer steps_text, steps_json, steps_svg;

#endif
