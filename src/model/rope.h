/* SPDX-License-Identifier: MIT */
/* Rotary position embedding: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", eq. 34.
 * 
 *   d columns of a row of query or key, n of them rotated in n / 2 pairs (a, b), each by its own angle:
 *   (a, b) -> (a cos - b sin, b cos + a sin),  angle = position x frequency,  frequency[i] = theta^(-2 i / n)
 * 
 * The numbers are those of transformers: frequencies and angles are float32, rounded at each step; cos and sin of the
 * float32 angle are rounded to float32. A job in float64 uses the double angle, which differs by 3e-4 at position
 * 4096. */
#pragma once

#include "base/choice.h"
#include "base/memory.h"
#include "tensor/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* Which columns are a pair: i and i + n / 2, or 2 i and 2 i + 1. DeepSeek V3 reads pairs and writes halves. */
/* clang-format off */
#define ROPE_KINDS(ROW) \
    ROW(ROPE_NONE, "none") ROW(ROPE_HALF, "half") ROW(ROPE_PAIRS, "pairs") \
    ROW(ROPE_PAIRS_TO_HALVES, "pairs-to-halves")
/* clang-format on */

enum rope_kind { ROPE_KINDS(CHOICE_ID) ROPE_KIND_COUNT };

/* What holds for positions in time, height and width, as --rope-axes has it. Pairs take axes in turn, each at most so
 * many, the rest the first: Qwen3-VL's text. Frequencies start again on each axis (Qwen-VL's pictures), or each axis
 * takes every n-th (Pixtral); else they run on. A grid's patches come in blocks of merge x merge, in windows so wide.
 * Apart: keys of other windows, or frames, are masked; without an axis of time a grid of frames needs one of the two
 * words. Coordinates count from `from`, or are 2 pi times the place of the centre, from -1 to 1: DINOv3. So many tokens
 * before the grid, or after it, stay unrotated. */
/* clang-format off */
#define ROPE_AXES_FACTS(ROW) \
    ROW(interleaved, "interleaved") ROW(restarted, "restarted") ROW(strided, "strided") ROW(merge, "merge=") \
    ROW(window, "window=") ROW(windows_apart, "windows-apart") ROW(frames_apart, "frames-apart") \
    ROW(frames_joint, "frames-joint") ROW(from, "from=") ROW(centred, "centred") ROW(rest_first, "rest-first=") \
    ROW(rest_last, "rest-last=")
#define ROPE_AXES_FIELD(field, word) size_t field;
/* clang-format on */

enum { ROPE_AXES = 3 };
#define ROPE_AXIS_LETTERS "thw"

/* Starts as {0}: one position. The axes are in the order in which pairs take them; all pairs 0: equal shares; has[i]:
 * axis i is among them. */
struct rope_axes {
    size_t count, axis[ROPE_AXES], pairs[ROPE_AXES];
    bool has[ROPE_AXES];
    ROPE_AXES_FACTS(ROPE_AXES_FIELD)
};

/* "none", "t16,h24,w24", "h,w,restarted,merge=2". STATUS_USAGE "place: ..." with what was expected. */
enum status rope_axes_parse(const char *place, const char *text, struct rope_axes *axes, struct error *error);

/* The axis (0 to 2) of a pair, and its frequency theta^(-index / of). */
struct rope_axis {
    size_t axis, index, of;
};

struct rope_axis rope_axis(const struct rope_axes *axes, size_t pairs, size_t pair);

/* STATUS_USAGE: the axes do not share that many pairs. */
enum status rope_axes_check(const struct rope_axes *axes, size_t pairs, struct error *error);

/* The coordinates of a grid's patches, (time x height x width, ROPE_AXES), in the order of the tokens, and the group of
 * each, from 0: keys of other groups are masked. STATUS_USAGE: blocks do not fit. */
enum status rope_grid(const struct rope_axes *axes, const size_t sizes[ROPE_AXES], bool in_double, double *coordinates,
                      int64_t *groups, struct error *error);

/* How a scaling changes frequencies for texts longer than in training. */
/* clang-format off */
#define ROPE_SCALINGS(ROW) \
    ROW(ROPE_SCALING_NONE, "none") ROW(ROPE_SCALING_LINEAR, "linear") ROW(ROPE_SCALING_DYNAMIC, "dynamic") \
    ROW(ROPE_SCALING_LLAMA3, "llama3") ROW(ROPE_SCALING_YARN, "yarn") ROW(ROPE_SCALING_LONGROPE, "longrope") \
    ROW(ROPE_SCALING_PROPORTIONAL, "proportional")
/* clang-format on */

enum rope_scaling_kind { ROPE_SCALINGS(CHOICE_ID) ROPE_SCALING_COUNT };

/* Numbers of a scaling as its text has them, "1.0;1.5;2"; the text belongs to the caller. */
struct rope_list {
    const char *text; /* NULL: none */
    size_t count;
};

/* Starts as {0}: none. Fields that a kind does not use are 0. */
struct rope_scaling {
    enum rope_scaling_kind kind;
    double factor;                          /* divides frequencies: linear, dynamic, llama3, yarn, proportional */
    double old;                             /* positions in training: all but linear */
    double low, high;                       /* llama3: turns within `old`; below low: divided, above high: kept */
    double fast, slow;                      /* yarn: the same; kept from fast on, divided up to slow */
    double share;                           /* proportional: of the pairs that rotate, the first ones */
    double max;                             /* longrope: positions that it was made for; 0: unknown */
    double attention;                       /* yarn, longrope: factor of cos and sin; 0: their rule */
    double beyond;                          /* longrope: the same for positions beyond `old`; 0: `attention` */
    bool whole_ramp;                        /* yarn: the ramp from fast to slow begins and ends at a whole pair */
    struct rope_list short_list, long_list; /* longrope: divisors of the frequencies up to `old`, and beyond */
};

/* A query at position p is multiplied by 1 + by ln(1 + floor((p + ahead) / every)); by 0: none grows. ahead: 1 where
 * positions count from 1. every: at least 1. */
struct query_growth {
    double by;
    size_t every, ahead;
};

/* "none", "linear:factor=8", "llama3:factor=8,low=1,high=4,old=8192", ...: the keys in any order. The scaling points
 * into the text, which must outlive it. STATUS_USAGE "place: ..." with what was expected. */
enum status rope_scaling_parse(const char *place, const char *text, struct rope_scaling *scaling, struct error *error);

struct rope_settings {
    enum rope_kind kind;
    double theta;
    size_t columns; /* n; 0: all */
    bool last;      /* rotates the last n columns, else the first */
    bool in_double; /* computes frequencies, angles, cos and sin in double, else float32 */
    struct rope_scaling scaling;
    struct rope_axes axes;
    const double *coordinates; /* (tokens, ROPE_AXES): a position is then a row of it; NULL: of all axes the same */
    double step, start; /* a mistake: the exponent is -(step i + start) / n in place of -2 i / n; 0 and 0: none */
};

enum { ROPE_POSITION_LIMIT = INT32_MAX }; /* the highest position */

struct rope {
    enum rope_kind kind;
    bool in_double;
    size_t width;              /* d */
    size_t first, columns;     /* rotates n columns from there on */
    const double *frequencies; /* (n / 2) */
    struct rope_axes axes;     /* and coordinates: as in the settings */
    const double *coordinates;
    double attention; /* factor of cos and sin */
};

/* The highest coordinate of positions, of which some may be SIZE_MAX, or `least`. */
size_t rope_highest(const struct rope_settings *settings, const size_t *positions, size_t count, size_t least);

/* `highest` is the highest position of query and key, for dynamic and longrope. The frequencies live in the arena.
 * STATUS_USAGE: n is odd or above d, a list does not have n / 2 numbers, the axes do not fit, or an angle is beyond its
 * float. With
 * ROPE_NONE n is 0 and rows are copied. */
enum status rope_create(struct rope *rope, const struct rope_settings *settings, size_t width, size_t highest,
                        struct arena *arena, struct error *error);

/* When to round to the working dtype. transformers has the last three ways. In bfloat16 they give its bits; in float32
 * EACH comes nearest, since PyTorch's cos and sin are not the nearest float for 1 angle in 20. */
enum rope_rounding {
    ROPE_ROUNDING_ONCE,   /* by the caller; products and sum are double */
    ROPE_ROUNDING_EACH,   /* cos and sin, each product and the sum: Llama and most others */
    ROPE_ROUNDING_COSINE, /* cos and sin, and the sum at last; products and sum are float32: Cohere, ModernBERT */
    ROPE_ROUNDING_FLOAT,  /* the sum at last; cos, sin, products and sum are float32: OLMo 2, DeepSeek V2 */
};

/* One pair at one position: its angle in radians, and the cos and sin that rotate it. */
struct rope_turn {
    double angle;
    double cosine, sine;
};

struct rope_turn rope_turn(const struct rope *rope, size_t position, size_t pair, enum rope_rounding rounding,
                           enum dtype dtype);

/* The position of the axis by which a pair turns. */
double rope_coordinate(const struct rope *rope, size_t position, size_t pair);

/* The columns of a pair (from 0, of d): where a rotation reads its two numbers, and where it writes them. */
struct rope_pair {
    size_t from[2], to[2];
};

struct rope_pair rope_pair(const struct rope *rope, size_t pair);

/* The pair that writes a column, or in the backward pass reads it, and which of its two; SIZE_MAX: the column is
 * unrotated. */
size_t rope_pair_of(const struct rope *rope, bool back, size_t column, size_t *which);

/* The cosines and sines (n / 2 each) of a position, for rows of several heads. */
void rope_turns(const struct rope *rope, size_t position, enum rope_rounding rounding, enum dtype dtype,
                double *cosines, double *sines);

/* Rotates one row: x (d) -> y (d), which must not overlap; copies unrotated columns. x holds numbers of the dtype. */
void rope_rotate(const struct rope *rope, const double *cosines, const double *sines, enum rope_rounding rounding,
                 enum dtype dtype, const double *x, double *y);

/* The same at the row's position. */
void rope_row(const struct rope *rope, size_t position, enum rope_rounding rounding, enum dtype dtype, const double *x,
              double *y);
