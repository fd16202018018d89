/* SPDX-License-Identifier: MIT */
#include "layer/facts.h"

#include <string.h>

const char *layer_fact_source_word(enum fact_source source)
{
    static const char *const WORDS[] = {FACT_SOURCES(CHOICE_WORD)};
    return WORDS[source];
}

/* The index of that setting, or the count. */
static size_t find_place(const struct layer_facts *facts, const char *setting)
{
    size_t i = 0;
    while (i < facts->count && strcmp(facts->facts[i].setting, setting) != 0)
        i++;
    return i;
}

const struct layer_fact *layer_facts_find(const struct layer_facts *facts, const char *setting)
{
    const size_t place = find_place(facts, setting);
    return place < facts->count ? &facts->facts[place] : NULL;
}

enum status layer_facts_add(struct layer_facts *facts, const struct layer_fact *fact, struct arena *arena,
                            struct error *error)
{
    const size_t place = find_place(facts, fact->setting);
    if (place < facts->count && facts->facts[place].source > fact->source)
        return STATUS_OK;
    if (place == LAYER_FACTS)
        return error_system(error, 0, "more than %d settings of a layer", LAYER_FACTS);
    struct layer_fact kept = *fact;
    kept.text = arena_copy(arena, fact->text, error);
    kept.key = fact->key != NULL ? arena_copy(arena, fact->key, error) : NULL;
    if (kept.text == NULL || (fact->key != NULL && kept.key == NULL))
        return error->status;
    facts->facts[place] = kept;
    facts->count += place == facts->count;
    return STATUS_OK;
}
