/* result -> LaTeX: each matrix a table with the rules of the package booktabs, under a line with its formula. */
#ifndef ATTN_WRITE_LATEX_H
#define ATTN_WRITE_LATEX_H

#include "base/output.h"
#include "compute/result.h"

/* STATUS_SYSTEM where memory is short; a failure to write is output_close's to tell. */
enum status write_latex(struct result *result, int precision, bool full, struct output *output, struct arena *arena,
                        struct error *error);

#endif
