/* SPDX-License-Identifier: MIT */
/* sheet -> LaTeX: a whole document without packages, a sheet a page on A4 and on letter paper. */
#include "base/text.h"
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <string.h>

static const struct sign SIGNS[] = {{" . ", " $\\cdot$ "},  {"^T", "$^\\top$"}, {"-inf", "$-\\infty$"},
                                    {" x ", " $\\times$ "}, {" - ", " $-$ "},   {" >= ", " $\\ge$ "},
                                    {" <= ", " $\\le$ "},   {NULL, NULL}};

static const char BEGIN[] =
    "\\documentclass[10pt]{article}\n"
    "\\setlength{\\textwidth}{17cm}\\setlength{\\oddsidemargin}{-0.45cm}\n"
    "\\setlength{\\textheight}{25.2cm}\\setlength{\\topmargin}{-1.1cm}\n"
    "\\setlength{\\headheight}{0pt}\\setlength{\\headsep}{0pt}\\setlength{\\parindent}{0pt}\n"
    "\\setlength{\\tabcolsep}{3.5pt}\\renewcommand{\\arraystretch}{1.2}\\pagestyle{empty}\\raggedright\n"
    "\\newcommand{\\blank}{\\underline{\\hspace{2.1em}}}\n"
    "\\newcommand{\\power}[1]{$e^{\\mbox{\\scriptsize #1}}$}\n"
    "\\newcommand{\\column}[1]{\\hbox to 0.525em{\\hss#1\\hss}}\n"
    "\\begin{document}\n";

/* Writes letters with accents, which the fonts of LaTeX have; other characters beyond ASCII as their code point. */
static void write_character(const struct page *page, const char *character, size_t length)
{
    struct output *output = page->output;
    const char *next = character;
    const uint32_t point = text_next(&next);
    if (strncmp(character, "≈", length) == 0)
        output_print(output, "\\column{$\\approx$}");
    else if (strncmp(character, "…", length) == 0)
        output_print(output, "\\column{\\dots}");
    else if (strncmp(character, TEXT_BLANK, length) == 0)
        output_print(output, "\\textvisiblespace{}");
    else if (point >= 0xc0 && point <= 0xff && strchr("\xd0\xd7\xde\xf0\xf7\xfe", (int)point) == NULL)
        output_write(output, character, length);
    else
        output_print(output, "U+%04X", (unsigned)point);
}

/* A box in its paragraph, so that as many tables stand side by side as fit. */
static void begin_table(const struct page *page, const struct sheet_table *table, enum look look)
{
    output_print(page->output, "\\begin{tabular}[t]{@{}l*{%zu}{%c}@{}}\n", table->columns,
                 look == LOOK_BLANK ? 'c' : 'r');
    if (table->title[0] == '\0')
        return;
    output_print(page->output, "\\multicolumn{%zu}{@{}l}{\\textbf{", table->columns + 1);
    page_marked(page, table->title);
    page_put(page, "}} \\\\\n");
}

/* Whether the formula is "NAME = STAGE / sqrt(NUMBER)"; where STAGE and NUMBER begin. */
static bool has_root(const char *formula, const char **stage, const char **number)
{
    static const char EQUALS[] = " = ", ROOT[] = " / sqrt(";
    const char *equals = strstr(formula, EQUALS), *root = strstr(formula, ROOT);
    if (equals == NULL || root == NULL)
        return false;
    *stage = equals + strlen(EQUALS);
    *number = root + strlen(ROOT);
    return strcmp(*number + strspn(*number, "0123456789"), ")") == 0;
}

/* The formula; a root as a real root and fraction. */
static void write_formula(const struct page *page, const struct sheet_task *task)
{
    const char *stage, *number;
    if (has_root(task->formula, &stage, &number))
        output_print(page->output, "%.*s $\\displaystyle=\\frac{\\mbox{%.*s}}{\\sqrt{%.*s}}$",
                     (int)strcspn(task->formula, " "), task->formula, (int)strcspn(stage, " "), stage,
                     (int)strcspn(number, ")"), number);
    else
        page_formula(page, task);
    if (task->stage == STAGE_WEIGHTS)
        page_put(page, "$\\displaystyle{}=\\frac{e^{s-m}}{\\sum e^{s-m}}$, $m$ the largest $s$ of a row");
}

/* Lines in a typewriter font: each blank stays. */
static void write_worked(const struct page *page, const char *worked)
{
    for (; *worked != '\0'; worked++) {
        const size_t words = strcspn(worked, " \n");
        page_escape(page, worked, words);
        worked += words;
        if (*worked == '\0')
            break;
        page_put(page, *worked == ' ' ? "~" : worked[1] != '\0' ? "\\par\n\\strut{}" : "\\par\n");
    }
}

const struct sheet_dialect sheet_as_latex = {
    .begin = BEGIN,
    .turn = "\\newpage\n",
    .end = "\\end{document}\n",
    .marks = {NULL, "\\blank{}", "$\\times$", "\\power{", "}", "$\\sqrt{", "}$", "$-$", "$^\\top$"},
    .escapes = &LATEX_ESCAPES,
    .signs = SIGNS,
    .minus = {"$-", "$"},
    .infinity = {"$\\infty$", "$-\\infty$"},
    .head = {"\\textbf{\\large ", "}\\hfill ", "\\par\\medskip\n"},
    .given = {"Name \\underline{\\hspace{8cm}}\\hfill Date \\underline{\\hspace{4cm}}\\par\\medskip\n", "\\vfill\n",
              "\\vfill\n"},
    .rule = {NULL, "\\par\n"},
    .no_rule = "\\par\n",
    .found = {NULL, "\\par\\medskip\n"},
    .worked = {"{\\footnotesize\\ttfamily\n\\strut{}", "}\n"},
    .group = {NULL, "\\vfill\n"},
    .task = {"\\textbf{", ".} "},
    .frame = {"\\quad\n\\mbox{", "}"},
    .framed = "\\par\\nopagebreak\\smallskip\n",
    .tables = {NULL, "\\par\\medskip\n"},
    .column = {" & "},
    .ruled = " \\\\\n\\hline\n",
    .cell = {" & "},
    .row_end = " \\\\\n",
    .table_end = "\\end{tabular}\\qquad\n",
    .blank = "\\blank{}",
    .write_character = write_character,
    .begin_table = begin_table,
    .write_worked = write_worked,
    .write_formula = write_formula,
};
