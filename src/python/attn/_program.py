# SPDX-License-Identifier: MIT
"""The program that computes, its runs, and its options."""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import weakref
from typing import Dict, Optional


class AttnError(ValueError):
    """The program rejected a job; the message is its own. `status` is its exit status: 2 for usage, 3 for the system."""

    def __init__(self, message: str, status: int = 2):
        super().__init__(message)
        self.status = status


def path() -> str:
    """The program: ATTN_PROGRAM if that is set, else the one installed with this module, else `attn` in PATH.

    >>> import attn, os
    >>> os.access(attn.program(), os.X_OK)
    True
    """
    installed = pathlib.Path(__file__).with_name("program")
    found = os.environ.get("ATTN_PROGRAM") or (str(installed) if installed.exists() else shutil.which("attn"))
    if not found:
        raise FileNotFoundError("the program attn is neither next to this module nor in PATH; "
                                "install it with: pip install ./src/python")
    return os.path.abspath(found)


def run(*words: str, folder: Optional["Folder"] = None, different: bool = False) -> str:
    """Runs the program in a folder, and returns what it prints. Raises AttnError if it fails; with `different`, exit
    status 1 is a result too: that numbers differ."""
    done = subprocess.run([path(), *words], cwd=folder.path if folder else None, stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0 and not (different and done.returncode == 1):
        said = re.sub("^attn: ((inputs|mine): )?", "", done.stderr.strip())
        raise AttnError(said or f"attn ended with status {done.returncode}", done.returncode)
    return done.stdout


class Folder:
    """A temporary folder that lives as long as this object, for the files of its runs."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="attn-")
        weakref.finalize(self, lambda path, process: shutil.rmtree(path, True) if process == os.getpid() else None,
                         self.path, os.getpid())  # not in a child that was forked

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)


@functools.lru_cache(maxsize=None)
def options() -> Dict[str, str]:
    """The options by their keywords, as the help of the program lists them: the word for the argument, "" of a flag."""
    rows = re.findall(r"^ +(?:-\w, )?--([a-z-]+)(?: (\S+))?(?=  |$)", run("help", "all"), re.MULTILINE)
    return {name.replace("-", "_"): argument for name, argument in rows}
