"""Patterns of modules: compiled when used, and every one of them can be."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re

import pytest

import example_sanity
from example_sanity.core import regex as lazily
from example_sanity.core.regex import regex


def test_a_pattern_does_what_the_compiled_one_does() -> None:
    lazy, compiled = regex(r"(?P<word>[a-z]+)\d*", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)\d*", re.I)

    assert lazy.pattern == compiled.pattern
    assert [found.span() for found in lazy.finditer("ab1 Cd")] == [(0, 3), (4, 6)]
    assert lazy.findall("ab1 Cd") == compiled.findall("ab1 Cd")
    assert lazy.sub("x", "ab1 Cd") == compiled.sub("x", "ab1 Cd")
    assert (lazy.groups, lazy.groupindex, lazy.flags) == (1, compiled.groupindex, compiled.flags)
    assert regex(rb"a").split(b"bab") == [b"b", b"b"]


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = regex("(")

    with pytest.raises(re.error):
        broken.search("")


def test_every_pattern_of_the_package_compiles() -> None:
    for module in pkgutil.walk_packages(example_sanity.__path__, "example_sanity."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    patterns = [item for item in gc.get_objects() if isinstance(item, lazily._Regex) and item.pattern != "("]

    assert len(patterns) > 300
    for item in patterns:
        re.compile(item.pattern, item._flags)
