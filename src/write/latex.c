/* SPDX-License-Identifier: MIT */
/* result -> LaTeX: each matrix a table with the rules of the package booktabs, under a line with its formula. */
#include "write/table_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Special characters; those that OT1, the default encoding, prints as something else; the quotation mark, which some
 * languages of babel make a command; what \\ would read as its argument at the start of a row; and the hyphen, of which
 * two make a dash. */
const struct table_markup_escapes LATEX_ESCAPES = {
    .characters =
        {
            ['\\'] = "\\textbackslash{}",
            ['~'] = "\\textasciitilde{}",
            ['^'] = "\\textasciicircum{}",
            ['`'] = "\\textasciigrave{}",
            ['<'] = "\\textless{}",
            ['>'] = "\\textgreater{}",
            ['|'] = "\\textbar{}",
            ['"'] = "\\char34{}",
            ['#'] = "\\#",
            ['$'] = "\\$",
            ['%'] = "\\%",
            ['&'] = "\\&",
            ['_'] = "\\_",
            ['{'] = "\\{",
            ['}'] = "\\}",
            ['['] = "{[}",
            ['*'] = "{*}",
            ['-'] = "-{}",
        },
    .blank = "\\textvisiblespace{}",
};

/* Signs of a formula in letters, and as mathematics. */
static const struct {
    const char *plain, *set;
} SIGNS[] = {
    {" . ", " $\\cdot$ "}, {"^T", "$^\\top$"}, {"-inf", "$-\\infty$"}, {" x ", " $\\times$ "}, {" - ", " $-$ "},
};

enum { SIGN_COUNT = sizeof SIGNS / sizeof SIGNS[0] };

static void write_formula(const struct table_layout *layout, const char *formula)
{
    while (*formula != '\0') {
        size_t sign = 0;
        while (sign < SIGN_COUNT && strncmp(formula, SIGNS[sign].plain, strlen(SIGNS[sign].plain)) != 0)
            sign++;
        if (sign < SIGN_COUNT) {
            output_print(layout->writing->output, "%s", SIGNS[sign].set);
            formula += strlen(SIGNS[sign].plain);
        } else {
            const char one[2] = {*formula++, '\0'};
            table_markup_write_escaped(layout, one);
        }
    }
}

/* Not the float `table`: tables stay in order, and LaTeX takes any number of them. */
static void begin(const struct table_layout *layout)
{
    const struct result_table *table = layout->table;
    output_print(layout->writing->output, "%s\\begin{center}\n", layout->follows ? "\n" : "");
    table_markup_write_escaped(layout, table->name);
    if (table->formula[0] != '\0') {
        output_print(layout->writing->output, " = ");
        write_formula(layout, table->formula);
    }
    table_markup_write_place(layout, " $\\times$ ");
    output_print(layout->writing->output, "\\\\*[1ex]\n\\begin{tabular}{l*{%zu}{r}}\n\\toprule\n",
                 layout->column_count);
}

static void rule(const struct table_layout *layout)
{
    output_print(layout->writing->output, "\\midrule\n");
}

static void end(const struct table_layout *layout)
{
    output_print(layout->writing->output, "\\bottomrule\n\\end{tabular}\n\\end{center}\n");
}

/* Negative numbers within $, for a minus instead of a hyphen; 1.5000e-07 as a product with a power of ten. */
static size_t number_text(const struct table_layout *layout, double number, char *text)
{
    char plain[TABLE_LAYOUT_CELL_BYTES];
    if (isinf(number))
        return strlen(strcpy(text, number < 0 ? "$-\\infty$" : "$\\infty$"));
    if (layout->exponent && number == 0)
        return strlen(strcpy(text, "0"));
    table_markup_number(layout, number, plain);
    char *exponent = layout->exponent && isfinite(number) ? strchr(plain, 'e') : NULL;
    const char *dollar = plain[0] == '-' ? "$" : "";
    if (exponent == NULL)
        return (size_t)snprintf(text, TABLE_LAYOUT_CELL_BYTES, "%s%.400s%s", dollar, plain, dollar);
    *exponent++ = '\0';
    return (size_t)snprintf(text, TABLE_LAYOUT_CELL_BYTES, "$%.64s \\times 10^{%d}$", plain,
                            (int)strtol(exponent, NULL, 10));
}

enum status write_latex(const struct writing *writing)
{
    static const struct table_dialect LATEX = {
        .ruled = true,
        .escapes = &LATEX_ESCAPES,
        .gaps = {{"", "$\\cdots$"}, {"$\\vdots$", "$\\ddots$"}},
        .row_begin = "",
        .between = " & ",
        .row_end = " \\\\\n",
        .begin = begin,
        .rule = rule,
        .end = end,
        .number = number_text,
    };
    output_print(writing->output, "%% needs \\usepackage{booktabs}\n");
    return table_layout_write_all(writing, &LATEX, STAGE_COUNT);
}
