/* SPDX-License-Identifier: MIT */
/* A checkpoint with its config, open for reading: what layer.c and listing.c share. */
#ifndef ATTN_LAYER_READING_H
#define ATTN_LAYER_READING_H

#include "layer/config.h"
#include "layer/layer.h"
#include "layer/unpack.h"

struct reading {
    const struct options *options;
    struct checkpoint checkpoint;
    struct module_list modules;
    struct config config;
    const char *config_path; /* NULL where there is none */
    struct arena *arena;
    struct error *error;
};

/* Opens what the options name. reading_end releases the config, in any case. STATUS_SYSTEM and STATUS_USAGE as
 * layer_read. */
enum status reading_begin(struct reading *reading, const struct options *options, struct arena *arena,
                          struct error *error);
void reading_end(struct reading *reading);

/* Whether the command line or a file sets the option. */
bool reading_is_told(const struct reading *reading, enum option_id id);

/* The family of a module's part, and how many heads it has: of query 0 where nobody says it. */
enum status reading_heads(const struct reading *reading, const struct layer_module *module,
                          const struct family_row **family, struct unpack_plan *plan, struct layer_facts *facts);

/* All other facts of a module whose query heads have `columns` columns. */
enum status reading_facts(const struct reading *reading, const struct layer_module *module,
                          const struct family_row *family, size_t columns, struct layer_facts *facts);

/* Adds what there is to say of a module whose family is known, each sentence once; texts live in the arena. Searches a
 * part of the config for the first of its modules only, and the folder for the first of all. */
enum status layer_warn(const struct reading *reading, const struct layer_module *module,
                       const struct family_row *family, struct layer_warnings *warnings);

#endif
