/* SPDX-License-Identifier: MIT */
#include "base/shell_word.h"

#include <string.h>

static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";

/* Bytes of the next character if it is printable; else 0. */
static size_t shown_bytes(const char *word)
{
    const char *next = word;
    return text_character(word) > 0 && !text_is_hidden(text_next(&next)) ? text_character(word) : 0;
}

static bool is_shown(const char *word)
{
    while (*word != '\0' && shown_bytes(word) > 0)
        word += shown_bytes(word);
    return *word == '\0';
}

static void add_quoted(struct text *text, const char *word)
{
    for (; *word != '\0'; word++)
        text_add(text, *word == '\'' ? "'\\%c'" : "%c", *word);
}

static void add_escaped(struct text *text, const char *word)
{
    while (*word != '\0') {
        const size_t shown = shown_bytes(word);
        if (shown == 0)
            text_add(text, "\\%03o", (unsigned)(unsigned char)*word);
        else
            text_add(text, "%s%.*s", *word == '\'' || *word == '\\' ? "\\" : "", (int)shown, word);
        word += shown > 0 ? shown : 1;
    }
}

void shell_word(struct text *text, const char *word)
{
    /* A word that begins with = is a command's path in zsh. */
    if (word[0] != '\0' && word[0] != '=' && word[strspn(word, PLAIN)] == '\0') {
        text_add(text, "%s", word);
        return;
    }
    const bool shown = is_shown(word);
    text_add(text, shown ? "'" : "$'");
    (shown ? add_quoted : add_escaped)(text, word);
    text_add(text, "'");
}

/* The text after the quote that closes the word; NULL where there is none. */
static const char *skip_quoted(const char *line)
{
    const bool escapes = *line == '$';
    for (line += 1 + escapes; *line != '\0' && *line != '\''; line += shown_bytes(line)) {
        if (escapes && *line == '\\')
            line++;
        if (shown_bytes(line) == 0)
            return NULL;
    }
    return *line == '\'' ? line + 1 : NULL;
}

bool shell_line_is_words(const char *line)
{
    while (line != NULL && *line != '\0') {
        const size_t plain = strspn(line, PLAIN);
        if (plain > 0 || *line == ' ')
            line += plain > 0 ? plain : 1;
        else if (strncmp(line, "\\'", 2) == 0)
            line += 2;
        else
            line = *line == '\'' || strncmp(line, "$'", 2) == 0 ? skip_quoted(line) : NULL;
    }
    return line != NULL;
}
