/* SPDX-License-Identifier: MIT */
/* Numbers -> colours, by one rule for every picture: 0 is neutral, a positive number orange, a negative one blue, and
 * the stronger the larger its magnitude. A table without negative numbers has the whole map for the orange half.
 *
 * The map is made of a few anchors in Oklab (Ottosson 2020, "A perceptual color space for image processing"), where
 * equal steps look equal, joined by straight lines. Lightness alone orders the numbers of one sign, so they survive
 * grey print and every kind of colour blindness, none of which confuses blue and orange. On either ground a small
 * number lies near the colour of the page: on a dark one maps run from dark to light. src/write/html/page/colours.js
 * has the same anchors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Of sRGB. */
struct color {
    unsigned char red, green, blue;
};

/* The background. */
enum ground { GROUND_LIGHT, GROUND_DARK, GROUND_COUNT };

/* Steps of a map, odd, so that the diverging one has a neutral step. */
enum { COLORMAP_LEVELS = 49 };

/* The numbers that a map spans. */
struct colormap_scale {
    bool diverging; /* from -high over 0 to high; else from 0, or as shades, which have no sign */
    double low, high;
};

/* The scale of numbers between low and high, low <= high: diverging where one is negative. */
struct colormap_scale colormap_scale(double low, double high);

/* The step of a number, 0 .. COLORMAP_LEVELS - 1. Numbers beyond the scale, infinities too, take the step at that
 * end. Not for NaN. */
size_t colormap_level(const struct colormap_scale *scale, double number);

struct color colormap_color(bool diverging, enum ground ground, size_t level);

/* Black or white, whichever has more contrast with the colour; it is at least 4.5 : 1 (WCAG 2.1, 1.4.3). */
struct color colormap_ink(struct color color);

/* WCAG 2.1's contrast ratio of two colours, 1 .. 21. */
double colormap_contrast(struct color one, struct color other);
