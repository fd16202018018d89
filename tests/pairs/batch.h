/* SPDX-License-Identifier: MIT */
/* Readers that are programs of the machine, and take all files of a kind at once: xmllint for pictures, jq for JSON, node
 * for pages, pdflatex for LaTeX. Each is shown a broken file, too, which it must refuse. */
#ifndef ATTN_PAIRS_BATCH_H
#define ATTN_PAIRS_BATCH_H

#include <stdbool.h>
#include <stddef.h>

enum batch_kind { BATCH_JSON, BATCH_SVG, BATCH_PAGE, BATCH_LATEX, BATCH_KINDS };

/* Keeps a result for its reader, and the command line that made it; for a page, also the JSON of the same job (else NULL).
 * One that is broken must be refused. */
void batch_add(enum batch_kind kind, const char *line, const char *bytes, size_t length, const char *json,
               size_t json_length, bool broken);

/* Has all of them read, a test each, and forgets them; where `least` files do not wait yet, does nothing. A reader that is
 * not installed is a test that is skipped, once. */
void batch_read(size_t least);

#endif
