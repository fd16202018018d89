/* SPDX-License-Identifier: MIT */
#include "layer/module.h"

#include "base/text.h"
#include "layer/naming.h"
#include "layer/naming_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A search in a checkpoint, with a buffer for names. */
struct search {
    const struct checkpoint *checkpoint;
    char *name;
    size_t room;
    struct arena *arena;
    struct error *error;
};

/* The longest word of naming_rows.h with its leaf is shorter. */
enum { LONGEST_WORD = 64 };

/* `longest`: the bytes before a word, at most. */
static enum status begin_search(struct search *search, const struct checkpoint *checkpoint, size_t longest,
                                struct arena *arena, struct error *error)
{
    *search = (struct search){.checkpoint = checkpoint,
                              .room = longest + LONGEST_WORD,
                              .name = arena_allocate(arena, longest + LONGEST_WORD, 1, error),
                              .arena = arena,
                              .error = error};
    return search->name == NULL ? error->status : STATUS_OK;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Writes to search->name the first BEFORE word LEAF of the words that the checkpoint has. `before` is a path with its
 * dot. */
static bool find_word(const struct search *search, const char *before, size_t length, const char *words,
                      const char *leaf)
{
    for (size_t word; words != NULL && *words != '\0'; words += word + (words[word] == ' ')) {
        word = strcspn(words, " ");
        snprintf(search->name, search->room, "%.*s%.*s%s", (int)length, before, (int)word, words, leaf);
        if (checkpoint_has(search->checkpoint, search->name))
            return true;
    }
    return false;
}

/* Finds `word`, `joint` and "weight" at the end of a name, after a dot or as the full name; or NULL. */
static const char *find_end(const char *name, const char *word, const char *joint)
{
    char end[LONGEST_WORD];
    const size_t last = (size_t)snprintf(end, sizeof end, "%s%sweight", word, joint), length = strlen(name);
    const char *at = length >= last ? name + length - last : NULL;
    return at != NULL && strcmp(at, end) == 0 && (at == name || at[-1] == '.') ? at : NULL;
}

static bool find_role(const struct search *search, const char *path, size_t length, const struct naming_row *naming,
                      enum naming_role role, const char *leaf)
{
    char end[16];
    snprintf(end, sizeof end, "%s%s", naming_joint(naming, role), leaf);
    return find_word(search, path, length, naming_words(naming, role), end);
}

static bool has_all_roles(const struct search *search, const char *path, size_t length, const struct naming_row *naming)
{
    for (enum naming_role role = 0; role < ROLE_COUNT; role++)
        if (naming_words(naming, role) != NULL && !find_role(search, path, length, naming, role, "weight"))
            return false;
    return true;
}

/* --- the position of a module ------------------------------------------------------------------------------------ */

/* Whether a path contains a word, between dots and underscores. */
static bool has_word(const char *path, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(path, word); at != NULL; at = strstr(at + 1, word))
        if ((at == path || strchr("._", at[-1]) != NULL) && strchr("._", at[length]) != NULL)
            return true;
    return false;
}

/* The first counts: a decoder may contain an encoder, as in a model of two parts whose decoder is a BERT. */
static const struct {
    const char *word;
    enum module_part part;
} PARTS[] = {{"vision", PART_VISION}, {"visual", PART_VISION},   {"image", PART_VISION},
             {"audio", PART_AUDIO},   {"speech", PART_AUDIO},    {"text", PART_TEXT},
             {"language", PART_TEXT}, {"decoder", PART_DECODER}, {"encoder", PART_ENCODER}};

/* Words in the path of a module of cross-attention, after its layer. */
static const char *const CROSS[] = {"cross", "encoder_attn", "EncDecAttention", "encoder_decoder", "multihead_attn"};

/* A component of a path that is a number, and the one before it. */
struct numbered {
    const char *at, *word; /* the number; the word before it, or NULL */
    size_t word_length;
};

static bool is_word(const struct numbered *numbered, const char *word)
{
    return numbered->word != NULL && numbered->word_length == strlen(word) &&
           memcmp(numbered->word, word, numbered->word_length) == 0;
}

/* The last number of a path; for T5's block.3.layer.0 that of the block. */
static const char *find_number(const char *path)
{
    struct numbered found = {0}, block = {0}, one = {0};
    for (const char *at = path; *at != '\0'; at += one.word_length + (at[one.word_length] == '.')) {
        const size_t length = strcspn(at, ".");
        const bool number = length > 0 && length < 9 && strspn(at, "0123456789") == length;
        if (number) {
            found = (struct numbered){at, one.word, one.word_length};
            block = is_word(&found, "block") ? found : block;
        }
        one = (struct numbered){at, at, length};
    }
    return block.at != NULL && is_word(&found, "layer") ? block.at : found.at;
}

/* Sets the fields that follow from its path. */
static enum status place(const struct search *search, struct layer_module *module)
{
    const char *number = find_number(module->path);
    const size_t digits = number != NULL ? strcspn(number, ".") : 0;
    const size_t length = number != NULL ? (size_t)(number - module->path) + digits : 0;
    char *prefix = arena_allocate(search->arena, length + 2, 1, search->error);
    if (prefix == NULL)
        return search->error->status;
    snprintf(prefix, length + 2, "%.*s%s", (int)length, module->path, number != NULL ? "." : "");
    module->prefix = prefix;
    module->layer = number != NULL ? strtoul(number, NULL, 10) : MODULE_NO_LAYER;
    module->part = PART_ONLY;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0] && module->part == PART_ONLY; i++)
        if (has_word(number != NULL ? prefix : module->path, PARTS[i].word))
            module->part = PARTS[i].part;
    for (size_t i = 0; i < sizeof CROSS / sizeof CROSS[0]; i++)
        module->cross = module->cross || strstr(module->path + length, CROSS[i]) != NULL;
    return STATUS_OK;
}

/* Compares names, with numbers by value: layers.2 before layers.10. */
static int compare_paths(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            const size_t left = strspn(a, "0123456789"), right = strspn(b, "0123456789");
            if (left != right)
                return left < right ? -1 : 1;
        }
        if (*a != *b)
            break;
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int by_path(const void *a, const void *b)
{
    const struct layer_module *left = a, *right = b;
    const int order = compare_paths(left->path, right->path);
    if (order != 0)
        return order;
    return left->naming < right->naming ? -1 : left->naming > right->naming;
}

/* Adds a module if this name is its anchor by that row; not one of linear attention, which has query, key and value but
 * no softmax. */
static enum status add_module(const struct search *search, const char *name, const struct naming_row *naming,
                              struct layer_module *modules, size_t *count)
{
    const enum naming_role anchor = naming_anchor(naming);
    const char *end = find_end(name, naming_words(naming, anchor), naming_joint(naming, anchor));
    if (end == NULL || !has_all_roles(search, name, (size_t)(end - name), naming) ||
        find_word(search, name, (size_t)(end - name), "A_log output_gate.weight g_norm.weight", ""))
        return STATUS_OK;
    const size_t length = end > name ? (size_t)(end - name) - 1 : 0;
    struct layer_module *module = &modules[(*count)++];
    *module = (struct layer_module){.path = arena_text(search->arena, name, length, search->error), .naming = naming};
    return module->path == NULL ? search->error->status : place(search, module);
}

/* A tower without a name, next to one for vision or audio, is that of the text. */
static void name_text(struct layer_module *modules, size_t count)
{
    bool other = false;
    for (size_t i = 0; i < count; i++)
        other = other || modules[i].part == PART_VISION || modules[i].part == PART_AUDIO;
    for (size_t i = 0; i < count && other; i++)
        modules[i].part = modules[i].part == PART_ONLY ? PART_TEXT : modules[i].part;
}

/* Sorts the prefixes, so that is_alone can count modules of one layer. */
static enum status sort_prefixes(struct module_list *list, struct arena *arena, struct error *error)
{
    list->prefixes = arena_allocate(arena, list->count, sizeof list->prefixes[0], error);
    if (list->prefixes == NULL)
        return error->status;
    for (size_t i = 0; i < list->count; i++)
        list->prefixes[i] = list->modules[i].prefix;
    text_sort(list->prefixes, list->count, sizeof list->prefixes[0]);
    return STATUS_OK;
}

enum status modules_find(const struct checkpoint *checkpoint, struct arena *arena, struct module_list *list,
                         struct error *error)
{
    struct search search;
    struct layer_module *modules = arena_allocate(arena, checkpoint->count, sizeof *modules, error);
    size_t count = 0, kept = 0, longest = 0;
    for (size_t i = 0; i < checkpoint->count; i++)
        longest = memory_larger(longest, strlen(checkpoint->names[i].text));
    if (modules == NULL || begin_search(&search, checkpoint, longest, arena, error) != STATUS_OK)
        return error->status;
    for (size_t i = 0; i < checkpoint->count; i++) {
        const size_t before = count;
        for (size_t row = 0; row < NAMING_COUNT && count == before; row++)
            if (add_module(&search, checkpoint->names[i].text, &NAMINGS[row], modules, &count) != STATUS_OK)
                return error->status;
    }
    if (count > 0)
        qsort(modules, count, sizeof modules[0], by_path);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(modules[kept - 1].path, modules[i].path) != 0)
            modules[kept++] = modules[i];
    name_text(modules, kept);
    *list = (struct module_list){.checkpoint = checkpoint, .modules = modules, .count = kept};
    return sort_prefixes(list, arena, error);
}

/* --- one of them ------------------------------------------------------------------------------------------------- */

/* Whether a path begins with these components, or has them anywhere. */
static bool has_components(const char *path, const char *sought, bool anywhere)
{
    const size_t length = strlen(sought) - (sought[0] != '\0' && sought[strlen(sought) - 1] == '.');
    for (const char *at = path; at != NULL; at = anywhere ? strchr(at, '.') : NULL) {
        at += at != path;
        if (strncmp(at, sought, length) == 0 && (at[length] == '.' || at[length] == '\0'))
            return true;
    }
    return false;
}

bool module_begins(const struct layer_module *module, const char *prefix)
{
    return has_components(module->path, prefix, false);
}

/* The layer and module asked for, each optional. */
struct wish {
    size_t layer;
    const char *module;
    bool anywhere; /* no path begins with `module` */
};

static bool is_of_module(const struct layer_module *module, const struct wish *wish)
{
    return wish->module == NULL || has_components(module->path, wish->module, wish->anywhere);
}

static bool fits(const struct layer_module *module, const struct wish *wish)
{
    return is_of_module(module, wish) && (wish->layer == MODULE_NO_LAYER || module->layer == wish->layer);
}

static int by_number(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

/* "0 to 31", "3, 7 and 11 to 13": the layers of the modules meant. STATUS_SYSTEM where memory is short. */
static enum status add_layers(struct text *text, const struct module_list *list, const struct wish *wish,
                              struct error *error)
{
    size_t *layers = arena_allocate(list->checkpoint->arena, list->count, sizeof *layers, error), count = 0;
    if (layers == NULL)
        return error->status;
    for (size_t i = 0; i < list->count; i++)
        if (list->modules[i].layer != MODULE_NO_LAYER && is_of_module(&list->modules[i], wish))
            layers[count++] = list->modules[i].layer;
    qsort(layers, count, sizeof *layers, by_number);
    for (size_t i = 0, end = 0; i < count; i = end) {
        size_t last = layers[i];
        for (; end < count && layers[end] <= last + 1; end++)
            last = layers[end];
        text_add(text, "%s%zu", i > 0 ? ", " : "", layers[i]);
        if (last > layers[i])
            text_add(text, "%s%zu", last > layers[i] + 1 ? " to " : ", ", last);
    }
    return STATUS_OK;
}

/* A tensor of the wished layer by which that has something else in place of a softmax; or NULL. */
static const char *find_unsoft(const struct module_list *list, const struct wish *wish)
{
    for (size_t i = 0; i < list->checkpoint->count; i++) {
        const char *name = list->checkpoint->names[i].text, *number = find_number(name);
        if (number != NULL && strtoul(number, NULL, 10) == wish->layer && naming_without_softmax(name) != NULL)
            return name;
    }
    return NULL;
}

static enum status no_layer(const struct module_list *list, const struct wish *wish, struct error *error)
{
    char layers[400];
    struct text text = text_begin(layers, sizeof layers);
    if (add_layers(&text, list, wish, error) != STATUS_OK)
        return error->status;
    if (layers[0] == '\0')
        return error_usage(error, "%s: its attention modules have no layer number; leave out --layer",
                           list->checkpoint->source);
    const char *other = find_unsoft(list, wish);
    if (other != NULL)
        return error_usage(error,
                           "%s: layer %zu has %s (%.200s), which attn does not compute; expected one of %s, with "
                           "softmax attention",
                           list->checkpoint->source, wish->layer, naming_without_softmax(other), other, layers);
    return error_usage(error, "%s: no attention in layer %zu; expected one of %s", list->checkpoint->source,
                       wish->layer, layers);
}

static void add_paths(struct text *text, const struct module_list *list, const struct wish *wish)
{
    enum { SHOWN = 6 };
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (fits(&list->modules[i], wish) && ++count <= SHOWN)
            text_add(text, "%s%.120s", count > 1 ? ", " : "", list->modules[i].path);
    if (count > SHOWN)
        text_add(text, ", and %zu more", count - SHOWN);
}

static enum status no_module(const struct module_list *list, const struct wish *wish, struct error *error)
{
    char paths[800];
    struct text text = text_begin(paths, sizeof paths);
    add_paths(&text, list, &(struct wish){.layer = wish->layer});
    if (paths[0] == '\0')
        return no_layer(list, &(struct wish){.layer = wish->layer}, error);
    return error_usage(error, "%s: no attention module '%.80s'; expected one of %s", list->checkpoint->source,
                       wish->module, paths);
}

/* STATUS_USAGE: asks for one of several layers. */
static enum status no_number(const struct module_list *list, struct error *error)
{
    size_t lowest = SIZE_MAX, highest = 0;
    for (size_t i = 0; i < list->count; i++) {
        const size_t layer = list->modules[i].layer;
        lowest = layer < lowest ? layer : lowest;
        highest = layer != MODULE_NO_LAYER && layer > highest ? layer : highest;
    }
    return error_usage(error,
                       "%s: --layer is missing; expected a layer from %zu to %zu, and --module where a layer has "
                       "several: attn layer -w lists them",
                       list->checkpoint->source, lowest, highest);
}

static enum status several(const struct module_list *list, const struct wish *wish, size_t count,
                           const struct layer_module *first, struct error *error)
{
    for (size_t i = 0; i < list->count && wish->layer == MODULE_NO_LAYER; i++)
        if (fits(&list->modules[i], wish) && list->modules[i].layer != first->layer)
            return no_number(list, error);
    char paths[800], layer[32] = "";
    struct text text = text_begin(paths, sizeof paths);
    add_paths(&text, list, wish);
    if (wish->layer != MODULE_NO_LAYER)
        snprintf(layer, sizeof layer, " of layer %zu", wish->layer);
    return error_usage(error, "%s: %zu attention modules%s: %s; choose one with --module, such as --module %.120s",
                       list->checkpoint->source, count, layer, paths, first->path);
}

enum status module_none(const struct checkpoint *checkpoint, struct error *error)
{
    for (size_t i = 0; i < checkpoint->count; i++)
        if (naming_refused(checkpoint->names[i].text) != NULL)
            return error_usage(error, "%s: %.200s: %s", checkpoint->source, checkpoint->names[i].text,
                               naming_refused(checkpoint->names[i].text));
    return error_usage(error,
                       "%s: no attention module among its %zu tensors, such as %.200s; expected names that end like "
                       "self_attn.q_proj.weight",
                       checkpoint->source, checkpoint->count,
                       checkpoint->count > 0 ? checkpoint->names[0].text : "none");
}

enum status module_choose(const struct module_list *list, size_t layer, const char *prefix,
                          const struct layer_module **module, struct error *error)
{
    struct wish wish = {.layer = layer, .module = prefix, .anywhere = true};
    const struct layer_module *first = NULL;
    size_t count = 0, of_module = 0;
    for (size_t i = 0; i < list->count && prefix != NULL; i++)
        wish.anywhere = wish.anywhere && !module_begins(&list->modules[i], prefix);
    for (size_t i = 0; i < list->count; i++) {
        const struct layer_module *one = &list->modules[i];
        of_module += is_of_module(one, &wish);
        if (fits(one, &wish) && count++ == 0)
            first = one;
    }
    *module = first;
    if (count == 1)
        return STATUS_OK;
    if (count > 1)
        return several(list, &wish, count, first, error);
    if (list->count == 0)
        return module_none(list->checkpoint, error);
    return of_module == 0 ? no_module(list, &wish, error) : no_layer(list, &wish, error);
}

bool module_stores_transposed(const struct layer_module *module, const size_t *shape, size_t biases)
{
    const bool linear = (biases == shape[0] && biases != shape[1]) || shape[0] == 3 * shape[1];
    return module->naming->conv1d && !linear;
}

/* --- its tensors ------------------------------------------------------------------------------------------------- */

/* Adds the tensor of search->name. */
static enum status add_tensor(const struct search *search, const char *standard, const char *leaf,
                              struct module_tensors *tensors)
{
    char name[48];
    const size_t length = (size_t)snprintf(name, sizeof name, "%s%s", standard, leaf);
    struct module_tensor *tensor = &tensors->tensors[tensors->count++];
    tensor->name = arena_copy(search->arena, search->name, search->error);
    tensor->standard = arena_text(search->arena, name, length, search->error);
    return tensor->name == NULL || tensor->standard == NULL ? search->error->status : STATUS_OK;
}

static enum status add_roles(const struct search *search, const struct layer_module *module, const char *before,
                             struct module_tensors *tensors)
{
    static const char *const LEAVES[] = {"weight", "bias"};
    for (enum naming_role role = 0; role < ROLE_COUNT; role++)
        for (size_t leaf = 0; leaf < 2; leaf++) {
            char dotted[16];
            snprintf(dotted, sizeof dotted, ".%s", LEAVES[leaf]);
            if (find_role(search, before, strlen(before), module->naming, role, LEAVES[leaf]) &&
                add_tensor(search, naming_standard(role), dotted, tensors) != STATUS_OK)
                return search->error->status;
        }
    return STATUS_OK;
}

/* Adds weight and bias under the first of the words that has them. torchtune calls a weight scale, TensorFlow gamma;
 * Megatron puts that of a norm into the projection after it. */
static enum status add_words(const struct search *search, const char *before, const char *words, const char *standard,
                             struct module_tensors *tensors)
{
    static const char *const LEAVES[][2] = {
        {".weight", ".bias"}, {".scale", ".bias"}, {"_weight", "_bias"}, {".gamma", ".beta"}};
    enum { LEAF_COUNT = sizeof LEAVES / sizeof LEAVES[0] };
    size_t leaf = 0;
    while (leaf < LEAF_COUNT && !find_word(search, before, strlen(before), words, LEAVES[leaf][0]))
        leaf++;
    if (leaf == LEAF_COUNT)
        return STATUS_OK;
    if (add_tensor(search, standard, ".weight", tensors) != STATUS_OK)
        return search->error->status;
    strcpy(search->name + strlen(search->name) - strlen(LEAVES[leaf][0]), LEAVES[leaf][1]);
    return checkpoint_has(search->checkpoint, search->name) ? add_tensor(search, standard, ".bias", tensors)
                                                            : STATUS_OK;
}

static enum status add_companions(const struct search *search, const struct layer_module *module, const char *before,
                                  struct module_tensors *tensors)
{
    const bool latent = module->naming->latent_a != NULL;
    const struct {
        const char *words, *standard;
    } companions[] = {
        {latent ? NULL : NAMING_QUERY_NORMS, "query_norm"},
        {latent ? NULL : NAMING_KEY_NORMS, "key_norm"},
        {NAMING_GATES, "W_gate"},
        {latent ? "q_a_layernorm attn_q_a_norm q_norm" : NULL, "query_a_norm"},
        {latent ? "kv_a_layernorm attn_kv_a_norm kv_norm" : NULL, "key_value_a_norm"},
        {"indexer.wq_b", "index_query"},
        {"indexer.wk", "index_key"},
        {"indexer.k_norm", "index_key_norm"},
        {"indexer.weights_proj", "index_weights"},
        {module->cross ? NULL : NAMING_RELATIVE_BIAS, "relative_bias"},
    };
    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++)
        if (add_words(search, before, companions[i].words, companions[i].standard, tensors) != STATUS_OK)
            return search->error->status;
    return find_word(search, before, strlen(before), NAMING_SINKS, "") ? add_tensor(search, "sinks", "", tensors)
                                                                       : STATUS_OK;
}

static bool is_there(const struct module_tensors *tensors, const char *standard)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->tensors[i].standard, standard) == 0)
            return true;
    return false;
}

/* T5 keeps the relative bias of all blocks in the module of block 0 of the same stack, MPNet next to the blocks. */
static enum status add_first_bias(const struct search *search, const struct layer_module *module,
                                  struct module_tensors *tensors)
{
    const char *number = module->layer != MODULE_NO_LAYER ? find_number(module->path) : NULL;
    if (number == NULL || module->cross || is_there(tensors, "relative_bias.weight"))
        return STATUS_OK;
    const size_t length = strlen(module->path) + 3;
    char *first = arena_allocate(search->arena, length, 1, search->error);
    if (first == NULL)
        return search->error->status;
    snprintf(first, length, "%.*s0%s.", (int)(number - module->path), module->path, number + strcspn(number, "."));
    if (add_words(search, first, NAMING_RELATIVE_BIAS, "relative_bias", tensors) != STATUS_OK ||
        is_there(tensors, "relative_bias.weight"))
        return search->error->status;
    size_t end = (size_t)(number - module->path);
    for (end -= end > 0; end > 0 && first[end - 1] != '.';)
        end--;
    first[end] = '\0';
    return add_words(search, first, NAMING_RELATIVE_BIAS, "relative_bias", tensors);
}

/* Whether it is the only module of its layer. */
static bool is_alone(const struct module_list *list, const struct layer_module *module)
{
    const char *const *end = list->prefixes + list->count;
    const char *const *found = text_find(module->prefix, list->prefixes, list->count, sizeof list->prefixes[0]);
    return found != NULL && (found + 1 == end || strcmp(found[1], module->prefix) != 0);
}

/* Adds the norm before attention: in the module, next to it, or directly in its layer. */
static enum status add_norm(const struct search *search, const struct module_list *list,
                            const struct layer_module *module, const char *before, struct module_tensors *tensors)
{
    const char *words = module->cross && !is_alone(list, module) ? NAMING_CROSS_NORMS : NAMING_NORMS;
    const char *last = strrchr(module->path, '.');
    const int folder_end = last != NULL ? (int)(last - module->path) + 1 : 0;
    char *folder = arena_allocate(search->arena, strlen(before) + 1, 1, search->error);
    if (folder == NULL)
        return search->error->status;
    snprintf(folder, strlen(before) + 1, "%.*s", folder_end, module->path);
    const struct {
        const char *before, *words;
    } places[] = {
        {before, module->naming->norm}, {folder, module->naming->norm}, {folder, words}, {module->prefix, words}};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !is_there(tensors, "norm.weight"); i++)
        if (add_words(search, places[i].before, places[i].words, "norm", tensors) != STATUS_OK)
            return search->error->status;
    return STATUS_OK;
}

/* Whether a name is BEFORE word LEAF of one of the words. */
static bool is_word_of(const char *name, const char *words, const char *leaf)
{
    for (size_t word; words != NULL && *words != '\0'; words += word + (words[word] == ' ')) {
        word = strcspn(words, " ");
        if (strncmp(name, words, word) == 0 && strcmp(name + word, leaf) == 0)
            return true;
    }
    return false;
}

/* Whether a name is a norm after attention; .gamma and .beta are names from TensorFlow. */
static bool is_passed(const char *name, const char *words)
{
    static const char *const LEAVES[] = {".weight", ".bias", ".gamma", ".beta"};
    for (size_t i = 0; i < sizeof LEAVES / sizeof LEAVES[0]; i++)
        if (is_word_of(name, words, LEAVES[i]))
            return true;
    return false;
}

/* Finds an unknown tensor of the module, which is no buffer and no norm after attention. Skips a module without a path,
 * which contains all names. */
static void find_other(const struct checkpoint *checkpoint, const struct layer_module *module, const char *before,
                       struct module_tensors *tensors)
{
    const char *own = module->naming->own;
    const size_t length = strlen(before);
    size_t i = text_first(before, checkpoint->names, checkpoint->count, sizeof checkpoint->names[0]);
    for (; i < checkpoint->count && length > 0; i++) {
        const char *name = checkpoint->names[i].text, *word = name + length;
        if (tensors->other != NULL || strncmp(name, before, length) != 0)
            break;
        if (own != NULL && strncmp(word, own, strlen(own)) != 0)
            continue;
        bool known = is_word_of(word, NAMING_BUFFERS, "") || is_passed(word, module->naming->passed) ||
                     (module->cross && is_passed(word, NAMING_RELATIVE_BIAS));
        for (size_t at = 0; at < tensors->count && !known; at++)
            known = strcmp(tensors->tensors[at].name, name) == 0;
        tensors->other = known ? NULL : name;
    }
}

enum status module_check_other(const struct module_list *list, const struct module_tensors *tensors,
                               struct error *error)
{
    const char *known = tensors->tensors[0].name, *why = naming_refused(known);
    const char *other = why != NULL ? known : tensors->other;
    if (other == NULL)
        return STATUS_OK;
    why = naming_refused(other);
    return error_usage(error, "%s: %.200s: %s", list->checkpoint->source, other,
                       why != NULL ? why
                                   : "attn does not know what the module does with this tensor; expected the weights "
                                     "of query, key, value and output, their norms, sinks or a relative bias");
}

enum status module_tensors(const struct module_list *list, const struct layer_module *module, struct arena *arena,
                           struct module_tensors *tensors, struct error *error)
{
    struct search search;
    const size_t length = strlen(module->path) + 2;
    char *before = arena_allocate(arena, length, 1, error);
    *tensors = (struct module_tensors){.count = 0};
    if (before == NULL || begin_search(&search, list->checkpoint, length, arena, error) != STATUS_OK)
        return error->status;
    snprintf(before, length, "%s%s", module->path, module->path[0] != '\0' ? "." : "");
    if (add_roles(&search, module, before, tensors) || add_companions(&search, module, before, tensors) ||
        add_first_bias(&search, module, tensors) || add_norm(&search, list, module, before, tensors))
        return error->status;
    find_other(list->checkpoint, module, before, tensors);
    return STATUS_OK;
}
