# SPDX-License-Identifier: MIT
"""Runs what attn.cases decorates: a test for each case, and one verdict at the end."""
import glob
import inspect
import json
import os
import re
import shutil
from typing import Any, Generator, List, Optional

import pytest

from ._cases import Case, Suite
from ._program import Folder, run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("attn").addoption("--attn-folder", metavar="DIR", help=(
        "keep the cases and results of attn.cases in this new folder, for attn cases --check"))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Plugin(config))


class Plugin:
    """What one run of pytest collects and finds."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.of_worker = getattr(config, "workerinput", {}).get("attn_folder")  # of pytest-xdist
        self.kept = config.getoption("attn_folder")
        if self.kept and not self.of_worker and os.path.isdir(self.kept) and os.listdir(self.kept):
            raise pytest.UsageError(f"--attn-folder: {self.kept} is not empty")
        self.temporary = Folder()
        self.path = self.of_worker or os.path.abspath(self.kept or self.temporary.path)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["attn_folder"] = self.path

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        suite = getattr(metafunc.function, "attn_cases", None)
        if isinstance(suite, Suite):
            cases = suite.write(self.path)
            metafunc.parametrize("case", cases, ids=[case.name for case in cases])

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> Optional[List[pytest.Function]]:
        suite = getattr(obj, "attn_cases", None)
        if not isinstance(suite, Suite) or not suite.is_kernel:
            return None
        if not name.startswith("test") and obj.__module__ != collector.module.__name__:
            return None  # imported from where it is tested
        items = []
        for case in suite.write(self.path):
            def test(case: Case = case) -> Any:
                __tracebackhide__ = True
                return case.call()

            vars(test).update(pytestmark=getattr(obj, "pytestmark", []), place_as=obj)
            item = pytest.Function.from_parent(collector, name=f"{name}[{case.name}]", callobj=test)
            item.attn_case = case  # type: ignore[attr-defined]
            items.append(item)
        return items

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Optional[bool]:
        case = getattr(pyfuncitem, "attn_case", pyfuncitem.funcargs.get("case"))
        if not isinstance(case, Case):
            return None
        case.begin(os.path.join(self._group(pyfuncitem, case), case.name))
        given = {**pyfuncitem.funcargs, "case": case}
        given = {name: given[name] for name in inspect.signature(pyfuncitem.obj).parameters}
        made = pyfuncitem.obj(**given)
        wrong = case.wrong(made) if made is not None or not case.checked else ""
        if wrong and made is not None:  # other numbers in a second call are a race
            wrong = case.wrong(pyfuncitem.obj(**given), "-2") or wrong
        if wrong:
            pytest.fail(wrong, pytrace=False)
        return True

    def _group(self, item: pytest.Function, case: Case) -> str:
        """The folder of the results of a function, with one set of its other parameters."""
        function, _, ids = item.nodeid.partition("[")
        others = ids.rstrip("]").replace(case.name, "", 1)
        return os.path.join(self.path, "results", re.sub(r"[^\w.]+", "-", f"{function}-{others}").strip("-"))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is None or self.of_worker:
            return
        for group in sorted(glob.glob(os.path.join(glob.escape(self.path), "results", "*"))):
            for line in _verdict(group, bool(self.kept)):
                terminal.write_line(line)


def _verdict(group: str, kept: bool) -> List[str]:
    """What all results of a function say together."""
    together = os.path.join(group, "all")
    os.mkdir(together)
    for name in sorted(set(os.listdir(group)) - {"all"}):
        shutil.copy2(os.path.join(group, name, "cases.txt"), together)
        os.rename(os.path.join(group, name, name), os.path.join(together, name))
        shutil.rmtree(os.path.join(group, name))
    found = json.loads(run("cases", "--check", "--format", "json", together, different=True))
    if not found["failed"]:
        return []
    title = f"attn: {os.path.basename(group)}: {found['failed']} of {found['passed'] + found['failed']} cases failed"
    lines = [line.replace(".safetensors", "") for line in found["verdict"]["lines"]]
    return [title + (f"; see attn cases --check {together}" if kept else ""), *lines]
