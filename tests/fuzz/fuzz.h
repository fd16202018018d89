/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: libFuzzer gives bytes, a reader takes them for a file or refuses them with a reason;
 * what the file holds is then read to the last number. Anything else ends the program. `make fuzz` builds and runs the
 * targets; `make check` runs them in one program, on their seeds and on what was found (test_fuzz.c). */
#ifndef ATTN_FUZZ_H
#define ATTN_FUZZ_H

#include "read/input_file.h"

#include <stdint.h>
#include <stdlib.h>

/* Of which test_fuzz has one for each target, under other names. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Everything that a file may hold and attn reads: where it computes, and where it compares. */
enum {
    FUZZ_KINDS = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS |
                 INPUT_FILE_MASKING | INPUT_FILE_OPERAND | INPUT_FILE_CACHE | INPUT_FILE_BUFFER,
    FUZZ_COMPARED = INPUT_FILE_STAGE | INPUT_FILE_FOREIGN | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS,
};

/* A failure has a status and a message; a success has tensors of a rank and numbers in reach, and tokens that are
 * text. */
static inline void fuzz_check(enum status status, unsigned kinds, const struct input_file *input, struct arena *arena,
                              struct error *error)
{
    struct tensor converted;
    bool finite;
    if (status != STATUS_OK) {
        if (error->status != status || error->message[0] == '\0')
            abort();
        return;
    }
    for (size_t i = 0; i < input->tensor_count; i++) {
        const struct file_tensor *named = &input->tensors[i];
        const bool unread = named->tensor.rank == 0 && input->tensor_count > 1 && (kinds & INPUT_FILE_FOREIGN) != 0;
        if (input_file_find(input, named->name) == NULL)
            abort();
        if (unread)
            continue;
        if (named->tensor.rank == 0 || named->tensor.rank > TENSOR_RANK ||
            (tensor_count(&named->tensor) == 0 && named->part == NULL))
            abort();
        tensor_convert(&named->tensor, DTYPE_F32, input->source, named->name, &finite, &converted, arena, error);
    }
    for (size_t i = 0; input->tokens.texts != NULL && i < input->tokens.lists * input->tokens.count; i++)
        if (input->tokens.texts[i] == NULL)
            abort();
}

#endif
