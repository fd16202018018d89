#include "making.h"

#include "nearest.h"
#include "part.h"

#include <stdlib.h>
#include <string.h>

static enum status unknown_token(const struct making *making, const char *place, const char *word,
                                 const char *const *labels, size_t count)
{
    char hint[128] = "";
    if (labels == NULL)
        return error_usage(making->error, "%s '%.80s': %s; expected positions 1..%zu", place, word,
                           making->problem->labels == NULL ? "the input has no tokens"
                                                           : "the tokens are not those of the queries",
                           count);
    nearest_hint(hint, sizeof hint, "", word, labels, count);
    return error_usage(making->error, "%s: no token is '%.80s'%s", place, word,
                       hint[0] ? hint : "; expected a token or its position");
}

enum status making_token(const struct making *making, const char *place, const char *word, const char *const *labels,
                         size_t count, size_t *position)
{
    *position = count;
    for (size_t token = 0; labels != NULL && token < count; token++) {
        if (strcmp(labels[token], word) != 0)
            continue;
        if (*position < count)
            return error_usage(making->error, "%s: '%.80s' names tokens %zu and %zu; expected one, give its position",
                               place, word, *position + 1, token + 1);
        *position = token;
    }
    return *position < count ? STATUS_OK : unknown_token(making, place, word, labels, count);
}

static bool has_label(const struct problem *problem, const char *const *labels, const char *word)
{
    for (size_t token = 0; token < problem->queries; token++)
        if (strcmp(labels[token], word) == 0)
            return true;
    return false;
}

/* The one position (from 0) that the word names in every item. */
static enum status find_token(const struct making *making, const char *place, const char *word, size_t *position)
{
    const struct problem *problem = making->problem;
    if (problem_query_labels(problem, 0) == NULL)
        return unknown_token(making, place, word, NULL, problem->queries);
    for (size_t list = 0; list < problem->label_lists; list++) {
        const char *const *labels = problem_query_labels(problem, list);
        size_t found;
        if (list > 0 && !has_label(problem, labels, word))
            return error_usage(making->error,
                               "%s: '%.80s' is token %zu of item 1, but item %zu has none of that name; "
                               "expected one position in all",
                               place, word, *position + 1, list + 1);
        if (making_token(making, place, word, labels, problem->queries, &found) != STATUS_OK)
            return making->error->status;
        if (list > 0 && found != *position)
            return error_usage(making->error,
                               "%s: '%.80s' is token %zu of item 1, but %zu of item %zu; expected one "
                               "position in all",
                               place, word, *position + 1, found + 1, list + 1);
        *position = found;
    }
    return STATUS_OK;
}

/* "2" or "2-4": positions. Sets *first and *last (from 0); *positions is false where the word is a token. */
static enum status parse_positions(const struct making *making, const char *place, const char *word, bool *positions,
                                   size_t *first, size_t *last)
{
    const size_t tokens = making->problem->queries;
    const size_t digits = strspn(word, "0123456789");
    const char *rest = word + digits;
    *positions = digits > 0 && (*rest == '\0' ||
                                (*rest == '-' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0'));
    if (!*positions)
        return STATUS_OK;
    unsigned long long low = strtoull(word, NULL, 10), high = *rest == '-' ? strtoull(rest + 1, NULL, 10) : low;
    if (low < 1 || high < 1 || low > tokens || high > tokens)
        return error_usage(making->error, "%s %.80s is out of range; expected positions 1..%zu", place, word, tokens);
    if (low > high)
        return error_usage(making->error, "%s %.80s runs backwards; expected %llu-%llu", place, word, high, low);
    *first = (size_t)low - 1;
    *last = (size_t)high - 1;
    return STATUS_OK;
}

static enum status select_word(const struct making *making, const char *place, const char *word, bool *selected)
{
    size_t first = 0, last = 0;
    bool positions;
    enum status status = parse_positions(making, place, word, &positions, &first, &last);
    if (status == STATUS_OK && !positions) {
        if (word[0] == '\0')
            return error_usage(making->error,
                               "%s '%.80s' has an empty item; expected tokens or positions such as 1,4-6", place,
                               making->options->query);
        status = find_token(making, place, word, &first);
        last = first;
    }
    for (size_t token = first; status == STATUS_OK && token <= last; token++)
        selected[token] = true;
    return status;
}

static enum status select_listed(const struct making *making, bool *selected)
{
    char place[MAKING_PLACE_BYTES];
    making_place(making, OPTION_QUERY, place, sizeof place);
    for (const char *item = making->options->query; item != NULL;) {
        size_t length = strcspn(item, ",");
        char *word = arena_text(making->arena, item, length, making->error);
        if (word == NULL || select_word(making, place, word, selected) != STATUS_OK)
            return making->error->status;
        item = item[length] == ',' ? item + length + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status select_part(const struct making *making)
{
    struct problem *problem = making->problem;
    const size_t part = making->options->part, parts = making->options->parts;
    if (parts == 0)
        return STATUS_OK;
    if (parts > problem->row_count)
        return error_usage(making->error, "--part %s: there are only %zu queries; expected at most as many parts",
                           making->options->part_text, problem->row_count);
    if (making->options->format != FORMAT_SAFETENSORS)
        return error_usage(making->error, "--part writes .safetensors, which says what it is part of; expected --out "
                                          "PART.safetensors");
    part_select(problem, part, parts);
    return STATUS_OK;
}

enum status making_queries(const struct making *making)
{
    struct problem *problem = making->problem;
    bool *selected = arena_allocate(making->arena, problem->queries, sizeof *selected, making->error);
    problem->rows = arena_allocate(making->arena, problem->queries, sizeof *problem->rows, making->error);
    if (selected == NULL || problem->rows == NULL)
        return making->error->status;
    memset(selected, making->options->query == NULL, problem->queries * sizeof *selected);
    if (making->options->query != NULL && select_listed(making, selected) != STATUS_OK)
        return making->error->status;
    for (size_t token = 0; token < problem->queries; token++)
        if (selected[token])
            problem->rows[problem->row_count++] = token;
    problem->whole_count = problem->row_count;
    return select_part(making);
}
