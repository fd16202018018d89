/* SPDX-License-Identifier: MIT */
/* The cases of attn cases: any two features that can meet do so in one, and every mistake that a kernel can make moves a
 * number of one beyond its bound. */
#include "cases/cases.h"
#include "check.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4200, WORDS = 16 };

/* Mistakes that no case shows, and why. */
static const struct {
    const char *name, *why;
} UNSEEN[] = {
    {"scale-d-in", "there are no inputs"},
    {"scale-d-in-over-heads", "there are no inputs"},
    {"roles-inputs-for-value", "there are no inputs"},
    {"roles-one-for-all", "there are no projections"},
    {"empty-zero", "zero is right"},
    {"alibi-not-scaled", "the slopes are not scaled"},
    {"bits-bf16", "it needs float16, and here all is computed in float64"},
    {"bits-query-bf16", "likewise"},
    {"bits-key-bf16", "likewise"},
    {"bits-value-bf16", "likewise"},
    {"grad-dropout-missing", "there is no dropout"},
    {"grad-rope-missing", "there is no rotation"},
    {"grad-rope-forwards", "there is no rotation"},
};

/* Slots of what only a module has; and the dtype, in which a case is not made here: all is computed in float64. */
static const enum mistake_slot OF_MODULES[] = {
    MISTAKE_SLOT_MATRIX,      MISTAKE_SLOT_BIAS,         MISTAKE_SLOT_CLIP,      MISTAKE_SLOT_SPLIT,
    MISTAKE_SLOT_MERGE,       MISTAKE_SLOT_OUT,          MISTAKE_SLOT_NORM,      MISTAKE_SLOT_PACKING,
    MISTAKE_SLOT_ROPE,        MISTAKE_SLOT_QK_NORM,      MISTAKE_SLOT_DROPOUT,   MISTAKE_SLOT_DRAW,
    MISTAKE_SLOT_ROPE_THETA,  MISTAKE_SLOT_ROPE_SCALING, MISTAKE_SLOT_ROWS,      MISTAKE_SLOT_LAYER,
    MISTAKE_SLOT_RELATIVE,    MISTAKE_SLOT_DTYPE,        MISTAKE_SLOT_POSITIONS, MISTAKE_SLOT_RESIDUAL,
    MISTAKE_SLOT_UNEMBEDDING, MISTAKE_SLOT_GROWTH,       MISTAKE_SLOT_GATE,      MISTAKE_SLOT_VALUE_NORM};

static void parse(struct options *options, const char *line)
{
    static char words[LINE_BYTES];
    char *argv[WORDS];
    struct error error = {0};
    int count = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && count < WORDS - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
    CHECK(options_parse(options, count, argv, &error) == STATUS_OK, "%s: %s", line, error.message);
}

/* --- the cover ---------------------------------------------------------------------------------------------------- */

static bool meet(const struct case_list *list, uint64_t pair)
{
    for (size_t i = 0; i < list->count; i++)
        if ((list->rows[i].features & pair) == pair)
            return true;
    return false;
}

static void check_cover(const char *line, size_t most)
{
    struct arena arena = {0};
    struct error error = {0};
    struct case_list list;
    struct options options;
    uint64_t can = 0;
    check_begin("%s: any two features meet", line);
    parse(&options, line);
    if (CHECK(case_list_make(&list, &options, &arena, &error) == STATUS_OK, "%s", error.message)) {
        CHECK(list.count <= most, "%zu cases", list.count);
        for (size_t i = 0; i < list.count; i++)
            can |= list.rows[i].features;
        for (int a = 0; a < CASE_FEATURE_COUNT; a++)
            for (int b = a; b < CASE_FEATURE_COUNT; b++) {
                const uint64_t pair = UINT64_C(1) << a | UINT64_C(1) << b;
                if ((pair & ~can) == 0 && case_features_add(UINT64_C(1) << a, (enum case_feature)b, can) != 0)
                    CHECK(meet(&list, pair), "%s and %s do not", CASE_FEATURE_NAMES[a].name,
                          CASE_FEATURE_NAMES[b].name);
            }
        for (size_t i = 0; i < list.count; i++)
            for (size_t k = 0; k < i; k++)
                CHECK(strcmp(list.rows[i].name, list.rows[k].name) != 0, "two cases are called %s", list.rows[i].name);
    }
    arena_free(&arena);
}

/* --- the mistakes ------------------------------------------------------------------------------------------------- */

/* Whether a number of these results is outside its bound; the right ones are `made`. */
static bool differs(const struct case_made *wrong, const struct case_made *made)
{
    for (size_t i = 0; i < made->count; i++) {
        const struct case_result *result = &made->results[i];
        const double *right = result->truth.data, *theirs = wrong->results[i].truth.data;
        if (!tensor_same_shape(&result->truth, &wrong->results[i].truth))
            continue;
        for (size_t k = 0; k < tensor_count(&result->truth); k++)
            if (right[k] != theirs[k] && !(isnan(right[k]) && isnan(theirs[k])) &&
                !(fabs(right[k] - theirs[k]) <= result->absolute + result->relative * fabs(right[k])))
                return true;
    }
    return false;
}

/* Whether a kernel with that mistake fails the case. */
static bool shows(enum mistake mistake, const struct case_made *made, const struct options *options)
{
    char line[LINE_BYTES];
    struct arena arena = {0};
    struct error error = {0};
    struct case_row row = *made->row;
    struct case_made *wrong = arena_allocate(&arena, 1, sizeof *wrong, &error);
    snprintf(line, sizeof line, "%s --mistake %s", row.options, MISTAKES[mistake].name);
    row.options = line;
    const bool shown =
        wrong != NULL && case_make(wrong, &row, options, &arena, &error) == STATUS_OK && differs(wrong, made);
    arena_free(&arena);
    return shown;
}

/* A key that the mask forbids and a mistake allows has a bound as others have. */
static void check_bounds(const struct case_made *made)
{
    static const char *const NAMES[] = {"attn-mask-added", "attn-mask-inverted"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && case_has(made->row, CASE_MASK); i++) {
        struct arena arena = {0};
        struct error error = {0};
        struct case_made *wrong = arena_allocate(&arena, 1, sizeof *wrong, &error);
        const bool is_made = wrong != NULL && case_make_mistaken(wrong, made, NAMES[i], DTYPE_F64, &arena, &error) == 0;
        CHECK(is_made, "%s, %s: %s", made->row->name, NAMES[i], error.message);
        for (size_t k = 0; k < made->count && is_made; k++)
            CHECK(isfinite(wrong->results[k].absolute), "%s, %s: no bound", made->row->name, NAMES[i]);
        arena_free(&arena);
    }
}

/* Marks the mistakes that these cases show. */
static void find_shown(const char *line, bool shown[MISTAKE_COUNT])
{
    struct arena arena = {0};
    struct error error = {0};
    struct case_list list;
    struct case_sizes sizes;
    struct options options;
    parse(&options, line);
    if (!CHECK(case_list_make(&list, &options, &arena, &error) == STATUS_OK, "%s", error.message))
        return;
    for (size_t i = 0; i < list.count; i++) {
        struct arena of_case = {0};
        struct case_made *made = arena_allocate(&of_case, 1, sizeof *made, &error);
        if (case_sizes_of(&list.rows[i], &options, &sizes) && made != NULL &&
            CHECK(case_make(made, &list.rows[i], &options, &of_case, &error) == STATUS_OK, "%s", error.message))
            for (int id = 0; id < MISTAKE_COUNT; id++)
                shown[id] = shown[id] || shows((enum mistake)id, made, &options);
        if (made != NULL && made->count > 0)
            check_bounds(made);
        arena_free(&of_case);
    }
    arena_free(&arena);
}

static void check_mistakes(bool quick)
{
    bool shown[MISTAKE_COUNT] = {false}, unseen[MISTAKE_COUNT] = {false};
    for (size_t i = 0; i < sizeof UNSEEN / sizeof UNSEEN[0]; i++) {
        const enum mistake id = support_mistake(UNSEEN[i].name, strlen(UNSEEN[i].name));
        check_begin("%s: %s", UNSEEN[i].name, UNSEEN[i].why);
        if (CHECK(id < MISTAKE_COUNT, "is no mistake"))
            unseen[id] = true;
    }
    for (int id = 0; id < MISTAKE_COUNT; id++)
        for (size_t i = 0; i < sizeof OF_MODULES / sizeof OF_MODULES[0]; i++)
            shown[id] = shown[id] || MISTAKES[id].slot == OF_MODULES[i];
    for (int id = 0; id < MISTAKE_COUNT; id++) /* a sample does not look for them in every case */
        shown[id] = shown[id] || (quick && unseen[id]);
    find_shown(quick ? "attn cases --d-head 4 --max-tokens 65 x" : "attn cases --d-head 8 --max-tokens 129 x", shown);
    for (int id = 0; id < MISTAKE_COUNT; id++) {
        check_begin("a case fails with the mistake %s", MISTAKES[id].name);
        CHECK(quick ? shown[id] : shown[id] != unseen[id], unseen[id] ? "it is shown" : "none does");
    }
}

int main(void)
{
    const bool quick = getenv("ATTN_QUICK") != NULL;
    if (quick)
        puts("ATTN_QUICK: cases of 4 columns and at most 65 tokens, not 8 and 129, without the mistakes that none "
             "shows");
    check_cover("attn cases x", 150);
    check_cover("attn cases --can causal,gqa,window,softcap,d-value,grad,sinks,empty,mask x", 150);
    check_cover("attn cases --layout bthd --heads 6 --kv-heads 2 x", 150);
    check_cover("attn cases --layout thd x", 150);
    check_mistakes(quick);
    return check_end();
}
