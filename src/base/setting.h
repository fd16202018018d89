/* SPDX-License-Identifier: MIT */
/* One row of "settings": what changes the numbers of a result, as a file says it and as a result records it. */
#ifndef ATTN_BASE_SETTING_H
#define ATTN_BASE_SETTING_H

#include <stdbool.h>

/* INEXACT: a number from 2^53 on, whose digits a reader of JSON has rounded. OTHER: null, an array, an object. */
enum setting_kind { SETTING_NUMBER, SETTING_TEXT, SETTING_TRUTH, SETTING_INEXACT, SETTING_OTHER, SETTING_KINDS };

/* The option's name with _ for -, its value as text; a truth is "true" or "false";
 * of another kind what it is, "null" or "an array". `words` is what a result's text calls a setting that stands there
 * only where it was asked for; else NULL. An idle one has made no number: nothing is drawn that depends on it. */
struct setting {
    const char *name;
    enum setting_kind kind;
    const char *text;
    const char *words;
    bool idle;
};

#endif
