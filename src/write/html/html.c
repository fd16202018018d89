/* result -> one HTML page that needs no network: tokens, settings, query, key and value, and a script that computes
 * from them what a reader points at, by the equations of src/stage/.
 *
 * The data stand in <script> elements that no browser runs: one JSON object, and numbers in base64, little-endian, of
 * float64 for that dtype and else of float32. Text from outside reaches the page through text_shown, and there is no
 * '<' in it: it can close no element, and what is hidden is seen. */
#include "write/writing.h"

#include "base/base64.h"
#include "base/decimal.h"
#include "base/text.h"
#include "base/version.h"
#include "stage/operand_steps.h"
#include "stage/stage.h"
#include "write/html/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMNS = 60, TEXT_BYTES = 512, CHUNK = 512, NAME_BYTES = 32 };

/* --- the JSON object --------------------------------------------------------------------------------------------- */

/* A text in quotes, on one line and without '<', '>' and '&': it can neither end a script nor begin a comment. */
static void write_string(const char *text, size_t columns, struct output *output)
{
    char shown[TEXT_BYTES];
    text_shown(text, columns, shown, sizeof shown);
    output_write(output, "\"", 1);
    for (const char *c = shown; *c != '\0'; c++)
        if (strchr("\"\\<>&", *c) != NULL)
            output_print(output, "\\u%04x", (unsigned)*c);
        else
            output_write(output, c, 1);
    output_write(output, "\"", 1);
}

static void write_key(const char *name, struct output *output)
{
    output_print(output, ",\n\"%s\": ", name);
}

static void write_size(const char *name, size_t size, struct output *output)
{
    write_key(name, output);
    output_print(output, "%zu", size);
}

static void write_truth(const char *name, bool truth, struct output *output)
{
    write_key(name, output);
    output_print(output, "%s", truth ? "true" : "false");
}

static void write_real(const char *name, double number, struct output *output)
{
    char text[DECIMAL_BYTES];
    write_key(name, output);
    output_write(output, text, decimal_from_double(number, text));
}

/* One number for each head, or null. */
static void write_list(const char *name, const double *numbers, size_t count, struct output *output)
{
    char text[DECIMAL_BYTES];
    write_key(name, output);
    if (numbers == NULL) {
        output_print(output, "null");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        output_print(output, "%s", i ? ", " : "[");
        output_write(output, text, decimal_from_double(numbers[i], text));
    }
    output_print(output, "]");
}

/* A name and a text of at most so many columns, as one element of a list. */
static void write_named(const char *name, const char *text, size_t columns, bool first, struct output *output)
{
    output_print(output, "%s[\"%s\", ", first ? "" : ", ", name);
    write_string(text, columns, output);
    output_print(output, "]");
}

static void write_setting(const char *name, const char *text, bool first, struct output *output)
{
    write_named(name, text, TEXT_COLUMNS, first, output);
}

static void write_settings(const struct problem *problem, struct output *output)
{
    bool first = !problem->parameters.given;
    char mistake[MISTAKE_NAME_BYTES];
    write_key("settings", output);
    output_print(output, "[");
    if (problem->parameters.given)
        write_setting("parameters from", problem->parameters.source, true, output);
    for (size_t i = 0; i < problem->setting_count; i++) {
        if (problem->settings[i].idle || strcmp(problem->settings[i].name, "mistake") == 0)
            continue;
        write_setting(problem->settings[i].name, problem->settings[i].text, first, output);
        first = false;
    }
    for (size_t i = 0; i < problem->mistake_count; i++) { /* one by one, so that none is cut */
        write_setting("mistake", mistake_text(problem->mistakes[i], mistake), first, output);
        first = false;
    }
    output_print(output, "]");
}

/* A list for each item that has its own, or null. */
static void write_labels(const char *key, const struct token_labels *labels, struct output *output)
{
    write_key(key, output);
    output_print(output, "%s", labels->texts == NULL ? "null" : "[");
    for (size_t list = 0; list < labels->lists && labels->texts != NULL; list++) {
        for (size_t token = 0; token < labels->count; token++) {
            output_print(output, "%s", token ? ", " : list ? ",\n  [" : "[");
            write_string(labels->texts[list * labels->count + token], TEXT_COLUMNS, output);
        }
        output_print(output, "]");
    }
    output_print(output, "%s", labels->texts == NULL ? "" : "]");
}

/* Of the keys; of the queries where they are not the keys' tokens. */
static void write_tokens(const struct problem *problem, struct output *output)
{
    write_labels("tokens", &problem->labels, output);
    if (problem->apart)
        write_labels("query_tokens", &problem->query_labels, output);
}

/* What the page shows, with formulas; query, key and value are always there. */
static void write_stages(const struct result *result, struct output *output)
{
    write_key("stages", output);
    for (size_t i = 0, first = 1; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (!STAGES[table->stage].on_page)
            continue;
        output_print(output, "%s[\"%s\", ", first ? "[" : ",\n  ", table->name);
        write_string(table->formula, RESULT_FORMULA_BYTES, output);
        output_print(output, "]");
        first = 0;
    }
    output_print(output, "]");
}

/* What query or key is made of on its way, with formulas; what its last step begins with; which columns are turned. */
static void write_way(const struct problem *problem, enum projection_id id, struct output *output)
{
    const uint64_t stages = stage_closure(STAGE_BIT(projection_stage(id)));
    char formula[RESULT_FORMULA_BYTES];
    bool first = true;
    output_print(output, "{\"made\": [");
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        if ((stages & STAGE_BIT(stage)) == 0 || !stage_applies(problem, (enum stage)stage) || STAGES[stage].operand)
            continue;
        stage_formula(problem, (enum stage)stage, formula, sizeof formula);
        write_named(stage_name((enum stage)stage), formula, sizeof formula, first, output);
        first = false;
    }
    output_print(output, "], \"from\": ");
    output_print(output, operand_has_last_step(problem, id) ? "\"%s\"" : "null",
                 stage_name(operand_before_last_step(problem, id)));
    write_real("scale", operand_is_scaled(problem, id) ? problem->query_scale : 1, output);
    output_print(output, "}");
}

/* The ways of query and key that are more than a projection; and the pairs of columns that are turned: where the two
 * numbers are read, and where they are written. */
static void write_ways(const struct problem *problem, struct output *output)
{
    bool first = true;
    write_key("ways", output);
    for (int i = 0; i < PROJECTION_COUNT; i++)
        if (operand_has_steps(problem, (enum projection_id)i)) {
            output_print(output, "%s\"%s\": ", first ? "{" : ",\n  ",
                         stage_name(projection_stage((enum projection_id)i)));
            write_way(problem, (enum projection_id)i, output);
            first = false;
        }
    output_print(output, first ? "{}" : "}");
    write_key("pairs", output);
    for (size_t pair = 0; pair < problem->rope.columns / 2; pair++) {
        const struct rope_pair at = rope_pair(&problem->rope, pair);
        char frequency[DECIMAL_BYTES];
        decimal_from_double((double)problem->rope.frequencies[pair], frequency);
        output_print(output, "%s[%zu, %zu, %zu, %zu, %s]", pair ? ", " : "[", at.from[0], at.from[1], at.to[0],
                     at.to[1], frequency);
    }
    output_print(output, problem->rope.columns == 0 ? "[]" : "]");
}

/* The rotary position of each row of query or key, (B, S) or (B, Tk), from 0, where they are turned; -1: a key of a
 * past, as it is. */
static void write_turned(const struct problem *problem, enum projection_id id, struct output *output)
{
    const size_t rows = id == PROJECTION_QUERY ? problem->row_count : problem->keys;
    if (!operand_is_turned(problem, id))
        return;
    write_key(id == PROJECTION_QUERY ? "query_positions" : "key_positions", output);
    for (size_t i = 0; i < problem->items * rows; i++) {
        const size_t row = id == PROJECTION_QUERY ? problem->rows[i % rows] : i % rows;
        const size_t position = operand_position(problem, id, i / rows, row);
        output_print(output, i ? ", " : "[");
        output_print(output, position == SIZE_MAX ? "-1" : "%zu", position);
    }
    output_print(output, "]");
}

/* The stages that mistakes make otherwise than the page would; null where it computes all of them. */
static void write_wrong(const struct problem *problem, struct output *output)
{
    bool first = true;
    write_key("wrong", output);
    output_print(output, problem->recipe == NULL ? "null" : "[");
    for (int stage = 0; stage < STAGE_COUNT && problem->recipe != NULL; stage++)
        if (problem->wrong & STAGE_BIT(stage)) {
            output_print(output, "%s\"%s\"", first ? "" : ", ", stage_name((enum stage)stage));
            first = false;
        }
    output_print(output, problem->recipe == NULL ? "" : "]");
}

/* The positions of the queries asked for, from 0. */
static void write_positions(const struct problem *problem, struct output *output)
{
    write_key("positions", output);
    for (size_t row = 0; row < problem->row_count; row++)
        output_print(output, "%s%zu", row ? ", " : "[", problem->rows[row]);
    output_print(output, "]");
}

static void write_sizes(const struct problem *problem, struct output *output)
{
    write_size("items", problem->items, output);
    write_size("heads", problem->heads, output);
    write_size("key_heads", problem->kv_heads, output);
    write_size("queries", problem->queries, output);
    write_size("keys", problem->keys, output);
    write_size("d_head", problem->d_head, output);
    write_size("d_value", problem->d_value, output);
    write_truth("has_batch", problem->has_batch, output);
    write_truth("has_heads", problem->has_heads, output);
    write_truth("labelled_queries", problem->first_query != SIZE_MAX, output);
    write_size("first_query", problem->first_query != SIZE_MAX ? problem->first_query : 0, output);
}

/* T5's table, (buckets, H), and the bucket of each distance of key and query from -far to far; those beyond have that
 * of the end. */
static void write_relative(const struct mask *mask, struct output *output)
{
    const double widest = fmin((double)mask->relative_distance, (double)(mask->queries + mask->keys));
    const long long far = (long long)widest + 1;
    write_key("relative", output);
    output_print(output, mask->relative == NULL ? "null" : "{\"far\": %lld, \"buckets\": ", far);
    for (long long distance = -far; distance <= far && mask->relative != NULL; distance++)
        output_print(output, "%s%zu", distance > -far ? ", " : "[", mask_bucket(mask, distance));
    if (mask->relative == NULL)
        return;
    output_print(output, "]");
    write_list("table", mask->relative, mask->buckets * mask->heads, output);
    output_print(output, "}");
}

/* What ALiBi takes from a key of a head, (H, Tk), where that is no slope x distance. */
static void write_penalties(const struct problem *problem, struct output *output)
{
    const struct mask *mask = &problem->mask;
    const struct mask slopes = {.keys = mask->keys, .alibi_slopes = mask->alibi_slopes, .places = mask->places};
    double bias;
    if (mask->alibi_slopes == NULL || mask->places.from == MASK_FROM_QUERY)
        return;
    write_key("alibi_penalties", output);
    for (size_t i = 0; i < problem->heads * problem->keys; i++) {
        char text[DECIMAL_BYTES];
        mask_bias(&slopes, 0, i / problem->keys, 0, i % problem->keys, 1, &bias);
        decimal_from_double(-bias, text);
        output_print(output, "%s%s", i > 0 ? ", " : "[", text);
    }
    output_print(output, "]");
}

static void write_mask(const struct problem *problem, struct output *output)
{
    static const char *const EMPTY_ROW_WORDS[] = {EMPTY_ROWS(CHOICE_WORD)};
    const struct mask *mask = &problem->mask;
    write_truth("masks", problem->masks, output);
    write_truth("causal", mask->causal, output);
    write_real("left", (double)mask->left, output);
    write_real("right", (double)mask->right, output);
    write_key("offsets", output);
    for (size_t item = 0; item < problem->items; item++)
        output_print(output, "%s%lld", item ? ", " : "[", (long long)mask_offset(mask, item));
    output_print(output, "]");
    write_truth("has_lengths", mask->lengths != NULL, output);
    write_size("masked_keys", mask->masked_keys, output);
    write_key("attn_mask", output);
    if (mask->attn_mask.rank > 0)
        output_print(output, "{\"strides\": [%zu, %zu, %zu, %zu], \"adds\": %s}", mask->strides[0], mask->strides[1],
                     mask->strides[2], mask->strides[3], !dtype_is_boolean(mask->attn_mask.dtype) ? "true" : "false");
    else
        output_print(output, "null");
    write_list("alibi_slopes", mask->alibi_slopes, problem->heads, output);
    write_penalties(problem, output);
    write_list("sinks", mask->sinks, problem->heads, output);
    write_relative(mask, output);
    write_key("empty_row", output);
    output_print(output, "\"%s\"", EMPTY_ROW_WORDS[mask->empty_row]);
}

/* What the page rounds by: the facts of one or two dtypes. */
static void write_dtypes(const struct problem *problem, struct output *output)
{
    const enum dtype dtypes[] = {problem->dtype, problem->softmax_dtype};
    char smallest[DECIMAL_BYTES], largest[DECIMAL_BYTES];
    write_key("dtypes", output);
    for (size_t i = 0; i < 1 + (dtypes[1] != dtypes[0]); i++) {
        decimal_from_double(dtype_smallest(dtypes[i]), smallest);
        decimal_from_double(dtype_largest(dtypes[i]), largest);
        output_print(output, "%s\"%s\": {\"storage\": \"%s\", \"bits\": %d, ", i ? ",\n  " : "{", dtype_name(dtypes[i]),
                     dtype_name(dtype_storage(dtypes[i])), dtype_precision(dtypes[i]));
        output_print(output, "\"smallest\": %s, \"largest\": %s, \"infinite\": %s}", smallest, largest,
                     dtype_has_infinity(dtypes[i]) ? "true" : "false");
    }
    output_print(output, "}");
}

static void write_object(const struct result *result, int precision, struct output *output)
{
    const struct problem *problem = result->problem;
    output_print(output, "<script type=\"application/json\" id=\"data-job\">\n{\"attn\": \"" ATTN_VERSION "\"");
    write_key("title", output);
    output_print(output, "\"%s\"", MECHANISMS[problem->mechanism].title);
    write_settings(problem, output);
    write_size("precision", (size_t)precision, output);
    write_sizes(problem, output);
    write_key("dtype", output);
    output_print(output, "\"%s\"", dtype_name(problem->dtype));
    write_key("softmax_dtype", output);
    output_print(output, "\"%s\"", dtype_name(problem->softmax_dtype));
    write_dtypes(problem, output);
    write_real("scale", problem->scale, output);
    write_real("softcap", problem->softcap, output);
    write_real("dropout", problem->dropout, output);
    write_mask(problem, output);
    write_stages(result, output);
    write_ways(problem, output);
    write_turned(problem, PROJECTION_QUERY, output);
    write_turned(problem, PROJECTION_KEY, output);
    write_wrong(problem, output);
    write_truth("mask_made", problem->mask_made, output);
    write_positions(problem, output);
    write_tokens(problem, output);
    output_print(output, "}\n</script>\n");
}

/* --- the numbers ------------------------------------------------------------------------------------------------- */

static void open_numbers(const char *name, struct output *output)
{
    output_print(output, "<script type=\"text/plain\" id=\"data-%s\">", name);
}

static void close_numbers(struct base64 *base64)
{
    base64_end(base64);
    output_print(base64->output, "</script>\n");
}

static void add_numbers(struct base64 *base64, const double *numbers, size_t count, enum dtype dtype)
{
    unsigned char bytes[CHUNK * sizeof(double)];
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        dtype_encode(dtype, numbers + first, now, bytes);
        base64_add(base64, bytes, now * dtype_size(dtype));
    }
}

/* Truth values, eight to a byte, the first one lowest; each row begins a byte. */
static void add_bits(struct base64 *base64, const double *numbers, size_t count)
{
    for (size_t first = 0; first < count; first += 8) {
        unsigned char byte = 0;
        for (size_t bit = 0; bit < 8 && first + bit < count; bit++)
            byte |= (unsigned char)((numbers[first + bit] != 0) << bit);
        base64_add(base64, &byte, 1);
    }
}

/* All rows of a table under that name: the numbers themselves, or a bit for each that says whether it is not zero. */
static void write_rows(struct result *result, const struct result_table *table, const char *name, bool bits,
                       struct output *output)
{
    struct base64 base64 = {.output = output};
    open_numbers(name, output);
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < result_rows(table) && !output->failed; row++) {
            result_row(result, table, matrix, row, result->numbers);
            if (bits)
                add_bits(&base64, result->numbers, result_columns(table));
            else
                add_numbers(&base64, result->numbers, result_columns(table), dtype_storage(table->dtype));
        }
    close_numbers(&base64);
}

/* attn_mask as numbers that are added, in the order of its strides: minus infinity where it forbids. */
static void write_attn_mask(const struct problem *problem, struct output *output)
{
    const struct mask *mask = &problem->mask;
    const struct tensor *tensor = &mask->attn_mask;
    const size_t count = tensor_count(tensor);
    struct base64 base64 = {.output = output};
    double numbers[CHUNK];
    open_numbers("attn_mask", output);
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        tensor_load(tensor, first, now, numbers);
        if (dtype_is_boolean(tensor->dtype)) {
            for (size_t i = 0; i < now; i++)
                numbers[i] = (numbers[i] != 0) != mask->true_drops;
            add_bits(&base64, numbers, now);
        } else {
            add_numbers(&base64, numbers, now, dtype_storage(problem->dtype));
        }
    }
    close_numbers(&base64);
}

/* Where row i of those of all items and heads begins; in a context of packed heads these lie side by side. */
static size_t made_at(const struct problem *problem, bool side_by_side, size_t i, size_t columns)
{
    const size_t rows = problem->row_count, head = i / rows % problem->heads, item = i / rows / problem->heads;
    return columns * (side_by_side ? (item * rows + i % rows) * problem->heads + head : i);
}

/* What mistakes have made, whole: no equation of the page gives it. */
static void write_made(struct result *result, enum stage stage, struct output *output)
{
    const struct problem *problem = result->problem;
    const bool side_by_side = problem_is_side_by_side(problem, stage);
    const struct tensor *held = &result->attention.held[problem_made_as(problem, stage)];
    const size_t columns = problem_columns_of_head(problem, stage);
    struct base64 base64 = {.output = output};
    double numbers[CHUNK];
    char name[NAME_BYTES];
    if (held->rank == 0)
        return;
    snprintf(name, sizeof name, "made-%s", stage_name(stage));
    open_numbers(name, output);
    for (size_t i = 0; i < problem->items * problem->heads * problem->row_count; i++)
        for (size_t first = 0; first < columns; first += CHUNK) {
            const size_t now = memory_smaller(columns - first, CHUNK);
            tensor_load(held, made_at(problem, side_by_side, i, columns) + first, now, numbers);
            add_numbers(&base64, numbers, now, dtype_storage(problem->dtype));
        }
    close_numbers(&base64);
}

/* Cosine and sine of each pair of each row that is turned, (B, S or Tk, n / 2, 2). */
static void write_turns(const struct problem *problem, enum projection_id id, struct output *output)
{
    const size_t rows = id == PROJECTION_QUERY ? problem->row_count : problem->keys;
    struct base64 base64 = {.output = output};
    open_numbers(id == PROJECTION_QUERY ? "turns-query" : "turns-key", output);
    for (size_t i = 0; i < problem->items * rows; i++) {
        const size_t row = id == PROJECTION_QUERY ? problem->rows[i % rows] : i % rows;
        const size_t position = operand_position(problem, id, i / rows, row);
        for (size_t pair = 0; pair < problem->rope.columns / 2; pair++) {
            const struct rope_turn turn = operand_turn(problem, position == SIZE_MAX ? 0 : position, pair);
            add_numbers(&base64, (double[]){turn.cosine, turn.sine}, 2, dtype_storage(problem->dtype));
        }
    }
    close_numbers(&base64);
}

/* What query and key are turned or scaled from. */
static void write_before(struct result *result, struct output *output)
{
    const struct problem *problem = result->problem;
    for (int i = 0; i < PROJECTION_COUNT; i++) {
        const enum projection_id id = (enum projection_id)i;
        char name[NAME_BYTES];
        if (!operand_has_last_step(problem, id))
            continue;
        snprintf(name, sizeof name, "before-%s", stage_name(projection_stage(id)));
        write_rows(result, result_table_of(result, operand_before_last_step(problem, id)), name, false, output);
        if (operand_is_turned(problem, id))
            write_turns(problem, id, output);
    }
}

static void write_data(struct result *result, int precision, struct output *output)
{
    write_object(result, precision, output);
    for (int stage = 0; stage < STAGE_COUNT && result->problem->recipe != NULL; stage++)
        if (STAGES[stage].on_page && !STAGES[stage].operand)
            write_made(result, (enum stage)stage, output);
    for (size_t i = 0; i < result->table_count; i++) {
        const struct result_table *table = &result->tables[i];
        if (STAGES[table->stage].operand)
            write_rows(result, table, table->name, false, output);
        else if (table->stage == STAGE_DROPPED) /* a weight that is zero before dropout is zero either way */
            write_rows(result, table, "kept", true, output);
    }
    write_before(result, output);
    if (result->problem->mask.attn_mask.rank > 0)
        write_attn_mask(result->problem, output);
}

/* The page up to the mark; returns what stands behind that. */
static const char *write_page_until(const char *page, const char *mark, struct output *output)
{
    const char *at = strstr(page, mark);
    output_write(output, page, (size_t)(at - page));
    return at + strlen(mark);
}

enum status write_html(const struct writing *writing)
{
    struct output *output = writing->output;
    const char *page = write_page_until((const char *)page_bytes, "@theme@", output);
    static const char *const WORDS[] = {THEMES(CHOICE_WORD)};
    output_print(output, "%s", WORDS[writing->theme]);
    page = write_page_until(page, "@data@\n", output);
    write_data(writing->result, writing->precision, output);
    output_write(output, page, strlen(page));
    return STATUS_OK;
}
