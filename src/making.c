#include "making.h"

bool making_said(const struct making *making, enum option_id id)
{
    return making->options->origin[id] != ORIGIN_DEFAULT;
}

const char *making_place(const struct making *making, enum option_id id, char *text, size_t size)
{
    if (making->options->origin[id] != ORIGIN_FILE) {
        snprintf(text, size, "--%s", OPTION_ROWS[id].name);
        return text;
    }
    int length = snprintf(text, size, "%s: settings: ", making->inputs->source);
    options_setting_name(id, text + length, size - (size_t)length);
    return text;
}

void making_keep(const struct making *making, const char *name, const struct tensor *tensor)
{
    making->problem->beside[making->problem->beside_count++] = (struct input_tensor){name, *tensor};
}
