# SPDX-License-Identifier: MIT
"""ONNX's node tests of TensorScatter, as they are in the onnx package: cases.json, a case a line.

    python3 tests/golden/onnx-scatter/make_onnx_scatter.py

past_cache, update and present_cache get an axis of heads where they have none. Made with onnx 1.23.2.
"""

import json
import pathlib

import numpy
from onnx.backend.test.case.node import collect_testcases

PLACE = pathlib.Path(__file__).parent


def heads(array):
    return array if array.ndim == 4 else numpy.expand_dims(array, 1)


lines = []
for case in sorted(collect_testcases("TensorScatter"), key=lambda case: case.name):
    (past, update, indices), (present,) = case.data_sets[0]
    attributes = {item.name: item.s.decode() for item in case.model.graph.node[0].attribute if item.name == "mode"}
    lines.append(
        json.dumps(
            {
                "name": case.name,
                "mode": attributes.get("mode", "linear"),
                "past_cache": heads(past).tolist(),
                "update": heads(update).tolist(),
                "write_indices": indices.tolist(),
                "present_cache": heads(present).tolist(),
            }
        )
    )
assert len(lines) == 3, lines
(PLACE / "cases.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
