/* SPDX-License-Identifier: MIT */
/* Chooses the format, and checks that it can hold the result. */
#ifndef ATTN_CLI_FORMAT_CHECK_H
#define ATTN_CLI_FORMAT_CHECK_H

#include "cli/options.h"

/* Without --format, chooses by the suffix of --out, or by the command. STATUS_USAGE for a suffix of no format. */
enum status format_choose(struct options *options, struct error *error);

/* STATUS_USAGE where the format cannot hold the result that the options ask for. */
enum status format_check(const struct options *options, struct error *error);

#endif
