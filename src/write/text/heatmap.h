/* A T x T table -> coloured cells for a terminal, with the number in each, tokens on both axes and a scale beneath.
 *
 * Heads stand side by side as the width allows. Where it does not allow much, cells lose margin, then decimals, then
 * the number; where they still do not fit, blocks of numbers become one cell each (downsample.h), and a note says so. */
#ifndef ATTN_WRITE_TEXT_HEATMAP_H
#define ATTN_WRITE_TEXT_HEATMAP_H

#include "base/output.h"
#include "compute/result.h"
#include "write/picture/terminal_color.h"

struct heatmap_style {
    int decimals; /* below 0: two, or what the numbers need */
    enum terminal_color_depth depth;
    enum ground ground; /* of the terminal */
    size_t columns;     /* that a line may have */
};

/* Everything beneath the heading. STATUS_SYSTEM where memory is short. */
enum status write_heatmap(struct result *result, const struct result_table *table, struct heatmap_style style,
                          struct output *output, struct arena *arena, struct error *error);

#endif
