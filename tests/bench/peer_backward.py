#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far the fused gradients of query, key and value are from the exact ones, next to those of PyTorch's
scaled_dot_product_attention on the same numbers. Usage: peer_backward.py ATTN FOLDER

8 heads of 64 columns, 1024 tokens, whole and causal: normal numbers, and with a query ten times as large. Exact are
PyTorch's in float64. Prints root mean squares of the errors, as a share of that of the gradient. Exits 1 where one is
larger than PyTorch's.
"""
import subprocess
import sys

import numpy as np
import torch

HEADS, TOKENS, D = 8, 1024, 64
CASES = {"normal": 1, "tenfold": 10}
NAMES = ["grad_query", "grad_key", "grad_value"]


def draw(case):
    torch.manual_seed(1)
    query, key, value, grad = (torch.randn(1, HEADS, TOKENS, D) for _ in range(4))
    return query * CASES[case], key, value, grad


def of_torch(operands, grad, dtype, causal):
    operands = [operand.to(dtype).requires_grad_() for operand in operands]
    context = torch.nn.functional.scaled_dot_product_attention(*operands, is_causal=causal)
    return [gradient.double().numpy() for gradient in torch.autograd.grad(context, operands, grad.to(dtype))]


def of_attn(attn, folder, operands, grad, causal):
    for name, tensor in zip(["query", "key", "value", "grad_context"], [*operands, grad]):
        np.save(f"{folder}/{name}.npy", tensor.numpy())
    np.savez(f"{folder}/in.npz", query=operands[0], key=operands[1], value=operands[2])
    gradients = []
    for name in NAMES:
        subprocess.run([attn, "sdpa", f"{folder}/in.npz", "--grad", f"{folder}/grad_context.npy", "--kernel", "fused",
                        "--stages", name, "-o", f"{folder}/out.npy"] + ["--causal"] * causal, check=True)
        gradients.append(np.load(f"{folder}/out.npy").astype(float))
    return gradients


def size(numbers):
    return float(np.sqrt(np.mean(numbers * numbers)))


def main():
    attn, folder = sys.argv[1:]
    worst = 0
    print("\nroot of the mean square error of the gradients in float32, as a share of theirs; asked: PyTorch's or less")
    print(f"{'':28}" + "".join(f"{name:>28}" for name in NAMES))
    for case in CASES:
        for causal in (False, True):
            *operands, grad = draw(case)
            exact = of_torch(operands, grad, torch.float64, causal)
            own = of_attn(attn, folder, operands, grad, causal)
            peer = of_torch(operands, grad, torch.float32, causal)
            cells = []
            for got, other, true in zip(own, peer, exact):
                errors = size(got - true) / size(true), size(other - true) / size(true)
                worst |= errors[0] > errors[1]
                cells.append(f"{errors[0]:9.1e} : {errors[1]:.1e}  {'yes' if errors[0] <= errors[1] else 'NO':3}")
            print(f"{case + (', causal' if causal else ', whole'):28}" + "".join(f"{cell:>28}" for cell in cells))
    return worst


sys.exit(main())
