/* SPDX-License-Identifier: MIT */
/* What an option holds, as it would be typed: for the settings of a result, and for command lines. */
#ifndef ATTN_CLI_OPTION_TEXT_H
#define ATTN_CLI_OPTION_TEXT_H

#include "cli/options.h"

/* Room for all but a text that is told as it was typed: the longest has a mistake of each slot. */
enum { OPTION_TEXT_BYTES = MISTAKE_SLOT_COUNT * MISTAKE_NAME_BYTES };

/* The value of the option: "123", "0.5", "true", "top-left", or the text as it was typed, unless its row tells it
 * otherwise. Into text (OPTION_TEXT_BYTES), or as it stands in the options; NULL where a text is not there. */
const char *option_text(const struct options *options, enum option_id id, char *text);

/* Of a row: --mistake, "scale-missing,tiles-last-alone:4", in the order of the slots; NULL where there is none. */
option_teller option_tell_mistakes;

#endif
