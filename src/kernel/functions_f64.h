/* SPDX-License-Identifier: MIT */
/* 2^x and tanh of doubles, for kernel_pieces.h. The polynomials come from Lawson's reweighting, as in
 * functions_f32.h. */

static const double LOG2_E = 0x1.71547652b82fep+0;

enum { MANTISSA_BITS = 52, LEAST_EXPONENT = -1021 };

/* 2^x for x within 1/2, exactly 1 at 0, relative error below 3e-16. */
INLINE vector exp2_near_zero(vector x)
{
    static const double terms[] = {0x1.e61b4ff5634d2p-28,
                                   0x1.b5267ce4b924ap-24,
                                   0x1.62bfc79d10131p-20,
                                   0x1.ffcbfba97e613p-17,
                                   0x1.4309130ed8e86p-13,
                                   0x1.5d87fe78cd6d9p-10,
                                   0x1.3b2ab6fba0119p-7,
                                   0x1.c6b08d7049fe8p-5,
                                   0x1.ebfbdff82c5a4p-3,
                                   0x1.62e42fefa39efp-1,
                                   1.0};
    vector p = broadcast(0x1.e79bb03c04069p-32);
    UNROLLED (i, 11)
        p = multiply_add(p, x, broadcast(terms[i]));
    return p;
}

/* height tanh(x), with relative error below 1e-15, never beyond the height; NaN stays NaN.
 *
 * Up to 0.55, x less x^3 times a quotient of polynomials in its square; above, (1 - e) / (1 + e) with e = 2^(-2 x
 * log2(e)), where no digits cancel. */
INLINE vector tanh_vector(vector x, vector height)
{
    const naturals sign = (naturals)x & (naturals)broadcast(-0.0);
    const vector size = (vector)((naturals)x ^ sign), square = x * x;
    vector p = broadcast(0x1.a1d35cbbd9e2bp-13);
    p = multiply_add(p, square, broadcast(0x1.4fdf90d39227ep-6));
    p = multiply_add(p, square, broadcast(0x1.5555555555555p-2));
    vector q = broadcast(0x1.b142963e4e1b5p-13);
    q = multiply_add(q, square, broadcast(0x1.7da2150b1bac7p-6));
    q = multiply_add(q, square, broadcast(0x1.d89384c144fbbp-2));
    q = multiply_add(q, square, broadcast(1.0));
    const vector near = size - size * square * (p / q);
    const vector e = exp2_vector(size * broadcast(-2 * LOG2_E));
    const vector far = (broadcast(1.0) - e) / (broadcast(1.0) + e);
    return (vector)((naturals)(select_vector(size > broadcast(0.55), far, near) * height) | sign);
}
