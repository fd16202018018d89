/* SPDX-License-Identifier: MIT */
#include "lesson/session/show.h"

#include <string.h>

#define UNDERLINED "\033[4m"

enum { SENTENCE_BYTES = 2048, LITERAL_INDENT = 2 };

struct filling {
    const struct show *show;
    size_t columns, indent, column, lines;
    char style;  /* LESSON_BOLD and the like */
    bool counts; /* only counts lines: shows nothing */
};

static void put(const struct filling *filling, const char *bytes, size_t length)
{
    if (!filling->counts)
        output_write(filling->show->output, bytes, length);
}

static void put_blanks(const struct filling *filling, size_t count)
{
    while (count-- > 0)
        put(filling, " ", 1);
}

static void change_style(struct filling *filling, char style)
{
    if (filling->show->color && style != filling->style && !filling->counts)
        output_print(filling->show->output, "%s%s", filling->style != LESSON_PLAIN ? TEXT_PLAIN : "",
                     style == LESSON_BOLD        ? TEXT_BOLD
                     : style == LESSON_UNDERLINE ? UNDERLINED
                                                 : "");
    filling->style = style;
}

static bool is_mark(char byte)
{
    return byte == LESSON_BOLD || byte == LESSON_UNDERLINE || byte == LESSON_PLAIN;
}

/* The columns of a word, which ends at a blank. */
static size_t word_columns(const char *word, const char *end)
{
    size_t columns = 0;
    while (word < end)
        if (is_mark(*word))
            word++;
        else
            columns += text_width(text_next(&word));
    return columns;
}

static void break_line(struct filling *filling)
{
    const char style = filling->style;
    change_style(filling, LESSON_PLAIN); /* the margin is plain */
    put(filling, "\n", 1);
    put_blanks(filling, filling->indent);
    change_style(filling, style);
    filling->column = filling->indent;
    filling->lines++;
}

static void add_word(struct filling *filling, const char *word, const char *end)
{
    for (const char *next; word < end; word = next) {
        if (is_mark(*word)) {
            change_style(filling, *word);
            next = word + 1;
            continue;
        }
        next = word;
        while (next < end && !is_mark(*next))
            next++;
        put(filling, word, (size_t)(next - word));
    }
}

static void fill_words(struct filling *filling, const char *text)
{
    bool first = true;
    while (*text != '\0') {
        const char *end = text + strcspn(text, " ");
        const size_t columns = word_columns(text, end);
        if (!first && filling->column + 1 + columns > filling->columns) {
            break_line(filling);
        } else if (!first) {
            put(filling, " ", 1);
            filling->column++;
        }
        add_word(filling, text, end);
        filling->column += columns;
        text = end + strspn(end, " ");
        first = false;
    }
}

static struct filling begin_filling(const struct show *show, size_t indent)
{
    return (struct filling){.show = show,
                            .columns = memory_smaller(SHOW_COLUMNS, output_columns(show->output)),
                            .indent = indent,
                            .style = LESSON_PLAIN};
}

static void fill_text(struct filling *filling, const char *text, const char *tag)
{
    const size_t before = tag != NULL ? 2 : filling->indent;
    put_blanks(filling, before);
    filling->column = before;
    if (tag != NULL) {
        add_word(filling, tag, tag + strlen(tag));
        filling->column += word_columns(tag, tag + strlen(tag));
        if (filling->column + 1 > filling->indent)
            break_line(filling);
        put_blanks(filling, memory_left(filling->indent, filling->column));
        filling->column = filling->indent;
    }
    fill_words(filling, text);
    change_style(filling, LESSON_PLAIN);
    put(filling, "\n", 1);
    filling->lines++;
}

void show_text(const struct show *show, const char *text, const char *tag, size_t indent)
{
    struct filling filling = begin_filling(show, indent);
    fill_text(&filling, text, tag);
}

void show_print(const struct show *show, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    TEXT_FORMAT(sentence, format);
    show_text(show, sentence, NULL, 0);
}

void show_bold(const struct show *show, const char *line)
{
    struct filling filling = begin_filling(show, 0);
    change_style(&filling, LESSON_BOLD);
    fill_words(&filling, line);
    change_style(&filling, LESSON_PLAIN);
    output_write(show->output, "\n", 1);
}

void show_lines(const struct show *show, const char *lines, size_t indent)
{
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        output_print(show->output, "%*s", length > 0 ? (int)indent : 0, "");
        output_write(show->output, lines, length);
        output_write(show->output, "\n", 1);
        lines += length + (lines[length] == '\n');
    }
}

/* Shows a command after "$ ", with further lines below. */
static void show_command(const struct show *show, const char *command)
{
    struct filling filling = begin_filling(show, 0);
    change_style(&filling, LESSON_BOLD);
    output_print(show->output, "$ %s", command);
    change_style(&filling, LESSON_PLAIN);
    output_write(show->output, "\n", 1);
}

void show_part(const struct show *show, const struct lesson_part *part)
{
    if (!part->close || part->kind == LESSON_COMMAND)
        output_print(show->output, "\n");
    if (part->kind == LESSON_TEXT)
        show_text(show, part->text, part->tag, part->indent);
    else if (part->kind == LESSON_LITERAL)
        show_lines(show, part->text, LITERAL_INDENT);
    else
        show_command(show, part->text);
}

static size_t newlines(const char *text)
{
    size_t count = 0;
    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        count++;
    }
    return count;
}

size_t show_part_lines(const struct show *show, const struct lesson_part *part)
{
    const size_t before = !part->close || part->kind == LESSON_COMMAND;
    struct filling filling = begin_filling(show, part->indent);
    filling.counts = true;
    if (part->kind == LESSON_TEXT)
        fill_text(&filling, part->text, part->tag);
    else
        filling.lines = newlines(part->text) + (part->kind == LESSON_COMMAND);
    return before + filling.lines;
}

size_t show_printed_lines(const char *printed)
{
    return 1 + newlines(printed);
}
