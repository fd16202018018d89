# SPDX-License-Identifier: MIT
"""PyTorch's FlexAttention, with its logarithm of the sum of exponentials, in the layout and dtype of a model."""
import attn
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


@attn.cases(can={"causal", "gqa", "window", "softcap", "alibi", "documents", "lse"}, dtype="bf16", layout="bthd",
            d_head=8, max_tokens=17)
def test_flex(case):
    if case.name == "denormal":
        pytest.skip("on a processor FlexAttention makes values below the smallest normal number 0")

    causal, window, softcap = case.causal, case.window, case.softcap
    documents, slopes = case.document_ids, case.alibi_slopes

    def allowed(_item, _head, query, key):
        yes = query >= 0
        if causal:
            yes = query >= key
        if window is not None:
            yes = yes & (query - key <= window[0])
        if documents is not None:
            yes = yes & (documents[query] == documents[key])
        return yes

    def score(value, _item, head, query, key):
        if softcap is not None:
            value = softcap * torch.tanh(value / softcap)
        return value if slopes is None else value - slopes[head] * (query - key).abs()

    q, k, v = (x.transpose(1, 2) for x in (case.query, case.key, case.value))
    mask = create_block_mask(allowed, None, None, q.shape[2], k.shape[2], device="cpu")
    context, lse = flex_attention(q, k, v, score, mask, case.scale, enable_gqa=True, return_lse=True)
    return context.transpose(1, 2), lse
