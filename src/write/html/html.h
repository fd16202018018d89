/* result -> one HTML page that needs no network: tokens, settings, query, key and value, and a script that computes from
 * them what a reader points at, by the equations of src/stage.
 *
 * The data stand in <script> elements that no browser runs: one JSON object, and numbers in base64, little-endian, of
 * float64 for that dtype and else of float32. Text from outside reaches the page through text_shown, and there is no '<'
 * in it: it can close no element, and what is hidden is seen. */
#ifndef ATTN_WRITE_HTML_HTML_H
#define ATTN_WRITE_HTML_HTML_H

#include "base/output.h"
#include "compute/result.h"

/* The result must have tables of query, key and value, as problem.c sees to; the T x T stages and context that it has are
 * those that the page shows. `precision`: decimals on the page. A failure to write is output_close's to tell. */
void write_html(struct result *result, int precision, struct output *output);

#endif
