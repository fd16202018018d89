# SPDX-License-Identifier: MIT
"""The cases of attn cases, for a kernel in Python; pytest_plugin.py runs them."""
import functools
import inspect
import json
import os
import re
import shutil
import sys
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, TypeVar, Union

import numpy

from . import _arrays
from ._job import OPERANDS, option_words
from ._program import Folder, options as program_options, run

Function = TypeVar("Function", bound=Callable[..., Any])

# The other inputs that a case may have.
TENSORS = ("attn_mask", "alibi_slopes", "sinks", "document_ids", "kv_lengths", "cu_seqlens_q", "cu_seqlens_k",
           "block_table", "key_cache", "value_cache", "past_key", "past_value", "contexts", "lses", "grad_context")
FLOAT32 = ("alibi_slopes", "lses")  # in every dtype
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "f8e4m3": "float8_e4m3fn",
          "f8e5m2": "float8_e5m2"}
# Settings that a kernel sees in its arrays.
SEEN = ("dtype", "heads", "kv_heads", "alibi")


def _array_of(library: str, array: _arrays.Array, dtype: Optional[str], device: Any) -> Any:
    """An array of that library; NumPy has bfloat16 and float8 where ml_dtypes is in use, else they stay float32."""
    module: Any = __import__(library)
    if library == "torch":
        return module.from_numpy(array).to(device=device, dtype=dtype and getattr(module, dtype))
    if library == "jax":
        return module.device_put(module.numpy.asarray(array, dtype=dtype), device)
    if dtype is None or hasattr(numpy, dtype) or "ml_dtypes" not in sys.modules:
        return array
    return array.astype(getattr(sys.modules["ml_dtypes"], dtype))


class Suite:
    """What a decorated function asks for: its cases, and the arrays that it takes."""

    def __init__(self, function: Callable[..., Any], can: Union[str, Iterable[str], None], grad: bool,
                 arrays: Optional[str], device: Any, options: Dict[str, Any]):
        self.function, self.grad, self.device, self.options = function, grad, device, options
        self.can = None if can is None else set(can.split(",") if isinstance(can, str) else can)
        self.parameters = inspect.signature(function).parameters
        self.is_kernel = "case" not in self.parameters
        if self.is_kernel and "self" in self.parameters:
            raise TypeError(f"{function.__name__} is a method; a kernel is a function, and a method takes (self, case)")
        self.arrays = arrays or _arrays_of(function)
        if self.arrays not in ("numpy", "torch", "jax"):
            raise ValueError(f"arrays={self.arrays!r}: expected one of numpy, torch, jax")

    def write(self, parent: str) -> List["Case"]:
        """Writes the cases to a new folder in parent/inputs."""
        os.makedirs(os.path.join(parent, "inputs"), exist_ok=True)
        folder = tempfile.mkdtemp(dir=os.path.join(parent, "inputs"))
        words = ["cases", folder]
        if self.can is not None:
            words += ["--can", ",".join(sorted((self.can | ({"grad"} if self.grad else set())) - {"lse"})) or "none"]
        for name, value in self.options.items():
            words += option_words(name, value, Folder())
        run(*words)
        with open(os.path.join(folder, "cases.txt"), encoding="utf-8") as file:
            names = [line.split()[0] for line in file if not line.startswith("#")]
        return [case for case in (Case(self, folder, name) for name in names) if self._takes(case)]

    def _takes(self, case: "Case") -> bool:
        needs = {name for name, value in case.settings.items() if value is not False} | {*case.inputs}
        lacking = needs - {*SEEN, *OPERANDS, *self.parameters}
        if case.grad and not self.grad or self.is_kernel and lacking and self.can is None:
            return False
        if self.is_kernel and lacking - {"align"}:  # a kernel has one corner
            raise TypeError(f"{self.function.__name__}() takes no {min(lacking - {'align'})}=, which the case "
                            f"{case.name} needs; add it, or take {', '.join(case.features)} out of can=")
        return True


def _arrays_of(function: Callable[..., Any]) -> str:
    """The library of arrays from which the function's module has imported something."""
    values = getattr(inspect.unwrap(function), "__globals__", {}).values()
    names = [value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None) for value in values]
    roots = {name.partition(".")[0] for name in names if isinstance(name, str)}
    return "torch" if roots & {"torch", "triton"} else "jax" if "jax" in roots else "numpy"


def _tuple(made: Any) -> Tuple[Any, ...]:
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


class Case:
    """One case: its `name` and `purpose`, the `features` that it asks for, its `settings`, and its arrays as
    attributes: query, key, value, attn_mask, sinks and so on. What the case does not have is None, also `window`, which
    is (left, right); `causal` is a bool, `scale` a number. `grad` says that gradients are asked for, those of
    `grad_context`; query, key and value of PyTorch then require them."""

    def __init__(self, suite: Suite, source: str, name: str):
        with open(os.path.join(source, name, "case.json"), encoding="utf-8") as file:
            data = json.load(file)
        self.name: str = name
        self.purpose: str = data["purpose"]
        self.features: List[str] = data["features"]
        self.settings: Dict[str, Any] = data["settings"]
        self.inputs: List[str] = list(data["inputs"])
        self.expected: List[str] = list(data["expected"])
        self.causal: bool = self.settings["causal"]
        self.scale: float = data["scale"]
        self.window: Optional[Tuple[int, ...]] = tuple(data["window"]) if "window" in self.settings else None
        self.grad = "grad" in self.features
        self.checked = False
        self._suite, self._source, self._folder = suite, source, ""
        self._loaded: Dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<attn.Case {self.name}: {self.purpose}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in OPERANDS or name in TENSORS:
            if name not in self._loaded:
                self._loaded[name] = self._load(os.path.join(self._source, self.name, name + ".npy"), name)
            return self._loaded[name]
        if name in self.settings or name in program_options():
            return self.settings.get(name)
        raise AttributeError(f"a case has no {name!r}; it has query, key, value, causal, scale, window, softcap, "
                             f"prefix, attention_chunk, align, {', '.join(TENSORS)}")

    def _load(self, file: str, name: str) -> Any:
        if not os.path.exists(file):
            return None
        array = numpy.load(file)
        dtype = DTYPES[self.settings["dtype"]] if array.dtype.kind == "f" and name not in FLOAT32 else None
        made = _array_of(self._suite.arrays, array, dtype, self._suite.device)
        return made.requires_grad_() if self._suite.arrays == "torch" and "grad_" + name in self.expected else made

    def begin(self, folder: str) -> None:
        """Makes a folder with this case alone, in which its results are checked."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(self._source, self.name), os.path.join(folder, self.name))
        shutil.copy2(os.path.join(self._source, "cases.txt"), folder)
        self._folder, self.checked = folder, False
        self._loaded.clear()

    def call(self) -> Any:
        """The kernel's result on this case."""
        __tracebackhide__ = True
        function, given = self._suite.function, [self.query, self.key, self.value]
        others = list(self._suite.parameters.items())[3:]
        named = {name: getattr(self, name) for name, one in others if one.default is one.empty or hasattr(self, name)}
        if not self.grad or self._suite.arrays != "jax" or "grad_context" in named:
            return function(*given, **named)
        pull = __import__("jax").vjp(lambda *given: _tuple(function(*given, **named))[0], *given)[1]
        return pull(self.grad_context)

    def check(self, made: Any = None, **named: Any) -> None:
        """Checks a result: the context, (context, lse), a dict or keywords by name. Where `grad` is true it is a
        context of PyTorch, which is differentiated, or the gradients in the order of query, key, value, sinks. Raises
        AssertionError with the largest error if a result is not right."""
        wrong = self.wrong(made, **named)
        if wrong:
            raise AssertionError(wrong)

    def wrong(self, made: Any = None, again: str = "", **named: Any) -> str:
        """What is wrong with a result; nothing if it is right. `again` is "-2" for that of a second call."""
        self.checked = True
        results = self._named(made, **named)
        optional = {"lse"} - {*(self._suite.can or ())}
        lacking = [name for name in self.expected if name not in results and name not in optional]
        if lacking:
            return f"{self.name}: there is no {lacking[0]}; return it after {self.expected[0]}"
        for name, result in results.items():
            _arrays.write(os.path.join(self._folder, self.name, f"{name}{again}.safetensors"), {name: result})
        report = run("cases", "--check", "--no-why", "--color", "never", self._folder, different=True)
        failed = re.search(r"^failed +\S+ +(.*(\n {4}(?!ask:).*)*)", report, re.MULTILINE)
        return failed.group(1).replace(".safetensors", "") if failed else ""

    def _named(self, made: Any = None, **named: Any) -> Dict[str, Any]:
        if isinstance(made, Mapping):
            return {**made, **named}
        given = tuple(one for one in _tuple(made) if one is not None)
        if self.grad and given and getattr(given[0], "requires_grad", False):
            given = __import__("torch").autograd.grad(given[0], [getattr(self, name[5:]) for name in self.expected],
                                                      self.grad_context, materialize_grads=True)
        if self.grad and len(given) not in (0, len(self.expected)):
            raise TypeError(f"expected a context of PyTorch that requires gradients, or {', '.join(self.expected)}, "
                            f"got {len(given)} arrays")
        return {**dict(zip(self.expected, given)), **named}


def cases(can: Union[str, Iterable[str], None] = None, *, grad: bool = False, arrays: Optional[str] = None,
          device: Any = None, **options: Any) -> Callable[[Function], Function]:
    """Makes pytest test a kernel on each case of attn-cases(1), and end with one verdict over all that failed.

    It decorates a kernel(q, k, v, *, causal, window, ...), which returns the context, or (context, lse); its keywords
    are attributes of attn.Case. Or it decorates a test_kernel(case), which returns the same, or calls case.check.
    `can` names the features of the kernel; with "lse" it must return an lse. Without `can`, a kernel gets the cases
    that need no other keywords. With grad=True gradients are checked, too. A case that fails runs once more: other
    numbers are a race. `arrays` is "torch", "jax" or "numpy": by default the first that the module of the function
    imports. Options are those of attn-cases(1): dtype="bf16", layout="bthd", heads, d_head, max_tokens and so on.

    >>> import attn, numpy
    >>> @attn.cases(can={"causal"}, max_tokens=40)
    ... def kernel(q, k, v, *, causal, scale):
    ...     scores = q @ k.swapaxes(-1, -2) * scale
    ...     scores[..., causal * ~numpy.tri(*scores.shape[-2:], dtype=bool)] = -numpy.inf
    ...     weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    ...     return weights / weights.sum(-1, keepdims=True) @ v
    """
    def decorate(function: Function) -> Function:
        if hasattr(function, "attn_cases"):
            raise TypeError(f"{function.__name__} has cases already; decorate the function itself, under another name")

        @functools.wraps(function)
        def decorated(*given: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            return function(*given, **named)

        decorated.attn_cases = Suite(function, can, grad, arrays, device, options)  # type: ignore[attr-defined]
        return decorated  # type: ignore[return-value]
    return decorate
