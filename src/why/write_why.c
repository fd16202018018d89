#include "why/report.h"

enum status why_write(const struct why *why, struct output *output)
{
    if (why->options->format == FORMAT_JSON)
        why_write_json(why, output);
    else
        why_write_text(why, options_want_color(why->options, output), output);
    if (output_close(output) != STATUS_OK || why->count > 0)
        return why->error->status;
    return error_quietly(why->error, STATUS_DIFFERENT);
}
