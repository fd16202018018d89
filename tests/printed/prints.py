# SPDX-License-Identifier: MIT
"""Tables printed by NumPy, and as PyTorch prints them, in many settings: attn reads the digits that were printed, and
takes the table for the array that it was printed of.

    python3 tests/printed/prints.py ATTN FOLDER

Each print is compared twice by attn diff: with the digits that Python finds in it (nothing may differ), and with the
array itself (half a unit of the last digit may). The last line counts as the scripts do."""
import json
import re
import subprocess
import sys
from itertools import product

import numpy

attn, folder = sys.argv[1:3]
NUMBER = re.compile(r"[-+]?(?:nan|inf|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|True|False")
random = numpy.random.default_rng(12)
passed = failed = 0


# How PyTorch prints a tensor: one format for all numbers, chosen by their magnitudes; as many to a line as fit.
def torch_format(values, precision, sci_mode):
    if values.dtype.kind in "ib":
        texts = {value: str(value) for value in values.ravel().tolist()}
        width = max(map(len, texts.values()))
        return lambda value: str(value).rjust(width), width
    counted = numpy.abs(values[numpy.isfinite(values) & (values != 0)].astype("f8"))
    whole = bool((counted == numpy.ceil(counted)).all())
    scientific = False
    if counted.size:
        least, most = counted.min(), counted.max()
        scientific = bool(most / least > 1000 or most > 1e8 or (not whole and least < 1e-4))
    signed = values[numpy.isfinite(values) & (values != 0)].tolist()
    form = "%.*e" if scientific else "%.*f"
    if whole and not scientific:
        width = max([len("%.0f" % value) + 1 for value in signed], default=1)
    else:
        width = max([len(form % (precision, value)) for value in signed], default=1)
    scientific = scientific if sci_mode is None else sci_mode

    def show(value):
        if scientific:
            text = "%.*e" % (precision, value)
        elif whole:
            text = "%.0f" % value + ("." if numpy.isfinite(value) else "")
        else:
            text = "%.*f" % (precision, value)
        return text.rjust(width)

    return show, width


def torch_rows(values, indent, show, width, linewidth):
    if values.ndim == 1:
        many = max(1, (linewidth - indent) // (width + 2))
        texts = [show(value) for value in values.tolist()]
        lines = [", ".join(texts[i : i + many]) for i in range(0, len(texts), many)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [torch_rows(row, indent + 1, show, width, linewidth) for row in values]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def torch_print(values, precision=4, linewidth=80, sci_mode=None, suffix="", prefix="tensor("):
    show, width = torch_format(values, precision, sci_mode)
    return prefix + torch_rows(values, len("tensor("), show, width, linewidth) + suffix + ")"


# --- what is printed -----------------------------------------------------------------------------------------------

SHAPES = [(7,), (3, 4), (12, 3), (2, 3, 2), (2, 1, 3, 2), (1, 1), (1, 30)]
KINDS = ["f4", "f8", "f2", "i4", "i8", "?"]


def make(i):
    shape, kind = SHAPES[i % len(SHAPES)], KINDS[i // 2 % len(KINDS)]
    normal = random.standard_normal(shape)
    if kind == "?":
        return normal > 0
    if kind[0] == "i":
        return (normal * 1000).astype(kind)
    scaled = normal * [1, 1, 1e-3, 100, 1e8, 10.0 ** random.integers(-6, 6, shape), 1][i % 7 if kind != "f2" else 0]
    if i % 5 == 0:
        scaled.flat[0], scaled.flat[-1] = (numpy.nan, -numpy.inf) if i % 2 else (numpy.inf, 0)
    if i % 7 == 3:
        scaled = numpy.round(scaled)
    return scaled.astype(kind)


def numpy_prints():
    settings = product(["maxprec", "fixed", "unique", "maxprec_equal"], [0, 1, 3, 4, 8, 12], ["-", "+", " "])
    for i, (floatmode, precision, sign) in enumerate(settings):
        values = make(i)
        options = dict(precision=precision, suppress=i % 3 == 0, linewidth=[20, 75, 120][i % 3], sign=sign,
                       floatmode=floatmode, threshold=10**9)
        with numpy.printoptions(**options):
            yield f"str {options}", values, str(values)
            yield f"repr {options}", values, repr(values)


def torch_prints():
    suffixes = ["", ", grad_fn=<MmBackward0>", ", device='cuda:0', dtype=torch.float64, requires_grad=True",
                ",\n       grad_fn=<SoftmaxBackward0>)"]
    for i, (precision, linewidth, sci_mode) in enumerate(product([0, 2, 4, 8], [40, 80, 200], [None, True, False])):
        values = make(i)
        suffix = suffixes[i % 3] if values.dtype.kind == "f" else ""
        prefix = "Parameter containing:\ntensor(" if i % 4 == 0 else "tensor("
        yield (f"torch {precision} {linewidth} {sci_mode}", values,
               torch_print(values, precision, linewidth, sci_mode, suffix, prefix))


# --- what is read --------------------------------------------------------------------------------------------------

def digits_of(text, values):
    """The numbers of the print, as Python reads them."""
    numbers = NUMBER.findall(text[text.index("[") : text.rindex("]")])
    if values.dtype == bool:
        return numpy.array([number == "True" for number in numbers]).reshape(values.shape)
    return numpy.array([float(number) for number in numbers]).astype("f4").reshape(values.shape)


def agrees(expected, *options):
    numpy.save(f"{folder}/expected.npy", expected)
    run = subprocess.run([attn, "diff", f"{folder}/expected.npy", f"{folder}/print.txt", "-f", "json", *options],
                         capture_output=True, text=True)
    if run.returncode > 1:
        return run.stderr
    stage = json.loads(run.stdout)["stages"]["tensor"]
    right = run.returncode == 0 and stage["shape_b"] == list(expected.shape)
    return None if right else run.stdout


for name, values, text in [*numpy_prints(), *torch_prints()]:
    with open(f"{folder}/print.txt", "w") as file:
        file.write(text + "\n")
    outcomes = {"digits": agrees(digits_of(text, values), "--atol", "0", "--rtol", "0")}
    if values.dtype.kind == "f" and re.search(r"\.\d", text):  # a print without decimals counts as exact
        outcomes["array"] = agrees(values if values.dtype == "f2" else values.astype("f4"))
    for what, wrong in outcomes.items():
        passed += wrong is None
        failed += wrong is not None
        if wrong is not None:
            print(f"FAILED: the {what} of {name}\n{text}\n{wrong}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
