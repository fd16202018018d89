/* SPDX-License-Identifier: MIT */
#include "values.h"
#include "model/stage_id.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOSEN = 16, MOST_TEXTS = 1024 };

/* Where the kind of an option does not say what is worth trying. */
static const struct {
    const char *option, *texts[MOST_CHOSEN];
} CHOSEN[] = {
    {"seed", {"0", "18446744073709551615"}},
    {"skip", {"18"}},
    {"d-out", {"1", "4", "6"}},
    {"d-in", {"2", "4"}},
    {"heads", {"1", "2", "4"}},
    {"kv-heads", {"1", "2"}},
    {"dropout-seed", {"7"}},
    {"context-length", {"14", "2147483647"}},
    {"window", {"0,0", "2,1", "-1,0", "1,-1"}},
    {"scale", {"-0.75", "0", "3e-39", "1e30", "1/sqrt(3)"}},
    {"softcap", {"0", "0.5", "1e-30"}},
    {"query", {"2", "1,3-4", "b"}},
    {"key-inputs", {"tests/pairs/other.json"}},
    {"without", {"2", "1,3-4", "b"}},
    {"mistake", {"softmax_queries,mask-missing", "draw-order:vkq", "fill-zero", "roles-query-key-swapped,dtype-f16"}},
    {"rope-theta", {"100"}},
    {"rope-columns", {"2", "last:2"}},
    {"rope-scaling", {"linear:factor=8", "llama3:factor=8,low=1,high=4,old=4"}},
    {"rope-axes", {"t,h", "h,w"}},
    {"positions", {"0-5", "3,1,2", "grid:2x3"}},
    {"token-types", {"0,1x3,0,1", "1x2,0"}},
    {"norm-eps", {"1e-3"}},
    {"qk-norm-eps", {"0"}},
    {"clip", {"0", "0.25"}},
    {"query-growth", {"0,1", "0.5,2"}},
    {"relative-distance", {"20"}},
    {"layer", {"1"}},
    {"module", {"model"}},
    {"packing", {"separate"}}, /* which the subject's weights are; tests/check_layers.sh has the others */
    {"config", {"tests/layers/qwen3/config.json"}},
    {"family", {"qwen3", "llama"}},
    {"temperature", {"0.5", "1e-300"}},
    {"explain", {NULL, "weights:2,1", "context:1,1,1", "masked:1,1,2,1", "grad_scaled:2,1", "grad_key:2,1"}},
    {"text", {"the dogs"}},
    {"without-heads", {"1"}},
    {"head", {"1"}},
    {"grad", {"ones"}},
    {"precision", {"0", "1", "7", "17"}},
    {"part", {"1/2", "2/2"}},
    {"threads", {"3"}},
};

/* Lists of stages beside each stage alone. */
static const char *const LISTS[] = {"inputs,parameters,context", "scores,weights", "masked,weights,context,lse",
                                    "inputs,query,key,value,scaled,weights,context"};

/* Texts that are made of numbers, for as long as the program runs. */
static const char *keep(uint64_t number)
{
    static char texts[MOST_TEXTS][24];
    static size_t count;
    if (count == MOST_TEXTS)
        abort();
    snprintf(texts[count], sizeof texts[count], "%llu", (unsigned long long)number);
    return texts[count++];
}

static void add(struct values *values, const struct option_row *option, const char *text)
{
    if (values->count == VALUES_MOST)
        abort();
    values->list[values->count++] = (struct value){option, text, values->factor_count};
}

static bool add_chosen(struct values *values, const struct option_row *option)
{
    for (size_t i = 0; i < sizeof CHOSEN / sizeof CHOSEN[0]; i++) {
        if (strcmp(CHOSEN[i].option, option->name) != 0)
            continue;
        for (size_t text = 0; text < MOST_CHOSEN && (text == 0 || CHOSEN[i].texts[text] != NULL); text++)
            add(values, option, CHOSEN[i].texts[text]);
        return true;
    }
    return false;
}

static void add_stages(struct values *values, const struct option_row *option)
{
    for (int stage = 0; stage < STAGE_NAMES; stage++)
        add(values, option, stage_name((enum stage)stage));
    for (size_t i = 0; i < sizeof LISTS / sizeof LISTS[0]; i++)
        add(values, option, LISTS[i]);
}

/* By the kind of the option, within its range. */
static void add_by_kind(struct values *values, const struct option_row *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_NEGATION:
        add(values, option, NULL);
        break;
    case OPTION_CHOICE:
        for (size_t i = 0; option->choices[i] != NULL; i++)
            if (option != &OPTIONS[OPTION_FORMAT] || program_may_write(option->choices[i]))
                add(values, option, option->choices[i]);
        break;
    case OPTION_WHOLE:
        add(values, option, keep(option->minimum));
        add(values, option, keep(option->minimum < option->maximum ? option->minimum + 1 : option->maximum));
        break;
    case OPTION_REAL:
        add(values, option, option->range.from == 0 ? "0" : "-0.5");
        add(values, option, option->range.below > 1.5 ? "1.5" : "0.5");
        break;
    case OPTION_TEXT:
        values->lacking = option->name;
    }
}

static void add_list(struct values *values, const struct option_row *option, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        add(values, option, *texts);
}

/* Not those of other files: --jsonl reads inputs of a line each (check_jsonl.sh), an adapter fits one checkpoint
 * (tests/cli/adapter.test). */
static bool is_tried(enum option_id id, enum command command)
{
    const enum mechanism mechanism =
        COMMANDS[command].words == WORDS_MECHANISM ? MECHANISM_MULTIHEAD : COMMANDS[command].mechanism;
    return options_takes(command, mechanism, id) && id != OPTION_IN && id != OPTION_RANDOM && id != OPTION_FORMAT &&
           id != OPTION_OUT && id != OPTION_JSONL && id != OPTION_ADAPTER && id != OPTION_HELP && id != OPTION_VERSION;
}

void values_make(struct values *values, enum command command, const char *const *files, const char *const *weights)
{
    values->count = values->factor_count = 0;
    values->lacking = NULL;
    add_list(values, &OPTIONS[OPTION_IN], files);
    values->factor_count++;
    add_by_kind(values, &OPTIONS[OPTION_FORMAT]);
    values->factor_count++;
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *option = &OPTIONS[id];
        if (!is_tried((enum option_id)id, command))
            continue;
        if (id == OPTION_WEIGHTS)
            add_list(values, option, weights);
        else if (id == OPTION_STAGES)
            add_stages(values, option);
        else if (!add_chosen(values, option))
            add_by_kind(values, option);
        values->factor_count++;
    }
}

size_t value_words(const struct value *value, const char **words, char *room)
{
    const struct option_row *option = value->option;
    if (value->factor == VALUE_FILE) {
        words[0] = value->text;
        return value->text[0] != '\0';
    }
    const bool joined = option->optional && value->text != NULL;
    snprintf(room, VALUE_WORD_BYTES, "--%s%s%s", option->name, joined ? "=" : "", joined ? value->text : "");
    words[0] = room;
    words[1] = value->text;
    return value->text != NULL && !joined ? 2 : 1;
}
