/* SPDX-License-Identifier: MIT */
/* The parameters of an attention module: from a file, or drawn as PyTorch draws them.
 *
 * A module is one set of three projections. Self, causal and split heads have one module, whose projections make the
 * columns of all heads; stacked heads have one module each. Split heads have an output projection. */
#pragma once

#include "model/norm.h"
#include "model/stage_id.h"
#include "model/torch_random.h"
#include "read/input_file.h"

enum projection_id { PROJECTION_QUERY, PROJECTION_KEY, PROJECTION_VALUE, PROJECTION_COUNT };

/* The stage that a projection ends in; the one before its steps; the norm among these; the projection of a stage or of
 * a step to it, PROJECTION_COUNT where it has none. */
enum stage projection_stage(enum projection_id id);
enum stage projection_unstepped(enum projection_id id);
enum norm_id projection_norm(enum projection_id id);
enum projection_id projection_of(enum stage stage);

/* y = x . W + bias. */
struct projection {
    struct tensor weight; /* as stored: (d_in, d_out), or (d_out, d_in) if transposed */
    bool transposed;      /* named ".weight", as nn.Linear stores it */
    struct tensor bias;   /* (d_out); rank 0: none */
};

struct module {
    struct projection projections[PROJECTION_COUNT];
};

/* Multi-head latent attention: key and value from one narrow row, the latent, and query from another, or directly.
 * DeepSeek-AI 2024, "DeepSeek-V2", section 2.1.
 *
 * latent = key_value_a . inputs, and after its `rank` columns the d_rope that all heads rotate
 *     key      = d_nope columns of key_value_b . norm(latent), a head's own, then these d_rope
 *     value    = the d_v columns of key_value_b after them
 *     query    = query_b . norm(query_a . inputs), or by its projection alone */
struct latent {
    struct projection query_a, query_b;         /* weights of rank 0: query is direct */
    struct projection key_value_a, key_value_b; /* (rank + d_rope, d_in), (H (d_nope + d_v), rank); rank 0: no latent */
    struct norm query_norm, key_value_norm;     /* over all columns */
    size_t rank, d_rope, d_nope;
};

/* A model of words: rows of the inputs, what is added to them, and the way to the next word; each of rank 0: none. */
struct parameters_words {
    struct tensor embedding;       /* (V, d_in) */
    struct tensor positions;       /* (at least T, d_in) */
    struct projection unembedding; /* weight (d_in, V), bias (V) */
};

struct parameters {
    size_t module_count;
    struct module *modules;
    struct projection gate; /* (H d_v, d_in), or (H, d_in), one for each head; weight of rank 0: none */
    struct projection out;  /* (d_output, H d_v); weight of rank 0: no output projection; a file's may lack the bias */
    struct norm norms[NORM_COUNT]; /* inputs (d_in); query and key (d), (H d) or (H, d); value: none */
    struct tensor relative_bias;   /* (buckets, H) T5's table; rank 0: none */
    struct latent latent;
    struct parameters_words words;
    bool given;         /* from a file, not drawn */
    const char *source; /* that file */
};

/* The sizes and settings of modules. */
struct parameters_plan {
    size_t d_in, d_out;      /* of one module; key has d_out / groups columns */
    size_t d_key_in;         /* columns of the inputs of key and value */
    const char *keys_source; /* the file of key_inputs, unless it is that of the inputs; or NULL */
    size_t d_value;          /* columns of value, of all heads: d_out / groups unless a file has others */
    size_t d_output;         /* columns of output: d_out unless a file has others */
    size_t groups;           /* query heads for each head of key and value */
    size_t kv_heads;
    size_t module_count; /* heads where stacked, else 1 */
    bool stacked;        /* names begin with "heads.N." */
    bool has_out;
    bool qkv_bias;                    /* some projection has a bias; of drawn ones all or none */
    enum norm_kind norms[NORM_COUNT]; /* NORM_KIND_COUNT: inferred from the parameters */
    double norm_eps[NORM_COUNT];      /* below 0: the default of the kind */
    enum init init;
    const char *order; /* of drawing, "kqv"; NULL: query, key, value */
    bool out_first;    /* draws out_proj before them */
    enum dtype dtype;  /* the working dtype; attn draws in float32 and then converts */
    bool as_matrix;    /* name and store drawn projections as W_query (d_in, d_out) */
};

enum { PARAMETER_NAME_BYTES = 48 };

/* "heads.0.W_query.weight" into name: the weight or the bias of a projection of a module. */
const char *parameters_name(char *name, size_t module, bool stacked, enum projection_id id, const char *suffix);

/* parameters_count: how many tensors parameters may have. parameters_tensor: tensor i in the order of results, rank 0
 * if it is missing: for each module weight and bias of its projections, then those of parameter_rows.h.
 * parameters_named also gives its name. */
size_t parameters_count(const struct parameters *parameters);
struct tensor *parameters_tensor(struct parameters *parameters, size_t i);
const struct tensor *parameters_named(const struct parameters *parameters, bool stacked, size_t i, char *name);

enum { PARAMETER_OUT = PROJECTION_COUNT, PARAMETER_GATE };

/* The weight or the bias of a projection. */
struct parameter_place {
    const struct projection *projection;
    int id; /* enum projection_id, or PARAMETER_OUT, PARAMETER_GATE */
    size_t module;
    bool bias;
};

/* Finds it by the name of its table; false where there is none. */
bool parameters_find(const struct parameters *parameters, bool stacked, const char *name,
                     struct parameter_place *place);

/* The columns of a projection's result, for key and value those of H_kv heads; the columns of its input. */
size_t parameters_columns(const struct parameters_plan *plan, enum projection_id id);
size_t parameters_source_columns(const struct parameters_plan *plan, enum projection_id id);

/* The range of drawn uniform weights, (0, 1) for torch.randn; of out_proj: id PROJECTION_COUNT. nn.Linear: He et al.
 * 2015 with a = sqrt(5); xavier: Glorot and Bengio 2010. */
void parameters_range(const struct parameters_plan *plan, enum projection_id id, double range[2]);

/* Where in the stream of a module's first draws out_proj and its bias are, and where the projections begin. */
struct parameters_order {
    uint64_t projections, out, out_bias, end;
};
struct parameters_order parameters_order(const struct parameters_plan *plan);

/* parameters_eps: eps if `said` is not below 0, else the kind's default in PyTorch's and transformers' classes.
 * parameters_say_norms: sets the plan's norms, without weights, NORM_NONE where the plan has none. */
double parameters_eps(double said, enum norm_kind kind);
void parameters_say_norms(struct parameters *parameters, const struct parameters_plan *plan);

/* Whether the file holds any parameter. */
bool parameters_present(const struct input_file *input);

/* Takes all parameters from the file: three projections that fit, each with a bias or without, and out_proj if the plan
 * has it. The three may be stacked as in nn.MultiheadAttention, in_proj_weight (d_out + 2 d_out / groups, d_in) and
 * in_proj_bias; or a latent makes key and value. Norms and T5's table are optional. Uses the plan's d_in, d_key_in,
 * groups, kv_heads, module_count, stacked, has_out and norms; sets the other widths and qkv_bias. Weights stay as
 * stored if that dtype is no wider than the working one. STATUS_USAGE names the file, the parameter, both shapes and
 * their sources; `inputs_source` is the file of the inputs. */
enum status parameters_take(struct parameters *parameters, struct parameters_plan *plan, const struct input_file *input,
                            const char *inputs_source, struct arena *arena, struct error *error);

/* Draws them in PyTorch's order: query, key, value of each module (weight, then bias), then out_proj. */
enum status parameters_draw(struct parameters *parameters, const struct parameters_plan *plan,
                            struct torch_random *generator, struct arena *arena, struct error *error);

/* Moves the generator past these draws. */
enum status parameters_pass(const struct parameters_plan *plan, struct torch_random *generator, struct error *error);
