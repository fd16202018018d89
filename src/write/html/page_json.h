/* The JSON of the page, piece by piece: keys of one object, after its first. Text from outside has no '<', '>' and '&'
 * in it, so that it can neither end a script nor begin a comment. */
#ifndef ATTN_WRITE_HTML_PAGE_JSON_H
#define ATTN_WRITE_HTML_PAGE_JSON_H

#include "base/output.h"

#include <stdbool.h>
#include <stddef.h>

/* A text in quotes, as a person sees it: on one line of at most so many columns, what is hidden shown. */
void page_string(const char *text, size_t columns, struct output *output);

/* The text itself, whole: what is hidden is escaped. Never to be shown. */
void page_text(const char *text, struct output *output);

void page_key(const char *name, struct output *output);
void page_size(const char *name, size_t size, struct output *output);
void page_truth(const char *name, bool truth, struct output *output);
void page_real(const char *name, double number, struct output *output);

/* One number for each head, or null. */
void page_list(const char *name, const double *numbers, size_t count, struct output *output);

/* A name and a text of at most so many columns, as one element of a list. */
void page_named(const char *name, const char *text, size_t columns, bool first, struct output *output);

#endif
