/* SPDX-License-Identifier: MIT */
/* Tables as people paste them -> struct input_file: what PyTorch and NumPy print, a cell of a notebook, JSON arrays,
 * rows of numbers. attn runs nothing: anything but a literal is an error.
 *
 *     tensor([[0.43, 0.15], [0.55, 0.87]], grad_fn=<MmBackward0>)     also array(...), torch.tensor(...), Parameter
 *     [[0.43 0.15]                                                    containing: ...; with commas or without
 *      [0.55 0.87]]
 *     [0.43 0.15; 0.55 0.87]                                          MATLAB
 *     Your,0.43,0.15                                                  rows
 *     inputs = torch.tensor([[0.43, 0.15], # Your (x^1)               a cell: names as everywhere, NAME = ...
 *     stage,row,token,1,2                                             what attn writes with --format csv
 *     inputs,1,Your,0.43,0.15
 *
 * - attn skips the prompts >>> and In [3]: with their questions, lines of import, and comments from '#' on; Out[3]:
 *   precedes a table. A table without a name is "inputs"; of several tables each needs a name.
 * - If each row of inputs has a comment, its words before a parenthesis are the row's token; so for key_inputs, for
 *   sdpa's key, and for its query where that has other words.
 * - After the numbers of tensor() and array(): dtype, which must fit them (bool makes 0 and 1 truth values); attn skips
 *   device, grad_fn and the like. A number counts as printed, whatever the dtype.
 * - Either commas or blanks separate elements, throughout; a semicolon ends a row of a matrix in one pair of brackets,
 *   where a comma separates numbers: [1,5;2,5] is 2 x 2.
 * - Tabs, else semicolons, else commas, else blanks separate cells: the first line decides. attn skips a first line
 *   without numbers, a head line. A row's token is its first cell if that is no number, is below an empty cell, or is
 *   one more than the heads. attn does not guess, but reports an error for decimal commas, a head line or labels that
 *   only count, a head line that may be a row without its numbers, and an empty line between two tables. So it does for
 *   a number with a leading zero.
 * - Lines end in LF or CR LF. attn skips a byte order mark of UTF-8, which spreadsheets write, before a table.
 *
 * Of INPUT_FILE_PARTS, also what shows a part of a table (file_tensor.part): elided numbers, [0.1, 0.2, ..., 0.9];
 * lines before or after it, or alone, that say its shape, sum, mean, norm or std, "context.sum() = 12.3"; and dumps of
 * ggml (printed_dump.c).
 *
 * attn rounds numbers to nearest, and keeps their last digits (file_tensor.last_digit). Numbers without an exponent
 * share the most decimals that one of them shows, as NumPy omits zeros at the end; those with one share the most
 * decimals of their mantissas, each shifted by its exponent. Without decimals, and for nan and inf, they are exact. */
#pragma once

#include "read/input_file.h"

/* Whether a file that begins with these bytes is a printed table, by its first character that is no blank: one that a
 * table may begin with and a JSON object does not. */
bool printed_begins(const unsigned char *bytes, size_t length);

/* Whether no table begins with these bytes. */
bool printed_cannot_be_input(const unsigned char *bytes, size_t length);

/* Whether it begins with a total, such as "sum=12.3". */
bool printed_is_fact(const char *text);

/* Reads text[0 .. length), ended by text[length] == '\0'. The `kinds` go into `input`, as in json_read. STATUS_USAGE
 * "source:line:column: expected ..., got ...", with the line and a caret; "source: ..." for a table without a name
 * where `kinds` have neither inputs nor foreign tensors. */
enum status printed_read(const char *source, const char *text, size_t length, unsigned kinds, struct arena *arena,
                         struct input_file *input, struct error *error);
