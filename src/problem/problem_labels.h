/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the labels of tokens. */
#ifndef ATTN_PROBLEM_PROBLEM_LABELS_H
#define ATTN_PROBLEM_PROBLEM_LABELS_H

#include "read/input_file.h"

#include <stdbool.h>
#include <stddef.h>

struct problem_labels {
    struct token_labels keys;    /* of 1 list or B */
    size_t first_query;          /* the label of query 0 among them; SIZE_MAX where it is not there */
    bool queries_differ;         /* the labels of queries are no labels of keys, but */
    struct token_labels queries; /* of 1 list or B */
};

#endif
