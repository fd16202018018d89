# SPDX-License-Identifier: MIT
"""Builds the program by its Makefile, and a wheel of this machine that carries it."""
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

TOP = pathlib.Path(__file__).resolve().parents[2]


def version():
    return re.search(r'ATTN_VERSION "([^"]+)"', (TOP / "src/base/version.h").read_text()).group(1)


class BuildProgram(build_py):
    """The module, and beside it the program."""

    def run(self):
        super().run()
        if shutil.which("pkg-config") is None or subprocess.run(["pkg-config", "--exists", "libcjson"]).returncode:
            raise SystemExit("attn needs make, a C compiler, pkg-config and cJSON; on Debian: "
                             "apt install make gcc pkg-config libcjson-dev")
        folder = pathlib.Path(self.build_lib).resolve() / "attn"
        subprocess.run(["make", "-C", str(TOP), f"-j{__import__('os').cpu_count()}", "BUILD=build/python",
                        "build/python/attn"], check=True)
        shutil.copy2(TOP / "build/python/attn", folder / "program")
        subprocess.run(["strip", str(folder / "program")], check=False)


class MachineWheel(bdist_wheel):
    """For any Python 3, but one machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class MachineDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=MachineDistribution,
      cmdclass={"build_py": BuildProgram, "bdist_wheel": MachineWheel})
