/* SPDX-License-Identifier: MIT */
/* The number in a cell of a picture: as short as is readable, with the same decimals in all cells of a table. */
#pragma once

#include "write/picture/downsample.h"

enum { CELL_NUMBER_BYTES = 48, CELL_NUMBER_DECIMALS = 2 };

struct cell_number_style {
    int decimals;
    bool exponent; /* "1.2e-07", where fixed decimals would be too long */
};

/* The style for all numbers of the sample. `decimals` below 0: two, more where all numbers are small, none where
 * some are large. */
struct cell_number_style cell_number_style(const struct downsample *sample, int decimals);

/* The number into text (CELL_NUMBER_BYTES), without a sign where it shows as 0; returns text. */
const char *cell_number_text(struct cell_number_style style, double number, char *text);

/* The longest text of a number of the sample, "" where all are masked, into text (CELL_NUMBER_BYTES); returns text. */
const char *cell_number_longest(const struct downsample *sample, struct cell_number_style style, char *text);
