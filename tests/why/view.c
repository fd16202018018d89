/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <math.h>
#include <string.h>

/* --- tables ------------------------------------------------------------------------------------------------------ */

static void add_axis(struct view *view, bool there, int size, int stride)
{
    if (!there)
        return;
    view->shape[view->rank] = size;
    view->stride[view->rank++] = stride;
}

/* [B,] [H,] T x columns; heads 0: no such axis. */
static struct view of_heads(const struct sheet *s, const table *numbers, int heads, int tokens, int columns)
{
    struct view view = {.at = (const double *)numbers};
    add_axis(&view, s->exercise->items > 0, s->B, HEADS * TOKENS * WIDTH);
    add_axis(&view, heads > 0, heads, TOKENS * WIDTH);
    add_axis(&view, true, tokens, WIDTH);
    add_axis(&view, true, columns, 1);
    return view;
}

static struct view of_rows(const struct sheet *s, const rows *numbers, int columns)
{
    struct view view = {.at = (const double *)numbers};
    add_axis(&view, s->exercise->items > 0, s->B, TOKENS * WIDTH);
    add_axis(&view, true, s->Tq, WIDTH);
    add_axis(&view, true, columns, 1);
    return view;
}

static struct view of_lse(const struct sheet *s)
{
    struct view view = {.at = (const double *)s->lse};
    add_axis(&view, s->exercise->items > 0, s->B, HEADS * TOKENS);
    add_axis(&view, s->exercise->heads > 0, s->H, TOKENS);
    add_axis(&view, true, s->Tq, 1);
    return view;
}

/* Heads of key and value have an axis where those of query do. */
static int kv_axis(const struct sheet *s)
{
    return s->exercise->heads > 0 ? s->G : 0;
}

struct view view_stage(const struct sheet *s, const char *name)
{
    static const char *const ROLE_NAMES[] = {"query", "key", "value"};
    const struct {
        const char *name;
        const table *numbers;
    } squares[] = {{"scores", &s->scores}, {"scaled", &s->scaled},   {"capped", &s->capped},
                   {"masked", &s->masked}, {"weights", &s->weights}, {"dropped", &s->dropped}};
    const int heads = s->exercise->heads;
    for (int role = 0; role < ROLES; role++)
        if (strcmp(name, ROLE_NAMES[role]) == 0)
            return of_heads(s, &s->part[role], role == QUERY ? heads : kv_axis(s), role == QUERY ? s->Tq : s->Tk, s->d);
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        if (strcmp(name, squares[i].name) == 0)
            return of_heads(s, squares[i].numbers, heads, s->Tq, s->Tk);
    if (strcmp(name, "context") == 0)
        return of_heads(s, &s->context, heads, s->Tq, s->d);
    if (strcmp(name, "output") == 0)
        return of_rows(s, &s->output, s->D);
    return strcmp(name, "lse") == 0 ? of_lse(s) : (struct view){0};
}

static struct view below(const struct view *view, int place)
{
    return view_pick(view, 0, place, false);
}

size_t view_numbers(const struct view *view, double *numbers)
{
    size_t count = 0;
    if (view->rank == 0) {
        *numbers = *view->at;
        return 1;
    }
    for (int i = 0; i < view->shape[0]; i++) {
        const struct view child = below(view, i);
        count += view_numbers(&child, numbers + count);
    }
    return count;
}

struct view view_pick(const struct view *view, int axis, int place, bool kept)
{
    struct view picked = *view;
    picked.at += place * view->stride[axis];
    picked.shape[axis] = 1;
    for (int i = axis; i + 1 < view->rank && !kept; i++) {
        picked.shape[i] = view->shape[i + 1];
        picked.stride[i] = view->stride[i + 1];
    }
    picked.rank -= !kept;
    return picked;
}

/* --- written ----------------------------------------------------------------------------------------------------- */

static void write_number(double number, int decimals, int width, FILE *file)
{
    if (decimals >= 0 && isnan(number))
        fprintf(file, "%*s", width, "nan");
    else if (decimals >= 0)
        fprintf(file, "%*.*f", width, decimals, number);
    else if (decimals == TRUTH)
        fputs(number != 0 ? "true" : "false", file);
    else if (isnan(number))
        fputs("\"NaN\"", file);
    else if (isinf(number))
        fputs(number < 0 ? "null" : "\"Infinity\"", file);
    else
        fprintf(file, "%.9g", number);
}

/* Rows stand below each other, and a blank line is between matrices. */
static void write_axis(const struct view *view, int decimals, int width, int indent, FILE *file)
{
    if (view->rank == 0) {
        write_number(*view->at, decimals, width, file);
        return;
    }
    fputc('[', file);
    for (int i = 0; i < view->shape[0]; i++) {
        const struct view child = below(view, i);
        if (i > 0)
            fputs(child.rank == 0 ? ", " : ",", file);
        for (int lines = 0; i > 0 && decimals >= 0 && lines < child.rank; lines++)
            fputc('\n', file);
        if (i > 0 && decimals >= 0 && child.rank > 0)
            fprintf(file, "%*s", indent, "");
        write_axis(&child, decimals, width, indent + 1, file);
    }
    fputc(']', file);
}

/* All numbers of a print are as wide as the widest. */
static int widest(const struct view *view, int decimals)
{
    double numbers[VIEW_ROOM];
    int width = 0;
    const size_t count = view_numbers(view, numbers);
    for (size_t i = 0; i < count; i++) {
        const int length = snprintf(NULL, 0, "%.*f", decimals, isnan(numbers[i]) ? 0 : numbers[i]);
        width = length > width ? length : width;
    }
    return width;
}

void view_write(const struct view *view, int decimals, FILE *file)
{
    static const char BEFORE[] = "tensor(";
    if (decimals >= 0)
        fputs(BEFORE, file);
    write_axis(view, decimals, decimals >= 0 ? widest(view, decimals) : 0, (int)strlen(BEFORE) + 1, file);
    fputs(decimals >= 0 ? ")\n" : "", file);
}

/* --- exercises --------------------------------------------------------------------------------------------------- */

static void write_named(const char *name, const struct view *view, FILE *file)
{
    fprintf(file, ",\n \"%s\": ", name);
    view_write(view, strcmp(name, "attn_mask") == 0 ? TRUTH : FULL, file);
}

static struct view matrix(const double (*numbers)[WIDTH], int out, int in)
{
    return (struct view){(const double *)numbers, 2, {out, in}, {WIDTH, 1}};
}

static struct view vector(const double *numbers, int count)
{
    return (struct view){numbers, 1, {count}, {1}};
}

static void write_parameters(const struct sheet *s, FILE *file)
{
    static const char *const WEIGHTS[] = {"W_query.weight", "W_key.weight", "W_value.weight"};
    static const char *const BIASES[] = {"W_query.bias", "W_key.bias", "W_value.bias"};
    for (int role = 0; role < ROLES; role++) {
        const struct view weight = matrix(s->weight[role], s->D, s->d_in), bias = vector(s->bias[role], s->D);
        write_named(WEIGHTS[role], &weight, file);
        if (s->exercise->has_biases)
            write_named(BIASES[role], &bias, file);
    }
    const struct view out = matrix(s->out_weight, s->D, s->D), out_bias = vector(s->out_bias, s->D);
    if (s->exercise->splits)
        write_named("out_proj.weight", &out, file);
    if (s->exercise->splits && s->exercise->has_biases)
        write_named("out_proj.bias", &out_bias, file);
}

/* Key or value: the past apart from the rest. */
static void write_kept(const struct sheet *s, const char *name, const char *past_name, int role, FILE *file)
{
    const int past = s->exercise->past;
    struct view all = of_heads(s, &s->part[role], kv_axis(s), s->Tk - past, s->d), before = all;
    all.at += past * WIDTH;
    before.shape[before.rank - 2] = past;
    write_named(name, &all, file);
    if (past > 0)
        write_named(past_name, &before, file);
}

static void write_operands(const struct sheet *s, FILE *file)
{
    const struct view query = of_heads(s, &s->part[QUERY], s->exercise->heads, s->Tq, s->d);
    write_named("query", &query, file);
    write_kept(s, "key", "past_key", KEY, file);
    write_kept(s, "value", "past_value", VALUE, file);
}

/* B x 1 x Tq x Tk, B x 1 x 1 x Tk, or Tq x Tk. */
static void write_entries(const struct sheet *s, FILE *file)
{
    struct view mask = of_heads(s, &s->entries, s->exercise->items > 0, s->Tq, s->Tk);
    if (s->exercise->entries == OF_KEYS)
        mask.shape[2] = 1;
    if (s->exercise->entries != NO_ENTRIES)
        write_named("attn_mask", &mask, file);
}

static void write_lengths(const struct sheet *s, FILE *file)
{
    if (s->exercise->lengths[0] > 0)
        fprintf(file, ",\n \"kv_lengths\": [%d, %d]", s->exercise->lengths[0], s->exercise->lengths[1]);
}

void view_write_exercise(const struct sheet *s, FILE *file)
{
    const struct view inputs = of_rows(s, &s->inputs, s->d_in), slopes = vector(s->slopes + 1, s->H),
                      sinks = vector(s->sinks, s->H);
    fprintf(file, "{\"comment\": \"%s\"", s->exercise->name);
    if (s->d_in > 0) {
        write_named("inputs", &inputs, file);
        write_parameters(s, file);
    } else {
        write_operands(s, file);
    }
    write_entries(s, file);
    write_lengths(s, file);
    if (s->exercise->slopes)
        write_named("alibi_slopes", &slopes, file);
    if (s->exercise->sinks)
        write_named("sinks", &sinks, file);
    fputs("}\n", file);
}
