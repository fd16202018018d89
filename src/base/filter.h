/* SPDX-License-Identifier: MIT */
/* Another program as a filter: bytes to its standard input, what it writes to an output. */
#pragma once

#include "base/output.h"

/* Runs the program words[0], found along PATH and without a shell, with these words (the last is NULL). Its messages go
 * to standard error. STATUS_SYSTEM where it cannot be started (`missing` is the message where it is not installed),
 * fails, is ended by a signal or writes nothing. */
enum status filter_run(const char *const *words, const char *bytes, size_t length, const char *missing,
                       struct output *output, struct error *error);
