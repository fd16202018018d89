/* SPDX-License-Identifier: MIT */
/* What the table of families promises to those who walk it, whatever rows it has. */
#include "check.h"
#include "model/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_COLUMNS = 48, TYPE_BYTES = 64 };

/* The next word of a list with a blank between two; false behind the last one. */
static bool next_word(const char **words, char word[TYPE_BYTES])
{
    const size_t length = *words != NULL ? strcspn(*words, " ") : 0;
    if (length == 0 || length >= TYPE_BYTES)
        return false;
    memcpy(word, *words, length);
    word[length] = '\0';
    *words += length + ((*words)[length] == ' ');
    return true;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

static void check_names(size_t i, const struct family_row *row)
{
    char word[TYPE_BYTES], last[TYPE_BYTES] = "";
    const char *types = row->types;
    check_begin("%s: its names", row->name);
    CHECK(i == 0 || strcmp(family_word(i - 1), row->name) < 0, "expected it before %s", family_word(i - 1));
    CHECK(family_find(row->name) == row, "expected one row of that name, got %s", family_find(row->name)->name);
    CHECK_TEXT(row->name, family_word(i));
    while (next_word(&types, word)) {
        CHECK(family_find(word) == row, "%s: expected in one row alone, got %s", word,
              family_find(word) != NULL ? family_find(word)->name : "none");
        CHECK(strcmp(last, word) < 0, "%s: expected it before %s", word, last);
        snprintf(last, sizeof last, "%s", word);
    }
    CHECK(types == NULL || *types == '\0', "expected words with one blank between two: '%s'", row->types);
    CHECK(strlen(row->title) > 0 && strlen(row->title) <= TITLE_COLUMNS, "expected a title of 1 to %d columns: %s",
          TITLE_COLUMNS, row->title);
}

/* Words that options have, and numbers that they take. */
static void check_columns(const struct family_row *row)
{
    static const char *const NORMS[] = {"none", "layer", "rms", "rms-plus-one", NULL};
    static const char *const QK_NORMS[] = {"layer", "rms", "rms-plus-one", "l2", NULL};
    static const char *const PACKINGS[] = {"blocks", "groups", NULL};
    check_begin("%s: its columns", row->name);
    CHECK(row->norm == NULL || is_one_of(row->norm, NORMS), "norm: '%s'", row->norm);
    CHECK(row->qk_norm == NULL || is_one_of(row->qk_norm, QK_NORMS), "qk_norm: '%s'", row->qk_norm);
    CHECK(row->packing == NULL || is_one_of(row->packing, PACKINGS), "packing: '%s'", row->packing);
    CHECK(row->by_hand || (row->heads > 0 && row->norm_eps > 0), "expected heads and an eps where the config has none");
    CHECK(row->kv_heads == 0 || row->heads % row->kv_heads == 0, "%zu heads of keys do not divide %zu heads",
          row->kv_heads, row->heads);
    CHECK(row->share >= 0 && row->share <= 1 && row->theta >= 0 && row->local_theta >= 0, "a share of %g, theta %g",
          row->share, row->theta);
    CHECK((row->scale == FAMILY_SCALE_SCALAR) == (row->scalar > 0), "expected query_pre_attn_scalar where it counts");
    CHECK(row->rope != ROPE_NONE || (row->theta == 0 && row->share == 0 && row->columns == 0 && row->scaling == NULL &&
                                     row->rotating == FAMILY_ROTATING_ALL),
          "expected nothing of a rotation that is not there");
    CHECK(row->sliding != FAMILY_SLIDING_NONE || (row->window == 0 && row->pattern == 0),
          "expected no window of layers that do not slide");
    CHECK(row->sliding != FAMILY_SLIDING_BETWEEN || row->pattern > 0, "expected which layers do not slide");
}

int main(void)
{
    size_t count = 0;
    for (; family_at(count) != NULL; count++) {
        check_names(count, family_at(count));
        check_columns(family_at(count));
    }
    check_begin("behind the last row");
    CHECK(count > 50, "expected more rows than %zu", count);
    CHECK(family_word(count) == NULL && family_find("") == NULL && family_find("llam") == NULL &&
              family_find("vit vit_mae") == NULL && family_find("deit ijepa") == NULL,
          "expected no row of that name");
    check_begin("parts of models");
    CHECK_TEXT("clip_text_model", family_of_part("clip", "text_config"));
    CHECK_TEXT(NULL, family_of_part("clip", "audio_config"));
    CHECK_TEXT(NULL, family_of_part("llama", "text_config"));
    CHECK(family_has_parts("gemma3") && !family_has_parts("gemma3_text"), "expected gemma3 alone to have parts");
    return check_end();
}
