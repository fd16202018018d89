#include "write/format/write.h"

#include "base/output.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "diff/write_diff.h"
#include "write/csv.h"
#include "write/explain/write_explain.h"
#include "write/html/html.h"
#include "write/json.h"
#include "write/latex.h"
#include "write/markdown.h"
#include "write/npy.h"
#include "write/safetensors.h"
#include "write/svg/write_svg.h"
#include "write/text/text.h"

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

/* How many colours the terminal has, by what it says of itself. */
static enum terminal_color_depth choose_depth(bool color)
{
    const char *colors = getenv("COLORTERM"), *term = getenv("TERM");
    if (!color)
        return TERMINAL_COLOR_SHADES;
    if (colors != NULL && (strcmp(colors, "truecolor") == 0 || strcmp(colors, "24bit") == 0))
        return TERMINAL_COLOR_TRUE;
    return term != NULL && strstr(term, "256color") != NULL ? TERMINAL_COLOR_256 : TERMINAL_COLOR_16;
}

/* COLORFGBG is "ink;ground" or "ink;default;ground", in numbers of the 16 colours, of which 7 and 15 are white. Most
 * terminals that do not say it are dark. */
static enum ground choose_ground(void)
{
    const char *colors = getenv("COLORFGBG");
    const char *ground = colors != NULL ? strrchr(colors, ';') : NULL;
    return ground != NULL && (strcmp(ground, ";7") == 0 || strcmp(ground, ";15") == 0) ? GROUND_LIGHT : GROUND_DARK;
}

/* Of pictures; below 0 where --precision says nothing. */
static int choose_decimals(const struct options *options)
{
    return options->origin[OPTION_PRECISION] == ORIGIN_DEFAULT ? -1 : (int)options->precision;
}

static struct text_style choose_style(const struct options *options)
{
    const bool color = wants_color(options);
    return (struct text_style){
        .precision = (int)options->precision,
        .full = options->full,
        .color = color,
        .draws = options->heatmap,
        .heatmap = {choose_decimals(options), choose_depth(color), choose_ground(), output_columns(&output)},
    };
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
    const int precision = (int)options->precision;
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
    case FORMAT_CSV:
        return write_csv(result, options->origin[OPTION_PRECISION] == ORIGIN_DEFAULT ? CSV_SHORTEST : precision,
                         &output, arena, error);
    case FORMAT_MARKDOWN:
        return write_markdown(result, precision, options->full, &output, arena, error);
    case FORMAT_LATEX:
        return write_latex(result, precision, options->full, &output, arena, error);
    case FORMAT_SVG:
        return write_svg(result, choose_decimals(options), &output, arena, error);
    case FORMAT_HTML:
        write_html(result, (int)options->precision, &output);
        return STATUS_OK;
    default:
        return (result->problem->explains ? write_explain : write_text)(result, choose_style(options), &output, arena,
                                                                        error);
    }
}

bool write_elides(const struct options *options, const struct problem *problem)
{
    const bool tables =
        options->format == FORMAT_TEXT || options->format == FORMAT_MARKDOWN || options->format == FORMAT_LATEX;
    return tables && !options->full && !options->heatmap && !problem->explains;
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
    if (progress != NULL &&
        (output_is_terminal(&output) || result->problem->explains)) /* it asks for rows as it likes */
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
    if (output_close(&output) != STATUS_OK || diff_agrees(diff))
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
    else if (options->origin[OPTION_COMPLETION] != ORIGIN_DEFAULT)
        completion_write((enum shell)options->completion, &output);
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
