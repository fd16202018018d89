/* SPDX-License-Identifier: MIT */
/* What the options say of the format: which it is, and whether it can hold what is asked for. */
#ifndef ATTN_CLI_FORMAT_CHECK_H
#define ATTN_CLI_FORMAT_CHECK_H

#include "cli/options.h"

/* Where --format does not say it: the suffix of --out does, or the command. STATUS_USAGE for a suffix that no format
 * has. */
enum status format_choose(struct options *options, struct error *error);

/* STATUS_USAGE where the format of a result cannot hold what the options ask for. */
enum status format_check(const struct options *options, struct error *error);

#endif
