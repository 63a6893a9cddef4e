"""SRC004: the folders of tests mirror those of the sources."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.core.errors import did_you_mean
from example_sanity.core.finding import Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Layout
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_CONFIG = '[[sources.layout]]\ntests = "tests"\nsources = "pkg"\nsuites = ["_on_cpu"]\n'
_FILES = {"pkg/trainer/ppo.py": "", "example-sanity.toml": _CONFIG}


class TestLayout(Rule):
    """A test stands where no source does, or its name keeps it out of the jobs that run tests.

    ``[[tool.example-sanity.sources.layout]]`` says which tree of tests mirrors which tree of sources, to which depth, and
    which folders (``extra``) and files are excepted. Only folders that hold Python files count as sources. ``suites``
    are endings of names by which jobs choose tests, such as ``_on_cpu``; a test whose name ends in nearly such a word
    runs in no job, or in the wrong one.
    """

    __test__ = False

    code = "SRC004"
    name = "test-layout"
    summary = "a test stands where no source does"
    subject = Subject.PYTHON_SOURCE
    source = "verl tests/special_sanity/validate_structure.py, .github/workflows/cpu_unit_tests.yml"
    bad = (
        Example("def test_it():\n    pass\n", "tests/trianer/test_ppo.py", _FILES),
        Example("def test_it():\n    pass\n", "tests/trainer/test_ppo_cpu.py", _FILES),
    )
    good = (Example("def test_it():\n    pass\n", "tests/trainer/test_ppo_on_cpu.py", _FILES),)

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file is a test of a tree that mirrors another."""
        return any(_is_test(path, item) for item in base.options(context).layout)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Compare the folder of the test with those of the sources, and its name with the suites."""
        assert isinstance(subject, PythonSource)
        for item in base.options(context).layout:
            if _is_test(subject.path, item):
                for message in (*_misplaced(subject.path, item, context), *_misnamed(subject.path, item)):
                    yield self.finding(subject.path, Span(), message)


def _is_test(path: str, item: Layout) -> bool:
    name = path.rpartition("/")[2]
    return (
        path.startswith(f"{item.tests}/")
        and path not in item.files
        and any(fnmatch.fnmatchcase(name, pattern) for pattern in item.names)
    )


def _misplaced(path: str, item: Layout, context: Context) -> Iterator[str]:
    inner = path[len(item.tests) + 1 :].split("/")[:-1]
    if inner and inner[0] in item.extra:
        return
    known = _source_folders(context.project.all_files, item.sources)
    if not inner:
        yield f"the test stands in {item.tests}/ itself; put it into the folder of what it tests: {_listed(known, '')}"
        return
    wanted = inner[: item.depth] if item.depth else inner
    for count in range(1, len(wanted) + 1):
        folder = "/".join(wanted[:count])
        if folder not in known:
            parent = "/".join(wanted[: count - 1])
            hint = did_you_mean(wanted[count - 1], _children(known, parent))
            there = "/".join(filter(None, (item.sources, parent)))
            yield f"{item.tests}/{folder}/ mirrors no folder of sources: {there}/ has no {wanted[count - 1]}/{hint}"
            return


@lru_cache(maxsize=8)
def _source_folders(files: tuple[str, ...], sources: str) -> frozenset[str]:
    """The folders below the sources that hold Python files, relative to it."""
    # A folder of configuration or data is nothing that a test could mirror.
    found = set()
    for path in files:
        if path.startswith(f"{sources}/") and path.endswith(".py"):
            folder = path[len(sources) + 1 :].rpartition("/")[0]
            while folder:
                found.add(folder)
                folder = folder.rpartition("/")[0]
    return frozenset(found)


def _children(known: Iterable[str], parent: str) -> list[str]:
    return sorted(folder.rpartition("/")[2] for folder in known if folder.rpartition("/")[0] == parent)


def _listed(known: Iterable[str], parent: str) -> str:
    return ", ".join(_children(known, parent))


def _misnamed(path: str, item: Layout) -> Iterator[str]:
    """An ending that has the last word of a suite, and is none."""
    stem = path.rpartition("/")[2].removesuffix(".py")
    if not item.suites or stem.endswith(item.suites):
        return
    # A test without any such word is meant for the jobs that take the rest.
    for suite in item.suites:
        device = suite.rpartition("_")[2]
        found = re.search(
            rf"(?:_?(?:on|in|for|with))?_?({re.escape(device)})(?:s|_only|_test)?$", stem, re.IGNORECASE
        )
        if found:
            right = f"{stem[: found.start()]}{suite}.py"
            yield f"the name ends in {found[0]!r}, and jobs choose tests that end in {suite!r}; rename it to {right}"
            return
