/* The part of mdoc(7) that the lessons are written in: text, its escapes, and macros that say how a word looks. What is
 * beyond that is an error. */
#ifndef ATTN_LESSON_MDOC_H
#define ATTN_LESSON_MDOC_H

#include "base/error.h"
#include "base/text.h"

/* These stand in a text before a word that looks otherwise, and behind it; no other control characters do. */
enum { MDOC_BOLD = 1, MDOC_UNDERLINE = 2, MDOC_PLAIN = 3 };

enum { MDOC_WORD_BYTES = 256 };

/* The next word of a macro's line, `*line` .. `end`, as it stands there; quotes hold several together, and are taken
 * off. False where there is none. */
bool mdoc_word(const char **line, const char *end, char word[MDOC_WORD_BYTES]);

/* Adds what stands there, its escapes made what they mean. STATUS_USAGE for an escape that is none of the lessons'. */
enum status mdoc_add_text(struct text *text, const char *line, const char *end, struct error *error);

/* Adds the words of a macro's line behind its dot, "Fl \-init Cm rand ,", with a blank before them unless the text is
 * empty. STATUS_USAGE for a macro that is none of the lessons'. */
enum status mdoc_add_macro(struct text *text, const char *line, const char *end, struct error *error);

#endif
