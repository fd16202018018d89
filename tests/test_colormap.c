/* The maps: what can be told apart without hue, what can be read on them, where numbers lie. */
#include "check.h"
#include "colormap.h"
#include "paint.h"

#include <math.h>
#include <string.h>

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
        bool from_zero;
        size_t level;
    } CASES[] = {
        {0.1, 0.5, 0.1, false, 0},     {0.1, 0.5, 0.5, false, 48},   {0.1, 0.5, 0.3, false, 24},
        {0.1, 0.4, 0.1, true, 12},     {-1, 2, 0, false, 24},        {-1, 2, 2, false, 48},
        {-1, 2, -2, false, 0},         {-1, 2, -1, false, 12},       {-3, -1, -3, false, 0},
        {-3, -1, -1, true, 48},        {0, 0, 0, true, 0},           {1, 1, 1, false, 0},
        {-1e308, 1e308, 0, false, 24}, {-1, 2, INFINITY, false, 48}, {-1, 2, -INFINITY, false, 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        check_begin("the step of %g between %g and %g", CASES[i].number, CASES[i].low, CASES[i].high);
        const struct colormap_scale scale = colormap_scale(CASES[i].low, CASES[i].high, CASES[i].from_zero);
        const size_t level = colormap_level(&scale, CASES[i].number);
        CHECK(level == CASES[i].level, "expected %zu, got %zu", CASES[i].level, level);
    }
}

static void terminals_can_be_read(void)
{
    struct paint paint;
    check_begin("a map in 256 colours has ground and ink in each step");
    paint_create(&paint, PAINT_256, GROUND_DARK, false);
    for (size_t level = 0; level < COLORMAP_LEVELS; level++)
        CHECK(strncmp(paint.levels[level], "\033[48;5;", 7) == 0 && strstr(paint.levels[level], ";38;5;") != NULL,
              "step %zu: %s", level, paint.levels[level] + 1);
    check_begin("without colours there are shades");
    paint_create(&paint, PAINT_SHADES, GROUND_DARK, false);
    CHECK_TEXT("", paint.levels[20]);
    CHECK_TEXT(" ", paint_shade(0));
    CHECK_TEXT("\xe2\x96\x88", paint_shade(COLORMAP_LEVELS - 1));
}

int main(void)
{
    sequential_is_ordered();
    diverging_is_balanced();
    ink_can_be_read();
    numbers_have_their_steps();
    terminals_can_be_read();
    return check_end();
}
