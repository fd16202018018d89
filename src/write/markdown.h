/* result -> Markdown (GitHub's tables): each matrix a table under a line with its formula. */
#ifndef ATTN_WRITE_MARKDOWN_H
#define ATTN_WRITE_MARKDOWN_H

#include "base/output.h"
#include "compute/result.h"

/* STATUS_SYSTEM where memory is short; a failure to write is output_close's to tell. */
enum status write_markdown(struct result *result, int precision, bool full, struct output *output, struct arena *arena,
                           struct error *error);

#endif
