/* SPDX-License-Identifier: MIT */
/* Mistakes that are made here, in tests/why, by attention that is not attn's, and what attn why says of their tables.
 *
 *   build/test_why            each mistake on its first exercise, with all digits, 4 or 3 decimals; some pairs; with
 *                             ATTN_QUICK a part of what else is tried
 *   build/test_why --all      each mistake on every exercise that shows it, with all digits, with 4 and with 3 decimals
 *   build/test_why --pairs N  N random pairs alone */
#include "check.h"
#include "model/mistake.h"
#include "pairs/program.h"
#include "support.h"
#include "why/ask.h"
#include "why/cases.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* 1 where attn has `why` and --mistake. */
#define ENGINE 1

static bool quick;

enum { PAIRS_OF_A_SAMPLE = 6, MOST_TRIES = 100000 };

static const double VISIBLE = 1e-3, VISIBLE_OF_DTYPE = 1e-4, CLOSE = 1e-6;

/* What people have of their numbers: all digits, and what is printed with 4 decimals and with 3. */
static const int DECIMALS[] = {FULL, 4, 3};
enum { PRECISIONS = sizeof DECIMALS / sizeof *DECIMALS };

static const char *digits_text(int decimals)
{
    return decimals == FULL ? "all digits" : decimals == 4 ? "4 decimals" : "3 decimals";
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

/* A last table, and how it came about. */
struct made_table {
    struct sheet sheet;
    struct view view;
    size_t count;
    double numbers[VIEW_ROOM];
};

static const struct way RIGHT_WAY; /* nothing is wrong */

static void compute(struct made_table *made, enum exercise_id id, const struct way *way)
{
    sheet_begin(&made->sheet, id);
    attend(&made->sheet, way);
    made->view = view_stage(&made->sheet, EXERCISES[id].stage);
    made->count = view_numbers(&made->view, made->numbers);
}

/* Two tables of as many numbers; others are infinitely far apart. */
static double table_distance(const struct made_table *one, const struct made_table *other)
{
    return one->count == other->count ? ask_distance(one->numbers, other->numbers, one->count) : INFINITY;
}

static bool is_finite(const struct made_table *made)
{
    bool finite = true;
    for (size_t i = 0; i < made->count; i++)
        finite = finite && isfinite(made->numbers[i]);
    return finite;
}

/* --- what is right ----------------------------------------------------------------------------------------------- */

/* Numbers of attn agree with those of the sheet as far as float32 goes. */
static double excess(const double *expected, const double *got, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double room = CLOSE * fmax(1, isfinite(expected[i]) ? fabs(expected[i]) : 1);
        most = fmax(most, ask_distance(expected + i, got + i, 1) / room);
    }
    return most;
}

static void check_stage(const struct made_table *made, const struct answer *answer, const char *name)
{
    double expected[VIEW_ROOM], got[VIEW_ROOM];
    const struct view view = view_stage(&made->sheet, name);
    const size_t count = ask_numbers(answer, name, made->sheet.kind, got, VIEW_ROOM);
    if (count == 0 || view.rank == 0)
        return;
    if (CHECK(count == view_numbers(&view, expected), "%s: expected %zu numbers, got %zu", name,
              view_numbers(&view, expected), count))
        CHECK(excess(expected, got, count) <= 1, "%s: %g apart", name, ask_distance(expected, got, count));
}

/* What is computed here is what attn computes, stage by stage, where nothing is wrong. */
static void check_right(void)
{
    static struct made_table made;
    double numbers[VIEW_ROOM];
    for (int id = 0; id < EXERCISE_COUNT; id++) {
        struct answer answer;
        check_begin("%s: attn %s", EXERCISES[id].name, EXERCISES[id].words);
        compute(&made, (enum exercise_id)id, &RIGHT_WAY);
        ask_exercise((enum exercise_id)id, NULL, &answer);
        CHECK(answer.status == 0 &&
                  ask_numbers(&answer, EXERCISES[id].stage, EXERCISES[id].kind, numbers, VIEW_ROOM) == made.count,
              "expected a table of %zu numbers, got status %d: %s", made.count, answer.status, answer.message);
        for (const cJSON *item = answer.json != NULL ? answer.json->child : NULL; item != NULL; item = item->next)
            check_stage(&made, &answer, item->string);
        ask_release(&answer);
    }
}

/* What is written for --mine is read as the table that it shows. */
static void check_file(enum exercise_id id, const char *path, const char *stage, const char *what)
{
    struct answer answer;
    check_begin("%s: %s of it is read", EXERCISES[id].name, what);
    ask_diff(id, path, stage, &answer);
    CHECK(answer.status == 0, "status %d: %s", answer.status, answer.message);
    ask_release(&answer);
}

static void check_files(void)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    for (int i = 0; i < EXERCISE_COUNT; i++) {
        const enum exercise_id id = (enum exercise_id)i;
        const char *stage = EXERCISES[id].stage;
        compute(&made, id, &RIGHT_WAY);
        for (int j = 0; j < PRECISIONS; j++)
            check_file(id, ask_write(&made.view, DECIMALS[j], path), stage, digits_text(DECIMALS[j]));
        check_file(id, ask_write_half(&made.view, path), stage, "a .npy of float16");
        if (strcmp(stage, "lse") != 0)
            check_file(id, ask_write_stages(&made.sheet, path), NULL, "all stages");
    }
}

/* --- what is wrong ----------------------------------------------------------------------------------------------- */

static enum mistake id_of(const char *name)
{
    return support_mistake(name, strcspn(name, ":"));
}

static bool is_dtype(const struct mistaken *row)
{
    return strncmp(row->name, "dtype-", 6) == 0;
}

/* Draws are settings and low precision is told by the numbers: neither is guessed as a mistake. */
static bool is_guessed(const struct mistaken *row)
{
    return !is_dtype(row) && MISTAKES[id_of(row->name)].slot != MISTAKE_SLOT_DRAW;
}

/* The exercise after this one (-1: the first) on which the mistake is made, or EXERCISE_COUNT. */
static int next_exercise(const struct mistaken *row, int id)
{
    do
        id++;
    while (id < EXERCISE_COUNT && !(row->on & ON(id)));
    return id;
}

/* Whether tests/check_wrong.sh has a table with it from NumPy. */
static bool is_in_wrong(const char *name)
{
    static char *cases;
    char *at = cases = cases != NULL ? cases : support_read("tests/wrong/cases.txt");
    const size_t length = strlen(name);
    while ((at = strstr(at, name)) != NULL && (strchr(" |,", at[-1]) == NULL || strchr(" |,:", at[length]) == NULL))
        at++;
    return at != NULL;
}

/* Those of models, whose numbers tests/check_porters.sh has from other options and files; those of the way back, of
 * sequences and of pages, which build/test_why_tables has from PyTorch, and those of words, tests/words; those of
 * tests/wrong, and of adapters and quantised weights, tests/cli/why_weights.test. */
static bool is_made_elsewhere(enum mistake id)
{
    static const enum mistake_slot SLOTS[] = {
        MISTAKE_SLOT_CLIP,       MISTAKE_SLOT_PACKING,      MISTAKE_SLOT_NORM,  MISTAKE_SLOT_QK_NORM,
        MISTAKE_SLOT_ROPE_THETA, MISTAKE_SLOT_ROPE_SCALING, MISTAKE_SLOT_ROPE,  MISTAKE_SLOT_RELATIVE,
        MISTAKE_SLOT_GRAD,       MISTAKE_SLOT_SEQUENCES,    MISTAKE_SLOT_PAGES, MISTAKE_SLOT_POSITIONS,
        MISTAKE_SLOT_RESIDUAL,   MISTAKE_SLOT_UNEMBEDDING,  MISTAKE_SLOT_GROWTH};
    bool is = id == MISTAKE_DRAW_LAYER || id == MISTAKE_SCALE_USUAL || id == MISTAKE_ALIBI_ONE_SERIES ||
              id == MISTAKE_ALIBI_NOT_SCALED || id == MISTAKE_LAYER_ADAPTER || id == MISTAKE_LAYER_QUANTISED ||
              is_in_wrong(MISTAKES[id].name);
    for (size_t i = 0; i < sizeof SLOTS / sizeof SLOTS[0]; i++)
        is = is || MISTAKES[id].slot == SLOTS[i];
    return is;
}

/* Each mistake has a name of the library, and shows. */
static void check_cases(void)
{
    static struct made_table right, wrong;
    bool made[MISTAKE_COUNT] = {false};
    const struct mistaken *row;
    for (size_t i = 0; (row = cases_at(i)) != NULL; i++) {
        check_begin("%s shows", row->name);
        if (CHECK(id_of(row->name) != MISTAKE_COUNT, "no such name"))
            made[id_of(row->name)] = true;
        for (int id = next_exercise(row, -1); id < EXERCISE_COUNT; id = next_exercise(row, id)) {
            compute(&right, (enum exercise_id)id, &RIGHT_WAY);
            compute(&wrong, (enum exercise_id)id, &row->way);
            CHECK(table_distance(&right, &wrong) > (is_dtype(row) ? VISIBLE_OF_DTYPE : VISIBLE),
                  "%s: %g from what is right", EXERCISES[id].name, table_distance(&right, &wrong));
        }
    }
    check_begin("every mistake of the library is made"); /* draw-d-out has cases of its own */
    for (int id = 0; id < MISTAKE_COUNT; id++)
        CHECK(made[id] || id == MISTAKE_DRAW_D_OUT || is_made_elsewhere((enum mistake)id), "%s is not",
              MISTAKES[id].name);
}

/* attn --mistake computes what is computed here. */
static void check_option(void)
{
    static struct made_table wrong;
    const struct mistaken *row;
    for (size_t i = 0; (row = cases_at(i)) != NULL; i++)
        for (int id = next_exercise(row, -1); id < EXERCISE_COUNT; id = next_exercise(row, id)) {
            struct answer answer;
            double got[VIEW_ROOM];
            check_begin("%s: attn %s --mistake %s", EXERCISES[id].name, EXERCISES[id].words, row->name);
            compute(&wrong, (enum exercise_id)id, &row->way);
            ask_exercise((enum exercise_id)id, row->name, &answer);
            const size_t count = ask_numbers(&answer, EXERCISES[id].stage, wrong.sheet.kind, got, VIEW_ROOM);
            if (CHECK(answer.status == 0 && count == wrong.count, "expected %zu numbers, got %zu, status %d: %s",
                      wrong.count, count, answer.status, answer.message))
                CHECK(excess(wrong.numbers, got, count) <= 1, "%g apart", ask_distance(wrong.numbers, got, count));
            ask_release(&answer);
        }
}

/* --- asked ------------------------------------------------------------------------------------------------------- */

static const cJSON *explanations(const struct answer *answer)
{
    return cJSON_GetObjectItemCaseSensitive(answer->json, "explanations");
}

static const char *text_of(const cJSON *item, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
    return text != NULL ? text : "";
}

/* What was answered, for a message; lives until the next call. */
static const char *told(const struct answer *answer)
{
    static char text[512];
    char *json = answer->json != NULL ? cJSON_PrintUnformatted(explanations(answer)) : NULL;
    snprintf(text, sizeof text, "status %d, %s; %s", answer->status, json != NULL ? json : "no JSON", answer->message);
    free(json);
    return text;
}

/* The command of the answer gives the table. */
static bool gives(const cJSON *explanation, const struct made_table *made)
{
    const char *command = text_of(explanation, "command");
    double got[VIEW_ROOM];
    struct answer answer;
    if (strncmp(command, "attn ", 5) != 0)
        return false;
    ask(command + 5, (const char *const[]){"-f", "json", NULL}, &answer);
    const size_t count = ask_numbers(&answer, made->sheet.exercise->stage, made->sheet.kind, got, VIEW_ROOM);
    const bool same = count == made->count && excess(made->numbers, got, count) <= 1;
    ask_release(&answer);
    return same;
}

/* A question, and what should be answered. */
struct question {
    enum exercise_id id;
    const char *path, *stages;    /* of --mine; for --stages, or NULL */
    const char *names[ASK_NAMES]; /* of the mistakes that were made */
    size_t count;
    const char *beside; /* names that begin so may stand with them */
};

static const cJSON *first_explanation(const struct answer *answer)
{
    const cJSON *list = explanations(answer);
    return cJSON_IsArray(list) ? list->child : NULL;
}

/* Asks; all are named, and nothing else. The answer is the caller's. */
static bool check_named(const struct question *q, struct answer *answer)
{
    ask_why(q->id, q->path, q->stages, "8", answer);
    const cJSON *first = first_explanation(answer);
    const bool named = first != NULL && ask_explains(first, q->names, q->count, q->beside);
    return CHECK(answer->status == 0 && named, "expected %s%s%s, got %s", q->count > 0 ? q->names[0] : "no mistake",
                 q->count > 1 ? " and " : "", q->count > 1 ? q->names[1] : "", told(answer));
}

/* --- mistakes alone ---------------------------------------------------------------------------------------------- */

static double number_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

/* What is told of a table, and how well the first explanation agrees with it. */
static void check_told(const struct answer *answer, const struct made_table *made, int decimals)
{
    const cJSON *mine = cJSON_GetObjectItemCaseSensitive(answer->json, "mine"), *first = first_explanation(answer);
    const double count = (double)made->count, unit = decimals == FULL ? 0 : pow(10, -decimals);
    const char *stage = made->sheet.exercise->stage;
    CHECK(strcmp(text_of(mine, "stage"), stage) == 0, "expected %s, taken for '%s'", stage, text_of(mine, "stage"));
    CHECK(decimals == FULL || fabs(number_of(mine, "decimals") - decimals) <= 0, "expected %d decimals, got %g",
          decimals, number_of(mine, "decimals"));
    CHECK(fabs(number_of(first, "agree") - count) + fabs(number_of(first, "of") - count) <= 0,
          "expected %g of %g to agree, got %s", count, count, told(answer));
    CHECK(decimals == FULL || number_of(first, "largest") <= 0.5 * unit * 1.001, "expected half of %g at most, got %g",
          unit, number_of(first, "largest"));
}

/* For --stages. Without out_proj an output is the right context, heads side by side, and wrong only where it is told that
 * it is an output. */
static const char *stages_for(const char *name, enum exercise_id id)
{
    return name != NULL && strcmp(name, "out-missing") == 0 ? EXERCISES[id].stage : NULL;
}

/* `name` NULL: nothing is wrong. */
static void check_one(const char *name, enum exercise_id id, const struct way *way, int decimals)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    check_begin("%s: %s, %s", EXERCISES[id].name, name != NULL ? name : "nothing is wrong", digits_text(decimals));
    compute(&made, id, way);
    const struct question question = {
        id, ask_write(&made.view, decimals, path), stages_for(name, id), {name}, name != NULL, NULL};
    if (check_named(&question, &answer)) {
        check_told(&answer, &made, decimals);
        CHECK(decimals != FULL || gives(first_explanation(&answer), &made), "its command gives another table: %s",
              told(&answer));
    }
    ask_release(&answer);
}

/* The first of those that are made on an exercise and guessed. */
static const struct mistaken *first_row(enum exercise_id id)
{
    const struct mistaken *row;
    for (size_t i = 0; (row = cases_at(i)) != NULL; i++)
        if ((row->on & ON(id)) && is_guessed(row))
            return row;
    return NULL;
}

/* What is said not to show on an exercise is none of what does; asked of a wrong table, as a right one needs no search. */
static void check_hidden(enum exercise_id id)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    const struct mistaken *row;
    if (first_row(id) == NULL)
        return;
    check_begin("%s: what cannot be seen", EXERCISES[id].name);
    compute(&made, id, &first_row(id)->way);
    ask_why(id, ask_write(&made.view, FULL, path), NULL, "8", &answer);
    const cJSON *hidden = cJSON_GetObjectItemCaseSensitive(answer.json, "hidden");
    CHECK(cJSON_IsArray(hidden), "expected names, got status %d: %s", answer.status, answer.message);
    for (const cJSON *name = hidden != NULL ? hidden->child : NULL; name != NULL; name = name->next)
        for (size_t i = 0; (row = cases_at(i)) != NULL; i++)
            CHECK(!(row->on & ON(id)) || strcmp(name->valuestring, MISTAKES[id_of(row->name)].name) != 0,
                  "%s shows here", row->name);
    ask_release(&answer);
}

/* Eight bits are no sign by themselves, as too many numbers have as few: attn why goes by the dtype of the file, which
 * these tables do not say. tests/cli/float8.test has files that do. */
static bool is_of_eight_bits(const struct mistaken *row)
{
    return strncmp(row->name, "dtype-f8", 8) == 0;
}

/* Each precision, or one of them in turn; low precision shows in digits that a print does not have. */
static void check_row(const struct mistaken *row, enum exercise_id id, bool all, size_t turn)
{
    for (size_t i = 0; i < PRECISIONS && !is_of_eight_bits(row); i++)
        if (is_dtype(row) ? DECIMALS[i] == FULL : all || i == turn % PRECISIONS)
            check_one(row->name, id, &row->way, DECIMALS[i]);
}

static void check_singles(bool all)
{
    const struct mistaken *row;
    for (size_t i = 0; (row = cases_at(i)) != NULL; i += quick ? 3 : 1)
        for (int id = next_exercise(row, -1); id < EXERCISE_COUNT; id = all ? next_exercise(row, id) : EXERCISE_COUNT)
            check_row(row, (enum exercise_id)id, all, i);
}

static void check_nothing_wrong(bool all)
{
    for (int id = 0; id < EXERCISE_COUNT; id++) {
        if (!quick || id % 6 == 0)
            check_hidden((enum exercise_id)id);
        for (int i = 0; i < PRECISIONS; i++)
            if (all || i == id % PRECISIONS)
                check_one(NULL, (enum exercise_id)id, &RIGHT_WAY, DECIMALS[i]);
    }
}

/* --- left out of the library ------------------------------------------------------------------------------------- */

/* By their places in the library: what was left out of it, and what other mistakes give all the same. */
struct left_out {
    bool tried[MISTAKE_COUNT], explained[MISTAKE_COUNT];
};

/* Whether a mistake stands among the strings of the item, or of the arrays in it. */
static bool is_told(const cJSON *item, enum mistake id)
{
    bool told_there = cJSON_IsString(item) && id_of(item->valuestring) == id;
    for (const cJSON *child = item != NULL ? item->child : NULL; child != NULL; child = child->next)
        told_there = told_there || is_told(child, id);
    return told_there;
}

/* A table of a mistake that may not be guessed is not explained, or its numbers are truly those of what is claimed. */
static void check_left_out(const struct mistaken *row, enum exercise_id exercise, struct left_out *left)
{
    static struct made_table made;
    const enum mistake id = id_of(row->name);
    char path[PROGRAM_PATH_BYTES];
    bool without[MISTAKE_COUNT] = {false};
    struct answer answer;
    check_begin("%s: %s is left out", EXERCISES[exercise].name, row->name);
    without[id] = true;
    compute(&made, exercise, &row->way);
    ask_why_without(exercise, ask_write(&made.view, FULL, path), stages_for(row->name, exercise), without, "0.01",
                    &answer);
    const cJSON *list = explanations(&answer), *first = first_explanation(&answer);
    CHECK(cJSON_IsArray(list) && answer.status == (first == NULL), "expected an answer, got %s", told(&answer));
    for (const cJSON *claimed = first; claimed != NULL; claimed = claimed->next) {
        CHECK(gives(claimed, &made), "'%s' gives another table", text_of(claimed, "command"));
        CHECK(!is_told(claimed, id), "it is guessed: %s", told(&answer));
    }
    left->tried[id] = true;
    left->explained[id] = left->explained[id] || first != NULL;
    ask_release(&answer);
}

static void check_without(bool all)
{
    enum { UNEXPLAINED = 60, MOST_EXPLAINED = 4, ONE_IN = 64 }; /* at least; one of so many; with ATTN_QUICK tried */
    const int least = UNEXPLAINED / (quick ? ONE_IN : 1);
    static struct left_out left;
    const struct mistaken *row;
    size_t tried = 0, explained = 0;
    for (size_t i = 0; (row = cases_at(i)) != NULL; i += quick ? ONE_IN : 1)
        for (int id = next_exercise(row, -1); is_guessed(row) && id < EXERCISE_COUNT;
             id = all ? next_exercise(row, id) : EXERCISE_COUNT)
            check_left_out(row, (enum exercise_id)id, &left);
    for (int id = 0; id < MISTAKE_COUNT; id++) {
        tried += left.tried[id];
        explained += left.explained[id];
    }
    printf("left out: %zu of %zu mistakes are not explained, %zu are the same numbers as others\n", tried - explained,
           tried, explained);
    check_begin("most of what is left out is not explained");
    CHECK(tried - explained >= (size_t)least, "expected %d at least, got %zu", least, tried - explained);
    if (!quick) /* a sample has no share to speak of */
        CHECK(explained * MOST_EXPLAINED <= tried, "%zu of %zu are explained", explained, tried);
}

/* --- ties -------------------------------------------------------------------------------------------------------- */

/* Two mistakes that give the same numbers there are both named: as the answer, or as the same. */
static void check_tie(enum exercise_id id, const struct mistaken *one, const struct mistaken *other)
{
    static struct made_table made, again;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    compute(&made, id, &one->way);
    compute(&again, id, &other->way);
    if (table_distance(&made, &again) > 0)
        return;
    check_begin("%s: %s is the same as %s", EXERCISES[id].name, one->name, other->name);
    const struct question question = {id, ask_write(&made.view, FULL, path), NULL, {one->name}, 1, NULL};
    if (check_named(&question, &answer))
        CHECK(ask_explains(first_explanation(&answer), &other->name, 1, NULL), "expected %s, too, got %s", other->name,
              told(&answer));
    ask_release(&answer);
}

static void check_ties(void)
{
    const struct mistaken *one, *other;
    for (size_t i = 0; (one = cases_at(i)) != NULL; i++)
        for (size_t j = 0; j < i && (other = cases_at(j)) != NULL; j++)
            for (int id = next_exercise(one, -1); id < EXERCISE_COUNT; id = next_exercise(one, id))
                if (other->on & ON(id))
                    check_tie((enum exercise_id)id, one, other);
}

/* --- pairs ------------------------------------------------------------------------------------------------------- */

struct pair {
    enum exercise_id id;
    const struct mistaken *rows[2];
    struct way way;
};

static uint64_t random_state = 13;

/* Below `below`: xorshift64*. */
static size_t random_below(size_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (size_t)((random_state * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* One of those that are made on that exercise, or NULL where there are none. */
static const struct mistaken *random_row(enum exercise_id id)
{
    size_t count = 0;
    for (size_t i = 0; cases_at(i) != NULL; i++)
        count += (cases_at(i)->on & ON(id)) != 0;
    size_t left = count > 0 ? random_below(count) + 1 : 0;
    for (size_t i = 0; left > 0; i++)
        if ((cases_at(i)->on & ON(id)) && --left == 0)
            return cases_at(i);
    return NULL;
}

/* Neither of them alone gives the table of both, and it is of numbers. */
static bool shows_both(const struct pair *pair)
{
    static struct made_table both, other;
    bool shows = true;
    compute(&both, pair->id, &pair->way);
    for (int i = 0; i < 3; i++) {
        compute(&other, pair->id, i < 2 ? &pair->rows[i]->way : &RIGHT_WAY);
        shows = shows && table_distance(&both, &other) > VISIBLE;
    }
    return shows && is_finite(&both);
}

/* A sum for each query does not divide one weight for each key where a key is left out: the shapes differ. */
static bool mixes_with_fewer_keys(const struct mistaken *one, const struct mistaken *other)
{
    return strstr(one->name, "no-keepdim") != NULL &&
           (strcmp(other->name, "keys-last-missing") == 0 || strcmp(other->name, "keys-first-missing") == 0);
}

/* Whether there are two mistakes of different slots that can be made together there. */
static bool can_be_made(struct pair *pair)
{
    const struct mistaken *one = pair->rows[0], *other = pair->rows[1];
    return one != NULL && !is_dtype(one) && !is_dtype(other) && !mixes_with_fewer_keys(one, other) &&
           !mixes_with_fewer_keys(other, one) && MISTAKES[id_of(one->name)].slot != MISTAKES[id_of(other->name)].slot &&
           way_join(&pair->way, &one->way, &other->way) && shows_both(pair);
}

static bool is_among(const struct pair *pairs, size_t count, const struct pair *pair)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].id == pair->id && (pairs[i].rows[0] == pair->rows[0] || pairs[i].rows[0] == pair->rows[1]) &&
            (pairs[i].rows[1] == pair->rows[0] || pairs[i].rows[1] == pair->rows[1]))
            return true;
    return false;
}

/* Different pairs, the same each time. */
static struct pair *random_pairs(size_t count)
{
    struct pair *pairs = calloc(count + 1, sizeof *pairs);
    size_t found = 0;
    if (pairs == NULL)
        abort();
    for (long tries = 0; found < count && tries < MOST_TRIES; tries++) {
        const enum exercise_id id = (enum exercise_id)random_below(EXERCISE_COUNT);
        struct pair pair = {id, {random_row(id), random_row(id)}, RIGHT_WAY};
        if (!is_among(pairs, found, &pair) && can_be_made(&pair))
            pairs[found++] = pair;
    }
    check_begin("%zu pairs of mistakes", count);
    CHECK(found == count, "found %zu", found);
    return pairs;
}

/* attn computes with both what is computed here. */
static void check_both(const struct pair *pair)
{
    static struct made_table made;
    struct answer answer;
    double got[VIEW_ROOM];
    char names[2 * MISTAKE_NAME_BYTES];
    snprintf(names, sizeof names, "%s,%s", pair->rows[0]->name, pair->rows[1]->name);
    check_begin("%s: attn %s --mistake %s", EXERCISES[pair->id].name, EXERCISES[pair->id].words, names);
    compute(&made, pair->id, &pair->way);
    ask_exercise(pair->id, names, &answer);
    const size_t count = ask_numbers(&answer, EXERCISES[pair->id].stage, made.sheet.kind, got, VIEW_ROOM);
    if (CHECK(answer.status == 0 && count == made.count, "expected %zu numbers, got %zu, status %d: %s", made.count,
              count, answer.status, answer.message))
        CHECK(excess(made.numbers, got, count) <= 1, "%g apart", ask_distance(made.numbers, got, count));
    ask_release(&answer);
}

/* Both are named, or another description of truly the same numbers. */
static void check_pair(const struct pair *pair)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    const char *const names[] = {pair->rows[0]->name, pair->rows[1]->name};
    check_begin("%s: %s and %s", EXERCISES[pair->id].name, names[0], names[1]);
    compute(&made, pair->id, &pair->way);
    ask_why(pair->id, ask_write(&made.view, FULL, path), NULL, "8", &answer);
    const cJSON *first = first_explanation(&answer);
    CHECK(answer.status == 0 && first != NULL && (ask_explains(first, names, 2, NULL) || gives(first, &made)),
          "expected both, got %s", told(&answer));
    ask_release(&answer);
}

/* A rare mistake, which attn why tries in no pair. */
static bool is_rare(const struct mistaken *row)
{
    return MISTAKES[id_of(row->name)].alone;
}

static void check_pairs(size_t count)
{
    struct pair *pairs = random_pairs(count);
    size_t rare = 0;
    for (size_t i = 0; i < count && pairs[i].rows[0] != NULL; i++) {
        const bool untold = is_rare(pairs[i].rows[0]) || is_rare(pairs[i].rows[1]);
        check_both(&pairs[i]);
        rare += untold;
        if (ENGINE && !untold && !(quick && pairs[i].id == BOOK))
            check_pair(&pairs[i]);
    }
    if (rare > 0)
        printf("%zu of %zu pairs have a mistake that attn why tries in no pair: they are only computed\n", rare, count);
    free(pairs);
}

/* --- a part of the table ----------------------------------------------------------------------------------------- */

/* A place of the first axis, which is kept or goes: one row of rows, one head of heads. */
static const struct {
    const char *what;
    enum exercise_id id;
    const char *mistake;
    int place;
    bool kept;
    int decimals;
} SHARES[] = {
    {"x^(2) alone", BOOK, "scale-missing", 1, true, FULL},
    {"x^(2) alone, without its axis", BOOK, "softmax-queries", 1, false, FULL},
    {"the fourth row", WIDE, "scale-missing", 3, true, 4},
    {"the fourth row, without its axis", WIDE, "split-view", 3, false, 4},
    {"the last token", WIDE, "softmax-base-2", 6, true, 3},
    {"the last token, without its axis", MODULE, "bias-value-missing", 4, false, 4},
    {"the second head", GROUPED, "groups-tiled", 1, false, 4},
    {"the third head", GROUPED, "fill-zero", 2, false, 4},
    {"the second head, its axis kept", PLAIN, "softmax-all", 1, true, 3},
    {"the second item", BATCH, "merge-view", 1, false, 4},
};

static void check_shares(void)
{
    static struct made_table made;
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
        char path[PROGRAM_PATH_BYTES];
        struct answer answer;
        check_begin("%s: %s, %s", EXERCISES[SHARES[i].id].name, SHARES[i].what, SHARES[i].mistake);
        compute(&made, SHARES[i].id, &cases_find(SHARES[i].mistake)->way);
        const struct view share = view_pick(&made.view, 0, SHARES[i].place, SHARES[i].kept);
        const struct question question = {
            SHARES[i].id, ask_write(&share, SHARES[i].decimals, path), NULL, {SHARES[i].mistake}, 1, NULL};
        check_named(&question, &answer);
        ask_release(&answer);
    }
}

/* A row that says of which token it is, and is read so. */
static void check_label(void)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    check_begin("%s: the row of 'with', softmax-queries", EXERCISES[BOOK].name);
    compute(&made, BOOK, &cases_find("softmax-queries")->way);
    const struct view row = view_pick(&made.view, 0, 3, true);
    const struct question question = {BOOK, ask_write_labelled(&row, "with", path), NULL, {"softmax-queries"}, 1, NULL};
    check_named(&question, &answer);
    ask_release(&answer);
}

/* --- all stages -------------------------------------------------------------------------------------------------- */

/* The stages that do not follow from those before them, and no others. */
static const struct {
    enum exercise_id id;
    const char *mistakes[ASK_NAMES], *departs[ASK_NAMES];
} STORIES[] = {
    {BOOK, {"scale-missing"}, {"scaled"}},
    {BOOK, {"softmax-queries"}, {"weights"}},
    {WIDE, {"mask-mirrored"}, {"masked"}},
    {WIDE, {"roles-query-key-swapped"}, {"scores"}},
    {WIDE, {"weights-transposed"}, {"context"}},
    {WIDE, {"values-shifted:next"}, {"context"}},
    {WIDE, {"merge-view"}, {"output"}},
    {MODULE, {"bias-key-missing"}, {"key"}},
    {MODULE, {"matrix-value-transposed"}, {"value"}},
    {MODULE, {"split-interleaved"}, {"query", "key", "value"}},
    {GROUPED, {"groups-tiled"}, {"scores", "context"}},
    {CAPPED, {"softcap-missing"}, {"capped"}},
    {BOOK_DROPOUT, {"dropout-not-rescaled"}, {"dropped"}},
    {WIDE, {"scale-missing", "out-transposed"}, {"scaled", "output"}},
    {MODULE, {"bias-query-missing", "fill-zero"}, {"query", "masked"}},
};

static size_t names_in(const char *const *names)
{
    size_t count = 0;
    while (count < ASK_NAMES && names[count] != NULL)
        count++;
    return count;
}

static void make_story(struct made_table *made, enum exercise_id id, const char *const *names, size_t count)
{
    struct way way = RIGHT_WAY;
    for (size_t i = 0; i < count; i++) {
        const struct way before = way;
        if (!way_join(&way, &before, &cases_find(names[i])->way))
            abort();
    }
    compute(made, id, &way);
}

static void check_stories(void)
{
    static struct made_table made;
    for (size_t i = 0; i < sizeof STORIES / sizeof *STORIES; i++) {
        char path[PROGRAM_PATH_BYTES];
        struct answer answer;
        const char *const *names = STORIES[i].mistakes, *const *departs = STORIES[i].departs;
        struct question question = {STORIES[i].id, NULL, NULL, {names[0], names[1]}, names_in(names), NULL};
        check_begin("%s: all stages, %s%s%s", EXERCISES[STORIES[i].id].name, names[0], names[1] != NULL ? ", " : "",
                    names[1] != NULL ? names[1] : "");
        make_story(&made, STORIES[i].id, names, question.count);
        question.path = ask_write_stages(&made.sheet, path);
        check_named(&question, &answer);
        const cJSON *got = cJSON_GetObjectItemCaseSensitive(answer.json, "departs");
        CHECK(got != NULL && ask_names(got, departs, names_in(departs), NULL), "expected %s to depart, got %s",
              departs[0], cJSON_GetStringValue(got != NULL ? got->child : NULL));
        ask_release(&answer);
    }
}

/* --- settings ---------------------------------------------------------------------------------------------------- */

/* What was drawn otherwise, with a mistake beside it or without; the command says which option gives it. */
static const struct {
    enum exercise_id id;
    const char *mistakes[ASK_NAMES], *option;
} SETTINGS[] = {
    {BOOK, {"draw-seed:42"}, " 42"},
    {BOOK, {"draw-skip:48"}, "--skip 48"},
    {BOOK, {"draw-rand"}, "--init rand"},
    {BOOK, {"draw-init:xavier-linear"}, "--init xavier-linear"},
    {BOOK_SPLIT, {"draw-seed:42"}, " 42"},
    {BOOK_SPLIT, {"draw-skip:48"}, "--skip 48"},
    {BOOK_SPLIT, {"draw-stacked"}, "--stacked"},
    {BOOK_DROPOUT, {"draw-mkl"}, "--rng torch-mkl"},
    {BOOK, {"draw-seed:42", "scale-missing"}, " 42"},
    {BOOK, {"draw-skip:48", "mask-missing"}, "--skip 48"},
};

static void check_settings(void)
{
    static struct made_table made;
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i += quick ? 6 : 1) {
        char path[PROGRAM_PATH_BYTES];
        struct answer answer;
        const char *const *names = SETTINGS[i].mistakes;
        struct question question = {SETTINGS[i].id, NULL, NULL, {names[0], names[1]}, names_in(names), NULL};
        check_begin("%s: %s%s%s by %s", EXERCISES[SETTINGS[i].id].name, names[0], names[1] != NULL ? ", " : "",
                    names[1] != NULL ? names[1] : "", SETTINGS[i].option);
        make_story(&made, SETTINGS[i].id, names, question.count);
        question.path = ask_write(&made.view, 4, path);
        if (check_named(&question, &answer))
            CHECK(strstr(text_of(first_explanation(&answer), "command"), SETTINGS[i].option) != NULL,
                  "its command does not say so: %s", told(&answer));
        ask_release(&answer);
    }
}

/* The right table of one exercise, asked of another: how the class was built, and how wide. */
static const struct {
    enum exercise_id asked, made;
    const char *option;
} OTHERS[] = {
    {BOOK_SPLIT, BOOK_WRAPPER, "--stacked"},
    {BOOK_WRAPPER, BOOK_SPLIT, " -d 4"},
};

static void check_others(void)
{
    static struct made_table made;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        char path[PROGRAM_PATH_BYTES];
        struct answer answer;
        check_begin("%s for %s", EXERCISES[OTHERS[i].made].name, EXERCISES[OTHERS[i].asked].name);
        compute(&made, OTHERS[i].made, &RIGHT_WAY);
        ask_why(OTHERS[i].asked, ask_write(&made.view, FULL, path), NULL, "8", &answer);
        const cJSON *first = first_explanation(&answer);
        CHECK(answer.status == 0 && first != NULL && gives(first, &made) &&
                  strstr(text_of(first, "command"), OTHERS[i].option) != NULL,
              "expected a command with %s, got %s", OTHERS[i].option, told(&answer));
        ask_release(&answer);
    }
}

/* --- float16, and what PyTorch calls NaN ------------------------------------------------------------------------- */

/* The last table in float16: what it shows is found all the same. */
static void check_half(const char *name, enum exercise_id id)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    check_begin("%s: %s, a .npy of float16", EXERCISES[id].name, name != NULL ? name : "nothing is wrong");
    compute(&made, id, name != NULL ? &cases_find(name)->way : &RIGHT_WAY);
    const struct question question = {id, ask_write_half(&made.view, path), NULL, {name}, name != NULL, "dtype-"};
    check_named(&question, &answer);
    ask_release(&answer);
}

static void check_halves(void)
{
    check_half(NULL, PLAIN);
    check_half("softmax-queries", PLAIN);
    check_half("groups-tiled", GROUPED);
    check_half("window-left-minus-1", WINDOW);
    check_half(NULL, HALF);
    check_half("bits-key-bf16", HALF);
}

/* The row without keys is NaN in PyTorch, whatever attn was asked for. */
static void check_nan(void)
{
    static struct made_table made;
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    check_begin("%s: mask-hides-own as PyTorch has it", EXERCISES[BOOK].name);
    compute(&made, BOOK_NAN, &cases_find("mask-hides-own")->way);
    const struct question question = {BOOK, ask_write(&made.view, 4, path), NULL, {"mask-hides-own"}, 1, "empty-nan"};
    check_named(&question, &answer);
    ask_release(&answer);
}

/* --- what nobody can explain ------------------------------------------------------------------------------------- */

static void check_unexplained(struct made_table *made, enum exercise_id id, int decimals)
{
    char path[PROGRAM_PATH_BYTES];
    struct answer answer;
    ask_why(id, ask_write(&made->view, decimals, path), NULL, "0.1", &answer); /* that nothing is claimed */
    const cJSON *list = explanations(&answer);
    CHECK(answer.status == 1 && cJSON_IsArray(list) && list->child == NULL, "expected status 1 and [], got %s",
          told(&answer));
    ask_release(&answer);
}

static void check_random(enum exercise_id id, int decimals)
{
    static struct made_table made;
    check_begin("%s: random numbers, %s", EXERCISES[id].name, digits_text(decimals));
    compute(&made, id, &RIGHT_WAY);
    for (size_t i = 0; i < made.count; i++)
        made.numbers[i] = (double)random_below(20000) / 10000 - 1;
    made.view = (struct view){made.numbers, 2, {made.sheet.Tq, made.sheet.D}, {made.sheet.D, 1}};
    check_unexplained(&made, id, decimals);
}

static const struct {
    enum exercise_id id;
    const char *mistakes[ASK_NAMES];
} TOO_MANY[] = {
    {WIDE, {"scale-missing", "mask-mirrored", "out-transposed"}},
    {MODULE, {"matrix-value-transposed", "merge-reversed", "out-bias-missing"}},
    {BOOK, {"softmax-queries", "scale-inverted", "roles-key-for-value"}},
    {KERNEL, {"softcap-missing", "groups-tiled", "window-left-minus-1"}},
};

static void check_too_many(void)
{
    static struct made_table made;
    for (size_t i = 0; i < sizeof TOO_MANY / sizeof *TOO_MANY; i++)
        for (size_t j = 0; j < 2; j++) {
            if (quick && (i > 0 || j > 0))
                continue;
            const char *const *names = TOO_MANY[i].mistakes;
            check_begin("%s: %s, %s, %s, %s", EXERCISES[TOO_MANY[i].id].name, names[0], names[1], names[2],
                        digits_text(DECIMALS[j]));
            make_story(&made, TOO_MANY[i].id, names, 3);
            check_unexplained(&made, TOO_MANY[i].id, DECIMALS[j]);
        }
}

static void check_limits(void)
{
    if (!quick)
        check_random(BOOK, 4);
    check_random(SINGLE, FULL);
    if (!quick)
        check_random(WIDE, 3);
    check_too_many();
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void check_answers(bool all)
{
    if (!ENGINE) {
        check_begin("attn why");
        check_skip("it does not answer yet");
        return;
    }
    check_nothing_wrong(all);
    check_singles(all);
    check_without(all);
    check_ties();
    check_shares();
    check_label();
    check_stories();
    check_settings();
    check_others();
    check_halves();
    if (!quick)
        check_nan();
    check_limits();
}

int main(int argc, char **argv)
{
    const bool pairs = argc == 3 && strcmp(argv[1], "--pairs") == 0;
    quick = getenv("ATTN_QUICK") != NULL;
    if (quick && !pairs)
        puts(
            "ATTN_QUICK: a third of the mistakes, one in 64 of what is left out, one in six of what cannot be seen and of "
            "the settings, pairs without the book's head, three mistakes and random numbers once");
    ask_begin();
    if (!pairs) {
        check_right();
        check_files();
        check_cases();
        check_option();
        check_answers(argc == 2 && strcmp(argv[1], "--all") == 0);
    }
    check_pairs(pairs ? strtoul(argv[2], NULL, 10) : PAIRS_OF_A_SAMPLE);
    ask_end();
    return check_end();
}
