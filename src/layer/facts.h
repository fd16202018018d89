/* SPDX-License-Identifier: MIT */
/* The settings of a module, as options and results write them, with their sources. */
#pragma once

#include "base/choice.h"
#include "base/memory.h"

#include <stddef.h>

/* The source of a fact, and its word in tables of facts. A later source in this list overrules an earlier one. */
#define FACT_SOURCES(ROW)        \
    ROW(FACT_DEFAULT, "default") \
    ROW(FACT_ROW, "family")      \
    ROW(FACT_CONFIG, "config")   \
    ROW(FACT_TENSORS, "tensors") \
    ROW(FACT_OPTION, "option")

enum fact_source { FACT_SOURCES(CHOICE_ID) FACT_SOURCE_COUNT };

struct layer_fact {
    const char *setting; /* the setting's name: "rope_theta" */
    const char *text;    /* its value, as its option takes it: "500000" */
    enum fact_source source;
    const char *key; /* its origin: "rope_parameters.rope_theta", the name of a tensor or family; or NULL */
};

enum { LAYER_FACTS = 40 };

/* In the order of their addition, each setting once. Starts as {0}. */
struct layer_facts {
    struct layer_fact facts[LAYER_FACTS];
    size_t count;
};

/* Adds a fact, or replaces that of the same setting unless its source overrules. Copies text and key into the arena,
 * but not the setting's name. STATUS_SYSTEM where memory is short. */
enum status layer_facts_add(struct layer_facts *facts, const struct layer_fact *fact, struct arena *arena,
                            struct error *error);

/* The fact of that setting, or NULL. */
const struct layer_fact *layer_facts_find(const struct layer_facts *facts, const char *setting);

/* "config", "tensors": the word of a source. */
const char *layer_fact_source_word(enum fact_source source);
