/* SPDX-License-Identifier: MIT */
#include "read/other_file.h"

#include <string.h>

#define UNPACK "; unpack it first, as in "
#define EXPECTED "; expected JSON, CSV or another table of numbers, .npy, .npz, .pt or .safetensors"

/* Longer beginnings come before shorter ones. */
static const struct {
    size_t at; /* offset of the bytes */
    const char *bytes;
    size_t count;
    const char *message;
} KINDS[] = {
    {0, "\x1f\x8b", 2, "a gzip file" UNPACK "gunzip -c FILE | attn ..."},
    {0, "BZh", 3, "a bzip2 file" UNPACK "bunzip2 -c FILE | attn ..."},
    {0, "\3757zXZ", 5, "an xz file" UNPACK "xz -dc FILE | attn ..."},
    {0, "\x28\xb5\x2f\xfd", 4, "a zstd file" UNPACK "zstd -dc FILE | attn ..."},
    {0, "\xff\xfe", 2, "text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
    {0, "\xfe\xff", 2, "text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8"},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15,
     "a .pt of PyTorch before 1.6; save it again: torch.save(torch.load('old.pt'), 'new.pt')"},
    {0, "\x80\x02", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x03", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x04", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {0, "\x80\x05", 2, "a pickle, which is a program; attn runs no programs" EXPECTED},
    {257, "ustar", 5, "a tar archive; unpack it: tar -xf FILE"},
    {0, "\x89HDF\r\n\x1a\n", 8, "an HDF5 file, as Keras writes it; save its arrays with numpy.savez"},
    {0, "GGUF", 4,
     "a GGUF file, which holds a model; name it with --weights: attn layer HIDDEN -w FILE.gguf --layer 0"},
    {0, "MATLAB 5.0 MAT-file", 19, "a MATLAB file; convert its arrays with scipy.io.loadmat and numpy.savez"},
    {0, "PAR1", 4, "a Parquet file" EXPECTED},
    {0, "\x89PNG\r\n\x1a\n", 8, "a picture, PNG" EXPECTED},
    {0, "\xff\xd8\xff", 3, "a picture, JPEG" EXPECTED},
    {0, "GIF8", 4, "a picture, GIF" EXPECTED},
    {0, "version https://git-lfs.github.com/spec/", 40, "a pointer of Git LFS, not the file; fetch it: git lfs pull"},
    {0, "%PDF-", 5, "a PDF document" EXPECTED},
};

enum status other_file_check(const char *source, const unsigned char *bytes, size_t length, struct error *error)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (length >= KINDS[i].at + KINDS[i].count && memcmp(bytes + KINDS[i].at, KINDS[i].bytes, KINDS[i].count) == 0)
            return error_usage(error, "%s: %s", source, KINDS[i].message);
    return STATUS_OK;
}
