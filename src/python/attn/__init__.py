# SPDX-License-Identifier: MIT
"""Every number in attention, and when yours is wrong, which mistake you made.

The program attn computes; this module gives it arrays of NumPy, PyTorch, JAX or ml_dtypes, and takes its results.
Options are keywords, under the names of attn(1) with _ for -.

>>> import numpy, attn
>>> x = numpy.array([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64]], "float32")
>>> result = attn.causal(x, d_out=2, seed=789)
>>> result.weights.round(4).tolist()[0]
[1.0, 0.0, 0.0]
>>> wrong = attn.causal(x, d_out=2, seed=789, mistake="scale-missing").context
>>> print(attn.why(wrong, inputs=x, causal=True, d_out=2, seed=789).explanations[0])
scale-missing
"""
from typing import Any, Dict, Optional

from . import _arrays
from ._job import Job, job_of, write_mine
from ._program import AttnError, path as program, run, scratch
from ._result import Difference, Explanation, Observation, Result, Why, report_of, why_of
from .pytest_plugin import cases

__all__ = ["self", "causal", "multihead", "sdpa", "layer", "why", "diff", "assert_attention", "cases", "program",
           "Result", "Why", "Explanation", "Observation", "Difference", "AttnError"]


def self(inputs: Any, **options: Any) -> Result:
    """One head in which every token attends to every token. `inputs`: T x d_in, or B x T x d_in. Parameters are drawn
    by `seed`, or given: weights=module, a dict of arrays, or a file. Raises AttnError for what the program rejects.

    >>> import attn
    >>> attn.self([[1.0, 0.0], [0.0, 1.0]], d_out=3).context.shape
    (2, 3)
    """
    return Result(Job("self", {"inputs": inputs}, options))


def causal(inputs: Any, **options: Any) -> Result:
    """The same, but a token attends to itself and those before it.

    >>> import attn
    >>> attn.causal([[1.0, 0.0], [0.0, 1.0]], d_out=2).weights[0].tolist()
    [1.0, 0.0]
    """
    return Result(Job("causal", {"inputs": inputs}, options))


def multihead(inputs: Any, heads: int, **options: Any) -> Result:
    """Several heads, causal unless causal=False. Its `output` is T x d_out, or B x T x d_out.

    >>> import attn
    >>> attn.multihead([[1.0, 0.0], [0.0, 1.0]], heads=2, d_out=4).output.shape
    (2, 4)
    """
    return Result(Job("multihead", {"inputs": inputs}, {"heads": heads, **options}))


def sdpa(query: Any, key: Any, value: Any, **options: Any) -> Result:
    """Scaled dot-product attention: query T_q x d, key T_k x d, value T_k x d_v, with H x or B x H x before them.
    Masks and the like are keywords, too: attn_mask, sinks, alibi_slopes, kv_lengths, cu_seqlens_q, block_table.

    >>> import numpy, attn
    >>> q = numpy.eye(2, dtype="float32")
    >>> attn.sdpa(q, q, q, causal=True).context[0].tolist()
    [1.0, 0.0]
    """
    return Result(Job("sdpa", {"query": query, "key": key, "value": value}, options))


def layer(inputs: Any, weights: Any, layer: int = 0, **options: Any) -> Result:  # pylint: disable=redefined-outer-name
    """The attention module of a checkpoint: `inputs` are its hidden states, T x d_model; `weights` the checkpoint's
    file or folder, `layer` its number. attn-layer(1) has the options."""
    return Result(Job("layer", {"inputs": inputs}, {"weights": weights, "layer": layer, **options}))


def why(mine: Any, *operands: Any, **job: Any) -> Why:
    """Which mistake gives these numbers. `mine`: an array, arrays by the names of their stages, a printed table as
    text, or a path. The job is that of sdpa(query, key, value), by position or by name, or of inputs=; causal=True and
    heads= say which mechanism, or mechanism= does.

    >>> import numpy, attn
    >>> q = numpy.random.default_rng(0).standard_normal((4, 8)).astype("float32")
    >>> wrong = attn.sdpa(q, q, q, mistake="scale-missing").context
    >>> attn.why(wrong, q, q, q).explanations
    [scale-missing]
    """
    return why_of(mine, job_of({**_operands(operands), **job}))


def _operands(operands: tuple) -> Dict[str, Any]:
    if len(operands) not in (0, 1, 3):
        raise TypeError(f"expected inputs, or query, key and value, got {len(operands)} arrays")
    return dict(zip(("inputs",) if len(operands) == 1 else ("query", "key", "value"), operands))


def diff(a: Any, b: Any, **options: Any) -> Difference:
    """Compares two results stage by stage: each a Result, arrays by name, an array, a printed table or a path.

    >>> import attn
    >>> a = attn.self([[1.0, 2.0], [3.0, 4.0]], d_out=2)
    >>> bool(attn.diff(a, a))
    False
    """
    with scratch() as first, scratch() as second:
        words = ["diff", write_mine(a, first), write_mine(b, second), *Job("self", {}, options).words(first)[2:]]
        return report_of(Difference, words)


def assert_attention(mine: Any, *operands: Any, stage: Optional[str] = None, **job: Any) -> None:
    """Passes where `mine` is the job's last stage, or `stage`, within the bound of its dtype; else raises
    AssertionError with what attn.why says of it.

    >>> import numpy, attn
    >>> q = numpy.eye(3, dtype="float32")
    >>> attn.assert_attention(attn.sdpa(q, q, q).context, q, q, q)
    >>> attn.assert_attention(q, q, q, q)
    Traceback (most recent call last):
        ...
    AssertionError: ...
    """
    made = job_of({**_operands(operands), **job})
    right = Result(Job(made.mechanism, made.arrays, {**made.options, **({"stages": stage} if stage else {})}))
    name = stage or list(right)[-1]
    if diff({name: right[name]}, {name: mine}):
        found = why_of({name: mine}, made)
        if not found.right:
            raise AssertionError(str(found))
