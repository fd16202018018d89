/* SPDX-License-Identifier: MIT */
/* Checkpoints: which file of a folder is read, what an index may say, that a shard is opened for its own tensors alone,
 * and what is told where one is not as it should be. */
#include "check.h"
#include "model/safetensors_form.h"
#include "read/checkpoint.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 600, FILES = 4 };

/* A matrix of 2 x 2, or a list, in float32, at the beginning of the data. */
#define TENSOR(name, shape, end) "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[0," end "]}"
#define MATRIX "{" TENSOR("a.weight", "[2,2]", "16") "}"
#define OTHER "{" TENSOR("b.weight", "[2]", "8") "}"
#define MAP(entries) "{\"metadata\":{\"total_size\":1e11},\"weight_map\":{" entries "}}"

/* --- files ------------------------------------------------------------------------------------------------------- */

/* A file of a folder: a text, or with bytes of data the header of a .safetensors before them. */
struct file {
    const char *name, *text;
    size_t data;
};

static char folder[PATH_BYTES / 2];

static const char *path_of(const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

/* The numbers behind a header count up from 0. */
static void write_file(const struct file *file)
{
    char path[PATH_BYTES];
    const size_t length = strlen(file->text);
    const bool tensors = file->data > 0;
    FILE *stream = fopen(path_of(file->name, path), "wb");
    if (stream == NULL) {
        perror(path);
        exit(1);
    }
    for (size_t i = 0; i < SAFETENSORS_LENGTH_BYTES && tensors; i++)
        fputc((int)(length >> (i < 4 ? 8 * i : 31) & 255), stream);
    fputs(file->text, stream);
    for (size_t i = 0; i < file->data / sizeof(float); i++) {
        unsigned char bytes[sizeof(float)];
        dtype_encode(DTYPE_F32, &(double){(double)i}, 1, bytes);
        fwrite(bytes, 1, sizeof bytes, stream);
    }
    fclose(stream);
}

static void remove_files(const struct file *files)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < FILES && files[i].name != NULL; i++)
        unlink(path_of(files[i].name, path));
}

/* --- what is read ------------------------------------------------------------------------------------------------ */

/* clang-format off */
/* A folder, the file of it that is opened ("" the folder itself), what is listed, and a tensor of it: "2 x 2" and its
 * last number. Or what is told, of the opening or of the tensor. */
static const struct {
    const char *title;
    struct file files[FILES];
    const char *opened, *names, *tensor, *shape;
    double last;
    const char *told;
} CASES[] = {
    {"one file", {{"model.safetensors", MATRIX, 16}}, "", "a.weight", "a.weight", "2 x 2", 3, NULL},
    {"one file by its name", {{"model.safetensors", MATRIX, 16}}, "model.safetensors", "a.weight", "a.weight", "2 x 2", 3, NULL},
    {"the one that ends so", {{"weights-of-1900.safetensors", MATRIX, 16}, {"config.json", "{}", 0}}, "", "a.weight", "a.weight", "2 x 2", 3, NULL},
    {"model.safetensors before others", {{"adapter.safetensors", OTHER, 8}, {"model.safetensors", MATRIX, 16}}, "", "a.weight", "a.weight", "2 x 2", 3, NULL},
    {"the index before model.safetensors", {{"model.safetensors", MATRIX, 16}, {"one.safetensors", OTHER, 8}, {"model.safetensors.index.json", MAP("\"b.weight\":\"one.safetensors\""), 0}}, "", "b.weight", "b.weight", "2 numbers", 1, NULL},
    {"names of an index, sorted", {{"one", OTHER, 8}, {"two", MATRIX, 16}, {"i.json", MAP("\"b.weight\":\"one\",\"a.weight\":\"two\""), 0}}, "i.json", "a.weight b.weight", "b.weight", "2 numbers", 1, NULL},
    {"a shard that is not there is not missed before it is asked for", {{"one", OTHER, 8}, {"i.json", MAP("\"b.weight\":\"one\",\"a.weight\":\"two\""), 0}}, "i.json", "a.weight b.weight", "b.weight", "2 numbers", 1, NULL},
    {"a wrong one neither", {{"one", OTHER, 8}, {"two", "what is this", 0}, {"i.json", MAP("\"b.weight\":\"one\",\"a.weight\":\"two\""), 0}}, "i.json", "a.weight b.weight", "b.weight", "2 numbers", 1, NULL},
    {"blanks before an index", {{"one", OTHER, 8}, {"i.json", " \n" MAP("\"b.weight\":\"one\""), 0}}, "i.json", "b.weight", "b.weight", "2 numbers", 1, NULL},
    {"any dtype and any rank beside what is asked for", {{"m", "{" TENSOR("a", "[2,2]", "16") ",\"f\":{\"dtype\":\"F8_E8M0\",\"shape\":[8],\"data_offsets\":[16,24]},\"g\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]},\"h\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[28,32]},\"settings\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[32,36]}}", 36}}, "m", "a f g h settings", "a", "2 x 2", 3, NULL},
    /* the folder */
    {"nothing in it", {{"config.json", "{}", 0}}, "", NULL, NULL, NULL, 0, "a folder without a checkpoint; expected model.safetensors, pytorch_model.bin, or the index of shards"},
    {"two and no index", {{"a.safetensors", MATRIX, 16}, {"b.safetensors", OTHER, 8}}, "", NULL, NULL, NULL, 0, "2 files end in .safetensors, and no index says what is in them; name the one to read, or model.safetensors.index.json"},
    {"no such file", {{NULL, NULL, 0}}, "nowhere", NULL, NULL, NULL, 0, "nowhere: No such file or directory"},
    {"text", {{"a.txt", "what is this", 0}}, "a.txt", NULL, NULL, NULL, 0, "a.txt: not a file of tensors; expected a .safetensors, a .gguf, a .pt or .bin of torch.save, a .npz, or the index of shards"},
    {"empty", {{"a", "", 0}}, "a", NULL, NULL, NULL, 0, "a: not a file of tensors; expected"},
    {"an old .pt", {{"a.pt", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 0}}, "a.pt", NULL, NULL, NULL, 0, "a .pt of PyTorch before 1.6; save it again"},
    /* the index */
    {"no weight_map", {{"config.json", "{\"model_type\":\"llama\"}", 0}}, "config.json", NULL, NULL, NULL, 0, "config.json: no weight_map; expected an index of shards, which names the file of each tensor"},
    {"a list for a map", {{"i.json", "{\"weight_map\":[]}", 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: weight_map: expected an object of tensors and their files, got an array"},
    {"an empty map", {{"i.json", "{\"weight_map\":{}}", 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: weight_map is empty; expected tensors and their files"},
    {"two maps", {{"i.json", "{\"weight_map\":{},\"weight_map\":{}}", 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: key 'weight_map' is given twice; leave one out"},
    {"a name twice", {{"i.json", MAP("\"a\":\"one\",\"a\":\"two\""), 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: weight_map: key 'a' is given twice; leave one out"},
    {"a number for a file", {{"i.json", MAP("\"a\":1"), 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: weight_map: a: expected the name of a file, got a number"},
    {"a path that climbs", {{"i.json", MAP("\"a\":\"../one\""), 0}}, "i.json", NULL, NULL, NULL, 0, "i.json: weight_map: a: '../one' is not a plain name; expected the name of a file in the folder of the index"},
    {"an absolute path", {{"i.json", MAP("\"a\":\"/etc/passwd\""), 0}}, "i.json", NULL, NULL, NULL, 0, "'/etc/passwd' is not a plain name"},
    {"a folder above", {{"i.json", MAP("\"a\":\"..\""), 0}}, "i.json", NULL, NULL, NULL, 0, "'..' is not a plain name"},
    {"no name", {{"i.json", MAP("\"a\":\"\""), 0}}, "i.json", NULL, NULL, NULL, 0, "'' is not a plain name"},
    {"wrong JSON", {{"i.json", "{\"weight_map\":{\"a\" \"b\"}}", 0}}, "i.json", NULL, NULL, NULL, 0, "i.json:1:20: expected ':' after the key, got '\"'"},
    /* the shards */
    {"a shard that is missing", {{"i.json", MAP("\"a.weight\":\"two\""), 0}}, "i.json", "a.weight", "a.weight", NULL, 0, "two, which has a.weight by "},
    {"a shard without the tensor", {{"one", OTHER, 8}, {"i.json", MAP("\"a.weight\":\"one\""), 0}}, "i.json", "a.weight", "a.weight", NULL, 0, "one: has no tensor a.weight, which is in it by "},
    {"a shard that is an index", {{"i.json", MAP("\"a.weight\":\"i.json\""), 0}}, "i.json", "a.weight", "a.weight", NULL, 0, "i.json: not a file of tensors; expected"},
    {"a shard cut short", {{"one", OTHER, 4}, {"i.json", MAP("\"b.weight\":\"one\""), 0}}, "i.json", "b.weight", "b.weight", NULL, 0, "one: b.weight: data_offsets: 0 to 8, but the data are 4 bytes; the file is cut short or its header wrong"},
    {"no tensor of that name", {{"one", OTHER, 8}}, "one", "b.weight", "c.weight", NULL, 0, "one: has no tensor c.weight"},
    /* what cannot be computed with */
    {"F8", {{"m", "{\"f\":{\"dtype\":\"F8_E8M0\",\"shape\":[2,4],\"data_offsets\":[0,8]}}", 8}}, "m", "f", "f", NULL, 0, "m: f: attn does not read dtype 'F8_E8M0'; expected F32, F64, F16, BF16, F8_E4M3, F8_E5M2, I32, I64 or BOOL; dequantize them first: load the model in bfloat16 and save it by save_pretrained"},
    {"U8", {{"m", "{\"f\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 8}}, "m", "f", "f", NULL, 0, "m: f: attn does not read dtype 'U8'"},
    {"a single number", {{"m", "{" TENSOR("g", "[]", "4") "}", 4}}, "m", "g", "g", NULL, 0, "m: g: a single number; expected numbers in 1 to 4 axes"},
    {"five axes", {{"m", "{" TENSOR("g", "[1,1,1,1,1]", "4") "}", 4}}, "m", "g", "g", NULL, 0, "m: g: more axes than attn has; expected numbers in 1 to 4 axes"},
    {"no numbers", {{"m", "{" TENSOR("z", "[1]", "4") ",\"g\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}", 4}}, "m", "g z", "g", NULL, 0, "m: g: empty; expected numbers in 1 to 4 axes"},
};
/* clang-format on */

static void check_told(const char *expected, const struct error *error)
{
    CHECK(expected != NULL && strstr(error->message, expected) != NULL, "expected: %s\n     got: %s",
          expected != NULL ? expected : "no error", error->message);
}

static void check_names(const char *expected, const struct checkpoint *checkpoint)
{
    char names[200];
    struct text text = text_begin(names, sizeof names);
    for (size_t i = 0; i < checkpoint->count; i++)
        text_add(&text, "%s%s", i > 0 ? " " : "", checkpoint->names[i].text);
    CHECK_TEXT(expected, names);
}

static void check_case(size_t at)
{
    char path[PATH_BYTES], shape[TENSOR_SHAPE_BYTES];
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct tensor tensor;
    struct error error = {0};
    double last;
    check_begin("%s", CASES[at].title);
    for (size_t i = 0; i < FILES && CASES[at].files[i].name != NULL; i++)
        write_file(&CASES[at].files[i]);
    path_of(CASES[at].opened, path);
    if (checkpoint_open(path, &arena, &checkpoint, &error) != STATUS_OK)
        check_told(CASES[at].names == NULL ? CASES[at].told : NULL, &error);
    else if (CHECK(CASES[at].names != NULL, "expected an error, got %zu names", checkpoint.count)) {
        check_names(CASES[at].names, &checkpoint);
        if (checkpoint_take(&checkpoint, CASES[at].tensor, &tensor, &error) != STATUS_OK)
            check_told(CASES[at].told, &error);
        else if (CHECK(CASES[at].told == NULL, "expected an error, got a tensor")) {
            CHECK_TEXT(CASES[at].shape, tensor_shape_text(&tensor, shape));
            tensor_load(&tensor, tensor_count(&tensor) - 1, 1, &last);
            CHECK(last == CASES[at].last, "expected %g as the last number, got %g", CASES[at].last, last);
        }
    }
    arena_free(&arena);
    remove_files(CASES[at].files);
}

/* --- .pt --------------------------------------------------------------------------------------------------------- */

/* What torch.save wrote (tests/golden/archive): tensors by their names, how many, and what is told instead. */
static const struct {
    const char *path;
    size_t count;
    const char *told;
} ARCHIVES[] = {
    {"tests/golden/archive/state-dict.pt", 4, NULL},
    {"tests/golden/archive/checkpoint.pt", 4, NULL},
    {"tests/golden/archive/operands.pt", 3, NULL},
    {"tests/golden/archive/big-endian.pt", 4, NULL},
    {"tests/golden/archive/alone.pt", 0, "alone.pt: a tensor without a name, and parameters need names"},
    {"tests/golden/archive/two-dicts.pt", 3, NULL} /* the model, not its optimizer */,
    {"tests/golden/archive/operands.npz", 3, NULL},
    {"tests/golden/archive/alone.npz", 0, "alone.npz: a tensor without a name, and parameters need names"},
};

static void check_archive(size_t at)
{
    struct arena arena = {0};
    struct checkpoint checkpoint;
    const struct named_tensor *look;
    struct tensor tensor;
    struct error error = {0};
    check_begin("%s", ARCHIVES[at].path);
    if (checkpoint_open(ARCHIVES[at].path, &arena, &checkpoint, &error) != STATUS_OK)
        check_told(ARCHIVES[at].told, &error);
    else if (CHECK(ARCHIVES[at].told == NULL && checkpoint.count == ARCHIVES[at].count, "expected %zu tensors, got %zu",
                   ARCHIVES[at].count, checkpoint.count))
        for (size_t i = 0; i < checkpoint.count; i++) {
            const char *name = checkpoint.names[i].text;
            CHECK(checkpoint_look(&checkpoint, name, &look, &error) == STATUS_OK && strcmp(look->name, name) == 0,
                  "%s: %s", name, error.message);
            CHECK(checkpoint_take(&checkpoint, name, &tensor, &error) == STATUS_OK, "%s: %s", name, error.message);
        }
    arena_free(&arena);
}

/* --- large ------------------------------------------------------------------------------------------------------- */

/* A shard of 100 GB, nearly all of it a hole, of which one small tensor is read. */
static void check_large(void)
{
    const struct file file = {
        "large",
        "{\"l\":{\"dtype\":\"BF16\",\"shape\":[50000000,1000],\"data_offsets\":[16,100000000016]}," TENSOR("a", "[2,2]",
                                                                                                           "16") "}",
        16};
    char path[PATH_BYTES];
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct tensor tensor;
    struct error error = {0};
    check_begin("a file of 100 GB");
    if (sizeof(void *) < 8) {
        check_skip("addresses of 32 bits");
        return;
    }
    write_file(&file);
    if (truncate(path_of("large", path), (off_t)(SAFETENSORS_LENGTH_BYTES + strlen(file.text) + 16) + 100000000000) !=
        0)
        check_skip("this file system has no such files");
    else if (CHECK(checkpoint_open(path, &arena, &checkpoint, &error) == STATUS_OK &&
                       checkpoint_take(&checkpoint, "a", &tensor, &error) == STATUS_OK,
                   "expected a tensor, got: %s", error.message))
        CHECK(((float *)tensor.data)[3] == 3, "expected 3, got %g", (double)((float *)tensor.data)[3]);
    arena_free(&arena);
    unlink(path);
}

/* An index of more than 64 MiB is not parsed. */
static void check_large_index(void)
{
    const struct file file = {"i.json", MAP("\"a\":\"one\""), 0};
    char path[PATH_BYTES];
    struct arena arena = {0};
    struct checkpoint checkpoint;
    struct error error = {0};
    check_begin("an index of 100 MB");
    write_file(&file);
    if (truncate(path_of("i.json", path), 100000000) != 0)
        check_skip("this file system has no such files");
    else if (CHECK(checkpoint_open(path, &arena, &checkpoint, &error) == STATUS_USAGE, "expected an error"))
        check_told("i.json: 100000000 bytes of JSON; expected an index of at most 67108864", &error);
    arena_free(&arena);
    unlink(path);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/attn-checkpoint-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        check_case(i);
    for (size_t i = 0; i < sizeof ARCHIVES / sizeof ARCHIVES[0]; i++)
        check_archive(i);
    check_large();
    check_large_index();
    rmdir(folder);
    return check_end();
}
