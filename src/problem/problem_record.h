/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the settings that a result records, and the warnings. */
#ifndef ATTN_PROBLEM_PROBLEM_RECORD_H
#define ATTN_PROBLEM_PROBLEM_RECORD_H

#include "base/setting.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>

struct problem_record {
    struct setting *settings; /* that change the numbers, with the values used */
    size_t setting_count;
    const char *warnings[OPTION_COUNT + 1]; /* at most one per option, "--seed does nothing: ...", and one of images */
    size_t warning_count;
};

#endif
