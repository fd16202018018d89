/* SPDX-License-Identifier: MIT */
/* result -> a worked solution: for each stage that is explained, every row that was asked for with its arithmetic.
 *
 * The order is that of the stages, or with a cell from it back to the inputs. What is given and not computed is a table
 * as in write_text. More than RESULT_ELIDED rows, columns or terms: the first and last EXPLAIN_ENDS, and in a sum the
 * subtotal of those between. */
#pragma once

#include "write/writing.h"

/* `by_hand`: without the head lines, and without decimals where all numbers of a stage or parameter are whole, as in a
 * calculation by hand. STATUS_SYSTEM where memory is short. */
enum status write_explanation(const struct writing *writing, bool by_hand);
