#include "lesson/session/show.h"

#include <stdarg.h>
#include <string.h>

#define UNDERLINED "\033[4m"

enum { SENTENCE_BYTES = 2048, LITERAL_INDENT = 2 };

/* Words, added to lines. */
struct filling {
    const struct show *show;
    size_t columns, indent, column;
    char style; /* LESSON_BOLD and the like */
};

static const char *style_begins(char style)
{
    return style == LESSON_BOLD ? TEXT_BOLD : style == LESSON_UNDERLINE ? UNDERLINED : "";
}

static void change_style(struct filling *filling, char style)
{
    if (filling->show->color && style != filling->style)
        output_print(filling->show->output, "%s%s", filling->style != LESSON_PLAIN ? TEXT_PLAIN : "",
                     style_begins(style));
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
    output_print(filling->show->output, "\n%*s", (int)filling->indent, "");
    change_style(filling, style);
    filling->column = filling->indent;
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
        output_write(filling->show->output, word, (size_t)(next - word));
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
            output_write(filling->show->output, " ", 1);
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

void show_text(const struct show *show, const char *text, const char *tag, size_t indent)
{
    struct filling filling = begin_filling(show, indent);
    const size_t before = tag != NULL ? 2 : indent;
    output_print(show->output, "%*s", (int)before, "");
    filling.column = before;
    if (tag != NULL) {
        add_word(&filling, tag, tag + strlen(tag));
        filling.column += word_columns(tag, tag + strlen(tag));
        if (filling.column + 1 > indent)
            break_line(&filling);
        output_print(show->output, "%*s", (int)memory_left(indent, filling.column), "");
        filling.column = indent;
    }
    fill_words(&filling, text);
    change_style(&filling, LESSON_PLAIN);
    output_write(show->output, "\n", 1);
}

void show_print(const struct show *show, const char *format, ...)
{
    char sentence[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
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

void show_command(const struct show *show, const char *command)
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
    const size_t columns = memory_smaller(SHOW_COLUMNS, output_columns(show->output));
    const size_t before = !part->close || part->kind == LESSON_COMMAND;
    if (part->kind == LESSON_TEXT) /* a line is not filled to its end: about one in ten more */
        return before + 1 + text_columns(part->text) * 11 / 10 / (columns - memory_smaller(part->indent, columns - 1));
    return before + newlines(part->text) + (part->kind == LESSON_COMMAND ? 2 + newlines(part->printed) : 0);
}
