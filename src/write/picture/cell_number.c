/* SPDX-License-Identifier: MIT */
#include "write/picture/cell_number.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

struct cell_number_style cell_number_style(const struct downsample *sample, int decimals)
{
    const double largest = fmax(fabs(sample->low), fabs(sample->high));
    const bool exponent = text_wants_exponent(largest);
    if (decimals >= 0 || exponent)
        return (struct cell_number_style){decimals >= 0 ? decimals : 1, exponent};
    /* two significant digits of the largest number, or all that stand before its point */
    const int magnitude = largest > 0 ? (int)floor(log10(largest)) : 0;
    if (magnitude < -1)
        return (struct cell_number_style){1 - magnitude, false};
    return (struct cell_number_style){magnitude >= 3 ? 0 : CELL_NUMBER_DECIMALS, false};
}

const char *cell_number_text(struct cell_number_style style, double number, char *text)
{
    return text_number(text, CELL_NUMBER_BYTES, style.decimals, style.exponent && number != 0, number);
}

const char *cell_number_longest(const struct downsample *sample, struct cell_number_style style, char *text)
{
    const size_t count = sample->matrices * sample->rows * sample->columns;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char candidate[CELL_NUMBER_BYTES];
        if (!sample->masked[i] && strlen(cell_number_text(style, sample->numbers[i], candidate)) > strlen(text))
            strcpy(text, candidate);
    }
    return text;
}
