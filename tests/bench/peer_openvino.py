# SPDX-License-Identifier: MIT
"""Measures OpenVINO's ScaledDotProductAttention on request, in float32: a line of standard input, as peer_torch.py has
them, is answered with one line.

    attention - f32 HEADS TOKENS D KIND THREADS    GF/s, the best of the runs that a short while allows; KIND is whole or
                                                   causal
"""
import os
import sys
import time

import numpy
import openvino
from openvino import opset13

SECONDS = 0.25
clock = time.process_time if "BENCH_PROCESSOR_TIME" in os.environ else time.perf_counter
core = openvino.Core()


def attention(heads, tokens, d, kind, threads):
    shape, causal = [1, heads, tokens, d], kind == "causal"
    operations = 4 * heads * (tokens * (tokens + 1) // 2 if causal else tokens * tokens) * d
    inputs = [opset13.parameter(shape, numpy.float32) for _ in range(3)]
    model = openvino.Model([opset13.scaled_dot_product_attention(*inputs, causal=causal)], inputs)
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    arrays = [numpy.random.default_rng(i).standard_normal(shape, numpy.float32) for i in range(3)]
    for i, array in enumerate(arrays):
        request.set_input_tensor(i, openvino.Tensor(array))

    def run():
        start = clock()
        request.infer()
        return clock() - start

    run()  # the first one takes memory
    last = tokens - 1  # the last query attends to all keys, whatever the kind
    scores = arrays[1][0, 0].astype(float) @ arrays[0][0, 0, last] / numpy.sqrt(d)
    weights = numpy.exp(scores - scores.max())
    expected = weights @ arrays[2][0, 0] / weights.sum()
    if not numpy.allclose(request.get_output_tensor(0).data[0, 0, last], expected, atol=1e-4):
        return "wrong: the last row of the context"
    begin = clock()
    best = run()
    while clock() - begin < SECONDS:
        best = min(best, run())
    return f"{operations / best * 1e-9:.1f}"


for line in sys.stdin:
    heads, tokens, d, kind, threads = line.split()[3:]
    print(attention(int(heads), int(tokens), int(d), kind, int(threads)), flush=True)
