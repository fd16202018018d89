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

enum { ANCHORS = 5 };

/* Lightness falls in even steps; the hue turns from sea green to indigo, so that neighbours also differ in colour. */
static const struct anchor SEQUENTIAL[ANCHORS] = {
    {0.970, 0.012, 200}, {0.805, 0.085, 205}, {0.640, 0.115, 240}, {0.460, 0.135, 265}, {0.290, 0.095, 285},
};

/* The same lightness on both sides of the neutral middle. */
static const struct anchor DIVERGING_LIGHT[ANCHORS] = {
    {0.480, 0.140, 258}, {0.740, 0.095, 250}, {0.970, 0.000, 0}, {0.740, 0.115, 60}, {0.480, 0.110, 48},
};
static const struct anchor DIVERGING_DARK[ANCHORS] = {
    {0.830, 0.090, 240}, {0.560, 0.110, 255}, {0.285, 0.000, 0}, {0.560, 0.110, 50}, {0.830, 0.110, 70},
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
    const struct anchor *anchors = !diverging ? SEQUENTIAL : ground == GROUND_LIGHT ? DIVERGING_LIGHT : DIVERGING_DARK;
    if (!diverging && ground == GROUND_DARK)
        level = COLORMAP_LEVELS - 1 - level;
    const double place = (double)level / (COLORMAP_LEVELS - 1) * (ANCHORS - 1);
    const size_t below = place >= ANCHORS - 1 ? ANCHORS - 2 : (size_t)place;
    const double share = place - (double)below;
    const struct oklab from = of_anchor(anchors[below]), to = of_anchor(anchors[below + 1]);
    return from_oklab((struct oklab){from.lightness + share * (to.lightness - from.lightness),
                                     from.a + share * (to.a - from.a), from.b + share * (to.b - from.b)});
}

struct colormap_scale colormap_scale(double low, double high, bool from_zero)
{
    if (low < 0 && high > 0) {
        const double largest = fmax(-low, high);
        return (struct colormap_scale){true, -largest, largest};
    }
    return (struct colormap_scale){false, from_zero ? fmin(low, 0) : low, high};
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
