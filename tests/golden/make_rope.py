# SPDX-License-Identifier: MIT
"""Rotary position embedding as transformers computes it, into tests/golden/rope.

    python3 tests/golden/make_rope.py             (torch 2.15.0, transformers 5.23.0, numpy 2.4.6)

frequencies.json: what ROPE_INIT_FUNCTIONS (or a model's own function, where nothing is scaled) make of settings: the
inverse frequencies and what cos and sin are multiplied with. PyTorch computes as on a processor without vectors
(ATEN_CPU_CAPABILITY), whose powers are those of the C library; its builds with vectors differ from it in 1 of 100.

rotations.json: rows of query that the functions of a family turn, at positions from 0 to 131071, in float32 and
bfloat16; a row a position. What a family's attention does around them (columns that pass, the order of the parts of a
head) is written out here.

Floats are the shortest decimals that read back to the same float32.
"""

import importlib
import json
import os

os.environ["ATEN_CPU_CAPABILITY"] = "default"

import numpy  # noqa: E402
import torch  # noqa: E402
from transformers import AutoConfig, LlamaConfig  # noqa: E402
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rope")
torch.set_num_threads(1)


def decimals(tensor):
    return [float(str(number)) for number in tensor.float().numpy().ravel()]


def write(name, cases):
    with open(os.path.join(HERE, name), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


# --- frequencies ------------------------------------------------------------------------------------------------------


def text(kind, **keys):
    """The text of --rope-scaling."""

    def value(number):
        return ";".join(map(repr, number)) if isinstance(number, list) else str(number)

    return kind + ":" + ",".join(f"{key}={value(number)}" for key, number in keys.items())


def frequencies(scaling, theta, columns, highest, parameters, longest=2048):
    """A case; `parameters` are those of rope_parameters, `longest` is max_position_embeddings."""
    config = LlamaConfig(
        hidden_size=2 * columns,
        num_attention_heads=2,
        head_dim=columns,
        max_position_embeddings=longest,
        rope_parameters={"rope_theta": theta, **parameters},
    )
    kind = parameters["rope_type"]
    if kind == "default":
        module = importlib.import_module("transformers.models.llama.modeling_llama")
        made, attention = module.LlamaRotaryEmbedding.compute_default_rope_parameters(config)
    else:
        beyond = kind == "longrope" or (kind == "dynamic" and highest >= longest)
        length = {"seq_len": torch.tensor(highest + 1)} if beyond else {}
        made, attention = ROPE_INIT_FUNCTIONS[kind](config, **length)
    return {
        "scaling": scaling,
        "theta": theta,
        "columns": columns,
        "highest": highest,
        "attention": attention,
        "frequencies": decimals(made),
    }


def every_frequency():
    for theta in 100.0, 10000.0, 500000.0, 1e6:
        yield frequencies("none", theta, 32, 0, {"rope_type": "default"})
    for columns in 2, 4, 6, 20, 96, 128:
        yield frequencies("none", 10000.0, columns, 0, {"rope_type": "default"})
    for factor in 8.0, 2.5:
        parameters = {"rope_type": "linear", "factor": factor}
        yield frequencies(text("linear", factor=factor), 1e6, 32, 0, parameters)
    for theta, columns, factor, highest in (
        (10000.0, 32, 2.0, 0),
        (10000.0, 32, 2.0, 2047),
        (10000.0, 32, 2.0, 2048),
        (10000.0, 32, 2.5, 131071),
        (500000.0, 4, 3.0, 3000),
    ):
        parameters = {"rope_type": "dynamic", "factor": factor}
        yield frequencies(text("dynamic", factor=factor, old=2048), theta, columns, highest, parameters)
    for theta, columns, factor, low, high, old in (
        (500000.0, 128, 8.0, 1.0, 4.0, 8192),
        (500000.0, 64, 32.0, 1.0, 4.0, 8192),
        (10000.0, 32, 2.5, 0.5, 3.3, 1024),
    ):
        parameters = {
            "rope_type": "llama3",
            "factor": factor,
            "low_freq_factor": low,
            "high_freq_factor": high,
            "original_max_position_embeddings": old,
        }
        yield frequencies(text("llama3", factor=factor, low=low, high=high, old=old), theta, columns, 0, parameters)
    for theta, columns, keys in (
        (10000.0, 64, dict(factor=40.0, old=4096)),
        (150000.0, 64, dict(factor=32.0, fast=32.0, slow=1.0, old=4096, truncate="no")),
        (10000.0, 32, dict(factor=2.5, fast=16.0, slow=0.5, old=300, attention=1.37, truncate="yes")),
        (10000.0, 16, dict(factor=0.5, old=4096)),
        (10000.0, 16, dict(factor=4.0, old=4)),
    ):
        names = dict(fast="beta_fast", slow="beta_slow", old="original_max_position_embeddings")
        names.update(attention="attention_factor")
        parameters = {names.get(key, key): number for key, number in keys.items()}
        if "truncate" in parameters:
            parameters["truncate"] = keys["truncate"] == "yes"
        yield frequencies(text("yarn", **keys), theta, columns, 0, {"rope_type": "yarn", **parameters})
    lists = dict(short=[1.0, 1.08, 1.1, 1.18, 1.3, 1.57, 2.1, 2.8], long=[1.07, 1.12, 1.6, 4.2, 9.7, 24.5, 39.1, 61.9])
    for highest, longest, attention in (
        (0, 131072, {}),
        (4095, 131072, {}),
        (4096, 131072, {}),
        (131071, 131072, {"attention": 1.19}),
        (4096, 4096, {}),
    ):
        parameters = {
            "rope_type": "longrope",
            "short_factor": lists["short"],
            "long_factor": lists["long"],
            "original_max_position_embeddings": 4096,
            "factor": longest / 4096,
        }
        if attention:
            parameters["attention_factor"] = attention["attention"]
        scaling = text("longrope", old=4096, max=longest, **attention, **lists)
        yield frequencies(scaling, 10000.0, 16, highest, parameters, longest)


# --- rotations --------------------------------------------------------------------------------------------------------

WIDTH = 16  # columns of a head
POSITIONS = [0, 1, 2, 7, 100, 4095, 4096, 131071]


def family(model, embedding, **settings):
    """(modeling module, its rotary embedding made from a config)."""
    settings.setdefault("hidden_size", 2 * WIDTH)
    config = AutoConfig.for_model(model, num_attention_heads=2, max_position_embeddings=131072, **settings)
    module = importlib.import_module(type(config).__module__.replace("configuration", "modeling"))
    return module, getattr(module, embedding)(config) if embedding else None


def usual(model, embedding, *layer_type, **settings):
    """A function that turns x (positions, WIDTH) as most families do."""
    module, turns = family(model, embedding, **settings)

    def turn(x, positions):
        cos, sin = turns(x, positions[None], *layer_type)
        return module.apply_rotary_pos_emb(x[None, None], x[None, None], cos, sin)[0][0, 0]

    return turn


def gptj(x, positions):
    module, _ = family("gptj", None)
    table = module.create_sinusoidal_positions(131072, 8)
    sin, cos = table[positions][None].to(x.dtype).chunk(2, dim=-1)
    turned = module.apply_rotary_pos_emb(x[None, :, None, :8], sin, cos)[0, :, 0]
    return torch.cat([turned, x[:, 8:]], dim=-1)


def latent(model, embedding, function, **settings):
    """Multi-head latent attention: the last 8 columns alone are turned."""
    module, turns = family(model, embedding, qk_nope_head_dim=8, qk_rope_head_dim=8, **settings)

    def turn(x, positions):
        made = turns(x, positions[None])
        last = x[None, None, :, 8:]
        turned = getattr(module, function)(last, last, *(made if isinstance(made, tuple) else (made,)))[0]
        return torch.cat([x[:, :8], turned[0, 0]], dim=-1)

    return turn


LLAMA3 = dict(factor=8.0, low=1.0, high=4.0, old=8192)
LONG = dict(short=[1.0, 1.1, 1.3, 1.5, 2.0, 2.5], long=[1.1, 1.5, 3.2, 9.7, 24.5, 61.9])
YARN = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
YARN.update(original_max_position_embeddings=4096, rope_theta=150000.0)
MLA = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "original_max_position_embeddings": 4096}
MLA.update(mscale=1.0, mscale_all_dim=0.707)
MLA_TEXT = text("yarn", factor=40.0, old=4096, attention=(0.1 * numpy.log(40) + 1) / (0.0707 * numpy.log(40) + 1))
LLAMA3_PARAMETERS = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0}
LLAMA3_PARAMETERS.update(high_freq_factor=4.0, original_max_position_embeddings=8192)
PHI3 = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": LONG["short"], "long_factor": LONG["long"]}
PHI3.update(original_max_position_embeddings=4096, partial_rotary_factor=0.75)


QUARTER = {"partial_rotary_factor": 0.25}


def plain(theta):
    return {"rope_type": "default", "rope_theta": theta}


def layers(**types):
    return {"layer_types": ["full_attention", "sliding_attention"], "num_hidden_layers": 2, "rope_parameters": types}


GEMMA3 = layers(
    full_attention={"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}, sliding_attention=plain(10000.0)
)
MODERNBERT = layers(full_attention=plain(160000.0), sliding_attention=plain(10000.0))

# name: kind, rounding, theta, columns, last, scaling, function
FAMILIES = {
    "llama": ("half", "each", 500000, 16, False, text("llama3", **LLAMA3),
              usual("llama", "LlamaRotaryEmbedding", head_dim=WIDTH, rope_parameters=LLAMA3_PARAMETERS)),
    "gpt_neox": ("half", "each", 10000, 4, False, "none",
                 usual("gpt_neox", "GPTNeoXRotaryEmbedding", rope_parameters={**plain(10000.0), **QUARTER})),
    "phi3": ("half", "each", 10000, 12, False, text("longrope", old=4096, max=131072, **LONG),
             usual("phi3", "Phi3RotaryEmbedding", rope_parameters=PHI3, pad_token_id=0,
                   original_max_position_embeddings=4096)),
    "gemma3": ("half", "each", 1000000, 16, False, "linear:factor=8",
               usual("gemma3_text", "Gemma3RotaryEmbedding", "full_attention", head_dim=WIDTH, **GEMMA3)),
    "gpt_oss": ("half", "each", 150000, 16, False,
                text("yarn", factor=32.0, fast=32.0, slow=1.0, old=4096, truncate="no"),
                usual("gpt_oss", "GptOssRotaryEmbedding", head_dim=WIDTH, rope_parameters=YARN)),
    "gptj": ("pairs", "each", 10000, 8, False, "none", gptj),
    "deepseek_v3": ("pairs-to-halves", "each", 10000, 8, True, MLA_TEXT,
                    latent("deepseek_v3", "DeepseekV3RotaryEmbedding", "apply_rotary_pos_emb_interleave",
                           rope_parameters=MLA)),
    "cohere": ("pairs", "cosine", 500000, 16, False, "none",
               usual("cohere", "CohereRotaryEmbedding", rope_parameters=plain(500000.0))),
    "modernbert": ("half", "cosine", 160000, 16, False, "none",
                   usual("modernbert", "ModernBertRotaryEmbedding", "full_attention", **MODERNBERT)),
    "olmo2": ("half", "float", 500000, 16, False, "none",
              usual("olmo2", "Olmo2RotaryEmbedding", rope_parameters=plain(500000.0))),
    "deepseek_v2": ("pairs", "float", 10000, 8, True, MLA_TEXT,
                    latent("deepseek_v2", "DeepseekV2RotaryEmbedding", "apply_rotary_emb", rope_parameters=MLA)),
}  # fmt: skip


def every_rotation():
    torch.manual_seed(14)
    positions = torch.tensor(POSITIONS)
    rows = torch.randn(len(POSITIONS), WIDTH)
    for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        x = rows.to(dtype)
        yield {"dtype": name, "positions": POSITIONS, "x": decimals(x)}
        for model, (kind, rounding, theta, columns, last, scaling, turn) in FAMILIES.items():
            turned = turn(x, positions)
            assert turned.dtype == dtype and turned.shape == x.shape, model
            yield {
                "family": model,
                "dtype": name,
                "kind": kind,
                "rounding": rounding,
                "theta": theta,
                "columns": columns,
                "last": last,
                "scaling": scaling,
                "turned": decimals(turned),
            }


if __name__ == "__main__":
    os.makedirs(HERE, exist_ok=True)
    write("frequencies.json", list(every_frequency()))
    write("rotations.json", list(every_rotation()))
