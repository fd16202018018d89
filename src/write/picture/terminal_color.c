/* SPDX-License-Identifier: MIT */
#include "write/picture/terminal_color.h"

#include <stdio.h>

enum { CUBE = 6, FIRST_GRAY = 232, SHADES_256 = 6, SHADES_16 = 4 };

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

/* Which shade of its sign a step is: 0 neutral, then 1 to `shades`, from near the page to far from it. */
static size_t shade_of(bool diverging, size_t level, size_t shades)
{
    if (!diverging)
        return level * (shades + 1) / COLORMAP_LEVELS;
    const size_t place = level * (2 * shades + 1) / COLORMAP_LEVELS;
    return place > shades ? place - shades : shades - place;
}

/* A colour of a list: `neutral` of each ground, and the shades from pale to strong, [positive numbers, negative]. */
static int pick(enum ground ground, bool diverging, size_t level, const int *neutral, const int *shades, size_t count)
{
    const size_t shade = shade_of(diverging, level, count);
    if (shade == 0)
        return neutral[ground];
    return shades[(diverging && level < COLORMAP_LEVELS / 2 ? count : 0) +
                  (ground == GROUND_LIGHT ? shade - 1 : count - shade)];
}

/* Of 256 colours orange (47 to 75 degrees in Oklab) in steps of lightness 0.90 0.82 0.70 0.62 0.57 0.52, blue (249 to
 * 262) 0.86 0.76 0.73 0.63 0.53 0.49: what is nearest to each colour of the map would go by way of pink and teal. Of
 * the 16 that every terminal has, yellow to red and cyan to blue, by their codes. */
static const int NEUTRAL_256[GROUND_COUNT] = {[GROUND_LIGHT] = 255, [GROUND_DARK] = 236},
                 OF_256[2 * SHADES_256] = {223, 216, 173, 166, 130, 94, 153, 111, 75, 68, 26, 25},
                 NEUTRAL_16[GROUND_COUNT] = {[GROUND_LIGHT] = 107, [GROUND_DARK] = 40},
                 OF_16[2 * SHADES_16] = {103, 43, 101, 41, 106, 46, 104, 44};

static void paint_level(struct terminal_color *terminal, enum ground ground, bool diverging, size_t level)
{
    char *text = terminal->levels[level];
    const struct color color = colormap_color(diverging, ground, level), ink = colormap_ink(color);
    if (terminal->depth == TERMINAL_COLOR_16) {
        const int code = pick(ground, diverging, level, NEUTRAL_16, OF_16, SHADES_16);
        const bool white = code == 40 || code == 41 || code == 44 || code == 104;
        snprintf(text, TERMINAL_COLOR_BYTES, "\033[%d;%dm", code, white ? 97 : 30);
    } else if (terminal->depth == TERMINAL_COLOR_256) {
        const int index = pick(ground, diverging, level, NEUTRAL_256, OF_256, SHADES_256);
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
