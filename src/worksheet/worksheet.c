/* SPDX-License-Identifier: MIT */
#include "worksheet/worksheet.h"

#include "build/problem_create.h"
#include "compute/result.h"
#include "model/stages.h"
#include "stage/stage.h"
#include "worksheet/writers.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the formats that format_row.prints. */
#define AS_no NULL
#define AS_text &sheet_as_text
#define AS_markdown &sheet_as_markdown
#define AS_latex &sheet_as_latex
#define AS_html &sheet_as_html
#define DIALECT(id, name, writer, checker, report, steps, sheet, ...) [FORMAT_##id] = AS_##sheet,
static const struct sheet_dialect *const DIALECTS[FORMAT_COUNT] = {FORMAT_ROWS(DIALECT)};

enum { NAME_BYTES = TEXT_PATH_BYTES + 64, REDRAWS = 1000, FOUND_BYTES = 512 };

/* --- the numbers -------------------------------------------------------------------------------------------------- */

static bool is_new(const struct worksheet *worksheet, size_t variant)
{
    for (size_t i = 0; i < variant; i++)
        if (numbers_same(&worksheet->numbers[i], &worksheet->numbers[variant], &worksheet->plan))
            return false;
    return true;
}

/* Draws one sheet after another from one generator; each differs from those before. */
static enum status draw_numbers(struct worksheet *worksheet)
{
    const struct options *options = worksheet->options;
    const size_t variants = (size_t)options->variants;
    struct torch_random generator;
    torch_random_seed(&generator, TORCH_RANDOM_VECTOR, options->seed);
    worksheet->numbers = arena_allocate(worksheet->arena, variants, sizeof *worksheet->numbers, worksheet->error);
    if (worksheet->numbers == NULL)
        return worksheet->error->status;
    for (size_t i = 0, tries = 0; i < variants; tries++) {
        if (numbers_draw(&worksheet->numbers[i], &worksheet->plan, &generator, worksheet->arena, worksheet->error))
            return worksheet->error->status;
        if (tries == variants + REDRAWS)
            return error_usage(
                worksheet->error,
                "--variants %zu: there are only %zu different sheets of this size; expected that many or fewer",
                variants, i);
        worksheet->easy = worksheet->easy && worksheet->numbers[i].easy;
        i += is_new(worksheet, i);
    }
    return STATUS_OK;
}

/* The options of the job of a sheet: its numbers are given, and its blanks are explained. With mistakes all stages
 * are asked for, as a mistake may hide one; without them no mistake is made. */
static struct options options_of(const struct worksheet *worksheet, size_t variant, bool wrong)
{
    struct options options = *worksheet->options;
    options.format = FORMAT_TEXT;
    options.origin[OPTION_EXPLAIN] = ORIGIN_COMMAND_LINE;
    if (!wrong) {
        options.mistake_count = 0;
        options.origin[OPTION_MISTAKE] = ORIGIN_DEFAULT;
    } else if (worksheet->shown != 0) {
        options.stage_count = 0;
        for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
            if (worksheet->shown & STAGE_BIT(stage))
                options.stages[options.stage_count++] = stage;
    }
    if (worksheet->numbers == NULL)
        return options;
    options.random = NULL;
    options.seed += variant; /* of dropout */
    options.origin[OPTION_RANDOM] = options.origin[OPTION_SEED] = ORIGIN_DEFAULT;
    return options;
}

static enum status make_problem(const struct worksheet *worksheet, size_t variant, bool wrong, struct problem *problem,
                                struct arena *arena)
{
    const struct options options = options_of(worksheet, variant, wrong);
    struct job_files *files = arena_allocate(arena, 1, sizeof *files, worksheet->error);
    if (files == NULL)
        return worksheet->error->status;
    *files = worksheet->files;
    if (worksheet->numbers != NULL) {
        files->inputs = &files->files[0];
        if (drawn_file(&files->files[0], &worksheet->numbers[variant], &worksheet->plan, &options, arena,
                       worksheet->error) != STATUS_OK)
            return worksheet->error->status;
    }
    return problem_create(problem, &options, files, arena, worksheet->error);
}

/* --- the stages --------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(const enum stage *stages, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits |= STAGE_BIT(stages[i]);
    return bits;
}

/* "query, key or value", into text (size bytes); returns text. */
static const char *list_stages(uint64_t stages, char *text, size_t size)
{
    const char *names[STAGE_COUNT];
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        names[stage] = stages & STAGE_BIT(stage) ? stage_name(stage) : NULL;
    return text_alternatives(names, STAGE_COUNT, text, size);
}

/* The tables that the blanks are computed from; where one is not on the sheet, what that is computed from. Nothing
 * that follows from a blank: it would give the answer away. */
static uint64_t sources_of(const struct worksheet *worksheet)
{
    uint64_t sources = 0;
    for (int stage = STAGE_COUNT - 1; stage >= 0; stage--) {
        const bool passed = (sources & ~worksheet->shown & STAGE_BIT(stage)) != 0;
        if (passed)
            sources &= ~STAGE_BIT(stage);
        if (passed || (worksheet->blank & STAGE_BIT(stage)) != 0)
            sources |= STAGES[stage].from;
    }
    return sources;
}

/* Chooses the stages on a sheet: those of the mechanism, or those of --stages and what they are computed from; and
 * which of them to leave blank. */
static enum status choose_stages(struct worksheet *worksheet)
{
    const struct options *options = worksheet->options;
    const uint64_t asked = stage_existing(bits_of(options->stages, options->stage_count));
    const uint64_t wanted = options->stage_count > 0 ? stage_closure(asked) : UINT64_MAX;
    const struct problem *problem = &worksheet->first;
    uint64_t worked = 0;
    char names[256];
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++) {
        const bool there = stage_applies(problem, stage) || (asked & STAGE_BIT(stage)) != 0;
        if (!there || (wanted & STAGE_BIT(stage)) == 0)
            continue;
        worksheet->shown |= STAGE_BIT(stage);
        worked |= stage_is_explained(problem, stage) ? STAGE_BIT(stage) : 0;
        if (STAGES[stage].on_demand)
            return error_usage(worksheet->error, "--stages: no worksheet has '%s'; expected stages up to output",
                               stage_name(stage));
    }
    worksheet->blank = options->blank_count > 0 ? bits_of(options->blanks, options->blank_count) : worked;
    if (worked == 0)
        return error_usage(worksheet->error,
                           "--stages %.80s leaves nothing to work out; expected a stage such as weights",
                           options->stages_text);
    for (size_t i = 0; i < options->blank_count; i++)
        if ((worked & STAGE_BIT(options->blanks[i])) == 0)
            return error_usage(worksheet->error, "--blank: '%s' is not worked out on this sheet; expected %s",
                               stage_name(options->blanks[i]), list_stages(worked, names, sizeof names));
    uint64_t named = bits_of(options->stages, options->stage_count);
    for (enum stage stage = 0; stage < STAGE_COUNT && named & STAGE_BIT(STAGE_INPUTS); stage++)
        if (STAGES[stage].operand && !problem_projects(problem)) /* the inputs of sdpa are stages */
            named |= STAGE_BIT(stage);
    worksheet->given = (sources_of(worksheet) | named) & ~worksheet->blank;
    return STATUS_OK;
}

/* --- what does not fit -------------------------------------------------------------------------------------------- */

static enum status check_sizes(const struct worksheet *worksheet)
{
    const struct problem *problem = &worksheet->first;
    const char *source = problem->given.source;
    struct error *error = worksheet->error;
    const size_t inputs = memory_larger(problem->size.d_in, problem->size.d_key_in);
    if (drawn_check(source, "queries", problem->chosen.row_count, NUMBERS_MOST, error) ||
        drawn_check(source, "tokens", problem->size.keys, NUMBERS_MOST, error) ||
        drawn_check(source, "columns of the inputs", inputs, NUMBERS_MOST, error) ||
        drawn_check(source, "items", problem->size.items, NUMBERS_HEADS, error) ||
        drawn_check(source, "heads", problem->size.heads, NUMBERS_HEADS, error))
        return error->status;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (worksheet->shown & STAGE_BIT(stage))
            drawn_check(source, "columns", problem_columns(problem, stage), NUMBERS_MOST, error);
    return error->status;
}

/* Whether every setting of the command line is one that easy numbers are searched for. */
static bool is_plain(const struct options *options)
{
    static const enum option_id SOUGHT[] = {OPTION_SEED,     OPTION_SKIP,   OPTION_INIT,          OPTION_RNG,
                                            OPTION_D_OUT,    OPTION_HEADS,  OPTION_KV_HEADS,      OPTION_STACKED,
                                            OPTION_CAUSAL,   OPTION_SCALE,  OPTION_TEMPERATURE,   OPTION_QUERY,
                                            OPTION_QKV_BIAS, OPTION_RANDOM, OPTION_CONTEXT_LENGTH};
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        bool sought = !OPTIONS[id].setting || !options_said(options, id);
        for (size_t i = 0; i < sizeof SOUGHT / sizeof SOUGHT[0]; i++)
            sought = sought || SOUGHT[i] == id;
        if (!sought)
            return false;
    }
    return true;
}

static void warn(struct worksheet *worksheet, bool applies, const char *warning)
{
    if (applies)
        worksheet->first.record.warnings[worksheet->first.record.warning_count++] = warning;
}

static void warn_of_numbers(struct worksheet *worksheet, bool whole)
{
    const struct options *options = worksheet->options;
    const bool drawn = worksheet->numbers != NULL;
    struct stat standard;
    const bool piped = drawn && fstat(STDIN_FILENO, &standard) == 0 && S_ISFIFO(standard.st_mode);
    warn(worksheet, piped, "standard input is ignored; to read it, type - as FILE");
    warn(worksheet, drawn && !worksheet->easy, "no easy numbers found for these sizes; try fewer tokens or columns");
    warn(worksheet, drawn && !whole,
         "with this scale the scaled scores are not whole numbers; try --scale 1/2, or a d_head of 1, 4 or 9");
    warn(worksheet, !FORMATS[options->format].terminal && options->color == WHEN_ALWAYS,
         "--color has no effect: a worksheet is printed without colours");
}

/* The mistakes to make. A file that is a result may have one, too, but then the answers would be wrong. */
static enum status find_mistakes(struct worksheet *worksheet)
{
    if (make_problem(worksheet, 0, true, &worksheet->first, worksheet->arena) != STATUS_OK)
        return worksheet->error->status;
    memcpy(worksheet->mistakes, worksheet->first.mistake.choices, sizeof worksheet->mistakes);
    worksheet->mistake_count = worksheet->first.mistake.count;
    if (worksheet->mistake_count != worksheet->options->mistake_count)
        return error_usage(worksheet->error,
                           "%s: settings: a worksheet does not take a mistake from a file; type --mistake, or remove "
                           "it from the settings",
                           worksheet->first.given.source);
    if (worksheet->mistake_count == 0 || worksheet->options->blank_count == 0)
        return STATUS_OK;
    return error_usage(worksheet->error,
                       "--blank does not go with --mistake, which fills in the whole sheet; leave out one of them");
}

enum status worksheet_create(struct worksheet *worksheet, const struct options *options, struct arena *arena,
                             struct error *error)
{
    bool whole = false;
    *worksheet = (struct worksheet){.options = options, .easy = options->in == NULL, .arena = arena, .error = error};
    if (options->rounding == ROUNDING_OPERATIONS)
        return error_usage(error, "--rounding operations: the answers of a worksheet are computed exactly and rounded "
                                  "once; expected --rounding stages");
    if (options->in != NULL ? job_files_read(&worksheet->files, options, arena, error)
                            : drawn_plan(&worksheet->plan, &whole, options, error) || draw_numbers(worksheet))
        return error->status;
    if (find_mistakes(worksheet) || make_problem(worksheet, 0, false, &worksheet->first, arena) ||
        choose_stages(worksheet) || check_sizes(worksheet))
        return error->status;
    warn_of_numbers(worksheet, whole);
    worksheet->easy = worksheet->easy && whole && is_plain(options);
    return STATUS_OK;
}

/* --- written ------------------------------------------------------------------------------------------------------ */

/* The name of a sheet, or with SIZE_MAX of all. */
static const char *name_of(const struct worksheet *worksheet, size_t variant, char *name)
{
    const struct options *options = worksheet->options;
    if (worksheet->numbers == NULL)
        snprintf(name, NAME_BYTES, "%s", worksheet->first.given.source);
    else if (options->variants == 1 || variant == SIZE_MAX)
        snprintf(name, NAME_BYTES, "seed %llu", (unsigned long long)options->seed);
    else
        snprintf(name, NAME_BYTES, "seed %llu, sheet %zu", (unsigned long long)options->seed, variant + 1);
    return name;
}

/* "the scores are not divided by sqrt(d_head) (scale-missing)" for all mistakes, into text (size bytes); returns
 * text. */
static const char *tell_mistakes(const struct worksheet *worksheet, char *text, size_t size)
{
    struct text told = text_begin(text, size);
    for (size_t i = 0; i < worksheet->mistake_count; i++) {
        char name[MISTAKE_NAME_BYTES];
        text_add(&told, "%s%s (%s)", i == 0 ? "The mistake: " : "; and ", MISTAKES[worksheet->mistakes[i].id].sentence,
                 mistake_text(worksheet->mistakes[i], name));
    }
    return text;
}

static enum status make_sheet(const struct worksheet *worksheet, size_t variant, bool wrong,
                              const struct sheet_plan *plan, struct sheet *sheet, struct arena *arena)
{
    struct problem *problem = arena_allocate(arena, 1, sizeof *problem, worksheet->error);
    struct result *result = arena_allocate(arena, 1, sizeof *result, worksheet->error);
    struct progress progress;
    if (problem == NULL || result == NULL || make_problem(worksheet, variant, wrong, problem, arena) != STATUS_OK)
        return worksheet->error->status;
    problem->chosen.explained_count = 0;
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (worksheet->blank & STAGE_BIT(stage))
            problem->chosen.explained[problem->chosen.explained_count++] = stage;
    progress_start(&progress, worksheet->options->progress != WHEN_NEVER, worksheet->options->progress == WHEN_ALWAYS);
    enum status status = result_create(result, problem, &progress, false, arena, worksheet->error);
    if (status == STATUS_OK)
        status = sheet_make(sheet, plan, result, arena, worksheet->error);
    progress_end(&progress);
    return status;
}

static bool show_same(const struct sheet *a, const struct sheet *b)
{
    for (size_t task = 0; task < a->task_count; task++)
        for (size_t i = 0; i < a->tasks[task].count; i++) {
            const struct sheet_table *left = &a->tasks[task].tables[i], *right = &b->tasks[task].tables[i];
            for (size_t cell = 0; cell < left->rows * left->columns; cell++)
                if (strcmp(left->cells[cell], right->cells[cell]) != 0)
                    return false;
        }
    return true;
}

/* Nobody can find a mistake that changes no number. */
static enum status check_seen(const struct worksheet *worksheet, size_t variant, const struct sheet_plan *plan,
                              const struct sheet *sheet, struct arena *arena)
{
    struct sheet right = {0};
    char name[NAME_BYTES], first[MISTAKE_NAME_BYTES];
    if (make_sheet(worksheet, variant, false, plan, &right, arena) != STATUS_OK)
        return worksheet->error->status;
    if (!show_same(sheet, &right))
        return STATUS_OK;
    return error_usage(worksheet->error,
                       "--mistake %s changes no number on the sheet of %s; try another mistake, or other numbers",
                       mistake_text(worksheet->mistakes[0], first), name_of(worksheet, variant, name));
}

static struct sheet_plan plan_of(const struct worksheet *worksheet, const char *name, bool wrong, const char *found)
{
    return (struct sheet_plan){.shown = worksheet->shown,
                               .blank = worksheet->blank,
                               .given = worksheet->given,
                               .precision = (int)worksheet->options->precision,
                               .easy = worksheet->easy,
                               .name = name,
                               .mistakes = wrong ? worksheet->mistake_count : 0,
                               .briefly = worksheet->options->one_page,
                               .found = found};
}

static enum status write_one(const struct worksheet *worksheet, size_t variant, bool answers, const struct page *page)
{
    struct arena arena = {0};
    struct sheet sheet = {0};
    char name[NAME_BYTES], found[FOUND_BYTES] = "";
    const bool wrong = worksheet->mistake_count > 0 && !answers;
    const struct sheet_plan plan = plan_of(worksheet, name_of(worksheet, variant, name), wrong,
                                           answers ? tell_mistakes(worksheet, found, sizeof found) : "");
    enum status status = make_sheet(worksheet, variant, wrong, &plan, &sheet, &arena);
    if (status == STATUS_OK && wrong)
        status = check_seen(worksheet, variant, &plan, &sheet, &arena);
    if (status == STATUS_OK)
        sheet_write(page, &sheet, answers);
    arena_free(&arena);
    return status;
}

/* Writes the answers of all sheets, as many on a page as it has room for. */
static enum status write_key(const struct worksheet *worksheet, const struct page *page)
{
    const struct sheet_dialect *dialect = page->dialect;
    struct arena arena = {0};
    char name[NAME_BYTES], found[FOUND_BYTES];
    struct key_plan key = {NULL, (size_t)worksheet->options->variants, dialect->key_columns, dialect->key_lines,
                           dialect->breaks_titles};
    struct sheet *pages, *sheets = arena_allocate(&arena, key.count, sizeof *sheets, worksheet->error);
    const struct sheet_plan plan =
        plan_of(worksheet, name_of(worksheet, SIZE_MAX, name), false, tell_mistakes(worksheet, found, sizeof found));
    size_t count = 0;
    enum status status = worksheet->error->status;
    for (size_t i = 0; i < key.count && status == STATUS_OK; i++)
        status = make_sheet(worksheet, i, false, &plan, &sheets[i], &arena);
    key.sheets = sheets;
    if (status == STATUS_OK)
        status = key_make(&key, &pages, &count, &arena, worksheet->error);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        page_put(page, i > 0 ? dialect->turn : NULL);
        sheet_write(page, &pages[i], true);
    }
    arena_free(&arena);
    return status;
}

enum status worksheet_write(const struct worksheet *worksheet, struct output *output)
{
    const struct options *options = worksheet->options;
    const struct page page = {DIALECTS[options->format], output, options_want_color(options, output)};
    const bool chosen = options_said(options, OPTION_ANSWERS);
    enum status status = STATUS_OK;
    size_t pages = 0;
    page_put(&page, page.dialect->begin);
    if (options->one_page)
        status = write_key(worksheet, &page);
    for (int answers = chosen && options->answers;
         answers < 2 && !options->one_page && !(chosen && answers != options->answers); answers++)
        for (size_t i = 0; i < options->variants && status == STATUS_OK && !output->failed; i++) {
            page_put(&page, pages++ > 0 ? page.dialect->turn : NULL);
            status = write_one(worksheet, i, answers, &page);
        }
    if (status == STATUS_OK)
        page_put(&page, page.dialect->end);
    else
        output_abandon(output);
    return output_close(output);
}
