/* The shortest decimal that reads back to the same number.
 *
 * Of the decimals that round to the number (nearest, ties to even), the one with the fewest significant digits; of
 * several with as many digits, the nearest to the number. A float's also reads back through a double, as readers of JSON
 * take it. Written as JSON writes numbers: plain between 1e-5 and 1e16 ("0.1", "3", "-0", "120000"), else with an
 * exponent ("1.5e-7", "1e+20"). */
#ifndef ATTN_BASE_DECIMAL_H
#define ATTN_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_BYTES = 32 }; /* room for any number and its NUL */

/* The number must be finite. Writes the text and a NUL to text (DECIMAL_BYTES), returns its length. */
size_t decimal_from_float(float number, char *text);
size_t decimal_from_double(double number, char *text);

/* The same for the bits of a float16 and of a bfloat16. */
size_t decimal_from_half(uint16_t bits, char *text);
size_t decimal_from_brain(uint16_t bits, char *text);

#endif
