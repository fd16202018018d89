/* SPDX-License-Identifier: MIT */
/* What json.c shares with safetensors.c, whose header is JSON too: cJSON trees, and tokens and
 * settings, which are JSON in both formats. */
#ifndef ATTN_READ_JSON_TREE_H
#define ATTN_READ_JSON_TREE_H

#include "read/input_file.h"
#include "read/json_arrays.h"

#include <cjson/cJSON.h>

/* What messages name, and where memory comes from. */
struct json_reader {
    const char *source, *key;
    struct arena *arena;   /* the input's */
    struct arena *scratch; /* gone once the file has been read */
    struct error *error;
    bool special;               /* the present tensor may hold what is not finite */
    bool boolean;               /* it is boolean */
    bool sole;                  /* diff: the file has one tensor */
    struct json_arrays *arrays; /* what is taken out of the tree, or NULL */
};

/* Holds text[0 .. length), which text[length] == '\0' ends and which is changed on the way, to the grammar and builds
 * its tree, which the caller deletes. `source` stands for the text in messages. NULL where the grammar does not hold
 * (STATUS_USAGE) or memory is short (STATUS_SYSTEM). */
cJSON *json_parse(const struct json_reader *reader, const char *source, char *text, size_t length);

/* "a number", "an object". */
const char *json_kind_name(const cJSON *item);

/* How many members or elements it has. */
size_t json_count(const cJSON *item);

/* STATUS_USAGE "source: WHEREkey 'name' is given twice; expected it once". */
enum status json_check_repeated(const struct json_reader *reader, const cJSON *object, const char *where);

/* The value of "tokens" or "key_tokens", as `name` says, into the labels, and of "settings" into the input.
 * STATUS_USAGE where they are not what they are to be. */
enum status json_read_tokens(const struct json_reader *reader, const cJSON *item, const char *name,
                             struct token_labels *labels);
enum status json_read_settings(const struct json_reader *reader, const cJSON *object, struct input_file *input);

#endif
