#include "making.h"

#include "text.h"

bool making_said(const struct making *making, enum option_id id)
{
    return making->options->origin[id] != ORIGIN_DEFAULT;
}

const char *making_place(const struct making *making, enum option_id id, char *place, size_t size)
{
    char name[MAKING_PLACE_BYTES];
    struct text text = text_begin(place, size);
    if (making->options->origin[id] != ORIGIN_FILE)
        text_add(&text, "--%s", OPTION_ROWS[id].name);
    else
        text_add(&text, "%s: settings: %s", making->inputs->source, options_setting_name(id, name, sizeof name));
    return place;
}

void making_keep(const struct making *making, const char *name, const struct tensor *tensor)
{
    making->problem->beside[making->problem->beside_count++] = (struct input_tensor){name, *tensor};
}
