/* SPDX-License-Identifier: MIT */
/* cJSON trees, tokens and settings, for json.c and for safetensors.c, whose header is JSON too. */
#pragma once

#include "read/input_file.h"
#include "read/json_arrays.h"

#include <cjson/cJSON.h>

/* Names for messages, and arenas. */
struct json_reader {
    const char *source, *key;
    struct arena *arena;   /* the input's */
    struct arena *scratch; /* freed after reading the file */
    struct error *error;
    bool special;               /* the present tensor may have numbers that are not finite */
    bool boolean;               /* it is boolean */
    bool sole;                  /* diff: the file has one tensor */
    struct json_arrays *arrays; /* arrays that are not in the tree, or NULL */
    struct json_array *taken;   /* that of the present member; NULL: its value is in the tree */
};

/* STATUS_USAGE "source: key: ..." with a printf-like message. */
enum status json_wrong(const struct json_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks the grammar of text[0 .. length), ended by text[length] == '\0', changes it, and builds its tree, which the
 * caller deletes. Messages call it `source`. NULL where the grammar is wrong (STATUS_USAGE) or memory is short
 * (STATUS_SYSTEM). */
cJSON *json_parse(const struct json_reader *reader, const char *source, char *text, size_t length);

/* "a number", "an object". */
const char *json_kind_name(const cJSON *item);

/* How many members or elements it has. */
size_t json_count(const cJSON *item);

/* STATUS_USAGE "source: WHEREkey 'name' is given twice; expected it once". */
enum status json_check_repeated(const struct json_reader *reader, const cJSON *object, const char *where);

/* Read the value of "tokens" or "key_tokens" into the labels, and of "settings" or "options" into a list, by `name`.
 * STATUS_USAGE where the value has the wrong form. */
enum status json_read_tokens(const struct json_reader *reader, const cJSON *item, const char *name,
                             struct token_labels *labels);
/* Reads "vocabulary": {"words": [...], "embedding": [[...]], "position_embedding": [[...]]}, the words alone unless
 * `tensors`, for which the input then has room. STATUS_USAGE where the value has the wrong form. */
enum status json_read_vocabulary(struct json_reader *reader, const cJSON *object, bool tensors,
                                 struct input_file *input);
enum status json_read_settings(const struct json_reader *reader, const cJSON *object, const char *name,
                               struct setting **settings, size_t *count);
