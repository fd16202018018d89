/* SPDX-License-Identifier: MIT */
/* Tables as people paste them -> struct input_file: what PyTorch and NumPy print, a cell of a notebook, JSON arrays,
 * rows of numbers. Nothing is run: what is no literal is an error.
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
 * - Prompts, >>> and In [3]:, are passed over with what they ask; Out[3]: stands before a table.
 * - One table without a name stands for "inputs"; of several each has its name. Lines of import are passed over, as are
 *   comments, from '#' on; where each row of inputs has one behind it, its words before a parenthesis are the row's
 *   token. So it is with key_inputs, with sdpa's key, and with its query where that has other words.
 * - Behind the numbers of tensor() and array(): dtype, which must suit them (bool makes 0 and 1 truth values), and
 *   device, grad_fn and the like, which are passed over. A number is as it is printed, whatever the dtype.
 * - Elements are parted by commas or by blanks, in the same way throughout; a semicolon ends a row of a matrix in one
 *   pair of brackets. There a comma parts numbers: [1,5;2,5] is 2 x 2.
 * - Rows are parted by tabs, else by semicolons, else by commas, else by blanks, as in the first line and in the same
 *   way throughout. A first line without a number is a head line and passed over. A first cell that is no number, that
 *   stands beneath an empty one, or that is one more than there are heads is the row's token. Where numbers have a
 *   decimal comma, where a head line or labels only count, where a head line may be a row without its numbers, and
 *   where an empty line parts two tables, nothing is guessed: it is an error. So is a number with a leading zero.
 * - Lines end in LF or CR LF. A byte order mark of UTF-8, which spreadsheets write, is passed over before a table.
 *
 * Numbers are rounded to nearest. Each tensor has its last digits (file_tensor.last_digit): numbers without an exponent
 * share the most decimals that one of them shows, as NumPy leaves zeros at the end away; those with one share the most
 * decimals of their mantissas, each shifted by its own exponent. Where there are none, and for nan and inf, they are
 * exact. */
#ifndef ATTN_READ_PRINTED_H
#define ATTN_READ_PRINTED_H

#include "read/input_file.h"

/* Whether a file that begins with these bytes is to be read as a printed table: by its first character that is no
 * blank, all that a table may begin with and a JSON object does not. */
bool printed_begins(const unsigned char *bytes, size_t length);

/* Whether a text that goes on behind these bytes is no table, however it does. */
bool printed_cannot_be_input(const unsigned char *bytes, size_t length);

/* Reads text[0 .. length), which text[length] == '\0' ends. What is of the `kinds` goes into `input`, as with
 * json_read. STATUS_USAGE "source:line:column: expected ..., got ...", with the line and a caret; "source: ..." for a
 * table without a name where `kinds` have neither inputs nor foreign tensors. */
enum status printed_read(const char *source, const char *text, size_t length, unsigned kinds, struct arena *arena,
                         struct input_file *input, struct error *error);

#endif
