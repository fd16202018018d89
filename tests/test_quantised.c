/* SPDX-License-Identifier: MIT */
/* Quantised weights of checkpoints: each number, to the bit of what the form's own code makes of the same tensors
 * (tests/golden/make_quantised.py). */
#include "layer/quantised.h"

#include "check.h"
#include "support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_tensor(struct quantised *quantised, const struct checkpoint *plain, const char *name)
{
    struct error error = {0};
    struct tensor expected, got;
    const char *file;
    double a, b;
    if (!CHECK(checkpoint_take(plain, name, &expected, &error) == STATUS_OK, "%s", error.message) ||
        !CHECK(quantised_take(quantised, name, &got, &file, &error) == STATUS_OK, "%s", error.message) ||
        !CHECK(tensor_same_shape(&expected, &got), "%s: expected %s, got %s", name, SHAPE_TEXT(&expected),
               SHAPE_TEXT(&got)))
        return;
    CHECK(expected.dtype == got.dtype, "%s: expected %s, got %s", name, dtype_name(expected.dtype),
          dtype_name(got.dtype));
    for (size_t i = 0; i < tensor_count(&expected); i++) {
        tensor_load(&expected, i, 1, &a);
        tensor_load(&got, i, 1, &b);
        if (!CHECK(a == b, "%s: number %zu: expected %a, got %a", name, i, a, b))
            return;
    }
}

static void check_form(const char *form)
{
    struct arena arena = {0};
    struct error error = {0};
    struct config config = {0};
    struct checkpoint stored, plain;
    struct quantised quantised;
    char path[512];
    check_begin("%s", form);
    snprintf(path, sizeof path, "tests/quantised/%s/plain.safetensors", form);
    enum status status = checkpoint_open(path, &arena, &plain, &error);
    snprintf(path, sizeof path, "tests/quantised/%s/model.safetensors", form);
    status = status == STATUS_OK ? checkpoint_open(path, &arena, &stored, &error) : status;
    snprintf(path, sizeof path, "tests/quantised/%s/config.json", form);
    status = status == STATUS_OK ? config_read(path, &config, &error) : status;
    status = status == STATUS_OK ? quantised_begin(&quantised, &stored, &config, &error) : status;
    if (CHECK(status == STATUS_OK, "%s", error.message)) {
        CHECK(quantised.shown.count == plain.count, "expected %zu names, got %zu", plain.count, quantised.shown.count);
        for (size_t i = 0; i < plain.count; i++)
            check_tensor(&quantised, &plain, plain.names[i].text);
        CHECK(quantised.from[0] != '\0', "no description");
    }
    config_free(&config);
    arena_free(&arena);
}

/* Changes one byte of the file at a time: each weight is read, or refused with a message. */
static void check_distorted(const char *form)
{
    char path[512], changed[] = "/tmp/attn-quantised-XXXXXX";
    size_t length;
    struct error error = {0};
    struct config config = {0};
    snprintf(path, sizeof path, "tests/quantised/%s/model.safetensors", form);
    char *bytes = support_bytes(path, &length);
    const int file = mkstemp(changed);
    snprintf(path, sizeof path, "tests/quantised/%s/config.json", form);
    check_begin("%s, distorted", form);
    if (CHECK(file >= 0 && config_read(path, &config, &error) == STATUS_OK, "%s", error.message))
        for (size_t at = 8; at < length && at < 2000; at += 37) {
            struct arena arena = {0};
            struct checkpoint stored;
            struct quantised quantised = {0};
            struct tensor tensor;
            const char *name;
            const char byte = bytes[at];
            bytes[at] = (char)('0' + at % 10);
            error = (struct error){0};
            if (CHECK(pwrite(file, bytes, length, 0) == (ssize_t)length, "cannot write %s", changed) &&
                checkpoint_open(changed, &arena, &stored, &error) == STATUS_OK &&
                quantised_begin(&quantised, &stored, &config, &error) == STATUS_OK)
                for (size_t i = 0; i < quantised.shown.count; i++) {
                    error = (struct error){0};
                    CHECK(quantised_take(&quantised, quantised.shown.names[i].text, &tensor, &name, &error) ==
                                  STATUS_OK ||
                              error.message[0] != '\0',
                          "byte %zu: no message", at);
                }
            bytes[at] = byte;
            arena_free(&arena);
        }
    config_free(&config);
    free(bytes);
    if (file >= 0) {
        close(file);
        unlink(changed);
    }
}

int main(void)
{
    DIR *folder = opendir("tests/quantised");
    check_begin("forms");
    for (const struct dirent *entry = folder != NULL ? readdir(folder) : NULL; entry != NULL; entry = readdir(folder))
        if (entry->d_name[0] != '.' && strchr(entry->d_name, '.') == NULL) {
            check_form(entry->d_name);
            check_distorted(entry->d_name);
        }
    if (CHECK(folder != NULL, "no tests/quantised: make unpacks it"))
        closedir(folder);
    return check_end();
}
