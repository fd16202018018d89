/* SPDX-License-Identifier: MIT */
/* Checks options against each other, once all are read. */
#ifndef ATTN_CLI_OPTION_CHECK_H
#define ATTN_CLI_OPTION_CHECK_H

#include "cli/options.h"

/* Reads --stages, --blank and --part, and chooses the format. STATUS_USAGE where two options, or an option and the
 * command, exclude each other. */
enum status option_check(struct options *options, struct error *error);

/* STATUS_USAGE for an option of other commands, or of the command with other mechanisms (MECHANISM_COUNT: with any). */
enum status option_refuse(enum command command, enum mechanism mechanism, enum option_id id, struct error *error);

#endif
