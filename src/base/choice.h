/* SPDX-License-Identifier: MIT */
/* Choices: a list of rows makes an enum and an option's words for its values.
 *
 *     #define ALIGNMENTS(ROW) ROW(ALIGN_TOP_LEFT, "top-left") ROW(ALIGN_BOTTOM_RIGHT, "bottom-right")
 *     enum align { ALIGNMENTS(CHOICE_ID) };
 *     static const char *const WORDS[] = {ALIGNMENTS(CHOICE_WORD) NULL}; */
#pragma once

#define CHOICE_ID(id, word) id,
#define CHOICE_WORD(id, word) [id] = (word),
