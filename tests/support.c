/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "build/problem_create.h"
#include "check.h"
#include "read/json.h"
#include "read/printed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64 };

/* What a command may read: no recorded stages. */
static const unsigned READ = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS |
                             INPUT_FILE_MASKING | INPUT_FILE_OPERAND | INPUT_FILE_CACHE | INPUT_FILE_KEYS |
                             INPUT_FILE_WORDS;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

char *support_bytes(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        give_up(path);
    *length = (size_t)ftell(file);
    char *text = malloc(*length + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, *length, file) != *length)
        give_up(path);
    text[*length] = '\0';
    fclose(file);
    return text;
}

char *support_read(const char *path)
{
    size_t length;
    return support_bytes(path, &length);
}

enum status support_binary(binary_reader *reader, const void *bytes, size_t length, struct error *error)
{
    struct arena arena = {0};
    struct input_file input = {0};
    struct tensor converted;
    unsigned char *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL)
        give_up("malloc");
    memcpy(copy, bytes, length);
    *error = (struct error){0};
    enum status status = named_tensors_read(reader, "file", copy, length, READ, &arena, &input, error);
    for (size_t i = 0; i < input.tensor_count && status == STATUS_OK; i++)
        status = tensor_convert(&input.tensors[i].tensor, DTYPE_F32, "file", input.tensors[i].name, NULL, &converted,
                                &arena, error);
    arena_free(&arena);
    free(copy);
    return status;
}

void support_distort(binary_reader *reader, const char *path, bool changes)
{
    size_t length, wrong = 0;
    struct error error;
    unsigned char *bytes = (unsigned char *)support_bytes(path, &length);
    check_begin("%s, whole", path);
    CHECK(support_binary(reader, bytes, length, &error) == STATUS_OK, "expected an answer, got: %s", error.message);
    check_begin("%s, cut short anywhere", path);
    for (size_t cut = 0; cut < length; cut++)
        CHECK(support_binary(reader, bytes, cut, &error) == STATUS_USAGE && error.message[0] != '\0',
              "expected an error for the first %zu bytes of %zu, got status %d", cut, length, (int)error.status);
    if (changes) {
        const bool quick = getenv("ATTN_QUICK") != NULL;
        if (quick)
            printf("ATTN_QUICK: %s with any bit changed, not any byte to any other\n", path);
        check_begin("%s, any byte changed to any other", path);
        for (size_t at = 0; at < length; at++)
            for (int other = 1; other < 256; other += quick ? other : 1) {
                bytes[at] = (unsigned char)(bytes[at] ^ other);
                enum status status = support_binary(reader, bytes, length, &error);
                wrong += status != STATUS_OK && (status != STATUS_USAGE || error.message[0] == '\0');
                bytes[at] = (unsigned char)(bytes[at] ^ other);
            }
        CHECK(wrong == 0, "expected an answer or a message, got neither %zu times", wrong);
    }
    free(bytes);
}

cJSON *support_json(const char *path)
{
    char *text = support_read(path);
    cJSON_InitHooks(NULL);
    cJSON *tree = cJSON_Parse(text);
    free(text);
    if (tree == NULL)
        give_up(path);
    return tree;
}

size_t support_numbers(const cJSON *item, double *numbers, size_t room)
{
    size_t count = 0;
    if (!cJSON_IsArray(item)) {
        if (room > 0)
            numbers[0] = cJSON_IsNull(item) ? -INFINITY : item->valuedouble;
        return 1;
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next)
        count += support_numbers(child, numbers + count, room > count ? room - count : 0);
    return count;
}

static int split_words(char *line, char **words)
{
    int count = 0;
    words[count++] = (char *)"attn";
    for (char *word = strtok(line, " "); word != NULL && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return count;
}

enum status support_make(struct made *made, const char *command_line, const char *json)
{
    return support_make_bytes(made, command_line, json, json != NULL ? strlen(json) : 0);
}

static enum status read_input(char *text, size_t length, struct made *made)
{
    return printed_begins((const unsigned char *)text, length)
               ? printed_read("test.txt", text, length, READ, &made->arena, &made->inputs, &made->error)
               : json_read("test.json", text, length, READ, &made->arena, &made->inputs, &made->error);
}

static enum status parse_line(struct made *made, const char *command_line)
{
    *made = (struct made){0};
    char *words[WORDS + 1];
    char *line = arena_text(&made->arena, command_line, strlen(command_line), &made->error);
    const int count = split_words(line, words);
    return options_parse(&made->options, count, words, &made->error);
}

static enum status make_result(struct made *made, const struct job_files *files)
{
    if (problem_create(&made->problem, &made->options, files, &made->arena, &made->error))
        return made->error.status;
    return result_create(&made->result, &made->problem, &made->progress, false, &made->arena, &made->error);
}

enum status support_make_bytes(struct made *made, const char *command_line, const char *json, size_t length)
{
    if (parse_line(made, command_line) != STATUS_OK)
        return made->error.status;
    char *text = json ? arena_text(&made->arena, json, length, &made->error) : NULL;
    if (text != NULL && read_input(text, length, made) != STATUS_OK)
        return made->error.status;
    return make_result(made, &(struct job_files){.inputs = text ? &made->inputs : NULL});
}

enum status support_run(struct made *made, const char *command_line)
{
    if (parse_line(made, command_line) != STATUS_OK ||
        job_files_read(&made->files, &made->options, &made->arena, &made->error) != STATUS_OK)
        return made->error.status;
    return make_result(made, &made->files);
}

const struct result_table *support_table(const struct made *made, const char *name)
{
    for (size_t i = 0; i < made->result.table_count; i++)
        if (strcmp(made->result.tables[i].name, name) == 0)
            return &made->result.tables[i];
    return NULL;
}

size_t support_table_numbers(struct made *made, const struct result_table *table, double *numbers, size_t room)
{
    const size_t columns = result_columns(table);
    double *row_numbers = malloc(columns * sizeof *row_numbers);
    size_t count = 0;
    for (size_t matrix = 0; matrix < result_matrices(table); matrix++)
        for (size_t row = 0; row < result_rows(table); row++) {
            result_row(&made->result, table, matrix, row, row_numbers);
            for (size_t column = 0; column < columns; column++, count++)
                if (count < room)
                    numbers[count] = row_numbers[column];
        }
    free(row_numbers);
    return count;
}

double support_slope(double (*sum)(void *context), void *context, double *number)
{
    static const double SHARES[] = {1, -8, 0, 8, -1}; /* of 12 steps */
    const double x = *number;
    double best = NAN, least = INFINITY, before = INFINITY;
    for (double step = 0x1p-8; step >= 0x1p-17; step /= 8) {
        double slope = 0;
        for (int i = 0; i < 5; i++) {
            *number = x + (i - 2) * step;
            slope += i == 2 ? 0 : SHARES[i] * sum(context) / (12 * step);
        }
        if (fabs(slope - before) < least) {
            least = fabs(slope - before);
            best = slope;
        }
        before = slope;
    }
    *number = x;
    return best;
}

static void add_words(char *line, const cJSON *settings, const char *key, const char *option)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(settings, key);
    size_t length = strlen(line);
    if (cJSON_IsNumber(value))
        snprintf(line + length, SUPPORT_LINE_BYTES - length, " --%s %.17g", option, value->valuedouble);
    else if (cJSON_IsString(value))
        snprintf(line + length, SUPPORT_LINE_BYTES - length, " --%s %s", option, value->valuestring);
    else if (cJSON_IsTrue(value))
        snprintf(line + length, SUPPORT_LINE_BYTES - length, " --%s", option);
}

void support_golden_line(const char *mechanism, const cJSON *settings, char *line)
{
    const bool multihead = strcmp(mechanism, "multihead") == 0;
    static const char *const NAMES[][2] = {
        {"seed", "seed"},
        {"skip", "skip"},
        {"init", "init"},
        {"d_out", "d-out"},
        {"qkv_bias", "qkv-bias"},
        {"dropout", "dropout"},
        {"dropout_seed", "dropout-seed"},
        {"query", "query"},
    };
    snprintf(line, SUPPORT_LINE_BYTES, "%s", mechanism);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        add_words(line, settings, NAMES[i][0], NAMES[i][1]);
    if (!multihead)
        return;
    add_words(line, settings, "heads", "heads");
    add_words(line, settings, "stacked", "stacked");
    if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(settings, "causal")))
        strcat(line, " --no-causal");
}

char *support_golden_input(const cJSON *golden, bool given)
{
    cJSON *input = cJSON_CreateObject();
    const cJSON *tokens = cJSON_GetObjectItemCaseSensitive(golden, "tokens");
    const cJSON *parameters = given ? cJSON_GetObjectItemCaseSensitive(golden, "parameters") : NULL;
    cJSON_AddItemToObject(input, "inputs", cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(golden, "inputs"), true));
    if (tokens != NULL)
        cJSON_AddItemToObject(input, "tokens", cJSON_Duplicate(tokens, true));
    for (const cJSON *item = parameters ? parameters->child : NULL; item != NULL; item = item->next)
        cJSON_AddItemToObject(input, item->string, cJSON_Duplicate(item, true));
    char *text = cJSON_PrintUnformatted(input);
    cJSON_Delete(input);
    return text;
}

int support_is_golden(const struct dirent *entry)
{
    const char *const prefixes[] = {"self-", "causal-", "multihead-"};
    for (size_t i = 0; i < 3; i++)
        if (strncmp(entry->d_name, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

enum mistake support_mistake(const char *name, size_t length)
{
    int id = 0;
    while (id < MISTAKE_COUNT && (strncmp(MISTAKES[id].name, name, length) != 0 || MISTAKES[id].name[length] != '\0'))
        id++;
    return (enum mistake)id;
}
