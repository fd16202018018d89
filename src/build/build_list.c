/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

static enum status unknown_token(const struct build *build, const char *place, const char *word,
                                 const char *const *labels, size_t count)
{
    char hint[128] = "";
    if (suggest_knows("all everything", word))
        return error_usage(build->error, "%s: no token is '%.80s'; leave it out for all tokens", place, word);
    if (labels == NULL)
        return error_usage(build->error, "%s '%.80s': %s; expected tokens 1..%zu", place, word,
                           build->problem->labels.keys.texts == NULL ? "the input has no tokens"
                                                                     : "the tokens are not those of the queries",
                           count);
    suggest_hint(hint, sizeof hint, "", word, labels, count);
    return error_usage(build->error, "%s: no token is '%.80s'%s", place, word,
                       hint[0] ? hint : "; expected a token or its number");
}

/* --- tokens by name ---------------------------------------------------------------------------------------------- */

struct build_name {
    const char *label;
    size_t position;
};

static int by_label(const void *a, const void *b)
{
    const struct build_name *left = a, *right = b;
    const int order = strcmp(left->label, right->label);
    return order != 0 ? order : (left->position > right->position) - (left->position < right->position);
}

enum status build_index(const struct build *build, const char *const *labels, size_t count, struct build_names *names)
{
    *names = (struct build_names){.labels = labels, .count = count};
    if (labels == NULL)
        return STATUS_OK;
    names->sorted = arena_allocate(build->arena, count, sizeof names->sorted[0], build->error);
    if (names->sorted == NULL)
        return build->error->status;
    for (size_t i = 0; i < count; i++)
        names->sorted[i] = (struct build_name){labels[i], i};
    qsort(names->sorted, count, sizeof names->sorted[0], by_label);
    return STATUS_OK;
}

/* The first token of that name in the index, or NULL; *next: the second, or NULL. */
static const struct build_name *find_name(const struct build_names *names, const char *word,
                                          const struct build_name **next)
{
    const size_t count = names->labels != NULL ? names->count : 0;
    const struct build_name *found = text_find(word, names->sorted, count, sizeof *found);
    const bool again = found != NULL && found + 1 < names->sorted + count && strcmp(found[1].label, word) == 0;
    *next = again ? found + 1 : NULL;
    return found;
}

enum status build_token(const struct build *build, const char *place, const char *word, const struct build_names *names,
                        size_t *position)
{
    const struct build_name *next, *found = find_name(names, word, &next);
    if (found == NULL)
        return unknown_token(build, place, word, names->labels, names->count);
    if (next != NULL)
        return error_usage(build->error, "%s: '%.80s' is the name of tokens %zu and %zu; type a position", place, word,
                           found->position + 1, next->position + 1);
    *position = found->position;
    return STATUS_OK;
}

/* --- the list ---------------------------------------------------------------------------------------------------- */

struct choice {
    const struct build *build;
    const char *place; /* the list's origin for messages */
    const struct build_tokens *tokens;
    struct build_names *names; /* (lists) of the tokens; NULL until the list has a name */
    int64_t *changes;          /* (count + 1) ranges that begin at a token, minus those that end before it */
};

static enum status index_lists(struct choice *choice)
{
    const struct build *build = choice->build;
    const struct build_tokens *tokens = choice->tokens;
    choice->names = arena_allocate(build->arena, tokens->lists, sizeof choice->names[0], build->error);
    for (size_t list = 0; choice->names != NULL && list < tokens->lists; list++)
        if (build_index(build, tokens->labels + list * tokens->stride, tokens->count, &choice->names[list]))
            return build->error->status;
    return choice->names == NULL ? build->error->status : STATUS_OK;
}

/* The one position (from 0) that the word names in every item. */
static enum status find_token(struct choice *choice, const char *word, size_t *position)
{
    const struct build *build = choice->build;
    const struct build_tokens *tokens = choice->tokens;
    const struct build_name *next;
    if (tokens->what != NULL)
        return error_usage(build->error, "%s '%.80s' is no number; expected %s 1..%zu", choice->place, word,
                           tokens->what, tokens->count);
    if (tokens->labels == NULL)
        return unknown_token(build, choice->place, word, NULL, tokens->count);
    if (choice->names == NULL && index_lists(choice) != STATUS_OK)
        return build->error->status;
    for (size_t list = 0; list < tokens->lists; list++) {
        size_t found = 0;
        if (list > 0 && find_name(&choice->names[list], word, &next) == NULL)
            return error_usage(
                build->error,
                "%s: '%.80s' is token %zu of item 1, but item %zu has none of that name; expected one position in all",
                choice->place, word, *position + 1, list + 1);
        if (build_token(build, choice->place, word, &choice->names[list], &found) != STATUS_OK)
            return build->error->status;
        if (list > 0 && found != *position)
            return error_usage(build->error,
                               "%s: '%.80s' is token %zu of item 1, but %zu of item %zu; expected one position in all",
                               choice->place, word, *position + 1, found + 1, list + 1);
        *position = found;
    }
    return STATUS_OK;
}

/* "2" or "2-4": positions. Sets *first and *last (from 0); *positions is false where the word is a token. */
static enum status parse_positions(const struct choice *choice, const char *word, bool *positions, size_t *first,
                                   size_t *last)
{
    const struct build *build = choice->build;
    const char *place = choice->place;
    const size_t tokens = choice->tokens->count;
    const size_t digits = strspn(word, "0123456789");
    const char *rest = word + digits;
    *positions = digits > 0 && (*rest == '\0' ||
                                (*rest == '-' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0'));
    if (!*positions)
        return STATUS_OK;
    unsigned long long low = strtoull(word, NULL, 10), high = *rest == '-' ? strtoull(rest + 1, NULL, 10) : low;
    if (low < 1 || high < 1 || low > tokens || high > tokens)
        return error_usage(build->error, "%s %.80s is out of range; expected %s 1..%zu", place, word,
                           choice->tokens->what != NULL ? choice->tokens->what : "tokens", tokens);
    if (low > high)
        return error_usage(build->error, "%s %.80s runs backwards; expected %llu-%llu", place, word, high, low);
    *first = (size_t)low - 1;
    *last = (size_t)high - 1;
    return STATUS_OK;
}

/* Rejects a position that is also the name of another token. */
static enum status check_ambiguous(struct choice *choice, const char *word, size_t position)
{
    const struct build *build = choice->build;
    const struct build_name *next;
    if (choice->tokens->labels == NULL)
        return STATUS_OK;
    if (choice->names == NULL && index_lists(choice) != STATUS_OK)
        return build->error->status;
    const struct build_name *found = find_name(&choice->names[0], word, &next);
    if (found == NULL || found->position == position)
        return STATUS_OK;
    return error_usage(
        build->error,
        "%s %.80s: position %zu is '%.80s', and a token '%.80s' is at position %zu; expected %zu-%zu or %zu-%zu",
        choice->place, word, position + 1, choice->tokens->labels[position], word, found->position + 1, position + 1,
        position + 1, found->position + 1, found->position + 1);
}

static enum status select_word(struct choice *choice, const char *text, const char *word)
{
    const struct build *build = choice->build;
    size_t first = 0, last = 0;
    bool positions;
    enum status status = parse_positions(choice, word, &positions, &first, &last);
    if (status == STATUS_OK && !positions) {
        if (word[0] == '\0')
            return error_usage(build->error, "%s '%.80s' has an empty item; expected tokens or positions such as 1,4-6",
                               choice->place, text);
        status = find_token(choice, word, &first);
        last = first;
    }
    if (status != STATUS_OK)
        return status;
    if (positions && first == last && check_ambiguous(choice, word, first) != STATUS_OK)
        return build->error->status;
    choice->changes[first]++;
    choice->changes[last + 1]--;
    return STATUS_OK;
}

static enum status select_listed(struct choice *choice, const char *text)
{
    const struct build *build = choice->build;
    for (const char *item = text; item != NULL;) {
        size_t length = strcspn(item, ",");
        char *word = arena_text(build->arena, item, length, build->error);
        if (word == NULL || select_word(choice, text, word) != STATUS_OK)
            return build->error->status;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return STATUS_OK;
}

enum status build_list(const struct build *build, const char *place, const char *text,
                       const struct build_tokens *tokens, bool *chosen)
{
    int64_t *changes = arena_allocate(build->arena, tokens->count + 1, sizeof *changes, build->error), ranges = 0;
    if (changes == NULL)
        return build->error->status;
    memset(changes, 0, (tokens->count + 1) * sizeof *changes);
    struct choice choice = {.build = build, .place = place, .tokens = tokens, .changes = changes};
    if (select_listed(&choice, text) != STATUS_OK)
        return build->error->status;
    for (size_t token = 0; token < tokens->count; token++) {
        ranges += changes[token];
        chosen[token] = ranges > 0;
    }
    return STATUS_OK;
}

enum status build_numbers(const struct build *build, enum option_id id, const char *text, const char *what,
                          build_item *take, size_t *numbers, size_t tokens)
{
    const char *place = BUILD_PLACE(build, id);
    size_t count = 0;
    for (const char *item = text; item != NULL;) {
        const size_t length = strcspn(item, ",");
        if (take(build, place, item, length, numbers, tokens, &count) != STATUS_OK)
            return build->error->status;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    if (count == tokens)
        return STATUS_OK;
    return error_usage(build->error, "%s gives %zu %s%s for %zu tokens; expected one for each", place, count, what,
                       count == 1 ? "" : "s", tokens);
}
