/* SPDX-License-Identifier: MIT */
#include "problem/parameters.h"

#include "base/text.h"
#include "model/parameter_rows.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    enum stage stage, projected, normed; /* the last two: steps to it */
    enum norm_id norm;
} PROJECTIONS[PROJECTION_COUNT] = {
    [PROJECTION_QUERY] = {"W_query", STAGE_QUERY, STAGE_PROJECTED_QUERY, STAGE_NORMED_QUERY, NORM_QUERY},
    [PROJECTION_KEY] = {"W_key", STAGE_KEY, STAGE_PROJECTED_KEY, STAGE_NORMED_KEY, NORM_KEY},
    [PROJECTION_VALUE] = {"W_value", STAGE_VALUE, STAGE_PROJECTED_VALUE, STAGE_VALUE, NORM_VALUE},
};

enum stage projection_stage(enum projection_id id)
{
    return PROJECTIONS[id].stage;
}

enum stage projection_unstepped(enum projection_id id)
{
    return PROJECTIONS[id].projected;
}

enum norm_id projection_norm(enum projection_id id)
{
    return PROJECTIONS[id].norm;
}

enum projection_id projection_of(enum stage stage)
{
    enum projection_id id = 0;
    while (id < PROJECTION_COUNT && PROJECTIONS[id].stage != stage && PROJECTIONS[id].projected != stage &&
           PROJECTIONS[id].normed != stage)
        id++;
    return id;
}

const char *parameters_name(char *name, size_t module, bool stacked, enum projection_id id, const char *suffix)
{
    struct text text = text_begin(name, PARAMETER_NAME_BYTES);
    if (stacked)
        text_add(&text, "heads.%zu.", module);
    text_add(&text, "%s%s", PROJECTIONS[id].name, suffix);
    return name;
}

/* Further tensors of a module, and their offsets. */
#define BLOCK(name, field) {(name), offsetof(struct parameters, field)},
static const struct {
    const char *name;
    size_t offset;
} BLOCKS[] = {PARAMETER_LATENT_ROWS(BLOCK) PARAMETER_BLOCK_ROWS(BLOCK) PARAMETER_WORD_ROWS(BLOCK)};
#undef BLOCK

enum { BLOCK_COUNT = sizeof BLOCKS / sizeof BLOCKS[0], OF_MODULE = 2 * PROJECTION_COUNT };

size_t parameters_count(const struct parameters *parameters)
{
    return parameters->module_count * OF_MODULE + BLOCK_COUNT;
}

/* The projection of tensor i, one of the modules' tensors. */
static struct projection *projection_at(const struct parameters *parameters, size_t i)
{
    return &parameters->modules[i / OF_MODULE].projections[i % OF_MODULE / 2];
}

struct tensor *parameters_tensor(struct parameters *parameters, size_t i)
{
    const size_t of_modules = parameters->module_count * OF_MODULE;
    if (i >= of_modules)
        return (struct tensor *)(void *)((char *)parameters + BLOCKS[i - of_modules].offset);
    return i % 2 == 0 ? &projection_at(parameters, i)->weight : &projection_at(parameters, i)->bias;
}

const struct tensor *parameters_named(const struct parameters *parameters, bool stacked, size_t i, char *name)
{
    const size_t of_modules = parameters->module_count * OF_MODULE;
    if (i >= of_modules) {
        snprintf(name, PARAMETER_NAME_BYTES, "%s", BLOCKS[i - of_modules].name);
        return (const struct tensor *)(const void *)((const char *)parameters + BLOCKS[i - of_modules].offset);
    }
    const struct projection *projection = projection_at(parameters, i);
    parameters_name(name, i / OF_MODULE, stacked, (enum projection_id)(i % OF_MODULE / 2),
                    i % 2 == 1               ? ".bias"
                    : projection->transposed ? ".weight"
                                             : "");
    return i % 2 == 0 ? &projection->weight : &projection->bias;
}

static bool is_tensor(const struct tensor *tensor, const char *own, const char *name)
{
    return tensor->rank > 0 && strcmp(own, name) == 0;
}

bool parameters_find(const struct parameters *parameters, bool stacked, const char *name, struct parameter_place *place)
{
    char own[PARAMETER_NAME_BYTES];
    for (size_t i = 0; i < parameters->module_count * OF_MODULE; i++) {
        const struct tensor *tensor = parameters_named(parameters, stacked, i, own);
        const int id = (int)(i % OF_MODULE / 2);
        *place = (struct parameter_place){projection_at(parameters, i), id, i / OF_MODULE, i % 2 == 1};
        if (is_tensor(tensor, own, name))
            return true;
    }
    const bool gates = strncmp(name, "W_gate.", 7) == 0, bias = strstr(name, ".bias") != NULL;
    const struct projection *projection = gates ? &parameters->gate : &parameters->out;
    *place = (struct parameter_place){projection, gates ? PARAMETER_GATE : PARAMETER_OUT, 0, bias};
    snprintf(own, sizeof own, "%s%s", gates ? "W_gate" : "out_proj", bias ? ".bias" : ".weight");
    return is_tensor(bias ? &projection->bias : &projection->weight, own, name);
}

bool parameters_present(const struct input_file *input)
{
    for (size_t i = 0; i < input->tensor_count; i++)
        if (input_file_kind(input->tensors[i].name) == INPUT_FILE_PARAMETER)
            return true;
    return false;
}

size_t parameters_columns(const struct parameters_plan *plan, enum projection_id id)
{
    return id == PROJECTION_QUERY ? plan->d_out : id == PROJECTION_KEY ? plan->d_out / plan->groups : plan->d_value;
}

size_t parameters_source_columns(const struct parameters_plan *plan, enum projection_id id)
{
    return id == PROJECTION_QUERY ? plan->d_in : plan->d_key_in;
}

double parameters_eps(double said, enum norm_kind kind)
{
    return said >= 0 ? said : kind == NORM_LAYER ? 1e-5 : 1e-6;
}

void parameters_say_norms(struct parameters *parameters, const struct parameters_plan *plan)
{
    for (enum norm_id id = 0; id < NORM_COUNT; id++) {
        const enum norm_kind said = plan->norms[id], kind = said == NORM_KIND_COUNT ? NORM_NONE : said;
        parameters->norms[id] = (struct norm){.kind = kind, .eps = parameters_eps(plan->norm_eps[id], kind)};
    }
}

/* --- drawn ------------------------------------------------------------------------------------------------------- */

/* The gains of nn.Linear, sqrt(2 / (1 + 5)), and of kaiming_uniform_, sqrt(2). */
const struct init_row INIT_ROWS[INIT_COUNT] = {
    [INIT_LINEAR] = {.transposed = true, .unit = INIT_UNIT_D_IN, .gain = 0.57735026918962573},
    [INIT_RAND] = {.gain = 1},
    [INIT_RANDN] = {.normal = true, .gain = 1},
    [INIT_RAND_CENTRED] = {.gain = 1, .from = -0.5},
    [INIT_XAVIER] = {.unit = INIT_UNIT_MEAN, .gain = 1},
    [INIT_XAVIER_LINEAR] = {.transposed = true, .again = true, .unit = INIT_UNIT_MEAN, .gain = 1},
    [INIT_MHA] = {.transposed = true, .unit = INIT_UNIT_MEAN, .gain = 1},
    [INIT_ONES] = {.from = 1},
    [INIT_RANDN_002] = {.normal = true, .gain = 0.02},
    [INIT_RANDN_001] = {.normal = true, .gain = 0.01},
    [INIT_RANDN_D_IN] = {.normal = true, .unit = INIT_UNIT_D_IN, .gain = 1},
    [INIT_NORMAL_002] = {.transposed = true, .again = true, .normal = true, .gain = 0.02},
    [INIT_NORMAL_001] = {.transposed = true, .again = true, .normal = true, .gain = 0.01},
    [INIT_NORMAL_D_IN] = {.transposed = true, .again = true, .normal = true, .unit = INIT_UNIT_D_IN, .gain = 1},
    [INIT_KAIMING] = {.unit = INIT_UNIT_COLUMNS, .gain = 1.4142135623730951},
    [INIT_KAIMING_LINEAR] = {.transposed = true, .again = true, .unit = INIT_UNIT_COLUMNS, .gain = 1.4142135623730951},
};

/* The way to draw a projection; out_proj is an nn.Linear unless all weights are drawn again. */
static const struct init_row *init_of(const struct parameters_plan *plan, enum projection_id id)
{
    return &INIT_ROWS[id == PROJECTION_COUNT && !INIT_ROWS[plan->init].again ? INIT_LINEAR : plan->init];
}

void parameters_range(const struct parameters_plan *plan, enum projection_id id, double range[2])
{
    const struct init_row *row = init_of(plan, id);
    const bool out = id == PROJECTION_COUNT, one = plan->init == INIT_MHA && plan->d_key_in == plan->d_in;
    const size_t d_in = out ? plan->d_out : parameters_source_columns(plan, id),
                 d_out = out ? plan->d_out : (one ? 3 : 1) * parameters_columns(plan, id);
    const size_t size = row->unit == INIT_UNIT_COLUMNS && !row->transposed ? d_out : d_in;
    const double deviation = row->unit == INIT_UNIT_ONE    ? row->gain
                             : row->unit == INIT_UNIT_MEAN ? row->gain * sqrt(2.0 / (double)(d_in + d_out))
                                                           : row->gain / sqrt((double)size);
    const bool sized = row->unit != INIT_UNIT_ONE && !row->normal;
    range[0] = sized ? -sqrt(3.0) * deviation : row->from;
    range[1] = sized ? -range[0] : range[0] + deviation;
}

struct parameters_order parameters_order(const struct parameters_plan *plan)
{
    const uint64_t out = plan->has_out ? (uint64_t)plan->d_out * plan->d_out : 0,
                   bias = plan->has_out ? plan->d_out : 0;
    uint64_t count = 0;
    for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
        count += (uint64_t)plan->module_count * parameters_columns(plan, id) *
                 (parameters_source_columns(plan, id) * (INIT_ROWS[plan->init].gain > 0) +
                  (plan->init == INIT_LINEAR && plan->qkv_bias));
    const uint64_t all = count + out + bias;
    if (plan->init == INIT_MHA || plan->out_first)
        return (struct parameters_order){out + bias, 0, out, all};
    if (INIT_ROWS[plan->init].again)
        return (struct parameters_order){all, all + count, count + out, all + count + out};
    return (struct parameters_order){0, count, count + out, all};
}

/* Draws a weight, by torch.randn or uniform, stored as the plan's modules store it. */
static enum status draw_weight(struct projection *projection, enum projection_id id, const struct parameters_plan *plan,
                               struct torch_random *generator, struct arena *arena, struct error *error)
{
    const bool out = id == PROJECTION_COUNT;
    const size_t d_in = out ? plan->d_out : parameters_source_columns(plan, id),
                 d_out = out ? plan->d_out : parameters_columns(plan, id);
    const struct init_row *row = init_of(plan, id);
    projection->transposed = row->transposed;
    const size_t shape[] = {projection->transposed ? d_out : d_in, projection->transposed ? d_in : d_out};
    double range[2];
    parameters_range(plan, id, range);
    if (tensor_create(&projection->weight, DTYPE_F32, 2, shape, arena, error) != STATUS_OK)
        return error->status;
    float *weights = projection->weight.data;
    if (row->normal)
        torch_random_normal_of(generator, row->again ? range[1] : 1, weights, d_in * d_out);
    else if (range[0] < range[1])
        torch_random_uniform(generator, (float)range[0], (float)range[1], weights, d_in * d_out);
    for (size_t i = 0; i < d_in * d_out && !row->again && (row->normal || range[0] == range[1]); i++)
        weights[i] = row->normal ? weights[i] * (float)range[1] : (float)range[0];
    return STATUS_OK;
}

/* Draws a bias as nn.Linear does. */
static enum status draw_bias(struct projection *projection, size_t d_in, size_t d_out, struct torch_random *generator,
                             struct arena *arena, struct error *error)
{
    const float bound = (float)(1 / sqrt((double)d_in));
    if (tensor_create(&projection->bias, DTYPE_F32, 1, &d_out, arena, error) == STATUS_OK)
        torch_random_uniform(generator, -bound, bound, projection->bias.data, d_out);
    return error->status;
}

/* Transposes the stored weight, drawn in float32. */
static enum status transpose(struct projection *projection, struct arena *arena, struct error *error)
{
    const struct tensor stored = projection->weight;
    const size_t rows = stored.shape[0], columns = stored.shape[1], shape[] = {columns, rows};
    if (tensor_create(&projection->weight, DTYPE_F32, 2, shape, arena, error) != STATUS_OK)
        return error->status;
    const float *from = stored.data;
    float *to = projection->weight.data;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            to[column * rows + row] = from[row * columns + column];
    projection->transposed = !projection->transposed;
    return STATUS_OK;
}

/* Converts a projection drawn in float32 to the working dtype. */
static enum status widen(struct projection *projection, enum dtype dtype, struct arena *arena, struct error *error)
{
    if (tensor_convert(&projection->weight, dtype, "drawn", "weight", NULL, &projection->weight, arena, error) !=
        STATUS_OK)
        return error->status;
    if (projection->bias.rank == 0)
        return STATUS_OK;
    return tensor_convert(&projection->bias, dtype, "drawn", "bias", NULL, &projection->bias, arena, error);
}

static enum status draw_projection(struct projection *projection, enum projection_id id,
                                   const struct parameters_plan *plan, struct torch_random *generator,
                                   struct arena *arena, struct error *error)
{
    *projection = (struct projection){0};
    const size_t d_in = parameters_source_columns(plan, id), d_out = parameters_columns(plan, id);
    enum status status = draw_weight(projection, id, plan, generator, arena, error);
    if (status == STATUS_OK && plan->init == INIT_LINEAR && plan->qkv_bias)
        status = draw_bias(projection, d_in, d_out, generator, arena, error);
    if (status == STATUS_OK && projection->transposed == plan->as_matrix)
        status = transpose(projection, arena, error);
    return status == STATUS_OK ? widen(projection, plan->dtype, arena, error) : status;
}

static enum status draw_out(struct projection *out, const struct parameters_plan *plan,
                            const struct torch_random *start, struct torch_random *generator, struct arena *arena,
                            struct error *error)
{
    const struct parameters_order order = parameters_order(plan);
    const bool again = INIT_ROWS[plan->init].again, first = order.projections > 0 && !again;
    struct torch_random other = *start;
    if (draw_weight(out, PROJECTION_COUNT, plan, first ? &other : generator, arena, error) != STATUS_OK)
        return error->status;
    torch_random_skip(&other, again ? order.out_bias : 0);
    if (draw_bias(out, plan->d_out, plan->d_out, first || again ? &other : generator, arena, error) != STATUS_OK)
        return error->status;
    if (plan->init == INIT_MHA)
        memset(out->bias.data, 0, plan->d_out * sizeof(float));
    return widen(out, plan->dtype, arena, error);
}

enum status parameters_draw(struct parameters *parameters, const struct parameters_plan *plan,
                            struct torch_random *generator, struct arena *arena, struct error *error)
{
    static const char LETTERS[] = "qkv";
    *parameters = (struct parameters){.module_count = plan->module_count};
    const struct torch_random start = *generator;
    parameters_say_norms(parameters, plan);
    torch_random_skip(generator, parameters_order(plan).projections);
    parameters->modules = arena_allocate(arena, plan->module_count, sizeof parameters->modules[0], error);
    if (parameters->modules == NULL)
        return error->status;
    for (size_t module = 0; module < plan->module_count; module++)
        for (enum projection_id i = 0; i < PROJECTION_COUNT; i++) {
            const enum projection_id id =
                plan->order != NULL ? (enum projection_id)(strchr(LETTERS, plan->order[i]) - LETTERS) : i;
            if (draw_projection(&parameters->modules[module].projections[id], id, plan, generator, arena, error) !=
                STATUS_OK)
                return error->status;
        }
    return plan->has_out ? draw_out(&parameters->out, plan, &start, generator, arena, error) : STATUS_OK;
}

enum status parameters_pass(const struct parameters_plan *plan, struct torch_random *generator, struct error *error)
{
    struct arena scratch = {0};
    struct parameters drawn;
    if (!INIT_ROWS[plan->init].normal) /* one output for each number */
        torch_random_skip(generator, parameters_order(plan).end);
    else
        parameters_draw(&drawn, plan, generator, &scratch, error);
    arena_free(&scratch);
    return error->status;
}
