/* SPDX-License-Identifier: MIT */
#include "read/printed.h"

#include "model/mechanism.h"
#include "read/printed_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRIED_BYTES = 1 << 16, /* bytes that attn tries of an endless text; */
    TRIED_TAIL = 1 << 12,  /* an error in the last of them may only be a cut */
    NAME_SHOWN = 80,
    SAME_LAYER = 16, /* tensors of a dump between which a name repeats */
};

static const char NAMELESS[] = "inputs"; /* the name of a table without one */
static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

/* A name, and its position in the text. */
struct named_place {
    const char *name, *at;
};

/* A cell of a notebook being read. */
struct cell {
    struct printed_reader reader;
    struct input_file *input;
    unsigned kinds;
    struct named_place *names; /* (name_count) */
    size_t name_count;
    size_t room;                      /* for tensors */
    struct token_labels query_tokens; /* of sdpa's query */
};

/* --- what it is -------------------------------------------------------------------------------------------------- */

static size_t skip_mark(const char *text, size_t length)
{
    const size_t mark = sizeof BYTE_ORDER_MARK - 1;
    return length > mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0 ? mark : 0;
}

static size_t skip_comments(const char *bytes, size_t length, size_t at)
{
    while ((at += text_blanks(bytes + at, length - at)) < length && bytes[at] == '#') {
        const char *end = memchr(bytes + at, '\n', length - at);
        at = end != NULL ? (size_t)(end - bytes) : length;
    }
    return at;
}

bool printed_begins(const unsigned char *bytes, size_t length)
{
    static const char OTHERS[] = "[]()+-.,;\"'_|<>*\\";
    const size_t mark = skip_mark((const char *)bytes, length), at = skip_comments((const char *)bytes, length, mark);
    if (at == length)
        return memchr(bytes, '#', length) != NULL;
    const unsigned char c = bytes[at];
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           memchr(OTHERS, c, sizeof OTHERS - 1) != NULL || (c >= 0xc2 && c <= 0xf4 && (mark > 0 || c != 0xef));
}

/* Whether the text is a statement or a literal, not a row of numbers; "[,1]" of R and "[CLS]" are labels of rows. */
static bool begins_cell(const char *at)
{
    const size_t length = printed_name_length(at);
    if (*at == '[')
        return !((at[1] == ',' && text_is_digit(at[2])) ||
                 (at[1] >= 'A' && at[1] <= 'Z' && at[2] >= 'A' && at[2] <= 'Z'));
    return printed_is_import(at) || printed_find_equals(at) != NULL || (length > 0 && at[length] == '(') ||
           printed_behind_title(at) != NULL;
}

/* --- a table becomes a tensor ------------------------------------------------------------------------------------ */

/* Turns the digits of the table's numbers, in place, into the power of ten of the last digit shown. */
static const int16_t *last_digits(const struct printed_reader *reader, const struct printed_table *table)
{
    int16_t *digits = reader->digits + table->first;
    for (size_t i = 0; i < reader->count - table->first; i++) {
        const bool plain = digits[i] == PRINTED_PLAIN;
        const int decimals = plain ? table->decimals : table->mantissa;
        if (digits[i] != INT16_MIN)
            digits[i] = (int16_t)(decimals == 0 ? INT16_MIN : (plain ? 0 : digits[i]) - decimals);
    }
    return digits;
}

static const char *make_token(const struct printed_reader *reader, const struct printed_piece *label)
{
    char *token = arena_text(reader->arena, label->text, label->length, reader->error), *to = token;
    if (token != NULL && label->quoted)
        for (const char *from = token; (*to++ = *from) != '\0'; from++)
            from += from[0] == '"' && from[1] == '"';
    return token;
}

/* Whether the labels are 0, 1, 2 ... or 1, 2, 3 ..., or R's [1,]: these are no tokens. */
static bool labels_count(const struct printed_reader *reader, size_t count)
{
    unsigned long start = 0;
    for (size_t i = 0; i < count; i++) {
        const struct printed_piece *label = &reader->labels[i];
        const bool bracket = label->length > 3 && *label->text == '[';
        const size_t digits = strspn(label->text + bracket, "0123456789");
        const unsigned long number = digits > 0 ? strtoul(label->text + bracket, NULL, 10) : 2;
        start = i == 0 ? number : start;
        if (digits == 0 || digits + (bracket ? 3 : 0) != label->length || start > 1 || number != start + i)
            return false;
    }
    return true;
}

/* If each row has a label, takes them as tokens: in a batch a list for each item. */
static bool take_tokens(const struct cell *cell, const struct printed_table *table, struct token_labels *tokens)
{
    const struct printed_reader *reader = &cell->reader;
    if (table->labels != table->rows || table->rank < 2 || table->rank > 3 || (cell->kinds & INPUT_FILE_TOKENS) == 0 ||
        labels_count(reader, table->rows))
        return true;
    tokens->nested = table->rank == 3;
    tokens->lists = tokens->nested ? table->shape[0] : 1;
    tokens->count = table->shape[table->rank - 2];
    tokens->texts = arena_allocate(reader->arena, table->rows, sizeof tokens->texts[0], reader->error);
    for (size_t i = 0; tokens->texts != NULL && i < table->rows; i++) {
        tokens->texts[i] = make_token(reader, &reader->labels[i]);
        if (tokens->texts[i] == NULL)
            return false;
    }
    return tokens->texts != NULL;
}

/* The tokens that the labels of that tensor's rows are; NULL where they are none. */
static struct token_labels *tokens_of(struct cell *cell, const char *name)
{
    return strcmp(name, "query") == 0          ? &cell->query_tokens
           : strcmp(name, "key_inputs") == 0   ? &cell->input->key_tokens
           : text_has_word("inputs key", name) ? &cell->input->tokens
                                               : NULL;
}

static bool same_tokens(const struct token_labels *a, const struct token_labels *b)
{
    bool same = a->lists == b->lists && a->count == b->count;
    for (size_t i = 0; same && i < a->lists * a->count; i++)
        same = strcmp(a->texts[i], b->texts[i]) == 0;
    return same;
}

/* STATUS_USAGE for an error without a position in the text. */
static bool fail_all(struct cell *cell, const char *what)
{
    error_usage(cell->reader.error, "%s: %s", cell->input->source, what);
    return false;
}

/* If query and key have different tokens, each keeps its own. */
static bool part_tokens(struct cell *cell)
{
    struct input_file *input = cell->input;
    if (cell->query_tokens.texts == NULL ||
        (input->tokens.texts != NULL && same_tokens(&cell->query_tokens, &input->tokens)))
        return true;
    if (input->tokens.texts == NULL)
        return fail_all(
            cell,
            "the rows of query have comments, their tokens, and those of key have none; expected both or neither");
    input->key_tokens = input->tokens;
    input->tokens = cell->query_tokens;
    return true;
}

/* The last tensor, if it has that name, or one of both has none: then a table and what is said of it meet. */
static struct file_tensor *find_last(const struct cell *cell, const char *name)
{
    const struct input_file *input = cell->input;
    struct file_tensor *last = input->tensor_count > 0 ? &input->tensors[input->tensor_count - 1] : NULL;
    return last != NULL && (*name == '\0' || input->nameless || strcmp(name, last->name) == 0) ? last : NULL;
}

static bool has_numbers(const struct file_tensor *named)
{
    return named->tensor.shape[0] > 0;
}

/* Notes what is known of a tensor that is not all shown. */
static bool add_part(struct cell *cell, struct file_tensor *named, const struct file_part *known)
{
    struct file_part *part = arena_allocate(cell->reader.arena, 1, sizeof *part, cell->reader.error);
    if (part != NULL)
        *part = *known;
    named->part = part;
    return part != NULL;
}

static bool add_tensor(struct cell *cell, const struct printed_table *table, const char *said)
{
    struct input_file *input = cell->input;
    const char *name = input_file_stage_name(said, cell->reader.arena, cell->reader.error);
    if (name == NULL)
        return false;
    struct file_tensor *last = find_last(cell, name);
    struct file_part part = table->part;
    bool is_part = part.rank > 0 || table->shape[0] == 0;
    for (size_t axis = 0; axis < table->rank; axis++)
        is_part = is_part || part.lead[axis] > 0;
    if (last != NULL && !has_numbers(last)) { /* said before the table */
        part = *last->part;
        memcpy(part.lead, table->part.lead, sizeof part.lead);
        is_part = true;
        input->tensor_count--;
        if (strcmp(last->name, NAMELESS) != 0) {
            name = last->name;
            input->nameless = false;
        }
    }
    if (table->rank == 1 && table->shape[0] > 0 && part.rank > 1) { /* a row of it, or the tensor flattened */
        const bool is_row = part.lead[0] == 0 && table->shape[0] == part.whole[part.rank - 1];
        for (size_t axis = 1; axis < part.rank; axis++)
            part.whole[0] *= part.whole[axis];
        part.rank = is_row ? 0 : 1;
    }
    if (input->tensor_count == cell->room)
        return fail_all(cell, "more totals than lines; expected each in its line");
    struct file_tensor *added = &input->tensors[input->tensor_count++];
    *added = (struct file_tensor){
        .name = name,
        .stated = table->stated,
        .tensor = {.rank = table->rank, .dtype = DTYPE_F64, .data = cell->reader.numbers + table->first},
        .last_digit = last_digits(&cell->reader, table),
        .rows = table->row_numbers,
        .row_count = table->row_count,
    };
    memcpy(added->tensor.shape, table->shape, sizeof added->tensor.shape);
    if (is_part && !add_part(cell, added, &part))
        return false;
    if (table->boolean && tensor_to_boolean(&added->tensor, cell->reader.arena, cell->reader.error) != STATUS_OK)
        return false;
    struct token_labels *tokens = tokens_of(cell, name);
    return tokens == NULL || take_tokens(cell, table, tokens);
}

/* --- statements -------------------------------------------------------------------------------------------------- */

static bool fail_unknown(struct cell *cell, const char *at, const char *name)
{
    char hint[256];
    const char *value = printed_find_equals(at) + 1;
    value += strspn(value, " \t\r\n");
    if (!begins_cell(value))
        return printed_fail(&cell->reader, at,
                            "'%.*s = ...' is not a table of numbers, and attn runs no code: leave the line out",
                            NAME_SHOWN, name);
    input_file_hint(name, hint, sizeof hint);
    return printed_fail(
        &cell->reader, at, "unknown name '%.*s'%s", NAME_SHOWN, name,
        hint[0] != '\0' ? hint
                        : "; expected inputs, W_query, W_key, W_value; query, key, value; or another that attn knows");
}

/* Checks that nothing follows a table in its line. */
static bool end_statement(struct cell *cell, struct printed_table *table)
{
    struct printed_reader *reader = &cell->reader;
    printed_skip_in_line(reader, table);
    const bool parted = *reader->at == ';';
    reader->at += parted;
    printed_skip_in_line(reader, table);
    if (*reader->at == '\n' || reader->at == reader->in.end || (parted && printed_find_equals(reader->at) != NULL))
        return true;
    return printed_fail(reader, reader->at,
                        "expected the end of the line after the table, got %s; attn runs no code: paste what it prints",
                        text_error_describe(&reader->in, reader->at).name);
}

/* Reads a literal; or at the end of the line the rows below it, as MATLAB prints them. */
static bool take_value(struct cell *cell, struct printed_table *table)
{
    struct printed_reader *reader = &cell->reader;
    const char *at = reader->at + strspn(reader->at, " \t\r\n");
    if (memchr(reader->at, '\n', (size_t)(at - reader->at)) != NULL && !begins_cell(at))
        return printed_rows(reader, table);
    reader->at = at;
    return printed_literal(reader, table) && end_statement(cell, table);
}

/* Keeps the table that begins at `at`, under that name; if the command does not read it, only the name, as for JSON. */
static bool keep(struct cell *cell, const struct printed_table *table, const char *name, unsigned kind, const char *at)
{
    struct input_file *input = cell->input;
    cell->names[cell->name_count++] = (struct named_place){name, at};
    input->nameless = false;
    if ((kind & cell->kinds) != 0)
        return add_tensor(cell, table, name);
    input->passed[input->passed_count++] = name;
    return true;
}

/* The text after "NAME =", or of prints to compare also after "NAME" or "NAME:" before a literal; else NULL. */
static const char *find_value(const struct printed_reader *reader)
{
    const char *equals = printed_find_equals(reader->at), *behind = reader->at + printed_name_length(reader->at);
    const char *value = behind + strspn(behind, " \t:");
    if (equals != NULL || !reader->takes_parts || value == behind || behind == reader->at)
        return equals != NULL ? equals + 1 : NULL;
    return *value == '[' || strncmp(value, "tensor(", 7) == 0 || strncmp(value, "array(", 6) == 0 ? value : NULL;
}

/* "NAME = ..." */
static bool take_named(struct cell *cell)
{
    struct printed_reader *reader = &cell->reader;
    struct printed_table table;
    const char *at = reader->at;
    const char *name = arena_text(reader->arena, at, printed_name_length(at), reader->error);
    if (name == NULL)
        return false;
    const unsigned kind = input_file_kind_among(name, cell->kinds);
    if (kind == INPUT_FILE_UNKNOWN)
        return fail_unknown(cell, at, name);
    if ((kind & (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_IGNORED)) != 0)
        return printed_fail(reader, at, "'%.*s' is not a table of numbers; expected %s", NAME_SHOWN, name,
                            kind & INPUT_FILE_TOKENS ? "a comment after each row, or JSON" : "it in JSON");
    reader->at = find_value(reader);
    return take_value(cell, &table) && keep(cell, &table, name, kind, at);
}

static int by_name(const void *a, const void *b)
{
    const struct named_place *first = a, *second = b;
    const int order = strcmp(first->name, second->name);
    return order != 0 ? order : first->at < second->at ? -1 : 1;
}

static bool check_repeated(struct cell *cell)
{
    const struct named_place *names = cell->names;
    if (cell->name_count > 0)
        qsort(cell->names, cell->name_count, sizeof cell->names[0], by_name);
    for (size_t i = 1; i < cell->name_count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return printed_fail(&cell->reader, names[i].at, "'%.*s' is given twice; expected it once", NAME_SHOWN,
                                names[i].name);
    return true;
}

/* The text after "NAME [3]:", with or without the blank; or NULL. */
static const char *behind_numbered(const char *at, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(at, name, length) != 0)
        return NULL;
    at += length + strspn(at + length, " ");
    if (*at != '[')
        return NULL;
    at += 1 + strspn(at + 1, "0123456789 ");
    return at[0] == ']' && at[1] == ':' ? at + 2 : NULL;
}

/* The text after a prompt: after ">>> " or "In [3]: " before a statement NAME = ... or import; after the line where it
 * only asks for the output below, such as ">>> print(inputs)"; after "Out[3]:". NULL where there is no prompt. */
static const char *behind_prompt(const char *at)
{
    const char *printed = behind_numbered(at, "Out");
    if (printed != NULL)
        return printed;
    const char *asked = strncmp(at, ">>>", 3) == 0 ? at + 3 : behind_numbered(at, "In");
    if (asked == NULL)
        return NULL;
    asked += strspn(asked, " \t");
    return printed_find_equals(asked) != NULL || printed_is_import(asked) ? asked : asked + strcspn(asked, "\n");
}

static void skip_prompts(struct printed_reader *reader, struct printed_table *table)
{
    for (const char *behind = reader->at; behind != NULL; behind = behind_prompt(reader->at)) {
        reader->at = behind;
        printed_skip(reader, table);
    }
}

static bool fail_more(struct printed_reader *reader)
{
    return printed_fail(reader, reader->at, "expected one table, got more; name them: NAME = [[...]]");
}

/* Reads one table, which nothing but facts may follow. */
static bool take_nameless(struct cell *cell)
{
    struct printed_reader *reader = &cell->reader;
    struct printed_table table;
    const bool rows = !begins_cell(reader->at);
    if (cell->input->tensor_count > 0 && has_numbers(&cell->input->tensors[cell->input->tensor_count - 1]))
        return fail_more(reader);
    if (!(rows ? printed_rows(reader, &table) : take_value(cell, &table)))
        return false;
    skip_prompts(reader, &table);
    if (reader->at != reader->in.end && !(reader->takes_parts && printed_is_fact(reader->at)))
        return fail_more(reader);
    if (rows && table.labels == 0 && table.shape[0] == 1 && table.shape[1] == 1)
        return printed_fail(reader, reader->in.text, "a single number; expected a table of rows");
    const char *expected =
        cell->kinds & INPUT_FILE_OPERAND ? "query = [[...]] and the like" : "W_query = [[...]] and the like";
    return input_file_nameless(cell->input, cell->kinds, expected, reader->error) == STATUS_OK &&
           add_tensor(cell, &table, NAMELESS);
}

/* Reads what a line says of the last table or the next one, context.sum() = 12.3; *found: it says such a thing. */
static bool take_fact(struct cell *cell, bool *found)
{
    struct printed_reader *reader = &cell->reader;
    struct printed_table none = {.rank = 1, .first = reader->count};
    struct printed_piece said;
    *found = reader->takes_parts && printed_fact(reader, &said, &none.part);
    if (!*found)
        return true;
    const char *name = arena_text(reader->arena, said.text, said.length, reader->error);
    struct file_tensor *last = name != NULL ? find_last(cell, name) : NULL;
    if (name == NULL)
        return false;
    if (last == NULL)
        return (*name != '\0' ||
                input_file_nameless(cell->input, cell->kinds, "NAME.sum = ...", reader->error) == STATUS_OK) &&
               add_tensor(cell, &none, *name != '\0' ? name : NAMELESS);
    reader->at = said.text; /* again, to add it to what is known */
    none.part = last->part != NULL ? *last->part : (struct file_part){.rank = 0};
    return printed_fact(reader, &said, &none.part) && add_part(cell, last, &none.part);
}

static bool take_statement(struct cell *cell)
{
    struct printed_reader *reader = &cell->reader;
    bool found;
    if (!take_fact(cell, &found) || found)
        return found;
    if (printed_is_import(reader->at)) {
        reader->at += strcspn(reader->at, "\n");
        return true;
    }
    if (find_value(reader) != NULL)
        return take_named(cell);
    if (cell->name_count > 0)
        return printed_fail_expected(reader, reader->at, "NAME = [[...]]");
    if (!begins_cell(reader->at)) /* rows begin with their line: a leading tab follows an empty cell */
        while (reader->at > reader->in.text && reader->at[-1] != '\n' && reader->at[-1] != BYTE_ORDER_MARK[2])
            reader->at--;
    return take_nameless(cell);
}

static bool take_of_csv(struct cell *cell, const struct printed_csv *csv)
{
    struct printed_reader *reader = &cell->reader;
    struct printed_table table;
    struct printed_piece said;
    const char *at = reader->at;
    if (!printed_csv_table(reader, csv, &said, &table))
        return false;
    const char *name = arena_text(reader->arena, said.text, said.length, reader->error);
    if (name == NULL)
        return false;
    const unsigned kind = input_file_kind_among(name, cell->kinds);
    if (said.length == 0 || kind == INPUT_FILE_UNKNOWN ||
        (kind & (INPUT_FILE_TOKENS | INPUT_FILE_SETTINGS | INPUT_FILE_IGNORED)) != 0)
        return printed_fail_expected(reader, at, "the name of a stage, of inputs or of a parameter");
    return keep(cell, &table, name, kind, at);
}

/* Reads the tensors of attention in a dump of ggml; of several with one name, as before and after a bias, the last. */
static bool take_dump(struct cell *cell)
{
    struct input_file *input = cell->input;
    struct printed_dump dump = {.scaled = 0};
    struct printed_table table;
    bool found = true, read = true;
    while (read && (read = printed_dump(&cell->reader, &dump, &table, &found)) && found) {
        const char *name = arena_copy(cell->reader.arena, dump.name, cell->reader.error);
        for (size_t i = input->tensor_count; name != NULL && i-- > 0 && i + SAME_LAYER >= input->tensor_count;)
            if (strcmp(input->tensors[i].name, name) == 0)
                input->tensors[i] = input->tensors[--input->tensor_count];
        read = name != NULL && add_tensor(cell, &table, name);
    }
    return read;
}

static bool take_csv(struct cell *cell)
{
    struct printed_csv csv;
    bool read = printed_csv_head(&cell->reader, &csv);
    while (read && cell->reader.at != cell->reader.in.end)
        read = take_of_csv(cell, &csv);
    return read;
}

static bool take_statements(struct cell *cell)
{
    struct printed_reader *reader = &cell->reader;
    struct printed_table none = {0};
    do {
        skip_prompts(reader, &none);
        if (reader->at != reader->in.end && !take_statement(cell))
            return false;
    } while (reader->at != reader->in.end);
    return true;
}

static bool take_all(struct cell *cell)
{
    struct printed_reader *reader = &cell->reader;
    if (!(printed_csv_begins(reader->at)                       ? take_csv(cell)
          : reader->takes_parts && printed_is_dump(reader->at) ? take_dump(cell)
                                                               : take_statements(cell)))
        return false;
    if (cell->input->tensor_count + cell->input->passed_count == 0)
        return printed_fail_expected(reader, reader->at, "a table of numbers");
    return check_repeated(cell);
}

static size_t count(const struct printed_reader *reader, char mark)
{
    size_t marks = 0;
    for (const char *at = reader->in.text; (at = memchr(at, mark, (size_t)(reader->in.end - at))) != NULL; at++)
        marks++;
    return marks;
}

/* Allocates enough for a text of that length; in CSV an empty field is a number too, and each line may have a name. */
static bool allocate_room(struct cell *cell, size_t length)
{
    struct printed_reader *reader = &cell->reader;
    struct input_file *input = cell->input;
    const bool csv = printed_csv_begins(reader->at);
    const size_t numbers = (csv ? length : length / 2) + 1;
    const size_t lines = count(reader, '\n') + 1, facts = csv || reader->takes_parts ? lines : 0;
    const size_t names = facts + (csv ? 0 : count(reader, '=') + 1);
    cell->room = names;
    reader->numbers = arena_allocate(reader->arena, numbers, sizeof reader->numbers[0], reader->error);
    reader->digits = arena_allocate(reader->arena, numbers, sizeof reader->digits[0], reader->error);
    input->tensors = arena_allocate(reader->arena, names, sizeof input->tensors[0], reader->error);
    input->passed = arena_allocate(reader->arena, names, sizeof input->passed[0], reader->error);
    cell->names = arena_allocate(reader->scratch, names, sizeof cell->names[0], reader->error);
    reader->labels = arena_allocate(reader->scratch, lines, sizeof reader->labels[0], reader->error);
    return reader->numbers != NULL && reader->digits != NULL && input->tensors != NULL && input->passed != NULL &&
           cell->names != NULL && reader->labels != NULL;
}

/* Whether it begins like attn's text output: "self-attention: 6 tokens", "self-attention parameters: d_in 3". */
static bool is_shown(const char *text)
{
    static const char PARAMETERS[] = " parameters";
    for (int i = 0; i < MECHANISM_COUNT; i++) {
        const size_t length = strlen(MECHANISMS[i].title);
        if (strncmp(text, MECHANISMS[i].title, length) != 0)
            continue;
        const char *behind = text + length;
        behind += strncmp(behind, PARAMETERS, strlen(PARAMETERS)) == 0 ? strlen(PARAMETERS) : 0;
        return *behind == ':';
    }
    return false;
}

static bool read_text(struct cell *cell, const char *source, const char *text, size_t length)
{
    const size_t mark = skip_mark(text, length);
    *cell->input = (struct input_file){.source = source, .is_text = true};
    if (is_shown(text + mark)) {
        cell->reader.failed = text + mark;
        return fail_all(cell, "what attn shows to people, rounded and in several tables; expected a result for "
                              "machines, which --out result.json writes");
    }
    cell->reader.in = (struct text_source){source, text, text + length};
    cell->reader.at = text + mark;
    if (!allocate_room(cell, length) || !take_all(cell) || !part_tokens(cell))
        return false;
    input_file_sort(cell->input);
    return true;
}

enum status printed_read(const char *source, const char *text, size_t length, unsigned kinds, struct arena *arena,
                         struct input_file *input, struct error *error)
{
    struct arena scratch = {0};
    struct cell cell = {
        .reader = {.takes_parts = (kinds & INPUT_FILE_PARTS) != 0, .arena = arena, .scratch = &scratch, .error = error},
        .input = input,
        .kinds = kinds};
    const bool read = read_text(&cell, source, text, length);
    arena_free(&scratch);
    return read ? STATUS_OK : error->status;
}

bool printed_cannot_be_input(const unsigned char *bytes, size_t length)
{
    struct arena arena = {0};
    struct error error = {0};
    struct input_file input;
    struct cell cell = {
        .reader = {.arena = &arena, .scratch = &arena, .error = &error}, .input = &input, .kinds = INPUT_FILE_OF_DIFF};
    const size_t tried = memory_smaller(length, TRIED_BYTES);
    char *text = arena_text(&arena, (const char *)bytes, tried, &error);
    const bool wrong = text != NULL && !read_text(&cell, "", text, tried) && cell.reader.failed != NULL &&
                       (size_t)(cell.reader.failed - text) + TRIED_TAIL < tried;
    arena_free(&arena);
    return wrong;
}
