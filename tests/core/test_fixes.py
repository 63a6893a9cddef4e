"""Fixes: which are made together, what an edit does to a text, and what is left alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core import fixes
from example_sanity.core.finding import Edit, Finding, Fix, Span
from example_sanity.core.fixes import Change
from helpers import Write
from spy import open_run, spy


def plan(root: Path, unsafe: bool = False) -> fixes.Plan:
    run = open_run(root)
    return fixes.plan(run, spy(root).findings, unsafe)


def edit(place: tuple[int, int, int, int], text: str, path: str = "a.txt") -> Edit:
    return Edit(path, Span(*place), text)


def fixing(*edits: Edit) -> Finding:
    return Finding("SPY001", "bad-word", "", "a.txt", fix=Fix("", edits))


def test_nothing_to_fix_changes_nothing(write: Write) -> None:
    assert plan(write({"a.txt": "BAD\nfine\n"})) == fixes.Plan((), ())


def test_safe_fixes_are_made_and_unsafe_ones_when_asked(write: Write) -> None:
    root = write({"a.txt": "BAD? x BAD!\nBAD? BAD?"})

    assert plan(root).changes == (Change("a.txt", "BAD? x BAD!\nBAD? BAD?", "GOOD x BAD!\nGOOD GOOD", 3),)
    assert plan(root, unsafe=True).changes[0].after == "GOOD x GOOD\nGOOD GOOD"


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        ((1, 1, 1, 1), "new\n", "new\none\ntwo"),
        ((1, 1, 2, 1), "", "two"),
        ((2, 1, 3, 1), "", "one\n"),
        ((3, 1, 3, 1), "!", "one\ntwo!"),
        ((2, 4, 2, 4), "\nthree", "one\ntwo\nthree"),
        ((1, 2, 2, 3), "-", "o-o"),
    ],
)
def test_an_edit(place: tuple[int, int, int, int], text: str, expected: str) -> None:
    assert fixes.apply("one\ntwo", [edit(place, text)]) == expected


def test_line_ends_stay_those_of_the_file() -> None:
    assert fixes.apply("one\r\ntwo\r\n", [edit((2, 1, 2, 1), "new\n")]) == "one\r\nnew\r\ntwo\r\n"
    assert fixes.apply("one\r\ntwo\r\n", [edit((2, 1, 2, 1), "new\r\n")]) == "one\r\nnew\r\ntwo\r\n"
    assert fixes.apply("one\ntwo\n", [edit((2, 1, 2, 1), "new\r\n")]) == "one\nnew\ntwo\n"


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ((1, 1, 1, 3), (1, 3, 1, 4), True),
        ((1, 1, 1, 3), (1, 2, 1, 4), False),
        ((1, 1, 1, 4), (1, 2, 1, 3), False),
        ((1, 2, 1, 2), (1, 2, 1, 2), False),
        ((1, 2, 1, 2), (1, 2, 1, 4), False),
        ((1, 1, 1, 3), (1, 3, 1, 3), True),
    ],
)
def test_of_fixes_that_overlap_the_first_wins(
    write: Write, first: tuple[int, int, int, int], second: tuple[int, int, int, int], both: bool
) -> None:
    root = write({"a.txt": "abcdef"})
    findings = [fixing(edit(first, "X")), fixing(edit(second, "Y"))]

    (change,) = fixes.plan(open_run(root), findings, unsafe=False).changes

    assert "X" in change.after
    assert ("Y" in change.after) == both


def test_a_fix_is_made_whole_or_not_at_all(write: Write) -> None:
    root = write({"a.txt": "abc", "b.txt": "abc"})
    findings = [
        fixing(edit((1, 1, 1, 2), "X")),
        fixing(edit((1, 1, 1, 2), "Y"), edit((1, 1, 1, 2), "Y", "b.txt")),
    ]

    assert [change.path for change in fixes.plan(open_run(root), findings, unsafe=False).changes] == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "text", "broken"),
    [("a.sh", "BAD? a\n", "if "), ("a.py", "x = BAD_\n", "("), ("a.yml", "a: BAD\n", "[")],
)
def test_a_file_that_would_no_longer_parse_stays(write: Write, name: str, text: str, broken: str) -> None:
    root = write({name: text})
    finding = fixing(edit((1, 1, 1, 1), broken, name))

    found = fixes.plan(open_run(root), [finding], unsafe=False)

    assert found == fixes.Plan((), (f"{name}: not fixed: the result would not parse",))


def test_writing_follows_links_inside_the_project_only(
    write: Write, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "real.txt"
    outside.write_text("BAD?\n")
    root = write({"real.txt": "BAD?\n"})
    (root / "inside.txt").symlink_to("real.txt")
    (root / "leads_out.txt").symlink_to(outside)

    found = plan(root)
    for change in found.changes:
        fixes.write(root, change)

    assert (root / "real.txt").read_text() == "GOOD\n"
    assert (root / "inside.txt").is_symlink()
    assert outside.read_text() == "BAD?\n"
    assert found.refusals == (f"leads_out.txt: not fixed: it leads out of the project, to {outside}",)


def test_writing_keeps_the_permissions(write: Write) -> None:
    root = write({"a.txt": "BAD?\n"})
    os.chmod(root / "a.txt", 0o751)  # noqa: PTH101

    fixes.write(root, plan(root).changes[0])

    assert (root / "a.txt").stat().st_mode & 0o777 == 0o751


@pytest.mark.parametrize("before", ["a\nBAD?\nc\n", "BAD?", "BAD?\r\nb\r\n", "a\nb\n\nBAD?"])
def test_git_applies_the_diff(write: Write, before: str) -> None:
    root = write({"a.txt": before.encode()})
    (change,) = plan(root).changes
    text = "\n".join(fixes.diff(change)) + "\n"

    subprocess.run(["git", "apply", "-p1"], input=text.encode(), cwd=root, check=True)

    assert (root / "a.txt").read_bytes() == change.after.encode()


@given(st.text(alphabet="ab\n", min_size=1, max_size=20), st.data())
def test_edits_in_any_order_are_as_one_after_the_other(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))

    def place(offset: int) -> tuple[int, int]:
        before = text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    edits = [edit((*place(start), *place(end)), f"<{number}>") for number, (start, end) in enumerate(ranges)]
    expected = text
    for number, (start, end) in reversed(list(enumerate(ranges))):
        expected = expected[:start] + f"<{number}>" + expected[end:]

    assert fixes.apply(text, data.draw(st.permutations(edits))) == expected
