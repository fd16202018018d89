/* SPDX-License-Identifier: MIT */
#include "cases/case_rows.h"

bool case_features_clash(uint64_t set)
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
            if ((row->any & allowed) >> other & 1 && !case_features_clash(set | UINT64_C(1) << other))
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
        if (set & ~allowed || case_features_clash(set))
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
    for (int a = 0; a < CASE_FEATURE_COUNT; a++)
        for (enum case_feature b = a; b < CASE_FEATURE_COUNT; b++) {
            const bool is_made = made[a] >> b & 1;
            const uint64_t set = is_made ? 0 : case_features_add(UINT64_C(1) << a, b, allowed);
            if (set != 0)
                return set;
        }
    return 0;
}

size_t case_features_cover(uint64_t allowed, const uint64_t *given, size_t given_count, size_t most, uint64_t *sets,
                           size_t room)
{
    uint64_t made[CASE_FEATURE_COUNT] = {0}, set;
    size_t count = 0;
    for (size_t i = 0; i < given_count; i++)
        mark(made, given[i]);
    while (count < room && (set = first_pair(made, allowed)) != 0) {
        for (uint64_t best = set; best != 0;) {
            int pairs = new_pairs(made, set = best);
            best = 0;
            for (enum case_feature id = 0; id < CASE_FEATURE_COUNT; id++) {
                const uint64_t more = case_features_add(set, id, allowed);
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
