/* SPDX-License-Identifier: MIT */
/* Attention as people write it, step by step on plain tables: the right way, and a place for each wrong one. Nothing
 * here is attn's but PyTorch's generator.
 *
 *   B items of a batch, H heads of query, G of key and value, Tq queries, Tk keys, d columns of a head, D = H d */
#ifndef ATTN_WHY_ATTENTION_H
#define ATTN_WHY_ATTENTION_H

#include "exercise.h"
#include "model/torch_random.h"

enum { QUERY, KEY, VALUE, ROLES };

typedef double table[ITEMS][HEADS][TOKENS][WIDTH]; /* b, h, token, and a column or a key */
typedef double rows[ITEMS][TOKENS][WIDTH];         /* b, token, column */

/* All that one computation has. */
struct sheet {
    const struct exercise *exercise;
    int B, H, G, Tq, Tk, d, D, d_in;
    enum kind kind;
    struct torch_random random;

    rows inputs;
    double weight[ROLES][WIDTH][WIDTH], bias[ROLES][WIDTH]; /* (D, d_in), as nn.Linear has it; (D) */
    double out_weight[WIDTH][WIDTH], out_bias[WIDTH];       /* (D, D), (D) */
    table entries;                                          /* attn_mask: 1 where a key is seen */
    double slopes[HEADS + 2], sinks[HEADS];                 /* slopes[1 + h]; before and behind, as they would go on */

    int group[HEADS];                 /* the head of key and value that head h reads */
    int offset[ITEMS], length[ITEMS]; /* where query 0 stands among the keys; how many keys count */
    int first, end;                   /* the keys that loops run over */
    int zeros;                        /* keys of padding behind them, with the score 0 */
    double share;                     /* that is dropped */
    double columns;                   /* the scale is 1 / sqrt of them */
    bool hidden[ITEMS][HEADS][TOKENS][TOKENS];

    rows flat[ROLES];  /* the projections, heads side by side */
    table part[ROLES]; /* query, key and value, a head each, */
    table used[ROLES]; /* and as what they are used */
    table scores, scaled, capped, biased, masked, weights, dropped, context;
    double lse[ITEMS][HEADS][TOKENS];
    rows merged, output;
};

/* Steps of the whole, in their order; the heads' own come before MERGE. */
enum whole_step {
    SEED,
    DRAW,   /* the parameters */
    MATRIX, /* what is done to the weights before they are used, */
    BIAS,   /* and to the biases */
    PROJECT,
    SPLIT,
    BITS, /* how the bits of query, key and value are taken */
    ROLE, /* which of them is used as which */
    GROUP,
    PLACE, /* offsets and lengths */
    KEYS,  /* over which loops run */
    MEET,  /* which value a weight meets */
    MERGE,
    OUT,
    WHOLE_STEPS
};

/* Steps of head h of item b, in their order; one is done for all heads before the next. */
enum head_step {
    SCORE,
    BEFORE_SCALE, /* on the scores, in place */
    SCALE,
    CAP,
    DISTANCE, /* ALiBi */
    ADD,      /* on what is biased, in place */
    HIDE,
    SOFTMAX,
    FILL_EMPTY,
    AFTER, /* on the weights, in place */
    DROPOUT,
    CONTEXT,
    LSE,
    HEAD_STEPS
};

/* What a query may see: each of these must say so. */
enum rule { CAUSAL, SIDES, LENGTH, ENTRY, RULES };

struct place {
    int b, h, i, j;
};

typedef void whole(struct sheet *s);
typedef void head(struct sheet *s, int b, int h);
typedef bool sees(const struct sheet *s, struct place at);

/* A way to compute; NULL: the right one. */
struct way {
    whole *whole[WHOLE_STEPS];
    head *head[HEAD_STEPS];
    sees *rules[RULES];
};

/* The exercise's numbers, and all else empty. */
void sheet_begin(struct sheet *s, enum exercise_id id);

void attend(struct sheet *s, const struct way *way);

/* Both ways in one; returns whether no step is of both, else that of the first counts. */
bool way_join(struct way *both, const struct way *one, const struct way *other);

/* Numbers as they are kept. */
double keep(enum kind kind, double number);

/* --- right steps, that wrong ones begin with --------------------------------------------------------------------- */

void nothing(struct sheet *s);
void leave(struct sheet *s, int b, int h);
bool always(const struct sheet *s, struct place at);

void split(struct sheet *s);
void use(struct sheet *s);
void out_proj(struct sheet *s);
void place(struct sheet *s);
void all_keys(struct sheet *s);
void scale(struct sheet *s, int b, int h);
void hide(struct sheet *s, int b, int h);
void softmax(struct sheet *s, int b, int h);
void drop(struct sheet *s, int b, int h);

/* scaled = scores x by. */
void multiply(struct sheet *s, int b, int h, double by);

/* x[n] <- softmax(x); all of them minus infinity become NaN, as everywhere. */
void normalise(double *x, int n);

/* The softmax by another power than exp. */
void softmax_by(struct sheet *s, int b, int h, double (*power)(double));

/* nn.Linear(in, out) into weight [out][in] and, unless that is NULL, bias [out]. */
void draw_linear(struct sheet *s, double (*weight)[WIDTH], double *bias, int in, int out);

/* torch.rand(in, out), whose transpose is the weight [out][in]. */
void draw_rand(struct sheet *s, double (*weight)[WIDTH], int in, int out);

#endif
