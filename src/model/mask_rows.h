/* SPDX-License-Identifier: MIT */
/* The rules of a mask, a row each. mask.h makes the enum of them, mask.c the table; what a rule computes and says is in
 * mask_NAME.c, a struct mask_functions mask_NAME.
 *
 *   ROW(ID, name, ...)
 *
 *   .bounds   the rule says which keys there are for a query, before others take keys off both ends
 *   .option   the option, and setting, whose number it has: from 1 on, 0 is none
 *   .causal   that number is of a causal mask alone
 *   .tensor   the input tensor of whole numbers that it reads, one for each key; also a row of MASK_TENSORS
 *   .counted  what its numbers count, for the head line: "document"
 *
 * A key that several rules forbid is forbidden by the first of them. In a formula the first row is said last. */
#ifndef ATTN_MODEL_MASK_ROWS_H
#define ATTN_MODEL_MASK_ROWS_H

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

/* The tensors, for who reads files. */
#define MASK_TENSORS(ROW) \
    ROW("document_ids")
/* clang-format on */

#endif
