"""Where Python would find a package or module."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.doctor.modules import Found, holds, look
from helpers import Write


@pytest.fixture
def where(write: Write) -> list[Path]:
    """Two folders with parts of a namespace, and two that hold regular packages."""
    names = [
        "a/space/x.py",
        "b/space/y/z.py",
        "c/pkg/__init__.py",
        "c/pkg/sub.py",
        "c/one.py",
        "d/pkg/__init__.py",
    ]
    root = write(dict.fromkeys([*names, "c/fast.cpython-312.so", "d/pkg/late.py", "d/a.txt"], ""))
    return [root / name for name in "abcd"]


def test_the_first_that_is_found_counts(where: list[Path]) -> None:
    assert look("pkg", where) == Found(where[2] / "pkg", True)
    assert look("one", where) == Found(where[2] / "one.py", True)
    assert look("fast", where) == Found(where[2] / "fast.py", True)
    assert look("space", where) == Found(where[0] / "space", False)
    assert look("gone", where) is None


def test_a_regular_package_comes_before_a_namespace(write: Write) -> None:
    root = write({"a/pkg/data.txt": "", "b/pkg/__init__.py": ""})

    assert look("pkg", [root / "a", root / "b"]) == Found(root / "b/pkg", True)


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("space.x", True),
        ("space.y.z", True),
        ("space.z", False),
        ("pkg", True),
        ("pkg.sub", True),
        ("pkg.late", False),
        ("one", True),
        ("one.inside", False),
        ("gone.x", False),
    ],
)
def test_a_namespace_has_several_parts_and_a_package_one(where: list[Path], module: str, found: bool) -> None:
    assert holds(module, where) is found
