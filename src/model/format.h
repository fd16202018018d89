/* SPDX-License-Identifier: MIT */
/* The formats that a result is written in, and what each can hold. */
#ifndef ATTN_MODEL_FORMAT_H
#define ATTN_MODEL_FORMAT_H

#include "base/choice.h"

#include <stdbool.h>

enum { FORMAT_SUFFIXES = 2 };

/* What a picture or a page lies on. AUTO: as its reader's screen, or the terminal, says. */
#define THEMES(ROW) ROW(THEME_LIGHT, "light") ROW(THEME_DARK, "dark") ROW(THEME_AUTO, "auto")
enum theme { THEMES(CHOICE_ID) };

struct format_row {
    const char *name;
    const char *suffixes[FORMAT_SUFFIXES]; /* of files that --out names; NULL where there are fewer */
    bool binary;                           /* no text: never to a terminal */
    bool one_table;                        /* holds one table, without a name, of a dtype that .npy has */
    bool holds_part;                       /* can say which part of which job it is */
    bool holds_whole;                      /* every number as it is, of any dtype: what join writes */
    bool elides;                           /* of long tables the ends, unless --full */
    bool terminal;                         /* for a terminal: --heatmap and --explain are ways to write it */
    bool pictures;                         /* draws tables of inputs and stages; T x T ones matter most */
    bool themed;                           /* light or dark; of text its heatmaps alone are */
    enum theme theme;                      /* which, where --theme does not say it */
    bool reports;                          /* attn diff, attn why, attn cases and lists of a checkpoint write it, */
    bool steps;                            /* --steps, */
    bool prints;                           /* and attn worksheet, for paper */
    bool computes;                         /* a page, which computes T x T stages itself, of query, key and value */
    const char *refuses_parameters;        /* why init does not write it; NULL: it does */
};

/* A row a format: its identifier; its name; the functions that write it and that say before the work whether it can be
 * written (write/writing.h); what the functions are called that write reports, steps and worksheets, `no` where there
 * are none; what else a struct format_row has. */
#define FORMAT_ROWS(ROW)                                                                                            \
    ROW(TEXT, "text", write_text, check_nothing, text, text, text, .suffixes = {".txt"}, .elides = true,            \
        .terminal = true, .theme = THEME_AUTO)                                                                      \
    ROW(JSON, "json", write_json, check_nothing, json, json, no, .suffixes = {".json"}, .holds_whole = true)        \
    ROW(NPY, "npy", write_npy, check_npy, no, no, no, .suffixes = {".npy"}, .binary = true, .one_table = true,      \
        .holds_whole = true,                                                                                        \
        .refuses_parameters = "a .npy holds one table, init draws several; expected .safetensors or .json")         \
    ROW(SAFETENSORS, "safetensors", write_safetensors, check_safetensors, no, no, no, .suffixes = {".safetensors"}, \
        .binary = true, .holds_part = true, .holds_whole = true)                                                    \
    ROW(CSV, "csv", write_csv, check_nothing, no, no, no, .suffixes = {".csv"})                                     \
    ROW(MARKDOWN, "markdown", write_markdown, check_nothing, no, no, markdown, .suffixes = {".md"}, .elides = true) \
    ROW(LATEX, "latex", write_latex, check_nothing, no, no, latex, .suffixes = {".tex"}, .elides = true)            \
    ROW(SVG, "svg", write_svg, check_svg, no, svg, no, .suffixes = {".svg"}, .pictures = true, .themed = true,      \
        .refuses_parameters = "init draws parameters, which make no picture; expected --format text or json")       \
    ROW(HTML, "html", write_html, check_nothing, no, no, html, .suffixes = {".html"}, .computes = true,             \
        .themed = true, .theme = THEME_AUTO,                                                                        \
        .refuses_parameters =                                                                                       \
            "a page shows attention, init draws parameters; expected --format text, json or safetensors")

#define FORMAT_ID(id, ...) FORMAT_##id,
enum format { FORMAT_ROWS(FORMAT_ID) FORMAT_COUNT };
#undef FORMAT_ID

extern const struct format_row FORMATS[FORMAT_COUNT];

/* Their names, and then NULL. */
extern const char *const FORMAT_NAMES[FORMAT_COUNT + 1];

/* The format of that name, or FORMAT_COUNT. */
enum format format_find(const char *name);

/* The format of files with that suffix (".npy"), or FORMAT_COUNT. */
enum format format_of_suffix(const char *suffix);

#endif
