"""SRC006: names spelled otherwise in prose, and what is no prose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.checks.sources.terms import TermSpelling
from example_sanity.testing import check_rule
from helpers import Write, cli

TERM = {"spellings": ["verl"], "wrong": ["verll"], "everywhere": ["veRL"]}


def found(text: str, path: str = "docs/a.md", **more: Any) -> list[tuple[int, int]]:
    findings = check_rule(TermSpelling, text, path=path, options={"terms": [{**TERM, **more}]})
    return [(item.span.line, item.span.column) for item in findings]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "verl, `VERL_HOME` and `Verl`; VERL_HOME; VerlEngine; my-VERL; Overlap\n"),
        ("a.md", "https://x.org/VERL/a and [verl](Verl/README.md) and <https://VERL.org>\n"),
        ("a.md", "```bash\nVERL\n```\n~~~\nVERL\n~~~\n"),
        ("a.md", "VERL=1 and --VERL and VERL.trainer and $VERL and a/VERL\n"),
        ("a.rst", "Text::\n\n    VERL\n\n.. code-block:: bash\n\n    VERL\n\nverl\n"),
        ("a.py", "VERL = 1\nx = 'VERL'\nclass Verl: pass\n"),
        ("a.sh", "echo VERL\nexport X='a # VERL'\n"),
        ("a.json", "VERL\n"),
    ],
)
def test_the_right_spelling_code_links_and_longer_names_are_silent(path: str, text: str) -> None:
    assert found(text, path) == []


@pytest.mark.parametrize(
    ("path", "text", "places"),
    [
        ("a.md", "In VERL, Verl and verll.\n", [(1, 4), (1, 10), (1, 19)]),
        ("a.md", "```\nVERL\n```\nVERL\n", [(4, 1)]),
        ("a.rst", "VERL\n====\n", [(1, 1)]),
        ("a.txt", "VERL: it\n", [(1, 1)]),
        ("a.md", "\u4f7f\u7528VeRL\u6846\u67b6\n", [(1, 3)]),
        ("a.py", "x = 1  # VERL\n", [(1, 10)]),
        ("a.py", 'def f():\n    """In VERL.\n\n    Or Verl.\n    """\n', [(2, 11), (4, 8)]),
        ("a.sh", "# VERL\necho\n", [(1, 3)]),
        ("a.yaml", "a: 1  # Verl\n", [(1, 9)]),
        ("a.cu", "// VERL\n", [(1, 4)]),
    ],
)
def test_prose_is_found_in_every_kind_of_file(path: str, text: str, places: list[tuple[int, int]]) -> None:
    assert found(text, path) == places


def test_some_misspellings_count_in_any_text_and_inside_words() -> None:
    assert found("x = 'myveRLthing'\n", "a.py") == [(1, 8)]
    # Once, though it is prose, too.
    assert found("In veRL.\n") == [(1, 4)]


def test_paths_and_exclude_choose_the_files() -> None:
    assert found("VERL\n", paths=["/src/"]) == []
    assert found("VERL\n", exclude=["/docs/"]) == []


def test_the_fix_writes_the_nearest_spelling(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    config = '[[sources.terms]]\nspellings = ["SGLang", "sglang"]\n'
    root = write({"a.md": "SGlang and sGlang, `SGLANG`\n", "example-sanity.toml": config})

    assert cli(capsys, "sources", str(root), "--select", "SRC006", "--fix")[0] == 0
    assert (root / "a.md").read_text() == "SGLang and sglang, `SGLANG`\n"


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_every_other_mix_of_capitals_is_wrong(capitals: list[bool]) -> None:
    word = "".join(letter.upper() if up else letter for letter, up in zip("verl", capitals, strict=True))

    assert found(f"In {word}.\n") == ([] if word == "verl" else [(1, 4)])
