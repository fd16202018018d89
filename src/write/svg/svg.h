/* SPDX-License-Identifier: MIT */
/* SVG as it is written: text made fit for XML, widths estimated, the style sheet with its light and its dark side.
 *
 * What a renderer lacks must cost nothing: there is no script, no foreignObject, no CSS variable, and no font but a
 * generic one. rsvg-convert and Inkscape know no @media: of --theme auto they show the light side. */
#pragma once

#include "base/output.h"
#include "model/format.h"
#include "write/picture/colormap.h"

enum { SVG_LABEL_BYTES = 256, SVG_WORDS_BYTES = 4096 };

/* The steps of both maps in a picture: [diverging][level]. */
struct svg_palette {
    bool used[2][COLORMAP_LEVELS];
};

/* A tag, or a part of one: each # of the format is a double, a length in pixels, with at most two decimals. */
void svg_tag(struct output *output, const char *format, ...);

/* Words between two tags, printf-like (at most SVG_WORDS_BYTES - 1 bytes); escapes &, <, > and ". Writes all words
 * of a picture: output_print writes only tags. The words must be UTF-8 without control characters, as text_cut makes
 * them. */
void svg_words(struct output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The estimated width of the text in a sans-serif of that size, in pixels; for common fonts rather too much than too
 * little. */
double svg_width(const char *text, double size);

/* The token, hidden characters shown and cut with an ellipsis to so many pixels, into text (SVG_LABEL_BYTES). */
void svg_label(const char *token, double pixels, double size, char *text);

/* In the words of svg_text and svg_runs: the following letters are a symbol of a formula, raised, lowered, or plain. */
#define SVG_MARK_SYMBOL "\001"
#define SVG_MARK_ABOVE "\002"
#define SVG_MARK_BELOW "\003"
#define SVG_MARK_PLAIN "\004"

/* Words with marks, each run that needs one in a <tspan>. */
void svg_runs(struct output *output, const char *text);

void svg_rect(struct output *output, const char *attributes, double x, double y, double width, double height);

/* <text> at x, y (its base line), of these classes. `turn` in degrees turns it about that point; 0: not. */
void svg_text(struct output *output, double x, double y, double turn, const char *classes, const char *text);

/* A sample cell with these attributes at x, y, and its meaning, in a legend; the words begin at x + SVG_MARK_WIDTH. */
static const double SVG_MARK_WIDTH = 25;
void svg_mark(struct output *output, const char *attributes, const char *words, double x, double y);

/* Breaks the words into lines of at most so many pixels, 15 pixels apart, the first base line at y; `output` NULL:
 * only counts. Returns how many lines. A word of more than 1023 bytes ends the text. */
size_t svg_paragraph(struct output *output, double x, double y, double pixels, const char *classes, double size,
                     const char *text);

enum { SVG_CLASS_BYTES = 24 };

/* The class of a cell of that step, "s12" or "d12", into text (SVG_CLASS_BYTES), which it returns; the same as an
 * attribute; and the class of the ink on it. */
const char *svg_cell_class(bool diverging, size_t level, char *text);
const char *svg_cell_attribute(bool diverging, size_t level, char *text);
const char *svg_ink_class(bool diverging, size_t level);

/* The page of a drawing, margins included: where the drawing begins, and how far it is magnified. A slide is
 * 1280 x 720, with the drawing in its middle as large as it can be; other pages are as large as the drawing. */
struct svg_page {
    double width, height, left, top, scale;
};
struct svg_page svg_page(double width, double height, bool slide);

/* <svg>. After it come <title id="attn-title"> and <desc id="attn-desc">; then the style and the group of the drawing;
 * "</g>\n</svg>\n" ends. AUTO is light, and dark where the reader prefers that. */
void svg_open(struct output *output, struct svg_page page);
void svg_open_page(struct output *output, struct svg_page page, const struct svg_palette *palette, enum theme theme);
