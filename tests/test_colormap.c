/* SPDX-License-Identifier: MIT */
/* The maps: what can be told apart without hue, what can be read on them, where numbers lie. */
#include "check.h"
#include "write/picture/colormap.h"
#include "write/picture/terminal_color.h"

#include <math.h>
#include <stdio.h>

static const struct color WHITE = {255, 255, 255}, BLACK = {0, 0, 0};

/* Contrast with white grows with darkness, so it orders colours as grey print and every kind of eye does. */
static void sequential_is_ordered(void)
{
    for (int ground = GROUND_LIGHT; ground <= GROUND_DARK; ground++) {
        check_begin("the sequential map %s with every step", ground == GROUND_LIGHT ? "darkens" : "brightens");
        for (size_t level = 1; level < COLORMAP_LEVELS; level++) {
            const double before = colormap_contrast(colormap_color(false, (enum ground)ground, level - 1), WHITE);
            const double here = colormap_contrast(colormap_color(false, (enum ground)ground, level), WHITE);
            CHECK(ground == GROUND_LIGHT ? here > before : here < before, "step %zu: %g after %g", level, here, before);
        }
    }
}

/* A table without negative numbers has the colours of the positive half, in finer steps. */
static void one_rule_for_both(void)
{
    for (int ground = GROUND_LIGHT; ground <= GROUND_DARK; ground++) {
        check_begin("a positive number has one colour, whether its table has signs or not, ground %d", ground);
        for (size_t step = 0; step <= COLORMAP_LEVELS / 2; step++) {
            const struct color share = colormap_color(false, (enum ground)ground, 2 * step);
            const struct color sign = colormap_color(true, (enum ground)ground, COLORMAP_LEVELS / 2 + step);
            CHECK(share.red == sign.red && share.green == sign.green && share.blue == sign.blue,
                  "step %zu: #%02x%02x%02x and #%02x%02x%02x", step, share.red, share.green, share.blue, sign.red,
                  sign.green, sign.blue);
        }
    }
}

static void diverging_is_balanced(void)
{
    const size_t middle = COLORMAP_LEVELS / 2;
    for (int ground = GROUND_LIGHT; ground <= GROUND_DARK; ground++) {
        check_begin("the diverging map is neutral in its middle and as strong on either side, ground %d", ground);
        const struct color neutral = colormap_color(true, (enum ground)ground, middle);
        CHECK(neutral.red == neutral.green && neutral.green == neutral.blue, "its middle is #%02x%02x%02x", neutral.red,
              neutral.green, neutral.blue);
        for (size_t step = 1; step <= middle; step++) {
            const struct color low = colormap_color(true, (enum ground)ground, middle - step);
            const struct color high = colormap_color(true, (enum ground)ground, middle + step);
            const double ratio = colormap_contrast(low, high);
            CHECK(ratio < 1.35, "%zu steps from the middle: contrast %g", step, ratio);
            CHECK(low.blue > low.red && high.red > high.blue, "%zu steps from the middle: not blue and orange", step);
        }
    }
}

static void ink_can_be_read(void)
{
    check_begin("ink has a contrast of 4.5 on every step");
    for (int map = 0; map < 4; map++)
        for (size_t level = 0; level < COLORMAP_LEVELS; level++) {
            const struct color color = colormap_color(map & 1, map & 2 ? GROUND_DARK : GROUND_LIGHT, level);
            const double contrast = colormap_contrast(color, colormap_ink(color));
            CHECK(contrast >= 4.5, "map %d, step %zu: %g", map, level, contrast);
        }
    check_begin("black on white has a contrast of 21");
    CHECK(fabs(colormap_contrast(BLACK, WHITE) - 21) < 1e-9, "got %g", colormap_contrast(BLACK, WHITE));
}

static void numbers_have_their_steps(void)
{
    static const struct {
        double low, high, number;
        size_t level;
    } CASES[] = {
        {0.1, 0.4, 0.1, 12},    {0.1, 0.5, 0.5, 48},   {0, 0.5, 0, 0},        {-1, 2, 0, 24},
        {-1, 2, 2, 48},         {-1, 2, -2, 0},        {-1, 2, -1, 12},       {-3, -1, -3, 0},
        {-3, -1, -1.5, 12},     {-2, 0, 0, 24},        {0, 0, 0, 0},          {1, 1, 1, 48},
        {-1e308, 1e308, 0, 24}, {-1, 2, INFINITY, 48}, {-1, 2, -INFINITY, 0}, {-5e-324, 5e-324, 0, 24},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        check_begin("the step of %g between %g and %g", CASES[i].number, CASES[i].low, CASES[i].high);
        const struct colormap_scale scale = colormap_scale(CASES[i].low, CASES[i].high);
        const size_t level = colormap_level(&scale, CASES[i].number);
        CHECK(level == CASES[i].level, "expected %zu, got %zu", CASES[i].level, level);
    }
}

/* What xterm shows for an index of the 256: its 16, the cube, the greys. */
static struct color of_index(int index)
{
    static const struct color SIXTEEN[] = {
        {0, 0, 0},     {205, 0, 0},     {0, 205, 0},     {205, 205, 0},   {0, 0, 238}, {205, 0, 205},
        {0, 205, 205}, {229, 229, 229}, {127, 127, 127}, {255, 0, 0},     {0, 255, 0}, {255, 255, 0},
        {92, 92, 255}, {255, 0, 255},   {0, 255, 255},   {255, 255, 255},
    };
    if (index < 16)
        return SIXTEEN[index];
    if (index >= 232) {
        const unsigned char gray = (unsigned char)(10 * index - 2312);
        return (struct color){gray, gray, gray};
    }
    const int steps[] = {(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6};
    unsigned char parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = (unsigned char)(steps[i] == 0 ? 0 : 55 + 40 * steps[i]);
    return (struct color){parts[0], parts[1], parts[2]};
}

/* 30 .. 37 of ink, 40 .. 47 of ground; 90 .. 97 and 100 .. 107 are the brighter ones. */
static int of_code(int code)
{
    return code % 10 + (code >= 90 ? 8 : 0);
}

/* Contrast of a step as its sequence says it; 0 where it says nothing of the kind. */
static double contrast_of(enum terminal_color_depth depth, const char *sequence)
{
    int a, b, c, d, e, f;
    if (depth == TERMINAL_COLOR_16 && sscanf(sequence, "\033[%d;%dm", &a, &b) == 2)
        return colormap_contrast(of_index(of_code(a)), of_index(of_code(b)));
    if (depth == TERMINAL_COLOR_256 && sscanf(sequence, "\033[48;5;%d;38;5;%dm", &a, &b) == 2)
        return colormap_contrast(of_index(a), of_index(b));
    if (depth == TERMINAL_COLOR_TRUE &&
        sscanf(sequence, "\033[48;2;%d;%d;%d;38;2;%d;%d;%dm", &a, &b, &c, &d, &e, &f) == 6)
        return colormap_contrast((struct color){(unsigned char)a, (unsigned char)b, (unsigned char)c},
                                 (struct color){(unsigned char)d, (unsigned char)e, (unsigned char)f});
    return 0;
}

/* The hue in degrees, red at 0, blue at 240; -1 of a grey. */
static double hue_of(struct color color)
{
    const int high = color.red > color.green ? color.red : color.green, largest = high > color.blue ? high : color.blue;
    const int low = color.red < color.green ? color.red : color.green, least = low < color.blue ? low : color.blue;
    const double range = largest - least;
    if (range == 0)
        return -1;
    const double place = largest == color.blue    ? 4 + (color.red - color.green) / range
                         : largest == color.green ? 2 + (color.blue - color.red) / range
                                                  : (color.green - color.blue) / range;
    return fmod(60 * place + 360, 360);
}

/* The index of a step of the 256 colours. */
static int index_of(const struct terminal_color *terminal, size_t level)
{
    int index = -1;
    return sscanf(terminal->levels[level], "\033[48;5;%dm", &index) == 1 ? index : -1;
}

/* Of the 256 colours the sequential map has one hue, that of the positive half, and the diverging one two. */
static void terminals_have_one_hue(void)
{
    struct terminal_color terminal;
    for (int map = 0; map < 4; map++) {
        const enum ground ground = map & 2 ? GROUND_DARK : GROUND_LIGHT;
        const bool diverging = map & 1;
        size_t colours = 1;
        check_begin("256 colours: orange alone, and blue for the other sign, map %d", map);
        terminal_color_create(&terminal, TERMINAL_COLOR_256, ground, diverging);
        for (size_t level = 0; level < COLORMAP_LEVELS; level++) {
            const double hue = hue_of(of_index(index_of(&terminal, level)));
            const bool blue = diverging && level < COLORMAP_LEVELS / 2;
            CHECK(hue < 0 || (blue ? hue > 200 && hue < 245 : hue > 15 && hue < 45), "step %zu: hue %g", level, hue);
            if (level > 0)
                colours += index_of(&terminal, level) != index_of(&terminal, level - 1);
        }
        CHECK(colours == (diverging ? 13 : 7), "%zu colours", colours);
        check_begin("256 colours: each step is further from the page than the one before, map %d", map);
        for (size_t level = 1; level < COLORMAP_LEVELS; level++) {
            const struct color page = ground == GROUND_DARK ? BLACK : WHITE;
            const double before = colormap_contrast(of_index(index_of(&terminal, level - 1)), page);
            const double here = colormap_contrast(of_index(index_of(&terminal, level)), page);
            CHECK(diverging && level <= COLORMAP_LEVELS / 2 ? here <= before : here >= before, "step %zu: %g after %g",
                  level, here, before);
        }
    }
}

static void terminals_can_be_read(void)
{
    struct terminal_color terminal;
    for (int depth = TERMINAL_COLOR_16; depth <= TERMINAL_COLOR_TRUE; depth++)
        for (int map = 0; map < 4; map++) {
            check_begin("ink has a contrast of 4.5 on a terminal: depth %d, map %d", depth, map);
            terminal_color_create(&terminal, (enum terminal_color_depth)depth, map & 2 ? GROUND_DARK : GROUND_LIGHT,
                                  map & 1);
            for (size_t level = 0; level < COLORMAP_LEVELS; level++) {
                const double contrast = contrast_of((enum terminal_color_depth)depth, terminal.levels[level]);
                CHECK(contrast >= 4.5, "step %zu, %s: %g", level, terminal.levels[level] + 1, contrast);
            }
        }
    check_begin("without colours there are shades");
    terminal_color_create(&terminal, TERMINAL_COLOR_SHADES, GROUND_DARK, false);
    CHECK_TEXT("", terminal.levels[20]);
    CHECK_TEXT(" ", terminal_color_shade(0));
    CHECK_TEXT("\xe2\x96\x88", terminal_color_shade(COLORMAP_LEVELS - 1));
}

int main(void)
{
    sequential_is_ordered();
    one_rule_for_both();
    diverging_is_balanced();
    ink_can_be_read();
    numbers_have_their_steps();
    terminals_can_be_read();
    terminals_have_one_hue();
    return check_end();
}
