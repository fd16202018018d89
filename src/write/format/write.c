#include "write/format/write.h"

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

static struct text_style choose_style(const struct options *options, const struct output *output)
{
    const bool color = options_want_color(options, output);
    return (struct text_style){
        .precision = (int)options->precision,
        .full = options->full,
        .color = color,
        .draws = options->heatmap,
        .heatmap = {choose_decimals(options), choose_depth(color), choose_ground(), output_columns(output)},
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

static enum status write_format(const struct options *options, struct result *result, struct output *output,
                                struct arena *arena, struct error *error)
{
    const int precision = (int)options->precision;
    if (is_binary(options) && output_is_terminal(output))
        return refuse_terminal(error);
    switch ((enum format)options->format) {
    case FORMAT_JSON:
        write_json(result, output);
        return STATUS_OK;
    case FORMAT_NPY:
        write_npy(result, output);
        return STATUS_OK;
    case FORMAT_SAFETENSORS:
        return write_safetensors(result, output, arena, error);
    case FORMAT_CSV:
        return write_csv(result, options->origin[OPTION_PRECISION] == ORIGIN_DEFAULT ? CSV_SHORTEST : precision, output,
                         arena, error);
    case FORMAT_MARKDOWN:
        return write_markdown(result, precision, options->full, output, arena, error);
    case FORMAT_LATEX:
        return write_latex(result, precision, options->full, output, arena, error);
    case FORMAT_SVG:
        return write_svg(result, choose_decimals(options), output, arena, error);
    case FORMAT_HTML:
        write_html(result, (int)options->precision, output);
        return STATUS_OK;
    default:
        return (result->problem->explains ? write_explain : write_text)(result, choose_style(options, output), output,
                                                                        arena, error);
    }
}

bool write_elides(const struct options *options, const struct problem *problem)
{
    const bool tables =
        options->format == FORMAT_TEXT || options->format == FORMAT_MARKDOWN || options->format == FORMAT_LATEX;
    return tables && !options->full && !options->heatmap && !problem->explains;
}

enum status write_result(const struct options *options, struct result *result, struct output *output,
                         struct arena *arena, struct error *error)
{
    if (write_format(options, result, output, arena, error) != STATUS_OK)
        output_abandon(output);
    return output_close(output);
}
