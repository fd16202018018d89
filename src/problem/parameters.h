/* SPDX-License-Identifier: MIT */
/* The weight matrices of an attention module: taken from a file, or drawn as PyTorch draws them.
 *
 * A module is one set of three projections. Self, causal and split heads have one module, whose projections make the
 * columns of all heads together; stacked heads have one each. Split heads have an output projection. */
#ifndef ATTN_PROBLEM_PARAMETERS_H
#define ATTN_PROBLEM_PARAMETERS_H

#include "model/norm.h"
#include "model/stage_id.h"
#include "model/torch_random.h"
#include "read/input_file.h"

enum projection_id { PROJECTION_QUERY, PROJECTION_KEY, PROJECTION_VALUE, PROJECTION_COUNT };

/* The stage that a projection makes in the end; and the projection that makes a stage, on the way to it too,
 * PROJECTION_COUNT where none does. */
enum stage projection_stage(enum projection_id id);
enum projection_id projection_of(enum stage stage);

/* y = x . W + bias. */
struct projection {
    struct tensor weight; /* as stored: (d_in, d_out), or (d_out, d_in) where transposed */
    bool transposed;      /* named ".weight", as nn.Linear stores it */
    struct tensor bias;   /* (d_out); rank 0 where there is none */
};

struct module {
    struct projection projections[PROJECTION_COUNT];
};

/* Key and value by way of one narrow row, the latent, and query by way of another, or straight: DeepSeek-AI 2024,
 * "DeepSeek-V2", section 2.1, multi-head latent attention.
 *
 *     latent   = key_value_a . inputs, and behind its `rank` columns the d_rope that all heads rotate
 *     key      = d_nope columns of key_value_b . norm(latent), a head's own, then these d_rope
 *     value    = the d_v columns of key_value_b behind them
 *     query    = query_b . norm(query_a . inputs), or by its projection alone */
struct latent {
    struct projection query_a, query_b;         /* weights of rank 0 where query comes straight */
    struct projection key_value_a, key_value_b; /* (rank + d_rope, d_in), (H (d_nope + d_v), rank); rank 0: no latent */
    struct norm query_norm, key_value_norm;     /* over all columns */
    size_t rank, d_rope, d_nope;
};

struct parameters {
    size_t module_count;
    struct module *modules;
    struct projection out; /* (d_output, H d_v); weight of rank 0 where the mechanism has no output projection; a file
                              may give it without a bias */
    struct norm norms[NORM_COUNT]; /* of inputs (d_in); of query and key (d), (H d) or (H, d) */
    struct tensor relative_bias;   /* (buckets, H) T5's table; rank 0: none */
    struct latent latent;
    bool given;         /* by a file, not drawn */
    const char *source; /* the file that gave them */
};

/* What a module is to look like. */
struct parameters_plan {
    size_t d_in, d_out;      /* of one module; key has d_out / groups columns */
    size_t d_key_in;         /* columns of what key and value are made of */
    const char *keys_source; /* the file of that, where it is not the inputs'; else NULL */
    size_t d_value;          /* columns of value, of all its heads: d_out / groups but where a file has others */
    size_t d_output;         /* columns of output: d_out but where a file has others */
    size_t groups;           /* heads of query to one of key and value */
    size_t kv_heads;
    size_t module_count; /* heads where stacked, else 1 */
    bool stacked;        /* names begin with "heads.N." */
    bool has_out;
    bool qkv_bias;                    /* some of the three have a bias; drawn ones all or none */
    enum norm_kind norms[NORM_COUNT]; /* NORM_KIND_COUNT: as the parameters tell */
    double norm_eps[NORM_COUNT];      /* below 0: what is usual for the kind */
    enum init init;
    const char *order; /* in which they are drawn, "kqv"; NULL: query, key, value */
    enum dtype dtype;  /* the working dtype: parameters are drawn in float32 and then widened */
    bool as_matrix;    /* name and store drawn projections as W_query (d_in, d_out) */
};

enum { PARAMETER_NAME_BYTES = 48 };

/* "heads.0.W_query.weight" into name: the weight or the bias of a projection of a module. */
const char *parameters_name(char *name, size_t module, bool stacked, enum projection_id id, const char *suffix);

/* How many tensors parameters may have. Number i of them, in the order of results, rank 0 where it is not there: of
 * each module the weight and the bias of its projections, then those of parameter_rows.h; and with its name. */
size_t parameters_count(const struct parameters *parameters);
struct tensor *parameters_tensor(struct parameters *parameters, size_t i);
const struct tensor *parameters_named(const struct parameters *parameters, bool stacked, size_t i, char *name);

/* The weight or the bias of a projection. */
struct parameter_place {
    const struct projection *projection;
    enum projection_id id; /* PROJECTION_COUNT: of out_proj */
    size_t module;
    bool bias;
};

/* The one that a table calls so; false where there is none. */
bool parameters_find(const struct parameters *parameters, bool stacked, const char *name,
                     struct parameter_place *place);

/* Columns of a projection, where those of key and value are shared by a group of heads; of what it is made of. */
size_t parameters_columns(const struct parameters_plan *plan, enum projection_id id);
size_t parameters_source_columns(const struct parameters_plan *plan, enum projection_id id);

/* The eps that is said, or that of the kind, as PyTorch's and transformers' classes have it; and the norms that are
 * said, without weights, NORM_NONE where nothing is said of one. */
double parameters_eps(double said, enum norm_kind kind);
void parameters_say_norms(struct parameters *parameters, const struct parameters_plan *plan);

/* Whether the file holds any parameter. */
bool parameters_present(const struct input_file *input);

/* Takes them from the file. They come whole or not at all, and fit each other: three projections, each with a bias or
 * without, out_proj where the plan has it. The three may also lie on top of each other, as nn.MultiheadAttention has
 * them: in_proj_weight (d_out + 2 d_out / groups, d_in) and in_proj_bias; or key and value come by way of a latent.
 * Norms and T5's table are taken where they are there. Of the plan, d_in, d_key_in, groups, kv_heads, module_count,
 * stacked, has_out and norms are used; the other widths and qkv_bias are set from what is there. Weights stay as they
 * are stored where that dtype is no wider than the working one. STATUS_USAGE names the file, the parameter, both
 * shapes and where each came from; `inputs_source` is the file of the inputs. */
enum status parameters_take(struct parameters *parameters, struct parameters_plan *plan, const struct input_file *input,
                            const char *inputs_source, struct arena *arena, struct error *error);

/* Draws them in PyTorch's order: query, key, value of each module (weight, then bias), then out_proj. */
enum status parameters_draw(struct parameters *parameters, const struct parameters_plan *plan,
                            struct torch_random *generator, struct arena *arena, struct error *error);

#endif
