# SPDX-License-Identifier: MIT
"""Trains data/induction: two layers of attention, without MLP, that continue a repeated sequence.

    python3 data/train_induction.py data/induction

A text is 4 to 16 different letters, drawn at random, again and again. From the second time on, each letter has occurred
before, and the letter that followed it comes next. Head 1 of layer 0 looks at the previous letter, so each row knows
two letters: its own and the one before. Head 1 of layer 1 then finds the row whose letter before is its own letter, and
copies that row's letter: an induction head.

Gradient descent (AdamW) learns every number. In the first half of the steps an auxiliary loss nudges: head 1 of layer 0
to the previous letter, head 1 of layer 1 to the letter after the earlier one, the other heads to the first letter, to
rest there. In the second half the prediction alone decides, and the heads stay. Without any nudge the model predicts as
well, but matches letters by weights so small that no table shows them.

The names of the tensors and the config are those of GPT-2, whose layers have a norm before attention. hidden-0 and
hidden-1 are the inputs of the two layers for the text EXAMPLE, as hidden_states[0] and [1] of transformers.
data/induction.json is head 1 of layer 1 alone, with the rows that it reads, after the norm: three decimals, for
attn causal.
"""
import json
import pathlib
import struct
import sys

import torch
from torch import nn
from torch.nn import functional

LETTERS, LONGEST, WIDTH, HEADS, LAYERS = 24, 32, 32, 2, 2
EXAMPLE = "planets" * 2
COMMENT = "a head that continues a repeated row of letters; data/train_induction.py trained it"


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, states):
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
                             for part in self.projections(self.norm(states)).chunk(3, -1))
        scores = query @ key.transpose(2, 3) / (WIDTH / HEADS) ** 0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        log_weights = scores.masked_fill(later, -torch.inf).log_softmax(-1)
        return states + self.out((log_weights.exp() @ value).transpose(1, 2).flatten(2)), log_weights


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, WIDTH)
        self.position = nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Attention() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        states = [self.embedding(ids) + self.position.weight[:ids.shape[1]]]
        weights = []
        for layer in self.layers:
            after, of_layer = layer(states[-1])
            states.append(after)
            weights.append(of_layer)
        return self.norm(states[-1]) @ self.embedding.weight.T, states, weights


def texts(count, period, generator):
    """Rows of that many different letters, again and again, up to the longest text."""
    first = torch.rand(count, LETTERS, generator=generator).argsort(1)[:, :period]
    return first.repeat(1, LONGEST // period + 1)[:, :LONGEST]


def train(seed, steps):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Model()
    for embedding in (model.embedding, model.position):
        nn.init.normal_(embedding.weight, std=0.2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
    for step in range(steps):
        period = int(torch.randint(4, LONGEST // 2 + 1, (), generator=generator))
        ids = texts(64, period, generator)
        logits, _, log_weights = model(ids)
        loss = functional.cross_entropy(logits[:, period:-1].flatten(0, 1), ids[:, period + 1:].flatten())
        if step < steps // 2:
            rows, again = torch.arange(1, LONGEST), torch.arange(period, LONGEST)
            jobs = [log_weights[0][:, 0, rows, rows - 1], log_weights[1][:, 0, again, again - period + 1],
                    log_weights[0][:, 1, :, 0], log_weights[1][:, 1, :, 0]]
            loss = loss - 0.1 * sum(job.mean() for job in jobs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 500 == 0:
            print(f"step {step:5}  loss {loss.item():.4f}", file=sys.stderr, flush=True)
    return model


@torch.no_grad()
def report(model):
    half = LONGEST // 2
    ids = texts(1000, half, torch.Generator().manual_seed(1000))
    logits, _, log_weights = model(ids)
    hits = logits[:, half:-1].argmax(-1) == ids[:, half + 1:]
    print(f"1000 new texts, second half: {hits.float().mean():.4f} of the letters predicted rightly")
    rows = torch.arange(half, 2 * half)
    for layer in range(LAYERS):
        for head in range(HEADS):
            table = log_weights[layer][:, head].exp()
            print(f"layer {layer} head {head + 1}: mean weight on the previous letter "
                  f"{table[:, rows, rows - 1].mean():.3f}, on the letter after the earlier one "
                  f"{table[:, rows, rows - half + 1].mean():.3f}, on the earlier one {table[:, rows, rows - half].mean():.3f}")


def write_safetensors(path, tensors, metadata):
    header, position = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        end = position + 4 * tensor.numel()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    numbers = b"".join(tensor.detach().contiguous().numpy().astype("<f4").tobytes() for tensor in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def rounded(tensor):
    return [rounded(row) for row in tensor] if tensor.dim() > 1 else [round(number, 3) for number in tensor.tolist()]


@torch.no_grad()
def write(folder, model):
    folder.mkdir(exist_ok=True)
    tensors = {"transformer.wte.weight": model.embedding.weight, "transformer.wpe.weight": model.position.weight}
    for n, layer in enumerate(model.layers):
        of_layer = {"ln_1.weight": layer.norm.weight, "ln_1.bias": layer.norm.bias,
                    "attn.c_attn.weight": layer.projections.weight.T, "attn.c_attn.bias": layer.projections.bias,
                    "attn.c_proj.weight": layer.out.weight.T, "attn.c_proj.bias": layer.out.bias}
        tensors |= {f"transformer.h.{n}.{name}": tensor for name, tensor in of_layer.items()}
    tensors |= {"transformer.ln_f.weight": model.norm.weight, "transformer.ln_f.bias": model.norm.bias}
    write_safetensors(folder / "model.safetensors", tensors, {"format": "pt"})
    config = {"model_type": "gpt2", "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "n_positions": LONGEST,
              "vocab_size": LETTERS, "layer_norm_epsilon": 1e-5}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    ids = torch.tensor([[ord(letter) - ord("a") for letter in EXAMPLE]])
    _, states, _ = model(ids)
    for n in range(LAYERS):
        write_safetensors(folder / f"hidden-{n}.safetensors", {"inputs": states[n][0]}, {"tokens": json.dumps([*EXAMPLE])})

    layer, columns = model.layers[1], WIDTH // HEADS
    projections = zip(("W_query", "W_key", "W_value"), layer.projections.weight.split(WIDTH),
                      layer.projections.bias.split(WIDTH))
    head = {"tokens": [*EXAMPLE], "inputs": rounded(layer.norm(states[1][0]))}
    for name, weight, bias in projections:
        head |= {name: rounded(weight[:columns].T), f"{name}.bias": rounded(bias[:columns])}
    lines = [f'{{"comment": "{COMMENT}"'] + [f" {json.dumps(name)}: {value}" for name, value in head.items()]
    text = ",\n".join(lines).replace("], [", "],\n    [").replace("'", '"') + "}\n"
    folder.with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained = train(seed=1, steps=1200)
    report(trained)
    write(pathlib.Path(sys.argv[1]), trained)
