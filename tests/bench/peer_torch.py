# SPDX-License-Identifier: MIT
"""Measures PyTorch's scaled_dot_product_attention on request, as bench_kernel does the fused path: reads lines from
standard input and answers each with one line.

    attention - DTYPE HEADS TOKENS D KIND THREADS    GF/s, the best of the runs that a short while allows; KIND is whole or
                                                     causal
    backward - DTYPE HEADS TOKENS D KIND THREADS     the same of the backward pass alone, of 2.5 times the operations
    context DTYPE HEADS QUERIES KEYS D FOLDER        reads FOLDER/query, key and value as they lie, and writes their
                                                     FOLDER/context
    version                                          PyTorch's
"""
import os
import sys
import time

import torch

SECONDS = 0.25
clock = time.process_time if "BENCH_PROCESSOR_TIME" in os.environ else time.perf_counter
DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}


def attention(dtype, heads, tokens, d, kind, threads):
    torch.set_num_threads(threads)
    query, key, value = (torch.randn(1, heads, tokens, d).to(DTYPES[dtype]) for _ in range(3))
    causal = kind == "causal"
    operations = 4 * heads * (tokens * (tokens + 1) // 2 if causal else tokens * tokens) * d

    def run():
        start = clock()
        torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=causal)
        return clock() - start

    with torch.inference_mode():
        run()  # the first one takes memory
        begin = clock()
        best = run()
        while clock() - begin < SECONDS:
            best = min(best, run())
    return operations / best * 1e-9


def backward(dtype, heads, tokens, d, kind, threads):
    torch.set_num_threads(threads)
    shape, causal = (1, heads, tokens, d), kind == "causal"
    operands = [torch.randn(shape).to(DTYPES[dtype]).requires_grad_() for _ in range(3)]
    grad_context = torch.randn(shape).to(DTYPES[dtype])
    operations = 10 * heads * (tokens * (tokens + 1) // 2 if causal else tokens * tokens) * d
    context = torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=causal)

    def run():
        start = clock()
        torch.autograd.grad(context, operands, grad_context, retain_graph=True)
        return clock() - start

    run()
    begin = clock()
    best = run()
    while clock() - begin < SECONDS:
        best = min(best, run())
    return operations / best * 1e-9


def context(dtype, heads, queries, keys, d, folder):
    def read(name, rows):
        path, count = os.path.join(folder, name), heads * rows * d
        return torch.from_file(path, size=count, dtype=DTYPES[dtype]).view(1, heads, rows, d)

    with torch.inference_mode():
        operands = read("query", queries), read("key", keys), read("value", keys)
        result = torch.nn.functional.scaled_dot_product_attention(*operands).contiguous()
    result.view(torch.uint8).numpy().tofile(os.path.join(folder, "context"))


for line in sys.stdin:
    words = line.split()
    if words == ["version"]:
        print(torch.__version__, flush=True)
    elif words[0] in ("attention", "backward"):
        dtype, heads, tokens, d, kind, threads = words[2:]
        measure = attention if words[0] == "attention" else backward
        print(f"{measure(dtype, int(heads), int(tokens), int(d), kind, int(threads)):.1f}", flush=True)
    else:
        dtype, heads, queries, keys, d, folder = words[1:]
        context(dtype, int(heads), int(queries), int(keys), int(d), folder)
        print("written", flush=True)
