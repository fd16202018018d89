/* SPDX-License-Identifier: MIT */
/* Mistakes of slot pages: which pages of the caches an item reads, and how far. */
#include "mistake/recipe.h"

#include <stdlib.h>
#include <string.h>

static const char NO_PAGES[] = "there are no pages";
static const char IN_SEQUENCE[] = "keys of packed sequences are contiguous";

/* --- key and value read otherwise -------------------------------------------------------------------------------- */

/* A way to read pages: the table, and the length of each item. */
struct reading {
    int64_t *table;   /* (items, per_item) */
    int64_t *lengths; /* (items) */
};

/* Copies the right table and lengths; false if out of memory. */
static bool begin(struct recipe *recipe, struct reading *reading)
{
    const struct problem_pages *pages = recipe->problem.given.pages;
    const size_t entries = pages->items * pages->per_item;
    reading->table = arena_allocate(recipe->arena, entries, sizeof *reading->table, recipe->error);
    reading->lengths = arena_allocate(recipe->arena, pages->items, sizeof *reading->lengths, recipe->error);
    if (reading->table == NULL || reading->lengths == NULL)
        return false;
    memcpy(reading->table, pages->table, entries * sizeof *reading->table);
    for (size_t item = 0; item < pages->items; item++)
        reading->lengths[item] = (int64_t)pages->lengths[item];
    return true;
}

/* Makes the job `keys` keys long, without their labels, unless an input depends on the number of keys. */
static const char *make_longer(struct recipe *recipe, size_t keys)
{
    struct problem *problem = &recipe->problem;
    if (keys <= problem->size.keys)
        return NULL;
    if (problem->mask.attn_mask.rank > 0 || problem->rotation.rope.kind != ROPE_NONE)
        return "attn_mask or the rotation depends on the number of keys";
    problem->size.keys = problem->mask.keys = problem->mask.masked_keys = keys;
    problem->labels.keys = (struct token_labels){0};
    return NULL;
}

static enum status read_operand(struct recipe *recipe, const struct reading *reading, enum projection_id id)
{
    const struct problem *problem = &recipe->problem;
    const struct problem_pages *pages = problem->given.pages;
    const struct tensor *cache = &pages->caches[id];
    const size_t heads = problem->size.kv_heads, d = cache->shape[3],
                 shape[] = {problem->size.items, heads, problem->size.keys, d};
    struct tensor made;
    double *row = arena_allocate(recipe->arena, d, sizeof *row, recipe->error);
    if (row == NULL || tensor_create(&made, problem->given.operands[id].dtype, 4, shape, recipe->arena, recipe->error))
        return recipe->error->status;
    memset(made.data, 0, tensor_count(&made) * dtype_size(made.dtype));
    for (size_t item = 0; item < pages->items; item++)
        for (size_t i = 0; i < (size_t)reading->lengths[item] * heads; i++) {
            const size_t head = i % heads, token = i / heads;
            const size_t page = (size_t)reading->table[item * pages->per_item + token / pages->size];
            const size_t matrix = pages->starts != NULL ? head : item * heads + head;
            const size_t at = pages->starts != NULL ? (size_t)pages->starts[item] + token : token;
            tensor_load(cache, ((page * pages->size + token % pages->size) * heads + head) * d, d, row);
            dtype_round(problem->rounding.dtype, row, d);
            tensor_store(&made, (matrix * problem->size.keys + at) * d, d, row);
        }
    recipe->problem.given.operands[id] = made;
    return STATUS_OK;
}

/* Whether all pages to read exist. */
static bool are_there(const struct problem *problem, const struct reading *reading)
{
    const struct problem_pages *pages = problem->given.pages;
    for (size_t item = 0; item < pages->items; item++)
        for (size_t at = 0; at < pages->per_item; at++) {
            const int64_t page = reading->table[item * pages->per_item + at];
            if (at * pages->size < (size_t)reading->lengths[item] && (page < 0 || page >= (int64_t)pages->count))
                return false;
        }
    return true;
}

/* Reads key and value; changes their formulas, unless only lengths differ. */
static const char *read_all(struct recipe *recipe, const struct reading *reading, const char *formula)
{
    size_t keys = 0;
    for (size_t item = 0; item < recipe->problem.given.pages->items && recipe->problem.given.pages->starts == NULL;
         item++)
        keys = memory_larger(keys, (size_t)reading->lengths[item]);
    if (!are_there(&recipe->problem, reading))
        return "the caches have fewer pages";
    const char *reason = make_longer(recipe, keys);
    if (reason != NULL)
        return reason;
    for (enum projection_id id = PROJECTION_KEY; id <= PROJECTION_VALUE; id++) {
        if (read_operand(recipe, reading, id) != STATUS_OK)
            return NULL;
        if (formula != NULL)
            recipe_tells(recipe, recipe_projected(recipe, id), formula);
    }
    return NULL;
}

const char *recipe_read_pages(struct recipe *recipe, const int64_t *lengths)
{
    const struct problem_pages *pages = recipe->problem.given.pages;
    struct reading reading;
    if (pages == NULL || lengths == NULL || !begin(recipe, &reading))
        return NULL;
    for (size_t item = 0; item < recipe->problem.size.items; item++)
        if ((size_t)lengths[item] > pages->per_item * pages->size)
            return "the item's last page is full, and block_table has no other";
    memcpy(reading.lengths, lengths, recipe->problem.size.items * sizeof *lengths);
    return read_all(recipe, &reading, NULL);
}

/* --- another table ----------------------------------------------------------------------------------------------- */

/* Changes the table, or says why it cannot; `form` is the mistake's. */
typedef const char *change_table(const struct problem_pages *pages, const struct reading *reading, double form);

static const char *read_by(struct recipe *recipe, change_table *change, const char *formula)
{
    const struct problem_pages *pages = recipe->problem.given.pages;
    struct reading reading;
    if (pages == NULL)
        return NO_PAGES;
    if (!begin(recipe, &reading))
        return NULL;
    const char *reason = change(pages, &reading, recipe->form);
    return reason != NULL ? reason : read_all(recipe, &reading, formula);
}

static const char *make_stale(const struct problem_pages *pages, const struct reading *reading, double form)
{
    const double count = (double)pages->count;
    if (form >= (double)(pages->items * pages->per_item) * count)
        return "block_table has fewer entries";
    const size_t entry = (size_t)(form / count);
    const int64_t page = (int64_t)(form - (double)entry * count);
    if (entry % pages->per_item * pages->size >= pages->lengths[entry / pages->per_item])
        return "that entry is not read";
    if (pages->table[entry] == page)
        return "that entry already names that page";
    reading->table[entry] = page;
    return NULL;
}

CHANGE(PAGES_STALE, read_by(recipe, make_stale, "from the pages, with one stale entry of block_table"))

/* The forms: block_table's columns for each item, or the pages of each. */
static const char *count_on(const struct problem_pages *pages, const struct reading *reading, double form)
{
    int64_t next = 0;
    for (size_t i = 0; i < pages->items * pages->per_item; i++) {
        const bool used = i % pages->per_item * pages->size < (size_t)reading->lengths[i / pages->per_item];
        reading->table[i] = form == 0 ? (int64_t)i : next;
        next += used;
    }
    return NULL;
}

CHANGE(PAGES_IN_ORDER, read_by(recipe, count_on, "from the pages, in the order of the batch"))

static int compare_pages(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return one < other ? -1 : one > other;
}

static const char *sort(const struct problem_pages *pages, const struct reading *reading, double form)
{
    (void)form;
    for (size_t item = 0; item < pages->items; item++)
        qsort(reading->table + item * pages->per_item, ((size_t)reading->lengths[item] + pages->size - 1) / pages->size,
              sizeof *reading->table, compare_pages);
    return NULL;
}

CHANGE(PAGES_SORTED, read_by(recipe, sort, "from the pages, each item's in ascending order"))

static const char *take_other(const struct problem_pages *pages, const struct reading *reading, double form)
{
    const size_t items = pages->items, entries = pages->per_item;
    if (form >= (double)items)
        return items == 1 ? "there is one item" : "there are fewer items";
    for (size_t item = 0; item < items; item++)
        memcpy(reading->table + item * entries, pages->table + (item + (size_t)form) % items * entries,
               entries * sizeof *reading->table);
    return NULL;
}

CHANGE(PAGES_OTHER_ITEM, read_by(recipe, take_other, "from the pages of another item's row of block_table"))

/* --- how far they are read --------------------------------------------------------------------------------------- */

static void end_with_page(struct recipe_mask *mask)
{
    mask->limit = (mask->limit + mask->page - 1) / mask->page * mask->page;
}

/* Rounds lengths to full pages, the last one counted or not. False with *reason if impossible; a NULL reason: out of
 * memory. */
static bool begin_whole_pages(struct recipe *recipe, struct reading *reading, bool counted, const char **reason)
{
    const struct problem *problem = &recipe->problem;
    bool full = true;
    *reason = problem->given.pages == NULL ? NO_PAGES : problem->given.pages->starts != NULL ? IN_SEQUENCE : NULL;
    if (*reason != NULL || !begin(recipe, reading))
        return false;
    const int64_t size = (int64_t)problem->given.pages->size;
    for (size_t item = 0; item < problem->size.items; item++) {
        const int64_t rest = reading->lengths[item] % size;
        full = full && rest == 0;
        reading->lengths[item] += rest == 0 ? 0 : counted ? size - rest : -rest;
    }
    *reason = full ? "every page is full" : NULL;
    return !full;
}

/* The forms: queries are the last of those, or keep their positions. */
CHANGE_BY(PAGES_TAIL_COUNTED)
{
    struct reading reading;
    const char *reason;
    if (!begin_whole_pages(recipe, &reading, true, &reason))
        return reason;
    reason = read_all(recipe, &reading, NULL);
    if (reason != NULL)
        return reason;
    if (form == 0)
        problem->mask.lengths = reading.lengths;
    else
        recipe->rules[recipe->rule_count++] = (struct recipe_rule){.place = end_with_page};
    return recipe_tells(recipe, STAGE_MASKED, ", -inf after the last page");
}

CHANGE_BY(PAGES_LAST_MISSING)
{
    struct reading reading;
    const char *reason;
    if (!begin_whole_pages(recipe, &reading, false, &reason))
        return reason;
    mask->lengths = reading.lengths;
    return NULL;
}
