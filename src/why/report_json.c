#include "why/report.h"

#include "base/version.h"
#include "model/stage_id.h"
#include "write/json.h"

#include <math.h>
#include <string.h>

enum { PATH_BYTES = 4 * TEXT_PATH_BYTES + 64, PLACE_BYTES = 400 };

/* A name of a file may be any bytes, JSON is UTF-8. */
static void write_string(const char *text, struct output *output)
{
    char shown[PATH_BYTES];
    text_shown(text, SIZE_MAX, shown, sizeof shown);
    write_json_string(shown, output);
}

/* ["scale-missing"]; with forms as --mistake takes them. */
static void write_names(const struct trial_guess *guess, bool forms, struct output *output)
{
    char name[MISTAKE_NAME_BYTES];
    output_print(output, "[");
    for (size_t i = 0; i < guess->count; i++)
        output_print(output, "%s\"%s\"", i ? ", " : "",
                     forms ? mistake_text(guess->choices[i], name) : MISTAKES[guess->choices[i].id].name);
    output_print(output, "]");
}

static bool same_names(const struct trial_guess *a, const struct trial_guess *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = a->choices[i].id == b->choices[i].id;
    return same;
}

/* Whether an earlier one of the same computation has these names, in other forms. */
static bool is_repeated(const struct why *why, size_t answer, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (why->explanations[k].same_as == answer &&
            same_names(&why->explanations[k].guess, &why->explanations[i].guess))
            return true;
    return false;
}

static void write_same(const struct why *why, size_t answer, struct output *output)
{
    bool first = true;
    output_print(output, ", \"same\": [");
    for (size_t i = 0; i < why->count; i++)
        if (i != answer && why->explanations[i].same_as == answer && !is_repeated(why, answer, i)) {
            output_print(output, "%s", first ? "" : ", ");
            write_names(&why->explanations[i].guess, false, output);
            first = false;
        }
    output_print(output, "]");
}

static void write_stages(uint64_t stages, struct output *output)
{
    const char *between = "[";
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage)) {
            output_print(output, "%s\"%s\"", between, stage_name((enum stage)stage));
            between = ", ";
        }
    output_print(output, stages == 0 ? "[]" : "]");
}

/* Ends an object of an explanation. */
static void write_noise(const struct trial *trial, struct output *output)
{
    output_print(output, ", \"noise\": ");
    if (isnan(trial->rms))
        output_print(output, "null");
    else
        write_json_number(trial->rms, DTYPE_F64, output);
    output_print(output, "}");
}

static void write_explanation(const struct why *why, size_t i, struct output *output)
{
    const struct why_explanation *explanation = &why->explanations[i];
    char command[REPORT_COMMAND_BYTES];
    output_print(output, "{\"mistakes\": ");
    write_names(&explanation->guess, false, output);
    output_print(output, ", \"forms\": ");
    write_names(&explanation->guess, true, output);
    if (explanation->alone != 0) {
        output_print(output, ", \"alone\": ");
        write_stages(explanation->alone, output);
    }
    write_same(why, i, output);
    output_print(output, ",\n  \"command\": ");
    if (why_command(explanation, command) != NULL)
        write_string(command, output);
    else
        output_print(output, "null");
    output_print(output, ", \"agree\": %zu, \"of\": %zu, \"largest\": ", explanation->trial.agree,
                 explanation->trial.of);
    write_json_number(explanation->trial.largest, DTYPE_F64, output);
    write_noise(&explanation->trial, output);
}

static void write_mine(const struct why *why, struct output *output)
{
    const struct mine *mine = &why->mine;
    const struct why_explanation *answer = why->count > 0 ? &why->explanations[0] : NULL;
    const struct mine *placed = answer != NULL ? answer->mine : mine;
    const struct problem *problem = answer != NULL ? answer->problem : why->problem;
    char place[PLACE_BYTES];
    output_print(output, "\"mine\": {\"file\": ");
    write_string(mine->file.source, output);
    output_print(output, ", \"stage\": \"%s\", \"decimals\": ",
                 placed->count > 0 ? mine_name(&placed->tables[placed->count - 1]) : "");
    output_print(output, placed->decimals >= 0 ? "%d" : "null", placed->decimals);
    output_print(output, ", \"dtype\": \"%s\"", dtype_name(placed->dtype));
    output_print(output, ", \"places\": [");
    for (size_t i = 0; i < placed->count && answer != NULL; i++) {
        struct text text = text_begin(place, sizeof place);
        mine_describe(&placed->tables[i], problem, mine_index(&placed->tables[i], answer->trial.indices[i]), &text);
        output_print(output, "%s", i ? ", " : "");
        write_string(place, output);
    }
    output_print(output, "], \"not_compared\": [");
    for (size_t i = 0; i < mine->passed_count; i++) {
        output_print(output, "%s", i ? ", " : "");
        write_string(mine->passed[i].name, output);
    }
    output_print(output, "], \"blank\": [");
    for (size_t i = 0, told = 0; i < placed->count; i++)
        if (tensor_blank(&placed->tables[i].named->tensor) != NULL) {
            output_print(output, "%s", told++ ? ", " : "");
            write_string(mine_name(&placed->tables[i]), output);
        }
    output_print(output, "]}");
}

static void write_hidden(const struct why *why, struct output *output)
{
    bool first = true;
    output_print(output, ",\n\"hidden\": [");
    for (int id = 0; id < MISTAKE_COUNT; id++)
        if (why->hidden[id]) {
            output_print(output, "%s\"%s\"", first ? "" : ", ", MISTAKES[id].name);
            first = false;
        }
    output_print(output, "]");
}

static void write_nearly(const struct why *why, struct output *output)
{
    char words[PLACE_BYTES];
    struct text place = text_begin(words, sizeof words);
    output_print(output, ",\n\"nearly_right\": ");
    if (!why_is_nearly_right(why)) {
        output_print(output, "null");
        return;
    }
    const double number = why_worst(why, &place);
    output_print(output, "{\"agree\": %zu, \"of\": %zu, \"worst\": ", why->right.agree, why->right.of);
    write_string(words, output);
    output_print(output, ", \"mine\": ");
    write_json_number(number, DTYPE_F64, output);
    output_print(output, ", \"expected\": ");
    write_json_number(why->right.worst.made, DTYPE_F64, output);
    output_print(output, "}");
}

void why_write_json(const struct why *why, struct output *output)
{
    const struct why_budget *budget = &why->budget;
    bool first = true;
    output_print(output, "{\"attn\": \"" ATTN_VERSION "\",\n");
    write_mine(why, output);
    output_print(output, ",\n\"explanations\": [");
    for (size_t i = 0; i < why->count; i++)
        if (why->explanations[i].same_as == i) {
            output_print(output, "%s", first ? "" : ",\n ");
            write_explanation(why, i, output);
            first = false;
        }
    output_print(output, "],\n\"fit_as_well\": [");
    for (size_t i = 0; i < why->as_well_count; i++) {
        output_print(output, "%s{\"mistakes\": ", i ? ", " : "");
        write_names(&why->as_well[i].guess, false, output);
        write_noise(&why->as_well[i].trial, output);
    }
    output_print(output, "]");
    output_print(output, ",\n\"departs\": ");
    write_stages(why_departs(why), output);
    output_print(output, ",\n\"constant\": %s", why->constant ? "true" : "false");
    write_nearly(why, output);
    write_hidden(why, output);
    output_print(
        output,
        ",\n\"masked_first\": %s,\n\"tried\": {\"mistakes\": %zu, \"pairs\": %zu, \"settings\": %zu, \"both\": "
        "%zu, \"complete\": %s}}\n",
        why->masked_first ? "true" : "false", budget->singles, budget->pairs, budget->settings, budget->both,
        budget->left > 0 || why->untold != 0 ? "false" : "true");
}
