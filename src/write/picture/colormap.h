/* SPDX-License-Identifier: MIT */
/* Numbers -> colours, for every picture: one map for numbers of one sign, one for numbers of both.
 *
 * Both are made of a few anchors in Oklab (Ottosson 2020, "A perceptual color space for image processing"), where equal
 * steps look equal, joined by straight lines. Lightness alone orders the sequential map, so it survives grey print and
 * every kind of colour blindness; the diverging one goes to blue and to orange, which no kind confuses, and is neutral
 * at 0. On either ground a small number lies near the colour of the page: on a dark one maps run from dark to light. */
#ifndef ATTN_WRITE_PICTURE_COLORMAP_H
#define ATTN_WRITE_PICTURE_COLORMAP_H

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
    bool diverging; /* from -high over 0 to high */
    double low, high;
};

/* The scale of numbers between low and high, low <= high: diverging where they have both signs; from 0 where
 * `from_zero` says that they are shares. */
struct colormap_scale colormap_scale(double low, double high, bool from_zero);

/* The step of a number, 0 .. COLORMAP_LEVELS - 1. Numbers beyond the scale, infinities too, take the step at that
 * end. Not for NaN. */
size_t colormap_level(const struct colormap_scale *scale, double number);

struct color colormap_color(bool diverging, enum ground ground, size_t level);

/* Black or white, whichever has more contrast with the colour; it is at least 4.5 : 1 (WCAG 2.1, 1.4.3). */
struct color colormap_ink(struct color color);

/* WCAG 2.1's contrast ratio of two colours, 1 .. 21. */
double colormap_contrast(struct color one, struct color other);

#endif
