# SPDX-License-Identifier: MIT
"""PyTorch's numbers for inputs that have words, in the form of a result, for attn diff:

    python tests/words/make_golden.py

writes wrong-*.json (logits with a mistake), f64.json, f32.json and bf16.json (the stages of five.json; the first two with gradients of --grad grad.json),
head.json (the same without head 2), sines.json and drawn.json (positions added to data/inputs.json)."""
import json
import math
import os

import torch
from torch.nn import functional

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = json.load(open(os.path.join(HERE, 'five.json')))


def write(name, tables):
    def row(table):
        return table.tolist() if isinstance(table, torch.Tensor) else table
    with open(os.path.join(HERE, name), 'w') as file:
        lines = [f'"{key}": {json.dumps(row(table))}' for key, table in tables.items()]
        file.write('{"attn": "golden",\n' + ',\n'.join(lines) + '}\n')


def parameters(dtype):
    vocabulary = WORDS['vocabulary']
    tables = {name: table for name, table in WORDS.items() if name.startswith(('W_', 'out_proj', 'unembedding'))}
    tables.update(embedding=vocabulary['embedding'], position_embedding=vocabulary['position_embedding'])
    return {name: torch.tensor(table, dtype=dtype, requires_grad=dtype != torch.bfloat16)
            for name, table in tables.items()}


def run(dtype, gradient=None, without=(), times=1, wrong=None):
    p, words = parameters(dtype), WORDS['vocabulary']['words']
    tokens = WORDS['text'].split()
    inputs = p['embedding'][[words.index(token) for token in tokens]]
    rows = {'positions-other-next': [1, 2, 3], 'positions-other-previous': [0, 0, 1], 'positions-other-first': [0, 0, 0]}
    positions = p['position_embedding'][rows.get(wrong, list(range(len(tokens))))]
    embedded = inputs + times * positions
    heads = WORDS['settings']['heads']
    query, key, value = (functional.linear(embedded, p[f'W_{name}.weight']).view(len(tokens), heads, -1).transpose(0, 1)
                         for name in ('query', 'key', 'value'))
    scaled = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    masked = scaled.masked_fill(torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1), -torch.inf)
    weights = torch.softmax(masked, -1)
    context = weights @ value
    kept = torch.ones(heads, 1, 1, dtype=dtype)
    kept[list(without)] = 0
    joined = (context * kept).transpose(0, 1).reshape(len(tokens), -1)
    output = functional.linear(joined, p['out_proj.weight'], p['out_proj.bias'])
    residual = {'residual-missing': 0, 'residual-without-positions': inputs}.get(wrong, embedded) + output
    logits = residual @ p['unembedding'] + p['unembedding_bias'] * (wrong != 'unembedding-bias-missing')
    made = dict(inputs=inputs, positions=positions, embedded=embedded, weights=weights, context=context, output=output,
                residual=residual, logits=logits, probabilities=torch.softmax(logits, -1))
    shown = {name: table for name, table in made.items() if name != 'inputs'}
    if gradient is not None:
        for table in made.values():
            table.retain_grad()
        logits.backward(torch.tensor(gradient, dtype=dtype))
        shown.update({f'grad_{name}': made[name].grad for name in ('logits', 'residual', 'output', 'context')})
        shown['grad_inputs'] = embedded.grad
        shown.update({f'grad_{name}': p[name].grad for name in p if name != 'embedding'})
    return shown


gradient = [[0.5, -1, 0.25, 2, -0.75], [1, 0, -0.5, 0.125, 0.3], [-0.2, 0.7, 0, -1.5, 1]]
write('grad.json', {'grad_logits': gradient})
write('f64.json', run(torch.float64, gradient))
write('f32.json', run(torch.float32, gradient))
write('bf16.json', run(torch.bfloat16))
write('head.json', run(torch.float32, gradient, without=(1,)))

for mistake in ('positions-missing', 'positions-twice', 'residual-missing', 'residual-without-positions',
                'unembedding-bias-missing', 'positions-other-next', 'positions-other-previous', 'positions-other-first'):
    times = {'positions-missing': 0, 'positions-twice': 2}.get(mistake, 1)
    write(f'wrong-{mistake}.json', {'logits': run(torch.float32, times=times, wrong=mistake)['logits']})

inputs = torch.tensor(json.load(open(os.path.join(HERE, '../../data/inputs.json')))['inputs'])
tokens, d = inputs.shape
position, column = torch.arange(tokens)[:, None], torch.arange(0, d, 2)
sines = torch.zeros(tokens, d)
angles = position * torch.exp(column * (-math.log(10000.0) / d))
sines[:, 0::2], sines[:, 1::2] = torch.sin(angles), torch.cos(angles)[:, :d // 2]
torch.manual_seed(123)
query, key, value = (torch.nn.Linear(d, 2, bias=False) for _ in range(3))
write('sines.json', {'positions': sines, 'embedded': inputs + sines, 'query': query(inputs + sines)})
torch.manual_seed(123)
learned = torch.nn.Embedding(tokens, d).weight
query, key, value = (torch.nn.Linear(d, 2, bias=False) for _ in range(3))
write('drawn.json', {'positions': learned, 'embedded': inputs + learned, 'value': value(inputs + learned)})
