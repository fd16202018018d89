/* SPDX-License-Identifier: MIT */
/* Choices: a list of rows makes an enum and an option's words for its values.
 *
 *     #define ALIGNMENTS(ROW) ROW(ALIGN_TOP_LEFT, "top-left") ROW(ALIGN_BOTTOM_RIGHT, "bottom-right")
 *     enum align { ALIGNMENTS(CHOICE_ID) };
 *     static const char *const WORDS[] = {ALIGNMENTS(CHOICE_WORD) NULL}; */
#ifndef ATTN_BASE_CHOICE_H
#define ATTN_BASE_CHOICE_H

#define CHOICE_ID(id, word) id,
#define CHOICE_WORD(id, word) [id] = (word),

#endif
