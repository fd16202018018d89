/* result -> LaTeX: each matrix a table with the rules of the package booktabs, under a line with its formula. */
#include "write/table_markup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Special characters; those that OT1, the default encoding, prints as something else; the quotation mark, which some
 * languages of babel make a command; what \\ would read as its argument at the start of a row; and the hyphen, of which
 * two make a dash. */
static const char *const ESCAPES[TABLE_MARKUP_CHARACTERS] = {
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
};

/* What a formula says in letters, and mathematics says better. */
static const struct {
    const char *plain, *set;
} SIGNS[] = {
    {" . ", " $\\cdot$ "}, {"^T", "$^\\top$"}, {"-inf", "$-\\infty$"}, {" x ", " $\\times$ "}, {" - ", " $-$ "},
};

enum { SIGN_COUNT = sizeof SIGNS / sizeof SIGNS[0] };

static void write_formula(const struct table_markup *markup, const char *formula)
{
    while (*formula != '\0') {
        size_t sign = 0;
        while (sign < SIGN_COUNT && strncmp(formula, SIGNS[sign].plain, strlen(SIGNS[sign].plain)) != 0)
            sign++;
        if (sign < SIGN_COUNT) {
            output_print(markup->output, "%s", SIGNS[sign].set);
            formula += strlen(SIGNS[sign].plain);
        } else {
            const char one[2] = {*formula++, '\0'};
            table_markup_write_escaped(markup, one);
        }
    }
}

/* Not the float `table`: tables stay in order, and LaTeX takes any number of them. */
static void begin(const struct table_markup *markup)
{
    const struct result_table *table = markup->table;
    output_print(markup->output, "\\begin{center}\n");
    table_markup_write_escaped(markup, table->name);
    if (table->formula[0] != '\0') {
        output_print(markup->output, " = ");
        write_formula(markup, table->formula);
    }
    table_markup_write_place(markup, " $\\times$ ");
    output_print(markup->output, "\\\\*[1ex]\n\\begin{tabular}{l*{%zu}{r}}\n\\toprule\n", markup->column_count);
}

static void rule(const struct table_markup *markup)
{
    output_print(markup->output, "\\midrule\n");
}

static void end(const struct table_markup *markup)
{
    output_print(markup->output, "\\bottomrule\n\\end{tabular}\n\\end{center}\n");
}

/* Below zero within $, for a minus instead of a hyphen; 1.5000e-07 as a product with a power of ten. */
static void number_text(const struct table_markup *markup, double number, char *text)
{
    char plain[TABLE_MARKUP_CELL_BYTES];
    if (isinf(number)) {
        snprintf(text, TABLE_MARKUP_CELL_BYTES, number < 0 ? "$-\\infty$" : "$\\infty$");
        return;
    }
    table_markup_number(markup, number, plain);
    char *exponent = markup->exponent && isfinite(number) ? strchr(plain, 'e') : NULL;
    if (markup->exponent && number == 0) {
        snprintf(text, TABLE_MARKUP_CELL_BYTES, "0");
    } else if (exponent != NULL) {
        *exponent++ = '\0';
        snprintf(text, TABLE_MARKUP_CELL_BYTES, "$%.64s \\times 10^{%d}$", plain, (int)strtol(exponent, NULL, 10));
    } else {
        const char *dollar = plain[0] == '-' ? "$" : "";
        snprintf(text, TABLE_MARKUP_CELL_BYTES, "%s%.400s%s", dollar, plain, dollar);
    }
}

enum status write_latex(const struct writing *writing)
{
    static const struct table_markup_dialect LATEX = {
        .escapes = ESCAPES,
        .blank = "\\textvisiblespace{}",
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
    return table_markup_write(writing, &LATEX);
}
