/* SPDX-License-Identifier: MIT */
/* The cases of some options: the rows made by hand, and those of the cover, each with its sizes and options. */
#include "cases/cases.h"

#include "base/suggest.h"

#include <string.h>

enum {
    MOST_ROWS = 150,
    LEAST_TOKENS = 12, /* of a row of the cover: more than a window has */
};

/* --- the cover ---------------------------------------------------------------------------------------------------- */

/* Whether one of them excludes another. */
static bool features_clash(uint64_t set)
{
    for (int id = 0; id < CASE_FEATURE_COUNT; id++)
        if (set >> id & 1 && set & CASE_FEATURE_ROWS[id].excludes)
            return true;
    return false;
}

/* What the set lacks: features that one of it needs, and the first of a choice that fits. 0: nothing. */
static uint64_t lacking(uint64_t set, uint64_t allowed)
{
    for (int id = 0; id < CASE_FEATURE_COUNT; id++) {
        const struct case_feature_row *row = &CASE_FEATURE_ROWS[id];
        const uint64_t needed = row->needs & ~set;
        if (!(set >> id & 1))
            continue;
        if (needed != 0)
            return needed;
        if (row->any == 0 || row->any & set)
            continue;
        for (int other = 0; other < CASE_FEATURE_COUNT; other++)
            if ((row->any & allowed) >> other & 1 && !features_clash(set | UINT64_C(1) << other))
                return UINT64_C(1) << other;
        return ~UINT64_C(0);
    }
    return 0;
}

uint64_t case_features_add(uint64_t set, enum case_feature feature, uint64_t allowed)
{
    uint64_t lacks = UINT64_C(1) << feature;
    for (; lacks != 0; lacks = lacking(set, allowed)) {
        set |= lacks;
        if (set & ~allowed || features_clash(set))
            return 0;
    }
    return set;
}

static int size_of(uint64_t set)
{
    int size = 0;
    for (; set != 0; set &= set - 1)
        size++;
    return size;
}

/* Marks all pairs of the set as made, each feature also with itself. */
static void mark(uint64_t made[CASE_FEATURE_COUNT], uint64_t set)
{
    for (int id = 0; id < CASE_FEATURE_COUNT; id++)
        if (set >> id & 1)
            made[id] |= set;
}

static int new_pairs(const uint64_t made[CASE_FEATURE_COUNT], uint64_t set)
{
    int pairs = 0;
    for (int id = 0; id < CASE_FEATURE_COUNT; id++)
        if (set >> id & 1)
            pairs += size_of(set & ~made[id]);
    return pairs;
}

/* The set of the first pair that no set has; 0: all are made. */
static uint64_t first_pair(const uint64_t made[CASE_FEATURE_COUNT], uint64_t allowed)
{
    for (enum case_feature a = 0; a < CASE_FEATURE_COUNT; a++)
        for (enum case_feature b = a; b < CASE_FEATURE_COUNT; b++) {
            const bool is_made = made[a] >> b & 1;
            const uint64_t set = is_made ? 0 : case_features_add(UINT64_C(1) << a, b, allowed);
            if (set != 0)
                return set;
        }
    return 0;
}

/* What many kernels lack. */
static const uint64_t RARE = CASE_BIT(CHUNK) | CASE_BIT(PREFIX) | CASE_BIT(DOCUMENTS) | CASE_BIT(PAGES) |
                             CASE_BIT(PAST) | CASE_BIT(GRAD);

/* Writes sets of at most `most` features such that any two that can meet do so in one of them, or in one of `given`,
 * and each is in one. Greedy: each set begins with the first pair that is left, and takes the feature that makes most
 * new pairs. RARE ones join when all others have met. Returns how many, in sets (room). */
static size_t cover(uint64_t allowed, const uint64_t *given, size_t given_count, size_t most, uint64_t *sets,
                    size_t room)
{
    uint64_t made[CASE_FEATURE_COUNT] = {0}, set, from = allowed & ~RARE;
    size_t count = 0;
    for (size_t i = 0; i < given_count; i++)
        mark(made, given[i]);
    while (count < room && ((set = first_pair(made, from)) != 0 || (set = first_pair(made, from = allowed)) != 0)) {
        for (uint64_t best = set; best != 0;) {
            int pairs = new_pairs(made, set = best);
            best = 0;
            for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
                const uint64_t more = case_features_add(set, id, from);
                if (more == 0 || (size_t)size_of(more) > most || new_pairs(made, more) <= pairs)
                    continue;
                best = more;
                pairs = new_pairs(made, more);
            }
        }
        mark(made, set);
        sets[count++] = set;
    }
    return count;
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

/* Whether the list, names separated by commas, has that name. */
static bool lists(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *item = list; item != NULL;) {
        if (strncmp(item, name, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
        const char *comma = strchr(item, ',');
        item = comma != NULL ? comma + 1 : NULL;
    }
    return false;
}

/* The features that every case has by these options, whatever its layout. */
static uint64_t given_features(const struct options *options)
{
    const uint64_t heads = options->heads, kv_heads = options->kv_heads, d_value = options->d_value;
    return (kv_heads == 0 || kv_heads == heads ? 0
            : kv_heads == 1                    ? CASE_BIT(MQA)
                                               : CASE_BIT(GQA)) |
           (d_value == 0 || d_value == options->d_head ? 0 : CASE_BIT(D_VALUE));
}

/* Those that no case can have. */
static uint64_t impossible_features(const struct options *options)
{
    const uint64_t shared = CASE_BIT(GQA) | CASE_BIT(MQA);
    return (options->kv_heads > 0 ? shared & ~given_features(options) : 0) |
           (options->d_value > 0 ? CASE_BIT(D_VALUE) & ~given_features(options) : 0) |
           (options->layout == CASE_LAYOUT_BTHD ? CASE_BIT(PAST) : 0);
}

/* Adds the features that the options say; false where they do not fit. */
static bool add_features(struct case_row *row, const struct options *options)
{
    if (row->features & impossible_features(options))
        return false;
    if (row->odd_heads && options->kv_heads > 0 && options->heads / 2 * 3 % options->kv_heads != 0)
        return false;
    if (case_has(row, CASE_MERGE))
        return true;
    row->features |= given_features(options);
    if (options->layout == CASE_LAYOUT_THD && !case_has(row, CASE_PACKED)) {
        row->features |= CASE_BIT(PACKED);
        row->one_sequence = !case_has(row, CASE_PAGES);
    }
    return !features_clash(row->features);
}

/* The sizes that the features say. */
static void add_sizes(struct case_row *row)
{
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
        const struct case_feature_row *feature = &CASE_FEATURE_ROWS[id];
        if (!case_has(row, id) || (id == CASE_PACKED && row->one_sequence))
            continue;
        row->items = feature->items > 0 ? feature->items : row->items;
        row->exact = row->exact || feature->exact;
        row->keys = (feature->exact && row->keys % feature->keys != 0) || row->keys == 0 ? feature->keys : row->keys;
        row->queries = row->queries == 0 ? feature->queries : row->queries;
    }
    if (!case_has(row, CASE_PACKED) || row->one_sequence)
        return;
    if (case_has(row, CASE_PAGES)) {
        row->queries *= row->items;
        row->items = 1;
        row->keys = case_has(row, CASE_EMPTY) ? CASE_PAGED_KEYS_EMPTY : CASE_PAGED_KEYS;
    } else {
        row->queries =
            row->features & (CASE_BIT(CROSS) | CASE_BIT(TOP_LEFT) | CASE_BIT(OFFSET)) ? CASE_APART_QUERIES : row->keys;
    }
}

/* Joins the options of the features and of the row, which come instead; with heads packed, how many there are. */
static const char *join_options(const struct case_row *row, const struct options *options, struct arena *arena,
                                struct error *error)
{
    char line[CASES_LINE_BYTES] = "";
    struct text text = text_begin(line, sizeof line);
    struct case_sizes sizes;
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
        const char *option = case_has(row, id) ? CASE_FEATURE_ROWS[id].options : NULL;
        const bool is_default = id == (case_has(row, CASE_PACKED) ? CASE_OFFSET : CASE_TOP_LEFT);
        const size_t name = option != NULL ? strcspn(option, " ") : 0;
        if (option != NULL && !is_default && (row->options == NULL || strncmp(option, row->options, name) != 0))
            text_add(&text, " %s", option);
    }
    if (row->options != NULL)
        text_add(&text, " %s", row->options);
    if (case_heads_last(row, options) && !case_has(row, CASE_PACKED) && !case_has(row, CASE_PAGES) &&
        case_sizes_of(row, options, &sizes)) {
        text_add(&text, " --heads %zu", sizes.heads);
        if (sizes.kv_heads != sizes.heads)
            text_add(&text, " --kv-heads %zu", sizes.kv_heads);
    }
    return arena_copy(arena, line[0] != '\0' ? line + 1 : line, error);
}

/* Adds a row to the list, unless these options leave it out. */
static enum status add(struct case_list *list, struct case_row *rows, const struct case_row *from,
                       const struct options *options, struct arena *arena, struct error *error)
{
    struct case_row row = *from;
    if (!add_features(&row, options) || (options->only != NULL && !lists(options->only, row.name)))
        return STATUS_OK;
    add_sizes(&row);
    row.options = join_options(&row, options, arena, error);
    rows[list->count++] = row;
    return row.options != NULL ? STATUS_OK : error->status;
}

/* The features without those that the others bring along. */
static uint64_t without_implied(uint64_t set)
{
    uint64_t named = set;
    for (int id = 0; id < CASE_FEATURE_COUNT; id++) {
        const uint64_t others = named & ~(UINT64_C(1) << id);
        for (enum case_feature other = 0; other < CASE_FEATURE_COUNT && others != named; other++)
            if (others >> other & 1 && case_features_add(others, other, ~UINT64_C(0)) == set) {
                named = others;
                break;
            }
    }
    return named;
}

/* Names a row of the cover by its features, "gqa+window" for causal as well, and says its purpose. */
static enum status describe(struct case_row *row, struct arena *arena, struct error *error)
{
    char name[CASES_LINE_BYTES], purpose[CASES_LINE_BYTES];
    struct text names = text_begin(name, sizeof name), words = text_begin(purpose, sizeof purpose);
    const uint64_t named = without_implied(row->features);
    const char *between = "";
    text_add(&words, "together: ");
    for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
        if (!case_has(row, id))
            continue;
        if (named >> id & 1) {
            text_add(&names, "%s%s", between, CASE_FEATURE_NAMES[id].name);
            between = "+";
        }
        text_add(&words, "%s%s", row->features & ((UINT64_C(1) << id) - 1) ? ", " : "", CASE_FEATURE_NAMES[id].words);
    }
    row->name = arena_copy(arena, name, error);
    row->purpose = arena_copy(arena, purpose, error);
    return row->name != NULL && row->purpose != NULL ? STATUS_OK : error->status;
}

/* The features that a row of the cover may have: a row of each alone has sizes. */
static uint64_t coverable(const struct options *options, uint64_t can)
{
    uint64_t allowed = 0;
    for (int id = 0; id < CASE_FEATURE_COUNT; id++) {
        struct case_row row = {.features = UINT64_C(1) << id, .keys = LEAST_TOKENS, .least = LEAST_TOKENS};
        struct case_sizes sizes;
        if (!(can & row.features) || id == CASE_MERGE || !add_features(&row, options))
            continue;
        add_sizes(&row);
        if (case_sizes_of(&row, options, &sizes) && (id != CASE_MASK_HEADS || sizes.heads > 1))
            allowed |= UINT64_C(1) << id;
    }
    return allowed & ~given_features(options);
}

/* Adds the rows of the cover, whose lengths are at several remainders of tiles. */
static enum status add_cover(struct case_list *list, struct case_row *rows, const struct options *options, uint64_t can,
                             struct arena *arena, struct error *error)
{
    static const size_t KEYS[] = {50, 33, 100, 40, 65};
    uint64_t sets[MOST_ROWS] = {0}, given[MOST_ROWS];
    const uint64_t allowed = coverable(options, can);
    const size_t room = MOST_ROWS - 1 - CASES_COUNT;
    size_t given_count = 0, count = MOST_ROWS;
    struct case_sizes sizes;
    for (size_t i = 0; i < CASES_COUNT; i++) {
        struct case_row row = CASES[i];
        if (!(row.features & ~can) && add_features(&row, options) && case_sizes_of(&row, options, &sizes))
            given[given_count++] = CASES[i].features;
    }
    /* as few features in a row as the number of rows allows: it shows best which of them fails */
    for (size_t most = 2; most <= CASE_FEATURE_COUNT && count > room; most++)
        count = cover(allowed, given, given_count, most, sets, room + 1);
    for (size_t i = 0; i < count; i++) {
        struct case_row row = {
            .features = sets[i], .keys = KEYS[i % (sizeof KEYS / sizeof KEYS[0])], .least = LEAST_TOKENS};
        if (describe(&row, arena, error) || add(list, rows, &row, options, arena, error))
            return error->status;
    }
    return STATUS_OK;
}

/* Rejects a name of --only that no case has. */
static enum status check_only(const struct case_list *list, const char *only, struct arena *arena, struct error *error)
{
    char *names = arena_copy(arena, only, error), *rest = NULL;
    if (names == NULL)
        return error->status;
    for (char *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
        const char *known[MOST_ROWS];
        bool listed = false, exists = false;
        for (size_t i = 0; i < list->count; i++)
            listed = listed || strcmp(list->rows[i].name, name) == 0;
        for (size_t i = 0; i < CASES_COUNT; i++) {
            known[i] = CASES[i].name;
            exists = exists || strcmp(CASES[i].name, name) == 0;
        }
        if (!listed && exists)
            return error_usage(error, "--only: the other options leave out '%s', such as --can", name);
        if (!listed)
            return error_usage(error, "--only: '%.80s' is no case%s; without --only, %s lists them", name,
                               suggest_hint((char[120]){0}, 120, "", name, known, CASES_COUNT), CASES_INDEX);
    }
    return list->count > 0 ? STATUS_OK : error_usage(error, "--only '%.80s' names no case", only);
}

enum status case_list_make(struct case_list *list, const struct options *options, struct arena *arena,
                           struct error *error)
{
    struct case_row *rows = arena_allocate(arena, MOST_ROWS, sizeof *rows, error);
    uint64_t can = options->can == NULL ? ~UINT64_C(0) : 0;
    *list = (struct case_list){.rows = rows};
    if (rows == NULL)
        return error->status;
    for (int id = 0; id < CASE_FEATURE_COUNT && options->can != NULL; id++)
        can |= lists(options->can, CASE_FEATURE_NAMES[id].name) ? UINT64_C(1) << id : 0;
    can |= given_features(options) | (options->layout == CASE_LAYOUT_THD ? CASE_BIT(PACKED) : 0);
    for (size_t i = 0; i < CASES_COUNT; i++)
        if (!(CASES[i].features & ~can) && add(list, rows, &CASES[i], options, arena, error) != STATUS_OK)
            return error->status;
    if (add_cover(list, rows, options, can, arena, error) != STATUS_OK)
        return error->status;
    return options->only != NULL ? check_only(list, options->only, arena, error) : STATUS_OK;
}
