/* SPDX-License-Identifier: MIT */
/* For make analyze only: facts that an analyser of a single file cannot know. */
#include "base/error.h"
#include "read/json_tree.h"
#include "read/printed_table.h"

/* They never return STATUS_OK. */
#define error_usage(...) (error_usage(__VA_ARGS__), STATUS_USAGE)
#define error_system(...) (error_system(__VA_ARGS__), STATUS_SYSTEM)
#define json_wrong(...) (json_wrong(__VA_ARGS__), STATUS_USAGE)

/* They return false. */
#define printed_fail(...) (printed_fail(__VA_ARGS__), false)
#define printed_fail_expected(...) (printed_fail_expected(__VA_ARGS__), false)
