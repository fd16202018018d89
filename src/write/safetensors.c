/* result -> .safetensors: every table under its name, in the order asked for.
 *
 * model/safetensors_form.h says what the format is. __metadata__ has "attn" (the version), "mechanism", "settings" and
 * "tokens" (the JSON texts of json.h), so that the file is an input that gives the same bytes again. The header is
 * padded with blanks so that the data begin at a multiple of 8. */
#include "write/writing.h"

#include "base/version.h"
#include "model/safetensors_form.h"
#include "problem/shard.h"
#include "write/json.h"
#include "write/raw.h"

enum { ALIGNMENT = 8 };

/* Text that is to become a member of __metadata__, whose values are strings. */
typedef void write_value(const struct problem *problem, struct output *output);

static enum status add_json(const char *name, write_value *write, const struct problem *problem, struct output *header,
                            struct arena *arena, struct error *error)
{
    struct output *value = arena_allocate(arena, 1, sizeof *value, error);
    size_t length;
    if (value == NULL)
        return error->status;
    output_open_text(value, arena, error);
    write(problem, value);
    const char *text = output_close_text(value, &length);
    if (text == NULL)
        return error->status;
    output_print(header, ",\"%s\":", name);
    write_json_string(text, header);
    return STATUS_OK;
}

/* Which part of which job, what else its last bits hang on, and the command of the others. */
static void add_part(const struct result *result, struct output *header)
{
    const struct problem *problem = result->problem;
    const uint64_t library = shard_library(problem, result->attention.fused);
    output_print(header, ",\"part\":\"%zu/%zu\",\"job\":\"%016llx\"", problem->part, problem->parts,
                 (unsigned long long)shard_job(problem));
    if (library != 0)
        output_print(header, ",\"library\":\"%016llx\"", (unsigned long long)library);
    if (problem->part_line != NULL) {
        output_print(header, ",\"command\":");
        write_json_string(problem->part_line, header);
    }
}

static enum status add_metadata(const struct result *result, struct output *header, struct arena *arena,
                                struct error *error)
{
    const struct problem *problem = result->problem;
    output_print(header, "\"" SAFETENSORS_METADATA "\":{\"attn\":\"" ATTN_VERSION "\",\"mechanism\":\"%s\"",
                 MECHANISMS[problem->mechanism].name);
    if (add_json("settings", write_json_settings, problem, header, arena, error) ||
        (problem_tokens(problem)->texts != NULL &&
         add_json("tokens", write_json_tokens, problem, header, arena, error)) ||
        (problem->apart && problem->labels.texts != NULL &&
         add_json("key_tokens", write_json_key_tokens, problem, header, arena, error)))
        return error->status;
    if (problem->parts > 0)
        add_part(result, header);
    if (result_layout(result) != NULL)
        output_print(header, ",\"layout\":\"%s\"", result_layout(result));
    if (result->lacks[0] != '\0') {
        output_print(header, ",\"lacks\":");
        write_json_string(result->lacks, header);
    }
    output_print(header, "}");
    return STATUS_OK;
}

/* One table's description; *end, where the data of those before it end, moves on. */
static enum status add_table(const struct result_table *table, size_t *end, struct output *header, struct error *error)
{
    size_t size;
    if (write_raw_size(table, &size, error) != STATUS_OK)
        return error->status;
    if (size > SIZE_MAX - *end)
        return error_system(error, 0, "the tables are larger than any file");
    output_print(header, ",");
    write_json_string(table->name, header);
    output_print(header, ":{\"dtype\":\"%s\",\"shape\":[", dtype_safetensors(table->dtype));
    for (size_t axis = 0; axis < table->rank; axis++)
        output_print(header, "%s%zu", axis ? "," : "", table->shape[axis]);
    output_print(header, "],\"data_offsets\":[%zu,%zu]}", *end, *end + size);
    *end += size;
    return STATUS_OK;
}

/* The header's text, in the arena; NULL on failure. */
static const char *make_header(const struct result *result, size_t *length, struct arena *arena, struct error *error)
{
    struct output *header = arena_allocate(arena, 1, sizeof *header, error);
    size_t end = 0;
    if (header == NULL)
        return NULL;
    output_open_text(header, arena, error);
    output_print(header, "{");
    if (add_metadata(result, header, arena, error) != STATUS_OK)
        return NULL;
    for (size_t i = 0; i < result->table_count; i++)
        if (add_table(&result->tables[i], &end, header, error) != STATUS_OK)
            return NULL;
    output_print(header, "}");
    return output_close_text(header, length);
}

/* How many blanks a header of that length is padded with; STATUS_USAGE where it is too long to be read. */
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
    if (problem->parts > 0) /* whose header says what all numbers come to */
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
    if (result->problem->parts > 0 &&
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
