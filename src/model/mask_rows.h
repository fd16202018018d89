/* SPDX-License-Identifier: MIT */
/* The rules of a mask, one row each. mask.h makes their enum, mask.c the table; mask_position.c and the like define
 * the struct mask_functions mask_NAME.
 *
 *   ROW(ID, name, ...)
 *
 *   .bounds   the rule bounds the keys of a query, before others remove keys at both ends
 *   .option   the option, and setting, whose number it reads: from 1 on, 0 is none
 *   .causal   that number requires a causal mask
 *   .tensor   the input tensor of whole numbers that it reads, one for each key; also a row of MASK_TENSORS
 *   .counted  what its numbers count, for the head line: "document"
 *
 * If several rules forbid a key, explanations name the first. Formulas name the first row last. */
#pragma once

/* clang-format off */
#define MASK_ROWS(ROW) \
    ROW(SEQUENCE, sequence_rule, .bounds = true) \
    ROW(IMAGE, image, .bounds = false) \
    ROW(PREFIX, prefix, .option = "prefix", .causal = true) \
    ROW(CAUSAL, causal, .bounds = false) \
    ROW(RIGHT, right, .bounds = false) \
    ROW(LEFT, left, .bounds = false) \
    ROW(CHUNK, chunk, .option = "attention-chunk") \
    ROW(DOCUMENT, document, .tensor = "document_ids", .counted = "document") \
    ROW(LENGTH, length, .bounds = true)

/* The tensors, for the readers of files. */
#define MASK_TENSORS(ROW) \
    ROW("document_ids")
/* clang-format on */
