/* SPDX-License-Identifier: MIT */
/* What a row gives against what other formats, parts and runs of the same job give: checks of the present test. */
#ifndef ATTN_PAIRS_AGREEMENT_H
#define ATTN_PAIRS_AGREEMENT_H

#include "readers.h"
#include "subject.h"

/* The tables of JSON against those of .safetensors and CSV. */
void agreement_of_numbers(const struct design_row *row, const struct reader_tables *json);

/* A .npy against the one table of the .safetensors. */
void agreement_of_npy(const struct design_row *row, const struct reader_tables *npy);

/* Both parts of the row's job put together are the whole. */
void agreement_of_parts(const struct design_row *row);

/* What init draws are parameters for its mechanism, which shows the same. */
void agreement_of_drawn(const struct design_row *row, const struct program_run *first,
                        const struct reader_tables *drawn);

/* What text, Markdown or LaTeX shows is what the .safetensors has, whose numbers are exact. */
void agreement_of_shown(const struct design_row *row, const char *format, const struct program_run *first);

/* Options that change numbers do the same from the settings of the input, where that is JSON without any. */
void agreement_of_settings(const struct design_row *row, const struct program_run *first);

/* A result that holds what it was made from gives the same bytes again. */
void agreement_again(const struct design_row *row, const char *format, const struct program_run *first,
                     const struct reader_tables *tables);

#endif
