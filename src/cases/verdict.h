/* SPDX-License-Identifier: MIT */
/* What explains all failures of a folder at once, and no success: a mistake; else what the failing results have in
 * common; else what they are. */
#pragma once

#include "cases/answer.h"

/* In features.c: adds what all failing results have and no passing one. STATUS_SYSTEM where memory is short. */
enum status verdict_features(const struct cases_report *report, struct text *text, struct arena *arena,
                             struct error *error);

/* In verdict.c: sets report->verdict, and the mistakes of the cases that it explains. STATUS_SYSTEM where memory is
 * short. */
enum status cases_find_verdict(struct cases_report *report, const struct options *options, struct arena *arena,
                               struct error *error);

/* In verdict.c: the command that asks about a result, as words and as a line for a shell. STATUS_SYSTEM where memory is
 * short. */
enum status case_question(const struct answers *answers, const struct answer *answer, bool gradients,
                          char *words[CASES_WORDS], int *count, struct text *line, struct arena *arena,
                          struct error *error);
