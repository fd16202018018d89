/* SPDX-License-Identifier: MIT */
/* What the table of mistakes promises to those who walk it, whatever rows it has; and that the manual has the sections
 * that it sends to. */
#include "check.h"
#include "model/mistake.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCE_COLUMNS = 76, LINE_COLUMNS = 78 };

/* A clause or a line of code: something, not too long, on one line, without a full stop. */
static void check_line(const char *what, const char *line, size_t columns)
{
    const size_t length = line != NULL ? strlen(line) : 0;
    if (!CHECK(length > 0 && length <= columns, "%s: expected 1 to %zu columns, got %zu", what, columns, length))
        return;
    CHECK(line[length - 1] != '.', "%s: expected no full stop: %s", what, line);
    CHECK(strpbrk(line, "\n\t") == NULL && strstr(line, "TODO") == NULL, "%s: expected a finished line: %s", what,
          line);
}

/* Whether the name begins with that of its slot, "attn-mask-added" with "attn_mask". */
static bool begins_with_slot(const struct mistake_row *row)
{
    const char *slot = mistake_slot_name(row->slot);
    size_t i = 0;
    while (slot[i] != '\0' && (slot[i] == '_' ? '-' : slot[i]) == row->name[i])
        i++;
    return slot[i] == '\0' && row->name[i] == '-';
}

/* Those that are called after what they are about. */
static bool is_called_otherwise(const char *name)
{
    return strcmp(name, "rope-theta") == 0 || strcmp(name, "rope-attention-missing") == 0 ||
           strcmp(name, "past-not-counted") == 0 || strcmp(name, "values-shifted") == 0 ||
           strcmp(name, "values-stale") == 0 || strcmp(name, "overflow-f16") == 0;
}

static FILE *open_page(const char *page, size_t length)
{
    static const char *const SECTIONS = "157";
    char path[64];
    FILE *manual = NULL;
    for (const char *section = SECTIONS; *section != '\0' && manual == NULL; section++) {
        snprintf(path, sizeof path, "man/%.*s.%c", (int)length, page, *section);
        manual = fopen(path, "r");
    }
    return manual;
}

/* A heading by its words; those of a lesson stand behind its number, "Lesson 5: Why the square root". */
static bool is_heading(const char *line, const char *words)
{
    if (strncmp(line, ".Sh ", 4) != 0 && strncmp(line, ".Ss ", 4) != 0)
        return false;
    const char *heading = line + 4, *colon = strstr(heading, ": ");
    if (strncmp(heading, "Lesson ", 7) == 0 && colon != NULL)
        heading = colon + 2;
    return strcmp(heading, words) == 0;
}

/* Whether the manual has "PAGE: SECTION". */
static bool manual_has(const char *place)
{
    const char *colon = strstr(place, ": ");
    FILE *manual = colon != NULL ? open_page(place, (size_t)(colon - place)) : NULL;
    char line[256];
    bool found = false;
    if (manual == NULL)
        return false;
    while (!found && fgets(line, sizeof line, manual) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = is_heading(line, colon + 2);
    }
    fclose(manual);
    return found;
}

static void check_words(enum mistake id)
{
    const struct mistake_row *row = &MISTAKES[id];
    check_begin("%s: what it says", row->name);
    check_line("sentence", row->sentence, SENTENCE_COLUMNS);
    check_line("PyTorch", row->pytorch, LINE_COLUMNS);
    if (row->numpy != NULL)
        check_line("NumPy", row->numpy, LINE_COLUMNS);
    if (row->c != NULL)
        check_line("C", row->c, LINE_COLUMNS);
    if (row->unseen != NULL)
        check_line("unseen", row->unseen, LINE_COLUMNS);
    check_line("section", mistake_section(id), LINE_COLUMNS);
    CHECK(manual_has(mistake_section(id)), "expected PAGE: SECTION of the manual, got %s", mistake_section(id));
    for (int other = 0; other < (int)id; other++)
        CHECK(strcmp(row->sentence, MISTAKES[other].sentence) != 0, "expected a sentence of its own, not that of %s",
              MISTAKES[other].name);
}

static void check_name(enum mistake id)
{
    const struct mistake_row *row = &MISTAKES[id];
    check_begin("%s: its name and its place", row->name);
    CHECK(support_mistake(row->name, strlen(row->name)) == id, "expected a name of its own");
    CHECK(begins_with_slot(row) != is_called_otherwise(row->name), "expected the name to begin with %s",
          mistake_slot_name(row->slot));
    CHECK(id == 0 || MISTAKES[id - 1].slot <= row->slot, "expected the mistakes of a slot to stand together");
}

/* The name with its longest form fits. */
static void check_text_of(enum mistake id, double form)
{
    char text[MISTAKE_NAME_BYTES];
    const size_t length = strlen(mistake_text((struct mistake_choice){id, form}, text));
    CHECK(length > strlen(MISTAKES[id].name) && length < MISTAKE_NAME_BYTES - 1, "expected room for it, got %s", text);
}

static void check_forms(enum mistake id)
{
    const struct mistake_row *row = &MISTAKES[id];
    check_begin("%s: its forms", row->name);
    CHECK(row->number == NULL || row->forms == NULL, "expected a number or words, not both");
    if (row->number != NULL) {
        check_line("number", row->number, LINE_COLUMNS);
        CHECK(row->from <= row->usual && row->usual <= row->to && row->from < row->to,
              "expected the usual one in range");
        CHECK(!row->whole || row->usual == floor(row->usual), "expected the usual one to be whole");
        check_text_of(id, row->to);
    }
    for (size_t form = 0; row->forms != NULL && row->forms[form] != NULL; form++)
        check_text_of(id, (double)form);
}

int main(void)
{
    for (int id = 0; id < MISTAKE_COUNT; id++) {
        check_name((enum mistake)id);
        check_words((enum mistake)id);
        check_forms((enum mistake)id);
    }
    return check_end();
}
