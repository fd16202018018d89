/* SPDX-License-Identifier: MIT */
/* The ways of naming an attention module's tensors, from naming_rows.h; for this room only. */
#pragma once

#include "model/packing.h"

#include <stdbool.h>
#include <stddef.h>

/* The role of a tensor, and attn's name: "W_query" for "W_query.weight" and "W_query.bias". */
#define NAMING_ROLES(ROW)                       \
    ROW(QUERY, query, "W_query")                \
    ROW(KEY, key, "W_key")                      \
    ROW(VALUE, value, "W_value")                \
    ROW(KEY_VALUE, key_value, "key_value_proj") \
    ROW(PACKED, packed, "in_proj")              \
    ROW(QUERY_A, query_a, "W_query_a")          \
    ROW(QUERY_B, query_b, "W_query_b")          \
    ROW(LATENT_A, latent_a, "W_key_value_a")    \
    ROW(LATENT_B, latent_b, "W_key_value_b")    \
    ROW(KEY_B, key_b, "W_key_b")                \
    ROW(VALUE_B, value_b, "W_value_b")          \
    ROW(OUT, out, "out_proj")

#define NAMING_ROLE_ID(id, field, standard) ROLE_##id,
enum naming_role { NAMING_ROLES(NAMING_ROLE_ID) ROLE_COUNT };

/* Lists of words as in naming_rows.h, or NULL. */
struct naming_row {
#define NAMING_ROLE_FIELD(id, field, standard) const char *field;
    NAMING_ROLES(NAMING_ROLE_FIELD)
    const char *joint, *norm, *passed, *own, *config, *family;
    enum packing packing;
    bool conv1d, reordered;
};

extern const struct naming_row NAMINGS[];
extern const size_t NAMING_COUNT;

/* The words of a role, or NULL; attn's name for it. */
const char *naming_words(const struct naming_row *naming, enum naming_role role);
const char *naming_standard(enum naming_role role);

/* The role to search first: one that no other kind of module has. */
enum naming_role naming_anchor(const struct naming_row *naming);

/* Why attn does not compute a module with a tensor of that name, or NULL. */
const char *naming_refused(const char *name);

/* What a layer with a tensor of that name has in place of a softmax, "linear attention"; or NULL. */
const char *naming_without_softmax(const char *name);

/* What separates the name of a role from "weight" or "bias". */
const char *naming_joint(const struct naming_row *naming, enum naming_role role);
