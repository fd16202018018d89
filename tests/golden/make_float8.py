"""float8.safetensors: what PyTorch's float8 dtypes mean and how it rounds to them, for tests/test_dtype.c.

    python3 tests/golden/make_float8.py        with PyTorch 2.15, into this folder

For each dtype: `codes`, all 256 of them, and `meant`, as float32; `given`, float32, and `rounded`, the codes that PyTorch
makes of it. Given are every number, every middle of two neighbours and what is next to it on either side, what is too
large, infinity and NaN, and numbers of all magnitudes drawn from a fixed seed."""

import json
import pathlib

import numpy as np
import torch

DTYPES = {"F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}


def given_for(meant):
    numbers = np.unique(np.abs(meant[np.isfinite(meant)]))
    middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
    beyond = np.float32([1.0354 * numbers[-1], 1.05 * numbers[-1], 1.0715 * numbers[-1], 1.125 * numbers[-1], 1e9, np.inf])
    near = [np.nextafter(middles, np.float32(way)) for way in (0, np.inf)]
    drawn = np.exp2(np.random.default_rng(8).uniform(-20, 17, 600)).astype(np.float32)
    one_side = np.concatenate([numbers, middles, *near, beyond, drawn]).astype(np.float32)
    return np.concatenate([one_side, -one_side, np.float32([np.nan])])


def main():
    header, data = {}, b""
    for name, dtype in DTYPES.items():
        codes = np.arange(256, dtype=np.uint8)
        meant = torch.from_numpy(codes).view(dtype).float().numpy()
        given = given_for(meant)
        rounded = torch.from_numpy(given).to(dtype).view(torch.uint8).numpy()
        for word, kind, numbers in (("codes", name, codes), ("meant", "F32", meant), ("given", "F32", given),
                                    ("rounded", name, rounded)):
            header[f"{name}.{word}"] = {"dtype": kind, "shape": [len(numbers)],
                                        "data_offsets": [len(data), len(data) + numbers.nbytes]}
            data += numbers.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = pathlib.Path(__file__).parent / "float8.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


main()
