/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits between two words of at most LONGEST letters: optimal string alignment, three rows of the table at a time. */
static size_t edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = last[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = memory_smaller(row[j], memory_smaller(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                row[j] = memory_smaller(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_length];
}

const char *suggest_word(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    const char *nearest = NULL;
    size_t allowed = length == 2 ? 1 : length / 3;
    if (length == 0 || length > LONGEST)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == NULL || strlen(candidates[i]) > LONGEST)
            continue;
        size_t distance = edits(word, length, candidates[i], strlen(candidates[i]));
        const bool nearer = nearest == NULL ? distance <= allowed : distance < allowed;
        const bool begins_so = nearest != NULL && distance == allowed && same_letter(candidates[i][0], word[0]) &&
                               !same_letter(nearest[0], word[0]);
        if (nearer || begins_so) {
            allowed = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *suggest_hint(char *text, size_t size, const char *prefix, const char *word, const char *const *candidates,
                         size_t count)
{
    const char *nearest = suggest_word(word, candidates, count);
    text[0] = '\0';
    if (nearest != NULL)
        snprintf(text, size, "; did you mean '%s%s'?", prefix, nearest);
    return text;
}

bool suggest_knows(const char *known, const char *word)
{
    char plain[LONGEST] = "";
    size_t length = 0;
    for (; *word != '\0'; word++)
        if (isalnum((unsigned char)*word)) {
            if (length == sizeof plain)
                return false;
            plain[length++] = (char)tolower((unsigned char)*word);
        }
    while (known != NULL && *known != '\0') {
        const size_t there = strcspn(known, " ");
        if (there == length && memcmp(known, plain, length) == 0)
            return true;
        known += there + (known[there] == ' ');
    }
    return false;
}
