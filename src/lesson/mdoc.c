#include "lesson/mdoc.h"

#include "base/memory.h"

#include <string.h>

enum { MOST_WORDS = 32 };

/* How the words behind a macro look: what stands before each, and what around all of them. */
struct look {
    const char *macro;
    char style; /* MDOC_BOLD and the like; '\0': none */
    const char *before, *around;
};

static const struct look LOOKS[] = {
    {"Nm", MDOC_BOLD, "", ""},      {"Fl", MDOC_BOLD, "-", ""},     {"Cm", MDOC_BOLD, "", ""},
    {"Ar", MDOC_UNDERLINE, "", ""}, {"Va", MDOC_UNDERLINE, "", ""}, {"Pa", MDOC_UNDERLINE, "", ""},
    {"Sx", MDOC_UNDERLINE, "", ""}, {"Em", MDOC_UNDERLINE, "", ""}, {"Xr", '\0', "", ""},
    {"Ev", '\0', "", ""},           {"Li", '\0', "", ""},           {"Ql", '\0', "", "'"},
    {"Dq", '\0', "", "\""},
};

/* An escape behind its backslash, and what it means. */
static const struct escape {
    const char *name, *meaning;
} ESCAPES[] = {
    {"(ha", "^"}, {"(aq", "'"}, {"(dq", "\""}, {"(bu", "\xe2\x80\xa2"}, {"[u2248]", "\xe2\x89\x88"},
    {"-", "-"},   {"e", "\\"},  {"&", ""},
};

static const struct look *find_look(const char *word)
{
    for (size_t i = 0; i < sizeof LOOKS / sizeof LOOKS[0]; i++)
        if (strcmp(LOOKS[i].macro, word) == 0)
            return &LOOKS[i];
    return NULL;
}

bool mdoc_word(const char **line, const char *end, char word[MDOC_WORD_BYTES])
{
    const char *from = *line;
    while (from < end && *from == ' ')
        from++;
    const bool quoted = from < end && *from == '"';
    from += quoted;
    const char *to = from;
    while (to < end && *to != (quoted ? '"' : ' '))
        to++;
    snprintf(word, MDOC_WORD_BYTES, "%.*s", (int)(to - from), from);
    *line = to + (quoted && to < end);
    return quoted || to > from;
}

/* The escape at `from`, behind the backslash; NULL where it is none of the lessons'. */
static const struct escape *find_escape(const char *from, const char *end)
{
    for (size_t i = 0; i < sizeof ESCAPES / sizeof ESCAPES[0]; i++) {
        const size_t length = strlen(ESCAPES[i].name);
        if ((size_t)(end - from) >= length && strncmp(from, ESCAPES[i].name, length) == 0)
            return &ESCAPES[i];
    }
    return NULL;
}

enum status mdoc_add_text(struct text *text, const char *line, const char *end, struct error *error)
{
    while (line < end) {
        const char *backslash = memchr(line, '\\', (size_t)(end - line));
        const char *plain = backslash != NULL ? backslash : end;
        text_add(text, "%.*s", (int)(plain - line), line);
        if (backslash == NULL)
            break;
        const struct escape *escape = find_escape(backslash + 1, end);
        if (escape == NULL)
            return error_usage(error, "unknown escape '%.*s'", (int)memory_smaller(8, (size_t)(end - backslash)),
                               backslash);
        text_add(text, "%s", escape->meaning);
        line = backslash + 1 + strlen(escape->name);
    }
    return STATUS_OK;
}

/* The words of a line, and where they have come to. */
struct words {
    struct text *text;
    const struct look *look; /* of the words that come */
    size_t arguments;        /* that the present macro has had */
    bool glued;              /* the next word stands right behind the last */
    char closing[8];         /* quotes that are open, the last one first */
};

static bool is_one_of(const char *word, const char *characters)
{
    return word[0] != '\0' && word[1] == '\0' && strchr(characters, word[0]) != NULL;
}

static void add_blank(struct words *words)
{
    if (!words->glued && words->text->length > 0)
        text_add(words->text, " ");
    words->glued = false;
}

/* A word as the present macro shows it. */
static enum status add_word(struct words *words, const char *word, struct error *error)
{
    const struct look *look = words->look;
    const bool first = words->arguments++ == 0;
    const bool section = !first && strcmp(look->macro, "Xr") == 0; /* attn-why 1: attn-why(1) */
    const bool goes_on = !first && !words->glued && words->text->bytes[words->text->length - 1] == MDOC_PLAIN;
    if (goes_on)
        words->text->bytes[--words->text->length] = '\0';
    if (!section)
        add_blank(words);
    if (look->style != '\0' && !goes_on)
        text_add(words->text, "%c", look->style);
    text_add(words->text, "%s", section ? "(" : look->before);
    if (mdoc_add_text(words->text, word, word + strlen(word), error) != STATUS_OK)
        return error->status;
    if (section)
        text_add(words->text, ")");
    if (look->style != '\0')
        text_add(words->text, "%c", MDOC_PLAIN);
    return STATUS_OK;
}

/* A macro among the words; `alone`: it has none of its own. */
static enum status begin_macro(struct words *words, const struct look *look, bool alone, struct error *error)
{
    words->look = look;
    words->arguments = 0;
    if (look->around[0] != '\0') {
        add_blank(words);
        text_add(words->text, "%s", look->around);
        words->glued = true;
        memmove(words->closing + 1, words->closing, sizeof words->closing - 2);
        words->closing[0] = look->around[0];
    }
    if (alone && strcmp(look->macro, "Nm") == 0)
        return add_word(words, "attn", error);
    return STATUS_OK;
}

static enum status take_word(struct words *words, const char *word, bool last, struct error *error)
{
    const struct look *look = find_look(word);
    if (look != NULL)
        return begin_macro(words, look, last, error);
    if (is_one_of(word, ".,:;)]?!"))
        words->glued = true;
    if (!is_one_of(word, ".,:;)]?![("))
        return add_word(words, word, error);
    add_blank(words);
    text_add(words->text, "%s", word);
    words->glued = is_one_of(word, "[(");
    return STATUS_OK;
}

enum status mdoc_add_macro(struct text *text, const char *line, const char *end, struct error *error)
{
    char word[MOST_WORDS][MDOC_WORD_BYTES];
    size_t count = 0;
    while (count < MOST_WORDS && mdoc_word(&line, end, word[count]))
        count++;
    struct words words = {.text = text, .look = count > 0 ? find_look(word[0]) : NULL};
    if (words.look == NULL)
        return error_usage(error, "unknown macro '.%.20s'", count > 0 ? word[0] : "");
    size_t closed = count; /* where all that follows is punctuation */
    while (closed > 1 && is_one_of(word[closed - 1], ".,:;)]?!"))
        closed--;
    for (size_t i = 0; i <= count; i++) {
        if (i == closed)
            text_add(text, "%s", words.closing);
        if (i < count && take_word(&words, word[i], i + 1 == closed, error) != STATUS_OK)
            return error->status;
    }
    return STATUS_OK;
}
