/* SPDX-License-Identifier: MIT */
#include "why/why.h"

#include "model/stage_id.h"
#include "write/json.h"

#include <math.h>

enum { PLACE_BYTES = 400 };

/* Writes ["scale-missing"]; `forms`: with forms, as --mistake takes them. */
static void write_names(struct json *json, const char *key, const struct trial_guess *guess, bool forms)
{
    char name[MISTAKE_NAME_BYTES];
    json_open(json, key, '[');
    for (size_t i = 0; i < guess->count; i++)
        json_text(json, NULL, forms ? mistake_text(guess->choices[i], name) : MISTAKES[guess->choices[i].id].name);
    json_close(json);
}

static bool same_names(const struct trial_guess *a, const struct trial_guess *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->choices[i].id == b->choices[i].id;
    return same;
}

/* Whether an earlier explanation with the same computation has these names, in other forms. */
static bool is_repeated(const struct why *why, size_t answer, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (why->explanations[k].same_as == answer &&
            same_names(&why->explanations[k].guess, &why->explanations[i].guess))
            return true;
    return false;
}

static void write_same(struct json *json, const struct why *why, size_t answer)
{
    json_open(json, "same", '[');
    for (size_t i = 0; i < why->count; i++)
        if (i != answer && why->explanations[i].same_as == answer && !is_repeated(why, answer, i))
            write_names(json, NULL, &why->explanations[i].guess, false);
    json_close(json);
}

static void write_noise(struct json *json, const struct trial *trial)
{
    if (isnan(trial->rms))
        json_text(json, "noise", NULL);
    else
        json_real(json, "noise", trial->rms);
}

static void write_explanation(struct json *json, const struct why *why, size_t i)
{
    const struct why_explanation *explanation = &why->explanations[i];
    char command[REPORT_COMMAND_BYTES], sentence[REPORT_SENTENCE_BYTES];
    json_open(json, NULL, '{');
    write_names(json, "mistakes", &explanation->guess, false);
    write_names(json, "forms", &explanation->guess, true);
    json_open(json, "sentences", '[');
    for (size_t k = 0; k < explanation->guess.count; k++)
        json_text(json, NULL, why_sentence(explanation->problem, explanation->guess.choices[k].id, sentence));
    json_close(json);
    if (explanation->alone != 0)
        write_json_stages(json, "alone", explanation->alone);
    write_same(json, why, i);
    json_line(json, 2);
    if (why_command(explanation, command) != NULL)
        json_shown(json, "command", command);
    else
        json_text(json, "command", NULL);
    json_size(json, "agree", explanation->trial.agree);
    json_size(json, "of", explanation->trial.of);
    json_real(json, "largest", explanation->trial.largest);
    write_noise(json, &explanation->trial);
    json_close(json);
}

static void write_mine(struct json *json, const struct why *why)
{
    const struct mine *mine = &why->mine;
    const struct why_explanation *answer = why->count > 0 ? &why->explanations[0] : NULL;
    const struct mine *placed = answer != NULL ? answer->mine : mine;
    const struct problem *problem = answer != NULL ? answer->problem : why->problem;
    char place[PLACE_BYTES];
    json_open(json, "mine", '{');
    json_shown(json, "file", mine->file.source);
    json_text(json, "stage", placed->count > 0 ? mine_name(&placed->tables[placed->count - 1]) : "");
    json_key(json, "decimals");
    output_print(json->output, placed->decimals >= 0 ? "%d" : "null", placed->decimals);
    json_text(json, "dtype", dtype_name(placed->dtype));
    json_open(json, "places", '[');
    for (size_t i = 0; i < placed->count && answer != NULL; i++) {
        struct text text = text_begin(place, sizeof place);
        mine_describe(&placed->tables[i], problem, mine_index(&placed->tables[i], answer->trial.indices[i]), &text);
        json_shown(json, NULL, place);
    }
    json_close(json);
    json_open(json, "not_compared", '[');
    for (size_t i = 0; i < mine->passed_count; i++)
        json_shown(json, NULL, mine->passed[i].name);
    json_close(json);
    json_open(json, "blank", '[');
    for (size_t i = 0; i < placed->count; i++)
        if (tensor_blank(&placed->tables[i].named->tensor) != NULL)
            json_shown(json, NULL, mine_name(&placed->tables[i]));
    json_close(json);
    json_close(json);
}

static void write_nearly(struct json *json, const struct why *why)
{
    char words[PLACE_BYTES];
    struct text place = text_begin(words, sizeof words);
    if (!why_is_nearly_right(why)) {
        json_text(json, "nearly_right", NULL);
        return;
    }
    const double number = why_worst(why, &place);
    json_open(json, "nearly_right", '{');
    json_size(json, "agree", why->right.agree);
    json_size(json, "of", why->right.of);
    json_shown(json, "worst", words);
    json_real(json, "mine", number);
    json_real(json, "expected", why->right.worst.made);
    json_close(json);
}

static void write_tried(struct json *json, const struct why *why)
{
    const struct why_budget *budget = &why->budget;
    json_open(json, "tried", '{');
    json_size(json, "mistakes", budget->singles);
    json_size(json, "pairs", budget->pairs);
    json_size(json, "settings", budget->settings);
    json_size(json, "both", budget->both);
    json_truth(json, "complete", !(budget->left > 0) && why->untold == 0);
    json_close(json);
}

void why_write_json(const struct why *why, struct output *output)
{
    struct json json = {.output = output, .lines = true};
    json_begin(&json);
    write_mine(&json, why);
    json_open(&json, "explanations", '[');
    for (size_t i = 0; i < why->count; i++)
        if (why->explanations[i].same_as == i) {
            json_break(&json, 1);
            write_explanation(&json, why, i);
        }
    json_close(&json);
    json_open(&json, "fit_as_well", '[');
    for (size_t i = 0; i < why->as_well_count; i++) {
        json_open(&json, NULL, '{');
        write_names(&json, "mistakes", &why->as_well[i].guess, false);
        write_noise(&json, &why->as_well[i].trial);
        json_close(&json);
    }
    json_close(&json);
    write_json_stages(&json, "departs", why_departs(why));
    json_truth(&json, "constant", why->constant);
    write_nearly(&json, why);
    observe_write_json(&why->observations, &json);
    json_open(&json, "hidden", '[');
    for (int id = 0; id < MISTAKE_COUNT; id++)
        if (why->hidden[id])
            json_text(&json, NULL, MISTAKES[id].name);
    json_close(&json);
    json_truth(&json, "masked_first", why->masked_first);
    write_tried(&json, why);
    struct output *text = output_of_text(why->arena, why->error);
    size_t length;
    if (text != NULL)
        why_write_text(why, text);
    json_text(&json, "text", text != NULL ? output_close_text(text, &length) : NULL);
    json_end(&json);
}
