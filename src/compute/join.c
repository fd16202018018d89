/* SPDX-License-Identifier: MIT */
#include "compute/join.h"

#include "base/shell_word.h"
#include "base/text.h"
#include "cli/options.h"
#include "model/stage_id.h"
#include "read/load.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TOLD = 5 };

/* The files in the order of their parts. */
struct joining {
    struct input_file *files; /* (count) */
    size_t *numbers;          /* (count) the number of each part, from 1, ascending */
    size_t count, placed;
    size_t parts; /* of the job; 0 before the first file */
    struct arena *arena;
    struct error *error;
};

/* Reads an integer as shard.c writes it, without sign or leading zero; 0: none. *end is after it. */
static size_t read_count(const char *text, char **end)
{
    return text[0] >= '1' && text[0] <= '9' ? (size_t)strtoull(text, end, 10) : 0;
}

/* Reads the file's "K/N"; false: it has none. */
static bool read_part(const struct input_file *input, size_t *part, size_t *parts)
{
    char *slash, *end;
    if (input->part == NULL || input->job == NULL || input->mechanism == NULL)
        return false;
    *part = read_count(input->part, &slash);
    *parts = *part > 0 && *slash == '/' ? read_count(slash + 1, &end) : 0;
    return *parts > 0 && *end == '\0' && *part <= *parts;
}

static enum status place(struct joining *joining, const struct input_file *input)
{
    size_t part, parts;
    if (!read_part(input, &part, &parts))
        return error_usage(joining->error, "%s: not a part of a job; expected a file that --part K/N wrote",
                           input->source);
    if (input->passed_count > 0)
        return error_usage(joining->error, "%s: holds %s, which no part has; expected a file that --part K/N wrote",
                           input->source, input->passed[0]);
    if (joining->parts == 0)
        joining->parts = parts;
    if (parts != joining->parts)
        return error_usage(joining->error,
                           "%s: is part %zu of %zu, but other files are parts of %zu; give the parts of one job",
                           input->source, part, parts, joining->parts);
    size_t to = joining->placed++;
    for (; to > 0 && joining->numbers[to - 1] >= part; to--) {
        if (joining->numbers[to - 1] == part)
            return error_usage(joining->error, "%s: is part %zu of %zu, like %s; give each part once", input->source,
                               part, parts, joining->files[to - 1].source);
        joining->numbers[to] = joining->numbers[to - 1];
        joining->files[to] = joining->files[to - 1];
    }
    joining->numbers[to] = part;
    joining->files[to] = *input;
    return STATUS_OK;
}

/* "make part 2: attn causal x.npy --part 2/8 -o part-2.safetensors", if the parts record it and it fits. */
static void tell_command(const struct joining *joining, size_t part, struct text *detail)
{
    const char *command = joining->files[0].command;
    const size_t length = detail->length;
    if (command == NULL || strncmp(command, "attn ", 5) != 0 || !shell_line_is_words(command) || detail->cut)
        return;
    text_add(detail, "make part %zu: %s --part %zu/%zu -o part-%zu.safetensors\n", part, command, part, joining->parts,
             part);
    if (detail->cut)
        detail->bytes[length] = '\0';
}

/* Fails with "parts 2, 5 and 6 of 8 are missing", naming the first of many. */
static enum status check_all_there(const struct joining *joining)
{
    char list[128];
    struct text text = text_begin(list, sizeof list);
    struct text detail = text_begin(joining->error->detail, sizeof joining->error->detail);
    const size_t missing = joining->parts - joining->count;
    size_t next = 0, told = 0;
    for (size_t part = 1; told < missing && told < MOST_TOLD; part++) {
        if (next < joining->count && joining->numbers[next] == part) {
            next++;
            continue;
        }
        told++;
        text_add(&text, "%s%zu", told == 1 ? "" : told == missing ? " and " : ", ", part);
        tell_command(joining, part, &detail);
    }
    if (missing == 0)
        return STATUS_OK;
    return error_usage(joining->error, "part%s %s%s of %zu %s missing; expected all of them, got %zu file%s",
                       missing == 1 ? "" : "s", list, told < missing ? " and others" : "", joining->parts,
                       missing == 1 ? "is" : "are", joining->count, joining->count == 1 ? "" : "s");
}

static enum status check_alike(const struct joining *joining, const struct input_file *input)
{
    const struct input_file *first = &joining->files[0];
    if (strcmp(input->job, first->job) != 0)
        return error_usage(joining->error,
                           "%s: belongs to another job than %s; expected the same version, mechanism, settings, "
                           "stages, inputs, parameters and instruction set (ATTN_ISA)",
                           input->source, first->source);
    if (strcmp(input->library != NULL ? input->library : "", first->library != NULL ? first->library : "") != 0)
        return error_usage(joining->error,
                           "%s: its machine's exp, log or tanh differs in the last bits from that of %s; expected "
                           "parts from machines of the same kind (GLIBC_TUNABLES)",
                           input->source, first->source);
    if (input->tensor_count != first->tensor_count)
        return error_usage(joining->error, "%s: holds %zu tensors, but %s holds %zu; give the parts of one job",
                           input->source, input->tensor_count, first->source, first->tensor_count);
    return STATUS_OK;
}

static enum status read_parts(struct joining *joining, char *const *files, size_t count)
{
    joining->count = count;
    joining->files = arena_allocate(joining->arena, joining->count, sizeof joining->files[0], joining->error);
    joining->numbers = arena_allocate(joining->arena, joining->count, sizeof joining->numbers[0], joining->error);
    if (joining->files == NULL || joining->numbers == NULL)
        return joining->error->status;
    for (size_t i = 0; i < joining->count; i++) {
        struct input_file input;
        if (load_file(files[i], INPUT_FILE_OF_RESULT, joining->arena, &input, joining->error) != STATUS_OK ||
            place(joining, &input) != STATUS_OK)
            return joining->error->status;
    }
    if (check_all_there(joining) != STATUS_OK)
        return joining->error->status;
    for (size_t i = 1; i < joining->count; i++)
        if (check_alike(joining, &joining->files[i]) != STATUS_OK)
            return joining->error->status;
    return STATUS_OK;
}

static enum status foreign(const struct joining *joining)
{
    return error_usage(joining->error, "%s: not a part that attn wrote; expected a file that --part K/N wrote",
                       joining->files[0].source);
}

static enum status wrong_piece(const struct joining *joining, size_t part, const char *name)
{
    return error_usage(joining->error, "%s: its %s does not match the one in %s; give the parts of one job",
                       joining->files[part].source, name, joining->files[0].source);
}

/* Collects the pieces of a table in the order of the parts, and adds their rows to its own. */
static enum status collect_pieces(const struct joining *joining, struct result_table *table)
{
    const struct tensor **pieces = arena_allocate(joining->arena, joining->count, sizeof *pieces, joining->error);
    if (pieces == NULL)
        return joining->error->status;
    const size_t cut = table->rank - (stage_has_columns(table->stage) ? 2 : 1); /* the axis of the queries */
    table->shape[cut] = 0;
    for (size_t part = 0; part < joining->count; part++) {
        const struct file_tensor *found = input_file_find(&joining->files[part], table->name);
        if (found == NULL || found->tensor.rank != table->rank || found->tensor.dtype != table->tensor->dtype)
            return wrong_piece(joining, part, table->name);
        for (size_t axis = 0; axis < table->rank; axis++)
            if (axis != cut && found->tensor.shape[axis] != table->shape[axis])
                return wrong_piece(joining, part, table->name);
        pieces[part] = &found->tensor;
        table->shape[cut] += found->tensor.shape[cut];
    }
    table->pieces = pieces;
    return STATUS_OK;
}

static enum status add_table(const struct joining *joining, const struct file_tensor *named, struct result *result)
{
    struct result_table *table = &result->tables[named->order];
    const enum stage stage = stage_find(named->name, strlen(named->name));
    *table = (struct result_table){
        .name = named->name,
        .stage = stage == STAGE_NAMES ? STAGE_PARAMETERS : stage,
        .rank = named->tensor.rank,
        .tensor = &named->tensor,
        .dtype = named->tensor.dtype,
    };
    for (size_t axis = 0; axis < table->rank; axis++) {
        table->axes[axis] = AXIS_COLUMN;
        table->shape[axis] = named->tensor.shape[axis];
    }
    if (!stage_exists(table->stage) || stage_is_of_keys(table->stage)) /* complete in each part */
        return STATUS_OK;
    const enum dtype dtype = result->problem->rounding.dtype; /* some models keep some stages in float32 */
    if ((table->rank < 2 && stage_has_columns(table->stage)) ||
        (table->dtype != dtype && table->dtype != dtype_storage(dtype)))
        return foreign(joining);
    return collect_pieces(joining, table);
}

/* Copies the settings to the result; each must be one that the mechanism takes, with a valid value. Sets the working
 * dtype, which all parts record. */
static enum status take_settings(const struct joining *joining, struct problem *problem)
{
    const struct input_file *first = &joining->files[0];
    struct options options = {.command = command_of(problem->mechanism), .mechanism = problem->mechanism};
    if (input_file_setting(first, "dtype") == NULL)
        return foreign(joining);
    for (size_t i = 0; i < first->setting_count; i++) {
        const struct setting *setting = &first->settings[i];
        if (options_setting(&options, setting, false, first->source, joining->error) != STATUS_OK)
            return joining->error->status;
        if (!options_takes_setting(problem->mechanism, setting->name))
            return error_usage(joining->error,
                               "%s: settings: %s does not take '%s'; expected the settings that --part wrote",
                               first->source, MECHANISMS[problem->mechanism].name, setting->name);
    }
    problem->record.settings = first->settings;
    problem->record.setting_count = first->setting_count;
    problem->rounding.dtype = options.dtype;
    return STATUS_OK;
}

static enum status describe(const struct joining *joining, struct problem *problem)
{
    const struct input_file *first = &joining->files[0];
    const bool crosses = input_file_has_layout(first, INPUT_FILE_CROSS),
               apart = crosses || first->key_tokens.texts != NULL;
    *problem = (struct problem){
        .mechanism = mechanism_find(first->mechanism),
        .given.is_cross = crosses,
        .labels.queries_differ = apart,
        .labels.keys = apart ? first->key_tokens : first->tokens,
        .labels.queries = apart ? first->tokens : (struct token_labels){0},
        .labels.words = first->words,
        .labels.heads = first->head_names,
        .size.keys = apart ? first->key_tokens.count : first->tokens.count,
        .chosen.stages_asked = true,
    };
    return problem->mechanism == MECHANISM_COUNT ? foreign(joining) : take_settings(joining, problem);
}

/* A .npy holds one table, of a dtype that it has. */
static enum status check_one_table(const struct joining *joining, const struct result *result)
{
    if (result->table_count != 1)
        return error_usage(joining->error,
                           "a .npy file holds one tensor, but these parts hold %zu; type --out WHOLE.safetensors",
                           result->table_count);
    if (dtype_npy(result->tables[0].dtype) == NULL)
        return error_usage(joining->error, "a .npy file cannot hold %s; type --out WHOLE.safetensors",
                           dtype_title(result->tables[0].dtype));
    return STATUS_OK;
}

enum status join_parts(struct result *result, struct problem *problem, char *const *files, size_t count, bool one_table,
                       struct arena *arena, struct error *error)
{
    struct joining joining = {.arena = arena, .error = error};
    if (read_parts(&joining, files, count) != STATUS_OK || describe(&joining, problem) != STATUS_OK)
        return error->status;
    const struct input_file *first = &joining.files[0];
    *result = (struct result){.problem = problem};
    if (first->lacks != NULL && strlen(first->lacks) >= sizeof result->lacks)
        return foreign(&joining);
    if (first->lacks != NULL)
        strcpy(result->lacks, first->lacks);
    result->tables = arena_allocate(arena, first->tensor_count, sizeof result->tables[0], error);
    if (result->tables == NULL)
        return error->status;
    for (size_t i = 0; i < first->tensor_count; i++)
        if (add_table(&joining, &first->tensors[i], result) != STATUS_OK)
            return error->status;
    result->table_count = first->tensor_count;
    if (one_table && check_one_table(&joining, result) != STATUS_OK)
        return error->status;
    return result_allocate_row(result, arena, error);
}
