/* The weight matrices of an attention module: taken from a file, or drawn as PyTorch draws them.
 *
 * A module is one set of three projections. Self, causal and split heads have one module, whose projections make the
 * columns of all heads together; stacked heads have one each. Split heads have an output projection. */
#ifndef ATTN_PROBLEM_PARAMETERS_H
#define ATTN_PROBLEM_PARAMETERS_H

#include "model/stages.h"
#include "model/torch_random.h"
#include "read/input_file.h"

enum projection_id { PROJECTION_QUERY, PROJECTION_KEY, PROJECTION_VALUE, PROJECTION_COUNT };

/* The stage that a projection makes; and the projection that makes a stage, PROJECTION_COUNT where none does. */
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

struct parameters {
    size_t module_count;
    struct module *modules;
    struct projection out; /* (d_out, d_out); weight of rank 0 where the mechanism has no output projection; a file may
                              give it without a bias */
    bool given;            /* by a file, not drawn */
    const char *source;    /* the file that gave them */
};

/* What a module is to look like. */
struct parameters_plan {
    size_t d_in, d_out;  /* of one module; key and value have d_out / groups columns */
    size_t groups;       /* heads of query to one of key and value */
    size_t module_count; /* heads where stacked, else 1 */
    bool stacked;        /* names begin with "heads.N." */
    bool has_out;
    bool qkv_bias;
    enum init init;
    const char *order; /* in which they are drawn, "kqv"; NULL: query, key, value */
    enum dtype dtype;  /* the working dtype: parameters are drawn in float32 and then widened */
    bool as_matrix;    /* name and store drawn projections as W_query (d_in, d_out) */
};

enum { PARAMETER_NAME_BYTES = 48 };

/* "heads.0.W_query.weight" into name: the weight or the bias of a projection of a module. */
const char *parameters_name(char *name, size_t module, bool stacked, enum projection_id id, const char *suffix);

/* Whether the file holds any parameter. */
bool parameters_present(const struct input_file *input);

/* Takes them from the file. They come whole or not at all, and fit each other: three projections, all biases or
 * none, out_proj where the plan has it. The three may also lie on top of each other, as nn.MultiheadAttention has
 * them: in_proj_weight (d_out + 2 d_out / groups, d_in) and in_proj_bias. Of the plan, d_in, groups, module_count,
 * stacked and has_out are used; d_out and qkv_bias are set from what is there. STATUS_USAGE names the file, the
 * parameter, both shapes and where each came from; `inputs_source` is the file of the inputs. */
enum status parameters_take(struct parameters *parameters, struct parameters_plan *plan, const struct input_file *input,
                            const char *inputs_source, struct arena *arena, struct error *error);

/* Draws them in PyTorch's order: query, key, value of each module (weight, then bias), then out_proj. */
enum status parameters_draw(struct parameters *parameters, const struct parameters_plan *plan,
                            struct torch_random *generator, struct arena *arena, struct error *error);

#endif
