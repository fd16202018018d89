/* SPDX-License-Identifier: MIT */
/* Inputs that are words: tokens and inputs from a text by a vocabulary, positions, and the way to the next word. */
#include "build/build.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

enum { NEAR_WORDS = 3, LISTED_WORDS = 8 };

/* The tensor of that name: of the file of --weights, else of the input; *file: that file. */
static const struct file_tensor *find(const struct build *build, const char *name, const struct input_file **file)
{
    const struct input_file *files[] = {build->weights, build->inputs};
    for (size_t i = 0; i < 2; i++) {
        const struct file_tensor *found = files[i] != NULL ? input_file_find(files[i], name) : NULL;
        if (found == NULL)
            continue;
        *file = files[i];
        return found;
    }
    return NULL;
}

static const struct token_labels *find_words(const struct build *build, const char **source)
{
    const struct input_file *file =
        build->weights != NULL && build->weights->words.texts != NULL ? build->weights : build->inputs;
    *source = file != NULL ? file->source : "";
    return file != NULL && file->words.texts != NULL ? &file->words : NULL;
}

/* --- words -> inputs ---------------------------------------------------------------------------------------------- */

struct word {
    const char *text;
    size_t row; /* of the embedding */
};

/* A text, or tokens, being looked up. */
struct lookup {
    const struct build *build;
    char place[BUILD_PLACE_BYTES];    /* begins messages */
    const char *source;               /* the file of the vocabulary */
    const struct token_labels *words; /* its words */
    struct word *sorted;              /* (words) */
};

static enum status sort_words(struct lookup *lookup)
{
    const struct build *build = lookup->build;
    const size_t count = lookup->words->count;
    lookup->sorted = arena_allocate(build->arena, count, sizeof lookup->sorted[0], build->error);
    if (lookup->sorted == NULL)
        return build->error->status;
    for (size_t i = 0; i < count; i++)
        lookup->sorted[i] = (struct word){lookup->words->texts[i], i};
    text_sort(lookup->sorted, count, sizeof lookup->sorted[0]);
    for (size_t i = 1; i < count; i++)
        if (strcmp(lookup->sorted[i - 1].text, lookup->sorted[i].text) == 0)
            return error_usage(build->error, "%s: vocabulary: words: '%.80s' is given twice; leave one out",
                               lookup->source, lookup->sorted[i].text);
    return STATUS_OK;
}

/* Says which words are near, whatever their case, or how the vocabulary begins. */
static enum status unknown_word(const struct lookup *lookup, const char *word)
{
    const struct build *build = lookup->build;
    const size_t count = lookup->words->count;
    const char **left = arena_allocate(build->arena, count, sizeof left[0], build->error);
    char near[256];
    struct text text = text_begin(near, sizeof near);
    if (left == NULL)
        return build->error->status;
    memcpy(left, lookup->words->texts, count * sizeof left[0]);
    for (size_t found = 0; found < NEAR_WORDS; found++) {
        const char *nearest = suggest_word(word, left, count);
        for (size_t i = 0; i < count && nearest != NULL; i++)
            left[i] = left[i] == nearest ? NULL : left[i];
        if (nearest != NULL)
            text_add(&text, "%s'%.40s'", found > 0 ? " or " : "did you mean ", nearest);
    }
    const bool lists = text.length == 0;
    for (size_t i = 0; i < count && i < LISTED_WORDS && lists; i++)
        text_add(&text, "%s%.20s", i > 0 ? ", " : "it has ", left[i]);
    text_add(&text, lists ? count > LISTED_WORDS ? ", ..." : "" : "?");
    return error_usage(build->error, "%s: the vocabulary of %s has no word '%.80s'; %s", lookup->place, lookup->source,
                       word, near);
}

static enum status split(const struct lookup *lookup, const char *text, struct token_labels *tokens)
{
    static const char BLANKS[] = " \t\r\n";
    const struct build *build = lookup->build;
    *tokens = (struct token_labels){.lists = 1};
    tokens->texts = arena_allocate(build->arena, strlen(text) / 2 + 1, sizeof tokens->texts[0], build->error);
    if (tokens->texts == NULL)
        return build->error->status;
    for (size_t length; text += strspn(text, BLANKS), *text != '\0'; text += length) {
        length = strcspn(text, BLANKS);
        tokens->texts[tokens->count++] = arena_text(build->arena, text, length, build->error);
        if (tokens->texts[tokens->count - 1] == NULL)
            return build->error->status;
    }
    return tokens->count > 0 ? STATUS_OK : error_usage(build->error, "%s: no words; type some", lookup->place);
}

/* The rows of the embedding that the tokens name, (T, d_in) or (B, T, d_in). */
static enum status look_up(const struct lookup *lookup, const struct token_labels *tokens,
                           const struct tensor *embedding, struct tensor *inputs)
{
    const struct build *build = lookup->build;
    const size_t shape[] = {tokens->lists, tokens->count, embedding->shape[1]}, nested = tokens->nested;
    const size_t bytes = shape[2] * dtype_size(embedding->dtype);
    if (tensor_create(inputs, embedding->dtype, 2 + nested, shape + 1 - nested, build->arena, build->error) !=
        STATUS_OK)
        return build->error->status;
    for (size_t i = 0; i < tokens->lists * tokens->count; i++) {
        const struct word *word =
            text_find(tokens->texts[i], lookup->sorted, lookup->words->count, sizeof lookup->sorted[0]);
        if (word == NULL)
            return unknown_word(lookup, tokens->texts[i]);
        memcpy((char *)inputs->data + i * bytes, (const char *)embedding->data + word->row * bytes, bytes);
    }
    return STATUS_OK;
}

static enum status put_inputs(const struct build *build, const struct file_tensor *made, struct input_file *rest)
{
    const struct file_tensor *before = rest->tensors;
    size_t count = 0;
    rest->tensors = arena_allocate(build->arena, rest->tensor_count + 1, sizeof rest->tensors[0], build->error);
    if (rest->tensors == NULL)
        return build->error->status;
    for (size_t i = 0; i < rest->tensor_count; i++)
        if (strcmp(before[i].name, made->name) != 0)
            rest->tensors[count++] = before[i];
    rest->tensors[count++] = *made;
    rest->tensor_count = count;
    text_sort(rest->tensors, count, sizeof rest->tensors[0]);
    return STATUS_OK;
}

static enum status no_vocabulary(const struct lookup *lookup, bool embeds)
{
    if (lookup->words != NULL || embeds)
        return error_usage(lookup->build->error, "%s needs a vocabulary, and that of %s has no %s", lookup->place,
                           lookup->source, embeds ? "words" : "embedding");
    return error_usage(lookup->build->error,
                       "%s needs a vocabulary, and %s has none; add \"vocabulary\": {\"words\": [\"the\", ...], "
                       "\"embedding\": [[...], ...]}, a row for each word",
                       lookup->place, lookup->source);
}

enum status build_text(const struct build *build, struct input_file *rest)
{
    const struct input_file *inputs = build->inputs;
    const bool said = build->options->sentence != NULL;
    *rest = *inputs;
    if (!said && input_file_find(inputs, "inputs") != NULL)
        return STATUS_OK;
    const char *text = said ? build->options->sentence : inputs->text;
    const struct input_file *file;
    struct lookup lookup = {.build = build};
    snprintf(lookup.place, sizeof lookup.place, "%s%s", said ? "--text" : inputs->source,
             said           ? ""
             : text != NULL ? ": text"
                            : ": tokens");
    lookup.words = find_words(build, &lookup.source);
    const struct file_tensor *embedding = find(build, "embedding", &file);
    if (text == NULL && (inputs->tokens.texts == NULL || lookup.words == NULL))
        return STATUS_OK;
    if (lookup.words == NULL || embedding == NULL)
        return no_vocabulary(&lookup, embedding != NULL);
    if (embedding->tensor.rank != 2 || embedding->tensor.shape[0] != lookup.words->count)
        return error_usage(build->error, "%s: embedding is %s, expected a row for each of %zu words", file->source,
                           SHAPE_TEXT(&embedding->tensor), lookup.words->count);
    struct file_tensor made = *embedding;
    made.name = "inputs";
    rest->is_text = file->is_text;
    if (sort_words(&lookup) || (text != NULL && split(&lookup, text, &rest->tokens) != STATUS_OK) ||
        look_up(&lookup, &rest->tokens, &embedding->tensor, &made.tensor))
        return build->error->status;
    return put_inputs(build, &made, rest);
}

/* --- positions ---------------------------------------------------------------------------------------------------- */

/* Vaswani et al. 2017, section 3.5: at position t, from 0, column 2i is sin(t / 10000^(2i / d)), and column 2i + 1 its
 * cosine. */
static void make_sines(const struct tensor *positions)
{
    const size_t d = positions->shape[1];
    for (size_t t = 0; t < positions->shape[0]; t++)
        for (size_t column = 0; column < d; column++) {
            const size_t even = column - column % 2;
            const double angle = (double)t / pow(10000, (double)even / (double)d);
            const double number = column % 2 == 0 ? sin(angle) : cos(angle);
            tensor_store(positions, t * d + column, 1, &number);
        }
}

/* Draws as torch.nn.Embedding(T, d_in) does. A table that is given counts as drawn. */
static enum status draw_positions(const struct build *build, struct parameters_words *words)
{
    struct problem *problem = build->problem;
    struct arena scratch = {0};
    struct tensor drawn;
    const bool given = words->positions.rank > 0;
    const size_t shape[] = {given ? words->positions.shape[0] : problem->size.queries, problem->size.d_in};
    if (tensor_create(&drawn, DTYPE_F32, 2, shape, given ? &scratch : build->arena, build->error) == STATUS_OK)
        torch_random_normal(&problem->drop.generator, drawn.data, tensor_count(&drawn));
    arena_free(&scratch);
    if (given || build->error->status != STATUS_OK)
        return build->error->status;
    return tensor_convert(&drawn, problem->rounding.dtype, "drawn", "position_embedding", NULL, &words->positions,
                          build->arena, build->error);
}

static enum status check_positions(const struct build *build, const struct parameters_words *words, const char *source)
{
    const size_t tokens = build->problem->size.queries, rows = words->positions.shape[0];
    if (tokens <= rows)
        return STATUS_OK;
    return error_usage(
        build->error,
        "%s has %zu words, but position_embedding of %s has rows for %zu; type fewer words, or --add-positions off",
        build->options->sentence != NULL ? "--text" : build->inputs->source, tokens, source, rows);
}

static enum status add_positions(const struct build *build)
{
    struct problem *problem = build->problem;
    struct problem_given *given = &problem->given;
    const size_t d = problem->size.d_in, tokens = problem->size.queries;
    double *x = arena_allocate(build->arena, d, sizeof *x, build->error);
    double *added = arena_allocate(build->arena, d, sizeof *added, build->error);
    if (x == NULL || added == NULL ||
        tensor_create(&given->inputs, given->bare.dtype, given->bare.rank, given->bare.shape, build->arena,
                      build->error) != STATUS_OK)
        return build->error->status;
    for (size_t row = 0; row < problem->size.items * tokens; row++) {
        tensor_load(&given->bare, row * d, d, x);
        tensor_load(&given->positions, row % tokens * d, d, added);
        for (size_t column = 0; column < d; column++)
            x[column] += added[column];
        dtype_round(problem->rounding.dtype, x, d);
        tensor_store(&given->inputs, row * d, d, x);
    }
    given->key_inputs = given->inputs;
    return STATUS_OK;
}

static enum status make_positions(const struct build *build, struct parameters_words *words, const char *source)
{
    struct problem *problem = build->problem;
    struct tensor *positions = &problem->given.positions;
    const enum add_positions how = options_said(build->options, OPTION_ADD_POSITIONS) ? build->options->add_positions
                                   : words->positions.rank > 0                        ? POSITIONS_LEARNED
                                                                                      : POSITIONS_OFF;
    const size_t shape[] = {problem->size.queries, problem->size.d_in};
    if (how == POSITIONS_OFF)
        return STATUS_OK;
    if (problem->given.is_cross)
        return error_usage(build->error, "positions are added to the inputs of self-attention, and here the keys have "
                                         "inputs of their own; type --add-positions off");
    if (how == POSITIONS_LEARNED) {
        if ((words->positions.rank > 0 && check_positions(build, words, source) != STATUS_OK) ||
            draw_positions(build, words) != STATUS_OK)
            return build->error->status;
        *positions = words->positions;
        problem->given.learns_positions = true;
        positions->shape[0] = shape[0];
    } else {
        if (tensor_create(positions, dtype_storage(problem->rounding.dtype), 2, shape, build->arena, build->error) !=
            STATUS_OK)
            return build->error->status;
        make_sines(positions);
    }
    return add_positions(build);
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* Takes a tensor of that rank whose axis `axis` has d_in numbers, unless it has the rank of a list. */
static enum status take(const struct build *build, const char *name, size_t rank, size_t axis, struct tensor *tensor,
                        const struct input_file **file)
{
    const struct file_tensor *found = find(build, name, file);
    const size_t d_in = build->problem->size.d_in;
    if (found == NULL)
        return STATUS_OK;
    if (found->tensor.rank != rank || (rank == 2 && found->tensor.shape[axis] != d_in))
        return error_usage(build->error,
                           rank == 2 ? "%s: %s is %s, expected a matrix of %zu %s, as inputs has columns"
                                     : "%s: %s is %s, expected a list",
                           (*file)->source, name, SHAPE_TEXT(&found->tensor), d_in, axis == 0 ? "rows" : "columns");
    return tensor_convert(&found->tensor, build->problem->rounding.dtype, (*file)->source, name, NULL, tensor,
                          build->arena, build->error);
}

enum status build_words(const struct build *build, struct parameters_words *words)
{
    const struct input_file *file = build->inputs, *of_positions = build->inputs;
    build->problem->given.bare = build->problem->given.inputs;
    if (take(build, "embedding", 2, 1, &words->embedding, &file) ||
        take(build, "position_embedding", 2, 1, &words->positions, &of_positions) ||
        take(build, "unembedding", 2, 0, &words->unembedding.weight, &file) ||
        take(build, "unembedding_bias", 1, 0, &words->unembedding.bias, &file))
        return build->error->status;
    return make_positions(build, words, of_positions->source);
}

enum status build_unembedding(const struct build *build)
{
    struct problem *problem = build->problem;
    const struct projection *unembedding = &problem->parameters.words.unembedding;
    const size_t columns = problem_columns_of_head(problem, STAGE_OUTPUT), d_in = problem->size.d_in;
    const char *source;
    const struct input_file *file = build->inputs;
    const struct token_labels *words = find_words(build, &source);
    if (words != NULL)
        problem->labels.words = *words;
    if (unembedding->weight.rank == 0 && unembedding->bias.rank == 0)
        return STATUS_OK;
    find(build, "unembedding_bias", &file);
    if (unembedding->weight.rank == 0)
        return error_usage(build->error, "%s: unembedding_bias is given, but unembedding is missing", file->source);
    problem->size.words = unembedding->weight.shape[1];
    if (unembedding->bias.rank > 0 && unembedding->bias.shape[0] != problem->size.words)
        return error_usage(build->error,
                           "%s: unembedding_bias has %zu numbers, expected %zu, as unembedding has columns",
                           file->source, unembedding->bias.shape[0], problem->size.words);
    find(build, "unembedding", &file);
    if (words != NULL && words->count != problem->size.words)
        return error_usage(build->error, "%s: unembedding has %zu columns, expected one for each of %zu words",
                           file->source, problem->size.words, words->count);
    for (size_t i = 0; i < build->options->mistake_count && columns != d_in; i++)
        if (MISTAKES[build->options->mistakes[i].id].slot == MISTAKE_SLOT_DRAW)
            return error_usage(build->error,
                               "--mistake: %s cannot be made here: the unembedding needs an output of %zu columns",
                               MISTAKES[build->options->mistakes[i].id].name, d_in);
    if (columns == d_in)
        return STATUS_OK;
    return error_usage(build->error,
                       "%s: unembedding needs a residual, inputs + output, and the output has %zu columns; expected "
                       "%zu, as the inputs",
                       file->source, columns, d_in);
}
