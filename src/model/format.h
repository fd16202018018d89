/* SPDX-License-Identifier: MIT */
/* The formats of results, and what each can hold. */
#pragma once

#include "base/choice.h"

#include <stdbool.h>

enum { FORMAT_SUFFIXES = 2 };

/* The background of a picture or page. AUTO: that of the reader's screen, or of the terminal. */
#define THEMES(ROW) ROW(THEME_LIGHT, "light") ROW(THEME_DARK, "dark") ROW(THEME_AUTO, "auto")
enum theme { THEMES(CHOICE_ID) };

/* The shape of a picture: a column for a page, or a slide of 16 : 9. */
#define SHAPES(ROW) ROW(SHAPE_TALL, "tall") ROW(SHAPE_WIDE, "wide")
enum picture_shape { SHAPES(CHOICE_ID) };

/* What a cell of a picture shows if it covers several numbers. */
#define POOLS(ROW) ROW(POOL_MEAN, "mean") ROW(POOL_MAX, "max")
enum pool { POOLS(CHOICE_ID) };

struct format_row {
    const char *name;
    const char *suffixes[FORMAT_SUFFIXES]; /* of --out; NULL where there are fewer */
    bool binary;                           /* no text: never to a terminal */
    bool one_table;                        /* holds one unnamed table of a dtype that .npy has */
    bool holds_part;                       /* can say which part of which job it is (--part) */
    bool holds_whole;                      /* keeps every number exactly, in any dtype: join can write it */
    bool elides;                           /* shows only the ends of long tables, unless --full */
    bool terminal;                         /* for a terminal: takes --heatmap and --explain */
    bool pictures;                         /* draws tables of inputs and stages */
    bool animates;                         /* takes --animate */
    bool themed;                           /* light or dark; in text, only its heatmaps */
    enum theme theme;                      /* the default of --theme */
    bool reports;                          /* written by attn diff, why, cases and lists of a checkpoint, */
    bool steps;                            /* by --steps, */
    bool prints;                           /* and by attn worksheet */
    bool measures;                         /* written by attn heads */
    bool computes;                         /* a page, which computes T x T stages itself from query, key and value */
    bool judges;                           /* written by attn cases --check alone */
    const char *refuses_parameters;        /* why init rejects it; NULL: init writes it */
};

#define NO_PICTURE "init draws parameters, which make no picture; expected --format text or json"

/* One row per format: identifier; name; its writer, and the check before the work whether it can write
 * (write/writing.h); the suffix of the functions that write reports, steps and worksheets (`no`: none); the other
 * fields of struct format_row. */
#define FORMAT_ROWS(ROW)                                                                                            \
    ROW(TEXT, "text", write_text, check_nothing, text, text, text, .suffixes = {".txt"}, .measures = true,          \
        .elides = true, .terminal = true, .theme = THEME_AUTO)                                                      \
    ROW(JSON, "json", write_json, check_nothing, json, json, no, .suffixes = {".json"}, .measures = true,           \
        .holds_whole = true)                                                                                        \
    ROW(NPY, "npy", write_npy, check_npy, no, no, no, .suffixes = {".npy"}, .binary = true, .one_table = true,      \
        .holds_whole = true,                                                                                        \
        .refuses_parameters = "a .npy holds one table, init draws several; expected .safetensors or .json")         \
    ROW(SAFETENSORS, "safetensors", write_safetensors, check_safetensors, no, no, no, .suffixes = {".safetensors"}, \
        .binary = true, .holds_part = true, .holds_whole = true)                                                    \
    ROW(CSV, "csv", write_csv, check_nothing, no, no, no, .suffixes = {".csv"}, .measures = true)                   \
    ROW(MARKDOWN, "markdown", write_markdown, check_nothing, no, no, markdown, .suffixes = {".md"}, .elides = true) \
    ROW(LATEX, "latex", write_latex, check_nothing, no, no, latex, .suffixes = {".tex"}, .elides = true)            \
    ROW(SVG, "svg", write_svg, check_svg, no, svg, no, .suffixes = {".svg"}, .measures = true, .pictures = true,    \
        .animates = true, .themed = true, .refuses_parameters = NO_PICTURE)                                         \
    ROW(PNG, "png", write_png, check_png, no, no, no, .suffixes = {".png"}, .binary = true, .pictures = true,       \
        .themed = true, .refuses_parameters = NO_PICTURE)                                                           \
    ROW(PDF, "pdf", write_pdf, check_pdf, no, no, no, .suffixes = {".pdf"}, .binary = true, .pictures = true,       \
        .themed = true, .refuses_parameters = NO_PICTURE)                                                           \
    ROW(HTML, "html", write_html, check_nothing, no, no, html, .suffixes = {".html"}, .measures = true,             \
        .computes = true, .themed = true, .theme = THEME_AUTO,                                                      \
        .refuses_parameters =                                                                                       \
            "a page shows attention, init draws parameters; expected --format text, json or safetensors")

/* Those of attn cases --check alone: identifier, name, the suffix of the function in cases/report.c, other fields. */
#define JUDGING_FORMAT_ROWS(ROW)               \
    ROW(TAP, "tap", tap, .suffixes = {".tap"}) \
    ROW(JUNIT, "junit", junit, .suffixes = {".xml"})

#define FORMAT_ID(id, ...) FORMAT_##id,
enum format { FORMAT_ROWS(FORMAT_ID) JUDGING_FORMAT_ROWS(FORMAT_ID) FORMAT_COUNT };

extern const struct format_row FORMATS[FORMAT_COUNT];

/* The names, then NULL. */
extern const char *const FORMAT_NAMES[FORMAT_COUNT + 1];

/* The format of that name, or FORMAT_COUNT. */
enum format format_find(const char *name);

/* The format of files with that suffix (".npy"), or FORMAT_COUNT. */
enum format format_of_suffix(const char *suffix);
