#include "write.h"

#include "help.h"
#include "output.h"
#include "write_json.h"
#include "write_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A buffer of this size has its place outside the stack. */
static struct output output;

static bool wants_color(const struct options *options)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return output_is_terminal(&output) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

enum status write_result(const struct options *options, struct result *result, struct arena *arena, struct error *error)
{
    enum status status = STATUS_OK;
    if (output_open(&output, options->out, arena, error) != STATUS_OK)
        return error->status;
    if (options->format == FORMAT_JSON) {
        write_json(result, &output);
    } else {
        const struct text_style style = {(int)options->precision, options->full, wants_color(options)};
        status = write_text(result, style, &output, arena, error);
    }
    if (status != STATUS_OK)
        output_abandon(&output);
    return output_close(&output);
}

enum status write_help(const struct options *options, struct arena *arena, struct error *error)
{
    if (output_open(&output, options->out, arena, error) != STATUS_OK)
        return error->status;
    if (options->command == COMMAND_VERSION)
        help_write_version(&output);
    else
        help_write(options->topic, &output);
    return output_close(&output);
}

enum status write_usage(const struct options *options, struct error *error)
{
    output_open_stream(&output, STDERR_FILENO, "standard error", error);
    help_write(options->command == COMMAND_HELP ? COMMAND_COUNT : options->command, &output);
    if (output_close(&output) != STATUS_OK)
        return error->status;
    error->quiet = true;
    return error->status = STATUS_USAGE;
}
