/* SPDX-License-Identifier: MIT */
#include "write/head_lines.h"

#include "base/wrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTING_COLUMNS = 40 };

/* The text of a setting that affected the numbers, or NULL. */
static const char *setting_text(const struct problem *problem, const char *name)
{
    for (size_t i = 0; i < problem->record.setting_count; i++)
        if (!problem->record.settings[i].idle && strcmp(problem->record.settings[i].name, name) == 0)
            return problem->record.settings[i].text;
    return NULL;
}

/* " (config)": the source of a setting of a checkpoint's module; "" for the command line. */
static const char *source_of(const struct problem *problem, const char *name)
{
    static const char *const WORDS[FACT_SOURCE_COUNT] = {[FACT_DEFAULT] = " (default)",
                                                         [FACT_ROW] = " (family)",
                                                         [FACT_CONFIG] = " (config)",
                                                         [FACT_TENSORS] = " (tensors)"};
    const struct layer_fact *fact = problem->layer != NULL ? layer_facts_find(&problem->layer->facts, name) : NULL;
    return fact != NULL && WORDS[fact->source] != NULL ? WORDS[fact->source] : "";
}

static void add_setting(struct wrap *line, const struct problem *problem, const char *name, const char *words,
                        const char *unless)
{
    const char *text = setting_text(problem, name);
    char shown[128];
    if (text == NULL || (unless != NULL && strcmp(text, unless) == 0))
        return;
    text_shown(text, SETTING_COLUMNS, shown, sizeof shown);
    if (strcmp(text, "true") == 0) /* a flag says enough by its name */
        wrap_add(line, "%s%s", words, source_of(problem, name));
    else
        wrap_add(line, "%s %s%s", words, shown, source_of(problem, name));
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void add_heads(struct wrap *line, const struct problem *problem)
{
    if (!problem->size.has_heads)
        return;
    wrap_add(line, "%zu%s head%s of %zu%s", problem->size.heads, problem->plan.stacked ? " stacked" : "",
             plural(problem->size.heads), problem->size.d_head, source_of(problem, "heads"));
    if (problem->size.kv_heads != problem->size.heads)
        wrap_add(line, "%zu for key and value%s", problem->size.kv_heads, source_of(problem, "kv_heads"));
}

static void add_sizes(struct wrap *line, const struct problem *problem, const char *title)
{
    const bool given = !problem_projects(problem),
               same = problem->size.queries == problem->size.keys && !problem->given.is_cross;
    const bool one = problem->size.queries == 1;
    const char *what = same ? one ? "token" : "tokens" : one ? "query" : "queries";
    if (problem->parameters_only)
        wrap_add(line, "%s: d_in %zu", title, problem->size.d_in);
    else if (problem->size.has_batch)
        wrap_add(line, "%s: %zu item%s of %zu %s", title, problem->size.items, plural(problem->size.items),
                 problem->size.queries, what);
    else
        wrap_add(line, "%s: %zu %s", title, problem->size.queries, what);
    if (!same)
        wrap_add(line, "%zu key%s", problem->size.keys, plural(problem->size.keys));
    if (problem->mask.sequences.count > 0)
        wrap_add(line, "%zu sequence%s", problem->mask.sequences.count, plural(problem->mask.sequences.count));
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++)
        if (MASKS[rule].counted != NULL && mask_applies(&problem->mask, rule))
            wrap_add(line, "%zu %s%s", problem->mask.given[rule].distinct, MASKS[rule].counted,
                     plural(problem->mask.given[rule].distinct));
    if (!problem->parameters_only && !given)
        wrap_add(line, "d_in %zu", problem->size.d_in);
    if (!problem->parameters_only && !given && problem->size.d_key_in != problem->size.d_in)
        wrap_add(line, "%zu of key inputs", problem->size.d_key_in);
    if (!given)
        wrap_add(line, "d_out %zu", problem->layer != NULL ? problem->plan.d_output : problem->plan.d_out);
    else if (!problem->size.has_heads)
        wrap_add(line, "d %zu", problem->size.d_head);
    add_heads(line, problem);
    if (problem->size.d_value != problem->size.d_head && !problem->parameters_only)
        wrap_add(line, "d_v %zu", problem->size.d_value);
    if ((problem->size.has_heads || given) && !problem->parameters_only)
        wrap_add(line, "%s%s", problem->mask.causal ? "causal" : "not causal", source_of(problem, "causal"));
    if (problem->rounding.dtype != DTYPE_F32)
        wrap_add(line, "%s", dtype_name(problem->rounding.dtype));
}

static void add_draws(struct wrap *line, const struct problem *problem)
{
    add_setting(line, problem, "seed", "seed", NULL);
    add_setting(line, problem, "skip", "skip", "0");
    add_setting(line, problem, "init", "init", NULL);
    add_setting(line, problem, "rng", "rng", "torch");
    if (problem->plan.qkv_bias)
        wrap_add(line, "qkv bias");
    add_setting(line, problem, "dropout", "dropout", "0");
    if (problem->drop.share > 0)
        add_setting(line, problem, "dropout_seed", "dropout seed", NULL);
}

/* Whether a setting of a checkpoint's module changes nothing here, or is already part of its name. */
static bool is_usual(const struct problem *problem, const char *name)
{
    static const char *const TOLD[] = {"layer", "module", "family"};
    bool told = strcmp(name, "head") == 0;
    if (problem->layer == NULL)
        return told;
    for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++)
        told = told || strcmp(name, TOLD[i]) == 0;
    return told || (strcmp(name, "scale") == 0 && problem->scaling.factor == 1 / sqrt((double)problem->size.d_head)) ||
           (strncmp(name, "norm", 4) == 0 && !problem->given.residual) ||
           strcmp(setting_text(problem, name), "none") == 0 || strcmp(setting_text(problem, name), "off") == 0 ||
           strcmp(setting_text(problem, name), "-1,-1") == 0;
}

/* The checkpoint and its module; or the file with the parameters. */
static void add_source(struct wrap *line, const struct problem *problem)
{
    char shown[128];
    if (!problem->parameters.given)
        return;
    text_shown(problem->parameters.source, SETTING_COLUMNS, shown, sizeof shown);
    if (problem->layer == NULL) {
        wrap_add(line, "parameters from %s", shown);
        return;
    }
    wrap_add(line, "%s", problem->layer->family->by_hand ? "no family" : problem->layer->family->title);
    wrap_add(line, "%s of %s", problem->layer->module->path, shown);
    if (problem->layer->dequantised != NULL)
        wrap_add(line, "weights dequantised from %s", problem->layer->dequantised);
    const struct layer_fact *keys = layer_facts_find(&problem->layer->facts, "index_topk");
    if (keys != NULL && problem->size.keys > strtoul(keys->text, NULL, 10))
        wrap_add(line, "mask of the indexer: %s keys for each query", keys->text);
    if (problem->layer->reordered)
        wrap_add(line, "rows of query and key put back in order");
}

/* Settings of a layer, in the order of its steps. */
static const struct {
    const char *setting, *words;
} OF_LAYER[] = {
    {"residual", "residual"},
    {"norm", "norm"},
    {"norm_eps", "its eps"},
    {"clip", "clip"},
    {"qk_norm", "norm of query and key"},
    {"qk_norm_eps", "its eps"},
    {"value_norm", "norm of value"},
    {"rope", "rope"},
    {"rope_columns", "rope columns"},
    {"rope_theta", "theta"},
    {"rope_scaling", "scaling"},
    {"rope_axes", "axes"},
    {"positions", "positions"},
    {"query_growth", "query growth"},
    {"scale", "scale"},
    {"scale_on", "scale on"},
    {"softcap", "softcap"},
    {"window", "window"},
    {"alibi", "alibi"},
    {"relative_distance", "relative distance"},
};

static bool is_of_layer(const struct problem *problem, const char *name)
{
    bool found = false;
    for (size_t i = 0; problem->layer != NULL && i < sizeof OF_LAYER / sizeof OF_LAYER[0]; i++)
        found = found || strcmp(OF_LAYER[i].setting, name) == 0;
    return found;
}

static void add_layer(struct wrap *line, const struct problem *problem)
{
    for (size_t i = 0; problem->layer != NULL && i < sizeof OF_LAYER / sizeof OF_LAYER[0]; i++) {
        const char *name = OF_LAYER[i].setting;
        const bool rotates = problem->rotation.rope.kind != ROPE_NONE || strncmp(name, "rope", 4) != 0;
        if (setting_text(problem, name) != NULL && rotates && !is_usual(problem, name))
            add_setting(line, problem, name,
                        strcmp(name, "qk_norm") == 0 && problem->parameters.latent.rank > 0 ? "norm of the latents"
                                                                                            : OF_LAYER[i].words,
                        NULL);
    }
}

/* The other settings that the user gave: numbers, then words, mistakes and queries last. */
static void add_asked(struct wrap *line, const struct problem *problem)
{
    char mistake[MISTAKE_NAME_BYTES];
    add_layer(line, problem);
    for (int texts = 0; texts <= 1; texts++)
        for (size_t i = 0; i < problem->record.setting_count; i++) {
            const struct setting *setting = &problem->record.settings[i];
            const bool mistakes = setting->words != NULL && strcmp(setting->words, OPTIONS[OPTION_MISTAKE].asked) == 0;
            if (setting->words != NULL && (setting->kind != SETTING_NUMBER) == texts && !mistakes &&
                !is_usual(problem, setting->name) && !is_of_layer(problem, setting->name))
                add_setting(line, problem, setting->name, setting->words, NULL);
        }
    for (size_t i = 0; i < problem->mistake.count; i++) /* one item for each, so that none is cut */
        wrap_add(line, "mistake %s", mistake_text(problem->mistake.choices[i], mistake));
    add_setting(line, problem, "query", "query", NULL);
}

void head_lines_write(const struct problem *problem, size_t columns, bool color, struct output *output)
{
    struct wrap line = {.output = output, .columns = columns, .indent = 2};
    char bytes[128];
    struct text title = text_begin(bytes, sizeof bytes);
    text_add(&title, "%s%s", MECHANISMS[problem->mechanism].title, problem->parameters_only ? " parameters" : "");
    if (problem->layer != NULL && problem->layer->module->layer != MODULE_NO_LAYER)
        text_add(&title, " %zu (from 0)", problem->layer->module->layer); /* behind "attention layer" */
    if (problem->chosen.head > 0)
        text_add(&title, ", head %zu (from 1)", problem->chosen.head);
    if (color)
        output_print(output, "%s", TEXT_BOLD);
    add_sizes(&line, problem, bytes);
    add_source(&line, problem);
    add_draws(&line, problem);
    add_asked(&line, problem);
    output_print(output, "%s\n", color ? TEXT_PLAIN : "");
}

enum status head_lines_add(const struct problem *problem, struct text *text, struct arena *arena, struct error *error)
{
    struct output *output = output_of_text(arena, error);
    size_t length;
    if (output == NULL)
        return error->status;
    head_lines_write(problem, WRAP_COLUMNS, false, output);
    const char *lines = output_close_text(output, &length);
    if (lines == NULL)
        return error->status;
    for (size_t word; *lines != '\0'; lines += word + strspn(lines + word, " \n")) {
        word = strcspn(lines, " \n");
        text_add(text, "%s%.*s", text->length > 0 ? " " : "", (int)word, lines);
    }
    return STATUS_OK;
}
