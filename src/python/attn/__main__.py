# SPDX-License-Identifier: MIT
"""`python -m attn` is the program."""
import os
import sys

from ._program import path

os.execv(path(), ["attn", *sys.argv[1:]])
