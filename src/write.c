#include "write.h"

#include "help.h"
#include "output.h"
#include "write_diff.h"
#include "write_html.h"
#include "write_json.h"
#include "write_npy.h"
#include "write_safetensors.h"
#include "write_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A buffer of this size has its place outside the stack. */
static struct output output;

static bool wants_color(const struct options *options)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (options->color != WHEN_AUTO)
        return options->color == WHEN_ALWAYS;
    return output_is_terminal(&output) && (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

static enum status refuse_terminal(struct error *error)
{
    return error_usage(error, "binary output to a terminal; give --out or a pipe");
}

static bool is_binary(const struct options *options)
{
    return options->format == FORMAT_NPY || options->format == FORMAT_SAFETENSORS;
}

enum status write_check(const struct options *options, struct error *error)
{
    const bool standard = options->out == NULL || strcmp(options->out, "-") == 0;
    return is_binary(options) && standard && isatty(STDOUT_FILENO) ? refuse_terminal(error) : STATUS_OK;
}

static enum status write_format(const struct options *options, struct result *result, struct arena *arena,
                                struct error *error)
{
    const struct text_style style = {(int)options->precision, options->full, wants_color(options)};
    if (is_binary(options) && output_is_terminal(&output))
        return refuse_terminal(error);
    switch ((enum format)options->format) {
    case FORMAT_JSON:
        write_json(result, &output);
        return STATUS_OK;
    case FORMAT_NPY:
        write_npy(result, &output);
        return STATUS_OK;
    case FORMAT_SAFETENSORS:
        return write_safetensors(result, &output, arena, error);
    case FORMAT_HTML:
        write_html(result, (int)options->precision, &output);
        return STATUS_OK;
    default:
        return write_text(result, style, &output, arena, error);
    }
}

enum status write_open(const struct options *options, struct arena *arena, struct error *error)
{
    return output_open(&output, options->out, arena, error);
}

enum status write_abandon(void)
{
    output_abandon(&output);
    return output_close(&output);
}

enum status write_result(const struct options *options, struct result *result, struct arena *arena, struct error *error)
{
    struct progress *progress = result->problem->progress;
    if (progress != NULL && output_is_terminal(&output))
        progress_stop(progress);
    if (write_format(options, result, arena, error) != STATUS_OK)
        output_abandon(&output);
    if (progress != NULL)
        progress_end(progress);
    return output_close(&output);
}

enum status write_diff(const struct options *options, const struct diff *diff, struct arena *arena, struct error *error)
{
    if (output_open(&output, options->out, arena, error) != STATUS_OK)
        return error->status;
    if (options->format == FORMAT_JSON)
        write_diff_json(diff, &output);
    else
        write_diff_text(diff, (int)options->precision, wants_color(options), &output);
    if (output_close(&output) != STATUS_OK || diff->departed == 0)
        return error->status;
    error->quiet = true;
    return error->status = STATUS_DIFFERENT;
}

enum status write_help(const struct options *options, struct arena *arena, struct error *error)
{
    const struct kernel *kernel = kernel_choose(getenv("ATTN_ISA"), error);
    if (options->command == COMMAND_VERSION && kernel == NULL)
        return error->status;
    if (output_open(&output, NULL, arena, error) != STATUS_OK) /* never over the file that --out names for a result */
        return error->status;
    if (options->command == COMMAND_VERSION)
        help_write_version(kernel->name, &output);
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
