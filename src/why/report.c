#include "why/report.h"

#include "base/shell_word.h"
#include "base/wrap.h"
#include "cli/option_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4 * TEXT_PATH_BYTES + 64, SENTENCE_BYTES = 256, PLACE_BYTES = 400, COLUMNS = 78 };

/* --- the command line -------------------------------------------------------------------------------------------- */

/* What options say, seeds and the like, needs no --mistake. */
bool why_is_named(const struct why_explanation *explanation, struct mistake_choice choice)
{
    (void)explanation;
    return (MISTAKES[choice.id].slot != MISTAKE_SLOT_DRAW || choice.id == MISTAKE_DRAW_ORDER) &&
           choice.id != MISTAKE_DTYPE_BF16 && choice.id != MISTAKE_DTYPE_F16;
}

const char *why_command(const struct why_explanation *explanation, char *text)
{
    struct text line = text_begin(text, REPORT_COMMAND_BYTES);
    const char *between = " --mistake ";
    char name[MISTAKE_NAME_BYTES];
    const enum stage stage = trial_stage(explanation->mine);
    options_command_line(explanation->options, &line);
    if (STAGES[stage].on_demand)
        text_add(&line, " --stages %s", stage_name(stage));
    for (size_t i = 0; i < explanation->guess.count; i++) {
        const struct mistake_choice choice = explanation->guess.choices[i];
        if (choice.id == MISTAKE_DTYPE_BF16 || choice.id == MISTAKE_DTYPE_F16)
            text_add(&line, " --dtype %s", dtype_name(explanation->mine->dtype));
        if (!why_is_named(explanation, choice))
            continue;
        text_add(&line, "%s%s", between, mistake_text(choice, name));
        between = ",";
    }
    return line.cut ? NULL : text;
}

/* --- sentences --------------------------------------------------------------------------------------------------- */

/* The sentence of a mistake with this job's number in it. */
static const char *sentence_of(const struct problem *problem, enum mistake id, char *text)
{
    static const char NAME[] = "sqrt(d_head)";
    const char *sentence = MISTAKES[id].sentence, *at = strstr(sentence, NAME);
    if (at == NULL)
        snprintf(text, SENTENCE_BYTES, "%s", sentence);
    else
        snprintf(text, SENTENCE_BYTES, "%.*ssqrt(%zu)%s", (int)(at - sentence), sentence, problem->d_head,
                 at + sizeof NAME - 1);
    return text;
}

static void write_fix(const char *language, const char *fix, struct output *output)
{
    if (fix != NULL)
        output_print(output, "    %-7s  %s\n", language, fix);
}

/* "1 softmax runs over the queries, ...  (softmax-queries)", and how it is put right. */
static void write_mistake(const struct why_explanation *explanation, size_t place, bool color, struct output *output)
{
    const struct mistake_choice choice = explanation->guess.choices[place];
    const struct mistake_row *row = &MISTAKES[choice.id];
    char sentence[SENTENCE_BYTES], name[MISTAKE_NAME_BYTES];
    sentence_of(explanation->problem, choice.id, sentence);
    mistake_text(choice, name);
    const size_t columns = text_columns(sentence), whole = columns + strlen(name) + 6;
    output_print(output, "%s%zu %s%s", color ? TEXT_BOLD : "", place + 1, sentence, color ? TEXT_PLAIN : "");
    if (whole <= COLUMNS)
        output_print(output, "%*s(%s)\n", (int)(COLUMNS - whole + 2), "", name);
    else
        output_print(output, "\n    (%s)\n", name);
    write_fix("PyTorch", row->pytorch, output);
    write_fix("NumPy", row->numpy, output);
    write_fix("C", row->c, output);
    output_print(output, "    man attn: %s\n", row->section);
}

static bool are_draws(const struct trial_guess *guess)
{
    size_t i = 0;
    while (i < guess->count && MISTAKES[guess->choices[i].id].slot == MISTAKE_SLOT_DRAW)
        i++;
    return i == guess->count;
}

/* "two mistakes together give" */
static void write_title(const struct trial_guess *guess, size_t numbers, struct output *output)
{
    static const char *const COUNTS[] = {"no", "one", "two", "three", "four", "five", "six"};
    const size_t count = guess->count;
    const char *what = are_draws(guess) ? count == 1 ? "another setting gives" : "other settings together give"
                       : count == 1     ? "mistake gives"
                                        : "mistakes together give";
    if (!are_draws(guess) && count < sizeof COUNTS / sizeof COUNTS[0])
        output_print(output, "%s ", COUNTS[count]);
    else if (!are_draws(guess))
        output_print(output, "%zu ", count);
    output_print(output, "%s all %zu of your numbers:\n", what, numbers);
}

/* The names of a guess, "a and b", into text. */
static const char *names_of(const struct trial_guess *guess, char *text, size_t size)
{
    struct text line = text_begin(text, size);
    char name[MISTAKE_NAME_BYTES];
    for (size_t i = 0; i < guess->count; i++)
        text_add(&line, "%s%s",
                 i == 0                 ? ""
                 : i + 1 < guess->count ? ", "
                                        : " and ",
                 mistake_text(guess->choices[i], name));
    return text;
}

/* --- what was read ----------------------------------------------------------------------------------------------- */

static void add_table(const struct why *why, const struct mine_table *table, struct text *text)
{
    char shape[TENSOR_SHAPE_BYTES], place[PLACE_BYTES];
    const struct why_explanation *answer = why->count > 0 ? &why->explanations[0] : NULL;
    const size_t i = (size_t)(table - why->mine.tables);
    struct text words = text_begin(place, sizeof place);
    if (answer != NULL && answer->mine == &why->mine)
        mine_describe(table, why->problem, mine_index(table, answer->trial.indices[i]), &words);
    else if (answer != NULL)
        mine_describe(&answer->mine->tables[i], answer->problem,
                      mine_index(&answer->mine->tables[i], answer->trial.indices[i]), &words);
    else if (mine_indices(table) > 1)
        text_add(&words, "a part of %s", stage_name(table->stage));
    else
        mine_describe(table, why->problem, mine_index(table, 0), &words);
    text_add(text, "%s, %s", place, tensor_shape_text(&table->named->tensor, shape));
}

static void write_mine(const struct why *why, struct output *output)
{
    const struct mine *mine = &why->mine;
    char path[PATH_BYTES], what[PLACE_BYTES + TENSOR_SHAPE_BYTES];
    text_shown(mine->file.source, SIZE_MAX, path, sizeof path);
    output_print(output, "%s ", path);
    if (mine->count > 1) {
        struct wrap line = {.output = output, .columns = COLUMNS, .indent = 2, .column = strlen(path) + 1};
        wrap_words(&line, "holds ");
        wrap_words(&line, stage_name(mine->tables[0].stage));
        for (size_t i = 1; i < mine->count; i++)
            wrap_add(&line, "%s", stage_name(mine->tables[i].stage));
    } else {
        struct text text = text_begin(what, sizeof what);
        const struct mine_table *table = why->count > 0 ? &why->explanations[0].mine->tables[0] : &mine->tables[0];
        add_table(why, why->mine.count > 0 ? &mine->tables[0] : table, &text);
        output_print(output, "is %s", mine->file.is_text ? "a printed table" : "a table");
        if (mine->decimals >= 0)
            output_print(output, " of %d decimal%s", mine->decimals, mine->decimals == 1 ? "" : "s");
        output_print(output, ", %s %s", table->told ? "" : "taken for", what);
    }
    output_print(output, "\n");
    if (mine->passed != NULL)
        output_print(output, "not compared: %s, which is no stage\n", mine->passed);
}

/* --- the table of what was tried --------------------------------------------------------------------------------- */

enum { FIRST_COLUMN = 42 };

static void write_fit(const struct why *why, const char *what, const struct trial *trial, struct output *output)
{
    char number[40];
    if (!isfinite(trial->largest))
        snprintf(number, sizeof number, "infinite");
    else if (why->mine.decimals >= 0)
        snprintf(number, sizeof number, "%.*f", why->mine.decimals + 1, trial->largest);
    else
        snprintf(number, sizeof number, "%.1e", trial->largest);
    output_print(output, "  %-*s %13s   %zu of %zu\n", FIRST_COLUMN - 3, what, number, trial->agree, trial->of);
}

static void add_tried(struct text *text, size_t count, const char *one, const char *many)
{
    if (count > 0)
        text_add(text, "%s%zu %s", text->length > 0 ? ", " : "tried ", count, count == 1 ? one : many);
}

static void write_tried(const struct why *why, struct output *output)
{
    const struct why_budget *budget = &why->budget;
    char words[256], alone[MISTAKE_NAME_BYTES + 8];
    struct text text = text_begin(words, sizeof words);
    add_tried(&text, budget->singles, "mistake alone", "mistakes alone");
    add_tried(&text, budget->pairs, "pair", "pairs");
    add_tried(&text, budget->settings, "setting", "settings");
    add_tried(&text, budget->both, "setting with a mistake", "settings with a mistake");
    if (text.length == 0)
        return;
    if (text_columns(words) > FIRST_COLUMN)
        output_print(output, "%s\n%-*s", words, FIRST_COLUMN, "");
    else
        output_print(output, "%-*s", FIRST_COLUMN, words);
    output_print(output, " largest error   agree\n");
    if (why->count > 0) {
        const struct trial_guess *guess = &why->explanations[0].guess;
        write_fit(why,
                  guess->count > 2    ? "all of these"
                  : guess->count == 2 ? "both of these"
                                      : "this",
                  &why->explanations[0].trial, output);
        for (size_t i = 0; i < 2 && guess->count == 2; i++)
            if (why->halves[i].has_counts) {
                char name[MISTAKE_NAME_BYTES];
                snprintf(alone, sizeof alone, "%s alone", mistake_text(guess->choices[i], name));
                write_fit(why, alone, &why->halves[i], output);
            }
    }
    if (why->right.has_counts)
        write_fit(why, why->count > 0 && are_draws(&why->explanations[0].guess) ? "as asked" : "no mistake",
                  &why->right, output);
}

/* --- what cannot be seen ----------------------------------------------------------------------------------------- */

static bool same_reason(enum mistake a, enum mistake b)
{
    const char *first = MISTAKES[a].unseen, *second = MISTAKES[b].unseen;
    return first == second || (first != NULL && second != NULL && strcmp(first, second) == 0);
}

/* The mistakes of one reason, told by the first of them. */
static void write_reason(const struct why *why, enum mistake first, struct wrap *line)
{
    const char *begin = line->column == 0 ? "cannot be seen on this input: " : "";
    for (int id = 0; id < (int)first; id++)
        if (why->hidden[id] && same_reason((enum mistake)id, first))
            return;
    char item[250];
    struct text text = text_begin(item, sizeof item);
    for (int id = (int)first; id < MISTAKE_COUNT; id++)
        if (why->hidden[id] && same_reason((enum mistake)id, first)) {
            if (text.length + strlen(MISTAKES[id].name) + 80 > sizeof item) {
                wrap_add(line, "%s%s", begin, item);
                begin = "";
                text = text_begin(item, sizeof item);
            }
            text_add(&text, "%s%s", text.length > 0 ? " " : "", MISTAKES[id].name);
        }
    if (MISTAKES[first].unseen != NULL)
        text_add(&text, " (%s)", MISTAKES[first].unseen);
    wrap_add(line, "%s%s", begin, item);
}

static void write_hidden(const struct why *why, struct output *output)
{
    struct wrap line = {.output = output, .columns = COLUMNS, .indent = 2};
    for (int id = 0; id < MISTAKE_COUNT; id++)
        if (why->hidden[id])
            write_reason(why, (enum mistake)id, &line);
    if (line.column > 0)
        output_print(output, "\n");
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

/* Steps that depart, and what each is. */
static void write_steps(const struct why *why, struct output *output)
{
    char names[256];
    for (size_t i = 0; i < why->step_count; i++) {
        const struct why_step *step = &why->steps[i];
        if (!step->departs)
            continue;
        if (step->guess_count > 0)
            output_print(output, "%s departs: from your own stages before it, %s gives it\n", stage_name(step->stage),
                         names_of(&step->guesses[0], names, sizeof names));
        else
            output_print(output, "%s departs, and no mistake gives it from your own stages before it\n",
                         stage_name(step->stage));
    }
}

static void write_masked_first(const struct why *why, struct output *output)
{
    if (why->masked_first)
        output_print(output, "You mask before you scale, attn scales first: scaled and masked differ by the scale, "
                             "the weights\ndo not. That is no mistake; the chapter does so, too.\n");
}

/* What the answer cannot be told from. */
static void write_same(const struct why *why, size_t answer, struct output *output)
{
    char names[256];
    struct wrap line = {.output = output, .columns = COLUMNS, .indent = 2};
    bool any = false;
    for (size_t i = 0; i < why->count; i++) {
        if (i == answer || why->explanations[i].same_as != answer)
            continue;
        wrap_add(&line, "%s%s", any ? "" : "the same numbers by other words: ",
                 names_of(&why->explanations[i].guess, names, sizeof names));
        any = true;
    }
    if (any)
        output_print(output, "\n");
}

/* Others that give all numbers, but are another computation: more digits would tell. */
static void write_others(const struct why *why, struct output *output)
{
    char names[256];
    bool any = false;
    for (size_t i = 1; i < why->count; i++) {
        if (why->explanations[i].same_as != i)
            continue;
        if (!any)
            output_print(output, "\nthese give all of your numbers, too, as far as their digits tell:\n");
        any = true;
        output_print(output, "  %s\n", names_of(&why->explanations[i].guess, names, sizeof names));
    }
}

static void write_right(const struct why *why, struct output *output)
{
    output_print(output, "nothing is wrong: all %zu of your numbers are right\n", why->right.of);
    if (why->low_precision)
        output_print(output,
                     "They are %s numbers, and off by no more than that leaves open (%.1e): low precision,\n"
                     "dtype-%s, and no mistake.\n",
                     dtype_title(why->mine.dtype), why->right.largest, dtype_name(why->mine.dtype));
}

static void write_answer(const struct why *why, bool color, struct output *output)
{
    const struct why_explanation *answer = &why->explanations[0];
    char command[REPORT_COMMAND_BYTES];
    if (why->step_count > 0)
        write_steps(why, output);
    write_title(&answer->guess, answer->trial.of, output);
    for (size_t i = 0; i < answer->guess.count; i++)
        write_mistake(answer, i, color, output);
    write_same(why, 0, output);
    write_others(why, output);
    output_print(output, "\n");
    write_tried(why, output);
    write_hidden(why, output);
    if (why_command(answer, command) != NULL)
        output_print(output, "see it: %s\n", command);
}

/* What remains, where nothing was found. */
static void write_nothing(const struct why *why, struct output *output)
{
    const struct why_budget *budget = &why->budget;
    write_steps(why, output);
    output_print(output, "none of %zu mistakes, alone or in pairs, gives these numbers\n", budget->singles);
    if (budget->settings > 0)
        output_print(output,
                     "nor do other settings: seed 0 to 9999, skip 0 to 1000, init, sizes, the order of drawing\n");
    if (budget->left > 0)
        output_print(output, "The budget of %.4g left out some %s; --budget %.0f tries them all.\n", budget->most / 1e9,
                     budget->pairs_left > 0 ? "pairs of mistakes" : "settings together with a mistake",
                     ceil((budget->done + budget->left) / 1e9 + 0.5));
    output_print(output,
                 "What that leaves: three mistakes at once, other inputs or parameters, another mechanism, or "
                 "a mistake\nthat attn does not know (attn help mistakes).%s\n\n",
                 why->mine.count > 1 ? "" : " With all of your stages in one file, attn says where\nthey part.");
    write_tried(why, output);
    write_hidden(why, output);
}

void why_write_text(const struct why *why, bool color, struct output *output)
{
    write_mine(why, output);
    output_print(output, "\n");
    if (why->count > 0 && why->explanations[0].guess.count == 0)
        write_right(why, output);
    else if (why->count > 0 && why->low_precision)
        write_right(why, output);
    else if (why->count > 0)
        write_answer(why, color, output);
    else
        write_nothing(why, output);
    write_masked_first(why, output);
}
