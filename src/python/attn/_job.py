# SPDX-License-Identifier: MIT
"""Keywords -> the words of a command line, and the files that it names."""
import json
import os
import re
from typing import Any, Dict, List, Mapping, Tuple

import numpy

from . import _arrays
from ._program import Folder, options as program_options

# The last stage of each mechanism.
LAST = {"self": "context", "causal": "context", "multihead": "output", "sdpa": "context", "layer": "output"}
OPERANDS = ("query", "key", "value")


def _is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike) or isinstance(value, str) and "\n" not in value and os.path.exists(value)


def _texts(value: Any) -> Any:
    """A text; or of arrays, lists, ranges and the like, a list of them."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(map(_texts, value)) if hasattr(value, "__iter__") and not isinstance(value, str) else str(value)


def option_words(name: str, value: Any, folder: Folder) -> List[str]:
    """A keyword -> --name and its argument. True and False are flags, an array or a dict is written to a file."""
    if name == "grad" and isinstance(value, bool):
        value = "ones" if value else None
    if value is None:
        return []
    if name in ("completion", "explain", "format", "help", "in", "jsonl", "out", "version"):
        raise TypeError(f"{name}= is only for the command line; save() writes files, and explain() shows the arithmetic")
    if name == "dtype" and not isinstance(value, str):  # numpy.float16, torch.bfloat16
        value = getattr(value, "__name__", str(value)).rpartition(".")[2]
    if hasattr(value, "item") and not _arrays.is_array(value):  # NumPy's scalars
        value = value.item()
    option, argument = "--" + name.replace("_", "-"), program_options().get(name, "?")
    if argument != "?" and isinstance(value, bool) != (argument == ""):
        raise TypeError(f"{name}= {'is True or False' if argument == '' else 'takes ' + argument}, got {value!r}")
    if value is False and argument != "?":
        return ["--no-" + option[2:]] if "no_" + name in program_options() else []
    if isinstance(value, bool):
        return [option]
    if argument == "FILE":
        if hasattr(value, "state_dict"):
            value = value.state_dict()
        if isinstance(value, Mapping) or not isinstance(value, (str, os.PathLike)):
            _arrays.write(folder.file(name), value if isinstance(value, Mapping) else {name: value})
            return [option, name]
        return [option, os.path.abspath(value) if _is_path(value) else str(value)]
    return [option, ",".join(numpy.ravel(_texts(value)))]  # window=(16, 0) is --window 16,0


class Job:
    """One job: its words after the command, MECHANISM FILE OPTIONS..., and the folder of its files. Arrays that are no
    option are inputs by their names in attn-files(5); None is left out."""

    def __init__(self, mechanism: str, arrays: Mapping[str, Any], options: Mapping[str, Any]):
        if mechanism not in LAST:
            raise ValueError(f"{mechanism!r} is not a mechanism; expected one of {', '.join(LAST)}")
        self.mechanism, self.folder, self.words = mechanism, Folder(), [mechanism]
        inputs: Dict[str, Any] = {name: value for name, value in arrays.items() if value is not None}
        labels, words = {}, []
        in_file = {"grad": "grad_" + LAST[mechanism], "key_inputs": "inputs"}
        for name, value in options.items():
            if name in in_file and _arrays.is_array(value):
                value = {in_file[name]: value}
            if name in ("tokens", "key_tokens", "head_names") and value is not None:
                labels[name] = json.dumps(_texts(value))
            elif name not in program_options() and _arrays.is_array(value):
                inputs[name] = value
            else:
                words += option_words(name, value, self.folder)
        for name in ("inputs", "query"):  # or the path of a file with all of them
            if isinstance(inputs.get(name), (str, os.PathLike)):
                self.words.append(os.path.abspath(inputs.pop(name)))
        if inputs or labels:
            _arrays.write(self.folder.file("inputs"), inputs, labels)
            self.words.append("inputs")
        elif len(self.words) == 1 and "random" not in options:
            raise TypeError(f"{mechanism} needs arrays, the path of a file, or random=")
        self.words += words


def job_of(operands: Tuple[Any, ...], options: Dict[str, Any]) -> Job:
    """The job of inputs, or of query, key and value, by position or by name. mechanism= says which; else sdpa if there
    is a query, layer if there is a layer=, multihead if there are heads=, causal if causal=True, else self."""
    if len(operands) not in (0, 1, 3):
        raise TypeError(f"expected inputs, or query, key and value, got {len(operands)} arrays")
    options = {**dict(zip(OPERANDS if len(operands) == 3 else ("inputs",), operands)), **options}
    arrays = {name: options.pop(name) for name in (*OPERANDS, "inputs") if name in options and (
        name == "inputs" or "inputs" not in options and not isinstance(options[name], str))}
    mechanism = options.pop("mechanism", None)
    if mechanism is None:
        mechanism = ("sdpa" if "query" in arrays else "layer" if "layer" in options else
                     "multihead" if "heads" in options else "causal" if options.pop("causal", False) else "self")
    return Job(mechanism, arrays, options)


def write_mine(mine: Any, folder: Folder, name: str = "mine") -> str:
    """Somebody's numbers as a file: an array, arrays by name, a printed table as text, or a path."""
    if _is_path(mine) or isinstance(mine, str) and not re.search(r"[\s\[]", mine):
        return str(os.path.abspath(mine))
    if isinstance(mine, str):
        with open(folder.file(name), "w", encoding="utf-8") as file:
            file.write(mine)
    elif hasattr(mine, "save"):  # a Result
        mine.save(folder.file(name), "safetensors")
    else:
        _arrays.write(folder.file(name), mine if isinstance(mine, Mapping) else {"mine": mine})
    return name
