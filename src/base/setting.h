/* SPDX-License-Identifier: MIT */
/* One row of "settings", in a file or a result: an option that changes numbers. */
#pragma once

#include <stdbool.h>

/* INEXACT: a number from 2^53 on, whose digits a reader of JSON has rounded. OTHER: null, an array, an object. */
enum setting_kind { SETTING_NUMBER, SETTING_TEXT, SETTING_TRUTH, SETTING_INEXACT, SETTING_OTHER, SETTING_KINDS };

/* The option's name with _ for -, and its value as text: a truth is "true" or "false", OTHER names its kind, "null" or
 * "an array". `words` is the name in a text result of a setting that it shows only on request; else NULL. An idle
 * setting changed no number: nothing drawn depends on it. */
struct setting {
    const char *name;
    enum setting_kind kind;
    const char *text;
    const char *words;
    bool idle;
};
