/* The lessons of attn(1): the sections LESSONS and ANSWERS of its source, as parts that are shown, asked or run.
 *
 * Text has the marks of mdoc.h. The lessons, the exercises of each and the lines of the source count from 1. */
#ifndef ATTN_LESSON_LESSONS_H
#define ATTN_LESSON_LESSONS_H

#include "base/memory.h"

#include <stdbool.h>

/* man/attn.1, which the Makefile makes part of the program, and its name for messages. */
extern const unsigned char lesson_source_bytes[];
extern const size_t lesson_source_length;
#define LESSON_SOURCE "man/attn.1"

enum lesson_part_kind {
    LESSON_TEXT,    /* a paragraph, or an item of a list */
    LESSON_LITERAL, /* lines that stay as they are */
    LESSON_COMMAND, /* a command, and what it prints */
};

struct lesson_part {
    enum lesson_part_kind kind;
    bool close;             /* nothing stands between it and what is before */
    const char *text;       /* the paragraph; the lines; the command, perhaps of several lines */
    const char *tag;        /* before an item: "value", "-", "1."; else NULL */
    size_t indent;          /* columns before a paragraph */
    const char *predicted;  /* of a text that asks for a prediction: what comes behind it; else NULL */
    bool predicts_word;     /* a word, not a number */
    size_t exercise;        /* of a text that sets one: which, from 1; else 0 */
    size_t exercise_lesson; /* the lesson that it says it is of */
    const char *expected;   /* the number that the exercise asks for; or NULL */
    const char *printed;    /* of a command: lines, each with its newline; else NULL */
    size_t line;            /* where it begins */
};

/* A section: the introduction, a lesson, or an answer. */
struct lesson {
    const char *title;       /* of a lesson */
    size_t number, exercise; /* of a lesson: which; of an answer: to which exercise of which */
    struct lesson_part *parts;
    size_t count;
};

struct lessons {
    struct lesson introduction;
    struct lesson *lessons; /* (count) lesson 1, 2, ... */
    size_t count;
    struct lesson *answers; /* (answer_count) in the order of the source */
    size_t answer_count;
};

/* Reads them out of the source, `length` bytes of which a NUL follows; the arena owns what they are made of.
 * STATUS_USAGE "name:LINE: ..." where a line does not keep the rules of the lessons: a macro or an escape beyond
 * mdoc.h's, lessons that do not count from 1, a prediction without what comes, a block or a list without its end.
 * STATUS_SYSTEM where memory is short. */
enum status lessons_read(struct lessons *lessons, const char *source, size_t length, const char *name,
                         struct arena *arena, struct error *error);

/* The answer to an exercise, or NULL. */
const struct lesson *lessons_answer(const struct lessons *lessons, size_t lesson, size_t exercise);

enum { LESSON_TITLE_BYTES = 80 };

/* The title of a lesson of the program's own source, from 1, into title (LESSON_TITLE_BYTES); false behind the last
 * one. */
bool lesson_title(size_t number, char *title);

#endif
