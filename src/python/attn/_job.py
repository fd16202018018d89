# SPDX-License-Identifier: MIT
"""Keywords -> the words of a command line, and the files that it names."""
import os
from typing import Any, Dict, List, Mapping, Sequence

from . import _arrays

MECHANISMS = ("self", "causal", "multihead", "sdpa", "layer")


def _text(value: Any) -> str:
    """A list is joined by commas: window=(16, 0) is --window 16,0."""
    if isinstance(value, (list, tuple)):
        return ",".join(_text(one) for one in value)
    return repr(value) if isinstance(value, float) else str(value)


class Job:
    """One job: a mechanism, its arrays by their names in attn-files(5), and its options by their long names, with _
    for -. True is the flag, False the flag with no_ before it, None leaves the option out."""

    def __init__(self, mechanism: str, arrays: Mapping[str, Any], options: Mapping[str, Any]):
        if mechanism not in MECHANISMS:
            raise ValueError(f"{mechanism!r} is not a mechanism; expected one of {', '.join(MECHANISMS)}")
        self.mechanism = mechanism
        self.arrays = {name: value for name, value in arrays.items() if value is not None}
        self.options: Dict[str, Any] = {}
        for name, value in options.items():
            if name == "weights" and hasattr(value, "state_dict"):
                value = value.state_dict()
            if name == "weights" and isinstance(value, Mapping):
                self.arrays.update(value)
            elif _arrays.is_array(value) and name != "grad":
                self.arrays[name] = value
            elif value is not None:
                self.options[name] = value

    def words(self, folder: str) -> List[str]:
        """Writes the files to a folder: the words after the command, [MECHANISM, FILE, options]."""
        file = os.path.join(folder, "inputs.safetensors")
        tokens = self.options.get("tokens")
        metadata = {"tokens": __import__("json").dumps(list(tokens))} if tokens is not None else {}
        _arrays.write(file, self.arrays, metadata)
        words = [self.mechanism, file]
        for name, value in self.options.items():
            option = "--" + name.replace("_", "-")
            if name == "tokens":
                continue
            if _arrays.is_array(value):
                _arrays.write(os.path.join(folder, name + ".safetensors"), {name: value})
                words += [option, os.path.join(folder, name + ".safetensors")]
            elif value is True:
                words += [option, "ones"] if name == "grad" else [option]
            elif value is False:
                words += ["--no-causal"] if name == "causal" else []
            else:
                words += [option, _text(value)]
        return words


def job_of(options: Dict[str, Any]) -> Job:
    """The job of keywords alone: query, key and value are sdpa's; weights= with layer= or a folder are a layer's; heads
    are those of multihead; causal=True is causal; else self. mechanism= says it outright."""
    mechanism = options.pop("mechanism", None)
    arrays = {name: options.pop(name) for name in ("query", "key", "value", "inputs") if name in options}
    if mechanism is None:
        if "query" in arrays:
            mechanism = "sdpa"
        elif isinstance(options.get("weights"), (str, os.PathLike)) and "layer" in options:
            mechanism = "layer"
        elif "heads" in options:
            mechanism = "multihead"
        else:
            mechanism = "causal" if options.get("causal") else "self"
    if mechanism == "causal":
        options.pop("causal", None)
    return Job(mechanism, arrays, options)


def write_mine(mine: Any, folder: str) -> str:
    """Somebody's numbers as a file: an array, arrays by name, a printed table as text, or a path as it is."""
    if isinstance(mine, os.PathLike):
        return os.fspath(mine)
    if isinstance(mine, str):
        path = os.path.join(folder, "mine.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(mine)
        return path
    path = os.path.join(folder, "mine.safetensors")
    named = mine if isinstance(mine, Mapping) else {"mine": mine}
    _arrays.write(path, named)
    return path


def stages_of(stages: Sequence[str]) -> Dict[str, Any]:
    return {"stages": list(stages)} if stages else {}
