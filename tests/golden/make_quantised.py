"""tests/quantised: checkpoints of one layer with quantised weights, and the same layer in full precision.

    python3 tests/golden/make_quantised.py        with PyTorch 2.15, transformers 5.24 and compressed-tensors 0.20

Each form has a folder with config.json, model.safetensors, and plain.safetensors: the weights as the form's own code
dequantises them. transformers and compressed-tensors do that here. GPTQ and AWQ follow GPTQModel's dequantize_weight and
AutoAWQ's dequantize_gemm, which need a GPU's kernels to be installed: unpacked by shifts of whole words, and multiplied
in the dtype of the scales."""

import json
import pathlib
import shutil

import torch
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.quantization import QuantizationScheme
from safetensors.torch import save_file
from transformers.integrations.finegrained_fp8 import Fp8Dequantize
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

FOLDER = pathlib.Path(__file__).parent.parent / "quantised"
RANDOM = torch.Generator().manual_seed(32)
LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}
QWEN = {**LLAMA, "model_type": "qwen3"}


def normal(*shape):
    return torch.randn(shape, generator=RANDOM)


def whole(low, high, *shape):
    return torch.randint(low, high, shape, generator=RANDOM)


def scales(*shape, dtype=torch.float32):
    return (torch.rand(shape, generator=RANDOM) * 0.02 + 0.001).to(dtype)


def float8(*shape):
    return (normal(*shape) * 40).to(torch.float8_e4m3fn)


def packed(codes, bits, axis):
    """32-bit words of consecutive codes, the first in the lowest bits, along an axis."""
    codes = codes.to(torch.int64).movedim(axis, -1)
    count = codes.shape[-1]
    words = torch.zeros(*codes.shape[:-1], -(-count * bits // 32), dtype=torch.int64)
    for i in range(count):
        word, shift = divmod(i * bits, 32)
        words[..., word] |= codes[..., i] << shift & 0xFFFFFFFF
        if shift + bits > 32:
            words[..., word + 1] |= codes[..., i] >> (32 - shift)
    return words.to(torch.int32).movedim(-1, axis).contiguous()


# --- the forms: (rows, columns) -> the tensors in place of the weight, and its numbers --------------------------------

def fp8_blocks(block, dtype=torch.float32, leaf="weight_scale_inv"):
    def make(rows, columns):
        weight, scale = float8(rows, columns), scales(-(-rows // block[0]), -(-columns // block[1]), dtype=dtype)
        if rows % block[0] or columns % block[1]:  # transformers has no cut blocks: whole ones, then cut
            whole_weight = torch.zeros(scale.shape[0] * block[0], scale.shape[1] * block[1]).to(weight.dtype)
            whole_weight[:rows, :columns] = weight
        else:
            whole_weight = weight
        meant = Fp8Dequantize(None)._dequantize_one(whole_weight, scale, torch.float32)[:rows, :columns]
        return {"weight": weight, leaf: scale}, meant
    return {"quant_method": "fp8", "weight_block_size": list(block)}, make


def fp8_tensor():
    def make(rows, columns):
        weight, scale = float8(rows, columns), scales(1)[0]
        return ({"weight": weight, "weight_scale_inv": scale, "activation_scale": scale.clone()},
                Fp8Dequantize(None)._dequantize_one(weight, scale, torch.float32))
    return {"quant_method": "fp8", "activation_scheme": "static"}, make


def mxfp8():
    def make(rows, columns):
        weight, scale = float8(rows, columns), whole(110, 122, rows, columns // 32).to(torch.uint8)
        return ({"weight": weight, "weight_scale_inv": scale},
                Fp8Dequantize(None)._dequantize_one(weight, scale, torch.float32))
    return {"quant_method": "mxfp8"}, make


def fp8_rows(config, shape, **more):
    def make(rows, columns):
        weight, scale = float8(rows, columns), scales(*(rows if size == "rows" else size for size in shape))
        return {"weight": weight, "weight_scale": scale, **more}, weight.float() * scale
    return config, make


def compressed(kind, bits, type_, strategy, *, symmetric=True, size=None, dtype=torch.float32, order=False):
    args = {"num_bits": bits, "type": type_, "symmetric": symmetric, "strategy": strategy, "dynamic": False}
    if strategy in ("group", "tensor_group"):
        args["group_size"] = size
    if strategy == "block":
        args["block_structure"] = size
    config = {"quant_method": "compressed-tensors", "format": kind, "ignore": ["lm_head"],
              "config_groups": {"group_0": {"targets": ["Linear"], "weights": args}}}

    def make(rows, columns):
        scheme = QuantizationScheme(targets=["Linear"], weights=args, format=kind)
        compressor = BaseCompressor.get_value_from_registry(kind)
        shape = {"tensor": (1,), "channel": (rows, 1)}.get(strategy)
        if strategy in ("group", "tensor_group"):
            shape = (rows, columns // size)
        if strategy == "block":
            shape = (-(-rows // size[0]), -(-columns // size[1]))
        tensors = {"weight_scale": scales(*shape, dtype=dtype)}
        low = -(1 << bits - 1)
        if type_ == "int":
            codes = whole(low, -low, rows, columns).to(torch.int8)
            zeros = whole(low, -low, *shape).to(torch.int8)
        if kind == "pack-quantized":
            tensors["weight_packed"] = packed(codes.int() - low, bits, 1)
            tensors["weight_shape"] = torch.tensor([rows, columns])
            if not symmetric:
                tensors["weight_zero_point"] = packed(zeros.int() - low, bits, 0)
        elif kind in ("mxfp4-pack-quantized", "nvfp4-pack-quantized"):
            tensors["weight_packed"] = whole(0, 256, rows, columns // 2).to(torch.uint8)
            if kind[0] == "m":
                tensors["weight_scale"] = whole(110, 125, *shape).to(torch.uint8)
            else:
                tensors["weight_scale"] = (torch.rand(shape, generator=RANDOM) * 300 + 1).to(torch.float8_e4m3fn)
                tensors["weight_global_scale"] = torch.tensor([1234.5])
        else:
            tensors["weight"] = codes if type_ == "int" else float8(rows, columns)
            if kind == "mxfp8-quantized":
                tensors["weight_scale"] = whole(110, 122, *shape).to(torch.uint8)
            if not symmetric:
                tensors["weight_zero_point"] = zeros
        meant = compressor.decompress({name: tensor.clone() for name, tensor in tensors.items()}, scheme)["weight"]
        if order:  # an older compressed-tensors: the group of each column
            groups = torch.randperm(columns, generator=RANDOM) // size
            tensors["weight_g_idx"] = groups.int()
            zero = zeros.int() if not symmetric else torch.zeros(shape, dtype=torch.int32)
            meant = (codes.int() - zero[:, groups]).to(dtype) * tensors["weight_scale"][:, groups]
        return tensors, meant
    return config, make


def gptq(bits, size, *, version="gptq", order=False, dtype=torch.float16, index=True, **more):
    def make(rows, columns):
        each = columns if size == -1 else size
        codes, zeros = whole(0, 1 << bits, columns, rows), whole(0, 1 << bits, columns // each, rows)
        groups = torch.arange(columns) // each
        if order:
            groups = groups[torch.randperm(columns, generator=RANDOM)]
        scale = scales(columns // each, rows, dtype=dtype)
        stored = zeros - 1 & (1 << bits) - 1 if version == "gptq" else zeros
        tensors = {"qweight": packed(codes, bits, 0), "qzeros": packed(stored, bits, 1), "scales": scale}
        if index:
            tensors["g_idx"] = groups.int()
        return tensors, (scale[groups] * (codes - zeros[groups])).t()
    config = {"quant_method": "gptq", "bits": bits, "group_size": size, "desc_act": order, "sym": False, **more}
    return config | ({} if version == "gptq" else {"checkpoint_format": version}), make


def awq(bits, size, version="gemm"):
    order = [0, 2, 4, 6, 1, 3, 5, 7] if bits == 4 else [0, 2, 1, 3]

    def interleaved(codes):
        return packed(codes.reshape(codes.shape[0], -1, len(order))[:, :, order].reshape(codes.shape), bits, 1)

    def make(rows, columns):
        codes, zeros = whole(0, 1 << bits, columns, rows), whole(0, 1 << bits, columns // size, rows)
        scale = scales(columns // size, rows, dtype=torch.float16)
        groups = torch.arange(columns) // size
        return ({"qweight": interleaved(codes), "qzeros": interleaved(zeros), "scales": scale},
                ((codes - zeros[groups]) * scale[groups]).t())
    return {"quant_method": "awq", "bits": bits, "group_size": size, "zero_point": True, "version": version}, make


def mxfp4():
    def make(rows, columns):
        blocks = whole(0, 256, 1, rows, columns // 32, 16).to(torch.uint8)
        scale = whole(110, 125, 1, rows, columns // 32).to(torch.uint8)
        return ({"weight_blocks": blocks[0], "weight_scales": scale[0]},
                convert_moe_packed_tensors(blocks, scale)[0].t())
    return {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, make


def mlx(bits, size, dtype):
    """mlx.core.dequantize of MLX 0.32.4 rounds the product, then the sum."""
    def make(rows, columns):
        codes, groups = whole(0, 1 << bits, rows, columns), torch.arange(columns) // size
        scale, bias = scales(rows, columns // size, dtype=dtype), (normal(rows, columns // size) / 20).to(dtype)
        return ({"weight": packed(codes, bits, 1).view(torch.uint32), "scales": scale, "biases": bias},
                codes.to(dtype) * scale[:, groups] + bias[:, groups])
    config = {"group_size": size, "bits": bits}
    if bits == 4:  # each module has its own settings; with the others its tensors would fit, too
        own = {f"model.layers.0.self_attn.{letter}_proj": config for letter in "qko"}
        config = {"group_size": size // 2, "bits": 2 * bits, "mode": "affine", **own}
    return config, make


FORMS = {
    "fp8-blocks": fp8_blocks((128, 128)),
    "fp8-blocks-small": fp8_blocks((16, 32)),
    "fp8-blocks-cut": fp8_blocks((20, 24), torch.bfloat16),
    "fp8-tensor": fp8_tensor(),
    "mxfp8": mxfp8(),
    "fbgemm": fp8_rows({"quant_method": "fbgemm_fp8"}, ("rows", 1)),
    "modelopt": fp8_rows({"quant_method": "modelopt", "quant_algo": "FP8"}, (1,)),
    "ct-float-channel": compressed("float-quantized", 8, "float", "channel", dtype=torch.bfloat16),
    "ct-float-tensor": compressed("float-quantized", 8, "float", "tensor"),
    "ct-float-block": compressed("float-quantized", 8, "float", "block", size=[20, 24]),
    "ct-naive": compressed("naive-quantized", 8, "float", "channel", dtype=torch.float16),
    "ct-int": compressed("int-quantized", 8, "int", "channel", dtype=torch.bfloat16),
    "ct-int-zeros": compressed("int-quantized", 8, "int", "channel", symmetric=False),
    "ct-pack-4": compressed("pack-quantized", 4, "int", "group", size=32, dtype=torch.bfloat16),
    "ct-pack-4-zeros": compressed("pack-quantized", 4, "int", "group", size=16, symmetric=False, dtype=torch.float16),
    "ct-pack-4-order": compressed("pack-quantized", 4, "int", "group", size=16, symmetric=False, order=True),
    "ct-pack-8": compressed("pack-quantized", 8, "int", "channel", dtype=torch.bfloat16),
    "ct-pack-3": compressed("pack-quantized", 3, "int", "group", size=8, symmetric=False),
    "ct-mxfp4": compressed("mxfp4-pack-quantized", 4, "float", "group", size=32),
    "ct-nvfp4": compressed("nvfp4-pack-quantized", 4, "float", "tensor_group", size=16),
    "ct-mxfp8": compressed("mxfp8-quantized", 8, "float", "group", size=32),
    "gptq-4": gptq(4, 32),
    "gptq-8": gptq(8, 16),
    "gptq-2": gptq(2, 32),
    "gptq-3": gptq(3, 32),
    "gptq-4-order": gptq(4, 16, order=True),
    "gptq-4-row": gptq(4, -1, index=False),
    "gptq-4-v2": gptq(4, 32, version="gptq_v2", dtype=torch.bfloat16),
    "awq-4": awq(4, 32),
    "awq-8": awq(8, 16, "GEMM"),
    "mxfp4": mxfp4(),
    "fp8-scale": fp8_rows({"quant_method": "fp8", "activation_scheme": "static"}, (1,)),
    "mlx-3": mlx(3, 32, torch.bfloat16),
    "mlx-4": mlx(4, 32, torch.float16),
    "mlx-8": mlx(8, 16, torch.float32),
    "fp8-blocks-deepseek": fp8_blocks((16, 32), leaf="scale"),  # the names of DeepSeek's inference code
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for i, (name, (config, make)) in enumerate(FORMS.items()):
        family = QWEN if i % 2 else LLAMA
        head = family["head_dim"]
        stored, plain = {}, {}
        for letter, rows, columns in (("q", 2 * head, 64), ("k", head, 64), ("v", head, 64), ("o", 64, 2 * head)):
            path = f"model.layers.0.self_attn.{letter}_proj."
            if letter == "v":  # one weight is left as it is
                stored[path + "weight"] = plain[path + "weight"] = normal(rows, columns).to(torch.bfloat16)
                continue
            tensors, meant = make(rows, columns)
            stored |= {path + leaf: tensor.contiguous() for leaf, tensor in tensors.items()}
            plain[path + "weight"] = meant.contiguous()
        if family is QWEN:
            for letter in "qk":
                stored[f"model.layers.0.self_attn.{letter}_norm.weight"] = plain[
                    f"model.layers.0.self_attn.{letter}_norm.weight"] = 1 + normal(head) / 10
        folder = FOLDER / name
        folder.mkdir(parents=True)
        save_file(stored, folder / "model.safetensors")
        save_file(plain, folder / "plain.safetensors")
        (folder / "config.json").write_text(json.dumps({**family, "quantization_config": config}))


main()
