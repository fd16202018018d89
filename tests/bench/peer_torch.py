"""Measures PyTorch's scaled_dot_product_attention on request, as bench_kernel does the fused path: reads lines

    attention - HEADS TOKENS D CAUSAL THREADS

from standard input and answers each with GF/s, the best of the runs that a short while allows; "version" is answered
with PyTorch's."""
import sys
import time

import torch

SECONDS = 0.5
LEAST_RUNS = 2


def attention(heads, tokens, d, causal, threads):
    torch.set_num_threads(threads)
    query, key, value = (torch.randn(1, heads, tokens, d) for _ in range(3))
    operations = 4 * heads * tokens * tokens * d / (2 if causal else 1)
    best = float("inf")
    begin = time.perf_counter()
    runs = 0
    with torch.inference_mode():
        while runs <= LEAST_RUNS or time.perf_counter() - begin < SECONDS:
            start = time.perf_counter()
            torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
            best = min(best, time.perf_counter() - start)
            runs += 1
    return operations / best * 1e-9


for line in sys.stdin:
    words = line.split()
    if words == ["version"]:
        print(torch.__version__, flush=True)
    else:
        heads, tokens, d, causal, threads = map(int, words[2:])
        print(f"{attention(heads, tokens, d, bool(causal), threads):.1f}", flush=True)
