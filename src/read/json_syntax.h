/* SPDX-License-Identifier: MIT */
/* Checks the grammar of JSON strictly, in one pass over the bytes.
 *
 * RFC 8259 in UTF-8, one value, nested at most JSON_DEPTH deep. cJSON, which builds the tree afterwards, accepts
 * leading zeros, "2.", raw control characters, other control bytes as white space, a byte order mark, "\u00G0", and
 * bytes after a NUL; json_syntax rejects each with its line and column. */
#pragma once

#include "base/error.h"
#include "read/json_arrays.h"

#include <stddef.h>

/* Levels of arrays and objects in a text, and in the tree of cJSON, which recurses; a tensor needs fewer. */
enum { JSON_DEPTH = 1000, JSON_TREE_DEPTH = 16 };

/* Checks text[0 .. length), ended by text[length] == '\0'. Returns STATUS_OK, or STATUS_USAGE with "source:line:column:
 * expected ..., got ..." and, as detail, the line (clipped around the position) with a caret. Lines and columns count
 * from 1; a column is a character, not a byte.
 *
 * Rewrites in place, without changing the length, what cJSON cannot hold: a number of more than 63 characters becomes
 * its double's digits and blanks; the escape \u0000, which would end a C string, becomes \ufffd; an array or object
 * within JSON_TREE_DEPTH others becomes an empty one.
 *
 * `arrays`, unless NULL, gets the arrays of numbers (json_arrays.h), which stay in the text; the caller always frees
 * it. STATUS_SYSTEM where memory for them is short. */
enum status json_syntax(const char *source, char *text, size_t length, struct json_arrays *arrays, struct error *error);
