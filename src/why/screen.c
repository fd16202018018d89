/* SPDX-License-Identifier: MIT */
#include "why/screen.h"

#include "model/stages.h"
#include "stage/softmax.h"

#include <math.h>
#include <string.h>

/* --- where parameters are in the stream -------------------------------------------------------------------------- */

/* Sets the place of a weight, and of its bias. Weights of nn.Linear are rows of inputs, those of torch.rand rows of
 * columns. */
static void set_place(struct screen_place *place, size_t start, size_t d_in, size_t columns,
                      const struct parameters_plan *plan, enum projection_id id, size_t bias)
{
    const bool linear = id == PROJECTION_COUNT || INIT_ROWS[plan->init].transposed;
    double range[2];
    parameters_range(plan, id, range);
    *place = (struct screen_place){.start = start,
                                   .columns = columns,
                                   .bias = bias,
                                   .column_step = linear ? d_in : 1,
                                   .input_step = linear ? 1 : columns,
                                   .from = range[0],
                                   .width = range[1] - range[0],
                                   .bias_bound = plan->init == INIT_MHA ? 0 : 1 / sqrt((double)d_in)};
}

/* The projection that a module draws so many others before. */
static enum projection_id drawn_at(const struct parameters_plan *plan, int i)
{
    static const char LETTERS[] = "qkv";
    return (enum projection_id)(plan->order != NULL ? strchr(LETTERS, plan->order[i]) - LETTERS : i);
}

static void set_places(struct screen *screen)
{
    const struct parameters_plan *plan = &screen->problem->plan;
    const struct parameters_order order = parameters_order(plan);
    const size_t first = (size_t)order.projections; /* parameters fit the memory */
    size_t end = first;
    for (int i = 0; i < PROJECTION_COUNT; i++) {
        const enum projection_id id = drawn_at(plan, i);
        const size_t columns = parameters_columns(plan, id), weights = plan->d_in * columns;
        set_place(&screen->places[id], end, plan->d_in, columns, plan, id, plan->qkv_bias ? end + weights : SIZE_MAX);
        end += weights + (plan->qkv_bias ? columns : 0);
    }
    screen->module_numbers = end - first;
    screen->numbers = (size_t)order.end;
    if (plan->has_out)
        set_place(&screen->out, (size_t)order.out, plan->d_out, plan->d_out, plan, PROJECTION_COUNT,
                  (size_t)order.out_bias);
}

/* A number of the bias; at: its column. */
static double drawn_bias(const struct screen_place *place, const float *u, size_t at)
{
    return place->bias_bound * (2 * (double)u[place->bias + at] - 1);
}

/* Adds `times` the weights of a column, of all modules, to weights (d_in), and its bias to *bias; in each of `lanes`
 * streams, which begin at neighbouring numbers. All but u have them as their last axis. */
__attribute__((always_inline)) static inline void add_column(const struct screen *screen, const float *u, size_t lanes,
                                                             enum projection_id id, size_t column,
                                                             const double *restrict times, double *restrict weights,
                                                             double *bias)
{
    const struct screen_place *place = &screen->places[id];
    const size_t module = column / place->columns, own = column - module * place->columns, d_in = screen->d_in;
    const double from = place->from, width = place->width;
    u += module * screen->module_numbers;
    for (size_t k = 0; k < d_in; k++) {
        const float *of_weight = u + place->start + own * place->column_step + k * place->input_step;
        for (size_t lane = 0; lane < lanes; lane++)
            weights[k * lanes + lane] += times[lane] * (from + width * (double)of_weight[lane]);
    }
    for (size_t lane = 0; lane < lanes && place->bias != SIZE_MAX; lane++)
        bias[lane] += times[lane] * drawn_bias(place, u, own + lane);
}

/* A column of a projection of some tokens. */
static void project(const struct screen *screen, const float *u, enum projection_id id, size_t column, size_t token,
                    size_t tokens, double *restrict numbers)
{
    const struct screen_place *place = &screen->places[id];
    const size_t own = column % place->columns;
    u += column / place->columns * screen->module_numbers;
    for (size_t i = 0; i < tokens; i++)
        numbers[i] = place->bias == SIZE_MAX ? 0 : drawn_bias(place, u, own);
    for (size_t k = 0; k < screen->d_in; k++) {
        const float *drawn = u + place->start + own * place->column_step + k * place->input_step;
        const double weight = place->from + place->width * (double)*drawn;
        for (size_t i = 0; i < tokens; i++)
            numbers[i] += weight * screen->inputs[k * screen->tokens + token + i];
    }
}

static double out_weight(const struct screen *screen, const float *u, size_t column, size_t input)
{
    const struct screen_place *place = &screen->out;
    return place->from + place->width * (double)u[place->start + column * place->column_step + input];
}

static double out_bias(const struct screen *screen, const float *u, size_t column)
{
    return drawn_bias(&screen->out, u, column);
}

void screen_draw(const struct screen *screen, struct torch_random *generator, float *u)
{
    const struct parameters_plan *plan = &screen->problem->plan;
    const float *end = u + screen->numbers;
    struct torch_random drawing = *generator;
    torch_random_skip(generator, 1);
    for (size_t module = 0; module < plan->module_count; module++, u += screen->module_numbers)
        for (int i = 0; i < PROJECTION_COUNT; i++) {
            const struct screen_place *place = &screen->places[drawn_at(plan, i)];
            torch_random_normal(&drawing, u + place->start, screen->d_in * place->columns);
        }
    torch_random_uniform(&drawing, 0, 1, u, (size_t)(end - u));
}

/* --- the table --------------------------------------------------------------------------------------------------- */

/* Whether values and rows are made as here: no norm, rotation or dropout, no sink, and one set of inputs. */
static bool is_plain(const struct problem *problem)
{
    return problem_projects(problem) && !problem->parameters.given && !problem->given.is_cross &&
           problem->given.clip == 0 && problem->drop.share == 0 && problem->rotation.rope.kind == ROPE_NONE &&
           problem->mask.sinks == NULL && !problem->scaling.on_query && problem->scaling.growth.by == 0 &&
           !stage_applies(problem, STAGE_NORMED) && !stage_applies(problem, STAGE_NORMED_QUERY) &&
           problem->mask.queries == problem->mask.keys && dtype_size(problem->rounding.dtype) >= sizeof(float);
}

/* Takes bounds from each number of the item, and a row to compute: the last one that is complete. */
static bool take_table(struct screen *screen, const struct mine_table *table, struct arena *arena, struct error *error)
{
    const size_t tokens = screen->tokens, columns = screen->columns;
    const struct mine_index first = mine_index(table, 0);
    const bool known = mine_indices(table) == 1;
    double *rows = arena_allocate(arena, 2 * tokens * columns, sizeof *rows, error), *tolerances = rows;
    if (rows == NULL)
        return false;
    tolerances += tokens * columns;
    for (size_t i = 0; i < tokens * columns; i++) {
        rows[i] = NAN;
        screen->lowest[i] = INFINITY;
        screen->highest[i] = -INFINITY;
    }
    for (size_t i = 0; i < table->count; i++) {
        const struct mine_index index = mine_place_of(table, first, i);
        const size_t row = index.at[MINE_ROW], of_head = columns / table->layout.whole[MINE_HEAD],
                     column = index.at[MINE_HEAD] * of_head + index.at[MINE_COLUMN];
        const size_t query = screen->is_operand ? row : screen->problem->chosen.rows[row];
        const double off = table->tolerance[i] + table->screen;
        if (index.at[MINE_ITEM] != 0 || query >= tokens || !isfinite(table->numbers[i]))
            continue;
        const size_t end = screen->kind != SCREEN_RIGHT || !known ? tokens
                           : screen->is_operand                   ? query + 1
                                                                  : mask_span(&screen->problem->mask, 0, query).end;
        const size_t at = column * tokens + (end > 0 ? end - 1 : tokens - 1);
        screen->lowest[at] = fmin(screen->lowest[at], table->numbers[i] + off);
        screen->highest[at] = fmax(screen->highest[at], table->numbers[i] - off);
        rows[query * columns + column] = table->numbers[i];
        tolerances[query * columns + column] = off;
        screen->query = query;
    }
    screen->is_sharp = known && screen->kind != SCREEN_VALUES;
    screen->row = known && !screen->is_operand && screen->kind != SCREEN_VALUES ? rows + screen->query * columns : NULL;
    screen->row_tolerance = tolerances + screen->query * columns;
    return true;
}

bool screen_create(struct screen *screen, const struct problem *problem, const struct mine *mine, enum screen_kind kind,
                   struct arena *arena, struct error *error)
{
    const struct mine_table *table = mine->count > 0 ? &mine->tables[mine->count - 1] : NULL;
    const struct init_row *init = &INIT_ROWS[problem->plan.init];
    if (table == NULL || !is_plain(problem) || (init->normal && init->again) || init->gain == 0)
        return false;
    const enum stage stage = problem_made_as(problem, table->stage);
    const bool operand = STAGES[stage].operand;
    const bool of_keys = stage == STAGE_SCORES || stage == STAGE_SCALED || stage == STAGE_WEIGHTS;
    if (!operand && !of_keys && stage != STAGE_CONTEXT && stage != STAGE_OUTPUT)
        return false;
    const size_t tokens = problem->size.keys,
                 columns = table->layout.whole[MINE_HEAD] * table->layout.whole[MINE_COLUMN];
    *screen = (struct screen){.problem = problem,
                              .id = operand ? projection_of(stage) : PROJECTION_VALUE,
                              .is_operand = operand,
                              .of_keys = of_keys ? stage : STAGE_COUNT,
                              .columns = columns,
                              .tokens = tokens,
                              .d_in = problem->size.d_in,
                              .kind = kind,
                              .is_normal = init->normal,
                              .joins = stage == STAGE_OUTPUT && problem->plan.has_out};
    set_places(screen);
    screen->scratch = memory_larger(3 * (tokens + problem->size.d_in) + problem->size.heads * problem->size.d_value,
                                    SCREEN_LANES * problem->size.heads * (problem->size.d_in + 3));
    screen->inputs = arena_allocate(arena, tokens * problem->size.d_in, sizeof(double), error);
    screen->lowest = arena_allocate(arena, tokens * columns, sizeof(double), error);
    screen->highest = arena_allocate(arena, tokens * columns, sizeof(double), error);
    screen->bias = arena_allocate(arena, problem->size.heads * tokens, sizeof(double), error);
    if (screen->inputs == NULL || screen->lowest == NULL || screen->highest == NULL || screen->bias == NULL ||
        !take_table(screen, table, arena, error) || (of_keys && screen->row == NULL))
        return false;
    for (size_t i = 0; i < tokens * problem->size.d_in; i++)
        tensor_load(&problem->given.inputs, i, 1,
                    &screen->inputs[i % problem->size.d_in * tokens + i / problem->size.d_in]);
    for (size_t head = 0; head < problem->size.heads; head++)
        mask_row(&problem->mask, 0, head, screen->query, screen->bias + head * tokens);
    return true;
}

double screen_work(const struct screen *screen)
{
    static const double NORMAL = 16; /* a number of torch.randn */
    const struct problem *problem = screen->problem;
    const double columns = screen->joins ? (double)problem->plan.d_out : 1,
                 heads = screen->joins ? (double)problem->size.heads : 1,
                 query = screen->of_keys < STAGE_COUNT ? 2 * (double)problem->size.d_head : 0,
                 normals = screen->is_normal ? NORMAL * (double)screen->numbers : 0;
    return 16 + (columns + query + heads * (double)screen->tokens) * (double)screen->d_in + normals;
}

/* --- the test ---------------------------------------------------------------------------------------------------- */

/* Of the streams `alive`, a bit for each, those whose numbers of a column lie between the values; scratch (lanes,
 * heads (d_in + 3)). */
__attribute__((always_inline)) static inline uint64_t fitting(const struct screen *screen, const float *u, size_t lanes,
                                                              size_t column, uint64_t alive, double *scratch)
{
    const struct problem *problem = screen->problem;
    const bool output = screen->joins;
    const size_t heads = output ? problem->size.heads : 1, d = output ? problem->size.d_value : 1, d_in = screen->d_in;
    const size_t group = problem->size.heads / problem->size.kv_heads, tokens = screen->tokens;
    double *weights = scratch, *bias = weights + heads * d_in * lanes, *least = bias + heads * lanes,
           *most = least + heads * lanes;
    double times[SCREEN_LANES], numbers[SCREEN_LANES];
    memset(scratch, 0, heads * (d_in + 1) * lanes * sizeof *scratch);
    for (size_t head = 0; head < heads; head++) {
        for (size_t c = 0; c < d; c++) {
            for (size_t lane = 0; lane < lanes; lane++)
                times[lane] = output ? out_weight(screen, u + lane, column, head * d + c) : 1;
            add_column(screen, u, lanes, screen->id, output ? head / group * d + c : column, times,
                       weights + head * d_in * lanes, bias + head * lanes);
        }
        for (size_t lane = 0; lane < lanes; lane++) {
            least[head * lanes + lane] = INFINITY;
            most[head * lanes + lane] = -INFINITY;
        }
    }
    for (size_t token = 0; token < tokens && alive != 0; token++) {
        const double lowest = screen->lowest[column * tokens + token],
                     highest = screen->highest[column * tokens + token];
        for (size_t head = 0; head < heads; head++) {
            const size_t first = head * lanes;
            memcpy(numbers, bias + first, lanes * sizeof *numbers);
            for (size_t k = 0; k < d_in; k++)
                for (size_t lane = 0; lane < lanes; lane++)
                    numbers[lane] += weights[first * d_in + k * lanes + lane] * screen->inputs[k * tokens + token];
            for (size_t lane = 0; lane < lanes; lane++) {
                least[first + lane] = numbers[lane] < least[first + lane] ? numbers[lane] : least[first + lane];
                most[first + lane] = numbers[lane] > most[first + lane] ? numbers[lane] : most[first + lane];
            }
        }
        for (size_t lane = 0; lane < lanes && lowest < INFINITY; lane++) {
            double low = output ? out_bias(screen, u + lane, column) : 0, high = low;
            for (size_t head = 0; head < heads; head++) {
                low += least[head * lanes + lane];
                high += most[head * lanes + lane];
            }
            alive &= ~((uint64_t)!(lowest >= low && highest <= high) << lane);
        }
    }
    return alive;
}

/* Writes the scores of a head in the row, without scale or mask; scratch (2 d_in). */
static void make_scores(const struct screen *screen, const float *u, size_t head, double *scores, double *scratch)
{
    const struct problem *problem = screen->problem;
    const size_t d = problem->size.d_head, d_in = screen->d_in;
    const size_t key = head / (problem->size.heads / problem->size.kv_heads);
    double *keys = scratch, bias = 0;
    for (size_t k = 0; k < d_in; k++)
        keys[k] = 0;
    for (size_t c = 0; c < d; c++) {
        double query;
        project(screen, u, PROJECTION_QUERY, head * d + c, screen->query, 1, &query);
        add_column(screen, u, 1, PROJECTION_KEY, key * d + c, &query, keys, &bias);
    }
    for (size_t token = 0; token < screen->tokens; token++)
        scores[token] = bias;
    for (size_t k = 0; k < d_in; k++)
        for (size_t token = 0; token < screen->tokens; token++)
            scores[token] += keys[k] * screen->inputs[k * screen->tokens + token];
}

/* Makes weights of the scores, with a scale and with the mask or without. */
static void make_weights(const struct screen *screen, size_t head, double scale, bool masked, const double *scores,
                         double *weights)
{
    const double softcap = screen->problem->scaling.softcap;
    for (size_t token = 0; token < screen->tokens; token++) {
        const double scaled = scores[token] * scale, capped = softcap > 0 ? softcap * tanh(scaled / softcap) : scaled;
        weights[token] = capped + (masked ? screen->bias[head * screen->tokens + token] : 0);
    }
    const struct softmax below = softmax_of_scores(screen->problem, head, weights, weights);
    for (size_t token = 0; token < screen->tokens; token++)
        weights[token] /= below.sum;
}

static bool is_off(const struct screen *screen, size_t column, double made)
{
    return fabs(made - screen->row[column]) > screen->row_tolerance[column];
}

/* Makes the context of the row, (H d_v), until a number is not that of the table; scratch (2 (tokens + d_in)). */
static bool make_context(const struct screen *screen, const float *u, double scale, bool masked, double *context,
                         double *scratch)
{
    const struct problem *problem = screen->problem;
    const size_t d = problem->size.d_value, tokens = screen->tokens;
    const size_t group = problem->size.heads / problem->size.kv_heads;
    double *scores = scratch, *weights = scores + tokens, *column = weights + tokens;
    for (size_t head = 0; head < problem->size.heads; head++) {
        make_scores(screen, u, head, scores, column);
        make_weights(screen, head, scale, masked, scores, weights);
        for (size_t c = 0; c < d; c++) {
            project(screen, u, PROJECTION_VALUE, head / group * d + c, 0, tokens, scores);
            context[head * d + c] = 0;
            for (size_t token = 0; token < tokens; token++)
                context[head * d + c] += weights[token] * scores[token];
            if (!screen->joins && is_off(screen, head * d + c, context[head * d + c]))
                return false;
        }
    }
    return true;
}

/* Whether a row of scores, scaled or weights is that of each head; scratch (2 (tokens + d_in)). */
static bool keys_fit(const struct screen *screen, const float *u, double scale, bool masked, double *scratch)
{
    const bool weighs = screen->of_keys == STAGE_WEIGHTS;
    const double times = screen->of_keys == STAGE_SCALED ? scale : 1;
    const size_t tokens = screen->tokens;
    double *scores = scratch, *weights = scores + tokens, *made = weighs ? weights : scores;
    for (size_t head = 0; head < screen->problem->size.heads; head++) {
        make_scores(screen, u, head, scores, weights + tokens);
        if (weighs)
            make_weights(screen, head, scale, masked, scores, weights);
        for (size_t token = 0; token < tokens; token++)
            if (is_off(screen, head * tokens + token, made[token] * times))
                return false;
    }
    return true;
}

static bool row_fits(const struct screen *screen, const float *u, double scale, bool masked, double *scratch)
{
    const bool output = screen->joins;
    const size_t width = screen->problem->size.heads * screen->problem->size.d_value;
    double *context = scratch;
    if (screen->of_keys < STAGE_COUNT)
        return keys_fit(screen, u, scale, masked, scratch);
    bool fits = make_context(screen, u, scale, masked, context, scratch + width);
    for (size_t column = 0; column < screen->columns && output && fits; column++) {
        double made = out_bias(screen, u, column);
        for (size_t c = 0; c < width; c++)
            made += out_weight(screen, u, column, c) * context[c];
        fits = !is_off(screen, column, made);
    }
    return fits;
}

uint64_t screen_passes(const struct screen *screen, const float *u, size_t streams, double *scratch)
{
    const double factor = screen->problem->scaling.factor, factors[] = {factor, 1, factor * factor};
    uint64_t alive = UINT64_MAX >> (SCREEN_LANES - memory_smaller(streams, SCREEN_LANES)) % SCREEN_LANES;
    for (size_t column = 0; column < screen->columns && alive != 0 && screen->of_keys == STAGE_COUNT; column++)
        alive = streams == 1 ? fitting(screen, u, 1, column, alive, scratch)
                             : fitting(screen, u, SCREEN_LANES, column, alive, scratch);
    for (size_t lane = 0; lane < SCREEN_LANES && alive >> lane != 0 && screen->row != NULL; lane++) {
        bool fits = false;
        for (size_t i = 0; i < (screen->kind == SCREEN_ROW ? 6 : 1) && alive >> lane & 1 && !fits; i++)
            fits = row_fits(screen, u + lane, factors[i / 2], i % 2 == 0, scratch);
        alive &= ~((uint64_t)!fits << lane);
    }
    return alive;
}
