/* SPDX-License-Identifier: MIT */
/* A reader goes through the lessons: reads, predicts, runs commands, does the exercises. */
#ifndef ATTN_LESSON_SESSION_SESSION_H
#define ATTN_LESSON_SESSION_SESSION_H

#include "base/output.h"
#include "lesson/lessons.h"

/* Goes through lesson `first`, from 1, and those behind it as long as the reader wants; 0: the introduction before the
 * first. What is typed comes from standard input; where that ends and is no terminal, or the output is none, the lesson
 * goes on to its end without asking. The commands write to standard output, which the output is. Returns
 * STATUS_SYSTEM where the system refuses. */
enum status session_run(size_t first, bool color, struct output *output, struct arena *arena, struct error *error);

/* "  5  Why the square root", a line each. */
void session_list(struct output *output);

#endif
