/* SPDX-License-Identifier: MIT */
/* Reads the value of an option, from the command line, a file's settings, or its default; for this room. */
#pragma once

#include "cli/options.h"

/* Stores the value; messages call it `place`: "--heads" or "inputs.json: settings: heads". `text` is NULL for a flag,
 * or for a missing optional argument. STATUS_USAGE where the text is no value of the option. */
enum status option_store(struct options *options, enum option_id id, const char *place, const char *text,
                         struct error *error);

/* "light, dark, auto": the words of a choice, into list (size bytes); returns list. */
const char *option_choices(const struct option_row *row, char *list, size_t size);

/* Whether a name of `length` bytes, with _ or -, equals `own`, which may be NULL. */
bool option_is_called(const char *own, const char *name, size_t length);

/* Parsers. --scale: a number, a quotient such as 1/8 or 1/sqrt(64), or "off". */
option_parser option_parse_scale;

/* --rope-columns "64" or "last:64": rope_columns and rope_last. */
option_parser option_parse_rope_columns;

/* --rope-scaling "linear:factor=8": rope_scaling, which points to the text. */
option_parser option_parse_rope_scaling;

/* --rope-axes "restarted:h,w": rope_axes. */
option_parser option_parse_rope_axes;

/* --random "2x6x3": random_rank and random_shape. */
option_parser option_parse_random;

/* --mistake "scale-missing,tiles-last-alone:4", _ for - in names: mistakes and mistake_count. */
option_parser option_parse_mistakes;

/* --window "L,R", two whole numbers from -1 on: window_left and window_right. */
option_parser option_parse_window;

/* --query-growth "0.1,8192" or "0.1,8192,1": query_growth. */
option_parser option_parse_query_growth;

/* --can "causal,gqa": rejects names of no feature. --only "edge-16,window": rejects what no name of a case has. */
option_parser option_parse_can, option_parse_only;

/* --help, or --help=all: help and help_all. */
option_parser option_parse_help;

/* --answers, --answers one-page or --no-answers: answers and one_page. */
option_parser option_parse_answers;
