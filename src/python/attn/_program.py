# SPDX-License-Identifier: MIT
"""The program that computes, and its runs."""
import os
import pathlib
import shutil
import subprocess
import tempfile


class AttnError(ValueError):
    """What the program says of a job that it rejects. Its exit status is in `status`: 2 for usage, 3 for the system."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


def path() -> str:
    """The program: that of ATTN_PROGRAM, else the one installed with this module, else `attn` in PATH."""
    beside = pathlib.Path(__file__).with_name("program")
    found = os.environ.get("ATTN_PROGRAM") or (str(beside) if beside.exists() else shutil.which("attn"))
    if not found:
        raise FileNotFoundError("the program attn is neither beside this module nor in PATH; "
                                "install it with: pip install ./src/python")
    return found


def run(*words: str, different: bool = False) -> str:
    """Runs the program on these words: what it prints. Raises AttnError where it fails; `different`: status 1, with
    which diff, why and cases say that numbers differ, is a result, too."""
    done = subprocess.run([path(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not (different and done.returncode == 1):
        raise AttnError(done.stderr.removeprefix("attn: ").strip() or f"attn ended with {done.returncode}",
                        done.returncode)
    return done.stdout


def scratch() -> tempfile.TemporaryDirectory:
    """A folder for the files of one run, which it removes."""
    return tempfile.TemporaryDirectory(prefix="attn-")
