/* SPDX-License-Identifier: MIT */
/* sheet -> LaTeX: a whole document without packages, a sheet a page on A4 and on letter paper. */
#include "base/text.h"
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <stdio.h>
#include <string.h>

static const struct sign SIGNS[] = {{" . ", " $\\cdot$ "},  {"^T", "$^\\top$"}, {"-inf", "$-\\infty$"},
                                    {" x ", " $\\times$ "}, {" - ", " $-$ "},   {" >= ", " $\\ge$ "},
                                    {" <= ", " $\\le$ "},   {NULL, NULL}};

static const char BEGIN[] =
    "\\documentclass[10pt]{article}\n"
    "\\setlength{\\textwidth}{18.4cm}\\setlength{\\oddsidemargin}{-1.24cm}\n"
    "\\setlength{\\textheight}{25.2cm}\\setlength{\\topmargin}{-1.1cm}\n"
    "\\setlength{\\headheight}{0pt}\\setlength{\\headsep}{0pt}\\setlength{\\parindent}{0pt}\n"
    "\\setlength{\\tabcolsep}{3.5pt}\\renewcommand{\\arraystretch}{1.2}\\pagestyle{empty}\\raggedright\n"
    "\\newdimen\\wide\\wide=15mm\\setlength{\\fboxsep}{0pt}\n"
    "\\newcommand{\\blank}{$\\vcenter{\\kern.4mm\\hbox{\\framebox[\\wide]{\\rule{0pt}{8mm}}}\\kern.4mm}$}\n"
    "\\newenvironment{cells}[2]{#1\\begin{tabular}[t]{#2}}{\\end{tabular}\\qquad}\n"
    "\\newcommand{\\power}[1]{$e^{\\mbox{\\scriptsize #1}}$}\n"
    "\\newcommand{\\column}[1]{\\hbox to 0.525em{\\hss#1\\hss}}\n"
    "\\newcommand{\\place}{, }\n"
    "\\newcommand{\\key}{\\fontsize{6}{6.8}\\selectfont\\def\\scriptsize{\\fontsize{4.5}{5}\\selectfont}"
    "\\mathcode`-=\"007B\\setlength{\\tabcolsep}{1.4pt}"
    "\\renewcommand{\\arraystretch}{1}\\renewcommand{\\place}{\\\\}}\n"
    "\\begin{document}\n";

/* Of more columns the blanks are narrower, so that they fit. */
enum { MANY = 10 };

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
static void begin_table(const struct page *page, const struct sheet_table *table, bool open)
{
    output_print(page->output, "\\begin{cells}{%s}{@{}l|",
                 !open                    ? ""
                 : table->columns <= MANY ? "\\tabcolsep=.4mm"
                                          : "\\tabcolsep=.4mm\\wide=12mm");
    for (size_t column = 0; column < table->columns && table->numbers != NULL; column++)
        output_print(page->output, "@{\\hspace{8pt}}*{%zu}{r}", table->numbers[column]);
    if (table->numbers == NULL)
        output_print(page->output, "*{%zu}{%c}", table->columns, open ? 'c' : 'r');
    page_put(page, "@{}}\n");
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
    char word[SHEET_LINE_BYTES];
    for (; *worked != '\0'; worked++) {
        const size_t words = strcspn(worked, " \n");
        snprintf(word, sizeof word, "%.*s", (int)words, worked);
        page_arithmetic(page, word);
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
    .marks = {NULL, "\\blank{}", "$\\times$", "\\power{", "}", "$\\sqrt{", "}$", "$-$", "$^\\top$", "$\\infty$", NULL,
              "\\place{}"},
    .escapes = &LATEX_ESCAPES,
    .signs = SIGNS,
    .minus = "$-$",
    .infinity = {"$\\infty$", "$-\\infty$"},
    .worked_minus = "\\column{$-$}",
    .exponent = {"$\\times10^{", "-", "}$"},
    .head = {"\\textbf{\\large ", "}\\hfill ", "\\par\\medskip\n"},
    .given = {"Name \\underline{\\hspace{8cm}}\\hfill Date \\underline{\\hspace{4cm}}\\par\\medskip\n", "\\bigskip\n",
              "\\bigskip\n"},
    .rule = {NULL, "\\par\n"},
    .no_rule = "\\par\n",
    .found = {NULL, "\\par\\medskip\n"},
    .key = {"\\key\n", NULL},
    .span = {" & \\multicolumn{", "}{r}{\\shortstack[r]{", "}}"},
    .first_cell = " & ",
    .parted = "\\noalign{\\kern1pt}\n",
    .key_columns = 158,
    .key_lines = 94,
    .breaks_titles = true,
    .worked = {"{\\footnotesize\\ttfamily\n\\strut{}", "}\n"},
    .group = {NULL, "\\bigskip\n"},
    .task = {"\\textbf{", ".} "},
    .frame = {"\\quad\n\\mbox{", "}"},
    .framed = "\\par\\nopagebreak\\smallskip\n",
    .tables = {NULL, "\\par\\medskip\n"},
    .column = {" & "},
    .ruled = " \\\\\n\\hline\n",
    .cell = {" & "},
    .row_end = " \\\\\n",
    .table_end = "\\end{cells}\n",
    .blank = "\\blank{}",
    .write_character = write_character,
    .begin_table = begin_table,
    .write_worked = write_worked,
    .write_formula = write_formula,
};
