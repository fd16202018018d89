"""A Llama layer whose weights are float8_e4m3fn: plain, and with the scales that DeepSeek stores beside them.

    python3 tests/golden/float8_layer.py PLAIN SCALED"""

import json
import pathlib
import sys


def write(folder, scales):
    header, data = {}, b""

    def add(name, dtype, shape, numbers):
        nonlocal data
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers

    for i, letter in enumerate("qkvo"):
        name = f"model.layers.0.self_attn.{letter}_proj.weight"
        # of either sign, from 2^-4 to 15/16
        add(name, "F8_E4M3", [8, 8], bytes(0x18 + (37 * i + 11 * k) % 32 | (k + i) % 3 % 2 << 7 for k in range(64)))
        if scales:
            add(name + "_scale_inv", "F32", [1, 1], b"\0\0\x80\x3f")
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2,
                                                    "num_key_value_heads": 2}))


for path, scales in zip(sys.argv[1:], (False, True)):
    write(pathlib.Path(path), scales)
