/* SPDX-License-Identifier: MIT */
#include "write/picture/terminal_color.h"

#include <stdio.h>

/* A ground that every terminal has, and a readable ink on it. */
struct pair {
    int ground, ink;
};

enum { STEPS_16 = 5, STEPS_256 = 7, STEPS_256_DIVERGING = 9, CUBE = 6, FIRST_GRAY = 232 };

/* The colour of index 16 .. 255 of the 256: a cube of 6 x 6 x 6, then 24 greys (xterm's 256colres.pl). */
static struct color color_of_index(int index)
{
    static const unsigned char STEPS[CUBE] = {0, 95, 135, 175, 215, 255};
    if (index >= FIRST_GRAY) {
        const unsigned char gray = (unsigned char)(8 + 10 * (index - FIRST_GRAY));
        return (struct color){gray, gray, gray};
    }
    index -= 16;
    return (struct color){STEPS[index / (CUBE * CUBE)], STEPS[index / CUBE % CUBE], STEPS[index % CUBE]};
}

/* Of one hue, blue (249 to 264 degrees in Oklab), and for the other sign orange (47 to 67), in steps of lightness: 0.95
 * 0.86 0.76 0.63 0.49 0.28 0.22; orange 0.90 0.82 0.70 0.57. What is nearest to each colour of the map would go from
 * grey by way of teal to purple. */
static int index_of_256(enum ground ground, bool diverging, size_t level)
{
    static const int SEQUENTIAL[STEPS_256] = {255, 153, 111, 68, 25, 18, 17};
    static const int DIVERGING[GROUND_COUNT][STEPS_256_DIVERGING] = {
        [GROUND_LIGHT] = {25, 68, 111, 153, 255, 223, 216, 173, 130},
        [GROUND_DARK] = {153, 111, 68, 25, 236, 130, 173, 216, 223},
    };
    const size_t step = level * STEPS_256 / COLORMAP_LEVELS;
    if (diverging)
        return DIVERGING[ground][level * STEPS_256_DIVERGING / COLORMAP_LEVELS];
    return SEQUENTIAL[ground == GROUND_LIGHT ? step : STEPS_256 - 1 - step];
}

static struct pair pair_of_16(enum ground ground, bool diverging, size_t level)
{
    static const struct pair SEQUENTIAL[STEPS_16] = {{107, 30}, {106, 30}, {46, 30}, {44, 97}, {40, 97}};
    static const struct pair DIVERGING[STEPS_16] = {{44, 97}, {46, 30}, {107, 30}, {43, 30}, {41, 97}};
    static const struct pair NEUTRAL_DARK = {40, 97};
    const size_t step = level * STEPS_16 / COLORMAP_LEVELS;
    if (!diverging)
        return SEQUENTIAL[ground == GROUND_LIGHT ? step : STEPS_16 - 1 - step];
    return ground == GROUND_DARK && step == STEPS_16 / 2 ? NEUTRAL_DARK : DIVERGING[step];
}

static void paint_level(struct terminal_color *terminal, enum ground ground, bool diverging, size_t level)
{
    char *text = terminal->levels[level];
    const struct color color = colormap_color(diverging, ground, level), ink = colormap_ink(color);
    if (terminal->depth == TERMINAL_COLOR_16) {
        const struct pair pair = pair_of_16(ground, diverging, level);
        snprintf(text, TERMINAL_COLOR_BYTES, "\033[%d;%dm", pair.ground, pair.ink);
    } else if (terminal->depth == TERMINAL_COLOR_256) {
        const int index = index_of_256(ground, diverging, level);
        const bool black = colormap_ink(color_of_index(index)).red == 0;
        snprintf(text, TERMINAL_COLOR_BYTES, "\033[48;5;%d;38;5;%dm", index, black ? 16 : 231);
    } else if (terminal->depth == TERMINAL_COLOR_TRUE) {
        snprintf(text, TERMINAL_COLOR_BYTES, "\033[48;2;%d;%d;%d;38;2;%d;%d;%dm", color.red, color.green, color.blue,
                 ink.red, ink.green, ink.blue);
    }
}

void terminal_color_create(struct terminal_color *terminal, enum terminal_color_depth depth, enum ground ground,
                           bool diverging)
{
    *terminal = (struct terminal_color){.depth = depth};
    for (size_t level = 0; level < COLORMAP_LEVELS; level++)
        paint_level(terminal, ground, diverging, level);
}

const char *terminal_color_shade(size_t level)
{
    static const char *const SHADES[] = {" ", "\xe2\x96\x91", "\xe2\x96\x92", "\xe2\x96\x93", "\xe2\x96\x88"};
    const size_t count = sizeof SHADES / sizeof SHADES[0];
    return SHADES[level * count / COLORMAP_LEVELS];
}
