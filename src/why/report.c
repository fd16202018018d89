/* SPDX-License-Identifier: MIT */
#include "why/why.h"

#include "base/wrap.h"
#include "cli/option_text.h"
#include "model/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 4 * TEXT_PATH_BYTES + 64,
    PLACE_BYTES = 400,
    TITLE_BYTES = 64,
    NAMES_BYTES = 512,
    HIDDEN_BYTES = 8192
};

/* --- the command line -------------------------------------------------------------------------------------------- */

static bool is_dtype(enum mistake id)
{
    return mistake_dtype(id) != DTYPE_COUNT;
}

/* Whether the command names it with --mistake; options say seeds and the like. */
static bool is_named(const struct why_explanation *explanation, struct mistake_choice choice)
{
    const struct options *options = explanation->options;
    bool among = MISTAKES[choice.id].slot != MISTAKE_SLOT_DRAW;
    for (size_t i = 0; i < options->mistake_count; i++)
        among = among || options->mistakes[i].id == choice.id;
    return among && !is_dtype(choice.id);
}

const char *why_command(const struct why_explanation *explanation, char *text)
{
    struct text line = text_begin(text, REPORT_COMMAND_BYTES);
    struct options options = *explanation->options;
    const char *before = " --stages ", *between = " --mistake ";
    char name[MISTAKE_NAME_BYTES];
    const enum stage stage = trial_stage(explanation->mine);
    for (size_t i = 0; i < explanation->guess.count; i++)
        if (is_dtype(explanation->guess.choices[i].id)) {
            options.dtype = explanation->mine->dtype;
            options.origin[OPTION_DTYPE] = ORIGIN_COMMAND_LINE;
        }
    options_command_line(&options, &line);
    const uint64_t shown = explanation->alone == 0 && STAGES[stage].on_demand ? STAGE_BIT(stage) : explanation->alone;
    for (enum stage i = 0; i < STAGE_COUNT; i++)
        if (shown & STAGE_BIT(i)) {
            text_add(&line, "%s%s", before, stage_name(i));
            before = ",";
        }
    for (size_t i = 0; i < explanation->guess.count; i++)
        if (is_named(explanation, explanation->guess.choices[i])) {
            text_add(&line, "%s%s", between, mistake_text(explanation->guess.choices[i], name));
            between = ",";
        }
    return line.cut ? NULL : text;
}

/* --- sentences --------------------------------------------------------------------------------------------------- */

/* Wraps words to lines, after `column` columns of text; indents the next lines. */
static void write_words_after(size_t column, size_t indent, const char *words, struct output *output)
{
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = indent, .column = column};
    wrap_words(&line, words);
    output_print(output, "\n");
}

static void write_words(const char *words, size_t indent, struct output *output)
{
    write_words_after(0, indent, words, output);
}

const char *why_sentence(const struct problem *problem, enum mistake id, char *text)
{
    static const char NAME[] = "sqrt(d_head)";
    const char *sentence = MISTAKES[id].sentence, *at = strstr(sentence, NAME);
    return at == NULL ? text_format(text, REPORT_SENTENCE_BYTES, "%s", sentence)
                      : text_format(text, REPORT_SENTENCE_BYTES, "%.*ssqrt(%zu)%s", (int)(at - sentence), sentence,
                                    problem->size.d_head, at + sizeof NAME - 1);
}

/* How much of a line of code fits: up to a comment, else through a semicolon, else before a word. */
static size_t cut_of(const char *code, size_t columns)
{
    static const char *const ENDS[] = {"  #", "; ", " "};
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
        for (size_t cut = columns; cut > 1; cut--)
            if (strncmp(code + cut - 1, ENDS[i], strlen(ENDS[i])) == 0)
                return ENDS[i][0] == ';' ? cut : cut - 1;
    return columns;
}

static void write_fix(const char *language, const char *fix, struct output *output)
{
    enum { INDENT = 13 };
    if (fix == NULL)
        return;
    output_print(output, "    %-7s  ", language);
    while (strlen(fix) > WRAP_COLUMNS - INDENT) {
        const size_t cut = cut_of(fix, WRAP_COLUMNS - INDENT);
        output_print(output, "%.*s\n%*s", (int)cut, fix, INDENT, "");
        fix += cut + strspn(fix + cut, " ");
    }
    output_print(output, "%s\n", fix);
}

/* Writes the entry of block_table, and its page. */
static void write_entry(const struct problem *problem, struct mistake_choice choice, struct output *output)
{
    const struct problem_pages *pages = problem->given.pages;
    if (choice.id != MISTAKE_PAGES_STALE || pages == NULL)
        return;
    const size_t entry = (size_t)(choice.form / (double)pages->count);
    const double page = choice.form - (double)entry * (double)pages->count;
    output_print(output, "    block_table[%zu][%zu] is page %lld, read as %.0f\n", entry / pages->per_item,
                 entry % pages->per_item, (long long)pages->table[entry], page);
}

/* Writes "1 softmax runs over the queries, ...  (softmax-queries)", and its fix. */
static void write_mistake(const struct why_explanation *explanation, size_t place, bool color, struct output *output)
{
    const struct mistake_choice choice = explanation->guess.choices[place];
    const struct mistake_row *row = &MISTAKES[choice.id];
    char sentence[REPORT_SENTENCE_BYTES], name[MISTAKE_NAME_BYTES];
    why_sentence(explanation->problem, choice.id, sentence);
    mistake_text(choice, name);
    const size_t columns = text_columns(sentence) + 2, whole = columns + strlen(name) + 4;
    output_print(output, "%s%zu ", color ? TEXT_BOLD : "", place + 1);
    wrap_words(&(struct wrap){.output = output, .columns = WRAP_COLUMNS, .indent = 2, .column = 2}, sentence);
    output_print(output, "%s", color ? TEXT_PLAIN : "");
    if (whole <= WRAP_COLUMNS)
        output_print(output, "%*s(%s)\n", (int)(WRAP_COLUMNS - whole + 2), "", name);
    else
        output_print(output, "\n    (%s)\n", name);
    write_entry(explanation->problem, choice, output);
    write_fix("PyTorch", row->pytorch, output);
    write_fix("NumPy", row->numpy, output);
    write_fix("C", row->c, output);
    output_print(output, "    man %s\n", mistake_section(choice.id));
}

/* The separator after name i: "a, b and c". */
static const char *after(size_t i, size_t count)
{
    return i + 2 < count ? ", " : i + 2 == count ? " and " : "";
}

/* Adds "grad_key and grad_value". */
static void add_stages(struct text *text, uint64_t stages)
{
    size_t count = 0, i = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        count += stages >> stage & 1;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage))
            text_add(text, "%s%s", stage_name(stage), after(i++, count));
}

static bool are_draws(const struct trial_guess *guess)
{
    size_t i = 0;
    while (i < guess->count && MISTAKES[guess->choices[i].id].slot == MISTAKE_SLOT_DRAW)
        i++;
    return i == guess->count;
}

/* Writes "all 12 of your numbers" to text (TITLE_BYTES). */
static const char *numbers_text(size_t count, char *text)
{
    if (count == 1)
        return "your number";
    return count == 2 ? "both of your numbers" : text_format(text, TITLE_BYTES, "all %zu of your numbers", count);
}

/* Writes "two mistakes together give all 12 of your numbers:", with names if of some gradients. */
static void write_title(const struct why_explanation *explanation, struct output *output)
{
    const struct trial_guess *guess = &explanation->guess;
    static const char *const COUNTS[] = {"no", "one", "two", "three", "four", "five", "six"};
    const size_t count = guess->count;
    char count_text[TITLE_BYTES], words[NAMES_BYTES];
    struct text title = text_begin(words, sizeof words);
    const char *what = are_draws(guess) ? count == 1 ? "another setting gives" : "other settings together give"
                       : count == 1     ? "mistake gives"
                                        : "mistakes together give";
    if (!are_draws(guess) && count < sizeof COUNTS / sizeof COUNTS[0])
        text_add(&title, "%s ", COUNTS[count]);
    else if (!are_draws(guess))
        text_add(&title, "%zu ", count);
    text_add(&title, "%s %s", what, numbers_text(explanation->trial.of, count_text));
    if (explanation->alone != 0) {
        text_add(&title, " in ");
        add_stages(&title, explanation->alone);
    }
    text_add(&title, ":");
    write_words(words, 0, output);
}

/* Writes the names of a guess, "a and b", to text. */
static const char *names_of(const struct trial_guess *guess, char *text, size_t size)
{
    struct text line = text_begin(text, size);
    char name[MISTAKE_NAME_BYTES];
    for (size_t i = 0; i < guess->count; i++)
        text_add(&line, "%s%s", mistake_text(guess->choices[i], name), after(i, guess->count));
    return text;
}

/* --- the tables read --------------------------------------------------------------------------------------------- */

/* Somebody's tables as matched to the answer's problem, if there is an answer. */
static const struct mine *placed(const struct why *why)
{
    return why->count > 0 ? why->explanations[0].mine : &why->mine;
}

/* Adds the place of the one table, "context, row 2 (journey)", as far as known. */
static void add_place(const struct why *why, struct text *text)
{
    const struct why_explanation *answer = why->count > 0 ? &why->explanations[0] : NULL;
    const struct mine_table *table = &placed(why)->tables[0];
    if (answer != NULL)
        mine_describe(table, answer->problem, mine_index(table, answer->trial.indices[0]), text);
    else if (mine_indices(table) > 1)
        text_add(text, "a part of %s", mine_name(table));
    else
        mine_describe(table, why->problem, mine_index(table, 0), text);
}

/* Whether all numbers have the same number of printed decimals. */
static bool are_even(const struct mine_table *table)
{
    const int16_t *digits = table->named->last_digit;
    for (size_t i = 1; i < (table->shown > 0 ? table->shown : table->count) && digits != NULL; i++)
        if (digits[i] != digits[0])
            return false;
    return true;
}

static void write_several(const struct mine *mine, size_t column, struct output *output)
{
    char words[NAMES_BYTES];
    struct text text = text_begin(words, sizeof words);
    text_add(&text, "holds ");
    for (size_t i = 0; i < mine->count; i++)
        text_add(&text, "%s%s", mine_name(&mine->tables[i]), after(i, mine->count));
    write_words_after(column, 2, words, output);
}

/* Adds ", 36 of 4096 numbers and the sum", or ", only the sum". */
static void add_shown(const struct mine_table *table, struct text *text)
{
    if (table->shown > 0)
        text_add(text, ", %zu of %zu numbers", table->shown, mine_layout_count(table));
    for (size_t i = table->shown; i < table->count; i++)
        text_add(text, "%s the %s", i > 0 ? i + 1 == table->count ? " and" : "," : ", only", mine_total_name(table, i));
}

static void write_one(const struct why *why, size_t column, struct output *output)
{
    const struct mine *mine = placed(why);
    const struct mine_table *table = &mine->tables[0];
    char words[PLACE_BYTES + TENSOR_SHAPE_BYTES], shape[TENSOR_SHAPE_BYTES];
    struct text text = text_begin(words, sizeof words);
    text_add(&text, "is %s", table->shown == 0 ? "a print" : mine->file.is_text ? "a printed table" : "a table");
    if (mine->decimals >= 0)
        text_add(&text, " of %s%d decimal%s", are_even(table) ? "" : "up to ", mine->decimals,
                 mine->decimals == 1 ? "" : "s");
    text_add(&text, "%s", table->told ? " of " : ", taken for ");
    add_place(why, &text);
    if (table->places == NULL)
        text_add(&text, ", %s", tensor_shape_text(&table->given->tensor, shape));
    else
        add_shown(table, &text);
    write_words_after(column, 2, words, output);
}

enum { MOST_PASSED = 3, NAME_COLUMNS = 24, NAME_BYTES = 4 * NAME_COLUMNS + 16 };

/* Writes "not compared: dq is not a stage; did you mean 'grad_query'?", and one line for all unknown names. */
static void write_passed(const struct mine *mine, struct output *output)
{
    char name[NAME_BYTES], words[MOST_PASSED * NAME_BYTES];
    struct text text = text_begin(words, sizeof words);
    size_t others = 0;
    for (size_t i = 0; i < mine->passed_count; i++) {
        const char *meant = mine->passed[i].meant;
        text_shown(mine->passed[i].name, NAME_COLUMNS, name, sizeof name);
        if (meant != NULL)
            output_print(output, "not compared: %s is not a stage; did you mean '%s'?\n", name, meant);
        else if (mine->passed[i].repeated != NULL)
            output_print(output, "not compared: %s repeats the numbers of %s\n", name, mine->passed[i].repeated);
        else if (others++ < MOST_PASSED)
            text_add(&text, "%s%s", others > 1 ? ", " : "", name);
    }
    if (others == 0)
        return;
    output_print(output, "not compared: %s", words);
    if (others > MOST_PASSED)
        output_print(output, " and %zu more", others - MOST_PASSED);
    output_print(output, " %s\n", others == 1 ? "is not a stage" : "are not stages");
}

/* Writes "every number of grad_query is 0: was it written?" for wrong tables. */
static void write_blanks(const struct why *why, struct output *output)
{
    const struct mine *mine = placed(why);
    const bool right = why->count > 0 && why->explanations[0].guess.count == 0;
    const uint64_t departs = right ? 0 : why_departs(why);
    for (size_t i = 0; i < mine->count; i++) {
        const char *blank = tensor_blank(&mine->tables[i].named->tensor);
        if (blank != NULL && (why->constant || departs & STAGE_BIT(mine->tables[i].stage)))
            output_print(output, "every number of %s is %s: did your code write it?\n", mine_name(&mine->tables[i]),
                         blank);
    }
}

static void write_mine(const struct why *why, struct output *output)
{
    const struct mine *mine = placed(why);
    char path[PATH_BYTES], name[NAME_BYTES];
    text_shown(mine->file.source, SIZE_MAX, path, sizeof path);
    output_print(output, "%s ", path);
    if (mine->count > 1)
        write_several(mine, text_columns(path) + 1, output);
    else
        write_one(why, text_columns(path) + 1, output);
    if (mine->meant != NULL && strcmp(mine->meant, mine_name(&mine->tables[0])) != 0) {
        text_shown(mine->file.tensors[0].name, NAME_COLUMNS, name, sizeof name);
        output_print(output, "its name, %s, is not a stage; if you mean '%s', add --stages %s\n", name, mine->meant,
                     mine->meant);
    }
    write_passed(mine, output);
    write_blanks(why, output);
}

/* --- the table of guesses ---------------------------------------------------------------------------------------- */

enum { FIRST_COLUMN = 42 };

/* Whether the noise decides, not each number alone; then the report gives the fit of a guess as a number. */
static bool shows_noise(const struct why *why)
{
    const struct trial *right = &why->right;
    for (size_t i = 1; i < why->count; i++)
        if (why->explanations[i].same_as == i && why->explanations[0].alone == 0)
            return true; /* they compete */
    return dtype_is_coarse(placed(why)->dtype) || (right->end == TRIAL_DEPARTS && right->agree == right->of);
}

static void write_fit(const struct why *why, const char *what, const struct trial *trial, struct output *output)
{
    char number[40];
    if (!isfinite(trial->largest))
        snprintf(number, sizeof number, "infinite");
    else if (placed(why)->decimals >= 0 && are_even(&placed(why)->tables[0]))
        snprintf(number, sizeof number, "%.*f", placed(why)->decimals + 1, trial->largest);
    else
        snprintf(number, sizeof number, "%.1e", trial->largest);
    output_print(output, "  %-*s %13s", FIRST_COLUMN - 3, what, number);
    if (shows_noise(why))
        output_print(output, trial->rms < 1000 ? " %6.2f" : " %6.0e", trial->rms);
    output_print(output, "   %zu of %zu\n", trial->agree, trial->of);
}

static void add_tried(struct text *text, size_t count, const char *one, const char *many)
{
    if (count > 0)
        text_add(text, "%s%zu %s", text->length > 0 ? ", " : "tried ", count, count == 1 ? one : many);
}

/* Writes the fit of the answer, and of two mistakes each alone. */
static void write_fit_of_answer(const struct why *why, struct output *output)
{
    const struct trial_guess *guess = &why->explanations[0].guess;
    enum { MOST = 4 };
    char what[NAMES_BYTES], name[MISTAKE_NAME_BYTES];
    write_fit(why,
              guess->count > 2    ? "all of these"
              : guess->count == 2 ? "both of these"
                                  : mistake_text(guess->choices[0], name),
              &why->explanations[0].trial, output);
    for (size_t i = 0; i < 2 && guess->count == 2; i++)
        if (why->halves[i].has_counts)
            write_fit(why, text_format(what, sizeof what, "%s alone", mistake_text(guess->choices[i], name)),
                      &why->halves[i], output);
    for (size_t i = 1, shown = 0; i < why->count && shown < MOST; i++)
        if (why->explanations[i].same_as == i) {
            write_fit(why, names_of(&why->explanations[i].guess, what, sizeof what), &why->explanations[i].trial,
                      output);
            shown++;
        }
}

static void write_tried(const struct why *why, struct output *output)
{
    const struct why_budget *budget = &why->budget;
    char words[256];
    struct text text = text_begin(words, sizeof words);
    add_tried(&text, budget->singles, "mistake", "mistakes");
    add_tried(&text, budget->pairs, "pair", "pairs");
    add_tried(&text, budget->settings, "setting", "settings");
    add_tried(&text, budget->both, "setting with a mistake", "settings with a mistake");
    if (text.length == 0)
        return;
    if (text_columns(words) > FIRST_COLUMN)
        write_words(words, 2, output);
    output_print(output, "%-*s", FIRST_COLUMN, text_columns(words) > FIRST_COLUMN ? "" : words);
    output_print(output, " largest error%s   agree\n", shows_noise(why) ? "  noise" : "");
    if (why->count > 0 && why->explanations[0].alone == 0)
        write_fit_of_answer(why, output);
    if (why->right.has_counts)
        write_fit(why, why->count > 0 && are_draws(&why->explanations[0].guess) ? "as you asked" : "no mistake",
                  &why->right, output);
}

/* --- hidden mistakes --------------------------------------------------------------------------------------------- */

/* Whether each query has at most one allowed key, whose weight is 1 whatever the score. */
static bool sees_one_key(const struct problem *problem)
{
    for (size_t item = 0; item < problem->size.items; item++)
        for (size_t query = 0; query < problem->size.queries; query++) {
            const struct span span = mask_span(&problem->mask, item, query);
            if (span.end > span.first + 1)
                return false;
        }
    return true;
}

/* Why a mistake is hidden: as its row says, unless it comes after the main stage, or only changes scores that no weight
 * shows; NULL: unknown. */
static const char *reason_of(const struct why *why, enum mistake id)
{
    const enum stage stage = trial_stage(placed(why)), made = mistake_slot_stage(MISTAKES[id].slot);
    if (!stage_follows(stage, made))
        return NULL;
    const bool of_scores = stage_follows(stage, STAGE_WEIGHTS) && stage_follows(STAGE_CAPPED, made) &&
                           MISTAKES[id].slot != MISTAKE_SLOT_DTYPE; /* an overflow shows these */
    return of_scores && sees_one_key(why->problem) ? "each query has one allowed key" : MISTAKES[id].unseen;
}

static bool same_reason(const struct why *why, enum mistake a, enum mistake b)
{
    const char *first = reason_of(why, a), *second = reason_of(why, b);
    return first == second || (first != NULL && second != NULL && strcmp(first, second) == 0);
}

/* Adds all mistakes with the reason of the first one: "empty-nan, empty-mean (no row is empty)". */
static void add_reason(const struct why *why, enum mistake first, struct text *text)
{
    const char *reason = reason_of(why, first), *between = text->length > 0 ? "; " : "no effect on this input: ";
    for (int id = 0; id < (int)first; id++)
        if (why->hidden[id] && same_reason(why, (enum mistake)id, first))
            return;
    for (int id = (int)first; id < MISTAKE_COUNT; id++)
        if (why->hidden[id] && same_reason(why, (enum mistake)id, first)) {
            text_add(text, "%s%s", between, MISTAKES[id].name);
            between = ", ";
        }
    if (reason != NULL)
        text_add(text, " (%s)", reason);
    else
        text_add(text, " (no change in %s)", stage_name(trial_stage(placed(why))));
}

static void write_hidden(const struct why *why, struct output *output)
{
    char words[HIDDEN_BYTES];
    struct text text = text_begin(words, sizeof words);
    for (enum mistake id = 0; id < MISTAKE_COUNT; id++)
        if (why->hidden[id])
            add_reason(why, id, &text);
    if (text.length > 0)
        write_words(words, 2, output);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

/* The guess that explains a step: a part of the answer, if there is one. */
static const struct trial_guess *told_of(const struct why *why, const struct why_step *step)
{
    for (size_t i = 0; i < why->count; i++)
        if (why->explanations[i].alone & STAGE_BIT(step->stage))
            return &why->explanations[i].guess;
    for (size_t i = 0; i < step->guess_count && why->count > 0; i++) {
        size_t k = 0;
        while (k < step->guesses[i].count && trial_makes(&why->explanations[0].guess, step->guesses[i].choices[k]))
            k++;
        if (k == step->guesses[i].count)
            return &step->guesses[i];
    }
    return &step->guesses[0];
}

/* The title of the steps; gradients sum over numbers that a kernel does not keep. */
static const char *steps_title(const struct why *why)
{
    size_t back = 0;
    for (size_t i = 0; i < why->step_count; i++)
        back += STAGES[why->steps[i].stage].backward;
    return mine_has_part(&why->mine) ? "each stage, recomputed from the inputs, or from your own stages where complete:"
           : back == 0               ? "each stage, recomputed from your own earlier stages:"
           : back == why->step_count
               ? "each gradient, recomputed from the inputs:"
               : "each stage, recomputed from your own earlier stages; each gradient, from the inputs:";
}

/* Writes the steps that follow from those before, and what gives each of the others. */
static void write_steps(const struct why *why, struct output *output)
{
    char words[NAMES_BYTES], names[NAMES_BYTES];
    struct text right = text_begin(words, sizeof words);
    size_t departing = 0, seen = 0, width = 8;
    for (size_t i = 0; i < why->step_count; i++)
        if (why->steps[i].departs) {
            departing++;
            width = memory_larger(width, strlen(stage_name(why->steps[i].stage)));
        }
    write_words(steps_title(why), 0, output);
    for (size_t i = 0; i < why->step_count; i++)
        if (!why->steps[i].departs) {
            text_add(&right, "%s%s", stage_name(why->steps[i].stage), after(seen, why->step_count - departing));
            seen++;
        }
    if (seen > 0) {
        output_print(output, "  right    ");
        write_words_after(11, 11, words, output);
    }
    for (size_t i = 0; i < why->step_count; i++) {
        const struct why_step *step = &why->steps[i];
        if (step->departs)
            output_print(output, "  wrong    %-*s %s%s\n", (int)width, stage_name(step->stage),
                         step->guess_count > 0 ? "as with " : "no mistake gives it",
                         step->guess_count > 0 ? names_of(told_of(why, step), names, sizeof names) : "");
    }
    output_print(output, "\n");
}

/* Writes the explanations that are the same computation as the answer. */
static void write_same(const struct why *why, size_t answer, struct output *output)
{
    char words[HIDDEN_BYTES], names[NAMES_BYTES];
    struct text text = text_begin(words, sizeof words);
    for (size_t i = 0; i < why->count; i++)
        if (i != answer && why->explanations[i].same_as == answer)
            text_add(&text, "%s%s", text.length > 0 ? "; " : "other names for the same numbers: ",
                     names_of(&why->explanations[i].guess, names, sizeof names));
    if (text.length > 0)
        write_words(words, 2, output);
}

/* Writes "look next at scores, row 3 (starts), column 2: 0.31 with one, 0.18 with the other". */
static void write_next(const struct why *why, struct output *output)
{
    const struct why_apart *apart = &why->apart;
    char words[PLACE_BYTES + 2 * NAMES_BYTES], names[NAMES_BYTES];
    struct text text = text_begin(words, sizeof words);
    if (!(apart->share > 0))
        return;
    const size_t columns = problem_columns_of_head(why->problem, apart->stage), rows = why->problem->chosen.row_count,
                 heads = STAGES[apart->stage].joins_heads ? 1 : why->problem->size.heads, row = apart->at / columns;
    const struct mine_table table = {.stage = apart->stage,
                                     .layout.whole = {why->problem->size.items, heads, rows, columns}};
    const struct mine_index index = {{row / rows / heads, row / rows % heads, row % rows, apart->at % columns}};
    text_add(&text, "look next at ");
    mine_describe_number(&table, why->problem, index, &text);
    text_add(&text, ": %.4g with %s,", apart->first, names_of(&why->explanations[0].guess, names, sizeof names));
    text_add(&text, " %.4g with %s", apart->second,
             names_of(&why->explanations[apart->other].guess, names, sizeof names));
    write_words(words, 2, output);
}

/* Writes other computations that give all numbers; more digits would decide. */
static void write_others(const struct why *why, struct output *output)
{
    char names[NAMES_BYTES];
    bool any = false;
    for (size_t i = 1; i < why->count; i++) {
        if (why->explanations[i].same_as != i)
            continue;
        if (!any)
            output_print(output, "\nthese give your digits, too; more digits would decide:\n");
        any = true;
        output_print(output, "  %s\n", names_of(&why->explanations[i].guess, names, sizeof names));
    }
    if (any)
        write_next(why, output);
}

/* Writes the command, on two shell lines if one would be too long. */
static void write_command(const struct why_explanation *explanation, struct output *output)
{
    static const char LEAD[] = "see it: ", LAST[] = " --mistake ";
    char text[REPORT_COMMAND_BYTES];
    const char *command = why_command(explanation, text), *cut = NULL;
    if (command == NULL)
        return;
    for (const char *at = command; (at = strstr(at, LAST)) != NULL; at++)
        cut = at;
    if (cut == NULL || strlen(LEAD) + text_columns(command) <= WRAP_COLUMNS)
        output_print(output, "%s%s\n", LEAD, command);
    else
        output_print(output, "%s%.*s \\\n   %s\n", LEAD, (int)(cut - command), command, cut);
}

/* Writes how well few bits fit the right result, and which mistakes fit about as well. */
static void write_precision(const struct why *why, struct output *output)
{
    const struct trial *right = &why->right;
    const char *title = dtype_title(why->mine.dtype);
    char words[HIDDEN_BYTES], names[NAMES_BYTES];
    struct text text = text_begin(words, sizeof words);
    text_add(&text, "Their errors are %.2f of its noise, as in a correct kernel; more digits would show more.",
             right->rms);
    text_add(&text, " attn diff compares number by number and calls %zu of them different.", right->outside);
    for (size_t i = 0; i < why->as_well_count; i++)
        text_add(&text, "%s%s (%.2f)", i > 0 ? ", " : " These mistakes fit about as well: ",
                 names_of(&why->as_well[i].guess, names, sizeof names), why->as_well[i].trial.rms);
    if (why->as_well_count > 0)
        text_add(&text, ". %s cannot tell them apart here.", title);
    write_words(words, 0, output);
}

static void write_right(const struct why *why, struct output *output)
{
    char words[NAMES_BYTES];
    const size_t count = why->explanations[0].trial.of;
    const char *be = count == 1 ? "is" : "are", *title = dtype_title(why->mine.dtype);
    const bool differs = dtype_is_coarse(why->mine.dtype) && why->right.outside > 0;
    if (differs)
        output_print(output, "%s %s within the rounding of %s\n", numbers_text(count, words), be, title);
    else
        output_print(output, "nothing is wrong%s: %s %s right\n",
                     mine_has_part(why->explanations[0].mine) ? " in what it shows" : "", numbers_text(count, words),
                     be);
    if (stage_exists(why->taken) && why->taken != trial_stage(&why->mine))
        output_print(output, "as %s they would be wrong; --stages %s finds the mistake\n", stage_name(why->taken),
                     stage_name(why->taken));
    if (differs)
        write_precision(why, output);
    if (!why->low_precision)
        return;
    snprintf(words, sizeof words,
             "They are %s%s numbers, off by rounding of at most %.1e: low precision (dtype-%s), not a mistake.", title,
             mine_may_be_tf32(&why->mine) ? " or TF32" : "", why->right.largest, dtype_name(why->mine.dtype));
    write_words(words, 0, output);
    write_command(&why->explanations[0], output);
}

/* Says that the table is right, but this part of the stage is always the same. */
static void write_constant(const struct why *why, struct output *output)
{
    char words[PLACE_BYTES + REPORT_SENTENCE_BYTES];
    struct text text = text_begin(words, sizeof words);
    add_place(why, &text);
    text_add(&text, " has these numbers for every input, so they prove nothing. Give more rows%s.",
             why->mine.tables[0].told ? "" : ", or name the stage with --stages");
    write_words(words, 0, output);
}

/* Says that --residual is missing, or superfluous, on attn's command line; a mistake gives the same numbers. */
static void write_residual(const struct why *why, struct output *output)
{
    const struct why_explanation *answer = &why->explanations[0];
    char words[REPORT_SENTENCE_BYTES], count[TITLE_BYTES];
    snprintf(words, sizeof words, "you ran attn %s --residual: with%s it %s %s right",
             answer->options->residual ? "without" : "with", answer->options->residual ? "" : "out",
             numbers_text(answer->trial.of, count), answer->trial.of == 1 ? "is" : "are");
    write_words(words, 0, output);
    write_same(why, 0, output);
    write_others(why, output);
    write_command(&why->explanations[0], output);
}

static void write_first(const struct why_explanation *answer, bool color, struct output *output)
{
    write_title(answer, output);
    for (size_t i = 0; i < answer->guess.count; i++)
        write_mistake(answer, i, color, output);
}

/* No later answer can come before a first one that fits so well. */
void why_begin(struct why *why)
{
    const struct why_explanation *answer = why->count > 0 ? &why->explanations[0] : NULL;
    if (why->early == NULL || why->begun || why->options->format != FORMAT_TEXT || answer == NULL ||
        why->step_count > 0 || answer->problem != why->problem || answer->guess.count == 0 ||
        !(answer->trial.rms <= WHY_CLEARLY))
        return;
    progress_end(why->progress);
    write_mine(why, why->early);
    output_print(why->early, "\n");
    write_first(answer, options_want_color(why->options, why->early), why->early);
    output_flush(why->early);
    why->begun = true;
}

static void write_answer(const struct why *why, bool color, struct output *output)
{
    const struct why_explanation *answer = &why->explanations[0];
    if (why->step_count > 0)
        write_steps(why, output);
    if (!why->begun)
        write_first(answer, color, output);
    write_same(why, 0, output);
    write_others(why, output);
    if (answer->guess.count == 1 && answer->guess.choices[0].id == MISTAKE_OUT_MISSING && answer->mine->count == 1 &&
        !answer->mine->tables[0].told)
        output_print(output, "as context they are right (--stages context)\n");
    if (answer->mine->count == 1 && answer->mine->tables[0].shown == 0)
        output_print(output, "so little may fit by chance; some rows of the table would prove it\n");
    output_print(output, "\n");
    write_tried(why, output);
    write_hidden(why, output);
    write_command(&why->explanations[0], output);
}

/* Writes each mistake with the gradients that it gives, if no set of mistakes gives all. */
static void write_apart(const struct why *why, bool color, struct output *output)
{
    write_steps(why, output);
    for (size_t i = 0; i < why->count; i++) {
        if (why->explanations[i].same_as != i)
            continue;
        write_first(&why->explanations[i], color, output);
        write_same(why, i, output);
        write_command(&why->explanations[i], output);
        output_print(output, "\n");
    }
    write_words("No mistake gives all of your gradients at once. Each of these gives only some of them, as when "
                "separate code computes each gradient.",
                0, output);
    output_print(output, "\n");
    write_tried(why, output);
    write_hidden(why, output);
}

/* Writes what attn did not try, since so few numbers fit it by chance. */
static void write_untold(const struct why *why, struct output *output)
{
    static const char *const KINDS[] = {
        [WHY_SINGLES] = "one mistake",
        [WHY_PAIRS] = "two mistakes",
        [WHY_NEAR_SETTINGS] = "other ways to draw",
        [WHY_SETTINGS] = "other seeds and skips",
        [WHY_WITH_MISTAKES] = "settings with a mistake",
        [WHY_MODULES] = "popular seeds after other modules",
    };
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = 2};
    if (why->untold == 0)
        return;
    wrap_words(&line, "not tried, since some would fit so few numbers by chance:");
    for (unsigned kind = 0, told = 0; kind < sizeof KINDS / sizeof KINDS[0]; kind++)
        if (why->untold & 1U << kind) {
            wrap_words(&line, told++ > 0 ? ", " : " ");
            wrap_words(&line, KINDS[kind]);
        }
    output_print(output, "\ngive more rows, or more decimals\n");
}

bool why_is_nearly_right(const struct why *why)
{
    enum { ONE_IN = 10 };
    const struct trial *right = &why->right;
    return why->count == 0 && right->has_counts && right->worst.table < why->mine.count && right->agree > 0 &&
           right->rest_is_right && (right->of - right->agree) * ONE_IN <= right->of;
}

double why_worst(const struct why *why, struct text *place)
{
    const struct trial_worst *worst = &why->right.worst;
    const struct mine_table *table = &why->mine.tables[worst->table];
    const struct mine_index first = mine_index(table, why->right.indices[worst->table]);
    if (worst->number >= table->shown)
        text_add(place, "the %s of %s", mine_total_name(table, worst->number), mine_name(table));
    else
        mine_describe_number(table, why->problem, mine_place_of(table, first, worst->number), place);
    return table->numbers[worst->number];
}

/* Adds a number, with enough digits to differ from the other one. */
static void add_number(double number, double other, struct text *text)
{
    char digits[40], of_other[40];
    snprintf(digits, sizeof digits, "%.6g", number);
    snprintf(of_other, sizeof of_other, "%.6g", other);
    if (isnan(number))
        text_add(text, "NaN");
    else
        text_add(text, "%.*g", strcmp(digits, of_other) == 0 ? 9 : 6, number);
}

static void write_worst(const struct why *why, struct output *output)
{
    const struct trial *right = &why->right;
    char words[PLACE_BYTES + REPORT_SENTENCE_BYTES];
    struct text text = text_begin(words, sizeof words);
    if (!why_is_nearly_right(why))
        return;
    text_add(&text, "%zu of your %zu numbers are right; %s is ", right->agree, right->of,
             right->of - right->agree == 1 ? "the wrong one" : "the worst one");
    const double number = why_worst(why, &text);
    text_add(&text, ": ");
    add_number(number, right->worst.made, &text);
    text_add(&text, ", expected ");
    add_number(right->worst.made, number, &text);
    write_words(words, 2, output);
    output_print(output, "\n");
}

/* Writes what to do next if attn found nothing. */
static void write_nothing(const struct why *why, struct output *output)
{
    const struct why_budget *budget = &why->budget;
    write_worst(why, output);
    if (why->step_count > 0)
        write_steps(why, output);
    if (why->step_count > 0)
        output_print(output, "no mistake%s gives", budget->pairs > 0 ? ", alone or in a pair," : "");
    else if (budget->singles == 0)
        output_print(output, "no known mistake gives");
    else
        output_print(output, "none of %zu mistakes%s gives", budget->singles,
                     budget->pairs > 0 ? ", alone or in pairs," : "");
    output_print(output, " these numbers%s\n", budget->settings > 0 ? "," : "");
    if (budget->settings > 0)
        output_print(output, "nor does any of %zu other seeds and settings (man attn-why)\n", budget->settings);
    if (budget->left > 0)
        output_print(output, "--budget %.4g left out %s; --budget %.0f tries all\n", budget->most / 1e9,
                     budget->pairs_left > 0 ? "some pairs of mistakes" : "some settings with a mistake",
                     ceil((budget->done + budget->left) / 1e9 + 0.5));
    write_untold(why, output);
    if (why->observations.count > 0)
        output_print(output, "\nwhat %s is:\n", why->step_count > 0 ? "the first wrong stage" : "your table");
    observe_write_text(&why->observations, output);
    output_print(output, "\nwhat it could still be:\n"
                         "  inputs, parameters or options that differ from those you gave attn\n"
                         "  another mechanism: self, causal, multihead or sdpa\n"
                         "  three mistakes at once, or one that attn help mistakes does not list\n");
    if (why->mine.count == 1)
        output_print(output, "put all of your stages in one file to see which step is wrong\n");
    output_print(output, "\n");
    write_tried(why, output);
    write_hidden(why, output);
}

void why_write_text(const struct why *why, struct output *output)
{
    const bool color = options_want_color(why->options, output);
    if (!why->begun) {
        write_mine(why, output);
        output_print(output, "\n");
    }
    if (why->count > 0 && why_is_residual(why, &why->explanations[0]))
        write_residual(why, output);
    else if (why->count > 0 && (why->explanations[0].guess.count == 0 || why->low_precision))
        write_right(why, output);
    else if (why->count > 0 && why->explanations[0].alone != 0)
        write_apart(why, color, output);
    else if (why->count > 0)
        write_answer(why, color, output);
    else if (why->constant)
        write_constant(why, output);
    else
        write_nothing(why, output);
    if (why->masked_first)
        write_words("You mask before you scale; attn scales first. So scaled and masked differ by the scale, but the "
                    "weights agree. This is not a mistake: the chapter does it, too.",
                    0, output);
}

/* The writers of the formats that report (model/format.h). */
#define why_write_no NULL
#define REPORT(id, name, writer, checker, report, ...) [FORMAT_##id] = why_write_##report,
static void (*const REPORTS[FORMAT_COUNT])(const struct why *why, struct output *output) = {FORMAT_ROWS(REPORT)};

enum status why_write(const struct why *why, struct output *output)
{
    REPORTS[why->options->format](why, output);
    if (output_close(output) != STATUS_OK || why->count > 0)
        return why->error->status;
    return error_quietly(why->error, STATUS_DIFFERENT);
}
