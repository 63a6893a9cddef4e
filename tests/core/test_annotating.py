"""Writing inline suppressions: in front of the whole statement, never inside a continuation, checked afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_sanity.core import annotating
from example_sanity.core.errors import UsageError
from example_sanity.core.finding import Finding, Span
from helpers import Write
from spy import open_run, spy


def annotated(write: Write, name: str, text: str) -> str:
    """Return the text with suppressions for all that is bad in it; nothing may be left, and nothing unused."""
    root = write({name: text})
    run = open_run(root)
    plan = annotating.plan(run, spy(root).findings, "why")
    assert plan.refusals == ()
    (change,) = plan.changes
    (root / name).write_bytes(change.after.encode())
    assert spy(root).findings == ()
    return change.after


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "a.sh",
            "python3 a.py \\\n  BAD \\\n  BAD\nnext\n",
            "# sanity: ignore[SPY001] why\npython3 a.py \\\n  BAD \\\n  BAD\nnext\n",
        ),
        (
            "a.sh",
            "#!/bin/bash\nif a; then\n  X=(\n    BAD\n  )\nfi\nBAD\n",
            "#!/bin/bash\nif a; then\n  # sanity: ignore[SPY001] why\n  X=(\n    BAD\n  )\nfi\n"
            "# sanity: ignore[SPY001] why\nBAD\n",
        ),
        ("a.sh", "cat <<EOF\nBAD\nEOF\n", "# sanity: ignore[SPY001] why\ncat <<EOF\nBAD\nEOF\n"),
        ("a.sh", "a && \\\n  BAD\r\n", "# sanity: ignore[SPY001] why\r\na && \\\n  BAD\r\n"),
        ("bad.sh", "#!/bin/bash\necho\n", "#!/bin/bash\n# sanity: ignore-file[SPY002] why\necho\n"),
        (
            "bad.sh",
            "BAD\nBAD\n",
            "# sanity: ignore-file[SPY002] why\n# sanity: ignore[SPY001] why\nBAD\n# sanity: ignore[SPY001] why\nBAD\n",
        ),
        (
            "a.py",
            "def f():\n    g(\n        BAD)\n",
            "def f():\n    # sanity: ignore[SPY001] why\n    g(\n        BAD)\n",
        ),
        ("a.py", 'x = """\nBAD\n"""\n', '# sanity: ignore[SPY001] why\nx = """\nBAD\n"""\n'),
        ("a.yml", "a:\n  run: |\n    BAD\n", "a:\n  # sanity: ignore[SPY001] why\n  run: |\n    BAD\n"),
        ("a.yml", "a:\n  - b\n  - BAD\n", "a:\n  - b\n  # sanity: ignore[SPY001] why\n  - BAD\n"),
        ("a.toml", "a = [\n  'BAD',\n]\n", "a = [\n  # sanity: ignore[SPY001] why\n  'BAD',\n]\n"),
        (
            "a.md",
            "# T\n\n```\na\n\nBAD\n```\n",
            "# T\n\n<!-- sanity: ignore[SPY001] why -->\n```\na\n\nBAD\n```\n",
        ),
        (
            "bad.md",
            "---\na: b\n---\ntext\n",
            "---\na: b\n---\n<!-- sanity: ignore-file[SPY002] why -->\ntext\n",
        ),
        ("a.rst", "a\n\n::\n\n   BAD\n", "a\n\n.. sanity: ignore[SPY001] why\n\n::\n\n   BAD\n"),
    ],
)
def test_the_comment_stands_in_front_of_the_whole(write: Write, name: str, before: str, after: str) -> None:
    assert annotated(write, name, before) == after


def test_what_has_a_suppression_gets_no_other(write: Write) -> None:
    root = write({"a.sh": "# sanity: ignore[SPY001] why\nBAD\n"})
    run = open_run(root)
    finding = Finding("SPY001", "bad-word", "", "a.sh", Span(2, 1, 2, 4))

    assert annotating.plan(run, [finding], "why").changes == ()


def test_a_file_without_comments_is_refused(write: Write) -> None:
    root = write({"a.txt": "BAD\n"})

    plan = annotating.plan(open_run(root), spy(root).findings, "why")

    assert plan.changes == ()
    assert plan.refusals == ("a.txt: nothing added: such a file has no comments that we know",)


def test_a_place_that_no_comment_can_cover_is_refused(write: Write) -> None:
    root = write({"a.sh": "true\n\n# BAD\n"})

    plan = annotating.plan(open_run(root), spy(root).findings, "why")

    assert plan.changes == ()
    assert plan.refusals == ("a.sh:3: SPY001 cannot be suppressed by a comment there",)


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "ends --> here"])
def test_a_reason_must_fit_into_a_comment(write: Write, reason: str) -> None:
    with pytest.raises(UsageError, match="--reason must be one line"):
        annotating.plan(open_run(write({"a.sh": "BAD\n"})), [], reason)


PARTS = st.lists(
    st.sampled_from(
        [
            "BAD",
            "echo \\\n  BAD \\\n  x",
            "X=(\n  BAD\n  y\n)",
            "if a; then\n  BAD &&\n    BAD\nfi",
            "cat <<E\nBAD\nE",
            "f() {\n  BAD\n}",
            "true",
            "case $x in\n  a)\n    BAD ;;\nesac",
            "echo 'BAD\nBAD'",
        ]
    ),
    min_size=1,
    max_size=6,
)


@given(PARTS)
def test_every_mixture_of_statements_comes_out_clean(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    root = tmp_path_factory.mktemp("a")
    (root / "a.sh").write_text("\n".join([*parts, ""]))
    findings = spy(root).findings
    plan = annotating.plan(open_run(root), findings, "why")
    assert plan.refusals == ()
    for change in plan.changes:
        (root / "a.sh").write_text(change.after)

    assert spy(root).findings == ()
