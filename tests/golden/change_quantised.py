"""A checkpoint of tests/quantised with something changed, for hostile tests.

    python3 tests/golden/change_quantised.py FORM FOLDER CHANGE...
    python3 tests/golden/change_quantised.py - FOLDER       FOLDER/1, FOLDER/2, ... by the lines FORM CHANGE of its input

CHANGE is KEY=JSON for quantization_config, with dots, or TENSOR:name, :shape or :dtype=JSON for the header, or
TENSOR:data=JSON, an int32 that takes the place of the first."""

import json
import pathlib
import struct
import sys


def write(form, folder, changes):
    source = pathlib.Path(__file__).parent.parent / "quantised" / form
    data = (source / "model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, data = json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])
    config = json.loads((source / "config.json").read_text())
    for change in changes:
        key, value = change.split("=", 1)
        value = json.loads(value)
        if ":" in key:
            tensor, what = key.split(":")
            tensor = "model.layers.0.self_attn." + tensor
            if what == "name":
                header[value] = header.pop(tensor)
            elif what == "data":
                struct.pack_into("<i", data, header[tensor]["data_offsets"][0], value)
            else:
                header[tensor][what] = value
            continue
        at = config["quantization_config"]
        *path, last = key.split(".")
        for name in path:
            at = at[name]
        at[last] = value
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "config.json").write_text(json.dumps(config))


form, folder, *changes = sys.argv[1:]
if form == "-":
    for number, line in enumerate(sys.stdin, 1):
        form, change = line.split(None, 1)
        write(form, pathlib.Path(folder, str(number)), [change])
else:
    write(form, pathlib.Path(folder), changes)
