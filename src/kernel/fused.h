/* SPDX-License-Identifier: MIT */
/* The fused path: the context on the kernels, in memory that grows with T d, not T x T.
 *
 *   H query heads (the items of a batch are just more heads), Tq queries, Tk keys, d columns of query and key, d_v of
 *   value. `group` query heads that follow one another read one key head.
 *
 * The context is that of the reference, softmax(query . key^T x scale, capped and masked) . value, in tiles with a
 * running softmax (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al. 2022,
 * "FlashAttention"). A task is one head and a block of queries, cut into tiles as wide as the kernel's lanes. It walks
 * over the keys block by block, from the first that its queries see to the last; blocks that the mask hides from a tile
 * are never touched, and only blocks that it hides in part, or adds something to, pay for it. A head's last queries,
 * which see the most keys under a causal mask, start first.
 *
 * The same bits for any number of threads and for any subset of the queries: blocks of keys start at multiples of one
 * fixed length whatever the tile, as do groups of blocks, whose sums are added up at their end, so that errors do not
 * grow with the number of keys; a lane knows nothing of its neighbours, every sum runs over keys or columns in
 * ascending order, and a key that a query does not see adds exactly 0 to it. Another instruction set may give other
 * bits.
 *
 * query must be finite; key and value are looked at for that here, while they lie in the cache, where the job says so.
 * What overflows inside gives infinities or NaN in its rows, as in the reference; a row that sees keys is no empty row,
 * whatever becomes of their scores. Numbers of attn_mask beyond +-2.3e38, in float, count as that. */
#ifndef ATTN_KERNEL_FUSED_H
#define ATTN_KERNEL_FUSED_H

#include "kernel/kernel.h"
#include "kernel/work.h"
#include "model/mask.h"

/* Which of them hold NaN or infinity. In the query each row is its own matter: the others are what they are. */
struct fused_found {
    bool key, value, query;
};

/* Who takes rows of the context as they are made: `count` of its numbers, from the one at `first` on, which are there
 * until it returns. Each thread hands over its own, while others go on. */
struct fused_row_sink {
    void (*take)(void *context, const void *numbers, size_t first, size_t count); /* NULL: nobody */
    void *context;
};

/* What the kernels sum of a row, of which its statistics are made. */
struct fused_sums {
    double largest; /* of its masked scores, the sink among them */
    double sum;     /* of exp(score - largest), the sink's too; NaN where all overflowed to minus infinity */
    double of_keys; /* the sum without the sink's */
    double logs;    /* of exp(score - largest) x (score - largest), of keys alone; 0 where no statistic takes it */
    double sink;    /* minus infinity: there is none */
    bool empty;     /* the mask forbids every key: then nothing but the sink counts, and */
    enum empty_row empty_row;
    size_t keys; /* Tk */
};

/* A number for each query of each head. */
struct fused_statistic {
    double (*number)(const struct fused_sums *sums);
    bool takes_logs;
    enum dtype dtype;
    void *numbers; /* (H, Tq) of that dtype, written */
};

/* The job borrows everything; what is written must not overlap the rest. Sizes are at least 1. query, key and value are
 * of the kernel's dtype, context of its numbers. */
struct fused_job {
    const void *query; /* (H, Tq, d) */
    const void *key;   /* (H / group, Tk, d) */
    const void *value; /* (H / group, Tk, d_v) */
    void *context;     /* (H, Tq, d_v) written, or side by side: see below; NULL: `row_sink` has it */
    const struct fused_statistic *statistics; /* so many of each row */
    size_t statistic_count;
    size_t heads;          /* H, of all items */
    size_t group;          /* 0 or 1: each query head has its own; n, which divides H: head h reads key head h / n */
    size_t heads_per_item; /* n, which divides H: head h is head h % n of item h / n to the mask; 0: all of one item */
    size_t side_by_side;   /* 0 or 1: as above; n, which divides H: context is (H / n, Tq, n d_v), the heads of an item
                              side by side as an output projection reads them */
    size_t queries;        /* Tq */
    size_t keys;           /* Tk */
    size_t d, d_v;         /* columns of one head */
    const size_t *positions; /* (Tq) which query of the mask each one is, ascending; NULL: 0, 1, 2, ... */
    const struct mask *mask; /* its keys are Tk, its queries those that positions counts; attn_mask is BOOL or of the
                                kernel's numbers, the last of its strides 0 or 1. NULL: every query sees every key */
    double scale;            /* the reference's, usually 1 / sqrt(d); one that fused_takes_scale takes */
    double softcap;          /* logits become softcap x tanh(logit / softcap) before the mask; 0: they stay */
    unsigned threads;        /* at most; small jobs use one */
    const struct kernel *kernel;
    struct fused_found *found;      /* written where the whole key and value are to be looked at; or NULL */
    struct fused_row_sink row_sink; /* then `context` is NULL, and heads are not side by side */
    struct work_progress progress;
};

/* False for a scale whose logits to the base 2 would overflow those numbers: from +-2.36e38 on in F32. */
bool fused_takes_scale(enum dtype number, double scale);

/* Writes the whole context, or fails with STATUS_SYSTEM before it has written anything: there was no memory for the
 * scratch of fused_scratch_bytes(job), which it allocates and frees. Where `found` says that something is not finite,
 * context and statistics hold nothing of use. */
enum status fused_context(const struct fused_job *job, struct error *error);

/* The memory that fused_context allocates, beyond what the job points to: a scratch for each thread, about 90 KB at
 * d = d_v = 64, 125 KB for more than 12288 keys, and growing with d + d_v, but not further with the number of tokens; a
 * quarter more where there is an attn_mask, up to 400 KB more where the kernel makes something of its keys, and
 * the rows of a task where they are taken.
 * SIZE_MAX where no size_t holds it. */
size_t fused_scratch_bytes(const struct fused_job *job);

#endif
