# SPDX-License-Identifier: MIT
"""What the program computed, and what it found."""
import html
import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, Optional

import numpy

from . import _arrays
from ._job import Job, write_mine
from ._program import AttnError, run, scratch

SHOWN_BYTES = 200_000  # of a result in a notebook


class Result(Mapping[str, numpy.ndarray]):
    """The stages of a job, by name and as attributes: result["weights"] is result.weights. A stage that was not asked
    for is computed when it is. Arrays are NumPy's; bfloat16 and float8 come as float32, which holds all their numbers.

    >>> import attn
    >>> result = attn.self([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]], d_out=2, seed=123)
    >>> result.weights.shape
    (2, 2)
    >>> list(result)
    ['query', 'key', 'value', 'scores', 'scaled', 'weights', 'context']
    """

    def __init__(self, job: Job):
        self._job = job
        self.settings: Dict[str, Any] = {}
        self.tokens: Optional[List[str]] = None
        self._stages = self._compute()

    def _run(self, *words: str) -> str:
        with scratch() as folder:
            return run(*self._job.words(folder), *words)

    def _compute(self, *words: str) -> Dict[str, numpy.ndarray]:
        with scratch() as folder:
            out = os.path.join(folder, "result.safetensors")
            run(*self._job.words(folder), *words, "--out", out)
            stages, metadata = _arrays.read(out)
        self.settings = json.loads(metadata.get("settings", "{}"))
        self.tokens = json.loads(metadata["tokens"]) if "tokens" in metadata else None
        return {name: array for name, array in stages.items() if name not in self._job.arrays}

    def __getitem__(self, name: str) -> numpy.ndarray:
        if name not in self._stages:
            try:
                self._stages.update(self._compute("--stages", name))
            except AttnError as error:
                raise KeyError(f"{name}: {error}") from None
        return self._stages[name]

    def __getattr__(self, name: str) -> numpy.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._stages)

    def __len__(self) -> int:
        return len(self._stages)

    def __str__(self) -> str:
        return self._run("--color", "never")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {' x '.join(map(str, array.shape))}" for name, array in self._stages.items())
        return f"<attn.Result of {self._job.mechanism}: {shapes}>"

    def explain(self, cell: str = "") -> str:
        """The arithmetic of all stages, or of a cell such as "weights:2,1", counted from 1.

        >>> import attn
        >>> print(attn.self([[1.0, 2.0]], d_out=1).explain("weights:1,1").splitlines()[0])  # doctest: +ELLIPSIS
        self-attention: ...
        """
        return self._run("--color", "never", f"--explain={cell}" if cell else "--explain")

    def save(self, path: Any) -> None:
        """Writes the result to a file, in the format of its suffix: .svg, .html, .json, .npy, .csv, .md, .tex."""
        self._run("--out", os.path.abspath(os.fspath(path)))

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame if it is small, else the picture, else the text."""
        with scratch() as folder:
            for suffix in ("html", "svg"):
                path = pathlib.Path(folder, f"result.{suffix}")
                try:
                    self.save(path)
                except AttnError:
                    continue
                text = path.read_text(encoding="utf-8")
                if suffix == "html":
                    text = f'<iframe width="100%" height="640" srcdoc="{html.escape(text)}"></iframe>'
                if len(text.encode()) <= SHOWN_BYTES:
                    return text
        text = html.escape(str(self) if sum(a.size for a in self.values()) < 10_000 else repr(self))
        return f"<pre>{text}</pre>"


class Report:
    """What diff and why say: a text, and the same as JSON in `data`, which attn-files(5) describes."""

    def __init__(self, words: List[str], data: Dict[str, Any], text: str):
        self._words, self.data, self._text = words, data, text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<attn.{type(self).__name__}: {(str(self).splitlines() or [''])[0]}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def report_of(kind: type, words: List[str]) -> Any:
    data = json.loads(run(*words, "--format", "json", different=True))
    return kind(words, data, run(*words, "--color", "never", different=True))


class Explanation:
    """One answer of why: `mistakes`, `forms` (as --mistake takes them), the `command` that gives the same numbers, how
    many numbers `agree` `of` how many."""

    def __init__(self, row: Dict[str, Any]):
        self.mistakes: List[str] = row["mistakes"]
        self.forms: List[str] = row["forms"]
        self.command: Optional[str] = row["command"]
        self.agree: int = row["agree"]
        self.of: int = row["of"]

    def __str__(self) -> str:
        return ", ".join(self.forms) or "nothing is wrong"

    __repr__ = __str__


class Observation:
    """One line about a table that no mistake explains: its kind by `name`, the `text`, and `where`."""

    def __init__(self, row: Dict[str, Any]):
        self.name: str = row["name"]
        self.text: str = row["text"]
        self.where: Optional[str] = row.get("where")

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class Why(Report):
    """What attn.why found: `explanations`, best first; `observations` where there is none; `right` where nothing is
    wrong. Its str is the report of the program."""

    @property
    def explanations(self) -> List[Explanation]:
        return [Explanation(row) for row in self.data["explanations"]]

    @property
    def observations(self) -> List[Observation]:
        return [Observation(row) for row in self.data.get("observations", [])]

    @property
    def right(self) -> bool:
        return not self.data["departs"]


class Difference(Report):
    """What attn.diff found; true where a stage differs beyond the tolerance of its dtype."""

    def __bool__(self) -> bool:
        return not self.data["agree"]

    @property
    def first(self) -> Optional[str]:
        """The first stage that differs."""
        return self.data["first"]


def why_of(mine: Any, job: Job) -> Why:
    with scratch() as folder:
        words = ["why", *job.words(folder), "--mine", write_mine(mine, folder)]
        return report_of(Why, words)
