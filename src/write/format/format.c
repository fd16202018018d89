/* SPDX-License-Identifier: MIT */
#include "write/format/format.h"

#include "write/explain/write_explain.h"
#include "write/text/text.h"

#include <string.h>
#include <unistd.h>

/* Text is the only format that is written in two ways. */
enum status write_text(const struct writing *writing)
{
    return writing->result->problem->chosen.explains ? write_explanation(writing, false) : write_plain_text(writing);
}

#define FORMAT_WRITER(id, name, writer, ...) [FORMAT_##id] = writer,
static enum status (*const WRITERS[FORMAT_COUNT])(const struct writing *writing) = {FORMAT_ROWS(FORMAT_WRITER)};

#define FORMAT_CHECKER(id, name, writer, checker, ...) [FORMAT_##id] = checker,
static enum status (*const CHECKERS[FORMAT_COUNT])(const struct writing *writing) = {FORMAT_ROWS(FORMAT_CHECKER)};

enum status check_nothing(const struct writing *writing)
{
    (void)writing;
    return STATUS_OK;
}

static enum status refuse_terminal(struct error *error)
{
    return error_usage(error, "binary output to a terminal; give --out or a pipe");
}

enum status write_check(const struct options *options, struct error *error)
{
    const bool standard = options->out == NULL || strcmp(options->out, "-") == 0;
    return options_format(options)->binary && standard && isatty(STDOUT_FILENO) ? refuse_terminal(error) : STATUS_OK;
}

bool write_elides(const struct options *options, const struct problem *problem)
{
    const bool ends = !options->full && !options->heatmap && !options->entropy; /* which needs all of a row */
    return options_format(options)->elides && ends && !problem->chosen.explains;
}

static struct writing make_writing(const struct options *options, struct result *result, struct output *output,
                                   struct arena *arena, struct error *error)
{
    return (struct writing){.result = result,
                            .output = output,
                            .arena = arena,
                            .error = error,
                            .precision = (int)options->precision,
                            .precision_said = options_said(options, OPTION_PRECISION),
                            .full = options->full,
                            .color = options_want_color(options, output),
                            .heatmap = options->heatmap,
                            .theme =
                                options_said(options, OPTION_THEME) ? options->theme : options_format(options)->theme,
                            .entropy = options->entropy,
                            .shape = options->shape,
                            .pool = options->pool,
                            .walks = options->animate,
                            .caption = !options->no_caption};
}

static enum status check_terminal(const struct options *options, const struct output *output, struct error *error)
{
    return options_format(options)->binary && output_is_terminal(output) ? refuse_terminal(error) : STATUS_OK;
}

enum status write_check_result(const struct options *options, struct result *result, struct output *output,
                               struct arena *arena, struct error *error)
{
    const struct writing writing = make_writing(options, result, output, arena, error);
    return check_terminal(options, output, error) ? error->status : CHECKERS[options->format](&writing);
}

enum status write_result(const struct options *options, struct result *result, struct output *output,
                         struct arena *arena, struct error *error)
{
    const struct writing writing = make_writing(options, result, output, arena, error);
    if (check_terminal(options, output, error) || WRITERS[options->format](&writing))
        output_abandon(output);
    return output_close(output);
}
