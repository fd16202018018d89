/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "check.h"
#include "program.h"
#include "readers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WAITING = 4096, SECONDS = 3600 };

struct waiting {
    enum batch_kind kind;
    bool broken; /* it must be refused */
    char *line;
    char complaint[COMPLAINT_BYTES];
};

static struct {
    size_t count;
    struct waiting files[MOST_WAITING];
} waiting;

static const char *const SUFFIXES[BATCH_KINDS] = {"json", "svg", "html", "tex"};

/* --- files ------------------------------------------------------------------------------------------------------- */

void batch_add(enum batch_kind kind, const char *line, const char *bytes, size_t length, const char *json,
               size_t json_length, bool broken)
{
    char path[PROGRAM_PATH_BYTES];
    if (waiting.count == MOST_WAITING)
        abort();
    if (json != NULL)
        program_write(program_path(path, "%zu.expected", waiting.count), json, json_length);
    program_write(program_path(path, "%zu.%s", waiting.count, SUFFIXES[kind]), bytes, length);
    waiting.files[waiting.count++] = (struct waiting){.kind = kind, .line = strdup(line), .broken = broken};
}

/* --- readers ----------------------------------------------------------------------------------------------------- */

/* A command line: some words, then the paths of all files of a kind. */
struct command {
    size_t count;
    const char *words[MOST_WAITING + 16]; /* NULL behind them */
    char texts[MOST_WAITING][PROGRAM_PATH_BYTES];
};

static struct command command;

static void begin_command(const char *const *words)
{
    for (command.count = 0; words[command.count] != NULL; command.count++)
        command.words[command.count] = words[command.count];
    command.words[command.count] = NULL;
}

static void add_word(const char *word)
{
    command.words[command.count++] = word;
    command.words[command.count] = NULL;
}

static void add_files(enum batch_kind kind, bool broken)
{
    for (size_t i = 0; i < waiting.count; i++)
        if (waiting.files[i].kind == kind && waiting.files[i].broken == broken)
            add_word(program_path(command.texts[i], "%zu.%s", i, SUFFIXES[kind]));
}

/* The broken one first: a reader may not come to its end. */
static void begin_with_files(const char *const *words, enum batch_kind kind)
{
    begin_command(words);
    add_files(kind, true);
    add_files(kind, false);
}

static void blame(size_t number, const char *text, size_t length)
{
    if (number < waiting.count && waiting.files[number].complaint[0] == '\0')
        snprintf(waiting.files[number].complaint, COMPLAINT_BYTES, "%.*s", (int)length, text);
}

/* Lines that begin with a path of the scratch folder say what is wrong with that file. */
static void take_complaints(const char *output, const char *passed_over)
{
    const size_t folder = strlen(program_scratch());
    for (const char *line = output; *line != '\0'; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        const size_t length = strcspn(line, "\n");
        if (strncmp(line, program_scratch(), folder) == 0 &&
            (passed_over == NULL || memmem(line, length, passed_over, strlen(passed_over)) == NULL))
            blame((size_t)strtoul(line + folder + 1, NULL, 10), line, length);
    }
}

static void run_command(char **output)
{
    if (program_command(command.words, SECONDS, output) < 0)
        CHECK(false, "%s was stopped", command.words[0]);
}

static void read_pictures(void)
{
    char *output;
    begin_with_files((const char *[]){"xmllint", "--noout", "--nonet", NULL}, BATCH_SVG);
    run_command(&output);
    take_complaints(output, NULL);
    free(output);
}

/* The pages that are broken, or the others, each for so long. */
static void try_pages(bool broken, const char *seconds)
{
    char *output, expected[32];
    begin_command((const char *[]){"node", "tests/pairs/page.js", seconds, NULL});
    const size_t words = command.count;
    add_files(BATCH_PAGE, broken);
    run_command(&output);
    take_complaints(output, NULL);
    snprintf(expected, sizeof expected, "%zu pages\n", command.count - words);
    const size_t length = strlen(output), end = strlen(expected);
    CHECK(length >= end && strcmp(output + length - end, expected) == 0, "expected %s, got: %s", expected,
          length > 300 ? output + length - 300 : output);
    free(output);
}

static void read_pages(void)
{
    try_pages(true, "0.2");
    try_pages(false, "600");
}

/* Whether jq counts as many objects as there are files; it ends at one that is no JSON. */
static bool counts_objects(bool broken, char **output)
{
    static const char COUNT[] = "reduce inputs as $result (0; if $result | type == \"object\" then . + 1 else . end)";
    char expected[24];
    begin_command((const char *[]){"jq", "-n", COUNT, NULL});
    const size_t words = command.count;
    add_files(BATCH_JSON, broken);
    run_command(output);
    snprintf(expected, sizeof expected, "%zu\n", command.count - words);
    return strcmp(*output, expected) == 0;
}

static void read_json(void)
{
    char *output;
    if (!counts_objects(true, &output))
        blame(waiting.count - 1, output, strlen(output));
    free(output);
    CHECK(counts_objects(false, &output), "%s", output);
    free(output);
}

/* One document of all of them. Letters of other scripts may need another LaTeX, as the manual says. */
static void read_latex(void)
{
    char path[PROGRAM_PATH_BYTES], folder[PROGRAM_PATH_BYTES], *output;
    program_path(path, "main.tex");
    snprintf(folder, sizeof folder, "-output-directory=%s", program_scratch());
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    fprintf(file, "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n");
    for (size_t i = 0; i < waiting.count; i++)
        if (waiting.files[i].kind == BATCH_LATEX)
            fprintf(file, "\\input{%s/%zu.tex}\n\n", program_scratch(), i);
    fprintf(file, "\\end{document}\n");
    fclose(file);
    begin_command((const char *[]){"pdflatex", "-interaction=nonstopmode", "-file-line-error", folder, path, NULL});
    run_command(&output);
    take_complaints(output, "LaTeX Error: Unicode character");
    CHECK(strstr(output, "Output written on ") != NULL, "no document: %.300s", output);
    free(output);
}

static bool has_booktabs(void)
{
    char *output;
    const bool found = program_command((const char *[]){"kpsewhich", "booktabs.sty", NULL}, SECONDS, &output) == 0;
    free(output);
    return found;
}

static bool always(void)
{
    return true;
}

static const struct {
    const char *program, *lacking;
    bool (*may)(void);
    void (*read)(void);
    const char *broken; /* what it must refuse */
} READERS[BATCH_KINDS] = {
    [BATCH_JSON] = {"jq", "jq is not installed", always, read_json, "{\"attn\": [1, 2}\n"},
    [BATCH_SVG] = {"xmllint", "xmllint is not installed", always, read_pictures,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>1 < 2</text></svg>\n"},
    [BATCH_PAGE] = {"node", "node is not installed", always, read_pages,
                    "<script>'use strict';\nlet step = 1;\nwhile (step > 0) step = 1;\n</script>\n"},
    [BATCH_LATEX] = {"pdflatex", "pdflatex with booktabs is not installed", has_booktabs, read_latex,
                     "\\begin{tabular}{l}\n1 & 2 \\\\\n\\end{tabular}\n"},
};

/* --- all of them ------------------------------------------------------------------------------------------------- */

static void read_kind(enum batch_kind kind)
{
    static const char EMPTY[] = "{\"settings\": {}}";
    static bool skipped[BATCH_KINDS];
    check_begin("%s reads what is written for it", READERS[kind].program);
    if (!program_is_installed(READERS[kind].program) || !READERS[kind].may()) {
        if (!skipped[kind])
            check_skip(READERS[kind].lacking);
        skipped[kind] = true;
        return;
    }
    batch_add(kind, "a broken file", READERS[kind].broken, strlen(READERS[kind].broken), EMPTY, sizeof EMPTY - 1, true);
    READERS[kind].read();
    for (size_t i = 0; i < waiting.count; i++) {
        const struct waiting *file = &waiting.files[i];
        if (file->kind != kind)
            continue;
        check_begin("%s, %s", READERS[kind].program, file->line);
        CHECK((file->complaint[0] != '\0') == file->broken, "%s",
              file->broken ? "expected it to be refused" : file->complaint);
    }
}

void batch_read(size_t least)
{
    static const char *const LEFT[] = {"expected", "json", "svg", "html", "tex"};
    char path[PROGRAM_PATH_BYTES];
    if (waiting.count < least)
        return;
    for (int kind = 0; kind < BATCH_KINDS; kind++)
        read_kind((enum batch_kind)kind);
    for (size_t i = 0; i < waiting.count; i++) {
        for (size_t suffix = 0; suffix < sizeof LEFT / sizeof LEFT[0]; suffix++)
            unlink(program_path(path, "%zu.%s", i, LEFT[suffix]));
        free(waiting.files[i].line);
    }
    waiting.count = 0;
}
