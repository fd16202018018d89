/* result -> CSV (RFC 4180, lines that end in a newline alone): one rectangular table for spreadsheets and scripts.
 *
 * The first line names the columns: stage; item and head where a table has them; row, the position; token, where the
 * input has tokens; 1, 2, ... for the columns of tables such as query; and last, for tables of T x T, the keys' tokens,
 * those that would not be the name of one column alone with their positions: saw.3, saw.10.
 * Each further line is one row of one table, whose other columns are empty; lse has a row for each query. */
#ifndef ATTN_WRITE_CSV_H
#define ATTN_WRITE_CSV_H

#include "base/output.h"
#include "compute/result.h"

enum { CSV_SHORTEST = -1 };

/* `decimals`: of each number, or CSV_SHORTEST for as many as it needs to be read back. Minus infinity is an empty
 * field. STATUS_SYSTEM where memory is short; a failure to write is output_close's to tell. */
enum status write_csv(struct result *result, int decimals, struct output *output, struct arena *arena,
                      struct error *error);

#endif
