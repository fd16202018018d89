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

static bool is_negative(bool diverging, size_t level)
{
    return diverging && level < COLORMAP_LEVELS / 2;
}

/* Orange (47 to 75 degrees in Oklab) in steps of lightness 0.90 0.82 0.70 0.62 0.57 0.52, blue (249 to 262) 0.86 0.76
 * 0.73 0.63 0.53 0.49. What is nearest to each colour of the map would go by way of pink and teal. */
static int index_of_256(enum ground ground, bool diverging, size_t level)
{
    static const int NEUTRAL[GROUND_COUNT] = {[GROUND_LIGHT] = 255, [GROUND_DARK] = 236};
    static const int SHADES[2][SHADES_256] = {{223, 216, 173, 166, 130, 94}, {153, 111, 75, 68, 26, 25}};
    const size_t shade = shade_of(diverging, level, SHADES_256);
    if (shade == 0)
        return NEUTRAL[ground];
    return SHADES[is_negative(diverging, level)][ground == GROUND_LIGHT ? shade - 1 : SHADES_256 - shade];
}

/* The codes of a ground that every terminal has: yellow to red, cyan to blue. */
static int code_of_16(enum ground ground, bool diverging, size_t level)
{
    static const int NEUTRAL[GROUND_COUNT] = {[GROUND_LIGHT] = 107, [GROUND_DARK] = 40};
    static const int SHADES[2][SHADES_16] = {{103, 43, 101, 41}, {106, 46, 104, 44}};
    const size_t shade = shade_of(diverging, level, SHADES_16);
    if (shade == 0)
        return NEUTRAL[ground];
    return SHADES[is_negative(diverging, level)][ground == GROUND_LIGHT ? shade - 1 : SHADES_16 - shade];
}

static void paint_level(struct terminal_color *terminal, enum ground ground, bool diverging, size_t level)
{
    char *text = terminal->levels[level];
    const struct color color = colormap_color(diverging, ground, level), ink = colormap_ink(color);
    if (terminal->depth == TERMINAL_COLOR_16) {
        const int code = code_of_16(ground, diverging, level);
        const bool white = code == 40 || code == 41 || code == 44 || code == 104;
        snprintf(text, TERMINAL_COLOR_BYTES, "\033[%d;%dm", code, white ? 97 : 30);
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
