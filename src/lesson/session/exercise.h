/* SPDX-License-Identifier: MIT */
/* An exercise: runs what the reader types, and compares its output with the output of the answer. */
#ifndef ATTN_LESSON_SESSION_EXERCISE_H
#define ATTN_LESSON_SESSION_EXERCISE_H

#include "lesson/session/ask.h"

/* Asks until the exercise is done, or the reader goes on without. */
enum move exercise_do(struct session *session, const struct lesson_part *exercise);

#endif
