/* SPDX-License-Identifier: MIT */
/* The spans against the rule of each key by itself, and the bias against attn_mask and ALiBi written out. */
#include "check.h"
#include "model/mask.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { ITEMS = 2, HEADS = 3, MOST = 9 };

/* Whether the causal rule, the window, the length and a short attn_mask leave key j to query i. */
static bool naive_seen(const struct mask *mask, size_t item, size_t i, size_t j)
{
    const int64_t offset = mask->lengths != NULL ? mask->lengths[item] - (int64_t)mask->queries : mask->offset;
    const int64_t p = (int64_t)i + offset, key = (int64_t)j;
    if (mask->causal && key > p)
        return false;
    if ((mask->left >= 0 && key < p - mask->left) || (mask->right >= 0 && key > p + mask->right))
        return false;
    return j < mask->keys && j < mask->masked_keys && (mask->lengths == NULL || key < mask->lengths[item]);
}

enum { KEYS = 11 };

/* The tensors of a mask. */
struct given {
    int64_t ids[ITEMS * KEYS];
    uint8_t booleans[KEYS * KEYS];
};

/* A mask of the rules that the bits of the seed choose. */
static struct mask give(uint32_t seed, struct given *tensors, struct arena *arena, struct error *error)
{
    struct mask mask = {.queries = KEYS, .keys = KEYS, .masked_keys = KEYS, .left = -1, .right = -1};
    uint32_t state = seed * 2654435761U + 1;
    for (size_t i = 0; i < ITEMS * KEYS; i++)
        tensors->ids[i] = (int64_t)((state = state * 1664525U + 1013904223U) >> 28) % 3;
    mask.causal = seed & 1;
    mask.given[MASK_PREFIX].number = mask.causal && seed & 2 ? (int64_t)(seed % 7) : 0;
    mask.given[MASK_CHUNK].number = seed & 4 ? (int64_t)(seed % 5) + 1 : 0;
    mask.left = seed & 8 ? (int64_t)(seed % 4) : -1;
    if (seed & 16) {
        struct mask_given *given = &mask.given[MASK_DOCUMENT];
        for (size_t i = 0; i < KEYS && seed & 32; i++) /* side by side */
            tensors->ids[i] = (int64_t)i / 4, tensors->ids[KEYS + i] = (int64_t)i / 3;
        given->ids = tensors->ids;
        given->lists = ITEMS;
        given->count = KEYS;
        CHECK(mask_list_runs(given, arena, error) == STATUS_OK && given->scattered == !(seed & 32),
              "seed %u: scattered, or not", seed);
    }
    for (size_t i = 0; i < sizeof tensors->booleans && seed & 64; i++)
        tensors->booleans[i] = (state = state * 1664525U + 1013904223U) >> 30 != 0;
    if (seed & 64) {
        mask.attn_mask =
            (struct tensor){.rank = 2, .shape = {KEYS, KEYS}, .dtype = DTYPE_BOOL, .data = tensors->booleans};
        mask.strides[2] = KEYS, mask.strides[3] = 1;
    }
    return mask;
}

/* The rules of an option or a tensor, against what each says of a key by itself; and entries for the fused path. */
static void check_given(uint32_t seed)
{
    struct given tensors = {0};
    struct arena arena = {0};
    struct error error = {0};
    const struct mask mask = give(seed, &tensors, &arena, &error);
    const int64_t *ids = tensors.ids;
    const uint8_t *booleans = tensors.booleans;
    for (size_t item = 0; item < ITEMS; item++)
        for (size_t i = 0; i < KEYS; i++) {
            const struct span span = mask_span(&mask, item, i);
            const int64_t prefix = mask.given[MASK_PREFIX].number, chunk = mask.given[MASK_CHUNK].number;
            float bias[KEYS];
            unsigned says = 0,
                     said = mask_has_cells(&mask) || seed & 64 ? mask_scan(&mask, NULL, item, 0, i, 1, 0, KEYS) : 0;
            if (mask_has_cells(&mask) || seed & 64)
                mask_load(&mask, item, 0, i, 0, KEYS, DTYPE_F32, bias);
            else
                memset(bias, 0, sizeof bias);
            for (size_t j = 0; j < KEYS; j++) {
                const bool of_document = !(seed & 16) || ids[item * KEYS + i] == ids[item * KEYS + j];
                const bool entry = !(seed & 64) || booleans[i * KEYS + j];
                const bool seen = (!mask.causal || j <= i || (int64_t)j < prefix) && of_document && entry &&
                                  (chunk == 0 || (int64_t)i / chunk == (int64_t)j / chunk) &&
                                  (mask.left < 0 || (int64_t)j >= (int64_t)i - mask.left);
                const bool cell = entry && (of_document || !mask_has_cells(&mask));
                says |= cell ? MASK_SAYS_PLAIN : MASK_SAYS_FORBIDDEN;
                CHECK(mask_forbids(&mask, item, 0, i, j) == !seen &&
                          (mask_rule_of(&mask, item, 0, i, j) == MASK_ALLOWS) == seen &&
                          (j >= span.first && j < span.end && bias[j] == 0) == seen,
                      "seed %u, query %zu, key %zu: expected %d", seed, i, j, seen);
                CHECK(bias[j] == (cell ? 0 : -INFINITY), "seed %u, query %zu, key %zu: %g", seed, i, j,
                      (double)bias[j]);
            }
            CHECK(said == 0 || said == says || (said == MASK_SAYS_MORE && says & MASK_SAYS_FORBIDDEN),
                  "seed %u, query %zu: says %u, expected %u", seed, i, said, says);
            CHECK(i == 0 || (span.first >= mask_span(&mask, item, i - 1).first &&
                             span.end >= mask_span(&mask, item, i - 1).end),
                  "seed %u, query %zu: an end of the span falls", seed, i);
        }
    arena_free(&arena);
}

/* What a row says of itself. */
static void check_row(enum mask_rule rule)
{
    const struct mask_functions *functions = MASKS[rule].functions;
    CHECK(functions->applies != NULL && (functions->reach != NULL) != (functions->lift != NULL),
          "rule %d: expected when it applies, and which keys it leaves or takes", rule);
    CHECK(functions->reach == NULL ||
              ((functions->rule != NULL || functions->rule_words != NULL) && functions->reason != NULL),
          "rule %d: expected how it is said", rule);
    CHECK(functions->lift == NULL || functions->unless != NULL, "rule %d: expected what it takes, in words", rule);
    CHECK((MASKS[rule].tensor != NULL) == (functions->forbids != NULL), "rule %d: expected a tensor and cells", rule);
    CHECK((MASKS[rule].tensor != NULL) == (MASKS[rule].counted != NULL), "rule %d: expected what is counted", rule);
}

static void check_mask_spans(const struct mask *mask)
{
    for (size_t item = 0; item < ITEMS; item++)
        for (size_t i = 0; i < mask->queries; i++) {
            const struct span span = mask_span(mask, item, i);
            CHECK(span.first <= span.end && span.end <= mask->keys, "query %zu: a span from %zu to %zu of %zu keys", i,
                  span.first, span.end, mask->keys);
            for (size_t j = 0; j < mask->keys; j++)
                CHECK(naive_seen(mask, item, i, j) == (j >= span.first && j < span.end),
                      "causal %d, window %d,%d, offset %d, item %zu, query %zu, key %zu: expected %d, got %zu to %zu",
                      mask->causal, (int)mask->left, (int)mask->right, (int)mask_offset(mask, item, i), item, i, j,
                      naive_seen(mask, item, i, j), span.first, span.end);
            for (size_t j = 0; j < mask->keys; j++)
                CHECK(naive_seen(mask, item, i, j) == (mask_rule_of(mask, item, 0, i, j) == MASK_ALLOWS),
                      "item %zu, query %zu, key %zu: expected %s, got rule %d", item, i, j,
                      naive_seen(mask, item, i, j) ? "none" : "a rule that forbids", mask_rule_of(mask, item, 0, i, j));
        }
}

/* Every window and offset that can make a difference. */
static void check_spans(size_t queries, size_t keys)
{
    check_begin("spans of %zu queries and %zu keys", queries, keys);
    const int64_t lengths[ITEMS] = {(int64_t)keys / 2, (int64_t)keys};
    struct mask mask = {.queries = queries, .keys = keys};
    for (int kind = 0; kind < 8; kind++)
        for (mask.left = -1; mask.left <= MOST; mask.left += 2)
            for (mask.right = -1; mask.right <= MOST; mask.right += 2)
                for (mask.offset = -MOST; mask.offset <= MOST; mask.offset += 3) {
                    mask.causal = kind & 1;
                    mask.lengths = kind & 2 ? lengths : NULL;
                    mask.masked_keys = kind & 4 ? keys / 2 : keys;
                    check_mask_spans(&mask);
                }
}

enum { TOKENS = 7 };

/* Images among the tokens, each bit of `types` a token: of one image, or within the causal rule and the window. */
static bool naive_image(unsigned types, const struct mask *mask, size_t query, size_t key)
{
    const int64_t position = (int64_t)query + mask->offset, at = (int64_t)key;
    bool together = position >= 0 && position < TOKENS;
    for (int64_t i = position < at ? position : at; together && i <= (position > at ? position : at); i++)
        together = (types >> i & 1) != 0;
    const bool left = mask->left < 0 || at >= position - mask->left;
    const bool right = mask->right < 0 || at <= position + mask->right;
    return together || ((!mask->causal || at <= position) && left && right);
}

static void check_image_spans(unsigned types, const struct mask *mask)
{
    for (size_t i = 0; i < TOKENS; i++) {
        const struct span span = mask_span(mask, 0, i);
        for (size_t j = 0; j < TOKENS; j++) {
            const bool seen = naive_image(types, mask, i, j);
            CHECK(seen == (j >= span.first && j < span.end) && seen == (mask_rule_of(mask, 0, 0, i, j) == MASK_ALLOWS),
                  "types %x, causal %d, window %d,%d, offset %d, query %zu, key %zu: expected %d, got %zu to %zu",
                  types, mask->causal, (int)mask->left, (int)mask->right, (int)mask->offset, i, j, seen, span.first,
                  span.end);
        }
        const struct span before = mask_span(mask, 0, i > 0 ? i - 1 : 0);
        CHECK(before.first <= span.first && before.end <= span.end, "types %x, query %zu: %zu to %zu after %zu to %zu",
              types, i, span.first, span.end, before.first, before.end);
    }
}

/* Before the first key and behind the last one lie images that no query may meet. */
static void check_images(void)
{
    struct span around[TOKENS + 6];
    check_begin("images among the tokens");
    for (unsigned types = 0; types < 1U << TOKENS; types++) {
        struct span *images = around + 3;
        for (size_t i = 0; i < COUNT(around); i++)
            around[i] = (struct span){0, TOKENS};
        for (size_t i = 0; i < TOKENS; i++) {
            images[i] = (struct span){i, i};
            while ((types >> i & 1) && images[i].first > 0 && (types >> (images[i].first - 1) & 1))
                images[i].first--;
            while (types >> images[i].end & 1)
                images[i].end++;
        }
        struct mask mask = {.queries = TOKENS, .keys = TOKENS, .masked_keys = TOKENS, .images = images};
        for (int causal = 0; causal < 2; causal++)
            for (mask.left = -1; mask.left <= 3; mask.left++)
                for (mask.right = -1; mask.right <= 3; mask.right++)
                    for (mask.offset = -3; mask.offset <= 3; mask.offset++) {
                        mask.causal = causal;
                        check_image_spans(types, &mask);
                    }
    }
}

/* Neither end ever goes back from one query to the next: a tile's first and last query bound it. */
static void check_order(void)
{
    check_begin("spans move on with the queries");
    for (int kind = 0; kind < 16; kind++) {
        const struct mask mask = {.queries = 40,
                                  .keys = 20,
                                  .causal = kind & 1,
                                  .left = kind & 2 ? 3 : -1,
                                  .right = kind & 4 ? 2 : -1,
                                  .offset = kind & 8 ? -10 : 4,
                                  .masked_keys = 17};
        for (size_t i = 1; i < mask.queries; i++) {
            const struct span before = mask_span(&mask, 0, i - 1), span = mask_span(&mask, 0, i);
            CHECK(before.first <= span.first && before.end <= span.end, "query %zu: %zu to %zu after %zu to %zu", i,
                  span.first, span.end, before.first, before.end);
        }
    }
}

/* Against each sequence alone, a mask of its own. */
static void check_sequences(void)
{
    static const int64_t queries[] = {0, 3, 3, 4, 9}, keys[] = {0, 2, 5, 5, 9};
    static const size_t of_query[] = {0, 0, 0, 2, 3, 3, 3, 3, 3};
    struct mask packed = {
        .queries = 9, .keys = 9, .masked_keys = 9, .sequences = {4, queries, keys, of_query, .from_end = false}};
    check_begin("spans of sequences are those of each alone");
    for (int kind = 0; kind < 32; kind++) {
        packed.causal = kind & 1;
        packed.left = kind & 2 ? 1 : -1;
        packed.right = kind & 4 ? 1 : -1;
        packed.sequences.from_end = kind & 8;
        packed.masked_keys = kind & 16 ? 7 : 9;
        for (size_t i = 0; i < 9; i++) {
            const size_t s = of_query[i], first = (size_t)keys[s], count = (size_t)keys[s + 1] - first;
            const int64_t of_end = (int64_t)count - (queries[s + 1] - queries[s]);
            const size_t left = packed.masked_keys > first ? packed.masked_keys - first : 0;
            const struct mask alone = {.queries = (size_t)(queries[s + 1] - queries[s]),
                                       .keys = count,
                                       .masked_keys = left < count ? left : count,
                                       .causal = packed.causal,
                                       .left = packed.left,
                                       .right = packed.right,
                                       .offset = packed.sequences.from_end ? of_end : 0};
            const size_t query = i - (size_t)queries[s];
            const struct span span = mask_span(&packed, 0, i), expected = mask_span(&alone, 0, query);
            CHECK(span.end - span.first == expected.end - expected.first, "query %zu: expected %zu keys, got %zu", i,
                  expected.end - expected.first, span.end - span.first);
            for (size_t j = 0; j < 9; j++) {
                const bool own = j >= first && j < first + count;
                const bool seen = own && !mask_forbids(&alone, 0, 0, query, j - first);
                CHECK(mask_forbids(&packed, 0, 0, i, j) == !seen, "query %zu, key %zu: expected %s", i, j,
                      seen ? "seen" : "forbidden");
                CHECK((mask_rule_of(&packed, 0, 0, i, j) == MASK_SEQUENCE) == !own, "query %zu, key %zu: rule %d", i, j,
                      mask_rule_of(&packed, 0, 0, i, j));
            }
            if (i > 0) {
                const struct span before = mask_span(&packed, 0, i - 1);
                CHECK(before.first <= span.first && before.end <= span.end, "query %zu: %zu to %zu after %zu to %zu", i,
                      span.first, span.end, before.first, before.end);
            }
        }
    }
}

static void check_far(void)
{
    check_begin("windows and offsets as far as they go");
    struct mask mask = {.queries = 2, .keys = 5, .left = INT64_C(1) << 62, .right = INT64_C(1) << 62, .masked_keys = 5};
    check_mask_spans(&mask);
    mask.offset = -(INT64_C(1) << 61);
    mask.left = mask.right = 3;
    check_mask_spans(&mask);
}

static void check_bias_row(const struct mask *mask, size_t item, size_t head, size_t query, const double *expected)
{
    double bias[MOST];
    for (size_t first = 0; first < mask->keys; first++)
        for (size_t count = 1; first + count <= mask->keys; count++) {
            mask_bias(mask, item, head, query, first, count, bias);
            for (size_t j = 0; j < count; j++)
                CHECK(bias[j] == expected[first + j], "item %zu, head %zu, query %zu, key %zu: expected %g, got %g",
                      item, head, query, first + j, expected[first + j], bias[j]);
        }
}

/* Each kernel has its scan. */
static unsigned scan_floats(const void *numbers, size_t stride, size_t rows, size_t count)
{
    unsigned says = 0;
    for (size_t i = 0; i < rows * count; i++) {
        const float number = ((const float *)numbers)[i / count * stride + i % count];
        says |= number == 0 ? MASK_SAYS_PLAIN : number == -INFINITY ? MASK_SAYS_FORBIDDEN : MASK_SAYS_MORE;
    }
    return (says & (says - 1)) == 0 ? says : MASK_SAYS_MORE;
}

/* The same run of two queries at once. */
static void check_both(const struct mask *mask, size_t item, size_t head, size_t first, size_t count)
{
    const unsigned joined = mask_scan(mask, scan_floats, item, head, 0, 1, first, count) |
                            mask_scan(mask, scan_floats, item, head, 1, 1, first, count);
    const bool more = !dtype_is_boolean(mask->attn_mask.dtype) && (joined & (joined - 1)) != 0;
    const unsigned said = mask_scan(mask, scan_floats, item, head, 0, 2, first, count);
    CHECK(said == (more ? MASK_SAYS_MORE : joined), "%zu keys from %zu of two queries: %u says %u", count, first,
          joined, said);
}

/* Every run of keys: what it says as a set, and its floats, against the bias. */
static void check_runs(const struct mask *mask, size_t item, size_t head, size_t query)
{
    static const enum dtype NUMBERS[] = {DTYPE_F32, DTYPE_F64};
    const enum dtype own = mask->attn_mask.dtype;
    double bias[MOST], loaded[MOST], numbers[MOST];
    for (size_t first = 0; first < mask->masked_keys; first++)
        for (size_t count = 1; first + count <= mask->masked_keys; count++) {
            unsigned expected = 0;
            mask_bias(mask, item, head, query, first, count, bias);
            for (size_t n = 0; n < 2; n++) {
                if (!dtype_is_boolean(own) && own != NUMBERS[n])
                    continue;
                mask_load(mask, item, head, query, first, count, NUMBERS[n], numbers);
                dtype_load(NUMBERS[n], numbers, count, loaded);
                for (size_t j = 0; j < count; j++)
                    CHECK(loaded[j] == bias[j], "key %zu: expected %g, got %g", first + j, bias[j], loaded[j]);
            }
            for (size_t j = 0; j < count; j++) {
                expected |= bias[j] == 0           ? MASK_SAYS_PLAIN
                            : bias[j] == -INFINITY ? MASK_SAYS_FORBIDDEN
                                                   : MASK_SAYS_MORE;
            }
            const bool floats = !dtype_is_boolean(own) && (expected & (expected - 1)) != 0;
            expected = floats ? MASK_SAYS_MORE : expected;
            CHECK(mask_scan(mask, scan_floats, item, head, query, 1, first, count) == expected,
                  "%zu keys from %zu: expected %u, got %u", count, first, expected,
                  mask_scan(mask, scan_floats, item, head, query, 1, first, count));
            mask_prefetch(mask, item, head, query, 1, first, count);
            check_both(mask, item, head, first, count);
        }
}

static void check_scans(void)
{
    float floats[] = {0, 0, -INFINITY, -INFINITY, 0.5F, -1, 0, 0};
    uint8_t booleans[] = {1, 0, 0, 2, 3, 1, 0, 0};
    struct mask mask = {.queries = 2,
                        .keys = 5,
                        .left = -1,
                        .right = -1,
                        .attn_mask = {.rank = 2, .shape = {2, 4}, .dtype = DTYPE_F32, .data = floats},
                        .strides = {0, 0, 4, 1},
                        .masked_keys = 4};
    for (int kind = 0; kind < 3; kind++) {
        check_begin("runs of keys: %s", (const char *[]){"floats", "true keeps", "true drops"}[kind]);
        mask.attn_mask.dtype = kind == 0 ? DTYPE_F32 : DTYPE_BOOL;
        mask.attn_mask.data = kind == 0 ? (void *)floats : (void *)booleans;
        mask.true_drops = kind == 2;
        check_runs(&mask, 1, 1, 0);
        check_runs(&mask, 0, 0, 1);
    }
    check_begin("runs of keys: one number for all keys of a query");
    mask.attn_mask.shape[1] = 1;
    mask.strides[2] = 1;
    mask.strides[3] = 0;
    mask.masked_keys = 5;
    check_runs(&mask, 0, 0, 0);
    check_runs(&mask, 0, 0, 1);
}

static void check_attn_mask(void)
{
    float floats[ITEMS * HEADS * 2 * 3];
    for (size_t i = 0; i < COUNT(floats); i++)
        floats[i] = (float)i;
    struct mask mask = {.queries = 2,
                        .keys = 4,
                        .left = -1,
                        .right = -1,
                        .attn_mask = {.rank = 4, .shape = {ITEMS, HEADS, 2, 3}, .dtype = DTYPE_F32, .data = floats},
                        .strides = {HEADS * 2 * 3, 2 * 3, 3, 1},
                        .masked_keys = 3};
    check_begin("bias: attn_mask, its last axis short");
    CHECK(mask_has_bias(&mask), "expected a bias");
    check_bias_row(&mask, 1, 2, 1, (const double[]){33, 34, 35, -INFINITY});
    check_bias_row(&mask, 0, 1, 0, (const double[]){6, 7, 8, -INFINITY});
    check_begin("bias: attn_mask broadcast over everything but heads");
    mask.attn_mask = (struct tensor){.rank = 3, .shape = {HEADS, 1, 1}, .dtype = DTYPE_F32, .data = floats};
    mask.strides[0] = mask.strides[2] = mask.strides[3] = 0;
    mask.strides[1] = 1;
    mask.masked_keys = 4;
    check_bias_row(&mask, 1, 2, 1, (const double[]){2, 2, 2, 2});
    check_begin("bias: ALiBi is added to it");
    mask.alibi_slopes = (const double[]){0, 0, 0.5};
    mask.offset = 2;
    check_bias_row(&mask, 1, 2, 0, (const double[]){1, 1.5, 2, 1.5});
    check_bias_row(&mask, 0, 1, 0, (const double[]){1, 1, 1, 1});
    mask.attn_mask.rank = 0;
    CHECK(mask_has_bias(&mask), "expected a bias");
    mask.lengths = (const int64_t[]){4, 2};
    check_bias_row(&mask, 1, 2, 1, (const double[]){-0.5, 0, -0.5, -1});
}

static void check_booleans(void)
{
    uint8_t booleans[] = {1, 0, 2};
    struct mask mask = {.queries = 1,
                        .keys = 3,
                        .left = -1,
                        .right = -1,
                        .attn_mask = {.rank = 1, .shape = {3}, .dtype = DTYPE_BOOL, .data = booleans},
                        .strides = {0, 0, 0, 1},
                        .masked_keys = 3};
    check_begin("bias: a boolean mask keeps what is true");
    check_bias_row(&mask, 0, 0, 0, (const double[]){0, -INFINITY, 0});
    check_begin("bias: a boolean mask drops what is true");
    mask.true_drops = true;
    check_bias_row(&mask, 0, 0, 0, (const double[]){-INFINITY, 0, -INFINITY});
    check_begin("which rule forbids a key");
    mask.queries = 3;
    mask.causal = true;
    mask.left = 0;
    mask.lengths = (const int64_t[]){2, 2};
    const enum mask_rule rules[][3] = {{MASK_ENTRY, MASK_CAUSAL, MASK_CAUSAL}, {MASK_LEFT, MASK_ALLOWS, MASK_CAUSAL}};
    for (size_t i = 0; i < 2; i++) /* their positions are 0 and 1: the length is 2, and the queries are 3 */
        for (size_t j = 0; j < 3; j++)
            CHECK(mask_rule_of(&mask, 0, 0, i + 1, j) == rules[i][j], "query %zu, key %zu: expected %d, got %d", i + 1,
                  j, rules[i][j], mask_rule_of(&mask, 0, 0, i + 1, j));
    mask.causal = false;
    mask.right = 0;
    CHECK(mask_rule_of(&mask, 0, 0, 1, 1) == MASK_RIGHT, "expected that key 1 is behind the window");
    mask.right = -1;
    CHECK(mask_rule_of(&mask, 0, 0, 1, 2) == MASK_LENGTH, "expected that key 2 is behind the length");
    mask.lengths = NULL;
    mask.masked_keys = 2;
    CHECK(mask_rule_of(&mask, 0, 0, 1, 2) == MASK_SHORT, "expected that key 2 is behind attn_mask");
    check_begin("bias: none");
    mask.attn_mask.rank = 0;
    CHECK(!mask_has_bias(&mask), "expected none");
}

int main(void)
{
    static const size_t sizes[][2] = {{1, 1}, {3, 8}, {8, 3}, {7, 7}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        check_spans(sizes[i][0], sizes[i][1]);
    check_images();
    check_order();
    check_sequences();
    check_far();
    check_attn_mask();
    check_booleans();
    check_scans();
    check_begin("rules: their rows");
    for (int rule = 0; rule < MASK_RULE_COUNT; rule++)
        check_row((enum mask_rule)rule);
    check_begin("rules of an option or a tensor");
    for (uint32_t seed = 0; seed < 1024; seed++)
        check_given(seed);
    return check_end();
}
