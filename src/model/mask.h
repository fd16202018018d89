/* SPDX-License-Identifier: MIT */
/* Which keys the mask allows each query, and what it adds to scores. A rule, a row of mask_rows.h, forbids keys.
 *
 *   B items of a batch, H query heads, Tq queries, Tk keys. Query i has position p = i + offset among the keys.
 *
 * These forbid a key: the causal rule (j > p), the window (j < p - left or j > p + right), the item's length, another
 * sequence, and attn_mask by a boolean or minus infinity. The first two allow every key of the query's own image. A
 * forbidden key takes no part in anything: the code selects, never multiplies. Only these rules make a row empty, never
 * the scores.
 *
 * Relative bias: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with T5", section 2.1. ALiBi: Press et
 * al. 2022, "Train Short, Test Long", section 3. Sinks: Xiao et al. 2024, "Efficient Streaming Language Models with
 * Attention Sinks", as one more logit per head, in the maximum and the denominator alone. */
#pragma once

#include "base/choice.h"
#include "base/text.h"
#include "model/mask_rows.h"
#include "tensor/tensor.h"

#include <stdint.h>

/* The weights of an empty row: all zero, all NaN, or all 1 / Tk; with the words of --empty-row. */
#define EMPTY_ROWS(ROW) ROW(EMPTY_ROW_ZERO, "zero") ROW(EMPTY_ROW_NAN, "nan") ROW(EMPTY_ROW_MEAN, "mean")

enum empty_row { EMPTY_ROWS(CHOICE_ID) EMPTY_ROW_COUNT };

/* Keys first .. end - 1; none where first == end. */
struct span {
    size_t first, end;
};

enum { MASK_RANK = 4 };

/* The position of key j that a slope of ALiBi multiplies. All three give the same softmax, but round differently before
 * it. */
enum mask_from {
    MASK_FROM_QUERY, /* |j - p|, as the paper has it */
    MASK_FROM_FIRST, /* -j: BLOOM, Falcon */
    MASK_FROM_LAST,  /* Tk - 1 - j: MPT */
};

/* Consecutive sequences in the queries and keys of one item, as in FlashAttention's varlen interface: query i belongs
 * to sequence s = of_query[i], with queries query_starts[s] .. query_starts[s + 1] - 1; keys likewise. */
struct mask_sequences {
    size_t count;                             /* N; 0: there are none */
    const int64_t *query_starts, *key_starts; /* (N + 1) from 0 to Tq, to Tk; never decreasing */
    const size_t *of_query;                   /* (Tq) */
    bool from_end;                            /* aligns each sequence's last query and key, else its first ones */
};

/* How ALiBi computes slope x position. */
struct mask_places {
    enum mask_from from;
    bool rounds; /* rounds slope x position to `product`, that / `root` to `quotient` */
    enum dtype product, quotient;
    double root;
};

/* Why a key is forbidden: a rule, or attn_mask. */
#define MASK_ID(id, ...) MASK_##id,
enum mask_rule {
    MASK_ROWS(MASK_ID) MASK_RULE_COUNT,
    MASK_SHORT = MASK_RULE_COUNT, /* attn_mask is shorter than the keys */
    MASK_ENTRY,                   /* an entry of attn_mask forbids it */
    MASK_ALLOWS,
};

/* The input of a rule: its option's number or its tensor. */
struct mask_given {
    int64_t number;          /* 0: none */
    const int64_t *ids;      /* (lists, count) or NULL */
    size_t lists, count;     /* 1 or B; Tk */
    const struct span *runs; /* (lists, count) from the first to the last key of the same id */
    size_t distinct;         /* ids in the list that has most */
    bool scattered;          /* some run holds other ids, too */
};

struct mask {
    size_t queries, keys; /* Tq, Tk */
    struct mask_given given[MASK_RULE_COUNT];
    bool causal;
    int64_t left, right; /* allowed keys before and after the query's position; below 0: unbounded */
    /* (Tk) or NULL: the keys of the image at each position, empty for text. Neither causal rule nor window masks a key
     * of the image at the query's position. Excludes lengths and sequences; a query's position may lie outside the
     * keys, where there is no image */
    const struct span *images;
    int64_t offset;         /* valid without lengths and sequences */
    const int64_t *lengths; /* (B) item b has lengths[b] keys, and its offset is lengths[b] - Tq; NULL: all Tk */
    struct mask_sequences sequences; /* of the one item; excludes lengths */
    struct tensor attn_mask;         /* BOOL, F32 or F64; rank 0: none. No number is NaN or plus infinity */
    size_t strides[MASK_RANK];       /* of attn_mask along B, H, Tq, Tk, in numbers; 0 where it is broadcast */
    size_t masked_keys;              /* a shorter attn_mask forbids the keys from here on; else Tk */
    bool true_drops;                 /* true in a boolean attn_mask forbids, else it allows */
    const double *alibi_slopes;      /* (H) or NULL: adds -slope x |j - p|, or as places say, to scores */
    struct mask_places places;
    const double *sinks;       /* (H) or NULL */
    const double *relative;    /* (buckets, H) T5's bias by distance of key and query; or NULL */
    size_t heads, buckets;     /* of relative, */
    int64_t relative_distance; /* the last bucket holds this distance and all above, */
    bool both_ways;            /* keys after the query have half of the buckets */
    const uint32_t *bucket_of; /* (2 relative_distance + 1) mask_bucket from -relative_distance on */
    enum empty_row empty_row;
};

/* A query's position among the keys minus its index; the same for all queries of an item without sequences. */
int64_t mask_offset(const struct mask *mask, size_t item, size_t query);

/* The keys of the query's sequence; all keys without sequences. */
struct span mask_sequence(const struct mask *mask, size_t query);

/* The span of keys that the causal rule, window, length, sequence and a short attn_mask allow a query (from 0). */
struct span mask_span(const struct mask *mask, size_t item, size_t query);

/* Whether the sequences of queries and of keys have different starts. */
bool mask_sequences_differ(const struct mask *mask);

/* Whether attn_mask, ALiBi, T5's table or a rule of single keys changes anything within the span. */
bool mask_has_bias(const struct mask *mask);

/* The bucket of T5's table for a key at `distance` behind the query (negative: before it). */
size_t mask_bucket(const struct mask *mask, int64_t distance);

/* Fills bucket_of from relative_distance and both_ways. STATUS_SYSTEM: out of memory. */
enum status mask_list_buckets(struct mask *mask, struct arena *arena, struct error *error);

/* bias (count), F32 or F64, += T5's bias of the keys from `first` on; a finite number stays finite. */
void mask_add_relative(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
                       enum dtype number, void *bias);

/* The position of a key that the slopes multiply. */
double mask_place(const struct mask *mask, size_t item, size_t query, size_t key);

/* Keys first .. end - 1; may extend beyond the first and last key. */
struct mask_reach {
    int64_t first, end;
};

/* A query, as the rules take it. */
struct mask_query {
    size_t item, query;
    int64_t position;         /* among the keys */
    struct mask_reach lifted; /* keys that rules of position must not forbid */
};

/* Words of which rules make their sentences. */
struct mask_words {
    const char *query; /* "query", or "query's position" */
    /* " and not of its image", for keys forbidden before the query, and after it */
    const char *unless_before, *unless_after;
};

/* Call the others only if `applies` returns true; NULL where a rule has none. */
struct mask_functions {
    bool (*applies)(const struct mask *mask);
    /* `reach`: the keys that it allows a query; neither end decreases from one query to the next. `lift`: the keys that
     * it exempts from rules of position; `first` is INT64_MAX where it exempts none before the query. */
    struct mask_reach (*reach)(const struct mask *mask, const struct mask_query *query);
    struct mask_reach (*lift)(const struct mask *mask, const struct mask_query *query);
    /* Whether it forbids a key within its reach: a rule whose ids are scattered may. */
    bool (*forbids)(const struct mask *mask, const struct mask_query *query, size_t key);
    /* Which keys it forbids, "key > length", or a function that adds it to the text, "key > query", or nothing.
     * `reason` adds why this one (from 0), "key 3 > query 2"; `unless` says what it exempts, " and not in its
     * image". */
    const char *rule_words;
    void (*rule)(const struct mask *mask, const struct mask_words *words, struct text *text);
    void (*reason)(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                   struct text *text);
    const char *unless;
    bool after_alone; /* it exempts no key before the query */
};

struct mask_row {
    const struct mask_functions *functions;
    const char *option, *tensor, *counted;
    bool bounds, causal;
};

extern const struct mask_row MASKS[MASK_RULE_COUNT];

/* The rule that reads the tensor of that name; MASK_RULE_COUNT: none. */
enum mask_rule mask_reads(const char *name);

/* Whether a rule applies; and whether any rule that may forbid a key does. */
bool mask_applies(const struct mask *mask, enum mask_rule rule);
bool mask_has_rules(const struct mask *mask);

/* Whether some rule has a number or ids. */
bool mask_is_given(const struct mask *mask);

/* The rule that exempts keys after the query from the causal rule; MASK_RULE_COUNT: none. */
enum mask_rule mask_lifting(const struct mask *mask);

/* Whether some rule forbids keys one by one, within the span. */
bool mask_has_cells(const struct mask *mask);

/* Fills runs, distinct and scattered from ids, lists and count. STATUS_SYSTEM: out of memory. */
enum status mask_list_runs(struct mask_given *given, struct arena *arena, struct error *error);

/* The struct mask_query of a query. */
struct mask_query mask_query_of(const struct mask *mask, size_t item, size_t query);

/* The first rule that forbids a key. */
enum mask_rule mask_rule_of(const struct mask *mask, size_t item, size_t head, size_t query, size_t key);

/* Whether the mask forbids a query this key; all keys. */
bool mask_forbids(const struct mask *mask, size_t item, size_t head, size_t query, size_t key);
bool mask_is_empty(const struct mask *mask, size_t item, size_t head, size_t query);

/* Writes bias (count), what the mask adds to the scores of keys first .. first + count of one query: minus infinity
 * where attn_mask or a rule of single keys forbids the key. Ignores the span. */
void mask_bias(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               double *bias);

/* Writes bias (Tk): minus infinity where the mask forbids the key, else what it adds. Returns whether it forbids
 * all. */
bool mask_row(const struct mask *mask, size_t item, size_t head, size_t query, double *bias);

/* For the fused path: attn_mask, or rules of single keys, for keys first .. first + count of one query. The mask has
 * one of the two; attn_mask is BOOL, F32 or F64, with strides[3] 0 or 1; count is at least 1 and first + count at most
 * masked_keys. Each call reads memory again: if another program changes a mapped file, two calls may disagree, and a
 * scan may find nothing. */

/* What it says of these keys, in bits. */
enum {
    MASK_SAYS_PLAIN = 1,     /* some are allowed, with nothing added */
    MASK_SAYS_FORBIDDEN = 2, /* some are forbidden */
    MASK_SAYS_MORE = 4,      /* numbers that are not all 0 nor all minus infinity: this bit alone */
};

/* Returns these bits for `rows` rows, `stride` apart, of `count` numbers of attn_mask's dtype, at least 1 of each; each
 * kernel has one. A boolean attn_mask needs none. */
typedef unsigned mask_scanner(const void *numbers, size_t stride, size_t rows, size_t count);

/* Of `rows` queries from `query` on; ends early once they disagree. */
unsigned mask_scan(const struct mask *mask, mask_scanner *scan, size_t item, size_t head, size_t query, size_t rows,
                   size_t first, size_t count);

/* Writes bias (count), what attn_mask or the rules add, as F32 or F64. */
void mask_load(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               enum dtype number, void *bias);

/* Prefetches what the other two will read. */
void mask_prefetch(const struct mask *mask, size_t item, size_t head, size_t query, size_t rows, size_t first,
                   size_t count);
