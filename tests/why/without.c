/* SPDX-License-Identifier: MIT */
#include "without.h"

#include "build/problem_create.h"
#include "why/why.h"

#include <stdio.h>

static const bool *not_guessed;

void without_these(const bool *left_out)
{
    not_guessed = left_out;
}

/* What attn's main does for `why`, all of it in this arena. */
static enum status search_and_write(int argc, char **argv, struct arena *arena, struct error *error)
{
    struct options options;
    struct job_files files;
    struct problem problem;
    struct progress progress;
    struct why *why = arena_allocate(arena, 1, sizeof *why, error);
    struct output *output = arena_allocate(arena, 1, sizeof *output, error);
    if (why == NULL || output == NULL || options_parse(&options, argc, argv, error) ||
        job_files_read(&files, &options, arena, error) || problem_create(&problem, &options, &files, arena, error))
        return error->status;
    progress_start(&progress, false, false);
    if (why_search(why, &options, &files, &problem, not_guessed, NULL, &progress, arena, error) ||
        output_open(output, NULL, arena, error))
        return error->status;
    return why_write(why, output);
}

int without_main(int argc, char **argv)
{
    struct arena arena = {0};
    struct error error = {0};
    const enum status status = search_and_write(argc, argv, &arena, &error);
    if (status != STATUS_OK)
        error_print(&error, stderr);
    arena_free(&arena);
    return (int)status;
}
