/* SPDX-License-Identifier: MIT */
/* result -> .safetensors: every table under its name, in the order asked for.
 *
 * model/safetensors_form.h says what the format is. __metadata__ has "attn" (the version), "mechanism", "settings",
 * "tokens" and "vocabulary" (the JSON texts of json.h), so that the file is an input that gives the same bytes again.
 * The header is padded with blanks so that the data begin at a multiple of 8. */
#include "write/writing.h"

#include "base/version.h"
#include "model/safetensors_form.h"
#include "problem/shard.h"
#include "write/json.h"
#include "write/raw.h"

enum { ALIGNMENT = 8 };

/* Adds a JSON text to __metadata__, whose values are strings. */
static enum status add_json(struct json *header, const char *name, write_json_value *write,
                            const struct problem *problem, struct arena *arena, struct error *error)
{
    struct output *value = output_of_text(arena, error);
    size_t length;
    if (value == NULL)
        return error->status;
    write(&(struct json){.output = value}, NULL, problem);
    const char *text = output_close_text(value, &length);
    if (text == NULL)
        return error->status;
    json_text(header, name, text);
    return STATUS_OK;
}

static void add_hash(struct json *header, const char *name, uint64_t hash)
{
    json_key(header, name);
    output_print(header->output, "\"%016llx\"", (unsigned long long)hash);
}

/* The part and its job, what else affects the last bits, and the command of the other parts. */
static void add_part(struct json *header, const struct result *result)
{
    const struct problem *problem = result->problem;
    const uint64_t library = shard_library(problem, result->attention.fused);
    json_key(header, "part");
    output_print(header->output, "\"%zu/%zu\"", problem->chosen.part, problem->chosen.parts);
    add_hash(header, "job", shard_job(problem));
    if (library != 0)
        add_hash(header, "library", library);
    if (problem->chosen.part_line != NULL)
        json_text(header, "command", problem->chosen.part_line);
}

static enum status add_metadata(struct json *header, const struct result *result, struct arena *arena,
                                struct error *error)
{
    const struct problem *problem = result->problem;
    json_open(header, SAFETENSORS_METADATA, '{');
    json_text(header, "attn", ATTN_VERSION);
    json_text(header, "mechanism", MECHANISMS[problem->mechanism].name);
    if (add_json(header, "settings", write_json_settings, problem, arena, error) ||
        (problem_tokens(problem)->texts != NULL &&
         add_json(header, "tokens", write_json_tokens, problem, arena, error)) ||
        (problem->labels.queries_differ && problem->labels.keys.texts != NULL &&
         add_json(header, "key_tokens", write_json_key_tokens, problem, arena, error)) ||
        (problem->labels.words.texts != NULL &&
         add_json(header, "vocabulary", write_json_vocabulary, problem, arena, error)) ||
        (problem->labels.heads.texts != NULL &&
         add_json(header, "head_names", write_json_head_names, problem, arena, error)))
        return error->status;
    if (problem->chosen.parts > 0)
        add_part(header, result);
    if (result_layout(result) != NULL)
        json_text(header, "layout", result_layout(result));
    if (result->lacks[0] != '\0')
        json_text(header, "lacks", result->lacks);
    json_close(header);
    return STATUS_OK;
}

/* The description of a table; moves *end, the end of the data so far. */
static void add_table(struct json *header, const struct result_table *table, size_t *end)
{
    const size_t begin = *end;
    *end = memory_sum(begin, write_raw_size(table));
    json_open(header, table->name, '{');
    json_text(header, "dtype", dtype_safetensors(table->dtype));
    json_sizes(header, "shape", table->shape, table->rank);
    json_sizes(header, "data_offsets", (const size_t[]){begin, *end}, 2);
    json_close(header);
}

/* The header's text, in the arena; NULL on failure. */
static const char *make_header(const struct result *result, size_t *length, struct arena *arena, struct error *error)
{
    struct output *text = output_of_text(arena, error);
    struct json header = {.output = text, .compact = true};
    size_t end = 0;
    if (text == NULL)
        return NULL;
    json_open(&header, NULL, '{');
    if (add_metadata(&header, result, arena, error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < result->table_count; i++)
        add_table(&header, &result->tables[i], &end);
    json_close(&header);
    return output_close_text(text, length);
}

/* The blanks to pad a header of that length; STATUS_USAGE where no reader takes one so long. */
static enum status check_length(size_t length, size_t *padding, struct error *error)
{
    *padding = (ALIGNMENT - length % ALIGNMENT) % ALIGNMENT;
    if (length + *padding <= SAFETENSORS_LONGEST_HEADER)
        return STATUS_OK;
    return error_usage(error, "the tokens make a header of %zu bytes; readers of .safetensors take at most %d",
                       length + *padding, SAFETENSORS_LONGEST_HEADER);
}

enum status check_safetensors(const struct writing *writing)
{
    size_t length, padding;
    const struct problem *problem = writing->result->problem;
    if (problem->chosen.parts > 0) /* whose header depends on all its numbers */
        return write_raw_expect(writing, 0);
    const char *header = make_header(writing->result, &length, writing->arena, writing->error);
    if (header == NULL || check_length(length, &padding, writing->error) != STATUS_OK)
        return writing->error->status;
    return write_raw_expect(writing, SAFETENSORS_LENGTH_BYTES + length + padding);
}

enum status write_safetensors(const struct writing *writing)
{
    struct result *result = writing->result;
    struct output *output = writing->output;
    struct error *error = writing->error;
    size_t length, padding;
    const char *header = make_header(result, &length, writing->arena, error);
    unsigned char *room = header != NULL ? write_raw_room(result, writing->arena, error) : NULL;
    if (room == NULL)
        return error->status;
    if (check_length(length, &padding, error) != STATUS_OK)
        return error->status;
    if (result->problem->chosen.parts > 0 &&
        write_raw_expect(writing, SAFETENSORS_LENGTH_BYTES + length + padding) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES; i++)
        output_write(output, (const char[]){(char)((uint64_t)(length + padding) >> 8 * i & 0xff)}, 1);
    output_write(output, header, length);
    output_write(output, "        ", padding);
    for (size_t i = 0; i < result->table_count; i++)
        write_raw(result, &result->tables[i], room, output);
    return STATUS_OK;
}
