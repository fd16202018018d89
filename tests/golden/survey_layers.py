# SPDX-License-Identifier: MIT
"""Every model_type of transformers that can be built small: what `attn layer` makes of its attention.

    python3 tests/golden/survey_layers.py FOLDER                    makes a checkpoint a type in FOLDER
    python3 tests/golden/survey_layers.py FOLDER --attn ./attn      runs `attn layer` on what is there, and counts
    python3 tests/golden/survey_layers.py FOLDER [--attn ./attn] TYPE ...    these types alone

A type's default config is made small by the names of its keys, its weights are drawn as in make_layers.py, and every
kind of attention module in it is watched while the whole model runs: of each the last that ran. FOLDER/TYPE holds the
checkpoint as save_pretrained writes it and, for each module K = 0, 1, ..., hidden-K.npy, encoder-K.npy where key and
value come from elsewhere, expected-K.safetensors (query, key, value, weights, context, output in float32) and a row of
cases.json. A type that cannot be built, run or watched says why in FOLDER/TYPE/why.txt; it counts as not tried.

A line a module: passed, refused (`attn` ended with an error, which follows) or wrong (the first stage that is more than
1e-4 of its largest away). A refusal is honest; a wrong number is not. Nothing of this is frozen, and it takes minutes.
"""

import argparse
import importlib
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
import zlib

import numpy
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frozen  # noqa: E402
from make_layers import Watch, draw, once_a_group, seen  # noqa: E402

WITHIN, SECONDS, TOKENS = 1e-4, 60, 12
STAGES = ("query", "key", "value", "weights", "context", "output")
OUTS = ("o_proj", "out_proj", "dense", "c_proj", "o", "wo", "Wo", "proj")
KINDS = ("AutoModel", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForImageTextToText")

# --- a small config --------------------------------------------------------------------------------------------------

# The first row whose pattern is in a key's name says what becomes of its number; of lists, of each of them.
SIZES = [
    (r"num_key_value_heads|num_kv_heads|n_head_kv|num_kv|kv_heads|num_global_key", lambda n: min(n, 2)),
    (r"heads?$", lambda n: 4),
    (r"mrope_section", lambda n: 2 if n < 20 else 1),
    (r"qk_rope_head_dim|qk_nope_head_dim|rotary_dim", lambda n: 4),
    (r"head_dim|d_kv|head_size|kv_channels", lambda n: 8),
    (r"experts_per_tok|top_?k$|moe_k|num_selected", lambda n: min(n, 2)),
    (r"n_group|topk_group", lambda n: 1),
    (r"expert", lambda n: min(n, 4)),
    (r"lora_rank", lambda n: 8),
    (r"num_feat_extract_layers|num_conv|conv_layers", lambda n: n),
    (r"layers?$|depths?$|num_blocks|n_layer|num_stages", lambda n: min(n, 2)),
    (r"vocab_size", lambda n: 64 if n > 64 else n),
    (r"token_id|token_index|_id$|_ids$", lambda n: n % 61),
    (r"position|max_seq|n_ctx|max_length|max_source|max_target", lambda n: min(n, 64)),
    (r"image_size|img_size|resolution", lambda n: 32),
    (r"patch_size|tubelet|patch", lambda n: min(n, 8)),
    (r"sliding_window|local_attention|window_size|attention_window", lambda n: min(n, 4)),
    (r"mel_bins|num_bins", lambda n: 8),
    (r"kernel|stride|channels|groups|factor|buckets|distance|version|every|interval|freq|theta|base", lambda n: n),
]
# Keys whose defaults do not fit what is small.
DROPPED = ("per_layer_config", "time_step_limit", "stage_names", "out_features", "out_indices", "_out_features",
           "_out_indices")


# What some types need, or show their feature by.
MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_ssm": 64, "mamba_expand": 2}
OWN = {
    "falcon_h1": {**MAMBA, "key_multiplier": 0.7},
    "gemma3n_text": {"intermediate_size": 32, "num_kv_shared_layers": 0, "activation_sparsity_pattern": [0.0, 0.0]},
    "glm4v_moe_text": {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5,
                                           "rope_theta": 10000.0, "mrope_section": [1, 1, 0]}},
    "granitemoehybrid": {**MAMBA, "layer_types": ["linear_attention", "full_attention"], "position_embedding_type": "rope"},
}


def small(key, value):
    if isinstance(value, bool) or value is None or isinstance(value, (str, float)):
        return value
    if isinstance(value, dict):
        return {name: small(name, x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [small(key, x) for x in value]
    for pattern, change in SIZES:
        if re.search(pattern, key):
            return change(value)
    return 32 if value > 32 else value


def with_lists(values):
    """Lists of one entry a layer, of two layers: one of each kind where there are several."""
    count = next((values[key] for key in ("num_hidden_layers", "n_layer", "num_layers") if values.get(key)), 2)
    if "head_dim" in values:  # of MLA: what is rotated, or all where a share of it rotates
        values["head_dim"] = values.get("qk_rope_head_dim", 8)
        if "partial_rotary_factor" in (values.get("rope_parameters") or {}) and "qk_nope_head_dim" in values:
            values["head_dim"] += values["qk_nope_head_dim"]
    if "kv_lora_rank" in values and "num_key_value_heads" in values:
        values["num_key_value_heads"] = values["num_attention_heads"]
    if values.get("num_experts_per_tok", 0) is None:
        values["num_experts_per_tok"] = 2
    if "attention_types" in values:
        values["attention_types"] = [[["global", "local"], 1]]
        values.pop("attention_layers", None)
    for key in DROPPED:
        values.pop(key, None)
    for key, value in values.items():
        if isinstance(value, dict):
            with_lists(value)
        elif isinstance(value, list) and value and re.search("layer_types|layers_block_type", key):
            kinds = sorted(set(map(str, value)), key=list(map(str, value)).index)
            values[key] = (kinds * count)[:count]
        elif isinstance(value, list) and len(value) > count and re.search("layer", key):
            values[key] = value[:count]
    return values


def modeling(config):
    """The file that has the models of a config."""
    return importlib.import_module(type(config).__module__.replace(".configuration_", ".modeling_"))


def sectioned(values):
    """Sections of columns for time, height and width, for columns that are few."""
    for key in list(values):
        if isinstance(values[key], dict):
            sectioned(values[key])
            if key == "rope_parameters":
                values[key]["mrope_section"] = [2, 1, 1]


def small_config(model_type):
    whole = transformers.AutoConfig.for_model(model_type)
    values = with_lists(small("", json.loads(whole.to_json_string(use_diff=False))))
    try:
        if "mrope_section" in inspect.getsource(modeling(whole)):
            sectioned(values)
    except ImportError:
        pass
    values.update(OWN.get(model_type, {}))
    return type(whole).from_dict(values)


# --- a model, run and watched ----------------------------------------------------------------------------------------


class Modules:
    """Notes what passes through each attention module while the model runs: the innermost is meant."""

    def __init__(self, model, watch):
        self.watch, self.inside, self.notes, self.outs = watch, [], {}, {}
        for path, module in model.named_modules():
            if path.rpartition(".")[2] in OUTS:
                module.register_forward_hook(self.projected(path.rpartition(".")[0]))
            if re.search("Attention|Attn", type(module).__name__) and list(module.parameters()):
                module.register_forward_pre_hook(self.enter(path), with_kwargs=True)
                module.register_forward_hook(self.leave(path, module))

    def enter(self, path):
        def hook(_, args, kwargs):
            tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor) and x.dim() == 3]
            other = next((kwargs[name] for name in ("key_value_states", "encoder_hidden_states")
                          if isinstance(kwargs.get(name), torch.Tensor)), None)
            hidden = kwargs.get("hidden_states", tensors[0] if tensors else None)
            self.inside.append((path, hidden, other, len(self.watch.calls)))
            self.watch.on = True

        return hook

    def projected(self, path):
        def hook(_, args, result):
            self.outs[path] = result

        return hook

    def leave(self, path, module):
        def hook(_, args, result):
            _, hidden, other, start = self.inside.pop()
            self.watch.on = bool(self.inside)
            calls = self.watch.calls[start:]
            output = result[0] if isinstance(result, (tuple, list)) else result
            if any(call[0] == "softmax" for call in calls):
                if not any(inner.startswith(path + ".") for inner in self.notes):
                    output = self.outs.get(path, output)
                    self.notes[path] = dict(hidden=hidden, other=other, calls=calls, output=output, module=module)

        return hook


def inputs_for(model, config):
    """Ways to call the model, in the order of their trial."""
    ids = torch.arange(TOKENS)[None] % 40 + 3
    pixels = torch.randn(1, 3, 32, 32)
    sound, wave = torch.randn(1, 8, 128), torch.randn(1, 2000)
    return [
        dict(input_ids=ids),
        dict(pixel_values=pixels),
        dict(input_ids=ids, decoder_input_ids=ids),
        dict(input_ids=ids, pixel_values=pixels),
        dict(input_features=sound, decoder_input_ids=ids),
        dict(input_features=sound.mT),
        dict(input_features=sound),
        dict(input_values=wave),
        dict(pixel_values=pixels, decoder_input_ids=ids),
    ]


def call(model, config):
    named = set(model.forward.__code__.co_varnames)
    reason = None
    for inputs in inputs_for(model, config):
        if not set(inputs) <= named and "kwargs" not in named:
            continue
        try:
            with torch.no_grad():
                return model(**inputs)
        except Exception as error:  # another way may do
            reason = reason or error
    raise reason or RuntimeError("no way to call it")


def build(config):
    """By the automatic classes, or by a class whose config it is."""
    reason, classes = None, []
    for kind in KINDS:
        try:
            return getattr(transformers, kind).from_config(config, attn_implementation="eager").eval()
        except Exception as error:
            reason = reason or error
    for name, kind in vars(modeling(config)).items():
        if isinstance(kind, type) and getattr(kind, "config_class", None) is type(config) and "PreTrained" not in name:
            classes.append(kind)
    config._attn_implementation = "eager"
    for kind in classes:
        try:
            return kind(config).eval()
        except Exception as error:
            reason = error
    raise reason


# --- what a module gave ----------------------------------------------------------------------------------------------


def common(names):
    """The longest path that all names begin with."""
    parts = [name.split(".") for name in names]
    shared = os.path.commonprefix(parts)
    return ".".join(shared)


def saved_path(model, path, saved):
    """The path of a module in the file: told by the bytes of its parameters."""
    at = {zlib.crc32(x.contiguous().float().numpy().tobytes()): name for name, x in saved.items() if x.dim() > 1}
    module = model.get_submodule(path)
    names = [at.get(zlib.crc32(x.detach().float().numpy().tobytes())) for x in module.parameters() if x.dim() > 1]
    found = common([name for name in names if name])
    return found.rsplit(".", 2)[0] if found.endswith(".weight") else found  # of one tensor: what holds its projection


def output_of(model, path, note):
    """The output, after the projection beside the module where that is where it stands (attention.output.dense)."""
    parent = path.rpartition(".")[0]
    try:
        dense = model.get_submodule(parent + ".output.dense")
    except AttributeError:
        return note["output"], path
    return torch.nn.functional.linear(note["output"], dense.weight, dense.bias), parent


def case_of(model, path, note, saved):
    query, key, value, weights = seen(note["calls"], 1)
    output, around = output_of(model, path, note)
    groups = [n for n in range(1, key.shape[1] + 1) if key.shape[1] % n == 0]
    for n in groups:  # as few heads of key and value as say all
        try:
            key, value = once_a_group(key, n), once_a_group(value, n)
            break
        except AssertionError:
            continue
    context = weights.to(value.dtype) @ value.repeat_interleave(weights.shape[1] // value.shape[1], 1)
    stages = dict(query=query, key=key, value=value, weights=weights, context=context, output=output)
    return stages, saved_path(model, around, saved)


def kinds_of(notes):
    """Of each kind of module, self and cross apart, the last that ran."""
    kinds = {}
    for path, note in notes.items():
        words = re.sub(r"\.\d+", "", path)
        kinds[(type(note["module"]).__name__, note["other"] is not None, words)] = path
    return list(kinds.values())


def make(folder, model_type):
    from safetensors.torch import load_file

    torch.manual_seed(zlib.crc32(model_type.encode()))
    model = build(config := small_config(model_type))
    draw(model, 1.1)
    with Watch() as watch:
        modules = Modules(model, watch)
        call(model, config)
    if not modules.notes:
        raise RuntimeError("no module with a softmax was seen")
    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="1GB")
    model.float()
    saved, cases = load_file(os.path.join(folder, "model.safetensors")), []
    for path in kinds_of(modules.notes):
        note = modules.notes[path]
        try:
            if note["hidden"] is None:
                raise ValueError("its input is no (B, T, d)")
            stages, where = case_of(model, path, note, saved)
            k = len(cases)
            for name, x in (("hidden", note["hidden"]), ("encoder", note["other"])):
                if x is not None:
                    numpy.save(os.path.join(folder, f"{name}-{k}.npy"), x.detach().float().numpy())
            tensors = {name: x.detach().float().contiguous().numpy() for name, x in stages.items()}
            frozen.save(os.path.join(folder, f"expected-{k}.safetensors"), tensors)
            cases.append(dict(module=where, cross=note["other"] is not None))
        except Exception as error:
            cases.append(dict(module=path, unclear=f"{type(error).__name__}: {error}".split("\n")[0][:120]))
    with open(os.path.join(folder, "cases.json"), "w") as file:
        json.dump(cases, file, indent=2)


# --- attn ------------------------------------------------------------------------------------------------------------


def attn(binary, folder, k, case):
    """(verdict, why)"""
    result = os.path.join(folder, "result.safetensors")
    words = [binary, "layer", os.path.join(folder, f"hidden-{k}.npy"), "-w", folder, "--module", case["module"]]
    words += ["--stages", ",".join(STAGES), "-o", result]
    if case["cross"]:
        words += ["--key-inputs", os.path.join(folder, f"encoder-{k}.npy")]
    run = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    if "set --positions grid:HxW" in run.stderr:  # of the picture that inputs_for makes
        with open(os.path.join(folder, "config.json")) as file:
            config = json.load(file)
        side = 32 // config.get("vision_config", config).get("patch_size", 8)
        words += ["--positions", f"grid:{side}x{side}"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    if run.returncode:
        return "refused", run.stderr.strip().split("\n")[0]
    got, _, _ = frozen.load(result)
    wanted, _, _ = frozen.load(os.path.join(folder, f"expected-{k}.safetensors"))
    for stage in STAGES:
        if stage not in got:
            return "wrong", f"no {stage}"
        mine, theirs = got[stage].squeeze(), wanted[stage].squeeze()
        if mine.shape != theirs.shape:
            return "wrong", f"{stage}: {mine.shape} for {theirs.shape}"
        off = numpy.abs(mine - theirs).max() / max(numpy.abs(theirs).max(), 1e-30)
        if not off <= WITHIN:
            return "wrong", f"{stage}: {off:.1e} of its largest"
    return "passed", ""


def judge(binary, folder, model_type):
    """The verdicts of a type's modules, each printed."""
    with open(os.path.join(folder, "cases.json")) as file:
        cases = json.load(file)
    verdicts = []
    for k, case in enumerate(cases):
        if "unclear" in case:
            continue
        verdict, why = attn(binary, folder, k, case)
        print(f"{model_type} {case['module']}: {verdict}{': ' if why else ''}{why}", flush=True)
        verdicts.append(verdict)
    return verdicts


# --- all of them -----------------------------------------------------------------------------------------------------


def too_long(*_):
    raise TimeoutError(f"more than {SECONDS} s")


def make_or_say(folder, model_type):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    signal.alarm(SECONDS)
    try:
        make(folder, model_type)
    except Exception as error:
        with open(os.path.join(folder, "why.txt"), "w") as file:
            file.write(" ".join(f"{type(error).__name__}: {error}".split())[:240] + "\n")
    finally:
        signal.alarm(0)
    return os.path.exists(os.path.join(folder, "cases.json"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--attn")
    parser.add_argument("types", nargs="*")
    given = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, too_long)
    types = given.types or sorted(CONFIG_MAPPING_NAMES)
    made, modules, whole, wrong = 0, [], 0, 0
    for model_type in types:
        folder = os.path.join(given.folder, model_type)
        ready = os.path.exists(os.path.join(folder, "cases.json"))
        if not ready and not (given.attn and os.path.exists(os.path.join(folder, "why.txt"))):
            ready = make_or_say(folder, model_type)
        if not ready:
            print(f"{model_type}: not tried: {open(os.path.join(folder, 'why.txt')).read().strip()}", flush=True)
            continue
        made += 1
        if given.attn:
            verdicts = judge(given.attn, folder, model_type)
            modules += verdicts
            whole += bool(verdicts) and set(verdicts) == {"passed"}
            wrong += "wrong" in verdicts
    print(f"{made} of {len(types)} types were made")
    if given.attn:
        counts = ", ".join(f"{modules.count(verdict)} {verdict}" for verdict in ("passed", "refused", "wrong"))
        print(f"{len(modules)} modules: {counts}; {whole} types passed whole, {wrong} have a wrong number")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
