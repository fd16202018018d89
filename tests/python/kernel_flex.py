# SPDX-License-Identifier: MIT
"""PyTorch's FlexAttention, with its logarithm of the sum of exponentials, in the layout and dtype of a model."""
import attn
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


@attn.cases(can={"causal", "gqa", "window", "window-both", "prefix", "softcap", "alibi", "documents", "lse"},
            dtype="bf16", layout="bthd", d_head=8, max_tokens=33)
def flex(q, k, v, *, causal, window, prefix, softcap, alibi_slopes, document_ids, scale):
    def allowed(_item, _head, query, key):
        yes = query >= 0
        if causal:
            yes = (query >= key) if prefix is None else (query >= key) | (key < prefix)
        if window is not None:
            yes = yes & (query - key <= window[0]) & (key - query <= window[1])
        if document_ids is not None:
            yes = yes & (document_ids[query] == document_ids[key])
        return yes

    def score(value, _item, head, query, key):
        if softcap is not None:
            value = softcap * torch.tanh(value / softcap)
        return value if alibi_slopes is None else value - alibi_slopes[head] * (query - key).abs()

    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    mask = create_block_mask(allowed, None, None, q.shape[2], k.shape[2], device="cpu")
    context, lse = flex_attention(q, k, v, score, mask, scale, enable_gqa=True, return_lse=True)
    return context.transpose(1, 2), lse
