# SPDX-License-Identifier: MIT
"""Checks all stages of attn multihead in a .safetensors: some rows of each, made in double from the stages before it.

    peer_stages.py FILE
"""
import json
import sys

import numpy as np

data = np.memmap(sys.argv[1], np.uint8, "r")
length = int(data[:8].view("<u8")[0])
header = json.loads(data[8 : 8 + length].tobytes())


def stage(name):
    about = header[name]
    begin, end = (8 + length + offset for offset in about["data_offsets"])
    return data[begin:end].view("<f4").reshape(about["shape"])


def same(name, got, exact, atol):
    off = np.abs(got[np.isfinite(exact)] - exact[np.isfinite(exact)]).max()
    assert np.array_equal(np.isfinite(got), np.isfinite(exact)) and off <= atol, (name, off)


query, key, value, context = stage("query"), stage("key"), stage("value"), stage("context")
heads, tokens, d = query.shape[-3:]
for head in range(heads):
    for row in range(head, tokens, 311):
        scores = key[head].astype(float) @ query[head, row].astype(float)
        same("scores", stage("scores")[head, row], scores, 1e-5)
        same("scaled", stage("scaled")[head, row], scores / d**0.5, 1e-5)
        masked = np.where(np.arange(tokens) <= row, scores / d**0.5, -np.inf)
        same("masked", stage("masked")[head, row], masked, 1e-5)
        weights = np.exp(masked - masked.max())
        weights /= weights.sum()
        same("weights", stage("weights")[head, row], weights, 1e-6)
        same("context", context[head, row], weights @ value[head].astype(float), 1e-5)
joined = context.transpose(1, 0, 2).reshape(tokens, heads * d)[::97].astype(float)
weight, bias = (stage(name).astype(float) for name in ("out_proj.weight", "out_proj.bias"))
same("output", stage("output")[::97], joined @ weight.T + bias, 1e-5)
