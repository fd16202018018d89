# SPDX-License-Identifier: MIT
"""Builds the program by its Makefile, and a wheel for this machine that carries it. ATTN_STATIC=MACHINE:PATH carries
that static program instead, for any Linux of that machine."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build/python"
MACHINE, STATIC = os.environ.get("ATTN_STATIC", ":").split(":", 1)
NEEDS = "attn needs make, a C compiler, pkg-config and cJSON; on Debian: apt install make gcc libc6-dev pkg-config libcjson-dev"


class BuildProgram(build_py):
    """The module, and the program next to it."""

    def run(self):
        super().run()
        program = pathlib.Path(self.build_lib, "attn", "program")
        if STATIC:
            shutil.copy2(STATIC, program)
            return
        tools = ["make", os.environ.get("CC", "cc").split()[-1], os.environ.get("PKG_CONFIG", "pkg-config")]
        if not all(map(shutil.which, tools)) or subprocess.run([tools[2], "--exists", "libcjson"], check=False).returncode:
            raise SystemExit(NEEDS)
        subprocess.run(["make", "-C", TOP, f"-j{os.cpu_count()}", f"BUILD={BUILD}", f"{BUILD}/attn"], check=True)
        shutil.copy2(BUILD / "attn", program)
        subprocess.run([os.environ.get("STRIP", "strip"), program], check=False)


class MachineWheel(bdist_wheel):
    """For any Python 3, but one kind of machine."""

    def get_tag(self):
        every = f"manylinux2014_{MACHINE}.musllinux_1_1_{MACHINE}"
        return "py3", "none", every if STATIC else super().get_tag()[2]


Distribution.has_ext_modules = lambda self: True  # so the wheel is for a machine
BUILD.mkdir(parents=True, exist_ok=True)
setup(version=re.search(r'ATTN_VERSION "([^"]+)"', (TOP / "src/base/version.h").read_text()).group(1),
      cmdclass={"build_py": BuildProgram, "bdist_wheel": MachineWheel},
      options={"build": {"build_base": str(BUILD / "wheel")}, "egg_info": {"egg_base": str(BUILD)}})
