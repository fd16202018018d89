# SPDX-License-Identifier: MIT
"""What the program computed, and what it found."""
import base64
import gzip
import html
import json
import os
import types
from typing import Any, Dict, Iterator, List, Mapping, Optional

from . import _arrays
from ._arrays import Array
from ._job import Job, write_mine
from ._program import AttnError, Folder, run

SHOWN_BYTES = 200_000  # of a result in a notebook
PAGE_NUMBERS = 20_000  # of a result that is shown as a page
PICTURE_NUMBERS = 2**24  # of T x T tables that are made for a picture, in a second or two

# The page, compressed: a browser inflates it in the frame.
FRAME = """<script>
const bytes = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then(text => {
  document.open(); document.write(text); document.close(); });
</script>"""


class Result(Mapping[str, Array]):
    """The stages of a job and its parameters, by name and as attributes: result["weights"] is result.weights. A stage
    that is not shown by default, such as lse, is computed when you ask for it; one that the job lacks is a KeyError.
    Arrays are NumPy's; bfloat16 and float8 come as float32, which holds all their numbers.

    `settings` has what changes numbers, as in attn-files(5); `labels` has "tokens", where the input has labels.

    >>> import attn
    >>> result = attn.self([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66]], d_out=2, tokens=["Your", "journey"])
    >>> result.weights.shape, result.lse.shape, result["W_query.weight"].shape
    ((2, 2), (2,), (2, 3))
    >>> result.labels["tokens"], result.settings["seed"]
    (['Your', 'journey'], 123)
    """

    def __init__(self, job: Job):
        self._job = job
        self.settings: Dict[str, Any] = {}
        self.labels: Dict[str, List[str]] = {}
        self._stages = self._compute()
        self._stages.pop("inputs", None)

    def _run(self, *words: str) -> str:
        return run(*self._job.words, *words, folder=self._job.folder)

    def _compute(self, *words: str) -> Dict[str, Array]:
        folder = Folder()
        self._run(*words, "--out", folder.file("result.safetensors"))
        stages, metadata = _arrays.read(folder.file("result.safetensors"))
        self.settings = self.settings or json.loads(metadata["settings"])
        self.labels = self.labels or {name: json.loads(metadata[name]) for name in metadata if name.endswith("tokens")}
        return stages

    def __getitem__(self, name: str) -> Array:
        if name not in self._stages:
            try:
                self._stages.update(self._compute("--stages", name))
            except AttnError as error:
                raise KeyError(str(error)) from None
        return self._stages[name]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._stages]

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._stages))

    def __len__(self) -> int:
        return len(self._stages)

    def __str__(self) -> str:
        return self._run("--color", "never", "--format", "text")

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {' x '.join(map(str, array.shape))}" for name, array in self._stages.items())
        return f"<attn.Result of {self._job.mechanism}: {shapes}>"

    def explain(self, cell: str = "") -> str:
        """The arithmetic of all stages, or of one cell, such as "weights:2,1": counted from 1, or by labels.

        >>> import attn
        >>> print(attn.self([[1.0, 2.0]], d_out=1).explain("scaled:1,1").splitlines()[4])
            key 1  -0.0440 / 1 = -0.0440
        """
        return self._run("--color", "never", f"--explain={cell}" if cell else "--explain")

    def save(self, path: Any, format: Optional[str] = None) -> None:
        """Writes the result to a file, in that format or by its suffix: .svg, .html, .json, .npy, .csv, .md, .tex.

        >>> import attn, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     attn.self([[1.0, 2.0], [3.0, 4.0]], d_out=1).save(folder + "/x.svg")
        ...     os.listdir(folder)
        ['x.svg']
        """
        self._run("--out", os.path.abspath(path), *(["--format", format] if format else []))

    def _repr_html_(self) -> str:
        """In a notebook: the page of a small result in a frame, else its picture, else its text; at most 200 KB."""
        try:
            if sum(array.size for array in self.values()) <= PAGE_NUMBERS:
                page = base64.b64encode(gzip.compress(self._run("--format", "html").encode(), mtime=0)).decode()
                frame = f'<iframe width="100%" height="640" srcdoc="{html.escape(FRAME % page)}"></iframe>'
                if len(frame) <= SHOWN_BYTES:
                    return frame
            numbers = [array[..., 0].size * array.shape[-2] for array in self.values() if array.ndim > 1]
            picture = self._run("--format", "svg") if max(numbers, default=0) <= PICTURE_NUMBERS else None
            if picture and len(picture.encode()) <= SHOWN_BYTES:
                return picture
        except AttnError:  # not every result has a page or a picture
            pass
        text = f"<pre>{html.escape(str(self))}</pre>"
        return text if len(text.encode()) <= SHOWN_BYTES else f"<pre>{html.escape(repr(self))}</pre>"


class Explanation(types.SimpleNamespace):
    """One answer of why; str() says in words what was done wrong. `command` gives the same numbers."""
    mistakes: List[str]
    forms: List[str]  # as --mistake takes them
    sentences: List[str]
    command: Optional[str]
    agree: int  # numbers that fit
    of: int

    def __repr__(self) -> str:
        return "; ".join(f"{words} ({form})" for words, form in zip(self.sentences, self.forms)) or "nothing is wrong"


class Observation(types.SimpleNamespace):
    """One line about a table that no mistake explains; str() is its text."""
    name: str  # of its kind
    text: str
    where: str

    def __repr__(self) -> str:
        return self.text


class Report:
    """What the program says of two tables; str() is the text. `data` is the same as JSON, and its keys are attributes;
    attn-why(1) and attn-diff(1) describe them. `observations` say what a wrong table is."""

    def __init__(self, words: List[str], folder: Folder):
        self._words, self._folder = words, folder
        self.data: Dict[str, Any] = json.loads(run(*words, "--format", "json", folder=folder, different=True))
        self.observations = [Observation(**row) for row in self.data["observations"]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.data:
            raise AttributeError(name)
        return self.data[name]

    def __repr__(self) -> str:
        if "text" not in self.data:
            self.data["text"] = run(*self._words, "--color", "never", folder=self._folder, different=True)
        return str(self.data["text"])


class Why(Report):
    """What attn.why found: the `explanations`, best first; without one, the observations. `right`: nothing is wrong."""

    def __init__(self, mine: Any, job: Job):
        super().__init__(["why", *job.words, "--mine", write_mine(mine, job.folder)], job.folder)
        self.explanations = [Explanation(**row) for row in self.data["explanations"]]
        self.right: bool = not self.data["departs"]


class Difference(Report):
    """What attn.diff found, true if a stage differs by more than its dtype allows; `first` is the first of them."""

    def __bool__(self) -> bool:
        return not self.data["agree"]
