/* SPDX-License-Identifier: MIT */
/* The fused path: computes the context with the kernels, in memory that grows with T d, not T x T.
 *
 *   H query heads (the items of a batch are just more heads), Tq queries, Tk keys, d columns of query and key, d_v of
 *   value. `group` consecutive query heads read one key head.
 *
 * The context is that of the reference, softmax(query . key^T x scale, capped and masked) . value, in tiles with a
 * running softmax (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al. 2022,
 * "FlashAttention"). A task is one head and a block of queries, cut into tiles as wide as the kernel's lanes. It walks
 * over the keys block by block, from its queries' first allowed key to the last. A tile skips blocks that the mask
 * forbids, and only blocks that the mask forbids in part, or adds to, cost extra. A head's last queries, which have the
 * most allowed keys under a causal mask, start first.
 *
 * The bits are the same for any number of threads and any subset of the queries. Blocks of keys start at multiples of
 * one fixed length in every tile. So do groups of blocks; each group's sums are added at its end, so errors do not grow
 * with the number of keys. Lanes are independent, every sum runs over keys or columns in ascending order, and a
 * forbidden key adds exactly 0. Another instruction set may give other bits.
 *
 * query must be finite; this path checks key and value if the job asks, while they are in the cache. An overflow inside
 * gives infinities or NaN in its rows, as in the reference; a row with allowed keys is not empty, whatever their
 * scores. Numbers of attn_mask beyond +-2.3e38, in float, count as +-2.3e38. */
#pragma once

#include "kernel/kernel.h"
#include "kernel/work.h"
#include "model/mask.h"

/* Which of them hold NaN or infinity. A non-finite row of query spoils only its own row. */
struct fused_found {
    bool key, value, query;
};

/* Takes rows of the context as threads make them: `count` numbers of it from index `first` on, valid until `take`
 * returns. Threads call it at the same time. */
struct fused_row_sink {
    void (*take)(void *context, const void *numbers, size_t first, size_t count); /* NULL: none */
    void *context;
};

/* The sums of a row that its statistics come from. */
struct fused_sums {
    double largest; /* of its masked scores and the sink */
    double sum;     /* of exp(score - largest), the sink's too; NaN where all overflowed to minus infinity */
    double of_keys; /* the sum without the sink's */
    double logs;    /* of exp(score - largest) x (score - largest), keys only; 0 if no statistic needs it */
    double sink;    /* minus infinity: none */
    bool empty;     /* the mask forbids every key, so only the sink counts */
    enum empty_row empty_row;
    size_t keys; /* Tk */
};

/* A statistic: one number per query of each head. */
struct fused_statistic {
    double (*number)(const struct fused_sums *sums);
    bool takes_logs;
    enum dtype dtype;
    void *numbers; /* (H, Tq) of `dtype`, written */
};

/* The caller keeps ownership of everything; outputs must not overlap the rest. Sizes are at least 1. query, key and
 * value have the kernel's dtype, context its number dtype. */
struct fused_job {
    const void *query; /* (H, Tq, d) */
    const void *key;   /* (H / group, Tk, d) */
    const void *value; /* (H / group, Tk, d_v) */
    void *context;     /* (H, Tq, d_v) written, or as side_by_side says; NULL: `row_sink` takes it */
    const struct fused_statistic *statistics; /* statistic_count of them */
    size_t statistic_count;
    size_t heads;          /* H, of all items */
    size_t group;          /* 0 or 1: each query head has its own; n, which divides H: head h reads key head h / n */
    size_t heads_per_item; /* n, which divides H: head h is head h % n of item h / n to the mask; 0: all of one item */
    size_t side_by_side;   /* 0 or 1: as above; n, which divides H: context is (H / n, Tq, n d_v), with the heads of an
                              item side by side for an output projection */
    size_t queries;        /* Tq */
    size_t keys;           /* Tk */
    size_t d, d_v;         /* columns of one head */
    const size_t *positions; /* (Tq) each query's index in the mask, ascending; NULL: 0, 1, 2, ... */
    const struct mask *mask; /* has Tk keys, and queries as positions counts them; attn_mask is BOOL or of the kernel's
                                numbers, its last stride 0 or 1. NULL: allows every key */
    double scale;            /* as in the reference, usually 1 / sqrt(d); fused_takes_scale must accept it */
    double softcap;          /* softcap x tanh(logit / softcap) replaces logits before the mask; 0: none */
    unsigned threads;        /* at most; small jobs use one */
    const struct kernel *kernel;
    struct fused_found *found;      /* written: checks all of key and value; NULL: no check */
    struct fused_row_sink row_sink; /* requires context NULL and side_by_side 0 or 1 */
    struct work_progress progress;
};

/* False for a scale whose logits to the base 2 would overflow those numbers: from +-2.36e38 on in F32. */
bool fused_takes_scale(enum dtype number, double scale);

/* Writes the context, or fails with STATUS_SYSTEM before it writes anything: out of memory for the scratch of
 * fused_scratch_bytes(job), which it allocates and frees. If `found` reports something not finite, context and
 * statistics are useless. */
enum status fused_context(const struct fused_job *job, struct error *error);

/* The bytes that fused_context allocates: per thread about 90 KB at d = d_v = 64, 125 KB for more than 12288 keys. They
 * grow with d + d_v, but not further with the number of tokens; a quarter more with an attn_mask, up to 400 KB more if
 * the kernel packs keys, and the rows of a task with a row_sink. SIZE_MAX: no size_t holds it. */
size_t fused_scratch_bytes(const struct fused_job *job);
