/* SPDX-License-Identifier: MIT */
/* A part of struct problem (problem.h): the labels of tokens. */
#ifndef ATTN_PROBLEM_PROBLEM_LABELS_H
#define ATTN_PROBLEM_PROBLEM_LABELS_H

#include "read/input_file.h"

#include <stdbool.h>
#include <stddef.h>

struct problem_labels {
    struct token_labels keys;    /* 1 list or B */
    size_t first_query;          /* the label of query 0 among them; SIZE_MAX: none */
    bool queries_differ;         /* queries have their own labels: */
    struct token_labels queries; /* 1 list or B */
    struct token_labels words;   /* of the vocabulary; or none */
    const char *comment;         /* what the input says about itself, or NULL */
};

#endif
