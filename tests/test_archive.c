/* SPDX-License-Identifier: MIT */
/* .pt and .npz: what PyTorch and NumPy write is read, number for number and in its place; an archive or a pickle that
 * lies is refused with a reason, and nothing in it is ever run. */
#include "archives.h"
#include "check.h"
#include "read/archive.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EVERYTHING = INPUT_FILE_INPUTS | INPUT_FILE_PARAMETER | INPUT_FILE_MASKING | INPUT_FILE_BUFFER | INPUT_FILE_OPERAND,
    STORED = 64, /* bytes of data/0 */
};

/* --- goldens ----------------------------------------------------------------------------------------------------- */

/* What tests/golden/archive/make_archive.py says of a tensor's numbers. */
static double golden_number(enum dtype dtype, size_t k)
{
    if (dtype == DTYPE_BOOL)
        return k % 3 == 0;
    return dtype == DTYPE_I64 ? (double)k - 5 : ((double)k - 5) / 2;
}

struct golden_tensor {
    const char *name;
    enum dtype dtype;
    size_t count;
    bool repeated; /* its first number stands for all */
};

static void check_tensor(const struct input_file *input, const struct golden_tensor *golden)
{
    double numbers[16];
    const struct file_tensor *found = input_file_find(input, golden->name);
    if (!CHECK(found != NULL, "%s: expected a tensor", golden->name))
        return;
    const struct tensor *tensor = &found->tensor;
    CHECK(tensor->dtype == golden->dtype, "%s: expected %s, got %s", golden->name, dtype_name(golden->dtype),
          dtype_name(tensor->dtype));
    if (!CHECK(tensor_count(tensor) == golden->count, "%s: expected %zu numbers, got %zu", golden->name, golden->count,
               tensor_count(tensor)))
        return;
    tensor_load(tensor, 0, golden->count, numbers);
    for (size_t k = 0; k < golden->count; k++) {
        const double expected = golden_number(golden->dtype, golden->repeated ? 0 : k);
        CHECK(numbers[k] == expected, "%s: number %zu: expected %g, got %g", golden->name, k, expected, numbers[k]);
    }
}

#define VIEWS 9

static const struct {
    const char *path;
    struct golden_tensor tensors[VIEWS]; /* none has the name NULL */
    bool nameless;
} GOLDENS[] = {
    {"small.pt", {{"inputs", DTYPE_F32, 12, false}}, false},
    {"alone.pt", {{"inputs", DTYPE_F32, 12, false}}, true},
    {"wide.pt", {{"inputs", DTYPE_F32, 12, false}}, false},
    {"views.pt",
     {{"inputs", DTYPE_F64, 12, false},
      {"W_query", DTYPE_F32, 8, false},
      {"W_query.bias", DTYPE_F32, 2, false},
      {"W_key", DTYPE_F16, 8, false},
      {"W_key.bias", DTYPE_I64, 2, false},
      {"W_value", DTYPE_BF16, 8, false},
      {"W_value.bias", DTYPE_F32, 2, true},
      {"attn_mask", DTYPE_BOOL, 9, false}},
     false},
    {"big-endian.pt",
     {{"inputs", DTYPE_F64, 12, false},
      {"W_query", DTYPE_F32, 8, false},
      {"W_key", DTYPE_F16, 8, false},
      {"W_value", DTYPE_I64, 8, false}},
     false},
    {"arrays.npz",
     {{"inputs", DTYPE_F64, 12, false},
      {"W_query", DTYPE_F32, 8, false},
      {"W_key", DTYPE_F16, 8, false},
      {"W_value", DTYPE_I64, 8, false}},
     false},
    {"alone.npz", {{"inputs", DTYPE_F32, 12, false}}, true},
    {"streamed.npz", {{"inputs", DTYPE_F32, 12, false}}, false},
};

static void check_golden(size_t which)
{
    char path[128];
    size_t length;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    snprintf(path, sizeof path, "tests/golden/archive/%s", GOLDENS[which].path);
    check_begin("%s", path);
    unsigned char *bytes = (unsigned char *)support_bytes(path, &length);
    enum status status = named_tensors_read(archive_read, path, bytes, length, EVERYTHING, &arena, &input, &error);
    if (CHECK(status == STATUS_OK, "expected tensors, got: %s", error.message)) {
        CHECK(input.nameless == GOLDENS[which].nameless && !input.is_text, "expected %s name",
              GOLDENS[which].nameless ? "no" : "a");
        for (size_t i = 0; i < VIEWS && GOLDENS[which].tensors[i].name != NULL; i++)
            check_tensor(&input, &GOLDENS[which].tensors[i]);
    }
    arena_free(&arena);
    free(bytes);
}

/* The buffer of bytes, and a state_dict with the versions of modules, are the same as those of a .safetensors. */
static void check_state_dict(const char *path, size_t count)
{
    size_t length;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    check_begin("%s", path);
    unsigned char *bytes = (unsigned char *)support_bytes(path, &length);
    enum status status = named_tensors_read(archive_read, path, bytes, length, INPUT_FILE_PARAMETER | INPUT_FILE_BUFFER,
                                            &arena, &input, &error);
    if (CHECK(status == STATUS_OK, "expected tensors, got: %s", error.message)) {
        CHECK(input.tensor_count == count, "expected %zu tensors, got %zu", count, input.tensor_count);
        const struct file_tensor *query = input_file_find(&input, "W_query.weight");
        if (CHECK(query != NULL, "expected W_query.weight"))
            CHECK(query->tensor.shape[0] == 2 && query->tensor.shape[1] == 3, "expected 2 x 3");
    }
    arena_free(&arena);
    free(bytes);
}

/* Where nothing needs to be changed, the tensor lies in the file. */
static void check_stays(const char *path, size_t alignment)
{
    size_t length;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    check_begin("%s: numbers stay in the file", path);
    unsigned char *bytes = (unsigned char *)support_bytes(path, &length);
    const unsigned short one = 1;
    const unsigned char *data = NULL;
    if (named_tensors_read(archive_read, "file", bytes, length, INPUT_FILE_INPUTS, &arena, &input, &error) == STATUS_OK)
        data = input.tensors[0].tensor.data;
    if (*(const unsigned char *)&one == 1)
        CHECK(data > bytes && data < bytes + length && (size_t)(data - bytes) % alignment == 0,
              "expected the tensor in the file, at a multiple of %zu bytes", alignment);
    arena_free(&arena);
    free(bytes);
}

/* --- archives ---------------------------------------------------------------------------------------------------- */

static void check_message(const char *message, const unsigned char *bytes, size_t length)
{
    char expected[512];
    struct error error;
    support_binary(archive_read, bytes, length, &error);
    snprintf(expected, sizeof expected, "%s%s", message ? "file: " : "", message ? message : "");
    CHECK_TEXT(expected, error.message);
}

static const char NPY[] = "\x93NUMPY\1\0\x36\0{'descr':'<f4','fortran_order':False,'shape':(1,1)}  \n\0\0\0\0";

/* An archive of two arrays, of which a number is then changed. */
static struct archive *two_arrays(void)
{
    static struct archive archive;
    archive.length = archive.directory_length = archive.count = 0;
    archive_add(&archive, "W_key.npy", NPY, sizeof NPY - 1);
    archive_add(&archive, "inputs.npy", NPY, sizeof NPY - 1);
    archive_end(&archive);
    return &archive;
}

/* Where the parts of that archive begin. */
enum {
    ARRAY = sizeof NPY - 1,
    LOCAL_1 = 0,
    LOCAL_2 = 30 + 9 + ARRAY,
    LISTED_1 = LOCAL_2 + 30 + 10 + ARRAY,
    LISTED_2 = LISTED_1 + 46 + 9,
    END = LISTED_2 + 46 + 10,
};

#define OTHER " in the zip archive is another thing where it lies than in the directory"
#define OUTSIDE " in the zip archive lies outside of the file, or in its directory"

static const struct {
    const char *what;
    size_t at, size;
    uint64_t number;
    const char *message; /* NULL: it is read */
} LIES[] = {
    {"nothing", 0, 0, 0, NULL},
    {"a signature of the end", END, 1, 0,
     "a zip archive without its end; the file is cut short, or more bytes follow it"},
    {"a comment that is not there", END + 20, 2, 1,
     "a zip archive without its end; the file is cut short, or more bytes follow it"},
    {"another disk", END + 4, 2, 1, "one part of a split zip archive; give one file"},
    {"entries on another disk", END + 8, 2, 1, "one part of a split zip archive; give one file"},
    {"an entry on another disk", LISTED_1 + 34, 2, 1, "one part of a split zip archive; give one file"},
    {"a directory beyond the end", END + 16, 4, END + 1,
     "the zip archive's directory has 111 bytes from 327 on, expected it to end at 326"},
    {"a directory of another size", END + 12, 4, 110,
     "the zip archive's directory has 110 bytes from 215 on, expected it to end at 326"},
    {"a directory of four gigabytes", END + 12, 4, 0xffffffff,
     "the zip archive's directory has 4294967295 bytes from 215 on, expected it to end at 326"},
    {"too many entries", END + 8, 4, 0xffffffff, "the zip archive has 65535 entries, but its directory has 111 bytes"},
    {"too few entries", END + 8, 4, 0x00010001, "the zip archive's directory has 56 bytes too many"},
    {"no entry", END + 8, 4, 0, "the zip archive's directory has 111 bytes too many"},
    {"no signature in the directory", LISTED_2, 1, 0, "the zip archive's directory is damaged"},
    {"a name beyond the directory", LISTED_2 + 28, 2, 0xffff, "the zip archive's directory is damaged"},
    {"an extra field beyond the directory", LISTED_2 + 30, 2, 1, "the zip archive's directory is damaged"},
    {"an empty name", LISTED_1 + 28, 2, 0, "'' in the zip archive has an empty name, or a NUL byte in it"},
    {"a NUL in a name", LISTED_1 + 46, 1, 0, "'' in the zip archive has an empty name, or a NUL byte in it"},
    {"an absolute name", LISTED_1 + 46, 1, '/',
     "'/_key.npy' in the zip archive is no relative path; expected names such as data/0"},
    {"a drive", LISTED_1 + 47, 1, ':',
     "'W:key.npy' in the zip archive is no relative path; expected names such as data/0"},
    {"a path of Windows", LISTED_1 + 47, 1, '\\',
     "'W\\key.npy' in the zip archive is no relative path; expected names such as data/0"},
    {"a name that climbs", LISTED_1 + 46, 3, 0x2f2e2e,
     "'../ey.npy' in the zip archive climbs out of it; expected names such as data/0"},
    {"a compressed entry", LISTED_1 + 10, 2, 8,
     "'W_key.npy' in the zip archive is compressed; expected it stored: by numpy.savez, not numpy.savez_compressed, or "
     "by "
     "torch.save(torch.load('x.pt'), 'y.pt')"},
    {"an encrypted entry", LISTED_1 + 8, 2, 1, "'W_key.npy' in the zip archive is encrypted; expected it as it is"},
    {"strong encryption", LISTED_1 + 8, 2, 64, "'W_key.npy' in the zip archive is encrypted; expected it as it is"},
    {"two sizes", LISTED_1 + 24, 4, 5, "'W_key.npy' in the zip archive is stored, but in two sizes"},
    {"a size of 64 bits that is not there", LISTED_1 + 20, 4, 0xffffffff,
     "'W_key.npy' in the zip archive lacks its size, or where it begins"},
    {"a place of 64 bits that is not there", LISTED_1 + 42, 4, 0xffffffff,
     "'W_key.npy' in the zip archive lacks its size, or where it begins"},
    {"an entry in the directory", LISTED_2 + 42, 4, LISTED_1, "'inputs.npy'" OUTSIDE},
    {"an entry beyond the file", LISTED_2 + 42, 4, 0xfffffffe, "'inputs.npy'" OUTSIDE},
    {"two entries in one place", LISTED_2 + 42, 4, 0, "'inputs.npy'" OTHER},
    {"another name where it lies", LOCAL_1 + 30, 1, 'V', "'W_key.npy'" OTHER},
    {"a shorter name where it lies", LOCAL_1 + 26, 2, 8, "'W_key.npy'" OTHER},
    {"no signature where it lies", LOCAL_1 + 3, 1, 0, "'W_key.npy'" OTHER},
    {"another size where it lies", LOCAL_1 + 22, 4, 5, "'W_key.npy'" OTHER},
    {"compressed where it lies", LOCAL_1 + 8, 2, 8, "'W_key.npy'" OTHER},
    {"encrypted where it lies", LOCAL_1 + 6, 2, 1, "'W_key.npy'" OTHER},
    {"data in the directory", LOCAL_2 + 28, 2, 1, "'inputs.npy'" OUTSIDE},
    {"data in the next entry", LOCAL_1 + 28, 2, 1, "'W_key.npy' and 'inputs.npy' overlap in the zip archive"},
    {"a descriptor behind the data", LOCAL_1 + 6, 2, 8, NULL},
    {"a checksum of data that are mapped", LISTED_1 + 16, 4, 0, NULL},
};

static void check_lies(void)
{
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        struct archive *archive = two_arrays();
        check_begin("an archive that lies: %s", LIES[i].what);
        archive_number(archive->bytes + LIES[i].at, LIES[i].number, LIES[i].size);
        check_message(LIES[i].message, archive->bytes, archive->length);
    }
}

/* Of the archive of one entry that is named so; what is in it is no array. */
static void check_one(const char *name, const char *twice, const char *message)
{
    static struct archive archive;
    check_begin("an archive with %s%s", name, twice);
    archive.length = archive.directory_length = archive.count = 0;
    archive_add(&archive, name, "", 0);
    if (twice[0] != '\0')
        archive_add(&archive, twice, "", 0);
    archive_end(&archive);
    check_message(message, archive.bytes, archive.length);
}

/* Of the archive of one array, whose entry has its first bytes alone. */
static void check_cut_entry(size_t length, const char *message)
{
    static struct archive archive;
    check_begin("an archive with %zu bytes of an array", length);
    archive.length = archive.directory_length = archive.count = 0;
    archive_add(&archive, "inputs.npy", NPY, length);
    archive_end(&archive);
    check_message(message, archive.bytes, archive.length);
}

static void check_entries(void)
{
    check_cut_entry(40, "inputs: a header of 54 bytes, but only 30 follow; the entry is cut short");
    check_cut_entry(67, "inputs: 3 bytes of numbers, expected 4: 1 x 1 of f32; the entry is cut short");
    check_one("a/../b", "", "'a/../b' in the zip archive climbs out of it; expected names such as data/0");
    check_one("a/..", "", "'a/..' in the zip archive climbs out of it; expected names such as data/0");
    check_one("..", "", "'..' in the zip archive climbs out of it; expected names such as data/0");
    check_one("x", "x", "'x' in the zip archive is there twice; expected it once");
    check_one("a..b/...", "", "a zip archive with a..b/... in it; expected a .pt, as torch.save writes it, or a .npz");
    check_one("folder/", "", "a zip archive with nothing in it; expected a .pt, as torch.save writes it, or a .npz");
    check_one("data.pkl", "", "a zip archive with data.pkl in it; expected a .pt, as torch.save writes it, or a .npz");
    check_one("inputs.npy", "", "'inputs.npy' in the zip archive is not an array; write the file with numpy.savez");
    check_one("inputs.npy", "readme",
              "'inputs.npy' in the zip archive is not an array; write the file with numpy.savez");
    check_one("mask.npy", "readme", "'readme' in the zip archive is not an array; write the file with numpy.savez");
    check_one("tokens.npy", "", "tokens is a tensor; write it in JSON or .safetensors");
    check_one("input.npy", "", "unknown key 'input'; did you mean 'inputs'?");
    check_one("arr_1.npy", "",
              "arr_1 is one of several tensors without names; name them: numpy.savez(file, inputs=x, "
              "W_query=w)");
    check_one("a/data.pkl", "", "byte 1 of the pickle: the pickle ends without a STOP");
}

/* A stage of a result in bfloat16, which NumPy lacks, as its bits. */
static void check_bits(void)
{
    static struct archive archive;
    enum { DESCR = 21, NUMBERS = 64 };
    char npy[sizeof NPY - 1];
    double number = 0;
    struct arena arena = {0};
    struct input_file input;
    struct error error = {0};
    check_begin("the bits of bfloat16");
    memcpy(npy, NPY, sizeof npy);
    memcpy(npy + DESCR, "u2", 2);
    memcpy(npy + NUMBERS, "\xc0\x3f", 2);
    archive.length = archive.directory_length = archive.count = 0;
    archive_add(&archive, "context.npy", npy, NUMBERS + 2);
    archive_add(&archive, "inputs.npy", NPY, sizeof npy);
    archive_end(&archive);
    if (CHECK(named_tensors_read(archive_read, "file", archive.bytes, archive.length, INPUT_FILE_OF_DIFF, &arena,
                                 &input, &error) == STATUS_OK,
              "expected an archive, got: %s", error.message)) {
        tensor_load(&input.tensors[0].tensor, 0, 1, &number);
        CHECK_TEXT("context", input.tensors[0].name);
        CHECK(input.tensors[0].tensor.dtype == DTYPE_BF16 && number == 1.5, "expected 1.5 in bf16, got %g", number);
    }
    arena_free(&arena);
}

/* --- pickles ----------------------------------------------------------------------------------------------------- */

#define ORDERED "ccollections\nOrderedDict\n)R"
#define STORAGE_OF(type, key, numbers) "(\x8c\7storagectorch\n" type "\n\x8c\1" key "\x8c\3cpu" numbers "tQ"
#define STORAGE STORAGE_OF("FloatStorage", "0", "K\x10")
#define VIEW_OF(storage, offset, sizes, strides) \
    "ctorch._utils\n_rebuild_tensor_v2\n(" storage offset sizes strides "\x89" ORDERED "tR"
#define VIEW VIEW_OF(STORAGE, "K\0", "K\4K\4\x86", "K\4K\1\x86")
#define INPUTS "\x8c\6inputs"
#define NAMED(tensor) "}" INPUTS tensor "s."
#define ROW(pickle, message)                \
    {                                       \
        pickle, sizeof(pickle) - 1, message \
    }
#define NOT_RUN                                                                                \
    "', a Python object such as a module; attn runs nothing from a file; save named tensors: " \
    "torch.save(model.state_dict(), ...)"
#define REACHES "inputs: its sizes and strides reach beyond the 16 numbers of 'a/data/0'"
#define NO_SIZE "inputs: a size or a stride is no whole number from 0 on"

static const struct {
    const char *bytes;
    size_t length;
    const char *message; /* NULL: it is read */
} PICKLES[] = {
    ROW(NAMED(VIEW), NULL),
    ROW("\x80\2" NAMED(VIEW), NULL),
    ROW("\x80\5\x95\1\0\0\0\0\0\0\0" NAMED(VIEW), NULL),
    ROW(VIEW ".", NULL),
    ROW("}\x8c\5model" NAMED(VIEW "s") "", NULL),
    ROW("}(\x8c\1xK\1\x8c\1yN\x8c\1z\x88\x8c\1w]\x8c\1vG\0\0\0\0\0\0\0\0\x8c\1u}" INPUTS VIEW "u.", NULL),
    ROW(ORDERED "(" INPUTS VIEW "u}\x8c\x09_metadata" ORDERED "sb.", NULL),
    ROW("}" INPUTS "\x8c\x0ctorch._utils\x8c\x12_rebuild_tensor_v2\x93(" STORAGE "K\0K\4\x85K\1\x85\x89" ORDERED "tRs.",
        NULL),
    ROW("}" INPUTS VIEW "q\0s\x8c\1x]h\0as.", NULL),
    /* nothing is run */
    ROW("cos\nsystem\n\x8c\2id\x85R.", "holds 'os.system" NOT_RUN),
    ROW("\x8c\2os\x8c\6system\x93\x8c\2id\x85R.", "holds 'os.system" NOT_RUN),
    ROW("c__main__\nSelfAttention\n)\x81}b.", "holds '__main__.SelfAttention" NOT_RUN),
    ROW("cbuiltins\neval\n.", "holds 'builtins.eval" NOT_RUN),
    ROW("ctorch\ndevice\n\x8c\3cpu\x85R.", "holds 'torch.device" NOT_RUN),
    ROW("ctorch\nload\n\x8c\1x\x85R.", "holds 'torch.load" NOT_RUN),
    ROW("ctorch._utils\n_rebuild_tensor_v2\n.", "holds no tensor; save a state_dict: torch.save(model.state_dict(), "
                                                "...)"),
    ROW("ios\nsystem\n.", "byte 1 of the pickle: opcode 0x69, which torch.save does not write"),
    ROW(")\x81.", "byte 2 of the pickle: opcode 0x81, which torch.save does not write"),
    ROW("K\1)R.", "byte 4 of the pickle: a call that torch.save does not write"),
    ROW("ccollections\nOrderedDict\nK\1R.", "byte 28 of the pickle: a call that torch.save does not write"),
    ROW("ccollections\nOrderedDict\nK\1\x85R.", "byte 29 of the pickle: a call that torch.save does not write"),
    ROW("ctorch._utils\n_rebuild_tensor_v2\n)R.", "byte 35 of the pickle: a call that torch.save does not write"),
    ROW("ctorch._utils\n_rebuild_parameter\nK\1K\1K\1\x87R.", "byte 41 of the pickle: a parameter that is no tensor"),
    ROW("}}b.", "byte 3 of the pickle: a state of no OrderedDict"),
    ROW(ORDERED "K\1b.", "byte 30 of the pickle: a state of no OrderedDict"),
    ROW("K\1Q.", "byte 3 of the pickle: a persistent id that is no tuple"),
    /* the machine */
    ROW("", "byte 1 of the pickle: the pickle ends without a STOP"),
    ROW("}", "byte 2 of the pickle: the pickle ends without a STOP"),
    ROW(".", "byte 1 of the pickle: needs a value that is not there"),
    ROW("(.", "byte 2 of the pickle: needs a value that is not there"),
    ROW("K", "byte 1 of the pickle: the pickle ends within it"),
    ROW("X\xff\xff\xff\xff", "byte 1 of the pickle: the pickle ends within it"),
    ROW("\x8c\1", "byte 1 of the pickle: the pickle ends within it"),
    ROW("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "byte 1 of the pickle: the pickle ends within it"),
    ROW("\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", "byte 1 of the pickle: the pickle ends within it"),
    ROW("\x8b\xff\xff\xff\xff.", "byte 1 of the pickle: the pickle ends within it"),
    ROW("\x80\6}.", "byte 1 of the pickle: a protocol of a later Python"),
    ROW("\x95\2\0\0\0\0\0\0\0.", "byte 1 of the pickle: a frame beyond the end"),
    ROW("c", "byte 1 of the pickle: a name without an end"),
    ROW("ctorch\nFloat", "byte 1 of the pickle: a name without an end"),
    ROW("K\1K\1\x93.", "byte 5 of the pickle: a name that is no string"),
    ROW("}}.", "byte 3 of the pickle: ends with more than one value"),
    ROW("}.}", "the pickle has 1 bytes after its end"),
    ROW("t.", "byte 1 of the pickle: needs a mark that is not there"),
    ROW("a.", "byte 1 of the pickle: needs a value that is not there"),
    ROW("K\1a.", "byte 3 of the pickle: needs a list"),
    ROW("}K\1a.", "byte 4 of the pickle: needs a list"),
    ROW("](a.", "byte 3 of the pickle: needs a value that is not there"),
    ROW("]K\1K\1s.", "byte 6 of the pickle: needs a dict"),
    ROW("}(K\1u.", "byte 5 of the pickle: has a key without a value"),
    ROW("h\0.", "byte 1 of the pickle: asks for a value that has no such number"),
    ROW("}q\1.", "byte 2 of the pickle: numbers a value out of turn"),
    ROW("}r\xff\xff\xff\xff.", "byte 2 of the pickle: numbers a value out of turn"),
    ROW("(q\0.", "byte 2 of the pickle: needs a value that is not there"),
    ROW("]q\0h\0a.", "holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)"),
    ROW("}q\0\x8c\1xh\0s.", "holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)"),
    /* which tensors */
    ROW("N.", "holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)"),
    ROW("}.", "holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)"),
    ROW("]" VIEW "a.", "its tensors have no names; save a dict: torch.save({'inputs': x}, ...)"),
    ROW("}(\x8c\1a}" INPUTS VIEW "s\x8c\1"
        "b}\x8c\5W_key" VIEW "su.",
        "holds tensors in more than one dict, such as 'inputs' in one and 'W_key' in another; save one of them: "
        "torch.save(checkpoint['model'], ...)"),
    ROW("}(\x8c\1a]" VIEW "a" INPUTS VIEW "u.",
        "holds 2 tensors, of which 1 have no name in the dict of tensors; save all of them in it"),
    ROW(ORDERED "(" INPUTS VIEW "u}\x8c\x09_metadata]" VIEW "asb.",
        "holds 2 tensors, of which 1 have no name in the dict of tensors; save all of them in it"),
    ROW("}(" INPUTS VIEW "q\0\x8c\5W_keyh\0u.", NULL),
    ROW("}(" INPUTS VIEW INPUTS VIEW "u.", "key 'inputs' is given twice; leave one out"),
    ROW("}K\0" VIEW "s.", "a tensor has a number as its name; expected text"),
    ROW("}" VIEW "q\0h\0s.", "a tensor has a tensor as its name; expected text"),
    ROW("}\x8c\7inputs\0" VIEW "s.", "a tensor has a name with a NUL byte as its name; expected text"),
    ROW("}\x8c\5input" VIEW "s.", "unknown key 'input'; did you mean 'inputs'?"),
    ROW("}\x8c\6tokens" VIEW "s.", "tokens is a tensor; write it in JSON or .safetensors"),
    ROW("}(" INPUTS VIEW "\x8c\6tokens](\x8c\1"
        "a\x8c\1"
        "beu.",
        "tokens is a list, and attn reads only tensors from a .pt; give a tensor, or JSON"),
    ROW("}(\x8c\5model}\x8c\5W_key" VIEW "s" INPUTS "]u.",
        "inputs is a list, and attn reads only tensors from a .pt; give a tensor, or JSON"),
    /* storages */
    ROW(NAMED(VIEW_OF("K\1", "K\0", "K\4\x85", "K\1\x85")), "inputs: a storage that torch.save does not write"),
    ROW(NAMED(VIEW_OF("(\x8c\7storageccollections\nOrderedDict\n\x8c\1"
                      "0\x8c\3cpuK\x10tQ",
                      "K\0", "K\4\x85", "K\1\x85")),
        "inputs: a storage that torch.save does not write"),
    ROW(NAMED(VIEW_OF(")Q", "K\0", "K\4\x85", "K\1\x85")), "inputs: a storage that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("FloatStorage", "2", "K\x10"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: the zip archive has no data/2"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("FloatStorage", "0", "K\x0f"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: a storage of 15 f32, but 'a/data/0' has 64 bytes"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("FloatStorage", "0", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x3f"), "K\0", "K\4\x85",
                      "K\1\x85")),
        SUPPORT_BITS("inputs: a storage of 4611686018427387903 f32, but 'a/data/0' has 64 bytes",
                     "inputs: a storage that torch.save does not write")),
    ROW(NAMED(VIEW_OF(STORAGE_OF("FloatStorage", "0", "J\xff\xff\xff\xff"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: a storage that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("FloatStorage", "0", "\x8a\x09\0\0\0\0\0\0\0\0\1"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: a storage that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("ShortStorage", "0", "K\x10"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: attn does not read dtype 'ShortStorage'; expected float32, float64, float16, bfloat16, "
        "float8_e4m3fn, float8_e5m2, int32, "
        "int64 or "
        "bool"),
    ROW(NAMED(VIEW_OF(STORAGE_OF("UntypedStorage", "0", "K\x40"), "K\0", "K\4\x85", "K\1\x85")),
        "inputs: a storage and a dtype that torch.save does not write together"),
    ROW(NAMED("ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE_OF("UntypedStorage", "0", "K\x40") //
              "K\0K\4K\4\x86K\4K\1\x86\x89" ORDERED "ctorch\nfloat32\ntR"),
        NULL),
    ROW(NAMED("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0K\4K\4\x86K\4K\1\x86\x89" ORDERED
              "}\x8c\4conj\x88stR"),
        "inputs: a view of conjugate or negative numbers; expected .resolve_conj().resolve_neg()"),
    ROW(NAMED("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0K\4K\4\x86K\4K\1\x86\x89" ORDERED "}tR"), NULL),
    /* views */
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "]", "K\1\x85")), "inputs: a view that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\4\x85", "K\1K\1\x86")), "inputs: a view that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE, "J\xff\xff\xff\xff", "K\4\x85", "K\1\x85")),
        "inputs: a view that torch.save does not write"),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "J\xff\xff\xff\xff\x85", "K\1\x85")), NO_SIZE),
    ROW(NAMED(VIEW_OF(STORAGE, "K\x0f", "K\4\x85", "J\xff\xff\xff\xff\x85")), NO_SIZE),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "N\x85", "K\1\x85")), NO_SIZE),
    ROW(NAMED(VIEW_OF(STORAGE, "K\1", "K\4K\4\x86", "K\4K\1\x86")), REACHES),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\4K\5\x86", "K\4K\1\x86")), REACHES),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\2K\2\x86", "K\x0fK\1\x86")), REACHES),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\2K\2\x86", "K\x0eK\1\x86")), NULL),
    ROW(NAMED(VIEW_OF(STORAGE, "K\x10", "K\1\x85", "K\1\x85")), REACHES),
    ROW(NAMED(VIEW_OF(STORAGE, "K\x0f", "K\1\x85", "J\xff\xff\xff\x7f\x85")), NULL),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\2K\2\x86", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\1\x86")),
        SUPPORT_BITS(REACHES, NO_SIZE)),
    ROW(NAMED(VIEW_OF(STORAGE, "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "K\1\x85", "K\1\x85")),
        SUPPORT_BITS(REACHES, "inputs: a view that torch.save does not write")),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "J\0\0\0\x40J\0\0\0\x40J\0\0\0\x40\x87", "K\0K\0K\0\x87")),
        "inputs: its shape is larger than any memory"),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "J\0\0\0\1J\0\0\0\1\x86", "K\0K\0\x86")),
        SUPPORT_BITS("inputs: its numbers are repeated or reordered views of more than the file holds; expected "
                     ".contiguous() before torch.save",
                     "inputs: its shape is larger than any memory")),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", ")", ")")), "inputs is a single number; expected a list or more"),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "K\0K\4\x86", "K\4K\1\x86")), "inputs is empty; expected numbers"),
    ROW(NAMED(VIEW_OF(STORAGE, "K\0", "(K\1K\1K\1K\1K\1t", "(K\1K\1K\1K\1K\1t")),
        "inputs has 5 axes, expected at most 4"),
};

static size_t make_pickled(struct archive *archive, const void *pickle, size_t length)
{
    static const unsigned char DATA[STORED];
    archive->length = archive->directory_length = archive->count = 0;
    archive_add(archive, "a/data.pkl", pickle, length);
    archive_add(archive, "a/data/0", DATA, sizeof DATA);
    archive_end(archive);
    return archive->length;
}

static void check_pickles(void)
{
    static struct archive archive;
    for (size_t i = 0; i < sizeof PICKLES / sizeof PICKLES[0]; i++) {
        check_begin("pickle %zu: %s", i, PICKLES[i].message != NULL ? PICKLES[i].message : "is read");
        check_message(PICKLES[i].message, archive.bytes, make_pickled(&archive, PICKLES[i].bytes, PICKLES[i].length));
    }
}

/* As often as fits into an archive: nothing is recursive, and nothing doubles. */
static void check_nested(const char *what, const char *before, const char *piece, const char *after,
                         const char *message)
{
    static char pickle[ARCHIVE_BYTES / 2];
    static struct archive archive;
    size_t length = strlen(before);
    check_begin("a pickle of many %s", what);
    memcpy(pickle, before, length);
    for (; length + strlen(piece) + strlen(after) < sizeof pickle; length += strlen(piece))
        memcpy(pickle + length, piece, strlen(piece));
    memcpy(pickle + length, after, strlen(after));
    length += strlen(after);
    check_message(message, archive.bytes, make_pickled(&archive, pickle, length));
}

/* Each pair holds the one before it twice: 2^255 values for who would walk them. */
static void check_doubled(void)
{
    static struct archive archive;
    char pickle[1 + 255 * 4 + 1] = ")";
    check_begin("a pickle of pairs of pairs");
    for (int i = 0; i < 255; i++)
        memcpy(pickle + 1 + 4 * i, (const char[]){(char)0x94, 'h', (char)i, (char)0x86}, 4);
    pickle[sizeof pickle - 1] = '.';
    check_message("holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)", archive.bytes,
                  make_pickled(&archive, pickle, sizeof pickle));
}

static void check_deep(void)
{
    static const char NONE[] = "holds no tensor; save a state_dict: torch.save(model.state_dict(), ...)";
    check_nested("tuples within tuples", ")", "\x85", ".", NONE);
    check_nested("marks", "", "(", "t.", "byte 32767 of the pickle: ends with more than one value");
    check_nested("numbers for one value", "]", "\x94", ".", NONE);
    check_nested("dicts", "](", "}", "e.", NONE);
}

/* Memory that a process takes to read an archive, in kB; -1: it ended otherwise than with an error. */
static double memory_to_read(const unsigned char *bytes, size_t length)
{
    struct rusage usage;
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct arena arena = {0};
        struct input_file input;
        struct error error = {0};
        _exit(named_tensors_read(archive_read, "file", bytes, length, INPUT_FILE_OF_DIFF, &arena, &input, &error) ==
                      STATUS_USAGE
                  ? 0
                  : 1);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return -1;
    return (double)usage.ru_maxrss;
}

/* A long name or shape may be said again in two bytes: it costs what it takes in the file. */
static void check_shared(void)
{
    enum { NAME_BYTES = 1 << 14, TIMES = 3000 };
    static struct archive archive;
    static const char ONCE[] = "q\0" VIEW "q\1", AGAIN[] = "h\0h\1";
    static char pickle[NAME_BYTES + 512 + TIMES * sizeof AGAIN];
    double memory[2];
    check_begin("a pickle of one long name, over and over");
    for (int many = 0; many <= 1; many++) {
        size_t length = 3;
        memcpy(pickle, "}(X", length);
        length += archive_number((unsigned char *)pickle + length, NAME_BYTES, 4);
        memset(pickle + length, 'k', NAME_BYTES);
        length += NAME_BYTES;
        memcpy(pickle + length, ONCE, sizeof ONCE - 1);
        length += sizeof ONCE - 1;
        for (int i = 0; i < (many ? TIMES : 1); i++, length += sizeof AGAIN - 1)
            memcpy(pickle + length, AGAIN, sizeof AGAIN - 1);
        memcpy(pickle + length, "u.", 2);
        memory[many] = memory_to_read(archive.bytes, make_pickled(&archive, pickle, length + 2));
    }
    CHECK(memory[0] > 0 && memory[1] > 0, "expected errors");
    CHECK(memory[1] <= 3 * memory[0], "expected at most 3 times %.0f kB, got %.0f", memory[0], memory[1]);
}

static void check_axes(void)
{
    static struct archive archive;
    char pickle[1024];
    check_begin("a tensor of 65 axes, and of 64");
    for (size_t axes = 65; axes >= 64; axes--) {
        static const char BEGIN[] = "}" INPUTS "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "K\0(",
                          ENDING[] = "tq\0h\0\x89" ORDERED "tRs.";
        size_t length = sizeof BEGIN - 1;
        memcpy(pickle, BEGIN, length);
        for (size_t i = 0; i < axes; i++, length += 2)
            memcpy(pickle + length, "K\1", 2);
        memcpy(pickle + length, ENDING, sizeof ENDING - 1);
        check_message(axes == 64 ? "inputs has 64 axes, expected at most 4"
                                 : "inputs: a view that torch.save does not write",
                      archive.bytes, make_pickled(&archive, pickle, length + sizeof ENDING - 1));
    }
}

static void check_pickle_checksum(void)
{
    static struct archive archive;
    static const char PICKLE[] = NAMED(VIEW);
    check_begin("a pickle with another checksum");
    const size_t length = make_pickled(&archive, PICKLE, sizeof PICKLE - 1);
    archive.bytes[30 + 10 + 1] ^= 1;
    check_message("'a/data.pkl' in the zip archive is damaged: its checksum is wrong", archive.bytes, length);
    check_begin("a pickle without a checksum");
    const size_t end = make_pickled(&archive, PICKLE, sizeof PICKLE - 1);
    const size_t listed = end - 22 - archive.directory_length;
    archive_number(archive.bytes + listed + 16, 0, 4);
    check_message(NULL, archive.bytes, end);
}

int main(void)
{
    for (size_t i = 0; i < sizeof GOLDENS / sizeof GOLDENS[0]; i++)
        check_golden(i);
    check_state_dict("tests/golden/archive/state-dict.pt", 4);
    check_state_dict("tests/golden/archive/checkpoint.pt", 4);
    check_state_dict("tests/golden/archive/parameters.pt", 3);
    check_stays("tests/golden/archive/small.pt", STORED);
    check_lies();
    check_entries();
    check_bits();
    check_pickles();
    check_doubled();
    check_deep();
    check_shared();
    check_axes();
    check_pickle_checksum();
    support_distort(archive_read, "tests/golden/archive/alone.npz", true);
    support_distort(archive_read, "tests/golden/archive/streamed.npz", true);
    support_distort(archive_read, "tests/golden/archive/small.pt", true);
    support_distort(archive_read, "tests/golden/archive/wide.pt", false);
    support_distort(archive_read, "tests/golden/archive/views.pt", false);
    return check_end();
}
