# SPDX-License-Identifier: MIT
"""What attn why says of results in bfloat16 and float16, by kernels that round in different places. Needs PyTorch.

    python3 tests/why/few_bits.py ATTN [COUNT [SEED]]

COUNT random jobs of attn sdpa, each by one of seven kernels: a third right, a third with a mistake that attn help
mistakes lists, a third wrong as nothing of that list is. A right result is called right or within the rounding of its
dtype; a listed mistake is named; of the others none is named, and none is "nothing is wrong" where attn diff calls it
different. What fails is printed with its seed.
"""
import json
import math
import random
import struct
import subprocess
import sys
import tempfile

import torch

NAMES = {torch.bfloat16: "BF16", torch.float16: "F16"}


def save(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def hide(scores, allowed):
    return scores if allowed is None else scores.masked_fill(~allowed, -math.inf)


def tiled(tile, rounds_weights):
    """A running softmax in float32; the weights of a tile are rounded or not."""
    def kernel(query, key, value, scale, allowed):
        dtype = query.dtype
        query, key, value = query.float(), key.float(), value.float()
        largest = torch.full(query.shape[:-1], -math.inf)
        total, context = torch.zeros(query.shape[:-1]), torch.zeros(*query.shape[:-1], value.shape[-1])
        for first in range(0, key.shape[-2], tile):
            part = slice(first, first + tile)
            scores = hide(query @ key[..., part, :].mT * scale, None if allowed is None else allowed[:, part])
            now = torch.maximum(largest, scores.amax(-1))
            base = torch.where(now.isinf(), 0, now)
            weights, factor = torch.exp(scores - base[..., None]), torch.exp(largest - base)
            total = total * factor + weights.sum(-1)
            weights = weights.to(dtype).float() if rounds_weights else weights
            context, largest = context * factor[..., None] + weights @ value[..., part, :], now
        return (context / total[..., None]).to(dtype)
    return kernel


def plain(query, key, value, scale, allowed):
    return torch.softmax(hide(query @ key.mT * scale, allowed), -1) @ value


def plain_divided(query, key, value, scale, allowed):
    return torch.softmax(hide(query @ key.mT / torch.tensor(1 / scale, dtype=query.dtype), allowed), -1) @ value


def plain_scaled_before(query, key, value, scale, allowed):
    root = math.sqrt(scale)
    return torch.softmax(hide((query * root) @ (key * root).mT, allowed), -1) @ value


def softmax_in_float32(query, key, value, scale, allowed):
    return torch.softmax(hide(query @ key.mT * scale, allowed).float(), -1).to(query.dtype) @ value


def pytorch(query, key, value, scale, allowed):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed, scale=scale)


KERNELS = [tiled(16, True), tiled(64, False), plain, plain_divided, plain_scaled_before, softmax_in_float32, pytorch]


def listed(kernel, query, key, value, scale, allowed, causal):
    tokens = query.shape[-2]
    ways = {"scale-missing": lambda: kernel(query, key, value, 1.0, allowed),
            "scale-twice": lambda: kernel(query, key, value, scale * scale, allowed),
            "roles-key-for-value": lambda: kernel(query, key, key, scale, allowed),
            "roles-query-key-swapped": lambda: kernel(key, query, value, scale, allowed)}
    if allowed is None:
        ways["mask-causal"] = lambda: kernel(query, key, value, scale, causal)
    else:
        ways["mask-missing"] = lambda: kernel(query, key, value, scale, None)
        ways["mask-one-ahead"] = lambda: kernel(query, key, value, scale, torch.ones(tokens, tokens).tril(1).bool())
    return random.choice(list(ways.items()))


def unlisted(kernel, query, key, value, scale, allowed, causal):
    tokens, dtype = query.shape[-2], query.dtype
    right = kernel(query, key, value, scale, allowed)

    def weights_of(coarse):
        scores = hide(query.float() @ key.float().mT * scale, allowed)
        return (torch.softmax(scores, -1).to(coarse).float() @ value.float()).to(dtype)

    def without_key(which):
        seen = causal.new_ones(tokens, tokens) if allowed is None else allowed.clone()
        seen[:, which] = False
        return kernel(query, key, value, scale, seen | torch.eye(tokens, dtype=torch.bool))

    def changed(tensor, index, number):
        tensor = tensor.clone()
        tensor[index] = number
        return tensor

    middle, row = tokens // 2, (..., tokens // 2, slice(None))
    ways = [lambda: kernel(query, key, value, scale * random.choice([0.9, 1.02, 1.1, 1.3]), allowed),
            lambda: weights_of(torch.float8_e4m3fn), lambda: weights_of(torch.float8_e5m2),
            lambda: kernel(query, changed(key, row, 0), value, scale, allowed), lambda: without_key(middle),
            lambda: (right.float() * 1.03).to(dtype), lambda: changed(right, row, right[..., 0, :]),
            lambda: changed(right, (0, 0, middle, 0), right.float().abs().max().item() * 1.5)]
    return random.choice(ways)()


def judge(attn, folder, tensors, result, words):
    source, mine, right = folder + "/in.safetensors", folder + "/mine.safetensors", folder + "/right.safetensors"
    save(source, tensors)
    save(mine, {"context": result})
    asked = [attn, "why", "sdpa", source, "--mine", mine, "--budget", "0.5", *words]
    answer = json.loads(subprocess.run(asked + ["-f", "json"], capture_output=True, text=True).stdout)
    text = subprocess.run(asked, capture_output=True, text=True).stdout
    subprocess.run([attn, "sdpa", source, "--stages", "context", "-o", right, *words], check=True)
    differs = subprocess.run([attn, "diff", right, mine], capture_output=True).returncode != 0
    return answer["explanations"], "nothing is wrong" in text and differs


def main(attn, count=300, seed=1):
    random.seed(seed)
    torch.manual_seed(seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            dtype = random.choice([torch.bfloat16, torch.float16])
            heads, tokens = random.choice([1, 2, 4]), random.choice([6, 12, 33, 64, 150])
            d = random.choice([4, 8, 16, 64])
            query, key, value = (torch.randn(1, heads, tokens, d) for _ in range(3))
            value = value * random.choice([1, 0.01, 100]) * random.choice([torch.ones(d), torch.logspace(-2, 2, d)])
            query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
            causal = torch.ones(tokens, tokens).tril().bool()
            allowed, kernel, scale = random.choice([None, causal]), random.choice(KERNELS), 1 / math.sqrt(d)
            kind, name = number % 3, None
            if kind == 0:
                result = kernel(query, key, value, scale, allowed)
            elif kind == 1:
                name, make = listed(kernel, query, key, value, scale, allowed, causal)
                result = make()
            else:
                result = unlisted(kernel, query, key, value, scale, allowed, causal)
            words = [] if allowed is None else ["--causal"]
            found, praised = judge(attn, folder, {"query": query, "key": key, "value": value}, result, words)
            names = [one["mistakes"] for one in found] + [same for one in found for same in one["same"]]
            wrong = {0: names[:1] != [[]], 1: [name] not in names, 2: bool(names) and names[0] != []}[kind]
            if wrong or praised:
                failed += 1
                print(f"seed {seed}, job {number}: {name or ['right', '', 'of no list'][kind]}, {kernel.__name__}, "
                      f"{tokens} x {d}, {dtype}: {names[:3]}{', praised' if praised else ''}")
    print(f"{count - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(word) for word in sys.argv[2:])))
