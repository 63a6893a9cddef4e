"""SRC007: comments above the keys of YAML files, blank lines behind them, and none behind values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.sources.yamlkeys import YamlKeyComment, block_keys
from example_sanity.testing import check_rule
from helpers import Write, cli

STRICT: dict[str, Any] = {"blank-line": True, "inline": False}


def found(text: str, **more: Any) -> list[str]:
    options = {"yaml-comments": {"files": ["/a.yaml"], **STRICT, **more}}
    findings = check_rule(YamlKeyComment, text, path="a.yaml", options=options)
    return [f"{item.span.line}: {item.message}" for item in findings]


@pytest.mark.parametrize(
    "text",
    [
        "# One.\na: 1\n\n# Two.\nb: 2\n",
        "# One.\n'a-b': \"x#y\"\n",
        "# One.\na: x#y\n",
        "# One.\nurl: http://x/#frag\n",
        "# One.\na:\n\n  # Two.\n  b: {c: 1, d: 2}\n",
        "# One.\na: |\n  # text\n  b: 1\n\n# Two.\nc: >-\n  folded\n",
        "# One.\na:\n\n  - x: 1\n  - y\n",
        "# One.\na: [1,\n    2]\n\n# Two.\nb: 1\n",
        "# One.\na: &x\n\n  # Two.\n  b: 1\n\n# Three.\nc: *x\n",
        "",
        "- 1\n- 2\n",
    ],
)
def test_keys_with_comments_and_what_only_looks_like_one_are_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("a: 1\n", ["1: 'a' has no comment above it"]),
        ("a-b: 1\n", ["1: 'a-b' has no comment above it"]),
        ("'a b': 1\n", ["1: 'a b' has no comment above it"]),
        ("#\na: 1\n", ["2: 'a' has only a bare '#' above it"]),
        ("# One.\na: 1\n# Two.\nb: 2\n", ["2: no blank line follows 'a'"]),
        ("# One.\na:\n  # Two.\n  b: 1\n", ["2: no blank line follows 'a'"]),
        ("# One.\na: [1,\n    2]\n# Two.\nb: 1\n", ["2: no blank line follows 'a'"]),
        ("# One.\na: 1  # why\n", ["2: the comment '# why' stands behind a value; put it above 'a'"]),
        (
            "# One.\na:  # why\n\n  # Two.\n  b: 1\n",
            ["2: the comment '# why' stands behind a value; put it above 'a'"],
        ),
        ("# One.\na: 'x#y' # why\n", ["2: the comment '# why' stands behind a value; put it above 'a'"]),
    ],
)
def test_what_is_missing_is_found(text: str, messages: list[str]) -> None:
    assert found(text) == messages


def test_list_items_count_where_that_is_asked_for() -> None:
    text = "# One.\na:\n\n  - b: 1\n\n    c: 2\n"

    assert found(text) == ["6: 'c' has no comment above it"]
    assert found(text, **{"list-items": True}) == [
        "4: 'b' has no comment above it",
        "6: 'c' has no comment above it",
    ]


def test_conventions_are_options() -> None:
    assert found("# One.\na: 1  # why\n# Two.\nb: 2\n", **{"blank-line": False, "inline": True}) == []


def test_other_files_and_what_is_no_yaml() -> None:
    table = {"yaml-comments": {"files": ["/b.yaml"]}}
    assert check_rule(YamlKeyComment, "a: 1\n", path="a.yaml", options=table) == []

    (message,) = found("a: [1\n")
    assert message.startswith("1: the file is not valid YAML, so its keys cannot be judged: ")


def test_the_fix_inserts_blank_lines(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    config = '[sources.yaml-comments]\nfiles = ["/a.yaml"]\nblank-line = true\n'
    root = write({"a.yaml": "# One.\na: 1\n# Two.\nb:\n  # Three.\n  c: 2\n", "example-sanity.toml": config})

    assert cli(capsys, "sources", str(root), "--select", "SRC007", "--fix")[0] == 0
    assert (root / "a.yaml").read_text() == "# One.\na: 1\n\n# Two.\nb:\n\n  # Three.\n  c: 2\n"


NAMES = st.text("abc-_", min_size=1, max_size=4).filter(lambda name: name.strip("-_"))
TREES = st.recursive(st.integers(0, 9), lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3))


def _lines(tree: object, indent: str = "") -> list[str]:
    if not isinstance(tree, dict):
        return []
    lines = []
    for name, value in tree.items():
        lines.append(f"{indent}{name}:" + ("" if isinstance(value, dict) else f" {value}"))
        lines += _lines(value, f"{indent}  ")
    return lines


@given(TREES)
def test_every_key_is_found_on_its_line(tree: object) -> None:
    lines = _lines(tree)

    found = {key.line: key.name for key in block_keys("\n".join(lines))}

    assert found == {number: line.strip().partition(":")[0] for number, line in enumerate(lines)}
