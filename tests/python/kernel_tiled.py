# SPDX-License-Identifier: MIT
"""A kernel in tiles with a running softmax, as one writes it for Triton, in NumPy. It has a bug."""
import attn
import numpy

TILE = 16


@attn.cases(can={"causal", "gqa"}, d_head=8, max_tokens=40)
def tiled(q, k, v, *, causal, scale):
    context = numpy.empty((*q.shape[:-1], v.shape[-1]), q.dtype)
    for item, head in numpy.ndindex(q.shape[:2]):
        shared = head * k.shape[1] // q.shape[1]
        for start in range(0, q.shape[2], TILE):
            rows = numpy.arange(start, min(start + TILE, q.shape[2]))
            largest = numpy.full(len(rows), -numpy.inf, q.dtype)
            total = numpy.zeros(len(rows), q.dtype)
            sums = numpy.zeros((len(rows), v.shape[-1]), q.dtype)
            for at in range(0, rows[-1] + 1 if causal else k.shape[2], TILE):
                keys = numpy.arange(at, min(at + TILE, k.shape[2]))
                scores = q[item, head, rows] @ k[item, shared, keys].T * scale
                if causal:
                    scores = numpy.where(rows[:, None] >= keys, scores, -numpy.inf)
                grown = numpy.maximum(largest, scores.max(1))
                weights = numpy.exp(scores - grown[:, None])
                rescale = numpy.exp(largest - grown)
                total = total * rescale + weights.sum(1)
                sums = sums + weights @ v[item, shared, keys]  # the bug: sums * rescale[:, None] + ...
                largest = grown
            context[item, head, rows] = sums / total[:, None]
    return context
