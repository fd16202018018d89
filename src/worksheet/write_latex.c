/* sheet -> LaTeX: a whole document without packages, a sheet a page on A4 and on letter paper. */
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <string.h>

static const char *const MARKS[SHEET_MARKS] = {NULL,       "\\blank{}", "$\\times$", "\\power{", "}",
                                               "$\\sqrt{", "}$",        "$-$",       "$^\\top$"};

static const struct sign SIGNS[] = {{" . ", " $\\cdot$ "},  {"^T", "$^\\top$"}, {"-inf", "$-\\infty$"},
                                    {" x ", " $\\times$ "}, {" - ", " $-$ "},   {" >= ", " $\\ge$ "},
                                    {" <= ", " $\\le$ "},   {NULL, NULL}};

/* Letters with accents, which the fonts of LaTeX have; of other signs beside ASCII the code point is told. */
static void write_character(struct output *output, const char *character, size_t length)
{
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

static void escape(struct output *output, const char *piece, size_t length)
{
    for (size_t i = 0, bytes; i < length; i += bytes) {
        const unsigned char byte = (unsigned char)piece[i];
        const char *set = byte < TABLE_MARKUP_CHARACTERS ? LATEX_ESCAPES.characters[byte] : NULL;
        bytes = byte < TABLE_MARKUP_CHARACTERS ? 1 : memory_larger(text_character(piece + i), 1);
        if (byte >= TABLE_MARKUP_CHARACTERS)
            write_character(output, piece + i, bytes);
        else
            output_write(output, set != NULL ? set : piece + i, set != NULL ? strlen(set) : 1);
    }
}

static void write_escaped(struct output *output, const char *text)
{
    escape(output, text, strlen(text));
}

static void write_marked(struct output *output, const char *text)
{
    marks_write(output, text, MARKS, escape);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void write_number(struct output *output, const char *text)
{
    const size_t sign = *text == '-';
    if (strcmp(text + sign, "inf") == 0)
        output_print(output, "$%s\\infty$", sign ? "-" : "");
    else
        output_print(output, "%s%s%s", sign ? "$" : "", text, sign ? "$" : "");
}

/* A box in its paragraph, so that tables stand side by side as many as fit. */
static void write_table(struct output *output, const struct sheet_table *table, enum look look)
{
    output_print(output, "\\begin{tabular}[t]{@{}l*{%zu}{%c}@{}}\n", table->columns, look == LOOK_BLANK ? 'c' : 'r');
    if (table->title[0] != '\0') {
        output_print(output, "\\multicolumn{%zu}{@{}l}{\\textbf{", table->columns + 1);
        write_marked(output, table->title);
        output_print(output, "}} \\\\\n");
    }
    write_escaped(output, table->corner);
    for (size_t column = 0; column < table->columns; column++) {
        output_print(output, " & ");
        if (sheet_is_powers(table))
            write_number(output, table->column_labels[column]);
        else
            write_escaped(output, table->column_labels[column]);
    }
    output_print(output, " \\\\\n\\hline\n");
    for (size_t row = 0; row < table->rows; row++) {
        write_marked(output, table->row_labels[row]);
        for (size_t column = 0; column < table->columns; column++) {
            output_print(output, " & ");
            if (look == LOOK_BLANK)
                output_print(output, "\\blank{}");
            else
                write_number(output, table->cells[row * table->columns + column]);
        }
        output_print(output, " \\\\\n");
    }
    output_print(output, "\\end{tabular}\\qquad\n");
}

static void write_tables(struct output *output, const struct sheet_table *tables, size_t count, enum look look)
{
    for (size_t i = 0; i < count; i++)
        write_table(output, &tables[i], look);
    output_print(output, "\\par\\medskip\n");
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* Whether the formula is "NAME = STAGE / sqrt(NUMBER)": where its parts begin, behind the sign before each. */
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

/* The formula, with a real root and fraction where it is one. */
static void write_formula(struct output *output, const struct sheet_task *task)
{
    const char *stage, *number;
    if (has_root(task->formula, &stage, &number))
        output_print(output, "%.*s $\\displaystyle=\\frac{\\mbox{%.*s}}{\\sqrt{%.*s}}$",
                     (int)strcspn(task->formula, " "), task->formula, (int)strcspn(stage, " "), stage,
                     (int)strcspn(number, ")"), number);
    else
        signs_write(output, task->formula, SIGNS, escape);
    if (task->stage == STAGE_WEIGHTS)
        output_print(output, "$\\displaystyle{}=\\frac{e^{s-m}}{\\sum e^{s-m}}$, $m$ the largest $s$ of a row");
}

static void write_tasks(struct output *output, const struct sheet *sheet, bool answers)
{
    for (size_t first = 0, end; first < sheet->task_count; first = end) {
        size_t count;
        end = sheet_group_end(sheet, first, &count);
        for (size_t i = first; i < end && !answers; i++) {
            const struct sheet_task *task = &sheet->tasks[i];
            output_print(output, "\\textbf{%zu.} ", i + 1);
            write_formula(output, task);
            for (size_t line = 0; line < SHEET_FRAMES && task->frames[line] != NULL; line++) {
                output_print(output, "\\quad\n\\mbox{");
                write_marked(output, task->frames[line]);
                output_print(output, "}");
            }
            output_print(output, "\\par\\nopagebreak\\smallskip\n");
        }
        write_tables(output, sheet->tasks[first].tables, count, answers || sheet->filled ? LOOK_FILLED : LOOK_BLANK);
        output_print(output, answers ? "" : "\\vfill\n");
    }
}

static void write_sheet(struct output *output, const struct sheet *sheet)
{
    output_print(output, "Name \\underline{\\hspace{8cm}}\\hfill Date \\underline{\\hspace{4cm}}\\par\\medskip\n");
    write_tables(output, sheet->given, sheet->given_count, LOOK_GIVEN);
    output_print(output, "\\vfill\n");
    write_tasks(output, sheet, false);
    output_print(output, "%s\\par\n", sheet->rule);
}

/* Lines of equal characters: each blank stays. */
static void write_worked(struct output *output, const char *worked)
{
    output_print(output, "{\\footnotesize\\ttfamily\n\\strut{}");
    for (; *worked != '\0'; worked++) {
        const size_t words = strcspn(worked, " \n");
        escape(output, worked, words);
        worked += words;
        if (*worked == '\0')
            break;
        output_print(output, "%s", *worked == ' ' ? "~" : worked[1] != '\0' ? "\\par\n\\strut{}" : "\\par\n");
    }
    output_print(output, "}\n");
}

static void begin(const struct page *page)
{
    output_print(page->output,
                 "\\documentclass[10pt]{article}\n"
                 "\\setlength{\\textwidth}{17cm}\\setlength{\\oddsidemargin}{-0.45cm}\n"
                 "\\setlength{\\textheight}{25.2cm}\\setlength{\\topmargin}{-1.1cm}\n"
                 "\\setlength{\\headheight}{0pt}\\setlength{\\headsep}{0pt}\\setlength{\\parindent}{0pt}\n"
                 "\\setlength{\\tabcolsep}{3.5pt}\\renewcommand{\\arraystretch}{1.2}\\pagestyle{empty}\\raggedright\n"
                 "\\newcommand{\\blank}{\\underline{\\hspace{2.1em}}}\n"
                 "\\newcommand{\\power}[1]{$e^{\\mbox{\\scriptsize #1}}$}\n"
                 "\\newcommand{\\column}[1]{\\hbox to 0.525em{\\hss#1\\hss}}\n"
                 "\\begin{document}\n");
}

static void write(const struct page *page, const struct sheet *sheet, bool answers)
{
    struct output *output = page->output;
    output_print(output, "\\textbf{\\large %s}\\hfill %s", sheet->title, answers ? ANSWERS_BEFORE : "");
    write_escaped(output, sheet->name);
    output_print(output, "\\par\\medskip\n");
    if (!answers) {
        write_sheet(output, sheet);
        return;
    }
    write_escaped(output, sheet->found);
    output_print(output, "%s", sheet->found[0] != '\0' ? "\\par\\medskip\n" : "");
    write_tasks(output, sheet, true);
    write_worked(output, sheet->worked);
}

static void turn(const struct page *page)
{
    output_print(page->output, "\\newpage\n");
}

static void end(const struct page *page)
{
    output_print(page->output, "\\end{document}\n");
}

const struct sheet_writer sheet_as_latex = {.begin = begin, .turn = turn, .write = write, .end = end};
