/* SPDX-License-Identifier: MIT */
#include "write/picture/colormap.h"

#include <math.h>

/* Lightness 0 .. 1, and the two axes of hue: a from green to red, b from blue to yellow. */
struct oklab {
    double lightness, a, b;
};

/* As designers think: hue in degrees, chroma from 0 (grey) on. */
struct anchor {
    double lightness, chroma, hue;
};

/* Of one sign, from 0 to the largest magnitude, in even steps of lightness. */
enum { ANCHORS = 4 };

static const struct anchor POSITIVE[GROUND_COUNT][ANCHORS] = {
    [GROUND_LIGHT] = {{0.970, 0.000, 0}, {0.830, 0.100, 66}, {0.670, 0.140, 55}, {0.480, 0.118, 47}},
    [GROUND_DARK] = {{0.285, 0.000, 0}, {0.470, 0.095, 48}, {0.670, 0.130, 55}, {0.870, 0.095, 72}},
};
static const struct anchor NEGATIVE[GROUND_COUNT][ANCHORS] = {
    [GROUND_LIGHT] = {{0.970, 0.000, 0}, {0.830, 0.075, 242}, {0.670, 0.115, 248}, {0.480, 0.130, 257}},
    [GROUND_DARK] = {{0.285, 0.000, 0}, {0.470, 0.105, 255}, {0.670, 0.110, 247}, {0.870, 0.070, 238}},
};

static struct oklab of_anchor(struct anchor anchor)
{
    const double angle = anchor.hue * 3.14159265358979323846 / 180;
    return (struct oklab){anchor.lightness, anchor.chroma * cos(angle), anchor.chroma * sin(angle)};
}

/* From linear light to the stored byte, IEC 61966-2-1; what lies outside sRGB goes to its edge. */
static unsigned char encode(double light)
{
    const double inside = fmin(fmax(light, 0), 1);
    const double value = inside <= 0.0031308 ? 12.92 * inside : 1.055 * pow(inside, 1 / 2.4) - 0.055;
    return (unsigned char)lround(255 * value);
}

static double decode(unsigned char byte)
{
    const double value = byte / 255.0;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static struct color from_oklab(struct oklab lab)
{
    const double l = pow(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b, 3);
    const double m = pow(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b, 3);
    const double s = pow(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b, 3);
    return (struct color){
        encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s),
    };
}

struct color colormap_color(bool diverging, enum ground ground, size_t level)
{
    const double share = (double)level / (COLORMAP_LEVELS - 1), number = diverging ? 2 * share - 1 : share;
    const struct anchor *anchors = number < 0 ? NEGATIVE[ground] : POSITIVE[ground];
    const double place = fabs(number) * (ANCHORS - 1);
    const size_t below = place >= ANCHORS - 1 ? ANCHORS - 2 : (size_t)place;
    const double part = place - (double)below;
    const struct oklab from = of_anchor(anchors[below]), to = of_anchor(anchors[below + 1]);
    return from_oklab((struct oklab){from.lightness + part * (to.lightness - from.lightness),
                                     from.a + part * (to.a - from.a), from.b + part * (to.b - from.b)});
}

struct colormap_scale colormap_scale(double low, double high)
{
    const double largest = fmax(-low, high);
    return (struct colormap_scale){low < 0, low < 0 ? -largest : 0, largest};
}

size_t colormap_level(const struct colormap_scale *scale, double number)
{
    if (!(number > scale->low))
        return 0;
    if (number >= scale->high)
        return COLORMAP_LEVELS - 1;
    /* Where the difference overflows, that of the halves does not. */
    const double part = scale->high - scale->low < INFINITY ? 1 : 0.5;
    const double place = (number * part - scale->low * part) / (scale->high * part - scale->low * part);
    return (size_t)lround(place * (COLORMAP_LEVELS - 1));
}

/* Relative luminance, WCAG 2.1. */
static double luminance(struct color color)
{
    return 0.2126 * decode(color.red) + 0.7152 * decode(color.green) + 0.0722 * decode(color.blue);
}

double colormap_contrast(struct color one, struct color other)
{
    const double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return a > b ? a / b : b / a;
}

struct color colormap_ink(struct color color)
{
    const struct color black = {0, 0, 0}, white = {255, 255, 255};
    return colormap_contrast(color, black) >= colormap_contrast(color, white) ? black : white;
}
