/* SPDX-License-Identifier: MIT */
/* A reader goes through the lessons: reads, predicts, runs commands, does the exercises. */
#pragma once

#include "base/output.h"

/* Goes through lesson `first`, from 1, and the next ones as long as the reader wants; 0: starts with the introduction.
 * Reads standard input. If that is a script that ends, or the output is no terminal, shows the lesson to its end with
 * the output of its commands, which write to standard output, as `output` must. STATUS_SYSTEM where the system
 * refuses. */
enum status session_run(size_t first, bool color, const char *called, struct output *output, struct arena *arena,
                        struct error *error);
