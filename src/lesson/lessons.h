/* SPDX-License-Identifier: MIT */
/* The lessons of attn-lessons(7), split into parts to show, ask or run. The build makes the table from the page's
 * source with lessons.awk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Marks before and after a bold or underlined word; a text has no other control characters. */
enum { LESSON_BOLD = 1, LESSON_UNDERLINE = 2, LESSON_PLAIN = 3 };

enum lesson_part_kind {
    LESSON_TEXT,    /* a paragraph, or an item of a list */
    LESSON_LITERAL, /* unchanged lines */
    LESSON_COMMAND, /* a command and its output */
};

struct lesson_part {
    enum lesson_part_kind kind;
    bool close;                  /* no empty line comes before it */
    size_t indent;               /* columns before a paragraph */
    const char *text;            /* the paragraph; the lines; the command, perhaps of several lines */
    const char *tag;             /* before an item: "value", "-", "1."; else NULL */
    const char *predicted;       /* the right prediction that a text asks for; or NULL */
    const char *expected;        /* of an exercise: the number it asks for; or NULL */
    const char *printed;         /* the output of a command, in lines that end in a newline; else NULL */
    const struct lesson *answer; /* of an exercise; else NULL */
    bool predicts_word;          /* the prediction is a word, not a number */
};

/* A section: the introduction, a lesson, or an answer. */
struct lesson {
    const char *title; /* of a lesson */
    const struct lesson_part *parts;
    size_t count;
};

/* The introduction, then lesson 1, 2, ... LESSON_COUNT. */
extern const struct lesson LESSONS[];
extern const size_t LESSON_COUNT;
