/* sheet -> Markdown (GitHub's tables); a division between the pages, behind which a printer turns the page. */
#include "worksheet/writers.h"
#include "write/table_markup.h"

#include <string.h>

static const char *const MARKS[SHEET_MARKS] = {NULL, "\\_\\_\\_\\_", "×", "e<sup>", "</sup>", "√", "",
                                               "−",  "<sup>T</sup>"};

/* A blank cell keeps its width. */
static const char BLANK[] = "&emsp;&emsp;&emsp;";

static void escape(struct output *output, const char *piece, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)piece[i];
        const char *set = byte < TABLE_MARKUP_CHARACTERS ? MARKDOWN_ESCAPES.characters[byte] : NULL;
        output_write(output, set != NULL ? set : piece + i, set != NULL ? strlen(set) : 1);
    }
}

static void write_marked(struct output *output, const char *text)
{
    marks_write(output, text, MARKS, escape);
}

static void write_number(struct output *output, const char *text)
{
    const bool minus = *text == '-';
    const char *digits = minus ? text + 1 : text;
    output_print(output, "%s%s", minus ? "−" : "", strcmp(digits, "inf") == 0 ? "∞" : digits);
}

static void write_table(struct output *output, const struct sheet_table *table, enum look look)
{
    if (table->title[0] != '\0') {
        output_print(output, "**");
        write_marked(output, table->title);
        output_print(output, "**\n\n");
    }
    output_print(output, "| %s |", table->corner);
    for (size_t column = 0; column < table->columns; column++) {
        output_print(output, " ");
        escape(output, table->column_labels[column], strlen(table->column_labels[column]));
        output_print(output, " |");
    }
    output_print(output, "\n|:---|");
    for (size_t column = 0; column < table->columns; column++)
        output_print(output, "---:|");
    for (size_t row = 0; row < table->rows; row++) {
        output_print(output, "\n| ");
        write_marked(output, table->row_labels[row]);
        output_print(output, " |");
        for (size_t column = 0; column < table->columns; column++) {
            output_print(output, " ");
            if (look == LOOK_BLANK)
                output_print(output, "%s", BLANK);
            else
                write_number(output, table->cells[row * table->columns + column]);
            output_print(output, " |");
        }
    }
    output_print(output, "\n\n");
}

static void write_tasks(struct output *output, const struct sheet *sheet, bool answers)
{
    for (size_t i = 0; i < sheet->task_count; i++) {
        const struct sheet_task *task = &sheet->tasks[i];
        if (!answers)
            output_print(output, "### %zu. `%s`\n\n", i + 1, task->formula);
        for (size_t line = 0; line < SHEET_FRAMES && task->frames[line] != NULL && !answers; line++) {
            write_marked(output, task->frames[line]);
            output_print(output, "%s\n", line + 1 < SHEET_FRAMES && task->frames[line + 1] != NULL ? "  " : "\n");
        }
        for (size_t table = 0; table < task->count; table++)
            write_table(output, &task->tables[table], answers || sheet->filled ? LOOK_FILLED : LOOK_BLANK);
    }
}

static void write_sheet(struct output *output, const struct sheet *sheet)
{
    output_print(output, "Name \\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_ "
                         "Date \\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\n\n## Given\n\n");
    for (size_t i = 0; i < sheet->given_count; i++)
        write_table(output, &sheet->given[i], LOOK_GIVEN);
    output_print(output, "## %s\n\n", sheet->filled ? "Worked out" : "Work out");
    write_tasks(output, sheet, false);
    output_print(output, "%s\n", sheet->rule);
}

static void write(const struct page *page, const struct sheet *sheet, bool answers)
{
    struct output *output = page->output;
    output_print(output, "# %s\n\n*%s", sheet->title, answers ? ANSWERS_BEFORE : "");
    escape(output, sheet->name, strlen(sheet->name));
    output_print(output, "*\n\n");
    if (!answers) {
        write_sheet(output, sheet);
        return;
    }
    escape(output, sheet->found, strlen(sheet->found));
    output_print(output, "%s", sheet->found[0] != '\0' ? "\n\n" : "");
    write_tasks(output, sheet, true);
    output_print(output, "```text\n");
    output_write(output, sheet->worked, strlen(sheet->worked));
    output_print(output, "```\n");
}

static void turn(const struct page *page)
{
    output_print(page->output, "\n<div style=\"break-after: page\"></div>\n\n");
}

const struct sheet_writer sheet_as_markdown = {.turn = turn, .write = write};
