/* SPDX-License-Identifier: MIT */
/* Which keys a query may see, and what is added to its scores. What forbids a key is a rule, a row of mask_rows.h.
 *
 *   B items of a batch, H query heads, Tq queries, Tk keys. Query i stands at position p = i + offset among the keys.
 *
 * A key is forbidden by the causal rule (j > p), by the window (j < p - left or j > p + right), by an item's length,
 * since it is of another sequence, or by attn_mask, where it says so or is minus infinity. The first two allow every
 * key of the query's own image. A forbidden key takes no part in anything: it is masked by selection, never by a
 * product. Whether a row is empty, with no key left, is decided by these rules alone, never by the scores.
 *
 * Relative bias: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with T5", section 2.1.
 * ALiBi: Press et al. 2022, "Train Short, Test Long", section 3. Sinks: Xiao et al. 2024, "Efficient Streaming Language
 * Models with Attention Sinks", as one more logit a head in the maximum and the denominator alone. */
#ifndef ATTN_MODEL_MASK_H
#define ATTN_MODEL_MASK_H

#include "base/choice.h"
#include "base/text.h"
#include "model/mask_rows.h"
#include "tensor/tensor.h"

#include <stdint.h>

/* What the weights of an empty row are: all zero, all NaN, or all 1 / Tk; with the words of options. */
#define EMPTY_ROWS(ROW) ROW(EMPTY_ROW_ZERO, "zero") ROW(EMPTY_ROW_NAN, "nan") ROW(EMPTY_ROW_MEAN, "mean")

enum empty_row { EMPTY_ROWS(CHOICE_ID) EMPTY_ROW_COUNT };

/* Keys first .. end - 1; none where first == end. */
struct span {
    size_t first, end;
};

enum { MASK_RANK = 4 };

/* From where the place of a key is counted that a slope of ALiBi is multiplied with. The softmax of a row is the same
 * for all of them, but not the roundings before it. */
enum mask_from {
    MASK_FROM_QUERY, /* |j - p|, as the paper has it */
    MASK_FROM_FIRST, /* -j: BLOOM, Falcon */
    MASK_FROM_LAST,  /* Tk - 1 - j: MPT */
};

/* Sequences that lie one behind the other among the queries and keys of one item, as FlashAttention's varlen interface
 * has them: query i is of sequence of_query[i], whose queries are query_starts[s] .. query_starts[s + 1] - 1, and its
 * keys likewise. */
struct mask_sequences {
    size_t count;                             /* N; 0: there are none */
    const int64_t *query_starts, *key_starts; /* (N + 1) from 0 to Tq, to Tk; never fall */
    const size_t *of_query;                   /* (Tq) */
    bool from_end;                            /* the last query stands at the last key of its sequence, else the first
                                               * one at the first */
};

/* How ALiBi's slope x place is made. */
struct mask_places {
    enum mask_from from;
    bool rounds; /* slope x place to `product`, over `root`, to `quotient`; else nothing is rounded */
    enum dtype product, quotient;
    double root;
};

/* Why a key is forbidden: a rule, or attn_mask. */
#define MASK_ID(id, ...) MASK_##id,
enum mask_rule {
    MASK_ROWS(MASK_ID) MASK_RULE_COUNT,
    MASK_SHORT = MASK_RULE_COUNT, /* attn_mask is shorter */
    MASK_ENTRY,                   /* attn_mask says so */
    MASK_ALLOWS,
};
#undef MASK_ID

/* What a rule has of its option or its tensor. */
struct mask_given {
    int64_t number;          /* 0: none */
    const int64_t *ids;      /* (lists, count) or NULL */
    size_t lists, count;     /* 1 or B; Tk */
    const struct span *runs; /* (lists, count) the keys from the first to the last that has the same id */
    size_t distinct;         /* ids, of the list that has most */
    bool scattered;          /* between those there are others */
};

struct mask {
    size_t queries, keys; /* Tq, Tk */
    struct mask_given given[MASK_RULE_COUNT];
    bool causal;
    int64_t left, right; /* how far before and behind its position a query sees; below 0: unbounded */
    /* (Tk) or NULL: the keys of the image at each position, none for text. Neither the causal rule nor the window
     * hides a key of the image at the query's position. Then there are no lengths and no sequences; a query may stand
     * before the first key or behind the last one, where there is no image */
    const struct span *images;
    int64_t offset;         /* where lengths is NULL and there are no sequences */
    const int64_t *lengths; /* (B) item b has lengths[b] keys, and its offset is lengths[b] - Tq; NULL: all Tk */
    struct mask_sequences sequences; /* of the one item; no lengths then */
    struct tensor attn_mask;         /* BOOL, F32 or F64; rank 0: none. No number is NaN or plus infinity */
    size_t strides[MASK_RANK];       /* of attn_mask along B, H, Tq, Tk, in numbers; 0 where it is broadcast */
    size_t masked_keys;         /* attn_mask forbids the keys from here on, since its last axis is shorter; else Tk */
    bool true_drops;            /* what true means in a boolean attn_mask: forbidden, else allowed */
    const double *alibi_slopes; /* (H) minus slope x |j - p| is added to the scores, or as places say; or NULL */
    struct mask_places places;
    const double *sinks;       /* (H) or NULL */
    const double *relative;    /* (buckets, H) what is added by the distance of key and query, T5's; or NULL */
    size_t heads, buckets;     /* of it, */
    int64_t relative_distance; /* from which on all are in the last bucket, */
    bool both_ways;            /* and whether keys after the query have half of the buckets */
    const uint32_t *bucket_of; /* (2 relative_distance + 1) mask_bucket of the distances from minus that one on */
    enum empty_row empty_row;
};

/* How far the position of a query among the keys of its item is from its own number; of an item without sequences all
 * have the same. */
int64_t mask_offset(const struct mask *mask, size_t item, size_t query);

/* The keys of the sequence of a query; all of them where there are no sequences. */
struct span mask_sequence(const struct mask *mask, size_t query);

/* The keys that the causal rule, the window, the length, the sequence and a short attn_mask leave to a query (from
 * 0). */
struct span mask_span(const struct mask *mask, size_t item, size_t query);

/* Whether the sequences of queries and of keys begin at different places. */
bool mask_sequences_differ(const struct mask *mask);

/* Whether attn_mask, ALiBi, T5's table or a rule of single keys say anything beside the span. */
bool mask_has_bias(const struct mask *mask);

/* The bucket of T5's table for a key at `distance` behind the query (negative: before it). */
size_t mask_bucket(const struct mask *mask, int64_t distance);

/* Makes bucket_of for the distances and ways that the mask says. STATUS_SYSTEM where memory is short. */
enum status mask_list_buckets(struct mask *mask, struct arena *arena, struct error *error);

/* bias (count), numbers of F32 or F64, += what T5's table says of the keys from `first` on; a finite number stays
 * finite. */
void mask_add_relative(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
                       enum dtype number, void *bias);

/* The place of a key that the slopes are multiplied with. */
double mask_place(const struct mask *mask, size_t item, size_t query, size_t key);

/* Keys first .. end - 1, which may lie before the first key and behind the last one. */
struct mask_reach {
    int64_t first, end;
};

/* A query to its rules. */
struct mask_query {
    size_t item, query;
    int64_t position;         /* among the keys */
    struct mask_reach lifted; /* what no rule of position takes off either end */
};

/* What the words of rules are made of. */
struct mask_words {
    const char *query; /* "query", or "query's position" */
    /* " and not of its image": of keys that a rule of position forbids before the query, and after it */
    const char *unless_before, *unless_after;
};

/* All but `applies` are asked only where the rule applies; NULL where a rule has none. */
struct mask_functions {
    bool (*applies)(const struct mask *mask);
    /* The keys that it leaves to a query, of which neither end falls from one query to the next; and the keys that it
     * takes from the rules of position: the first is INT64_MAX where it takes none from before. */
    struct mask_reach (*reach)(const struct mask *mask, const struct mask_query *query);
    struct mask_reach (*lift)(const struct mask *mask, const struct mask_query *query);
    /* Whether it forbids a key within its reach: of a rule with a tensor, where that is scattered. */
    bool (*forbids)(const struct mask *mask, const struct mask_query *query, size_t key);
    /* Which keys it forbids, "key > query", or nothing; why this one (from 0), "key 3 > query 2"; and
     * what it lifts, " and not of its image". */
    void (*rule)(const struct mask *mask, const struct mask_words *words, struct text *text);
    void (*reason)(const struct mask *mask, const struct mask_query *query, size_t key, const char *who,
                   struct text *text);
    const char *unless;
    bool after_alone; /* it lifts no key before the query */
};

struct mask_row {
    const struct mask_functions *functions;
    const char *option, *tensor, *counted;
    bool bounds, causal;
};

extern const struct mask_row MASKS[MASK_RULE_COUNT];

/* The rule that reads a tensor of that name; MASK_RULE_COUNT: none. */
enum mask_rule mask_reads(const char *name);

/* Whether a rule applies; and whether some rule does that may forbid a key. */
bool mask_applies(const struct mask *mask, enum mask_rule rule);
bool mask_has_rules(const struct mask *mask);

/* Whether some rule has a number or ids. */
bool mask_is_given(const struct mask *mask);

/* The rule that takes keys after the query from the causal rule; MASK_RULE_COUNT: none. */
enum mask_rule mask_lifting(const struct mask *mask);

/* Whether some rule forbids keys one by one, within the span. */
bool mask_has_cells(const struct mask *mask);

/* Makes runs, distinct and scattered of ids, lists and count. STATUS_SYSTEM where memory is short. */
enum status mask_list_runs(struct mask_given *given, struct arena *arena, struct error *error);

/* A query, as rules are asked about it. */
struct mask_query mask_query_of(const struct mask *mask, size_t item, size_t query);

/* The first rule that forbids a key. */
enum mask_rule mask_rule_of(const struct mask *mask, size_t item, size_t head, size_t query, size_t key);

/* Whether a key is forbidden to a query, and whether all are. */
bool mask_forbids(const struct mask *mask, size_t item, size_t head, size_t query, size_t key);
bool mask_is_empty(const struct mask *mask, size_t item, size_t head, size_t query);

/* What is added to the scores of keys first .. first + count of one query: bias (count) written, minus infinity where
 * attn_mask, or a rule of single keys, forbids the key. Says nothing of the span. */
void mask_bias(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               double *bias);

/* The whole row: bias (Tk) has minus infinity where a key is forbidden, else what is added. Returns whether it forbids
 * all. */
bool mask_row(const struct mask *mask, size_t item, size_t head, size_t query, double *bias);

/* attn_mask, and rules of single keys, of keys first .. first + count of one query, for the fused path. There is one of
 * them; the dtype of attn_mask is BOOL or that of the numbers, F32 or F64, and strides[3] is 0 or 1; count is at
 * least 1 and first + count at most masked_keys. Each call reads it anew: where it lies in a file that another program
 * changes, two of them may not agree, and a scan may find nothing at all. */

/* What it says of them, in bits. */
enum {
    MASK_SAYS_PLAIN = 1,     /* some are allowed, with nothing added */
    MASK_SAYS_FORBIDDEN = 2, /* some are forbidden */
    MASK_SAYS_MORE = 4,      /* numbers that are not all 0 nor all minus infinity: this bit alone */
};

/* Says so of `count` numbers, at least 1, that follow one another and have the dtype of attn_mask; a kernel has one. A
 * boolean attn_mask needs none. */
typedef unsigned mask_scanner(const void *numbers, size_t count);

unsigned mask_scan(const struct mask *mask, mask_scanner *scan, size_t item, size_t head, size_t query, size_t first,
                   size_t count);

/* What it adds: bias (count) written, in numbers of F32 or F64. */
void mask_load(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count,
               enum dtype number, void *bias);

/* Asks the memory for what the other two will read; count may be 0. */
void mask_prefetch(const struct mask *mask, size_t item, size_t head, size_t query, size_t first, size_t count);

#endif
