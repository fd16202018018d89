"""torch.nn.MultiheadAttention on the CPU, as files that `attn multihead` runs as they are.

    python3 tests/golden/torch-multihead/make_torch_multihead.py    (torch 2.15.0, numpy, safetensors)

Every case is two files and a line of cases.txt (the name, the stages to ask for, rtol, atol):

    NAME.safetensors             inputs [B,]T,E, attn_mask, the module's state_dict under its own names, the settings
    NAME.expected.safetensors    weights [B,]H,T,T (average_attn_weights=False) and output [B,]T,E

The state_dict holds in_proj_weight [3E,E] (the rows of query, key and value, one after another) and out_proj.weight
[E,E], and with bias=True in_proj_bias [3E] and out_proj.bias [E]; without, neither. The module starts its biases at
zero; here they are drawn, so that a forgotten one is seen.

In a boolean mask of this module true means forbidden, the opposite of scaled_dot_product_attention: `mask_true` is
"drop". A causal case passes the causal mask to the module and no mask to `attn`. A row that sees no key is not a number
in this module; no case has one.

Each result is also computed in float64 from the formula and must lie within half of the case's tolerance.
"""

import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import frozen  # noqa: E402

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

RTOL, ATOL = 1e-5, 1e-6
FORBIDDEN = torch.tensor([[letter == "x" for letter in row] for row in ("..x..", "x....", ".xx.x", "....x", "xxx..")])

CASES = {
    "batch": dict(shape=(2, 5, 12), heads=3),
    "batch-causal": dict(shape=(2, 5, 12), heads=3, causal=True),
    "one-item": dict(shape=(5, 12), heads=4),
    "one-item-causal-no-bias": dict(shape=(5, 12), heads=4, causal=True, bias=False),
    "batch-no-bias": dict(shape=(2, 5, 12), heads=2, bias=False),
    "one-head": dict(shape=(2, 5, 6), heads=1, causal=True),
    "float-mask": dict(shape=(2, 5, 12), heads=3, attn_mask=torch.linspace(-2, 2, 25).reshape(5, 5)),
    "float-mask-infinity": dict(shape=(5, 12), heads=3, attn_mask=torch.where(FORBIDDEN, -math.inf, 0.5)),
    "bool-mask": dict(shape=(2, 5, 12), heads=3, attn_mask=FORBIDDEN),
    "long-causal": dict(shape=(1, 33, 16), heads=2, causal=True),
}


def formula(module, x, mask):
    """weights and output in float64."""
    state = {name: tensor.double() for name, tensor in module.state_dict().items()}
    projected = x.double() @ state["in_proj_weight"].T + state.get("in_proj_bias", 0)
    query, key, value = (
        t.unflatten(-1, (module.num_heads, -1)).transpose(-2, -3) for t in projected.chunk(3, dim=-1)
    )
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1)
    context = (weights @ value).transpose(-2, -3).flatten(-2)
    return weights, context @ state["out_proj.weight"].T + state.get("out_proj.bias", 0)


@torch.no_grad()
def freeze(number, name, case):
    """Writes the two files of a case and returns its line."""
    torch.manual_seed(number)
    x = torch.randn(case["shape"])
    module = torch.nn.MultiheadAttention(x.shape[-1], case["heads"], bias=case.get("bias", True), batch_first=True)
    for parameter in module.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter)
    mask = case.get("attn_mask")
    if case.get("causal"):
        mask = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).triu(1)
    output, weights = module(x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False)
    for got, expected in zip((weights, output), formula(module, x, mask), strict=True):
        torch.testing.assert_close(got.double(), expected, rtol=RTOL / 2, atol=ATOL / 2)

    settings = {"heads": case["heads"], "causal": case.get("causal", False)}
    tensors = {"inputs": x.numpy()}
    if "attn_mask" in case:
        tensors["attn_mask"] = mask.numpy()
        if mask.dtype == torch.bool:
            settings["mask_true"] = "drop"
    tensors.update((key, tensor.numpy()) for key, tensor in module.state_dict().items())
    path = os.path.join(HERE, name)
    frozen.save(path + ".safetensors", tensors, {"mechanism": "multihead", "settings": settings})
    frozen.save(path + ".expected.safetensors", {"weights": weights.numpy(), "output": output.numpy()})
    for suffix in (".safetensors", ".expected.safetensors"):
        frozen.verify(path + suffix)
    return f"{name} weights,output {RTOL:g} {ATOL:g}\n"


if __name__ == "__main__":
    lines = [freeze(number, name, case) for number, (name, case) in enumerate(CASES.items(), 1)]
    with open(os.path.join(HERE, "cases.txt"), "w") as file:
        file.writelines(sorted(lines))
    print(len(lines), "cases, torch", torch.__version__, torch.backends.cpu.get_cpu_capability())
