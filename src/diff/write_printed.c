/* SPDX-License-Identifier: MIT */
#include "diff/write_printed.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>

enum { PATH_BYTES = 4 * TEXT_PATH_BYTES + 64, MANY_DECIMALS = 12 };

/* The last digits of a side's numbers that were compared, those that are exact aside. */
struct digits {
    bool any;
    int finest, coarsest;
};

static void add_digits(struct digits *digits, const struct file_tensor *named)
{
    for (size_t i = 0; named->last_digit != NULL && i < tensor_count(&named->tensor); i++) {
        const int digit = named->last_digit[i];
        if (digit == INT16_MIN)
            continue;
        digits->finest = !digits->any || digit < digits->finest ? digit : digits->finest;
        digits->coarsest = !digits->any || digit > digits->coarsest ? digit : digits->coarsest;
        digits->any = true;
    }
}

static bool is_fixed(const struct digits *digits)
{
    return digits->any && digits->finest == digits->coarsest && digits->finest < 0 && digits->finest > -MANY_DECIMALS;
}

static void write_side(const struct input_file *input, const struct digits *digits, bool shows, struct output *output)
{
    char path[PATH_BYTES];
    text_shown(input->source, SIZE_MAX, path, sizeof path);
    output_print(output, "%s", path);
    if (shows)
        output_print(output, " shows %d decimal%s", -digits->finest, digits->finest == -1 ? "" : "s");
}

/* Half a unit of the last digit, of both sides together; their decimals where each has as many throughout. */
static void write_sides(const struct diff *diff, const struct digits *a, const struct digits *b, struct output *output)
{
    const bool shows = (!a->any || is_fixed(a)) && (!b->any || is_fixed(b));
    const int finest = !b->any || (a->any && a->finest < b->finest) ? a->finest : b->finest;
    const double within = (a->any ? 0.5 * pow(10, a->finest) : 0) + (b->any ? 0.5 * pow(10, b->finest) : 0);
    if (a->any)
        write_side(&diff->a.input, a, shows, output);
    if (a->any && b->any)
        output_print(output, ", ");
    if (b->any)
        write_side(&diff->b.input, b, shows, output);
    if (shows)
        output_print(output, ": numbers agree within %.*f\n", 1 - finest, within);
    else
        output_print(output, ": numbers agree within half a unit of their last digits\n");
}

void write_printed(const struct diff *diff, struct output *output)
{
    struct digits a = {0}, b = {0};
    for (size_t i = 0; i < diff->count; i++)
        if (diff->stages[i].comparison.printed > 0) {
            add_digits(&a, diff->stages[i].a);
            add_digits(&b, diff->stages[i].b);
        }
    if (!a.any && !b.any)
        return;
    output_print(output, "printed      ");
    write_sides(diff, &a, &b, output);
}
