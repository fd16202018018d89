# SPDX-License-Identifier: MIT
"""PyTorch's attention, with its gradients."""
import attn
import torch
from torch.nn.functional import scaled_dot_product_attention


@attn.cases(can={"causal", "gqa", "mqa", "batch", "cross", "top-left", "scale", "d-value", "mask", "mask-float",
                 "mask-items", "mask-heads", "mask-padding"}, grad=True, d_head=8, max_tokens=33)
def sdpa(q, k, v, *, causal, scale, attn_mask):
    if causal and attn_mask is not None:  # PyTorch takes one of them
        allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
        attn_mask = attn_mask & allowed if attn_mask.dtype == torch.bool else attn_mask.masked_fill(~allowed, -torch.inf)
        causal = False
    return scaled_dot_product_attention(q, k, v, attn_mask, is_causal=causal, scale=scale, enable_gqa=True)
