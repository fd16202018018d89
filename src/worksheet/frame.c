/* SPDX-License-Identifier: MIT */
/* The way of working, a function for each stage that has one: which numbers to multiply, as blanks to fill in. */
#include "base/decimal.h"
#include "model/stages.h"
#include "stage/stage.h"
#include "worksheet/sheet.h"

#include <math.h>

enum { FRAME_TERMS = 4 }; /* of more, those in the middle are left out */

struct frame {
    const struct problem *problem;
    enum stage stage;
    const char *query, *key;
    struct text lines[SHEET_FRAMES];
};

/* "_ x _ + _ x _ = _" */
static void add_products(struct text *text, size_t count, bool biased)
{
    for (size_t i = 0; i < count; i++) {
        const bool gap = count > FRAME_TERMS && i == FRAME_TERMS / 2;
        text_add(text, "%s%s", i > 0 ? " + " : "", gap ? "..." : SHEET_BLANK " " SHEET_TIMES " " SHEET_BLANK);
        i = gap ? count - FRAME_TERMS / 2 : i;
    }
    text_add(text, "%s = " SHEET_BLANK, biased ? " + " SHEET_BLANK : "");
}

static void frame_projection(struct frame *frame)
{
    const struct problem *problem = frame->problem;
    const enum projection_id id = projection_of(frame->stage);
    const bool of_keys = stage_is_of_keys(frame->stage);
    const struct projection *projection = &problem->parameters.modules[0].projections[id];
    if (problem->parameters.latent.rank > 0 || problem->given.residual)
        return;
    text_add(&frame->lines[0],
             "row %s of %s " SHEET_TIMES " column 1 of %sW_%s%s:", of_keys ? frame->key : frame->query,
             of_keys && problem->given.is_cross ? "key_inputs" : stage_name(problem_source(problem, frame->stage)),
             problem->plan.stacked ? "heads.0." : "", stage_name(projection_stage(id)),
             projection->transposed ? ".weight" SHEET_TRANSPOSED : "");
    add_products(&frame->lines[1], of_keys ? problem->size.d_key_in : problem->size.d_in, projection->bias.rank > 0);
}

/* Where a norm, a rotation or a scale follows, the query is not its projection. */
static void frame_operand(struct frame *frame)
{
    const enum stage before = stage_before(frame->problem, frame->stage);
    if ((STAGES[frame->stage].from & STAGE_BIT(STAGE_INPUTS)) != 0 &&
        (before >= STAGE_COUNT || before == STAGE_EMBEDDED))
        frame_projection(frame);
}

static void frame_scores(struct frame *frame)
{
    text_add(&frame->lines[0], "query %s " SHEET_TIMES " key %s:", frame->query, frame->key);
    add_products(&frame->lines[1], frame->problem->size.d_head, false);
}

static void frame_scaled(struct frame *frame)
{
    const struct problem *problem = frame->problem;
    char scale[DECIMAL_BYTES];
    decimal_from_double(problem->scaling.factor, scale);
    text_add(&frame->lines[0], "%s with %s:  ", frame->query, frame->key);
    if (problem->scaling.factor == 1 / sqrt((double)problem->size.d_head))
        text_add(&frame->lines[0], SHEET_BLANK " / " SHEET_ROOT "%zu" SHEET_ROOT_END " = " SHEET_BLANK,
                 problem->size.d_head);
    else
        text_add(&frame->lines[0], SHEET_BLANK " " SHEET_TIMES " %s = " SHEET_BLANK, scale);
}

static void frame_masked(struct frame *frame)
{
    text_add(&frame->lines[0], "where the key is masked, write " SHEET_MINUS SHEET_INFINITY "; else copy the number");
}

static const char *first_word(const struct problem *problem)
{
    return problem->labels.words.texts != NULL ? problem->labels.words.texts[0] : "1";
}

/* Of a row of weights, or of the probabilities of words. */
static void frame_softmax(struct frame *frame)
{
    const bool weights = frame->stage == STAGE_WEIGHTS;
    const size_t count = weights ? frame->problem->size.keys : frame->problem->size.words;
    const size_t keys = memory_smaller(count, FRAME_TERMS - 1);
    text_add(&frame->lines[0], "%s:  the largest of the row is " SHEET_BLANK, frame->query);
    for (size_t i = 0; i < keys; i++)
        text_add(&frame->lines[1], "%s" SHEET_POWER SHEET_BLANK " " SHEET_MINUS " " SHEET_BLANK SHEET_POWER_END,
                 i > 0 ? " + " : "");
    text_add(&frame->lines[1], "%s = " SHEET_BLANK "   (the sum)", keys < count ? " + ..." : "");
    text_add(&frame->lines[2],
             "with %s:  " SHEET_POWER SHEET_BLANK SHEET_POWER_END " / sum = " SHEET_BLANK " / " SHEET_BLANK
             " = " SHEET_BLANK,
             weights ? frame->key : first_word(frame->problem));
}

static void frame_dropped(struct frame *frame)
{
    text_add(&frame->lines[0], "dropped: 0;  kept: " SHEET_BLANK " / (1 " SHEET_MINUS " %g) = " SHEET_BLANK,
             frame->problem->drop.share);
}

static void frame_context(struct frame *frame)
{
    const char *weights = stage_name(stage_before(frame->problem, STAGE_CONTEXT));
    text_add(&frame->lines[0], "%s of %s " SHEET_TIMES " column 1 of value:", weights, frame->query);
    add_products(&frame->lines[1], frame->problem->size.keys, false);
}

static void frame_output(struct frame *frame)
{
    const struct problem *problem = frame->problem;
    const bool biased = problem->parameters.out.bias.rank > 0;
    if (!problem->plan.has_out) {
        text_add(&frame->lines[0], "copy the context of each head, side by side");
        return;
    }
    text_add(&frame->lines[0],
             "contexts of %s side by side " SHEET_TIMES " column 1 of out_proj.weight" SHEET_TRANSPOSED ":",
             frame->query);
    add_products(&frame->lines[1], problem->size.heads * problem->size.d_value, biased);
}

/* Two rows, number by number. */
static void frame_sum(struct frame *frame)
{
    const bool first = frame->stage == STAGE_EMBEDDED;
    text_add(&frame->lines[0],
             "row %s of %s + row %s of %s, column 1:  " SHEET_BLANK " + " SHEET_BLANK " = " SHEET_BLANK, frame->query,
             stage_name(first ? STAGE_INPUTS : problem_source(frame->problem, STAGE_QUERY)), frame->query,
             stage_name(first ? STAGE_POSITIONS : STAGE_OUTPUT));
}

static void frame_logits(struct frame *frame)
{
    const struct problem *problem = frame->problem;
    text_add(&frame->lines[0], "row %s of residual " SHEET_TIMES " column %s of unembedding:", frame->query,
             first_word(problem));
    add_products(&frame->lines[1], problem->size.d_in, problem->parameters.words.unembedding.bias.rank > 0);
}

static void (*const FRAMES[STAGE_COUNT])(struct frame *frame) = {
    [STAGE_PROJECTED_QUERY] = frame_projection,
    [STAGE_PROJECTED_KEY] = frame_projection,
    [STAGE_PROJECTED_VALUE] = frame_projection,
    [STAGE_QUERY] = frame_operand,
    [STAGE_KEY] = frame_operand,
    [STAGE_VALUE] = frame_operand,
    [STAGE_SCORES] = frame_scores,
    [STAGE_SCALED] = frame_scaled,
    [STAGE_MASKED] = frame_masked,
    [STAGE_WEIGHTS] = frame_softmax,
    [STAGE_DROPPED] = frame_dropped,
    [STAGE_CONTEXT] = frame_context,
    [STAGE_OUTPUT] = frame_output,
    [STAGE_EMBEDDED] = frame_sum,
    [STAGE_RESIDUAL] = frame_sum,
    [STAGE_LOGITS] = frame_logits,
    [STAGE_PROBABILITIES] = frame_softmax,
};

enum status frame_make(const struct problem *problem, enum stage stage, const char *query, const char *key,
                       const char **frames, struct arena *arena, struct error *error)
{
    struct frame frame = {.problem = problem, .stage = stage, .query = query, .key = key};
    char room[SHEET_FRAMES][SHEET_LINE_BYTES];
    for (size_t i = 0; i < SHEET_FRAMES; i++)
        frame.lines[i] = text_begin(room[i], SHEET_LINE_BYTES);
    if (FRAMES[stage] != NULL)
        FRAMES[stage](&frame);
    for (size_t i = 0; i < SHEET_FRAMES; i++) {
        frames[i] = frame.lines[i].length > 0 ? arena_text(arena, room[i], frame.lines[i].length, error) : NULL;
        if (frame.lines[i].length > 0 && frames[i] == NULL)
            return error->status;
    }
    return STATUS_OK;
}
