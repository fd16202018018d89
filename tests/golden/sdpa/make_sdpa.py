"""torch.nn.functional.scaled_dot_product_attention on the CPU, as files that `attn sdpa` runs as they are.

    python3 tests/golden/sdpa/make_sdpa.py        (torch 2.15.0, numpy 2.4.6, ml_dtypes 0.6.0, safetensors 0.8.0)

Every case is two files and a line of cases.txt (the name, the stages to ask for, rtol, atol):

    NAME.safetensors             query, key, value, attn_mask, and the settings
    NAME.expected.safetensors    context, as PyTorch gives it

Nothing is forced: each call takes the path that PyTorch chooses for it (its fused CPU kernel where there is a batch, no
dropout and one d; else its plain one), with one thread. What it does, which `attn` follows:

- is_causal is aligned at the top left, whatever the lengths: query i sees the keys 0 .. i.
- true in a boolean mask means seen. Masks broadcast from the right: rank 3 is heads first.
- A row that may see no key is zeros, on every path, whether the mask says so in booleans or by minus infinity.
  A row whose mask is the lowest finite number throughout is no such row: its weights are equal.
- Dropout is drawn as DESIGN says, from the seed on: 53 bits of two draws for each weight in row-major order of
  [B,][H,] Tq x Tk, forbidden keys and empty rows included. The script draws it again by NumPy's mt19937 and compares
  every weight, so it fails on a PyTorch that draws from MKL's generator.

Each context is also computed in float64 from the formula and must lie within half of the case's tolerance.
"""

import math
import os
import sys

import ml_dtypes
import numpy
import torch
from torch.nn.functional import scaled_dot_product_attention

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

F32, F64, BF16 = torch.float32, torch.float64, torch.bfloat16
TOLERANCES = {F32: (1e-5, 1e-6), F64: (1e-14, 1e-14), BF16: (0, 2e-2)}  # rtol, atol
LOWEST = torch.finfo(F32).min


def seen(*rows):
    """A boolean mask from rows such as "x.x": x is seen."""
    return torch.tensor([[letter == "x" for letter in row] for row in rows])


def blocked(mask, forbidden=-math.inf):
    """A float mask of the same meaning, which also moves what is seen."""
    moved = torch.linspace(-1, 1, mask.numel()).reshape(mask.shape)
    return torch.where(mask, moved, forbidden)


SOME = seen("xxx..x", "x.xx..", "..xxxx", ".....x")
EMPTY = seen("xxx..x", "......", "..xxxx", ".....x")  # row 2 sees nothing
PADDING = seen("xxxxxx", "xxxx..")[:, None, None, :]  # of two items, [B,1,1,Tk]
PER_HEAD = torch.stack([SOME, EMPTY, ~SOME])
PER_ITEM = torch.stack([PER_HEAD, PER_HEAD.flip(2)])

# Shapes of query, key and value; what is passed on: is_causal, attn_mask, scale, dropout_p, enable_gqa, dtype; seed.
CROSS = dict(query=(2, 3, 4, 8), key=(2, 3, 6, 8), value=(2, 3, 6, 8))
GROUPED = dict(query=(2, 6, 4, 8), key=(2, 2, 6, 8), value=(2, 2, 6, 8), enable_gqa=True)


def square(*shape, **rest):
    return dict(query=shape, key=shape, value=shape, **rest)


CASES = {
    "rank-2": square(5, 8),
    "rank-3": square(3, 5, 8),
    "rank-4": square(2, 3, 5, 8),
    "cross": dict(CROSS),
    "one-query": dict(CROSS, query=(2, 3, 1, 8)),
    "one-key": dict(CROSS, key=(2, 3, 1, 8), value=(2, 3, 1, 8)),
    "value-narrow": dict(CROSS, value=(2, 3, 6, 5)),
    "value-wide-rank-2": dict(query=(4, 8), key=(6, 8), value=(6, 11)),
    "scale": dict(CROSS, scale=0.05),
    "scale-large-float-mask": dict(CROSS, scale=1.5, attn_mask=blocked(SOME)),
    "causal-square": square(2, 3, 5, 8, is_causal=True),
    "causal-more-keys": dict(CROSS, is_causal=True),
    "causal-more-queries": dict(CROSS, query=(2, 3, 9, 8), is_causal=True),
    "causal-rank-2": dict(query=(4, 8), key=(6, 8), value=(6, 8), is_causal=True),
    "causal-rank-3-value-narrow": dict(query=(3, 7, 8), key=(3, 6, 8), value=(3, 6, 5), is_causal=True),
    "causal-long": square(1, 2, 70, 16, is_causal=True),
    "bool-mask": dict(CROSS, attn_mask=SOME),
    "bool-mask-empty-row": dict(CROSS, attn_mask=EMPTY),
    "bool-mask-empty-row-rank-2": dict(query=(4, 8), key=(6, 8), value=(6, 8), attn_mask=EMPTY),
    "bool-mask-of-keys": dict(CROSS, attn_mask=PADDING),
    "bool-mask-of-heads": dict(CROSS, attn_mask=PER_HEAD),
    "bool-mask-of-heads-rank-3": dict(query=(3, 4, 8), key=(3, 6, 8), value=(3, 6, 8), attn_mask=PER_HEAD),
    "bool-mask-rank-4": dict(CROSS, attn_mask=PER_ITEM),
    "float-mask": dict(CROSS, attn_mask=torch.linspace(-2, 2, 24).reshape(4, 6)),
    "float-mask-of-heads": dict(CROSS, attn_mask=torch.linspace(-2, 2, 72).reshape(1, 3, 4, 6)),
    "float-mask-of-items": dict(CROSS, attn_mask=blocked(PADDING)),
    "float-mask-empty-row": dict(CROSS, attn_mask=blocked(EMPTY)),
    "float-mask-lowest": dict(CROSS, attn_mask=blocked(EMPTY, LOWEST)),
    "grouped": dict(GROUPED),
    "grouped-causal": dict(GROUPED, is_causal=True),
    "grouped-one-key-head": dict(GROUPED, key=(2, 1, 6, 8), value=(2, 1, 6, 5), attn_mask=PADDING),
    "dropout": dict(CROSS, dropout_p=0.3, seed=123),
    "dropout-rank-2": square(6, 8, dropout_p=0.5, seed=789),
    "dropout-causal": square(2, 3, 5, 8, is_causal=True, dropout_p=0.1, seed=42),
    "dropout-empty-row": dict(CROSS, attn_mask=EMPTY, dropout_p=0.2, seed=2**32 + 5),
    "dropout-grouped-float-mask": dict(GROUPED, attn_mask=blocked(SOME), scale=0.5, dropout_p=0.4, seed=7),
    "f64": dict(CROSS, dtype=F64),
    "f64-causal": square(2, 3, 5, 8, is_causal=True, dtype=F64),
    "f64-float-mask": dict(CROSS, attn_mask=blocked(EMPTY).double(), scale=0.7, dtype=F64),
    "f64-dropout": dict(CROSS, dropout_p=0.3, seed=123, dtype=F64),
    "bf16": dict(CROSS, dtype=BF16),
    "bf16-causal": square(2, 3, 5, 8, is_causal=True, dtype=BF16),
    "bf16-bool-mask": dict(CROSS, attn_mask=EMPTY, dtype=BF16),
    "bf16-float-mask": dict(CROSS, attn_mask=blocked(SOME).bfloat16(), dtype=BF16),
    "bf16-grouped-dropout": dict(GROUPED, dropout_p=0.25, seed=11, dtype=BF16),
}


def dropout(seed, p, shape):
    """What is kept, scaled: NumPy's mt19937 and the rule alone."""
    generator = numpy.random.MT19937()
    generator._legacy_seeding(seed % 2**32)
    draws = generator.random_raw(2 * math.prod(shape)).astype(numpy.uint64)
    bits = (draws[0::2] << numpy.uint64(32) | draws[1::2]) & numpy.uint64(2**53 - 1)
    return torch.from_numpy((bits * 2.0**-53 < 1 - p) / (1 - p)).reshape(shape)


def formula(query, key, value, attn_mask=None, is_causal=False, scale=None, dropout_p=0.0, seed=None, **_):
    """The context in float64."""
    if query.dim() > 2:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scores = query.double() @ key.double().mT * (scale or 1 / math.sqrt(query.shape[-1]))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    weights = torch.softmax(scores, -1).nan_to_num(0)  # not a number: an empty row
    if dropout_p:
        weights = weights * dropout(seed, dropout_p, weights.shape)
    return weights @ value.double()


def check_dropout(query, key, value, seed=0, **arguments):
    """With the identity as value the context is the weights after dropout, so that each of them can be seen."""
    if "dropout_p" not in arguments:
        return
    identity = torch.eye(key.shape[-2], dtype=query.dtype).expand(*key.shape[:-1], -1).contiguous()
    torch.manual_seed(seed)
    kept = scaled_dot_product_attention(query, key, identity, **arguments) != 0
    assert torch.equal(kept, formula(query, key, identity, seed=seed, **arguments) != 0)


def array(tensor):
    return tensor.float().numpy().astype(ml_dtypes.bfloat16) if tensor.dtype == BF16 else tensor.numpy()


def freeze(number, name, case):
    """Writes the two files of a case and returns its line."""
    dtype, seed = case.get("dtype", F32), case.get("seed")
    generator = torch.Generator().manual_seed(number)
    inputs = {n: torch.randn(case[n], generator=generator, dtype=F64).to(dtype) for n in ("query", "key", "value")}
    if "attn_mask" in case:
        inputs["attn_mask"] = case["attn_mask"]
    options = {n: case[n] for n in ("is_causal", "scale", "dropout_p", "enable_gqa") if n in case}
    check_dropout(**inputs, **options, seed=seed)
    if seed is not None:
        torch.manual_seed(seed)
    context = scaled_dot_product_attention(**inputs, **options)
    rtol, atol = TOLERANCES[dtype]
    torch.testing.assert_close(context.double(), formula(**inputs, **options, seed=seed), rtol=rtol / 2, atol=atol / 2)

    names = {"is_causal": "causal", "scale": "scale", "dropout_p": "dropout", "seed": "seed"}
    settings = {key: case[n] for n, key in names.items() if n in case}
    path = os.path.join(HERE, name)
    tensors = {n: array(tensor) for n, tensor in inputs.items()}
    frozen.save(path + ".safetensors", tensors, {"mechanism": "sdpa", "settings": settings})
    frozen.save(path + ".expected.safetensors", {"context": array(context)})
    for suffix in (".safetensors", ".expected.safetensors"):
        frozen.verify(path + suffix)
    return f"{name} context {rtol:g} {atol:g}\n"


if __name__ == "__main__":
    lines = [freeze(number, name, case) for number, (name, case) in enumerate(CASES.items(), 1)]
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(sorted(lines))
    print(len(lines), "cases, torch", torch.__version__, torch.backends.cpu.get_cpu_capability())
