#include "support.h"

#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 48 };

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

char *support_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        give_up(path);
    long size = ftell(file);
    char *text = malloc((size_t)size + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size)
        give_up(path);
    text[size] = '\0';
    fclose(file);
    return text;
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
    *made = (struct made){0};
    char *words[WORDS + 1];
    char *line = arena_text(&made->arena, command_line, strlen(command_line), &made->error);
    char *text = json ? arena_text(&made->arena, json, strlen(json), &made->error) : NULL;
    const int count = split_words(line, words);
    if (options_parse(&made->options, count, words, &made->error))
        return made->error.status;
    if (text != NULL && json_read("test.json", text, strlen(text), ~0u, &made->arena, &made->inputs, &made->error))
        return made->error.status;
    if (problem_create(&made->problem, &made->options, text ? &made->inputs : NULL, NULL, &made->arena, &made->error))
        return made->error.status;
    return result_create(&made->result, &made->problem, &made->arena, &made->error);
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
    float *row_numbers = malloc(columns * sizeof *row_numbers);
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
