/* result -> one self-contained SVG: small inputs as a flow from table to table, T x T tables alone as heatmaps.
 *
 * A flow shows at most 12 rows and columns, 4 heads and 4 items. Where nobody asked for stages and the result is
 * larger, the weights are drawn alone, pooled where they are longer than 128. The bytes depend on the result alone. */
#ifndef ATTN_WRITE_SVG_WRITE_SVG_H
#define ATTN_WRITE_SVG_WRITE_SVG_H

#include "base/output.h"
#include "compute/result.h"

/* `decimals` below 0: two, or what the numbers need. STATUS_USAGE where a table asked for is too large to be drawn with
 * its numbers, STATUS_SYSTEM where memory is short. */
enum status write_svg(struct result *result, int decimals, struct output *output, struct arena *arena,
                      struct error *error);

#endif
