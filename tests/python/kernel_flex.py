# SPDX-License-Identifier: MIT
"""PyTorch's FlexAttention, with its logarithm of the sum of exponentials, in the layout and dtype of a model."""
import attn
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


@attn.cases(can={"causal", "gqa", "window", "window-both", "prefix", "softcap", "alibi", "documents", "lse"},
            dtype="bf16", layout="bthd", d_head=8, max_tokens=33)
def test_flex(case):
    if case.name == "denormal":
        pytest.skip("on a processor FlexAttention makes values below the smallest normal number 0")

    def allowed(_item, _head, query, key):
        yes = query >= 0
        if case.causal:
            yes = (query >= key) if case.prefix is None else (query >= key) | (key < case.prefix)
        if case.window is not None:
            yes = yes & (query - key <= case.window[0]) & (key - query <= case.window[1])
        if case.document_ids is not None:
            yes = yes & (case.document_ids[query] == case.document_ids[key])
        return yes

    def score(value, _item, head, query, key):
        if case.softcap is not None:
            value = case.softcap * torch.tanh(value / case.softcap)
        return value if case.alibi_slopes is None else value - case.alibi_slopes[head] * (query - key).abs()

    q, k, v = (x.transpose(1, 2) for x in (case.query, case.key, case.value))
    mask = create_block_mask(allowed, None, None, q.shape[2], k.shape[2], device="cpu")
    context, lse = flex_attention(q, k, v, score, mask, case.scale, enable_gqa=True, return_lse=True)
    return context.transpose(1, 2), lse
