/* SPDX-License-Identifier: MIT */
/* What explains all failures of a folder at once, and no success: a mistake; else what the failing results have in
 * common; else what they are. */
#pragma once

#include "cases/cases.h"
#include "read/load.h"

/* What a kernel wrote into the folder of a case: context.npy, grad_query.npy, or one file with all results by name. */
struct answer {
    const char *stage;   /* "context" */
    const char *path;    /* of its file; NULL: there is none */
    const char *name;    /* of its file, in messages */
    const char *refused; /* why it cannot be read, or NULL */
    bool alone;          /* the file holds that table alone, without a name */
    bool is_text;        /* its numbers are decimals, of any dtype */
    bool older;          /* than its case: it is a result of another folder */
    double written;      /* when, in seconds */
    const char *again;   /* a file of another run, context-2.npy, with other numbers; or NULL */
    struct tensor tensor;
};

struct answers {
    const char *folder; /* DIR/edge-16 */
    double written;     /* its case.json, in seconds */
    const char **names; /* all files in it */
    size_t name_count;
    bool *taken;                          /* (name_count) they hold a result, or tables that a message names */
    struct answer of[CASES_MOST_RESULTS]; /* in the order of made->results */
    struct case_unread unread[CASE_NOTES];
    size_t unread_count, more_unread; /* those, and how many more there are */
};

/* A case made again, and what a kernel wrote for it. */
struct remade {
    struct arena arena; /* of all that is not kept; the caller frees it in any case */
    const struct case_made *made;
    struct answers *answers;
};

/* In answer.c: makes the case and reads the answers, which hold why a file cannot be read. STATUS_SYSTEM also where the
 * folder cannot be read: then answers->folder is its path, and answers->names is NULL. */
enum status case_remake(struct remade *remade, struct cases_report *report, const struct case_row *row,
                        struct error *error);

/* In features.c: adds what all failing results have and no passing one. */
enum status verdict_features(const struct cases_report *report, struct text *text, struct arena *arena,
                             struct error *error);

/* In verdict.c: sets report->verdict, and the mistakes of the cases that it explains. */
enum status cases_find_verdict(struct cases_report *report, const struct options *options, struct arena *arena,
                               struct error *error);

/* In verdict.c: the command that asks about a result, as words and as a line for a shell. */
enum status case_question(const struct answers *answers, const struct answer *answer, bool gradients,
                          char *words[CASES_WORDS], int *count, struct text *line, struct arena *arena,
                          struct error *error);
