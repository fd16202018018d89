/* SPDX-License-Identifier: MIT */
#include "build/build.h"

#include "base/text.h"

const char *build_place(const struct build *build, enum option_id id, char *place, size_t size)
{
    char name[BUILD_PLACE_BYTES];
    struct text text = text_begin(place, size);
    if (build->options->origin[id] == ORIGIN_CHECKPOINT)
        text_add(&text, "%s: %s", build->layer->config != NULL ? build->layer->config : build->weights->source,
                 options_setting_name(id, name, sizeof name));
    else if (build->options->origin[id] != ORIGIN_FILE)
        text_add(&text, "--%s", OPTIONS[id].name);
    else
        text_add(&text, "%s: settings: %s", build->inputs->source, options_setting_name(id, name, sizeof name));
    return place;
}

enum status build_take_dtype(const struct build *build, const struct file_tensor *tensor)
{
    const enum dtype dtype = build->inputs->is_text ? tensor->stated : tensor->tensor.dtype;
    if (!options_said(build->options, OPTION_DTYPE) && dtype_is_working(dtype))
        build->problem->rounding.dtype = dtype;
    return build_check_dtype(build);
}

enum status build_check_dtype(const struct build *build)
{
    const enum dtype dtype = build->problem->rounding.dtype;
    if (!options_format(build->options)->one_table || dtype_npy(dtype) != NULL)
        return STATUS_OK;
    return error_usage(build->error, "a .npy cannot hold %s; write .safetensors, or choose another --dtype",
                       dtype_title(dtype));
}

void build_keep(const struct build *build, const char *name, const struct tensor *tensor)
{
    struct problem *problem = build->problem;
    if (problem->given.other_count < INPUT_TENSORS)
        problem->given.others[problem->given.other_count++] = (struct input_tensor){name, *tensor};
}
