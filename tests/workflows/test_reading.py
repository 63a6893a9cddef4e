"""Files that are read: where values stand, what cannot be inspected, and what a later run may take from the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.checks.workflows import github, suites
from example_sanity.checks.workflows.yamltree import Tree
from example_sanity.core.errors import Uninspectable
from helpers import Write, brief, report

WORKFLOW = ".github/workflows/e2e.yml"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: b WORD\n", 1, 6),
        ("a: 'b WORD'\n", 1, 7),
        ('a: "b WORD"\n', 1, 7),
        ("a: |\n  x\n  b WORD\n", 3, 5),
        ("a: |\n\n  x\n    b WORD\n", 4, 7),
        ("a: |2\n    x\n  b WORD\n", 3, 5),
        ("a: |-\r\n  x\r\n  b WORD\r\n", 3, 5),
        ("a: >\n  x\n\n  b WORD\n", 4, 5),
        ("é: |\n  é WORD\n", 2, 5),
    ],
    ids=["plain", "single", "double", "literal", "deeper", "indicator", "windows", "folded", "unicode"],
)
def test_a_place_in_a_value_is_one_in_the_file(text: str, line: int, column: int) -> None:
    tree = Tree(text)
    value = tree.text(next(iter(tree.pairs(tree.root)))[1])
    assert value is not None
    start = value.value.index("WORD")

    span = value.span(start, start + 4)
    assert (span.line, span.column, span.end_column) == (line, column, column + 4)


def test_on_is_a_word_and_inputs_have_defaults() -> None:
    text = "on:\n  workflow_dispatch:\n    inputs:\n      steps: {default: 5}\n      free: {type: string}\n"
    assert dict(github.read("w.yml", text).inputs) == {"steps": "5"}


@pytest.mark.parametrize(
    "text", ["", "- a\n", "on: push\n", "jobs: {a: 1, b: {steps: x}}\n", "jobs: {a: {steps: [x, {}]}}\n"]
)
def test_odd_files_say_nothing(text: str) -> None:
    workflow = github.read("w.yml", text)

    assert all(step.run is None for job in workflow.jobs for step in job.steps)


@pytest.mark.parametrize("text", ["a: [b\n", "a: *b\n", "a: b: c\n", "a: 1\n---\nb: 2\n"])
def test_what_is_no_yaml_cannot_be_inspected(text: str) -> None:
    with pytest.raises(Uninspectable) as error:
        github.read("w.yml", text)

    assert error.value.code == "SYS001"
    assert error.value.span.line >= 1


def test_a_suite_has_entries_and_patterns() -> None:
    read = suites.read("s.txt", "# all of a/b*.sh\n\n  a/b1.sh  # slow: c/*.py\n")

    assert [item.value for item in read.listings[0].items] == ["a/b1.sh"]
    assert [(item.value, item.text.span().column) for item in read.comments] == [
        ("a/b*.sh", 10),
        ("c/*.py", 20),
    ]


def test_a_step_that_bash_cannot_parse_is_said(write: Write) -> None:
    step = "jobs:\n  a:\n    runs-on: x\n    steps:\n      - name: build\n        run: |\n          if true; then\n            ls\n"
    found = report(write({WORKFLOW: f"on: push\n{step}"}), "workflows").findings

    assert [(item.code, item.path, item.span.line) for item in found] == [("SYS003", WORKFLOW, 8)]
    assert found[0].message.startswith("bash cannot parse the step 'build', which is not inspected: ")


def test_a_later_run_sees_what_changed(write: Write) -> None:
    text = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n      - run: bash tests/all.sh\n"
    launcher = "examples/run_a.sh"
    files = {
        WORKFLOW: text,
        "tests/all.sh": f"bash {launcher}\n",
        launcher: "python3 train.py\n",
        "example-sanity.toml": "",
    }
    root = write(files)
    assert _codes(root) == []
    (root / "tests/all.sh").write_text("ls\n")
    assert _codes(root) == [f"{launcher}:1 WFL008"]
    (root / "tests/all.sh").rename(root / "tests/some.sh")
    assert _codes(root) == [f"{WORKFLOW}:7 WFL004", f"{launcher}:1 WFL008"]


def _codes(root: Path) -> list[str]:
    run = session.open_run((), root=root)
    return brief(run.check([run.registry.family("workflows")]).findings)
