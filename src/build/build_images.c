/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include <stdlib.h>

/* --token-types: 0 for text and 1 for an image, "0,1x4,0": four tokens of one image. */

enum { MOST_TYPE = 255 };

/* Adds one item of the list, "1" or "1x4", to the types, of which there are *count. */
static enum status parse_item(const struct build *build, const char *place, const char *item, size_t length,
                              size_t *types, size_t tokens, size_t *count)
{
    char *end = NULL;
    const bool digit = text_is_digit(item[0]);
    const unsigned long long type = digit ? strtoull(item, &end, 10) : 0;
    const bool times = digit && *end == 'x' && text_is_digit(end[1]);
    const unsigned long long run = times ? strtoull(end + 1, &end, 10) : 1;
    if (!digit || end != item + length || type > MOST_TYPE)
        return error_usage(build->error,
                           "%s: '%.*s' is not a token type; expected a number up to %d for each token, as in 0,1x4,0x9",
                           place, (int)memory_smaller(length, 40), item, MOST_TYPE);
    if (run > tokens - *count)
        return error_usage(build->error, "%s gives more than %zu types; expected one for each token", place, tokens);
    for (unsigned long long i = 0; i < run; i++)
        types[(*count)++] = (size_t)type;
    return STATUS_OK;
}

enum status build_images(const struct build *build)
{
    struct problem *problem = build->problem;
    struct mask *mask = &problem->mask;
    if (build->options->token_types == NULL)
        return STATUS_OK;
    if (problem->size.queries != problem->size.keys || mask->lengths != NULL || mask->offset != 0 ||
        mask->sequences.count > 0)
        return error_usage(build->error, "--token-types needs queries and keys of the same tokens; leave out "
                                         "lengths, past or sequences");
    size_t *types = arena_allocate(build->arena, problem->size.keys, sizeof *types, build->error);
    struct span *images = arena_allocate(build->arena, problem->size.keys, sizeof *images, build->error);
    if (types == NULL || images == NULL ||
        build_numbers(build, OPTION_TOKEN_TYPES, build->options->token_types, "type", parse_item, types,
                      problem->size.keys) != STATUS_OK)
        return build->error->status;
    const size_t tokens = problem->size.keys;
    for (size_t first = 0, end; first < tokens; first = end) { /* adjacent tokens of type 1 are one image */
        for (end = first + 1; types[first] == 1 && end < tokens && types[end] == 1;)
            end++;
        for (size_t i = first; i < end; i++)
            images[i] = types[i] == 1 ? (struct span){first, end} : (struct span){0, 0};
    }
    mask->images = mask->causal ? images : NULL;
    return STATUS_OK;
}
