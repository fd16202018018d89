/* SPDX-License-Identifier: MIT */
/* 2^x and tanh of floats, for kernel_pieces.h. */

static const double LOG2_E = 0x1.715476p+0;

enum { MANTISSA_BITS = 23, LEAST_EXPONENT = -125 };

/* 2^x for x within 1/2, exactly 1 at 0, relative error below 1.8e-7: a polynomial of least relative error (Remez's
 * problem with the constant held at 1, solved by Lawson's reweighting). */
INLINE vector exp2_near_zero(vector x)
{
    vector p = broadcast(0x1.5bba14p-10f);
    p = multiply_add(p, x, broadcast(0x1.3cea88p-7f));
    p = multiply_add(p, x, broadcast(0x1.c6b752p-5f));
    p = multiply_add(p, x, broadcast(0x1.ebf9bcp-3f));
    p = multiply_add(p, x, broadcast(0x1.62e42ap-1f));
    return multiply_add(p, x, broadcast(1.0f));
}

/* height tanh(x), with relative error below 4e-7, never beyond the height, and exactly the height where tanh is 1 in a
 * float; NaN stays NaN.
 *
 * x times a quotient of polynomials in its square, of least relative error up to 9.02 (Lawson's reweighting of the
 * linearised problem). No term is negative, so no digits cancel. */
INLINE vector tanh_vector(vector x, vector height)
{
    const naturals sign = (naturals)x & (naturals)broadcast(-0.0f);
    const vector size = (vector)((naturals)x ^ sign), square = x * x;
    vector p = broadcast(0x1.cb4bcep-27f);
    p = multiply_add(p, square, broadcast(0x1.59ebfep-16f));
    p = multiply_add(p, square, broadcast(0x1.ca4066p-9f));
    p = multiply_add(p, square, broadcast(0x1.120dc6p-3f));
    p = multiply_add(p, square, broadcast(0x1.000000p+0f));
    vector q = broadcast(0x1.a1c88ep-21f);
    q = multiply_add(q, square, broadcast(0x1.589fccp-12f));
    q = multiply_add(q, square, broadcast(0x1.a8017ep-6f));
    q = multiply_add(q, square, broadcast(0x1.de5c2cp-2f));
    q = multiply_add(q, square, broadcast(1.0f));
    const vector quotient = size * p / q;
    const integers one = (size > broadcast(9.02f)) | (quotient > broadcast(1.0f));
    return (vector)((naturals)select_vector(one, height, quotient * height) | sign);
}
