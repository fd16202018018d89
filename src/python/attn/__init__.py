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
>>> print(attn.why(wrong, x, causal=True, d_out=2, seed=789).explanations[0])
the scores are not divided by sqrt(2) (scale-missing)
"""
from typing import Any, Mapping, Optional

from ._cases import Case, cases
from ._job import LAST, Job, job_of, option_words, write_mine
from ._program import AttnError, Folder, path as program, run
from ._result import Difference, Explanation, Observation, Result, Why

__all__ = ["self", "causal", "multihead", "sdpa", "layer", "why", "diff", "assert_attention", "cases", "program",
           "Result", "Why", "Explanation", "Observation", "Difference", "Case", "AttnError"]


def self(inputs: Any = None, **options: Any) -> Result:
    """One head, every token attends to every token. `inputs` is T x d_in or B x T x d_in, or the path of an input
    file; random="6x3" draws them. `seed` draws the parameters, unless weights= gives them: a module of PyTorch, its
    state_dict, a dict of arrays, or a file. stages="context" leaves out the T x T tables of a long input. Raises
    AttnError if the program rejects the job.

    >>> import attn
    >>> attn.self([[1.0, 0.0], [0.0, 1.0]], d_out=3).context.shape
    (2, 3)
    """
    return Result(Job("self", {"inputs": inputs}, options))


def causal(inputs: Any = None, **options: Any) -> Result:
    """One head, each token attends to itself and those before it; all else as attn.self.

    >>> import attn
    >>> attn.causal([[1.0, 0.0], [0.0, 1.0]], d_out=2).weights[0].tolist()
    [1.0, 0.0]
    >>> attn.causal([[1.0, 0.0], [0.0, 1.0]], widow="4,0")
    Traceback (most recent call last):
        ...
    attn._program.AttnError: unknown option '--widow'; did you mean '--window'?
    """
    return Result(Job("causal", {"inputs": inputs}, options))


def multihead(inputs: Any = None, heads: Optional[int] = None, **options: Any) -> Result:
    """Several heads, causal unless causal=False; all else as attn.self. query is H x T x d_head, `output` T x d_out,
    each with B before it for a batch.

    >>> import attn
    >>> attn.multihead([[1.0, 0.0], [0.0, 1.0]], heads=2, d_out=4).output.shape
    (2, 4)

    A result in the last line of a notebook's cell is its page: the words and where each head looks.

    >>> result = attn.multihead("data/trained.json", text="anna says ( the dogs near the cat")
    >>> result.weights[0, 7].round(1).tolist()  # head 1, at "cat"
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    >>> result._repr_html_()[:7]
    '<iframe'
    """
    return Result(Job("multihead", {"inputs": inputs}, {"heads": heads, **options}))


def sdpa(query: Any, key: Any = None, value: Any = None, **options: Any) -> Result:
    """Scaled dot-product attention: query T_q x d, key T_k x d and value T_k x d_v, with H or B x H before them.
    `context` is T_q x d_v likewise. The other inputs of attn-sdpa(1) are keywords, too: attn_mask, sinks, alibi_slopes,
    past_key, kv_lengths, cu_seqlens_q, block_table and so on. In place of query, the path of a file may have them all.
    Raises AttnError if shapes do not fit.

    >>> import numpy, attn
    >>> q = numpy.eye(2, dtype="float32")
    >>> attn.sdpa(q, q, q, causal=True).context[0].tolist()
    [1.0, 0.0]
    >>> attn.sdpa(q, q, q, attn_mask=[[True, False], [True, True]], stages="weights").weights[0].tolist()
    [1.0, 0.0]
    """
    return Result(Job("sdpa", {"query": query, "key": key, "value": value}, options))


def layer(inputs: Any, weights: Any, layer: Optional[int] = None, **options: Any) -> Result:
    """The attention module of a checkpoint, as attn-layer(1). `inputs` are its hidden states, T x d_model or B x T x
    d_model; `weights` is the file or folder of the checkpoint, `layer` its number from 0 if
    there are several. `output` has the shape of `inputs`. Raises AttnError for a checkpoint that the program rejects.

    >>> import numpy, attn
    >>> x = numpy.eye(2, 4, dtype="float32")
    >>> names = [f"self_attn.{name}_proj.weight" for name in "qkvo"]
    >>> attn.layer(x, dict.fromkeys(names, numpy.eye(4, dtype="float32")), heads=2).output[0].tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    return Result(Job("layer", {"inputs": inputs}, {"weights": weights, "layer": layer, **options}))


def why(mine: Any, *operands: Any, **job: Any) -> Why:
    """Which mistake gives these numbers. `mine` is an array, a dict of arrays by stage, a printed table as text, or a
    path. The job follows as for the functions above, inputs or query, key and value; causal=True, heads= or layer= say
    which, or mechanism= does. budget= limits the search, in billions of multiply-adds.

    >>> import numpy, attn
    >>> q = numpy.random.default_rng(0).standard_normal((4, 8)).astype("float32")
    >>> wrong = attn.sdpa(q, q, q, mistake="scale-missing").context
    >>> print(attn.why(wrong, q, q, q).explanations[0])
    the scores are not divided by sqrt(8) (scale-missing)
    >>> print(attn.why(q[::-1], q, q, q, budget=0.1))  # doctest: +ELLIPSIS
    mine is a table, taken for context, 4 x 8
    ...
    """
    return Why(mine, job_of(operands, job))


def diff(a: Any, b: Any, **options: Any) -> Difference:
    """Compares two results stage by stage, as attn-diff(1): `a` is right, `b` is checked. Each is a Result, a dict of
    arrays by stage, an array, a printed table as text, or a path. The difference is true if there is one.

    >>> import attn
    >>> a = attn.self([[1.0, 2.0], [3.0, 4.0]], d_out=2)
    >>> bool(attn.diff(a, a)), attn.diff(a, {"weights": a.weights * 2}).first
    (False, 'weights')
    """
    folder = Folder()
    words = [word for name, value in options.items() for word in option_words(name, value, folder)]
    return Difference(["diff", write_mine(a, folder, "a"), write_mine(b, folder, "b"), *words], folder)


def assert_attention(mine: Any, *operands: Any, stage: Optional[str] = None, budget: float = 20, **job: Any) -> None:
    """Passes if `mine`, an array or a dict of arrays by stage, is within what its dtype allows of the job's `stage`:
    the last one by default, context or output. Else raises AssertionError with the report of attn.why.

    >>> import numpy, attn
    >>> q = numpy.eye(3, dtype="float32")
    >>> attn.assert_attention(attn.sdpa(q, q, q).context, q, q, q)
    >>> attn.assert_attention(attn.sdpa(q, q, q, causal=True).context, q, q, q)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: mine is a table of context, 3 x 3
    ...
    """
    made = job_of(operands, job)
    named = dict(mine) if isinstance(mine, Mapping) else {stage or LAST[made.mechanism]: mine}
    run(*made.words, "--stages", ",".join(named), "--out", "right.safetensors", folder=made.folder)
    try:
        if not Difference(["diff", "right.safetensors", write_mine(named, made.folder)], made.folder):
            return
    except AttnError as error:  # such as a wrong shape
        raise AssertionError(str(error).partition(" (as in")[0]) from None
    made.words += ["--budget", str(budget)]
    found = Why(named, made)
    if not found.right:  # such as a kernel with more precise sums than those of the dtype
        raise AssertionError(str(found))
