/* SPDX-License-Identifier: MIT */
/* The lines above the tables: the mechanism, its sizes and its settings, as a sentence. */
#pragma once

#include "base/output.h"
#include "base/text.h"
#include "problem/problem.h"

/* Writes lines of at most so many columns, WRAP_COLUMNS or fewer; bold where `bold`. */
void head_lines_write(const struct problem *problem, size_t columns, bool bold, struct output *output);

/* Adds them to a text as one line. STATUS_SYSTEM where memory is short. */
enum status head_lines_add(const struct problem *problem, struct text *text, struct arena *arena, struct error *error);
