# SPDX-License-Identifier: MIT
"""What attn multihead is measured against as a whole process: PyTorch, from an .npy to an .npy.

    peer_multihead.py run IN.npy OUT.npy HEADS     split heads with an output projection, causal, seed 123
    peer_multihead.py check A.npy B.npy            the two agree within float32's rounding
    peer_multihead.py make OUT.npy T D             T x D standard normal numbers
"""
import sys

import numpy as np


def run(source, target, heads):
    import torch
    from torch import nn

    x = torch.from_numpy(np.load(source))
    tokens, width = x.shape
    torch.manual_seed(123)
    query, key, value = (nn.Linear(width, width, bias=False) for _ in range(3))
    out = nn.Linear(width, width)

    def split(t):
        return t.view(tokens, heads, width // heads).transpose(0, 1).unsqueeze(0)

    with torch.no_grad():
        context = nn.functional.scaled_dot_product_attention(
            split(query(x)), split(key(x)), split(value(x)), is_causal=True)
        np.save(target, out(context[0].transpose(0, 1).reshape(tokens, width)).numpy())


if sys.argv[1] == "run":
    run(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "check":
    a, b = np.load(sys.argv[2]), np.load(sys.argv[3])
    assert a.shape == b.shape, (a.shape, b.shape)
    worst = float(np.abs(a - b).max())
    assert worst < 1e-5, worst
else:
    np.save(sys.argv[2], np.random.default_rng(1).standard_normal((int(sys.argv[3]), int(sys.argv[4])), dtype=np.float32))
