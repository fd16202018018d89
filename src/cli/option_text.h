/* SPDX-License-Identifier: MIT */
/* The value of an option as text, for the settings of a result and for command lines. */
#pragma once

#include "cli/options.h"

/* Fits any value that is not returned as typed: the longest has a mistake of each slot. */
enum { OPTION_TEXT_BYTES = MISTAKE_SLOT_COUNT * MISTAKE_NAME_BYTES };

/* The value of the option: "123", "0.5", "true", "top-left", or the typed text, unless its row has another function. In
 * text (OPTION_TEXT_BYTES), or in the options; NULL for a missing text. */
const char *option_text(const struct options *options, enum option_id id, char *text);

/* For the row of --mistake: "scale-missing,tiles-last-alone:4", in the order of the slots; NULL: none. */
option_teller option_tell_mistakes;
