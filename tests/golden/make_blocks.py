"""blocks.safetensors: what ggml's block types mean by the gguf package, for tests/test_block.c.

    python3 tests/golden/make_blocks.py        with gguf 0.19, into this folder

For each type NAME: `NAME.bytes`, blocks of random bytes, and `NAME.numbers`, float32, that gguf.quants.dequantize makes of
them. The scales of the first blocks are common, then denormal, zero, infinite and NaN; those of the rest are random."""

import json
import pathlib

import gguf
import numpy as np

# Where the float16 scales of a block are.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "MXFP4": []}
HALVES = [0.0123, -0.37, 3e-7, 0.0, -0.0, np.inf, np.nan]


def main():
    random = np.random.default_rng(32)
    header, data = {}, b""
    for name, places in SCALES.items():
        kind = gguf.GGMLQuantizationType[name]
        numbers, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (10, size), dtype=np.uint8)
        for at, place in enumerate(places):
            halves = np.roll(np.array(HALVES, np.float16), at)
            blocks[: len(HALVES), place : place + 2] = halves.view(np.uint8).reshape(-1, 2)
        if name == "MXFP4":
            blocks[:6, 0] = [0, 1, 2, 127, 254, 255]
        with np.errstate(all="ignore"):
            meant = gguf.quants.dequantize(blocks, kind)
        assert meant.dtype == np.float32 and meant.shape == (10, numbers)
        for key, dtype, array in (("bytes", "U8", blocks), ("numbers", "F32", meant)):
            bytes_ = array.tobytes()
            header[f"{name}.{key}"] = {"dtype": dtype, "shape": list(array.shape),
                                       "data_offsets": [len(data), len(data) + len(bytes_)]}
            data += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = pathlib.Path(__file__).parent / "blocks.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


main()
