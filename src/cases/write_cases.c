/* SPDX-License-Identifier: MIT */
#include "cases/cases.h"

#include "base/wrap.h"

/* Writes the folder and the files of one case, and frees what it took. */
static enum status write_case(struct folder *folder, const struct case_row *row, const struct options *options,
                              struct error *error)
{
    struct arena arena = {0};
    struct case_made *made = arena_allocate(&arena, 1, sizeof *made, error);
    struct case_file files[CASES_MOST_FILES];
    size_t count = 0;
    enum status status = made == NULL ? STATUS_SYSTEM : case_make(made, row, options, &arena, error);
    if (status == STATUS_OK)
        status = case_files(made, options, files, &count, &arena, error);
    if (status == STATUS_OK)
        status = folder_within(folder, row->name);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const char *path = folder_path(row->name, files[i].name, &arena, error);
        status = path == NULL ? error->status : folder_file(folder, path, files[i].bytes, files[i].length);
    }
    arena_free(&arena);
    return status;
}

static enum status write_all(struct folder *folder, const struct case_list *list, const struct options *options,
                             size_t *count, struct arena *arena, struct error *error)
{
    struct case_file index;
    struct case_sizes sizes;
    if (case_index(list, options, &index, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < list->count; i++) {
        if (!case_sizes_of(&list->rows[i], options, &sizes))
            continue;
        if (write_case(folder, &list->rows[i], options, error) != STATUS_OK)
            return error->status;
        ++*count;
    }
    return folder_file(folder, index.name, index.bytes, index.length);
}

/* Lists the cases that these options leave out for that reason. */
static void write_left_out(const struct case_list *list, const struct options *options, const char *why, bool heads,
                           struct output *output)
{
    struct wrap line = {.output = output, .columns = WRAP_COLUMNS, .indent = 4};
    struct case_sizes sizes;
    for (size_t i = 0; i < list->count; i++)
        if (!case_sizes_of(&list->rows[i], options, &sizes) && (sizes.kv_heads == 0) == heads)
            wrap_add(&line, "%s%s%s", line.column == 0 ? "  left out, " : "", line.column == 0 ? why : "",
                     list->rows[i].name);
    if (line.column > 0)
        output_print(output, "\n");
}

enum status cases_write(const struct options *options, struct output *output, struct arena *arena, struct error *error)
{
    struct folder folder;
    struct case_list list;
    char shown[TEXT_PATH_BYTES];
    size_t count = 0;
    if (case_list_make(&list, options, arena, error) ||
        folder_open(&folder, options->files[0], arena, error) != STATUS_OK)
        return error->status;
    if (write_all(&folder, &list, options, &count, arena, error) != STATUS_OK) {
        folder_abandon(&folder);
        return error->status;
    }
    if (folder_close(&folder) != STATUS_OK)
        return error->status;
    text_path(options->files[0], shown);
    output_print(output, "%zu cases in %s\n  ", count, shown);
    case_settings(options, output);
    output_print(output, "\n");
    write_left_out(&list, options, "more tokens than --max-tokens: ", false, output);
    write_left_out(&list, options, "one head cannot be shared: ", true, output);
    output_print(output, "each holds case.json, the inputs and expected_*.npy; your kernel writes\n"
                         "context.npy or grad_*.npy there, and attn cases --check compares them\n");
    return output_close(output);
}
