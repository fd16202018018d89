/* SPDX-License-Identifier: MIT */
#include "write/svg/svg_picture.h"

#include "base/text.h"
#include "model/stages.h"
#include "stage/stage.h"

#include <ctype.h>
#include <string.h>

/* Words with a letter, and its index; the bias of a matrix shares the index. A stage takes its letter where the
 * table is made from it: elsewhere, as in "key > query", the word is a position. */
static const struct symbol {
    const char *word;
    enum stage stage; /* STAGE_PARAMETERS: of a matrix */
    const char *letter, *index;
} SYMBOLS[] = {
    {"inputs", STAGE_INPUTS, "X", ""},
    {"query", STAGE_QUERY, "Q", ""},
    {"key", STAGE_KEY, "K", ""},
    {"value", STAGE_VALUE, "V", ""},
    {"W_query", STAGE_PARAMETERS, "W", "Q"},
    {"W_key", STAGE_PARAMETERS, "W", "K"},
    {"W_value", STAGE_PARAMETERS, "W", "V"},
    {"out_proj", STAGE_PARAMETERS, "W", "O"},
};
enum { SYMBOL_COUNT = sizeof SYMBOLS / sizeof SYMBOLS[0] };

static const char PRODUCT[] = " . ", THIN[] = "\xe2\x80\x89", DOT[] = " \xc2\xb7 ";

/* A formula while it is set: the rest of it, and its table. */
struct setter {
    const struct result *result;
    enum stage stage;
    const char *rest;
    bool symbol; /* the last word set is one */
    struct text *text;
};

static bool takes(const char **text, const char *words)
{
    const size_t length = strlen(words);
    if (strncmp(*text, words, length) != 0)
        return false;
    *text += length;
    return true;
}

static bool is_word(char character)
{
    return isalnum((unsigned char)character) || character == '_';
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (is_word(text[length]))
        length++;
    return length;
}

/* The symbol at text, or NULL. W_query.weight^T and W_query, both d_in x d_out, are W; the transpose has no letter. */
static const struct symbol *symbol_at(const struct setter *setter, const char *text, size_t *taken, bool *bias)
{
    const size_t length = word_length(text);
    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        const struct symbol *symbol = &SYMBOLS[i];
        const char *rest = text + length;
        if (strlen(symbol->word) != length || strncmp(text, symbol->word, length) != 0)
            continue;
        const bool matrix = symbol->stage == STAGE_PARAMETERS;
        *bias = matrix && takes(&rest, ".bias");
        const bool stored = matrix && !*bias && (takes(&rest, ".weight^T") || takes(&rest, " or .weight^T"));
        *taken = (size_t)(rest - text);
        if (matrix ? stored || *rest != '.' : (STAGES[setter->stage].from & STAGE_BIT(symbol->stage)) != 0)
            return symbol;
    }
    return NULL;
}

static void set_letter(struct text *text, const char *letter, const char *index)
{
    text_add(text, "%s%s", SVG_MARK_SYMBOL, letter);
    if (index[0] != '\0')
        text_add(text, "%s%s", SVG_MARK_BELOW, index);
    text_add(text, "%s", SVG_MARK_PLAIN);
}

static void set_formula(struct setter *setter);

/* "Q K^T" for the scores, where they are that product, in the formula of scaled. */
static bool set_scores(struct setter *setter)
{
    char formula[RESULT_FORMULA_BYTES];
    const char *rest = setter->rest;
    if ((STAGES[setter->stage].from & STAGE_BIT(STAGE_SCORES)) == 0 || !takes(&rest, "scores") || is_word(*rest))
        return false;
    stage_formula(setter->result->problem, STAGE_SCORES, formula, sizeof formula);
    if (strcmp(formula, "query . key^T") != 0)
        return false;
    struct setter scores = {setter->result, STAGE_SCORES, formula, false, setter->text};
    set_formula(&scores);
    setter->rest = rest;
    return true;
}

/* A word, as a letter where it has one, and its superscript. */
static void set_word(struct setter *setter)
{
    size_t taken;
    bool bias;
    const struct symbol *symbol = symbol_at(setter, setter->rest, &taken, &bias);
    if (symbol != NULL) {
        set_letter(setter->text, bias ? "b" : symbol->letter, symbol->index);
    } else {
        taken = word_length(setter->rest);
        text_add(setter->text, "%.*s", (int)taken, setter->rest);
    }
    setter->rest += taken;
    setter->symbol = symbol != NULL;
    if (*setter->rest == '^') {
        taken = word_length(++setter->rest);
        text_add(setter->text, "%s%.*s%s", SVG_MARK_ABOVE, (int)taken, setter->rest, SVG_MARK_PLAIN);
        setter->rest += taken;
    }
}

/* A root of one word needs no brackets. */
static void set_root(struct setter *setter)
{
    const size_t inside = word_length(setter->rest);
    text_add(setter->text, "\xe2\x88\x9a");
    if (setter->rest[inside] == ')') {
        text_add(setter->text, "%.*s", (int)inside, setter->rest);
        setter->rest += inside + 1;
    } else {
        text_add(setter->text, "(");
    }
}

static bool set_sign(struct setter *setter)
{
    static const struct {
        const char *plain, *sign;
    } SIGNS[] = {
        {"-inf", "\xe2\x88\x92\xe2\x88\x9e"},
        {" x ", " \xc3\x97 "},
        {" - ", " \xe2\x88\x92 "},
        {"+-", "\xc2\xb1"},
        {">=", "\xe2\x89\xa5"},
        {"<=", "\xe2\x89\xa4"},
    };
    for (size_t i = 0; i < sizeof SIGNS / sizeof SIGNS[0]; i++)
        if (takes(&setter->rest, SIGNS[i].plain)) {
            text_add(setter->text, "%s", SIGNS[i].sign);
            return true;
        }
    return false;
}

static void set_formula(struct setter *setter)
{
    size_t taken;
    bool bias;
    while (*setter->rest != '\0') {
        if (takes(&setter->rest, PRODUCT))
            text_add(setter->text, "%s",
                     setter->symbol && symbol_at(setter, setter->rest, &taken, &bias) != NULL ? THIN : DOT);
        else if (takes(&setter->rest, "sqrt("))
            set_root(setter);
        else if (isalpha((unsigned char)*setter->rest) && !set_scores(setter))
            set_word(setter);
        else if (!isalpha((unsigned char)*setter->rest) && !set_sign(setter))
            text_add(setter->text, "%c", *setter->rest++);
    }
}

const char *svg_name(const struct result_table *table, char *text)
{
    const size_t length = strcspn(table->name, "^");
    struct text words = text_begin(text, SVG_FORMULA_BYTES);
    text_add(&words, "%.*s", (int)length, table->name);
    if (table->name[length] == '^')
        text_add(&words, "%s%s%s", SVG_MARK_ABOVE, table->name + length + 1, SVG_MARK_PLAIN);
    return text;
}

const char *svg_formula(const struct result *result, const struct result_table *table, char *text)
{
    struct text words = text_begin(text, SVG_FORMULA_BYTES);
    const bool made = table->stage != STAGE_PARAMETERS && problem_projects(result->problem);
    for (size_t i = 0; i < SYMBOL_COUNT; i++) {
        const struct symbol *symbol = &SYMBOLS[i];
        const bool named = strncmp(table->name, symbol->word, strcspn(table->name, ".")) == 0;
        if (symbol->stage != table->stage || !named)
            continue;
        set_letter(&words, symbol->letter, symbol->index);
        if (table->formula[0] != '\0')
            text_add(&words, made ? " = " : ", ");
    }
    struct setter setter = {result, table->stage, table->formula, false, &words};
    set_formula(&setter);
    return text;
}
