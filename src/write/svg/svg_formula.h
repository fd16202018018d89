/* SPDX-License-Identifier: MIT */
/* Formulas as a book sets them: "query . key^T" as Q K with a raised T, "sqrt(2)" as a root, -inf as a sign.
 *
 * What has a letter in Vaswani et al. 2017 is called by it: X (the inputs), Q, K, V, and W with its index. A table with
 * a letter says so before its own formula, and every other table is called by its name. */
#ifndef ATTN_WRITE_SVG_SVG_FORMULA_H
#define ATTN_WRITE_SVG_SVG_FORMULA_H

#include "write/svg/svg_panel.h"

enum { SVG_FORMULA_BYTES = 1024 };

/* The formula of a table, with its letter before it, marked for svg_text, into text (SVG_FORMULA_BYTES); "" where it
 * has neither. Returns text. */
const char *svg_formula(const struct result *result, const struct result_table *table, char *text);

/* The name of a table, into text (SVG_FORMULA_BYTES); returns text. */
const char *svg_name(const struct result_table *table, char *text);

#endif
