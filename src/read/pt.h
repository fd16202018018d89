/* SPDX-License-Identifier: MIT */
/* .pt, PyTorch's file of a state_dict -> struct input_file.
 *
 * torch.save has written it so since PyTorch 1.6 (torch/serialization.py, caffe2/serialize/inline_container.h): a zip
 * archive of stored entries in one folder. data.pkl is the pickle of the object, in which a tensor is a view of a
 * storage: its first number, sizes and strides; data/KEY are the bytes of a storage, which tensors may share; byteorder
 * says which byte comes first, the least significant one where it is missing. What else is there is not asked for.
 *
 * Read is what holds tensors in one place: a dict of names and tensors, wherever it stands, or one tensor alone, which
 * has no name. Numbers, strings and what they stand in are passed over beside it, but no tensor is. */
#ifndef ATTN_READ_PT_H
#define ATTN_READ_PT_H

#include "read/named_tensors.h"
#include "read/zip.h"

/* Whether the archive is a .pt. */
bool pt_is(const struct zip *zip);

/* A binary_reader of the archive. A tensor alone becomes "inputs". Numbers that lie row by row stay in the file; others
 * are copied, all together at most as many bytes as the file has, and 64 MiB. STATUS_USAGE also where the pickle holds
 * what is no tensor, container, number or string (pickle.h), or is damaged by its checksum; where a view does not lie
 * in its storage, or a storage is not as long as is said; where tensors stand in more than one place, or none does. */
enum status pt_read(struct named_tensors *file, const struct zip *zip);

#endif
