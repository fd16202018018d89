/* SPDX-License-Identifier: MIT */
/* For make analyze alone: what an analyser that looks at one file at a time cannot know. */
#include "base/error.h"
#include "read/printed_table.h"

/* They return what is no STATUS_OK. */
#define error_usage(...) (error_usage(__VA_ARGS__), STATUS_USAGE)
#define error_system(...) (error_system(__VA_ARGS__), STATUS_SYSTEM)

/* They return false. */
#define printed_fail(...) (printed_fail(__VA_ARGS__), false)
#define printed_fail_expected(...) (printed_fail_expected(__VA_ARGS__), false)
