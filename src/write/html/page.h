/* SPDX-License-Identifier: MIT */
/* The page that write_html fills. The Makefile makes these bytes of the folder page/ beside this file: page.html with
 * its style and its scripts put in. The line @data@ is left, where the numbers go. */
#ifndef ATTN_WRITE_HTML_PAGE_H
#define ATTN_WRITE_HTML_PAGE_H

#include <stddef.h>

extern const unsigned char page_bytes[]; /* page_length of them, and a NUL */
extern const size_t page_length;

#endif
