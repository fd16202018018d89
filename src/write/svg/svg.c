/* SPDX-License-Identifier: MIT */
#include "write/svg/svg.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, NUMBER_BYTES = 32 };

static const double LINE_HEIGHT = 15, MARGIN = 22, SLIDE_WIDTH = 1280, SLIDE_HEIGHT = 720;

/* All but the cells: one sheet for light pages, one for dark ones. Muted ink has a contrast of 5 : 1 on the page. */
static const char *const SHEETS[] = {
    [GROUND_LIGHT] = ".page{fill:#fff}.ink{fill:#1b1f24}.muted{fill:#5c6670}.wire{stroke:#7d8790}"
                     ".tip{fill:#7d8790}.hatch{stroke:#cdd3d9}.edge{stroke:#cdd3d9}",
    [GROUND_DARK] = ".page{fill:#14181d}.ink{fill:#e9edf1}.muted{fill:#9aa5b0}.wire{stroke:#77828d}"
                    ".tip{fill:#77828d}.hatch{stroke:#39424b}.edge{stroke:#39424b}",
};
_Static_assert(sizeof SHEETS / sizeof SHEETS[0] == GROUND_COUNT, "a sheet for each ground");

static const char FONTS[] = ".attn{font-family:sans-serif;font-size:12px}.name{font-size:15px;font-weight:bold}"
                            ".title{font-size:13px;font-weight:bold}"
                            ".head{font-weight:bold}.small{font-size:11px}.end{text-anchor:end}"
                            ".middle{text-anchor:middle}.wire{stroke-width:1.5}.wire,.edge{fill:none}"
                            ".symbol{font-family:serif;font-style:italic;font-size:1.15em}.script{font-size:.75em}"
                            ".index{font-family:serif;font-style:italic;font-size:.8em}";

static void write_number(struct output *output, double pixels)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%.2f", pixels);
    size_t length = strlen(text);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
    output_print(output, "%s", strcmp(text, "-0") == 0 ? "0" : text);
}

void svg_tag(struct output *output, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    while (*format != '\0') {
        const size_t plain = strcspn(format, "#");
        output_write(output, format, plain);
        format += plain;
        if (*format == '#') {
            write_number(output, va_arg(arguments, double));
            format++;
        }
    }
    va_end(arguments);
}

void svg_words(struct output *output, const char *format, ...)
{
    char words[SVG_WORDS_BYTES];
    const char *text = words;
    TEXT_FORMAT(words, format);
    while (*text != '\0') {
        const size_t plain = strcspn(text, "&<>\"");
        output_write(output, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        output_print(output, "%s", *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&quot;");
        text++;
    }
}

/* Advance widths of DejaVu Sans, which is wider than most, in ems. */
static double character_width(uint32_t point)
{
    static const struct {
        const char *characters;
        double width;
    } CLASSES[] = {
        {"ijl'|", 0.29},  {" .,:;!I/\\ft()[]{}-", 0.38},  {"rJ\"*_`", 0.47}, {"0123456789", 0.64},
        {"mMW%@&", 0.99}, {"w+<>=~^ACDGHKNOQRUVXw", 0.8},
    };
    if (point < ' ') /* a mark */
        return 0;
    if (point == 0x2009) /* a thin space */
        return 0.2;
    if (point == 0x2212) /* minus */
        return 0.84;
    if (point >= 0x7f)
        return text_width(point) == 0 ? 0 : text_width(point) == 2 ? 1.05 : 0.66;
    for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++)
        if (strchr(CLASSES[i].characters, (int)point) != NULL)
            return CLASSES[i].width;
    return 0.64;
}

double svg_width(const char *text, double size)
{
    double ems = 0;
    while (*text != '\0')
        ems += character_width(text_next(&text));
    return ems * size;
}

void svg_label(const char *token, double pixels, double size, char *text)
{
    static const char ELLIPSIS[] = "\xe2\x80\xa6";
    size_t columns = 40;
    text_cut(token, columns, text, SVG_LABEL_BYTES);
    while (columns > 1 && svg_width(text, size) > pixels)
        text_cut(token, --columns, text, SVG_LABEL_BYTES);
    if (svg_width(text, size) > pixels)
        strcpy(text, ELLIPSIS);
}

/* Raised and lowered by dy, which every renderer knows; some do not know baseline-shift. */
void svg_runs(struct output *output, const char *text)
{
    static const char MARKS[] = SVG_MARK_PLAIN SVG_MARK_SYMBOL SVG_MARK_ABOVE SVG_MARK_BELOW;
    static const struct {
        const char *attribute;
        int shift; /* down, in pixels */
    } STYLES[] = {{"", 0}, {" class=\"symbol\"", 0}, {" class=\"script\"", -4}, {" class=\"index\"", 3}};
    size_t style = 0;
    int shift = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, MARKS), before = strspn(text, " ");
        size_t end = length;
        const bool span = style != 0 || shift != 0;
        while (end > before && text[end - 1] == ' ')
            end--;
        if (end > before && span) { /* some renderers lose blanks at the ends of a span */
            output_print(output, "%.*s<tspan%s", (int)before, text, STYLES[style].attribute);
            if (STYLES[style].shift != shift)
                output_print(output, " dy=\"%d\"", STYLES[style].shift - shift);
            output_print(output, ">");
            svg_words(output, "%.*s", (int)(end - before), text + before);
            output_print(output, "</tspan>%.*s", (int)(length - end), text + end);
            shift = STYLES[style].shift;
        } else {
            svg_words(output, "%.*s", (int)length, text);
        }
        text += length;
        if (*text != '\0')
            style = (size_t)(strchr(MARKS, *text++) - MARKS);
    }
}

void svg_rect(struct output *output, const char *attributes, double x, double y, double width, double height)
{
    output_print(output, "<rect %s", attributes);
    svg_tag(output, " x=\"#\" y=\"#\" width=\"#\" height=\"#\"/>\n", x, y, width, height);
}

void svg_text(struct output *output, double x, double y, double turn, const char *classes, const char *text)
{
    output_print(output, "<text class=\"%s\" ", classes);
    svg_tag(output, turn != 0 ? "transform=\"translate(# #) rotate(#)\">" : "x=\"#\" y=\"#\">", x, y, turn);
    svg_runs(output, text);
    output_print(output, "</text>\n");
}

void svg_mark(struct output *output, const char *attributes, const char *words, double x, double y)
{
    svg_rect(output, attributes, x, y, 18, 10);
    svg_text(output, x + SVG_MARK_WIDTH, y + 9, 0, "muted", words);
}

const char *svg_cell_class(bool diverging, size_t level, char *text)
{
    return text_format(text, SVG_CLASS_BYTES, "%c%zu", diverging ? 'd' : 's', level % COLORMAP_LEVELS);
}

const char *svg_cell_attribute(bool diverging, size_t level, char *text)
{
    return text_format(text, SVG_CLASS_BYTES, "class=\"%c%zu\"", diverging ? 'd' : 's', level % COLORMAP_LEVELS);
}

size_t svg_paragraph(struct output *output, double x, double y, double pixels, const char *classes, double size,
                     const char *text)
{
    char line[LINE_BYTES];
    size_t lines = 0;
    for (text += strspn(text, " \n"); *text != '\0'; lines++) {
        size_t length = 0, taken = 0;
        /* word by word, as long as the line holds one more */
        for (const char *word = text; *word != '\0'; word += strspn(word, " \n")) {
            const size_t end = (size_t)(word - text) + strcspn(word, " \n");
            if (end >= LINE_BYTES)
                break;
            memcpy(line, text, end);
            line[end] = '\0';
            if (length > 0 && svg_width(line, size) > pixels)
                break;
            length = end;
            word = text + end;
            taken = end + strspn(word, " \n");
        }
        line[length] = '\0';
        if (output != NULL)
            svg_text(output, x, y + LINE_HEIGHT * (double)lines, 0, classes, line);
        text += length > 0 ? taken : strlen(text);
    }
    return lines;
}

/* Black or white on the light side, then on the dark one. */
const char *svg_ink_class(bool diverging, size_t level)
{
    static const char *const CLASSES[2][2] = {{"kk", "kw"}, {"wk", "ww"}};
    const bool light = colormap_ink(colormap_color(diverging, GROUND_LIGHT, level)).red != 0;
    const bool dark = colormap_ink(colormap_color(diverging, GROUND_DARK, level)).red != 0;
    return CLASSES[light][dark];
}

static void write_side(struct output *output, const struct svg_palette *palette, enum ground ground)
{
    char name[SVG_CLASS_BYTES];
    const bool light = ground == GROUND_LIGHT;
    output_print(output, "%s\n.kk,.%s{fill:#000}.ww,.%s{fill:#fff}\n", SHEETS[ground], light ? "kw" : "wk",
                 light ? "wk" : "kw");
    for (int diverging = 0; diverging < 2; diverging++)
        for (size_t level = 0; level < COLORMAP_LEVELS; level++) {
            const struct color color = colormap_color(diverging, ground, level);
            if (palette->used[diverging][level])
                output_print(output, ".%s{fill:#%02x%02x%02x}", svg_cell_class(diverging, level, name), color.red,
                             color.green, color.blue);
        }
    output_print(output, "\n");
}

static void write_style(struct output *output, const struct svg_palette *palette, enum theme theme)
{
    output_print(output, "<style>\n%s\n", FONTS);
    write_side(output, palette, theme == THEME_DARK ? GROUND_DARK : GROUND_LIGHT);
    if (theme == THEME_AUTO) {
        output_print(output, "@media (prefers-color-scheme:dark){\n");
        write_side(output, palette, GROUND_DARK);
        output_print(output, "}\n");
    }
    output_print(output, "</style>\n"
                         "<defs><pattern id=\"attn-masked\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
                         "<path class=\"hatch\" d=\"M-1 1L1 -1M0 5L5 0M4 6L6 4\"/></pattern></defs>\n");
}

struct svg_page svg_page(double width, double height, bool slide)
{
    const double across = ceil(width + 2 * MARGIN), down = ceil(height + 2 * MARGIN);
    if (!slide)
        return (struct svg_page){across, down, MARGIN, MARGIN, 1};
    const double scale = fmin(SLIDE_WIDTH / across, SLIDE_HEIGHT / down);
    return (struct svg_page){SLIDE_WIDTH / scale, SLIDE_HEIGHT / scale, (SLIDE_WIDTH / scale - width) / 2,
                             (SLIDE_HEIGHT / scale - height) / 2, scale};
}

void svg_open(struct output *output, struct svg_page page)
{
    svg_tag(output,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"#\" height=\"#\" viewBox=\"0 0 # #\" "
            "role=\"img\" aria-labelledby=\"attn-title attn-desc\">\n",
            page.width * page.scale, page.height * page.scale, page.width, page.height);
}

void svg_open_page(struct output *output, struct svg_page page, const struct svg_palette *palette, enum theme theme)
{
    write_style(output, palette, theme);
    svg_tag(output,
            "<rect class=\"page\" width=\"#\" height=\"#\"/>\n<g class=\"attn\" transform=\"translate(# #)\">\n",
            page.width, page.height, page.left, page.top);
}
