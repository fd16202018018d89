/* SPDX-License-Identifier: MIT */
/* Mistakes as people make them, each a row: what it should be called, the exercises on which it is made, and the steps
 * that are wrong. A name with a form, "tiles-last-alone:4", wants that form. */
#ifndef ATTN_WHY_CASES_H
#define ATTN_WHY_CASES_H

#include "attention.h"

#include <stddef.h>

#define ON(id) (1u << (id))

struct mistaken {
    const char *name;
    unsigned on; /* the exercises; 0: the last table does not show it, another stage does */
    struct way way;
};

struct case_list {
    const struct mistaken *rows;
    size_t count;
};

extern const struct case_list CASES_OF_SCORES, CASES_OF_MASKS, CASES_OF_MODULES, CASES_OF_KERNELS;

/* All of them, one after another; NULL behind the last. */
const struct mistaken *cases_at(size_t place);

/* That of this name, which is there. */
const struct mistaken *cases_find(const char *name);

#endif
