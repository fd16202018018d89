/* SPDX-License-Identifier: MIT */
/* attn why whose search may not guess some mistakes. */
#ifndef ATTN_WHY_WITHOUT_H
#define ATTN_WHY_WITHOUT_H

#include <stdbool.h>

/* Which from now on: (MISTAKE_COUNT) by their places in the library; kept, not copied. */
void without_these(const bool *left_out);

/* What attn's main is, of `why` alone: its words, the exit status. */
int without_main(int argc, char **argv);

#endif
