# SPDX-License-Identifier: MIT
"""Attention modules of real families, as tiny checkpoints that `attn layer` reads as they are.

    python3 tests/golden/make_layers.py [NAME or FAMILY ...]

Made with transformers 5.23.0 and 5.24.0, torch 2.15.0, ml_dtypes 0.6.0 and safetensors 0.8.0. layer_rows.py has the families and
the cases; layer_numpy.py computes them again from the files alone.

Every case is a folder of tests/layers:

    config.json                  as published checkpoints have it, or, where `style` is "transformers", as
                                 transformers 5 writes it
    model.safetensors            the whole model in bfloat16; in some cases shards with their index, or a state dict
                                 (pytorch_model.bin); the names are those that save_pretrained writes, or, where the
                                 family's row has `names`, those of published checkpoints
    hidden.npy                   [B,]T,d in float32: what enters the attention module
    residual.npy                 the residual stream before the layer's norm, where there is one
    hidden-bf16.npy              what enters the module in bfloat16: residual.npy after the norm in bfloat16; where
                                 there is no norm, hidden.npy serves both
    encoder.npy                  of cross-attention: what key and value are made from
    expected.safetensors         normed (with residual.npy), query, key, value, weights, context, output in float32
    expected-bf16.safetensors    the same in bfloat16
    case.json                    the family, the layer, the module's path among the names, cross, and `settings`: what
                                 the module does as options of attn, written by hand; `unsaid`: what no option says; and `positions`
                                 on several axes

and a line of cases.txt: the name, the layer, the module's path, "self" or "cross".

query, key and value are what enters the attention function: after norms, rotation and clipping; the query of OPT and
Whisper with the scale in it; key and value before they are repeated for their group. The shapes are (B, H, T, d);
weights (B, H, Tq, Tk); output (B, T, d_out). residual.npy and encoder.npy are bfloat16 numbers, so both dtypes begin at
the same place.

The weights are drawn so that every feature shows: norms away from 1, biases and sinks away from 0, scores of a size
that makes weights far from equal. A model is written, then read again by from_pretrained(dtype=) for each dtype, with
eager attention; inv_freq stays float32. What is computed is watched from outside (torch.overrides), in the arithmetic
of the model itself. Falcon's eager path adds ALiBi twice, so there the numbers are those of its sdpa path.

Each case is checked: no tensor of the checkpoint may be missing or unexpected as transformers reads it, and
layer_numpy.py finds the same numbers by the settings.
"""

import copy
import importlib
import json
import math
import os
import re
import shutil
import sys
import zlib

import ml_dtypes
import numpy
import torch
import transformers
from torch.overrides import TorchFunctionMode

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frozen  # noqa: E402
import layer_numpy  # noqa: E402
from layer_rows import CASES, FAMILIES  # noqa: E402

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

F32, BF16 = torch.float32, torch.bfloat16
BUFFERS = r"att(entio)?n\.(bias|masked_bias|rotary_emb\.inv_freq)$|EncDecAttention.relative_attention_bias"
UNSAID = {"gate", "bare_norm", "norm_last", "buckets", "key_factor", "index_topk", "index_rope"}  # settings of a family's row, without an option
PRODUCTS = {"matmul", "__matmul__", "bmm", "baddbmm"}

# --- the model -------------------------------------------------------------------------------------------------------


def draw(model, gain):
    """Every parameter: a bfloat16 number, of a size that shows."""
    for module in model.modules():
        kind = type(module).__name__
        for name, parameter in module.named_parameters(recurse=False):
            x = torch.randn(parameter.shape)
            if "Norm" in kind and name == "weight":
                x = 0.4 * x + (0 if re.match("Gemma(?!3n|4)", kind) else 1.2)
            elif "Norm" in kind or name == "bias":
                x = 0.5 * x
            elif isinstance(module, torch.nn.Embedding):
                x = 1.2 * x + 0.3
            elif isinstance(module, torch.nn.Linear):
                x = gain * x / math.sqrt(parameter.shape[1])
            elif kind == "Conv1D":
                x = gain * x / math.sqrt(parameter.shape[0])
            parameter.data.copy_(x.to(BF16))


def row_of(case):
    """The family's row, with what the case says in its place."""
    return {**FAMILIES[case["family"]], **case}


def out_of(row):
    """The path of the output projection: in the module, or, where it has dots, in the model."""
    return (row["out"] if "." in row["out"] else row["attention"] + "." + row["out"]).format(row["layer"])


def configuration(row):
    values = {**FAMILIES[row["family"]]["config"], **row.get("change", {})}
    return copy.deepcopy({key: value for key, value in values.items() if value is not ...})


def model_of(row, path=None, dtype=F32):
    package = importlib.import_module("transformers." + row["package"]) if row.get("package") else transformers
    kind = getattr(package, row["model"])
    if path:
        model, said = kind.from_pretrained(
            path, dtype=dtype, attn_implementation=row.get("implementation", "eager"), output_loading_info=True
        )
        for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            left = [name for name in said[key] if not (row.get("buffers") and re.search(BUFFERS, str(name)))]
            assert not left, (key, left)
    else:
        values = configuration(row)
        model = kind(kind.config_class.from_dict(values))
    return model.eval()


# --- watching --------------------------------------------------------------------------------------------------------


class Watch(TorchFunctionMode):
    """Notes the products and softmax between the entrance of the module and that of its output projection."""

    def __init__(self):
        super().__init__()
        self.on, self.calls = False, []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if self.on and (name in PRODUCTS or name in ("softmax", "scaled_dot_product_attention")):
            copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
            self.calls.append((name, copies, dict(kwargs or {}), out.clone()))
        return out


def heads_apart(x, batch):
    """(B H, T, d) of baddbmm as (B, H, T, d)."""
    return x.reshape(batch, -1, *x.shape[-2:]) if x.dim() == 3 else x


def fused(call):
    """query, key, value and the weights of scaled_dot_product_attention, these in float32 and rounded once."""
    _, args, options, _ = call
    query, key, value = args[:3]
    scores = query.float() @ key.float().mT * (options.get("scale") or query.shape[-1] ** -0.5)
    mask = options.get("attn_mask")
    if options.get("is_causal"):
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return query, key, value, torch.softmax(scores, -1).to(query.dtype)


def chunked(calls, batch):
    """The same of windows or frames, each with its own softmax, in a row."""
    at = [i for i, call in enumerate(calls) if call[0] == "softmax"]
    parts = [seen(calls[i - 1 : i + 2], batch) for i in at]
    query, key, value = (torch.cat([part[i] for part in parts], 2) for i in range(3))
    heads = [[torch.block_diag(*(part[3][b, h] for part in parts)) for h in range(query.shape[1])] for b in range(batch)]
    return query, key, value, torch.stack([torch.stack(each) for each in heads])


def seen(calls, batch):
    """query, key, value and weights as the model had them, key and value once for every head."""
    if calls[-1][0] == "scaled_dot_product_attention":
        return fused(calls[-1])
    (at,) = [i for i, call in enumerate(calls) if call[0] == "softmax"]
    name, args, options, _ = calls[at - 1]
    query, key = (options["batch1"], options["batch2"]) if name == "baddbmm" else args
    _, (weights, value), _, _ = calls[at + 1]
    query, key, value, weights = (heads_apart(x, batch) for x in (query, key, value, weights))
    return query.to(value.dtype), key.mT.to(value.dtype), value, weights


def once_a_group(x, groups):
    """What was repeated for the heads of a group, once."""
    if x.shape[1] == groups:
        return x
    apart = x.unflatten(1, (groups, -1))
    assert (apart == apart[:, :, :1]).all()
    return apart[:, :, 0]


class Doors:
    """What enters the module and what leaves it; the stream at the layer, and the encoder's output, are given."""

    def __init__(self, row, model, given, dtype, watch):
        self.row, self.given, self.dtype, self.watch = row, given, dtype, watch
        self.entered = self.joined = self.output = None
        out = model.get_submodule(out_of(row))
        if row.get("norm"):
            model.get_submodule(row["norm"].format(row["layer"])).register_forward_pre_hook(self.enter_norm)
        module = model.get_submodule(row["attention"].format(row["layer"]))
        module.register_forward_pre_hook(self.enter, with_kwargs=True)
        out.register_forward_pre_hook(self.enter_out)
        out.register_forward_hook(self.leave_out)

    def flat(self, x):
        """What a module without a batch takes."""
        return x[0] if self.row.get("flat") else x

    def enter_norm(self, _, args):
        return (self.flat(self.given["residual"]).to(self.dtype),)

    def enter(self, _, args, kwargs):
        hidden = args[0] if args else kwargs["hidden_states"]
        if "hidden" in self.given:
            hidden = self.given["hidden"].to(self.dtype)
        args, kwargs = ((hidden, *args[1:]), kwargs) if args else (args, dict(kwargs, hidden_states=hidden))
        if self.row.get("cross"):
            kwargs = dict(kwargs, key_value_states=self.given["encoder"].to(self.dtype))
        self.entered, self.watch.on, self.watch.calls = hidden.clone(), True, []
        if self.row.get("flat"):
            self.entered = self.entered[None]
        return args, kwargs

    def enter_out(self, _, args):
        self.watch.on, self.joined = False, (args[0][None] if self.row.get("flat") else args[0]).clone()

    def leave_out(self, _, args, result):
        self.output = (result[None] if self.row.get("flat") else result).clone()


def run(row, model, given, dtype):
    """Runs the model, which is not to be run again. Returns the stages; `normed` is what entered the module."""
    with torch.no_grad(), Watch() as watch:
        doors = Doors(row, model, given, dtype, watch)
        (model.get_image_features if row.get("input") == "tower" else model)(**inputs_of(row, dtype))
    chunks = sum(call[0] == "softmax" for call in watch.calls) > 1
    query, key, value, weights = (chunked if chunks else seen)(watch.calls, doors.entered.shape[0])
    groups = row["says"].get("kv_heads") or row["says"]["heads"]
    key, value = once_a_group(key, groups), once_a_group(value, groups)
    context = doors.joined.unflatten(-1, (query.shape[1], -1)).transpose(1, 2)
    if row["says"].get("gate"):  # what is joined is gated
        context = weights @ value.repeat_interleave(weights.shape[1] // value.shape[1], 1)
    stages = dict(normed=doors.entered, query=query, key=key, value=value, weights=weights, context=context)
    stages["output"] = doors.output
    return {name: x.detach().contiguous() for name, x in stages.items()}


def inputs_of(row, dtype):
    """What the whole model is called with: only its sizes matter."""
    batch, tokens = row.get("batch", 1), row.get("token_count", row["tokens"])
    ids = torch.arange(batch * tokens).reshape(batch, tokens) % 11 + 2
    if row.get("input") == "patches":
        sizes = layer_numpy.sizes_of(row["positions"])
        plain = row["pixels"] == "hidden_states" or not row["flat"]
        shape = (math.prod(sizes), 48) if plain else (math.prod(sizes), 3, 4, 4)
        return {row["pixels"]: torch.randn(shape).to(dtype), "grid_thw": torch.tensor([sizes])}
    if row.get("input") == "picture":
        height, width = map(int, row["positions"].removeprefix("grid:").split("x"))
        return dict(pixel_values=torch.randn(1, 3, 4 * height, 4 * width).to(dtype))
    if row.get("positions"):
        rows = layer_numpy.coordinates_of(row["positions"], {}, tokens).T
        return dict(input_ids=ids, position_ids=torch.tensor(rows).long()[:, None].expand(-1, batch, -1))
    if row.get("input") in ("pixels", "tower"):
        size = row["pixels"]
        return dict(pixel_values=torch.randn(batch, 3, size, size).to(dtype))
    if row.get("input") == "text and pixels":
        size = row["pixels"]
        return dict(input_ids=ids, pixel_values=torch.randn(batch, 3, size, size).to(dtype))
    if row.get("input") == "sound":
        features = torch.randn(batch, 4, 2 * row["frames"]).to(dtype)
        return dict(input_features=features, decoder_input_ids=ids)
    if row.get("input") == "both":
        return dict(input_ids=torch.full((batch, row["encoder_tokens"]), 3), decoder_input_ids=ids)
    return dict(input_ids=ids)


# --- checking --------------------------------------------------------------------------------------------------------


def check_spread(name, stages):
    """That the weights of the last query are far from equal, and not one key's alone."""
    last = stages["weights"][..., -1, :].double()
    spread = (last.max(-1).values / last.sum(-1)).mean().item()
    assert 1.5 / last.shape[-1] < spread < 0.97, (name, "weights too equal or too sharp", spread)


# --- writing ---------------------------------------------------------------------------------------------------------


def renamed(path, names, extra):
    """The checkpoint's one file with the names of published checkpoints, and buffers that old ones hold."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(os.path.join(path, "model.safetensors"))
    for pattern, with_ in names:
        tensors = {re.sub(pattern, with_, name): x for name, x in tensors.items()}
    tensors.update(extra)
    save_file(tensors, os.path.join(path, "model.safetensors"), {"format": "pt"})


def as_state_dict(path, tensors=None):
    """The checkpoint as a pickle, under the names of the file or those that the model itself has."""
    from safetensors.torch import load_file

    file = os.path.join(path, "model.safetensors")
    torch.save(dict(tensors or load_file(file)), os.path.join(path, "pytorch_model.bin"))
    os.remove(file)


def quantized(path):
    """The experts in blocks of 4 bits with their scales, as they are published: bytes that the layer does not need."""
    from safetensors.torch import load_file, save_file

    file = os.path.join(path, "model.safetensors")
    tensors = load_file(file)
    for name in [name for name in tensors if re.search(r"experts\.[a-z_]*proj$", name)]:
        shape = tensors.pop(name).shape
        tensors[name + "_blocks"] = torch.zeros(shape[0], shape[2], shape[1] // 8, 4, dtype=torch.uint8)
        tensors[name + "_scales"] = torch.zeros(shape[0], shape[2], shape[1] // 8, dtype=torch.uint8)
    save_file(tensors, file, {"format": "pt"})


def finish_checkpoint(path, row):
    """What transformers could not read here: experts in blocks, and keys of the config that it no longer knows."""
    if row.get("after") == "blocks":
        quantized(path)
    if row.get("written"):
        with open(os.path.join(path, "config.json")) as file:
            values = json.load(file)
        with open(os.path.join(path, "config.json"), "w") as file:
            json.dump({**values, **row["written"]}, file, indent=2)
            file.write("\n")


def write_checkpoint(path, row, model):
    shards = row.get("files") == "shards"
    model.to(BF16).save_pretrained(path, max_shard_size=row.get("shard", "12KB") if shards else "1GB")
    if os.path.exists(os.path.join(path, "generation_config.json")):
        os.remove(os.path.join(path, "generation_config.json"))
    if row.get("style", "published") == "published":
        if row.get("names") or row.get("buffers"):
            assert not shards
            renamed(path, row.get("names", ()), row["buffers"](row) if row.get("buffers") else {})
        with open(os.path.join(path, "config.json"), "w") as file:
            json.dump(dict(configuration(row), architectures=[row["model"]], torch_dtype="bfloat16"), file, indent=2)
            file.write("\n")
    if row.get("files") == "state dict":
        as_state_dict(path, model.state_dict() if row.get("own_names") else None)


def names_of(path):
    from safetensors import safe_open

    names = set()
    for file in os.listdir(path):
        if file.endswith(".safetensors") and not file.startswith("expected"):
            with safe_open(os.path.join(path, file), framework="pt") as tensors:
                names |= set(tensors.keys())
        elif file.endswith(".bin"):
            names |= set(torch.load(os.path.join(path, file), weights_only=True))
    return names


def module_path(path, row):
    """What the names of the module's tensors begin with in the checkpoint."""
    pattern = row.get("module", row["attention"]).format(row["layer"])
    (found,) = {
        match.group(1)
        for name in names_of(path)
        if (match := re.match(r"(.*?" + re.escape(pattern) + r")\.", name)) and match.group(1).endswith(pattern)
    }
    return found


def numpy_of(x):
    x = x.contiguous()
    return x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16) if x.dtype == BF16 else x.numpy()


def given_of(row, width, encoder_width):
    """The stream at the layer, and the encoder's output: bfloat16 numbers."""
    batch, tokens = row.get("batch", 1), row["tokens"]
    stream = (1.5 * torch.randn(batch, tokens, width) + 0.4).to(BF16).float()
    given = {"residual" if row.get("norm") else "hidden": stream}
    if row.get("cross"):
        given["encoder"] = torch.randn(batch, row["encoder_tokens"], encoder_width).to(BF16).float()
    return given


def save_arrays(path, row, given, stages, narrow):
    one = row.get("batch", 1) == 1 and row.get("rank") == 2
    shown = lambda x: (x[0] if one else x).float().numpy()
    numpy.save(os.path.join(path, "hidden.npy"), shown(stages["normed"]))
    if "residual" in given:
        numpy.save(os.path.join(path, "residual.npy"), shown(given["residual"]))
        numpy.save(os.path.join(path, "hidden-bf16.npy"), shown(narrow["normed"]))
    if "encoder" in given:
        numpy.save(os.path.join(path, "encoder.npy"), shown(given["encoder"]))
    for file, which in (("expected", stages), ("expected-bf16", narrow)):
        keep = {n: x[0] if one else x for n, x in which.items() if n != "normed" or "residual" in given}
        frozen.save(os.path.join(path, file + ".safetensors"), {n: numpy_of(x) for n, x in keep.items()})
        frozen.verify(os.path.join(path, file + ".safetensors"))


def make(name, case):
    row = row_of(case)
    row["says"] = {**FAMILIES[case["family"]].get("says", {}), **case.get("says", {})}
    path = os.path.join(layer_numpy.FOLDER, name)
    shutil.rmtree(path, ignore_errors=True)
    torch.manual_seed(zlib.crc32(name.encode()))
    model = model_of(row)
    draw(model, row.get("gain", 1.3))
    write_checkpoint(path, row, model)
    wide, narrow = model_of(row, path, F32), model_of(row, path, BF16)
    entrance = wide.get_submodule(row["norm"].format(row["layer"])) if row.get("norm") else None
    width = entrance.weight.shape[0] if entrance is not None else row["width"]
    given = given_of(row, width, row.get("encoder_width", width))
    stages, half = run(row, wide, given, F32), run(row, narrow, given, BF16)
    check_spread(name, stages)
    finish_checkpoint(path, row)
    save_arrays(path, row, given, stages, half)
    facts = dict(family=row["family"], model_type=configuration(row)["model_type"], layer=row["layer"])
    facts.update(module=module_path(path, row), cross=bool(row.get("cross")), style=row.get("style", "published"))
    said = {key: value for key, value in row["says"].items() if value is not None}
    facts.update(settings={key: value for key, value in said.items() if key not in UNSAID})
    facts.update(unsaid={key: value for key, value in said.items() if key in UNSAID})
    if row.get("positions") and row["says"].get("rope"):
        facts["positions"] = row["positions"]
    if row.get("notes"):
        facts["notes"] = row["notes"]
    with open(os.path.join(path, "case.json"), "w") as file:
        json.dump(facts, file, indent=2)
        file.write("\n")
    for file in sorted(os.listdir(path)):
        os.chmod(os.path.join(path, file), 0o644)
    assert layer_numpy.check_case(name) <= layer_numpy.WITHIN, name
    return sum(os.path.getsize(os.path.join(path, file)) for file in os.listdir(path))


def list_cases():
    """tests/layers/cases.txt: a line a case, of what is there."""
    lines = []
    for name in CASES:
        file = os.path.join(layer_numpy.FOLDER, name, "case.json")
        if os.path.exists(file):
            facts = json.load(open(file))
            cross = "cross" if facts["cross"] else "self"
            lines.append(f"{name} {facts['layer']} {facts['module']} {cross}\n")
    with open(os.path.join(layer_numpy.FOLDER, "cases.txt"), "w") as file:
        file.writelines(lines)


def main(names):
    total = 0
    for name, case in CASES.items():
        if not names or name in names or case["family"] in names:
            size = make(name, case)
            total += size
            print(f"{name}: {size} bytes", flush=True)
    list_cases()
    print(total, "bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
