/* SPDX-License-Identifier: MIT */
/* result -> PNG or PDF: the SVG, as rsvg-convert draws it. A PNG has two pixels for one of the SVG. */
#include "write/writing.h"

#include "base/filter.h"

#define MISSING(format) \
    format " needs rsvg-convert, which is not installed; install librsvg2-bin, or write .svg and convert that"

static enum status convert(const struct writing *writing, const char *const *words, const char *missing)
{
    struct writing drawing = *writing;
    size_t length;
    drawing.output = output_of_text(writing->arena, writing->error);
    if (drawing.output == NULL || write_svg(&drawing) != STATUS_OK)
        return writing->error->status;
    const char *svg = output_close_text(drawing.output, &length);
    return svg == NULL ? writing->error->status
                       : filter_run(words, svg, length, missing, writing->output, writing->error);
}

/* Whether it can be drawn, and by a program that starts. */
static enum status check(const struct writing *writing, const char *missing)
{
    static const char *const WORDS[] = {"rsvg-convert", "--version", NULL};
    struct output *answer = output_of_text(writing->arena, writing->error);
    if (answer == NULL || check_svg(writing) != STATUS_OK)
        return writing->error->status;
    return filter_run(WORDS, "", 0, missing, answer, writing->error);
}

enum status check_png(const struct writing *writing)
{
    return check(writing, MISSING("--format png"));
}

enum status check_pdf(const struct writing *writing)
{
    return check(writing, MISSING("--format pdf"));
}

enum status write_png(const struct writing *writing)
{
    static const char *const WORDS[] = {"rsvg-convert", "-z", "2", "-f", "png", NULL};
    return convert(writing, WORDS, MISSING("--format png"));
}

enum status write_pdf(const struct writing *writing)
{
    static const char *const WORDS[] = {"rsvg-convert", "-f", "pdf", NULL};
    return convert(writing, WORDS, MISSING("--format pdf"));
}
