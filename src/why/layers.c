/* SPDX-License-Identifier: MIT */
/* Other settings of a checkpoint: neighbouring layers, since a port may count from 1 or hook the next one, as a whole
 * or in part; and whether the inputs are the residual stream. */
#include "why/why.h"

#include "build/problem_create.h"

/* What an answer keeps of its guess. */
struct other_layer {
    struct options options;
    struct job_files files;
    struct problem problem;
    struct mine mine;
    struct trial_base base;
};

/* Makes the job with the options of `other`, its layer with the mistake of slot layer in `named`, and matches the
 * tables; false if it cannot. */
static bool make(const struct why *why, struct other_layer *other, const struct trial_guess *named, struct error *error)
{
    other->files = *why->files;
    other->mine = why->mine;
    other->files.layer = &other->files.opened;
    other->files.weights = &other->files.opened.weights;
    const bool changes = named->count > 0 && MISTAKES[named->choices[0].id].slot == MISTAKE_SLOT_LAYER;
    if (changes)
        other->files.opened = *why->problem->layer;
    return (changes ? layer_change(&other->files.opened, &other->options, &named->choices[0], why->arena, error)
                    : layer_read(&other->files.opened, &other->options, why->arena, error)) == STATUS_OK &&
           problem_create(&other->problem, &other->options, &other->files, why->arena, error) == STATUS_OK &&
           mine_place(&other->mine, &other->problem, why->options, why->arena, error) == STATUS_OK &&
           trial_start_bare(&other->base, &other->problem, &other->mine, why->arena, error) == STATUS_OK;
}

/* Tries the job under that name, which may have a part that is no layer's. */
static enum status try_job(struct why *why, struct other_layer *other, const struct trial_guess *named)
{
    struct arena scratch = {0};
    struct error error = {0};
    struct trial trial;
    if (make(why, other, named, &error)) {
        why->budget.settings++;
        if (trial_confirm(&other->base, named, &trial, &scratch, &error) == STATUS_OK && trial.end == TRIAL_AGREES &&
            trial_start(&other->base, &other->problem, &other->mine, why->arena, &error) == STATUS_OK &&
            trial_confirm(&other->base, named, &trial, &scratch, &error) == STATUS_OK)
            why_take(why, &other->base, &other->options, named, &trial);
    }
    arena_free(&scratch);
    if (error.status == STATUS_SYSTEM && why->error->status == STATUS_OK)
        *why->error = error;
    return why->error->status;
}

/* Tries another layer (draw-layer), a part of it, or a mistake of the layer in that form. */
static enum status try_choice(struct why *why, enum mistake id, size_t form)
{
    struct other_layer *other = arena_allocate(why->arena, 1, sizeof *other, why->error);
    const struct trial_guess named = {{{id, (double)form}}, 1};
    if (other == NULL || (why->left_out != NULL && why->left_out[id]))
        return why->error->status;
    other->options = *why->options;
    return id == MISTAKE_DRAW_LAYER && layer_ask(&other->options, why->problem->layer, form, why->arena, why->error)
               ? why->error->status
               : try_job(why, other, &named);
}

/* Tries each part of a layer at that distance; from the second on only settings, until one of another kind fits. */
static enum status try_parts(struct why *why, size_t layer, bool near)
{
    for (enum mistake id = 0; id < MISTAKE_COUNT; id++)
        if (MISTAKES[id].slot == MISTAKE_SLOT_LAYER && (near || layer_takes_settings(id)) &&
            MISTAKES[id].number != NULL && try_choice(why, id, layer) != STATUS_OK)
            return why->error->status;
    return STATUS_OK;
}

/* Tries the mistakes of the layer alone, in each form. */
static enum status try_own(struct why *why)
{
    const struct layer *layer = why->problem->layer;
    for (enum mistake id = 0; id < MISTAKE_COUNT; id++) {
        const struct mistake_row *row = &MISTAKES[id];
        const bool is_own = row->slot == MISTAKE_SLOT_LAYER && row->number == NULL &&
                            (id != MISTAKE_LAYER_ADAPTER || why->options->adapter != NULL) &&
                            (id != MISTAKE_LAYER_QUANTISED || layer->config_quantised);
        for (size_t form = 0; is_own && (form == 0 || (row->forms != NULL && row->forms[form] != NULL)); form++)
            if (try_choice(why, id, form) != STATUS_OK)
                return why->error->status;
    }
    return STATUS_OK;
}

enum status why_layers(struct why *why)
{
    enum { FARTHEST = 6 }; /* the period of layers of another kind, at most */
    const struct layer *layer = why->problem->layer;
    if (layer == NULL || try_own(why) != STATUS_OK || layer->module->layer == MODULE_NO_LAYER)
        return why->error->status;
    const size_t own = layer->module->layer;
    if ((own > 0 && try_choice(why, MISTAKE_DRAW_LAYER, own - 1) != STATUS_OK) ||
        try_choice(why, MISTAKE_DRAW_LAYER, own + 1) != STATUS_OK)
        return why->error->status;
    for (size_t by = 1; by <= FARTHEST && why->count == 0; by++)
        if ((own >= by && try_parts(why, own - by, by == 1) != STATUS_OK) ||
            try_parts(why, own + by, by == 1) != STATUS_OK)
            return why->error->status;
    return STATUS_OK;
}

enum status why_residual(struct why *why)
{
    const enum origin origin = why->options->origin[OPTION_RESIDUAL];
    if (why->problem->layer == NULL || (origin != ORIGIN_DEFAULT && origin != ORIGIN_COMMAND_LINE))
        return STATUS_OK;
    struct other_layer *other = arena_allocate(why->arena, 1, sizeof *other, why->error);
    if (other == NULL)
        return why->error->status;
    other->options = *why->options;
    other->options.residual = !why->options->residual;
    other->options.origin[OPTION_RESIDUAL] = other->options.residual ? ORIGIN_COMMAND_LINE : ORIGIN_DEFAULT;
    return try_job(why, other, TRIAL_NONE);
}

bool why_is_residual(const struct why *why, const struct why_explanation *explanation)
{
    return explanation->options->residual != why->options->residual;
}
