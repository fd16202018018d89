/* SPDX-License-Identifier: MIT */
/* Configs of models -> facts. tests/layers-config has configs of 42 models of transformers with what their attention
 * modules make of them (tests/golden/make_configs.py); the others are written here. */
#include "check.h"
#include "layer/reading.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "tests/layers-config"
enum { CONFIGS = 70, PATH_BYTES = 256, LINE_BYTES = 512 };

static const char *const PARTS[PART_COUNT] = {
    [PART_ONLY] = "only", [PART_ENCODER] = "encoder", [PART_DECODER] = "decoder",
    [PART_TEXT] = "text", [PART_VISION] = "vision",   [PART_AUDIO] = "audio"};

/* A module's facts, and what they are asked of. */
struct asked {
    struct config config;
    struct config_module module;
    const char *family; /* as --family says, or NULL */
    struct layer_facts facts;
    struct arena arena;
    struct error error;
};

static enum status ask(struct asked *asked)
{
    const struct family_row *family;
    if (config_family(&asked->config, asked->module.part, asked->family, &family, &asked->error) ||
        config_heads(&asked->config, family, &asked->module, &asked->arena, &asked->facts, &asked->error))
        return asked->error.status;
    return config_facts(&asked->config, family, &asked->module, &asked->arena, &asked->facts, &asked->error);
}

/* What is said of keys that are not known, or ""; the error where it cannot be said. */
static const char *unknown_of(struct asked *asked)
{
    const struct family_row *family;
    const char *warning = NULL;
    if (config_family(&asked->config, asked->module.part, asked->family, &family, &asked->error) ||
        config_unknown(&asked->config, family, &asked->module, &asked->arena, &warning, &asked->error))
        return asked->error.message;
    return warning != NULL ? warning : "";
}

static void forget(struct asked *asked)
{
    config_free(&asked->config);
    arena_free(&asked->arena);
    *asked = (struct asked){0};
}

static const char *text_of(const struct asked *asked, const char *setting)
{
    const struct layer_fact *fact = layer_facts_find(&asked->facts, setting);
    return fact != NULL ? fact->text : NULL;
}

/* --- what transformers makes of them ----------------------------------------------------------------------------- */

/* Whether the texts are the same, numbers in them within a few units of their last digit. */
static bool agree(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        char *end_a, *end_b;
        const double x = strtod(a, &end_a), y = strtod(b, &end_b);
        if (end_a != a && end_b != b && fabs(x - y) > 1e-14 * fabs(x))
            return false;
        if (end_a == a && *a != *b)
            return false;
        a = end_a != a ? end_a : a + 1;
        b = end_b != b && end_a != a ? end_b : end_b != b ? end_b : b + 1;
    }
    return *a == *b;
}

/* A setting that no line says must not do anything. */
static void check_silent(const struct asked *asked, const char *lines)
{
    static const struct {
        const char *setting, *idle;
    } SILENT[] = {{"window", "-1,-1"},        {"softcap", "0"},       {"clip", NULL},
                  {"scale_on", NULL},         {"rope_columns", NULL}, {"rope_scaling", NULL},
                  {"relative_distance", NULL}};
    for (size_t i = 0; i < sizeof SILENT / sizeof SILENT[0]; i++) {
        char head[LINE_BYTES];
        snprintf(head, sizeof head, "\n%s ", SILENT[i].setting);
        const char *text = text_of(asked, SILENT[i].setting), *end = strstr(lines, "\n= "), *line = strstr(lines, head);
        if (line != NULL && (end == NULL || line < end))
            continue;
        CHECK(text == NULL || (SILENT[i].idle != NULL && strcmp(text, SILENT[i].idle) == 0),
              "%s: expected none, got %s", SILENT[i].setting, text);
    }
}

/* One module: its line, "= PART CROSS LAYER COLUMNS", and those after it. */
static void check_module(const char *path, const char *lines)
{
    struct asked asked = {0};
    char part[16], setting[64], text[LINE_BYTES];
    int cross, taken;
    if (!CHECK(sscanf(lines, "= %15s %d %zu %zu%n", part, &cross, &asked.module.layer, &asked.module.columns, &taken) ==
                   4,
               "expected the line of a module: %.40s", lines))
        return;
    check_begin("%s, %s, layer %zu%s", path, part, asked.module.layer, cross ? ", cross" : "");
    while (strcmp(PARTS[asked.module.part], part) != 0)
        asked.module.part++;
    asked.module.cross = cross != 0;
    if (!CHECK(config_read(path, &asked.config, &asked.error) == STATUS_OK && ask(&asked) == STATUS_OK,
               "expected facts, got: %s", asked.error.message)) {
        forget(&asked);
        return;
    }
    check_silent(&asked, lines);
    CHECK_TEXT("", unknown_of(&asked));
    const char *line = lines + taken;
    while (sscanf(line, "\n%63[a-z_] %511[^\n]%n", setting, text, &taken) == 2) {
        const char *got = text_of(&asked, setting);
        CHECK(got != NULL && agree(text, got), "%s: expected %s, got %s", setting, text, got != NULL ? got : "none");
        line += taken;
    }
    forget(&asked);
}

static void check_frozen(const char *path)
{
    char facts[PATH_BYTES + 8];
    snprintf(facts, sizeof facts, "%.*sfacts", (int)(strlen(path) - strlen("json")), path);
    char *lines = support_read(facts);
    size_t modules = 0;
    for (const char *line = lines; line != NULL; line = strstr(line + 1, "\n= "), modules++)
        check_module(path, line + (*line == '\n'));
    CHECK(modules > 0, "expected modules");
    free(lines);
}

static void check_folder(void)
{
    struct dirent **files;
    const int count = scandir(FOLDER, &files, NULL, alphasort);
    size_t configs = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES + sizeof FOLDER + 1];
        const char *end = strrchr(files[i]->d_name, '.');
        snprintf(path, sizeof path, FOLDER "/%.*s", PATH_BYTES, files[i]->d_name);
        if (end != NULL && strcmp(end, ".json") == 0) {
            check_frozen(path);
            configs++;
        }
        free(files[i]);
    }
    free(files);
    check_begin("all configs");
    CHECK(configs == CONFIGS, "expected %d configs, got %zu", CONFIGS, configs);
}

/* --- what is written here ---------------------------------------------------------------------------------------- */

/* Reads a config that is written to a file first. */
static enum status read_written(const char *json, struct asked *asked)
{
    char path[] = "/tmp/attn-config-XXXXXX";
    static const char *const NAME = "config.json";
    const int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream == NULL || fputs(json, stream) < 0 || fclose(stream) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    enum status status = config_read(path, &asked->config, &asked->error);
    asked->config.path = NAME;
    remove(path);
    return status;
}

/* A line of text for each: JSON, what is asked, and the setting that is expected, or the error. */
static const struct {
    const char *json;
    enum module_part part;
    size_t layer;
    const char *family;
    const char *setting, *text, *source, *key; /* setting NULL: `text` is in the message */
} WRITTEN[] = {
#define GEMMA_4 "{\"model_type\": \"gemma4_text\", \"layer_types\": [\"sliding_attention\", \"full_attention\"]"
#define LLAMA "{\"model_type\": \"llama\", \"num_attention_heads\": 4"
    /* where it stands, and who says it */
    {LLAMA "}", PART_ONLY, 0, NULL, "heads", "4", "config", "num_attention_heads"},
    {LLAMA "}", PART_ONLY, 0, NULL, "kv_heads", "4", "family", "llama"},
    {LLAMA "}", PART_ONLY, 0, NULL, "rope_theta", "10000", "family", "llama"},
    {LLAMA ", \"rope_theta\": 5e5}", PART_ONLY, 0, NULL, "rope_theta", "500000", "config", "rope_theta"},
    {LLAMA ", \"rope_parameters\": {\"rope_theta\": 7}}", PART_ONLY, 0, NULL, "rope_theta", "7", "config",
     "rope_parameters.rope_theta"},
    {LLAMA ", \"num_key_value_heads\": null}", PART_ONLY, 0, NULL, "kv_heads", "4", "config", "num_key_value_heads"},
    {LLAMA "}", PART_ONLY, 0, NULL, "family", "llama", "config", "model_type"},
    {LLAMA "}", PART_ONLY, 0, "olmo2", "family", "olmo2", "family", "olmo2"},
    {LLAMA "}", PART_ONLY, 0, "gpt_neox", "rope_columns", "2", "family", "gpt_neox"},
    /* parts */
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"hidden_size\": 2560}}", PART_TEXT, 0, NULL, "heads", "8",
     "family", "gemma3_text"},
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"sliding_window\": 7}}", PART_ONLY, 4, NULL, "window", "6,0",
     "config", "text_config.sliding_window"},
    {"{\"model_type\": \"gemma3\", \"text_config\": {}}", PART_TEXT, 5, NULL, "rope_theta", "1000000", "family",
     "gemma3_text"},
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"rope_local_base_freq\": 5}}", PART_TEXT, 4, NULL, "rope_theta",
     "5", "config", "text_config.rope_local_base_freq"},
    {"{\"model_type\": \"gemma3\", \"vision_config\": {}}", PART_VISION, 0, NULL, "causal", "false", "family",
     "siglip_vision_model"},
    {"{\"model_type\": \"clip\", \"text_config\": {}, \"vision_config\": {\"num_attention_heads\": 2}}", PART_VISION, 0,
     NULL, "heads", "2", "config", "vision_config.num_attention_heads"},
    {"{\"model_type\": \"clip\", \"text_config\": {}, \"vision_config\": {}}", PART_TEXT, 0, NULL, "causal", "true",
     "family", "clip_text_model"},
    {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"mistral\"}}", PART_TEXT, 0, NULL, "kv_heads", "8",
     "family", "mistral"},
    /* what hides the keys after a query, or does not */
    {LLAMA ", \"is_causal\": false}", PART_ONLY, 0, NULL, "causal", "false", "config", "is_causal"},
    {LLAMA ", \"is_causal\": true}", PART_ONLY, 0, NULL, "causal", "true", "family", "llama"},
    {LLAMA ", \"is_causal\": null}", PART_ONLY, 0, NULL, "causal", "true", "family", "llama"},
    {LLAMA ", \"is_causal\": 0}", PART_ONLY, 0, NULL, NULL, "is_causal is 0, expected true or false", NULL, NULL},
    {"{\"model_type\": \"mistral\", \"is_causal\": false, \"sliding_window\": 5}", PART_ONLY, 0, NULL, "window", "5,5",
     "config", "sliding_window"},
    {"{\"model_type\": \"gemma3_text\", \"is_causal\": false, \"sliding_window\": 6}", PART_ONLY, 5, NULL, "window",
     "-1,-1", "config", "sliding_window"},
    {"{\"model_type\": \"gemma3_text\", \"is_causal\": false, \"sliding_window\": 6, \"use_bidirectional_attention\": "
     "true}",
     PART_ONLY, 0, NULL, "window", "4,4", "config", "sliding_window"},
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"gemma3_text\", \"is_causal\": false}}",
     PART_TEXT, 0, NULL, "causal", "false", "config", "text_config.is_causal"},
    {"{\"model_type\": \"bert\", \"is_decoder\": true, \"is_causal\": false}", PART_ONLY, 0, NULL, "causal", "false",
     "config", "is_causal"},
    {"{\"model_type\": \"bert\", \"is_causal\": false}", PART_ONLY, 0, NULL, "causal", "false", "family", "bert"},
    {"{\"model_type\": \"bert\", \"is_causal\": true}", PART_ONLY, 0, NULL, NULL, "is_causal is true, expected false",
     NULL, NULL},
    {"{\"model_type\": \"bart\", \"is_causal\": false}", PART_DECODER, 0, NULL, "causal", "false", "config",
     "is_causal"},
    {"{\"model_type\": \"gpt_neo\", \"is_causal\": false}", PART_ONLY, 1, NULL, "window", "255,0", "family", "gpt_neo"},
    {"{\"model_type\": \"gpt_neo\", \"is_causal\": false}", PART_ONLY, 1, NULL, "causal", "true", "family", "gpt_neo"},
    {"{\"model_type\": \"t5\", \"is_causal\": false}", PART_DECODER, 0, NULL, NULL, "is_causal is false, expected true",
     NULL, NULL},
    {"{\"model_type\": \"clip_text_model\", \"is_causal\": false}", PART_ONLY, 0, NULL, NULL,
     "is_causal is false, expected true", NULL, NULL},
    /* what few families have */
    {"{\"model_type\": \"gpt_bigcode\"}", PART_ONLY, 0, NULL, "kv_heads", "1", "family", "gpt_bigcode"},
    {"{\"model_type\": \"gpt_bigcode\", \"multi_query\": false}", PART_ONLY, 0, NULL, "kv_heads", "12", "config",
     "multi_query"},
    {"{\"model_type\": \"gpt_bigcode\", \"scale_attn_weights\": false}", PART_ONLY, 3, NULL, "scale", "1", "config",
     "scale_attn_weights"},
    {"{\"model_type\": \"gpt_bigcode\", \"scale_attn_by_inverse_layer_idx\": true}", PART_ONLY, 3, NULL, "scale",
     "0.35355339059327373", "family", "gpt_bigcode"},
    {"{\"model_type\": \"olmo_hybrid\"}", PART_ONLY, 3, NULL, "rope", "half", "family", "olmo_hybrid"},
    {"{\"model_type\": \"olmo_hybrid\", \"rope_parameters\": null, \"rope_theta\": 5}", PART_ONLY, 3, NULL, "rope",
     "half", "config", "rope_theta"},
    {"{\"model_type\": \"olmo_hybrid\", \"rope_parameters\": {\"rope_theta\": null}}", PART_ONLY, 3, NULL, "rope",
     "none", "config", "rope_parameters.rope_theta"},
    {"{\"model_type\": \"smollm3\"}", PART_ONLY, 3, NULL, "rope", "none", "family", "smollm3"},
    {"{\"model_type\": \"smollm3\"}", PART_ONLY, 4, NULL, "rope", "half", "family", "smollm3"},
    {"{\"model_type\": \"smollm3\", \"no_rope_layer_interval\": 3}", PART_ONLY, 2, NULL, "rope", "none", "config",
     "no_rope_layer_interval"},
    {"{\"model_type\": \"smollm3\", \"no_rope_layer_interval\": 3}", PART_ONLY, 3, NULL, "rope", "half", "config",
     "no_rope_layer_interval"},
    {"{\"model_type\": \"xglm\", \"attention_heads\": 4}", PART_ONLY, 0, NULL, "heads", "4", "config",
     "attention_heads"},
    {"{\"model_type\": \"owlvit\", \"text_config\": {}}", PART_TEXT, 0, NULL, "heads", "8", "family",
     "clip_text_model"},
    /* windows that are there and do nothing */
    {"{\"model_type\": \"qwen2\", \"sliding_window\": 9, \"use_sliding_window\": false}", PART_ONLY, 30, NULL, "window",
     "-1,-1", "config", "use_sliding_window"},
    {"{\"model_type\": \"mistral\", \"sliding_window\": null}", PART_ONLY, 0, NULL, "window", "-1,-1", "config",
     "sliding_window"},
    {"{\"model_type\": \"gpt_neo\"}", PART_ONLY, 1, NULL, "window", "255,0", "family", "gpt_neo"},
    {"{\"model_type\": \"gpt_neo\", \"window_size\": 9, \"attention_types\": [[[\"global\", \"local\"], 2], "
     "[[\"local\"], 1]]}",
     PART_ONLY, 4, NULL, "window", "8,0", "config", "window_size"},
    {"{\"model_type\": \"gpt_neo\", \"attention_types\": [[[\"local\", \"global\"], 2]]}", PART_ONLY, 3, NULL, "window",
     "-1,-1", "config", "attention_types"},
    {"{\"model_type\": \"gpt_neo\", \"attention_types\": [[[\"local\"], 2]], \"attention_layers\": [\"local\", "
     "\"global\"]}",
     PART_ONLY, 1, NULL, "window", "-1,-1", "config", "attention_layers"},
    {"{\"model_type\": \"dots1\", \"max_window_layers\": 2}", PART_ONLY, 2, NULL, "window", "4095,0", "family",
     "dots1"},
    {"{\"model_type\": \"dots1\", \"max_window_layers\": 2, \"sliding_window\": 5, \"layer_types\": "
     "[\"sliding_attention\"]}",
     PART_ONLY, 0, NULL, "window", "4,0", "config", "sliding_window"},
/* every other layer before a number: Qwen2 of experts */
#define EXPERTS "{\"model_type\": \"qwen2_moe\", \"use_sliding_window\": true, \"sliding_window\": 5"
    {EXPERTS ", \"max_window_layers\": 3}", PART_ONLY, 0, NULL, "window", "4,0", "config", "sliding_window"},
    {EXPERTS ", \"max_window_layers\": 3}", PART_ONLY, 1, NULL, "window", "-1,-1", "config", "max_window_layers"},
    {EXPERTS ", \"max_window_layers\": 3}", PART_ONLY, 2, NULL, "window", "4,0", "config", "sliding_window"},
    {EXPERTS ", \"max_window_layers\": 3}", PART_ONLY, 4, NULL, "window", "-1,-1", "config", "max_window_layers"},
    {EXPERTS ", \"layer_types\": [\"full_attention\"]}", PART_ONLY, 0, NULL, "window", "-1,-1", "config",
     "layer_types[0]"},
    {"{\"model_type\": \"qwen2_moe\", \"sliding_window\": 5, \"layer_types\": [\"sliding_attention\"]}", PART_ONLY, 0,
     NULL, NULL, "layer_types[0] is \"sliding_attention\", expected \"full_attention\", or use_sliding_window true",
     NULL, NULL},
/* layers that do not rotate: SmolLM3 */
#define SMOL "{\"model_type\": \"smollm3\", \"sliding_window\": 5"
    {SMOL ", \"use_sliding_window\": true}", PART_ONLY, 3, NULL, "window", "4,0", "config", "sliding_window"},
    {SMOL ", \"use_sliding_window\": true, \"no_rope_layers\": [1]}", PART_ONLY, 0, NULL, "window", "-1,-1", "config",
     "no_rope_layers"},
    {SMOL ", \"use_sliding_window\": false}", PART_ONLY, 3, NULL, "window", "-1,-1", "config", "use_sliding_window"},
    {SMOL ", \"use_sliding_window\": false, \"layer_types\": [\"sliding_attention\"]}", PART_ONLY, 0, NULL, "window",
     "4,0", "config", "sliding_window"},
    {"{\"model_type\": \"smollm3\", \"layer_types\": [\"sliding_attention\"]}", PART_ONLY, 0, NULL, NULL,
     "layer_types[0] is \"sliding_attention\", expected \"full_attention\", because sliding_window is not set", NULL,
     NULL},
    {"{\"model_type\": \"smollm3\", \"use_sliding_window\": true, \"sliding_window\": null}", PART_ONLY, 3, NULL,
     "window", "-1,-1", "config", "sliding_window"},
    /* norms of query and key that the config turns on or off */
    {"{\"model_type\": \"cohere\"}", PART_ONLY, 0, NULL, "qk_norm", "none", "family", "cohere"},
    {"{\"model_type\": \"cohere\", \"use_qk_norm\": true}", PART_ONLY, 0, NULL, "qk_norm", "layer", "config",
     "use_qk_norm"},
    {"{\"model_type\": \"persimmon\"}", PART_ONLY, 0, NULL, "qk_norm", "layer", "family", "persimmon"},
    {"{\"model_type\": \"persimmon\", \"qk_layernorm\": false}", PART_ONLY, 0, NULL, "qk_norm", "none", "config",
     "qk_layernorm"},
    {"{\"model_type\": \"stablelm\", \"qk_layernorm\": true}", PART_ONLY, 0, NULL, "qk_norm", "layer", "config",
     "qk_layernorm"},
    {"{\"model_type\": \"qwen3\", \"use_qk_norm\": false}", PART_ONLY, 0, NULL, "qk_norm", "rms", "family", "qwen3"},
    {"{\"model_type\": \"mllama\", \"text_config\": {}}", PART_TEXT, 0, NULL, "qk_norm", "none", "family",
     "mllama_text_model"},
    /* heads and norms of few families */
    {"{\"model_type\": \"vit_mae\", \"num_attention_heads\": 2}", PART_DECODER, 0, NULL, "heads", "16", "family",
     "vit_mae"},
    {"{\"model_type\": \"vit_mae\", \"decoder_num_attention_heads\": 4}", PART_DECODER, 0, NULL, "heads", "4", "config",
     "decoder_num_attention_heads"},
    {"{\"model_type\": \"vit_mae\", \"decoder_num_attention_heads\": 4}", PART_ENCODER, 0, NULL, "heads", "12",
     "family", "vit_mae"},
    {"{\"model_type\": \"xmod\", \"pre_norm\": true}", PART_ENCODER, 0, NULL, "norm", "layer", "config", "pre_norm"},
    {"{\"model_type\": \"xmod\"}", PART_ENCODER, 0, NULL, "norm", "none", "family", "xmod"},
    /* a scale that may be null */
    {"{\"model_type\": \"hyperclovax\"}", PART_ONLY, 0, NULL, "scale", "0.35355339059327373", "family", "hyperclovax"},
    {"{\"model_type\": \"hyperclovax\", \"attention_multiplier\": null}", PART_ONLY, 0, NULL, "scale",
     "0.35355339059327373", "family", "hyperclovax"},
    {"{\"model_type\": \"hyperclovax\", \"attention_multiplier\": 2}", PART_ONLY, 0, NULL, "scale", "2", "config",
     "attention_multiplier"},
    {"{\"model_type\": \"granite\", \"attention_multiplier\": null}", PART_ONLY, 0, NULL, NULL,
     "attention_multiplier is null, expected a number", NULL, NULL},
    {"{\"model_type\": \"gpt_oss\"}", PART_ONLY, 0, NULL, "rope_scaling",
     "yarn:factor=32,fast=32,slow=1,old=4096,truncate=no", "family", "gpt_oss"},
    {"{\"model_type\": \"gemma3_text\", \"use_bidirectional_attention\": true, \"sliding_window\": 0}", PART_ONLY, 0,
     NULL, "window", "0,0", "config", "sliding_window"},
    /* two keys that say it, and disagree */
    {LLAMA ", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}, \"rope_parameters\": {\"rope_theta\": 7}}",
     PART_ONLY, 0, NULL, "rope_scaling", "linear:factor=4", "config", "rope_scaling"},
    {LLAMA ", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}, \"rope_parameters\": {\"rope_theta\": 7}}",
     PART_ONLY, 0, NULL, "rope_theta", "10000", "family", "llama"},
    {LLAMA ", \"rope_scaling\": {}, \"rope_parameters\": {\"rope_theta\": 7}}", PART_ONLY, 0, NULL, "rope_theta", "7",
     "config", "rope_parameters.rope_theta"},
    {"{\"model_type\": \"gemma3_text\", \"rope_parameters\": {\"full_attention\": {}}, \"rope_scaling\": {\"factor\": "
     "8}}",
     PART_ONLY, 0, NULL, NULL, "rope_parameters and rope_scaling are both set; keep one of them", NULL, NULL},
    /* keys that transformers does not read */
    {"{\"model_type\": \"gemma3_text\", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 8}}", PART_ONLY, 5, NULL,
     NULL, "rope_scaling.type is \"linear\", expected the key rope_type instead", NULL, NULL},
    {"{\"model_type\": \"gemma3_text\", \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8}}", PART_ONLY, 5,
     NULL, "rope_scaling", "linear:factor=8", "config", "rope_scaling"},
    {"{\"model_type\": \"modernbert\", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 8}}", PART_ONLY, 1, NULL,
     NULL, "rope_scaling.type is \"linear\", expected the key rope_type instead", NULL, NULL},
    {"{\"model_type\": \"gemma3_text\", \"rope_parameters\": {\"rope_theta\": 7}}", PART_ONLY, 5, NULL, NULL,
     "rope_parameters is an object, expected one with full_attention and sliding_attention", NULL, NULL},
    {"{\"model_type\": \"gemma3_text\", \"rope_parameters\": {\"full_attention\": {\"type\": \"linear\", \"factor\": "
     "8}}}",
     PART_ONLY, 5, NULL, "rope_scaling", "linear:factor=8", "config", "rope_parameters.full_attention"},
    {"{\"model_type\": \"olmo3\", \"rope_parameters\": {\"full_attention\": {\"truncate\": false}}}", PART_ONLY, 5,
     NULL, NULL, "rope_parameters.full_attention.truncate is false, expected true", NULL, NULL},
    {"{\"model_type\": \"olmo3\", \"rope_parameters\": {\"full_attention\": {}, \"truncate\": false}}", PART_ONLY, 5,
     NULL, NULL, "rope_parameters.truncate is false, expected true", NULL, NULL},
    {"{\"model_type\": \"mellum\", \"rope_theta\": 7}", PART_ONLY, 0, NULL, NULL,
     "rope_theta is 7, expected rope_parameters instead", NULL, NULL},
    {"{\"model_type\": \"modernbert\", \"rope_theta\": 7}", PART_ONLY, 0, NULL, "rope_theta", "160000", "family",
     "modernbert"},
    {"{\"model_type\": \"gpt_neox\", \"rope_theta\": 7, \"rotary_emb_base\": 8}", PART_ONLY, 0, NULL, "rope_theta", "8",
     "config", "rotary_emb_base"},
    {"{\"model_type\": \"gemma3_text\", \"_sliding_window_pattern\": 2}", PART_ONLY, 1, NULL, "window", "4095,0",
     "family", "gemma3_text"},
    {"{\"model_type\": \"modernbert\", \"layer_norm_eps\": 1, \"norm_eps\": 2}", PART_ONLY, 0, NULL, "norm_eps", "2",
     "config", "norm_eps"},
    /* quantized, but not attention */
    {"{\"model_type\": \"gpt_oss\", \"quantization_config\": {\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": "
     "[\"model.layers.*.self_attn\"]}}",
     PART_ONLY, 0, NULL, "causal", "true", "family", "gpt_oss"},
    /* wrong types */
    {"{\"model_type\": \"llama\", \"num_attention_heads\": \"4\"}", PART_ONLY, 0, NULL, NULL,
     "config.json: num_attention_heads is \"4\", expected a whole number", NULL, NULL},
    {"{\"model_type\": \"llama\", \"num_attention_heads\": 4.5}", PART_ONLY, 0, NULL, NULL,
     "config.json: num_attention_heads is 4.5, expected a whole number", NULL, NULL},
    {"{\"model_type\": \"llama\", \"num_attention_heads\": -4}", PART_ONLY, 0, NULL, NULL,
     "num_attention_heads is -4, expected a whole number", NULL, NULL},
    {"{\"model_type\": \"llama\", \"num_attention_heads\": 0}", PART_ONLY, 0, NULL, NULL,
     "num_attention_heads is 0, expected at least 1", NULL, NULL},
    {"{\"model_type\": \"llama\", \"num_attention_heads\": 1e400}", PART_ONLY, 0, NULL, NULL,
     "num_attention_heads is a number, expected a whole number", NULL, NULL},
    {"{\"model_type\": [1]}", PART_ONLY, 0, NULL, NULL, "config.json: model_type is an array, expected a string", NULL,
     NULL},
    {LLAMA ", \"rope_theta\": true}", PART_ONLY, 0, NULL, NULL, "rope_theta is true, expected a number", NULL, NULL},
    {LLAMA ", \"rope_theta\": 0}", PART_ONLY, 0, NULL, NULL, "rope_theta is 0, expected a number above 0", NULL, NULL},
    {LLAMA ", \"rope_scaling\": [8]}", PART_ONLY, 0, NULL, NULL, "rope_scaling is an array, expected an object", NULL,
     NULL},
    {LLAMA ", \"rms_norm_eps\": \"x\"}", PART_ONLY, 0, NULL, NULL, "rms_norm_eps is \"x\", expected a number", NULL,
     NULL},
    {LLAMA ", \"layer_types\": \"full_attention\"}", PART_ONLY, 0, NULL, NULL,
     "layer_types is \"full_attention\", expected an array with one word per layer", NULL, NULL},
    {LLAMA ", \"layer_types\": [\"full_attention\"]}", PART_ONLY, 1, NULL, NULL, "expected an array with one word per",
     NULL, NULL},
    {"{\"model_type\": \"falcon\", \"alibi\": 1}", PART_ONLY, 0, NULL, NULL, "alibi is 1, expected true or false", NULL,
     NULL},
    {"{\"model_type\": \"smollm3\", \"no_rope_layers\": [1, true]}", PART_ONLY, 1, NULL, NULL,
     "no_rope_layers is true, expected a whole number", NULL, NULL},
    /* contradictions */
    {LLAMA ", \"num_key_value_heads\": 3}", PART_ONLY, 0, NULL, NULL,
     "config.json: num_key_value_heads is 3, but heads 4 is not a multiple of that; set --kv-heads", NULL, NULL},
    {LLAMA "}", PART_ONLY, 0, "mistral", NULL,
     "family mistral has kv_heads 8, but heads 4 is not a multiple of that; set --kv-heads", NULL, NULL},
    {LLAMA ", \"num_key_value_heads\": 0}", PART_ONLY, 0, NULL, NULL, "num_key_value_heads is 0", NULL, NULL},
    {LLAMA ", \"partial_rotary_factor\": 0.5}", PART_ONLY, 0, NULL, NULL,
     "partial_rotary_factor is 0.5, but family llama rotates all columns", NULL, NULL},
    {"{\"model_type\": \"gptj\", \"rotary_dim\": 900}", PART_ONLY, 0, NULL, NULL,
     "expected a number from 1 to 8, the columns of a head", NULL, NULL},
    {"{\"model_type\": \"gptj\", \"rotary_dim\": null}", PART_ONLY, 0, NULL, NULL, "rotary_dim is null", NULL, NULL},
    {"{\"model_type\": \"mistral\", \"sliding_window\": 0}", PART_ONLY, 0, NULL, NULL,
     "sliding_window is 0, expected null, or at least 1", NULL, NULL},
    /* not understood */
    {LLAMA ", \"rope_scaling\": {\"rope_type\": \"fourier\"}}", PART_ONLY, 0, NULL, NULL,
     "rope_scaling.rope_type is \"fourier\", expected default, linear, dynamic, llama3, yarn, longrope or proportional",
     NULL, NULL},
    {LLAMA ", \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2, \"alpha\": 1000}}", PART_ONLY, 0, NULL, NULL,
     "attn does not know rope_scaling.alpha", NULL, NULL},
    {LLAMA ", \"rope_scaling\": {\"type\": \"default\", \"mrope_section\": [1, 2]}}", PART_ONLY, 0, NULL, NULL,
     "attn does not know rope_scaling.mrope_section", NULL, NULL},
    {LLAMA ", \"rope_scaling\": {\"type\": \"linear\"}}", PART_ONLY, 0, NULL, NULL,
     "rope_scaling.factor is missing; rope scaling 'linear' needs it", NULL, NULL},
    {LLAMA ", \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}", PART_ONLY, 0, NULL, NULL,
     "max_position_embeddings is missing; rope scaling 'dynamic' needs it", NULL, NULL},
    {"{\"model_type\": \"phi3\", \"max_position_embeddings\": 9, \"rope_scaling\": {\"type\": \"su\", "
     "\"short_factor\": "
     "[1, \"2\"], \"long_factor\": [1]}}",
     PART_ONLY, 0, NULL, NULL, "rope_scaling.short_factor is an array, expected an array of numbers", NULL, NULL},
    {"{\"model_type\": \"phi3\", \"rope_scaling\": {\"type\": \"su\", \"factor\": 2, \"short_factor\": [1], "
     "\"long_factor\": "
     "[1]}, \"original_max_position_embeddings\": 1}",
     PART_ONLY, 0, NULL, NULL, "rope_scaling is an object, expected numbers that give a finite factor", NULL, NULL},
    {"{\"model_type\": \"granite\", \"attention_multiplier\": 1e999}", PART_ONLY, 0, NULL, NULL,
     "attention_multiplier is a number, expected a number", NULL, NULL},
    {LLAMA ", \"quantization_config\": {\"quant_method\": \"bitsandbytes\"}}", PART_ONLY, 0, NULL, NULL,
     "quantization_config: attn does not read weights quantised by bitsandbytes", NULL, NULL},
    {LLAMA ", \"layer_types\": [\"linear_attention\"]}", PART_ONLY, 0, NULL, NULL,
     "layer_types[0] is \"linear_attention\", expected \"full_attention\" or \"sliding_attention\"", NULL, NULL},
    {"{\"model_type\": \"gpt_neo\", \"attention_types\": [[[\"global\", \"local\"], 2]]}", PART_ONLY, 4, NULL, NULL,
     "attention_types is an array, expected \"global\" or \"local\" for each layer", NULL, NULL},
    {"{\"model_type\": \"gpt_neo\", \"attention_types\": [[[\"global\"], 1.5]]}", PART_ONLY, 0, NULL, NULL,
     "attention_types is an array, expected \"global\"", NULL, NULL},
    {"{\"model_type\": \"gpt_neo\", \"attention_layers\": [\"dense\"]}", PART_ONLY, 0, NULL, NULL,
     "attention_layers is an array, expected \"global\"", NULL, NULL},
    {"{\"model_type\": \"dpt\", \"backbone_config\": {\"model_type\": \"dinov2\"}}", PART_ONLY, 0, NULL, NULL,
     "backbone_config changes attention", NULL, NULL},
    {"{\"model_type\": \"kimi_linear\", \"mla_use_nope\": false}", PART_ONLY, 0, NULL, NULL,
     "mla_use_nope changes attention", NULL, NULL},
    {"{\"model_type\": \"phimoe\", \"max_position_embeddings\": 64, \"rope_scaling\": {\"type\": \"longrope\", "
     "\"short_mscale\": 1.2, \"original_max_position_embeddings\": 8}}",
     PART_ONLY, 0, NULL, NULL, "rope_scaling.long_mscale is missing", NULL, NULL},
    {"{\"model_type\": \"phi3\", \"rope_scaling\": {\"type\": \"longrope\", \"short_mscale\": 1.2}}", PART_ONLY, 0,
     NULL, NULL, "attn does not know rope_scaling.short_mscale", NULL, NULL},
    {"{\"model_type\": \"blip\", \"text_config\": {\"model_type\": \"blip_text_model\"}}", PART_TEXT, 0, NULL, NULL,
     "text_config.model_type: attn does not know the family 'blip_text_model'", NULL, NULL},
    {LLAMA ", \"attention_chunk_size\": 8192}", PART_ONLY, 0, NULL, NULL, "attention_chunk_size changes attention",
     NULL, NULL},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"alibi\": false}}", PART_ONLY, 0, NULL, NULL,
     "attn_config.alibi changes attention", NULL, NULL},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"prefix_lm\": true}}", PART_ONLY, 0, NULL, NULL,
     "attn_config.prefix_lm changes attention", NULL, NULL},
    {"{\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\"}", PART_ONLY, 0, NULL, NULL,
     "position_embedding_type is \"relative_key\", expected \"absolute\"", NULL, NULL},
    {"{\"model_type\": \"starcoder2\", \"qk_layernorm\": true}", PART_ONLY, 0, NULL, NULL,
     "qk_layernorm is true, but attn knows no query and key norms in family starcoder2", NULL, NULL},
    {"{\"model_type\": \"olmoe\", \"clip_qkv\": 8}", PART_ONLY, 0, NULL, NULL, "clip_qkv is 8, expected null", NULL,
     NULL},
    {"{\"model_type\": \"gemma2\", \"use_bidirectional_attention\": true}", PART_ONLY, 0, NULL, NULL,
     "use_bidirectional_attention is true, expected false", NULL, NULL},
    {"{\"model_type\": \"bart\"}", PART_ONLY, 0, NULL, NULL, "set --causal or --no-causal", NULL, NULL},
    /* families */
    {"{\"model_type\": \"rwkv\"}", PART_ONLY, 0, NULL, NULL,
     "config.json: model_type: attn does not know the family 'rwkv'; choose one of attn help families with --family, "
     "or describe the model: --family none with what it needs of --heads, --kv-heads, ",
     NULL, NULL},
    {"{\"num_attention_heads\": 2}", PART_ONLY, 0, NULL, NULL,
     "config.json: model_type is missing; add it, or name the model's family with --family", NULL, NULL},
    {LLAMA "}", PART_ONLY, 0, "lama", NULL, "--family: attn does not know the family 'lama'; choose", NULL, NULL},
    {LLAMA "}", PART_ONLY, 0, "GPT-NeoX", NULL,
     "does not know the family 'GPT-NeoX' (did you mean 'gpt_neox'?); choose", NULL, NULL},
    {"{\"model_type\": \"diffusion_gemma_text\"}", PART_ONLY, 0, NULL, NULL,
     "does not know the family 'diffusion_gemma_text'; choose", NULL, NULL},
    {"{\"model_type\": \"gemma3n_text\", \"num_hidden_layers\": 35, \"num_kv_shared_layers\": 15}", PART_ONLY, 20, NULL,
     NULL,
     "layer 20 takes its keys and values from an earlier layer, which attn does not compute: num_kv_shared_layers is "
     "15 "
     "of 35 layers",
     NULL, NULL},
    {GEMMA_4 ", \"use_bidirectional_attention\": \"all\"}", PART_ONLY, 1, NULL, NULL,
     "use_bidirectional_attention is \"all\", expected true or false", NULL, NULL},
    {GEMMA_4 ", \"use_bidirectional_attention\": \"vision\"}", PART_ONLY, 1, NULL, "causal", "true", "family",
     "gemma4_text"},
    /* what a family's code does to its config */
    {"{\"model_type\": \"gemma4_text\", \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]}", PART_ONLY, 0,
     NULL, "window", "511,0", "family", "gemma4_text"},
    {"{\"model_type\": \"gemma4_text\", \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]}", PART_ONLY, 1,
     NULL, "window", "-1,-1", "config", "layer_types[1]"},
#define MIMO "{\"model_type\": \"mimo_v2_flash\", \"layer_types\": [\"sliding_attention\", \"full_attention\"]"
    {MIMO ", \"sliding_window\": 128, \"sliding_window_size\": 128}", PART_ONLY, 0, NULL, "window", "128,0", "config",
     "sliding_window_size"},
    {MIMO "}", PART_ONLY, 1, NULL, "rope_columns", "2", "family", "mimo_v2_flash"},
    {MIMO ", \"partial_rotary_factor\": 0.334, \"rope_theta\": 5000000}", PART_ONLY, 1, NULL, "rope_theta", "5000000",
     "config", "rope_theta"},
    {MIMO ", \"partial_rotary_factor\": 0.5}", PART_ONLY, 1, NULL, NULL,
     "partial_rotary_factor is 0.5, expected rope_parameters instead, for each kind of layer", NULL, NULL},
    {MIMO ", \"rope_local_base_freq\": 500}", PART_ONLY, 0, NULL, NULL,
     "rope_local_base_freq is 500, expected rope_parameters instead, for each kind of layer", NULL, NULL},
    {"{\"model_type\": \"minimax_m2\", \"rotary_dim\": 4, \"partial_rotary_factor\": 1}", PART_ONLY, 0, NULL, NULL,
     "partial_rotary_factor is 1, expected the share that the number of columns means", NULL, NULL},
    {"{\"model_type\": \"glm4_moe_lite\", \"qk_rope_head_dim\": 4, \"partial_rotary_factor\": 0.25}", PART_ONLY, 0,
     NULL, NULL, "partial_rotary_factor is 0.25, expected qk_rope_head_dim / head_dim", NULL, NULL},
    {"{\"model_type\": \"cwm\", \"layer_types\": [\"full_attention\"], \"rope_theta\": 500}", PART_ONLY, 0, NULL, NULL,
     "rope_theta is 500, expected rope_parameters with it", NULL, NULL},
    {"{\"model_type\": \"higgs_audio_v2\", \"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 2}}", PART_ONLY,
     0, NULL, NULL, "rope_theta is missing", NULL, NULL},
    {"{\"model_type\": \"ministral\", \"sliding_window\": 4, \"sliding_window_pattern\": 2}", PART_ONLY, 1, NULL,
     "window", "3,0", "config", "sliding_window"},
    {"{\"model_type\": \"olmo3\", \"sliding_window\": 4, \"sliding_window_pattern\": 2}", PART_ONLY, 3, NULL, "window",
     "-1,-1", "config", "sliding_window"},
    {"{\"model_type\": \"bloom\", \"is_causal\": false}", PART_ONLY, 0, NULL, NULL,
     "is_causal is false, expected true as in the rest of the family", NULL, NULL},
    {"{\"model_type\": \"falcon\", \"alibi\": true, \"is_causal\": false}", PART_ONLY, 0, NULL, NULL,
     "is_causal is false, expected true with alibi", NULL, NULL},
    {"{\"model_type\": \"modernbert\", \"local_attention\": 8, \"sliding_window\": 8}", PART_ONLY, 1, NULL, NULL,
     "sliding_window is 8, expected local_attention / 2", NULL, NULL},
    {"{\"model_type\": \"modernbert\", \"local_attention\": 8, \"sliding_window\": 4}", PART_ONLY, 1, NULL, "window",
     "4,4", "config", "local_attention"},
    {"{\"model_type\": \"ultrabert\", \"layer_types\": [\"sliding_attention\"], \"sliding_window\": 6}", PART_ONLY, 0,
     NULL, "window", "6,6", "config", "sliding_window"},
    {"{\"model_type\": \"mpt\", \"clip_qkv\": 2, \"attn_config\": {\"clip_qkv\": 3}}", PART_ONLY, 0, NULL, "clip", "3",
     "config", "attn_config.clip_qkv"},
    /* Hunyuan: a "dynamic" scaling with an alpha stretches theta; 8 columns */
    {"{\"model_type\": \"hunyuan_v1_moe\"}", PART_ONLY, 0, NULL, "qk_norm", "rms", "family", "hunyuan_v1_dense"},
#define ALPHA(kind, alpha)                                                                                           \
    "{\"model_type\": \"hunyuan_v1_dense\", \"max_position_embeddings\": 9, \"rope_theta\": 10, \"rope_scaling\": {" \
    "\"type\": \"" kind "\", \"factor\": 2" alpha "}}"
    {ALPHA("dynamic", ", \"alpha\": 8"), PART_ONLY, 0, NULL, "rope_theta", "159.99999999999997", "config",
     "rope_theta"},
    {ALPHA("dynamic", ", \"alpha\": 0"), PART_ONLY, 0, NULL, "rope_theta", "10", "config", "rope_theta"},
    {ALPHA("dynamic", ""), PART_ONLY, 0, NULL, "rope_scaling", "dynamic:factor=2,old=9", "config", "rope_scaling"},
    {ALPHA("linear", ", \"alpha\": 8"), PART_ONLY, 0, NULL, "rope_theta", "10", "config", "rope_theta"},
    {ALPHA("linear", ", \"alpha\": 8"), PART_ONLY, 0, NULL, "rope_scaling", "linear:factor=2", "config",
     "rope_scaling"},
    {LLAMA ", \"rope_scaling\": {\"type\": \"dynamic\", \"alpha\": 8, \"factor\": 2}}", PART_ONLY, 0, NULL, NULL,
     "attn does not know rope_scaling.alpha", NULL, NULL},
    {"{\"model_type\": \"hunyuan_vl_text\"}", PART_ONLY, 0, NULL, NULL,
     "the attention of 'hunyuan_vl_text', which has pairs of columns that turn by two axes", NULL, NULL},
/* without layer_types */
#define KINDS(type) "{\"model_type\": \"" type "\", \"num_hidden_layers\": 9, \"sliding_window\": 6}"
    {KINDS("gemma3n_text"), PART_ONLY, 4, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("gemma3n_text"), PART_ONLY, 5, NULL, "window", "5,0", "config", "sliding_window"},
    {KINDS("gemma4_text"), PART_ONLY, 4, NULL, "window", "5,0", "config", "sliding_window"},
    {KINDS("gemma4_text"), PART_ONLY, 5, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("gemma4_text"), PART_ONLY, 8, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("kolibri1"), PART_ONLY, 4, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("kolibri1"), PART_ONLY, 8, NULL, "window", "5,0", "config", "sliding_window"},
    {KINDS("mimo_v2_flash"), PART_ONLY, 0, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("mimo_v2_flash"), PART_ONLY, 1, NULL, "window", "5,0", "config", "sliding_window"},
    {KINDS("mimo_v2_flash"), PART_ONLY, 5, NULL, "window", "-1,-1", "config", "sliding_window"},
    {KINDS("ultrabert"), PART_ONLY, 0, NULL, NULL, "layer_types is missing", NULL, NULL},
    /* tokens before a grid */
    {"{\"model_type\": \"dinov3_vit\", \"num_register_tokens\": 4}", PART_ONLY, 0, NULL, "rope_axes",
     "h,w,restarted,centred,rest-first=5", "family", "dinov3_vit"},
    {"{\"model_type\": \"dinov3_vit\"}", PART_ONLY, 0, NULL, "rope_axes", "h,w,restarted,centred,rest-first=1",
     "family", "dinov3_vit"},
    /* of 8 columns three axes share 6 */
    {"{\"model_type\": \"minimax_m3_vl_vision\"}", PART_ONLY, 0, NULL, "rope_columns", "6", "family",
     "minimax_m3_vl_vision"},
    {"{\"model_type\": \"minimax_m3_vl\", \"vision_config\": {}}", PART_VISION, 0, NULL, "rope_axes",
     "t,h,w,restarted,merge=2", "family", "minimax_m3_vl_vision"},
    {"{\"model_type\": \"glm_moe_dsa\", \"index_topk\": 7, \"layer_types\": [\"indexed_attention\"]}", PART_ONLY, 0,
     NULL, "index_topk", "7", "config", "index_topk"},
    {"{\"model_type\": \"deepseek_v32\", \"index_topk\": 0}", PART_ONLY, 0, NULL, NULL,
     "index_topk is 0, expected a whole number from 1 on", NULL, NULL},
#define SHARES(more, layer)                                                                                        \
    {                                                                                                              \
        "{\"model_type\": \"glm_moe_dsa\", " more "}", PART_ONLY, (layer), NULL, "index_shared", "true", "family", \
            "glm_moe_dsa"                                                                                          \
    }
    SHARES("\"index_topk_freq\": 4", 2),
    SHARES("\"index_topk_freq\": 4", 4),
    SHARES("\"index_topk_freq\": 4, \"index_skip_topk_offset\": 0", 0),
    SHARES("\"index_topk_pattern\": \"FFS\"", 2),
    SHARES("\"index_topk_pattern\": [\"full\", \"shared\"]", 1),
    SHARES("\"indexer_types\": [\"full\", \"shared\"], \"index_topk_pattern\": \"FF\"", 1),
    {"{\"model_type\": \"glm_moe_dsa\", \"index_topk_freq\": -1}", PART_ONLY, 0, NULL, NULL,
     "index_topk_freq is -1, expected a whole number", NULL, NULL},
    /* queries that grow with their position */
    {"{\"model_type\": \"llama4_text\", \"no_rope_layers\": [1, 0]}", PART_ONLY, 1, NULL, "query_growth", "0.1,8192,1",
     "family", "llama4_text"},
    {"{\"model_type\": \"llama4_text\", \"no_rope_layers\": [1, 0], \"floor_scale\": 4, \"attn_scale\": 0.5}",
     PART_ONLY, 1, NULL, "query_growth", "0.5,4,1", "config", "floor_scale"},
#define GROWS(more) "{\"model_type\": \"ministral3\", \"rope_parameters\": {\"llama_4_scaling_beta\": 0.2" more "}}"
    {GROWS(", \"original_max_position_embeddings\": 7"), PART_ONLY, 0, NULL, "query_growth", "0.2,7", "config",
     "rope_parameters.llama_4_scaling_beta"},
    {GROWS(""), PART_ONLY, 0, NULL, NULL, "original_max_position_embeddings", NULL, NULL},
    {"{\"model_type\": \"ministral3\"}", PART_ONLY, 0, NULL, NULL,
     "rope_parameters is missing, which says how queries grow with their position", NULL, NULL},
    {GEMMA_4 "}", PART_ONLY, 0, NULL, "value_norm", "rms", "family", "gemma4_text"},
    {GEMMA_4 "}", PART_ONLY, 0, NULL, "rope_theta", "10000", "family", "gemma4_text"},
    {GEMMA_4 "}", PART_ONLY, 1, NULL, "rope_scaling", "proportional:share=0.25", "family", "gemma4_text"},
    {"{\"model_type\": \"pixtral\"}", PART_ONLY, 0, NULL, "rope_axes", "h,w,strided", "family", "pixtral"},
    {"{\"model_type\": \"video_llama_3_vision\"}", PART_ONLY, 0, NULL, NULL,
     "the attention of 'video_llama_3_vision', which has pictures whose tokens come in blocks", NULL, NULL},
    {"{\"model_type\": \"speech-encoder-decoder\", \"encoder\": {\"model_type\": \"vit\"}}", PART_ENCODER, 0, NULL,
     NULL, "config.json: model_type: attn does not know the family 'speech-encoder-decoder'", NULL, NULL},
    {"{\"model_type\": \"vision-encoder-decoder\", \"encoder\": {\"model_type\": \"vit\"}}", PART_ENCODER, 0, NULL,
     "family", "vit", "config", "encoder.model_type"},
    {"{\"model_type\": \"qwen2_5_vl\", \"vision_config\": {\"model_type\": \"qwen2_5_vl\"}}", PART_VISION, 0, NULL,
     "rope_axes", "h,w,restarted,frames-apart,merge=2,window=8,windows-apart", "family", "qwen2_5_vl_vision"},
    {"{\"model_type\": \"qwen2_5_vl\", \"vision_config\": {\"fullatt_block_indexes\": [3], \"window_size\": 60}}",
     PART_VISION, 3, NULL, "rope_axes", "h,w,restarted,frames-apart,merge=2,window=4", "family", "qwen2_5_vl_vision"},
    {"{\"model_type\": \"qwen2_5_vl\", \"vision_config\": {\"window_size\": 20}}", PART_VISION, 0, NULL, NULL,
     "vision_config.window_size", NULL, NULL},
    {"{\"model_type\": \"qwen2_vl\", \"vision_config\": {\"spatial_merge_size\": 3}}", PART_VISION, 0, NULL,
     "rope_axes", "h,w,restarted,frames-apart,merge=3", "family", "qwen2_vl_vision"},
    {"{\"model_type\": \"qwen3_vl_text\", \"rope_scaling\": {\"mrope_section\": [8, 4, 4]}}", PART_ONLY, 0, NULL,
     "rope_axes", "t8,h4,w4,interleaved", "config", "rope_scaling.mrope_section"},
    {"{\"model_type\": \"qwen3_vl_text\", \"rope_scaling\": {\"mrope_section\": [8, 4]}}", PART_ONLY, 0, NULL, NULL,
     "rope_scaling.mrope_section", NULL, NULL},
    {"{\"model_type\": \"qwen2_vl_text\"}", PART_ONLY, 0, NULL, "rope_axes", "t16,h24,w24", "family", "qwen2_vl_text"},
    {"{\"model_type\": \"paligemma\", \"text_config\": {\"model_type\": \"gemma\"}}", PART_TEXT, 0, NULL, NULL,
     "config.json: model_type: attn does not know the family 'paligemma'; choose", NULL, NULL},
    {"{\"model_type\": \"gemma3\", \"text_config\": {\"model_type\": \"x\"}}", PART_TEXT, 0, NULL, NULL,
     "text_config.model_type: attn does not know the family 'x'", NULL, NULL},
    /* no config at all */
    {"[]", PART_ONLY, 0, NULL, NULL, "holds an array; expected an object, like a model's config.json", NULL, NULL},
    {"{\"a\": 1, \"a\": 2}", PART_ONLY, 0, NULL, NULL, "key 'a' is given twice", NULL, NULL},
    {"{\"model_type\": \"llama\", \"rope_scaling\": {\"type\": 1, \"type\": 2}}", PART_ONLY, 0, NULL, NULL,
     "key 'type' is given twice", NULL, NULL},
    {"{\"model_type\": ", PART_ONLY, 0, NULL, NULL, "expected a value after ':'", NULL, NULL},
};

static void check_written(size_t i)
{
    struct asked asked = {.module = {.part = WRITTEN[i].part, .layer = WRITTEN[i].layer, .columns = 8},
                          .family = WRITTEN[i].family};
    check_begin("%s", WRITTEN[i].json);
    enum status status = read_written(WRITTEN[i].json, &asked);
    if (status == STATUS_OK)
        status = ask(&asked);
    if (WRITTEN[i].setting == NULL) {
        CHECK(status == STATUS_USAGE && strstr(asked.error.message, WRITTEN[i].text) != NULL, "expected '%s', got %s",
              WRITTEN[i].text, status == STATUS_OK ? "facts" : asked.error.message);
    } else if (CHECK(status == STATUS_OK, "expected facts, got: %s", asked.error.message)) {
        const struct layer_fact *fact = layer_facts_find(&asked.facts, WRITTEN[i].setting);
        if (CHECK(fact != NULL, "expected %s", WRITTEN[i].setting)) {
            CHECK_TEXT(WRITTEN[i].text, fact->text);
            CHECK_TEXT(WRITTEN[i].source, layer_fact_source_word(fact->source));
            CHECK_TEXT(WRITTEN[i].key, fact->key);
        }
    }
    forget(&asked);
}

/* --- keys that are not known ------------------------------------------------------------------------------------- */

static const struct {
    const char *json, *warning; /* NULL: none */
} UNKNOWN[] = {
    {LLAMA ", \"attention_bias\": false, \"hidden_act\": \"silu\", \"unheard_of\": 1}", NULL},
    {LLAMA ", \"attn_output_gate\": true}",
     "config.json: attn_output_gate may change attention, but attn does not read it; check the model's code"},
    {LLAMA ", \"attn_output_gate\": null}", NULL},
    {LLAMA ", \"key_multiplier\": 0.5, \"attention_multiplier\": 0.1}",
     "config.json: key_multiplier, attention_multiplier may change attention, but attn does not read them; check the "
     "model's code"},
    {"{\"model_type\": \"falcon_h1\", \"key_multiplier\": 0.5}", NULL},
    {"{\"model_type\": \"granite\", \"attention_multiplier\": 0.1}", NULL},
    {LLAMA ", \"key_noise\": 2, \"my_chunk\": [1], \"query_noise\": 0}",
     "config.json: key_noise, my_chunk, query_noise may change attention, but attn does not read them; check the "
     "model's code"},
    {"{\"model_type\": \"gemma3\", \"head_count_of_task\": 3, \"text_config\": {\"causal_blocks\": 2}}",
     "config.json: text_config.causal_blocks may change attention, but attn does not read it; check the model's code"},
    {"{\"model_type\": \"mpt\", \"attn_config\": {\"rope\": true, \"alibi\": true}}",
     "config.json: attn_config.rope may change attention, but attn does not read it; check the model's code"},
    {LLAMA ", \"a_mask\": 1, \"b_mask\": 1, \"c_mask\": 1, \"d_mask\": 1, \"e_mask\": 1, \"f_mask\": 1, \"g_mask\": 1, "
           "\"h_mask\": 1, \"i_mask\": 1}",
     "config.json: a_mask, b_mask, c_mask, d_mask, e_mask, f_mask, g_mask, h_mask and 1 more may change attention, but "
     "attn does not read them; check the model's code"},
};

static void check_unknown(void)
{
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof UNKNOWN[0]; i++) {
        struct asked asked = {.module.part = strstr(UNKNOWN[i].json, "text_config") != NULL ? PART_TEXT : PART_ONLY};
        check_begin("keys that are not known: %s", UNKNOWN[i].json);
        CHECK(read_written(UNKNOWN[i].json, &asked) == STATUS_OK, "%s", asked.error.message);
        CHECK_TEXT(UNKNOWN[i].warning != NULL ? UNKNOWN[i].warning : "", unknown_of(&asked));
        forget(&asked);
    }
}

/* Says what there is to say of a module, with this config and this folder. */
static void warn_of(const char *json, const char *folder, enum module_part part, struct layer_warnings *warnings,
                    struct arena *arena)
{
    struct asked asked = {0};
    const struct family_row *family;
    CHECK(read_written(json, &asked) == STATUS_OK, "%s", asked.error.message);
    const struct layer_module module = {.part = part};
    const struct options options = {0};
    const struct reading reading = {.options = &options,
                                    .checkpoint.folder = folder,
                                    .config = asked.config,
                                    .arena = arena,
                                    .error = &asked.error};
    CHECK(config_family(&asked.config, part, NULL, &family, &asked.error) == STATUS_OK &&
              layer_warn(&reading, &module, family, warnings) == STATUS_OK,
          "%s", asked.error.message);
    forget(&asked);
}

/* Another config and another folder, which a second look would find. */
static void check_once(void)
{
    char folder[] = "/tmp/attn-folder-XXXXXX", adapter[64], first[64], second[64];
    struct layer_warnings warnings = {0};
    struct arena arena = {0};
    check_begin("the config is searched once for each part, the folder once");
    CHECK(mkdtemp(folder) != NULL, "expected a folder");
    snprintf(first, sizeof first, "%s/", folder);
    snprintf(second, sizeof second, "%s/./", folder);
    snprintf(adapter, sizeof adapter, "%s/adapter_config.json", folder);
    FILE *file = fopen(adapter, "w");
    CHECK(file != NULL && fclose(file) == 0, "expected %s", adapter);
    warn_of("{\"model_type\": \"llama\", \"attn_gate\": 1}", first, PART_TEXT, &warnings, &arena);
    CHECK(warnings.count == 2 && strstr(warnings.texts[0], "attn_gate") != NULL &&
              strstr(warnings.texts[1], adapter) != NULL,
          "expected two warnings, got %zu", warnings.count);
    warn_of("{\"model_type\": \"llama\", \"rope_extra\": 1}", second, PART_TEXT, &warnings, &arena);
    CHECK(warnings.count == 2, "expected no other warning, got %s", warnings.texts[2]);
    warn_of("{\"model_type\": \"llama\", \"rope_extra\": 1}", second, PART_VISION, &warnings, &arena);
    CHECK(warnings.count == 3 && strstr(warnings.texts[2], "rope_extra") != NULL,
          "expected that of the other part, got %zu", warnings.count);
    unlink(adapter);
    rmdir(folder);
    arena_free(&arena);
}

/* What an option says is not asked of the config, which may be wrong there. */
static void check_options(void)
{
    static const struct layer_fact TOLD[] = {{"rope_scaling", "none", FACT_OPTION, NULL},
                                             {"rope_theta", "3", FACT_OPTION, NULL},
                                             {"rope_columns", "4", FACT_OPTION, NULL},
                                             {"kv_heads", "2", FACT_OPTION, NULL},
                                             {"scale", "5", FACT_OPTION, NULL}};
    struct asked asked = {.module.columns = 8};
    check_begin("options win over a config that is wrong");
    enum status status =
        read_written(LLAMA ", \"num_key_value_heads\": 3, \"rope_theta\": 0, \"partial_rotary_factor\": "
                           "0.5, \"rope_scaling\": {\"type\": \"x\", \"y\": 1}}",
                     &asked);
    for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0] && status == STATUS_OK; i++)
        status = layer_facts_add(&asked.facts, &TOLD[i], &asked.arena, &asked.error);
    if (CHECK(status == STATUS_OK && ask(&asked) == STATUS_OK, "expected facts, got: %s", asked.error.message)) {
        for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++)
            CHECK_TEXT(TOLD[i].text, text_of(&asked, TOLD[i].setting));
        CHECK_TEXT("half", text_of(&asked, "rope"));
    }
    forget(&asked);
}

/* Without a config a row alone speaks; by hand nobody does. */
static void check_without(void)
{
    struct asked asked = {.family = "mistral", .module.columns = 8};
    check_begin("a row without a config");
    CHECK(ask(&asked) == STATUS_OK, "expected facts, got: %s", asked.error.message);
    CHECK_TEXT("4095,0", text_of(&asked, "window"));
    CHECK_TEXT("32", text_of(&asked, "heads"));
    forget(&asked);
    check_begin("neither a row nor a config");
    CHECK(ask(&asked) == STATUS_OK && asked.facts.count == 0, "expected no facts, got %zu", asked.facts.count);
    forget(&asked);
    check_begin("a config that is not to be asked");
    asked.family = FAMILY_NONE;
    CHECK(read_written("{\"num_attention_heads\": \"x\"}", &asked) == STATUS_OK && ask(&asked) == STATUS_OK &&
              asked.facts.count == 0,
          "expected no facts, got %zu: %s", asked.facts.count, asked.error.message);
    forget(&asked);
}

/* Facts by themselves: the stronger source is believed, whichever comes first. */
static void check_facts(void)
{
    struct asked asked = {0};
    check_begin("facts of several sources");
    for (int first = 0; first < FACT_SOURCE_COUNT; first++)
        for (int second = 0; second < FACT_SOURCE_COUNT; second++) {
            const struct layer_fact facts[] = {{"heads", "1", (enum fact_source)first, NULL},
                                               {"heads", "2", (enum fact_source)second, "key"}};
            asked.facts.count = 0;
            CHECK(layer_facts_add(&asked.facts, &facts[0], &asked.arena, &asked.error) == STATUS_OK &&
                      layer_facts_add(&asked.facts, &facts[1], &asked.arena, &asked.error) == STATUS_OK &&
                      asked.facts.count == 1,
                  "expected one fact, got %zu", asked.facts.count);
            CHECK_TEXT(second >= first ? "2" : "1", text_of(&asked, "heads"));
        }
    forget(&asked);
}

/* A file that is larger than any config, and one that is not there. */
static void check_files(void)
{
    struct asked asked = {0};
    check_begin("files");
    CHECK(config_read("/dev/zero", &asked.config, &asked.error) == STATUS_USAGE &&
              strstr(asked.error.message, "larger than 16 MiB") != NULL,
          "expected an error, got %s", asked.error.message);
    CHECK(config_read("/dev/zero/config.json", &asked.config, &asked.error) == STATUS_SYSTEM,
          "expected an error, got %s", asked.error.message);
    forget(&asked);
}

int main(void)
{
    check_folder();
    for (size_t i = 0; i < sizeof WRITTEN / sizeof WRITTEN[0]; i++)
        check_written(i);
    check_unknown();
    check_once();
    check_options();
    check_without();
    check_facts();
    check_files();
    return check_end();
}
