/* SPDX-License-Identifier: MIT */
/* steps -> a table for a terminal, a line for each step, and a summary in words. */
#include "base/text.h"
#include "base/wrap.h"
#include "compute/result.h"
#include "model/stage_id.h"
#include "steps/steps.h"
#include "write/head_lines.h"

#include <math.h>

enum { QUERIES_BYTES = 128, QUERIES_COLUMNS = 10, NUMBER_BYTES = 32, NUMBER_COLUMNS = 6 };

/* "3 starts", "1-4", or of tokens without a name "3", into text (QUERIES_BYTES). */
static void queries_text(const struct problem *problem, const struct step *step, char *text)
{
    const char **labels = problem_tokens(problem)->lists > 1 ? NULL : problem_query_labels(problem, 0);
    struct text words = text_begin(text, QUERIES_BYTES);
    char label[QUERIES_BYTES / 2];
    text_add(&words, "%zu", step->first + 1);
    if (step->end > step->first + 1) {
        text_add(&words, "-%zu", step->end);
    } else if (labels != NULL) {
        text_cut(labels[step->first], memory_larger(1, memory_left(QUERIES_COLUMNS, text_columns(text) + 1)), label,
                 sizeof label);
        text_add(&words, " %s", label);
    }
}

/* Columns of the widest number of a step: bytes, read or kept. */
static int number_width(const struct steps *steps)
{
    double most = 0;
    char text[NUMBER_BYTES];
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->steps[i];
        most = fmax(most, steps_bytes(steps, memory_larger(step->read, step->kept)));
    }
    const int width = snprintf(text, sizeof text, "%.0f", most);
    return width > NUMBER_COLUMNS ? width : NUMBER_COLUMNS;
}

static void write_step(const struct steps *steps, size_t i, int width, struct output *output)
{
    const struct step *step = &steps->steps[i];
    char queries[QUERIES_BYTES], compared[NUMBER_BYTES];
    queries_text(steps->problem, step, queries);
    snprintf(compared, sizeof compared, step->same == step->rows ? "same bits" : "off by %.1e", step->largest);
    output_print(output, "%4zu  %s%*s  %4zu  %6zu  %*zu  %*.0f  %*zu  %*.0f  %s\n", i + 1, queries,
                 (int)(QUERIES_COLUMNS - memory_smaller(text_columns(queries), QUERIES_COLUMNS)), "",
                 step->cached + step->made, step->cached, width, step->read, width, steps_bytes(steps, step->read),
                 width, step->kept, width, steps_bytes(steps, step->kept), compared);
}

static void write_table(const struct steps *steps, bool full, struct output *output)
{
    const int width = number_width(steps);
    output_print(output, "\n%4s  %-*s  %4s  %6s  %*s  %*s  %*s  %*s  %s\n", "step", QUERIES_COLUMNS, "queries", "keys",
                 "cached", width, "read", width, "bytes", width, "kept", width, "bytes", stage_name(steps->stage));
    for (size_t i = 0; i < result_shown_count(steps->count, full); i++) {
        size_t step;
        if (result_shown_index(steps->count, full, i, &step))
            write_step(steps, step, width, output);
        else
            output_print(output, "%4s\n", "...");
    }
    output_print(output, "\n");
}

static void write_sentence(struct output *output, const char *sentence)
{
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS};
    wrap_words(&line, sentence);
    output_print(output, "\n");
}

static void write_verdict(const struct steps *steps, struct output *output)
{
    const struct step *total = &steps->total;
    const char *path = steps->fused ? "by the fused path" : "by the reference", *stage = stage_name(steps->stage);
    const struct rope_settings *rope = &steps->problem->rotation.settings;
    const enum rope_scaling_kind scaling = rope->scaling.kind;
    const bool by_length = scaling == ROPE_SCALING_DYNAMIC || scaling == ROPE_SCALING_LONGROPE;
    char sentence[256];
    if (total->same == total->rows)
        snprintf(sentence, sizeof sentence, "All %zu rows of %s have the same bits as in one full pass, %s.",
                 total->rows, stage, path);
    else
        snprintf(sentence, sizeof sentence,
                 "%zu of %zu rows of %s have the same bits as in one full pass, %s; the others are off by up to %.1e.",
                 total->same, total->rows, stage, path, total->largest);
    write_sentence(output, sentence);
    if (total->same < total->rows && rope->kind != ROPE_NONE && by_length)
        write_sentence(output, "The rope scaling depends on the length of the text. A step knows only the length so "
                               "far, and cached keys are not rotated again.");
}

/* What the cache is for, and what shared heads save. */
static void write_savings(const struct steps *steps, struct output *output)
{
    const struct problem *problem = steps->problem;
    const size_t group = problem->size.heads / problem->size.kv_heads;
    char sentence[256];
    struct text text = text_begin(sentence, sizeof sentence);
    text_add(&text, "attn computes key and value once per token, %zu times%s; without a cache, ", steps->made,
             problem->size.items > 1 ? " for each item" : "");
    if (steps->remade_least < steps->remade)
        text_add(&text, "%zu to %zu times, depending on the item's length.", steps->remade_least, steps->remade);
    else
        text_add(&text, "%zu times.", steps->remade);
    write_sentence(output, sentence);
    if (group == 1)
        return;
    snprintf(sentence, sizeof sentence, "Without shared heads the cache would be %zu times as large.", group);
    write_sentence(output, sentence);
}

enum status steps_text(const struct steps *steps, const struct options *options, struct output *output,
                       struct arena *arena, struct error *error)
{
    (void)arena, (void)error;
    head_lines_write(steps->problem, WRAP_COLUMNS, options_want_color(options, output), output);
    write_table(steps, options->full, output);
    write_verdict(steps, output);
    write_savings(steps, output);
    return STATUS_OK;
}
