/* SPDX-License-Identifier: MIT */
#include "read/file_part.h"

#include "read/load.h"
#include "read/printed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool file_part_is_of_ggml(const struct file_tensor *named)
{
    return named->part != NULL && named->part->of_ggml;
}

/* Of a dump, keeps the tensors of the layer of --layer, or of its only one. */
static enum status choose_layer(struct input_file *file, const struct options *options, struct error *error)
{
    static const char BLOCK[] = "blk."; /* and the layer's number, "." and the name */
    size_t wanted = options_said(options, OPTION_LAYER) ? (size_t)options->layer : SIZE_MAX, kept = 0;
    for (size_t i = 0; i < file->tensor_count; i++) {
        struct file_tensor *named = &file->tensors[kept];
        size_t layer = wanted;
        *named = file->tensors[i];
        if (file_part_is_of_ggml(named) && strncmp(named->name, BLOCK, sizeof BLOCK - 1) == 0) {
            char *end;
            layer = (size_t)strtoull(named->name + sizeof BLOCK - 1, &end, 10);
            named->name = *end == '.' ? end + 1 : named->name;
            wanted = wanted == SIZE_MAX ? layer : wanted;
        }
        kept += layer == wanted;
        if (layer != wanted && !options_said(options, OPTION_LAYER))
            return error_usage(error, "%s: it has layers %zu and %zu; expected one, or --layer N", file->source, wanted,
                               layer);
    }
    if (kept == 0 && file->tensor_count > 0)
        return error_usage(error, "%s: has no tensor of layer %zu", file->source, wanted);
    file->tensor_count = kept;
    return STATUS_OK;
}

enum status file_part_load(const char *path, const char *name, const struct options *options, unsigned kinds,
                           struct arena *arena, struct input_file *input, struct error *error)
{
    const bool is_file = !printed_is_fact(path) || access(path, F_OK) == 0;
    const char *text = is_file ? "" : arena_copy(arena, path, error);
    kinds |= INPUT_FILE_PARTS;
    if (text == NULL || (is_file ? load_file(path, kinds, arena, input, error)
                                 : printed_read(name, text, strlen(text), kinds, arena, input, error)) != STATUS_OK)
        return error->status;
    return choose_layer(input, options, error);
}

double file_part_total(enum file_total total, struct file_sum sum, double shown)
{
    const double count = (double)sum.count, mean = sum.sum / count;
    const double spread = sqrt(fmax(0, sum.squares - sum.sum * mean));
    const double of_all = spread / sqrt(count), of_sample = spread / sqrt(count - 1);
    const double totals[] = {
        [FILE_SUM] = sum.sum,
        [FILE_MEAN] = mean,
        [FILE_NORM] = sqrt(sum.squares),
        [FILE_DEVIATION] = fabs(of_all - shown) < fabs(of_sample - shown) ? of_all : of_sample,
    };
    return totals[total];
}

double file_part_sum_error(size_t count, double size)
{
    return ldexp(sqrt((double)count) * (double)count * size, -dtype_precision(DTYPE_F32));
}
