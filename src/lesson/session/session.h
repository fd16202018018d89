/* SPDX-License-Identifier: MIT */
/* A reader goes through the lessons: reads, predicts, runs commands, does the exercises. */
#ifndef ATTN_LESSON_SESSION_SESSION_H
#define ATTN_LESSON_SESSION_SESSION_H

#include "base/output.h"

/* Goes through lesson `first`, from 1, and the next ones as long as the reader wants; 0: the introduction before the
 * first. Reads standard input. Where that is a script that ends, or the output is no terminal, shows the lesson to
 * its end with what its commands print. The commands write to standard output, which must be the output.
 * STATUS_SYSTEM where the system refuses. */
enum status session_run(size_t first, bool color, struct output *output, struct arena *arena, struct error *error);

/* "  5  Why the square root", a line each. */
void session_list(struct output *output);

#endif
