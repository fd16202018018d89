/* SPDX-License-Identifier: MIT */
#include "read/input_file.h"

#include "base/suggest.h"
#include "model/mask.h"
#include "model/parameter_rows.h"
#include "model/stage_id.h"
#include "read/foreign_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX(stem) {stem, INPUT_FILE_PARAMETER},
#define WEIGHT(stem) MATRIX(stem ".weight")
#define BIAS(stem) MATRIX(stem ".bias")
#define PARAMETER(name, field) MATRIX(name)
#define WORDS(name, field) {name, INPUT_FILE_WORDS},
#define MASK_TENSOR(name) {name, INPUT_FILE_MASKING},
/* clang-format off */
static const struct {
    const char *name;
    unsigned kind;
} NAMES[] = {
    {"tokens", INPUT_FILE_TOKENS},
    {"inputs", INPUT_FILE_INPUTS},
    {"key_tokens", INPUT_FILE_TOKENS},
    {"head_names", INPUT_FILE_TOKENS},
    {"key_inputs", INPUT_FILE_KEYS},
    {"settings", INPUT_FILE_SETTINGS},
    {"comment", INPUT_FILE_IGNORED},
    {"attn", INPUT_FILE_IGNORED},
    {"format", INPUT_FILE_IGNORED},
    {"mechanism", INPUT_FILE_IGNORED},
    {"layout", INPUT_FILE_IGNORED},
    {"lacks", INPUT_FILE_IGNORED},
    {"dequantised", INPUT_FILE_IGNORED},
    {"reordered", INPUT_FILE_IGNORED},
    {"mask", INPUT_FILE_BUFFER},
    {"query", INPUT_FILE_OPERAND},
    {"key", INPUT_FILE_OPERAND},
    {"value", INPUT_FILE_OPERAND},
    {"past_key", INPUT_FILE_CACHE},
    {"past_value", INPUT_FILE_CACHE},
    {"kv_lengths", INPUT_FILE_CACHE},
    {"cu_seqlens_q", INPUT_FILE_CACHE},
    {"cu_seqlens_k", INPUT_FILE_CACHE},
    {"block_table", INPUT_FILE_CACHE},
    {"key_cache", INPUT_FILE_CACHE},
    {"value_cache", INPUT_FILE_CACHE},
    {"attn_mask", INPUT_FILE_MASKING},
    {"alibi_slopes", INPUT_FILE_MASKING},
    {"sinks", INPUT_FILE_MASKING},
    MASK_TENSORS(MASK_TENSOR)
    PARAMETER_PROJECTION_ROWS(MATRIX)
    PARAMETER_PROJECTION_ROWS(WEIGHT)
    PARAMETER_PROJECTION_ROWS(BIAS)
    {"in_proj_weight", INPUT_FILE_PARAMETER},
    {"in_proj_bias", INPUT_FILE_PARAMETER},
    PARAMETER_BLOCK_ROWS(PARAMETER)
    PARAMETER_LATENT_ROWS(PARAMETER)
    {"vocabulary", INPUT_FILE_WORDS},
    {"text", INPUT_FILE_WORDS},
    PARAMETER_WORD_ROWS(WORDS)
};
/* clang-format on */

enum { NAME_COUNT = sizeof NAMES / sizeof NAMES[0], GRADIENT_NAME_BYTES = 96 };

/* The text after "heads.N.", or NULL. */
static const char *after_head(const char *name)
{
    if (strncmp(name, "heads.", 6) != 0 || !isdigit((unsigned char)name[6]))
        return NULL;
    if (name[6] == '0' && name[7] != '.') /* heads.00 would be another name of heads.0 */
        return NULL;
    const char *end = name + 6 + strspn(name + 6, "0123456789");
    return *end == '.' ? end + 1 : NULL;
}

static bool belongs_to_a_head(const char *name)
{
    return strncmp(name, "W_", 2) == 0 || strcmp(name, "mask") == 0;
}

/* Whether the name is the gradient with respect to a parameter, a table of --grad. */
static bool is_gradient(const char *name)
{
    const char *const before = "grad_";
    return strncmp(name, before, strlen(before)) == 0 &&
           (input_file_kind(name + strlen(before)) & (INPUT_FILE_PARAMETER | INPUT_FILE_WORDS)) != 0;
}

/* For "query.grad", PyTorch's name, writes "grad_query" into text (GRADIENT_NAME_BYTES); whether there is such a
 * gradient. */
static bool says_gradient(const char *name, char *text)
{
    static const char END[] = ".grad";
    const size_t length = strlen(name), end = sizeof END - 1;
    if (!text_ends_in(name, END) || length > GRADIENT_NAME_BYTES - end - 1)
        return false;
    snprintf(text, GRADIENT_NAME_BYTES, "grad_%.*s", (int)(length - end), name);
    return is_gradient(text) || stage_exists(stage_find(text, strlen(text)));
}

bool input_file_hidden(const char *name, size_t *layer)
{
    const char *hidden = strstr(name, "hidden");
    if (hidden == NULL)
        return false;
    hidden += strlen("hidden");
    hidden += strncmp(hidden, "_states", 7) == 0 ? 7 : strncmp(hidden, "_state", 6) == 0 ? 6 : 0;
    hidden += *hidden != '\0' && strchr("._-/[", *hidden) != NULL;
    const size_t digits = strspn(hidden, "0123456789");
    const char *end = hidden + digits + (hidden[digits] == ']');
    *layer = (size_t)strtoul(hidden, NULL, 10);
    return digits > 0 && digits < 6 && *end == '\0';
}

unsigned input_file_kind(const char *name)
{
    char text[GRADIENT_NAME_BYTES];
    size_t layer;
    if (input_file_hidden(name, &layer))
        return INPUT_FILE_HIDDEN;
    if (is_gradient(name) || says_gradient(name, text))
        return INPUT_FILE_STAGE;
    const char *of_head = after_head(name);
    if (of_head != NULL && !belongs_to_a_head(of_head))
        return INPUT_FILE_UNKNOWN;
    const char *plain = of_head != NULL ? of_head : name;
    const enum stage stage = of_head == NULL ? stage_find(name, strlen(name)) : STAGE_NAMES;
    unsigned kind = stage_exists(stage) ? INPUT_FILE_STAGE : INPUT_FILE_UNKNOWN;
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (strcmp(NAMES[i].name, stage_exists(stage) ? stage_name(stage) : plain) == 0)
            kind |= NAMES[i].kind;
    return kind;
}

unsigned input_file_kind_among(const char *name, unsigned kinds)
{
    const unsigned kind = input_file_kind(name),
                   kept = kind & (INPUT_FILE_STAGE | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS);
    size_t layer;
    if ((kinds & INPUT_FILE_HIDDEN) != 0 && input_file_hidden(name, &layer))
        return INPUT_FILE_HIDDEN;
    if ((kinds & INPUT_FILE_FOREIGN) == 0)
        return kind;
    return kept != 0 ? kept : INPUT_FILE_FOREIGN | (kind & kinds & INPUT_FILE_SOURCE);
}

bool input_file_head(const char *name, size_t *head)
{
    if (after_head(name) == NULL)
        return false;
    errno = 0;
    const unsigned long long number = strtoull(name + 6, NULL, 10);
    *head = errno == 0 && number < SIZE_MAX ? (size_t)number : SIZE_MAX;
    return true;
}

enum status input_file_pass(struct input_file *input, const char *name, struct arena *arena, struct error *error)
{
    const char *kept = arena_copy(arena, name, error);
    input->passed[input->passed_count++] = kept;
    return kept == NULL ? error->status : STATUS_OK;
}

bool input_file_is_past(const char *name)
{
    return input_file_kind(name) == INPUT_FILE_CACHE && strncmp(name, "past_", 5) == 0;
}

bool input_file_is_whole(const char *name)
{
    return text_has_word("kv_lengths cu_seqlens_q cu_seqlens_k block_table", name) ||
           mask_reads(name) != MASK_RULE_COUNT;
}

enum status input_file_nameless(struct input_file *input, unsigned kinds, const char *expected, struct error *error)
{
    input->nameless = true;
    if ((kinds & (INPUT_FILE_INPUTS | INPUT_FILE_FOREIGN)) != 0)
        return STATUS_OK;
    return error_usage(error, "%s: a tensor without a name, and %s need names; expected %s", input->source,
                       kinds & INPUT_FILE_OPERAND ? "query, key and value" : "parameters", expected);
}

struct token_labels *input_file_labels(struct input_file *input, const char *name)
{
    return strcmp(name, "key_tokens") == 0   ? &input->key_tokens
           : strcmp(name, "head_names") == 0 ? &input->head_names
                                             : &input->tokens;
}

enum status input_file_note(struct input_file *input, const char *name, const char *text, struct arena *arena,
                            struct error *error)
{
    const struct {
        const char *name, **text;
    } NOTES[] = {{"mechanism", &input->mechanism}, {"part", &input->part},     {"job", &input->job},
                 {"library", &input->library},     {"layout", &input->layout}, {"lacks", &input->lacks},
                 {"command", &input->command}};
    input->is_result = input->is_result || strcmp(name, "attn") == 0;
    for (size_t i = 0; i < sizeof NOTES / sizeof NOTES[0]; i++)
        if (strcmp(name, NOTES[i].name) == 0)
            return (*NOTES[i].text = arena_copy(arena, text, error)) == NULL ? error->status : STATUS_OK;
    return STATUS_OK;
}

bool input_file_has_layout(const struct input_file *input, const char *layout)
{
    return input->layout != NULL && strcmp(input->layout, layout) == 0;
}

const char *input_file_setting(const struct input_file *input, const char *name)
{
    for (size_t i = 0; i < input->setting_count; i++)
        if (strcmp(input->settings[i].name, name) == 0)
            return input->settings[i].text;
    return NULL;
}

const char *input_file_hint(const char *name, char *hint, size_t size)
{
    const char *candidates[NAME_COUNT], *of_head = after_head(name), *plain = of_head != NULL ? of_head : name;
    char prefix[64] = "", said[256];
    if (foreign_name_hint(name, of_head != NULL ? (size_t)(of_head - name) : 0, said, sizeof said)) {
        snprintf(hint, size, "; %s", said);
        return hint;
    }
    for (size_t i = 0; i < NAME_COUNT; i++)
        candidates[i] = of_head == NULL || belongs_to_a_head(NAMES[i].name) ? NAMES[i].name : NULL;
    if (of_head != NULL)
        snprintf(prefix, sizeof prefix, "%.*s", (int)(of_head - name), name);
    return suggest_hint(hint, size, prefix, plain, candidates, NAME_COUNT);
}

enum status input_file_unknown(const char *source, const char *name, struct error *error)
{
    char hint[256];
    if (input_file_hint(name, hint, sizeof hint)[0] == '\0')
        snprintf(hint, sizeof hint, "; %s",
                 strchr(name, '.') != NULL ? "attn reads one attention module, with names such as W_query.weight"
                                           : "free text goes under \"comment\"");
    return error_usage(error, "%s: unknown key '%.80s'%s", source, name, hint);
}

enum status input_file_check_repeated(const char *source, const char *where, const char **names, size_t count,
                                      struct error *error)
{
    text_sort(names, count, sizeof names[0]);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return error_usage(error, "%s: %skey '%.80s' is given twice; leave one out", source, where, names[i]);
    return STATUS_OK;
}

void input_file_sort(struct input_file *input)
{
    for (size_t i = 0; i < input->tensor_count; i++)
        input->tensors[i].order = i;
    text_sort(input->tensors, input->tensor_count, sizeof input->tensors[0]);
}

const char *input_file_stage_name(const char *name, struct arena *arena, struct error *error)
{
    char text[GRADIENT_NAME_BYTES];
    const enum stage stage = stage_find(name, strlen(name));
    return stage_exists(stage) ? stage_name(stage) : says_gradient(name, text) ? arena_copy(arena, text, error) : name;
}

enum status input_file_name_stages(struct input_file *input, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < input->tensor_count; i++)
        if ((input->tensors[i].name = input_file_stage_name(input->tensors[i].name, arena, error)) == NULL)
            return error->status;
    text_sort(input->tensors, input->tensor_count, sizeof input->tensors[0]);
    for (size_t i = 1; i < input->tensor_count; i++)
        if (strcmp(input->tensors[i - 1].name, input->tensors[i].name) == 0)
            return error_usage(error, "%s: %s is given twice, under two names; leave one out", input->source,
                               input->tensors[i].name);
    return STATUS_OK;
}

const struct file_tensor *input_file_find(const struct input_file *input, const char *name)
{
    return text_find(name, input->tensors, input->tensor_count, sizeof input->tensors[0]);
}
