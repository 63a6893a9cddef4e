"""The rules on inline suppressions: IGN005 unused, IGN006 invalid, IGN007 without a reason."""

from __future__ import annotations

import msgspec
import pytest

from example_sanity.core.finding import Finding
from helpers import Write, brief
from spy import open_run, spy

LINE = "BAD # sanity: ignore[SPY001] why\n"


def judged(write: Write, text: str, name: str = "a.sh") -> list[Finding]:
    return [finding for finding in spy(write({name: text})).findings if finding.code.startswith("IGN")]


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        "# sanity check: ignore what is not ours\n",
        "# sanity checks\n",
        "# check the sanity of it, ignore[X] it\n",
        "echo '# sanity: disable'\n",
        "echo # sanity: ignore[NAM001] the rules of that family did not run\n",
        "echo # sanity: ignore[NAM001, NAM002] why\n",
        "echo # sanity: ignore[IGN005] not judged\n",
    ],
)
def test_silent(write: Write, text: str) -> None:
    assert judged(write, text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "echo # sanity: ignore[SPY001] why\n",
            "nothing to suppress for SPY001 bad-word on line 1; delete the comment",
        ),
        (
            "# sanity: ignore[bad-word] why\necho \\\n  a\n",
            "nothing to suppress for bad-word on lines 2-3; delete the comment",
        ),
        ("# sanity: ignore-file[spy] why\n", "nothing to suppress for spy in this file; delete the comment"),
        (
            "echo\n# sanity: ignore[SPY001] why\n",
            "nothing to suppress for SPY001 bad-word (nothing follows the comment); delete the comment",
        ),
        (
            "BAD # sanity: ignore[SPY001, SPY002] why\n",
            "nothing to suppress for SPY002 bad-name on line 1; drop it from the list",
        ),
    ],
)
def test_unused(write: Write, text: str, message: str) -> None:
    assert [(item.code, item.message) for item in judged(write, text)] == [("IGN005", message)]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        (
            "sanity: ignore[SPY01] why",
            "unknown rule 'SPY01' (did you mean 'SPY001'?)",
        ),
        ("sanity: ignore SPY001", "'sanity: ignore SPY001' suppresses nothing; a suppression is written "),
        ("sanity ignore[SPY001] why", "'sanity ignore[SPY001] why' suppresses nothing; "),
        ("sanity: disable", "'sanity: disable' suppresses nothing; "),
        ("sanity:ignore[SPY001] why", "'sanity:ignore[SPY001] why' suppresses nothing; "),
        ("Sanity: ignore[SPY001] why", "'Sanity: ignore[SPY001] why' suppresses nothing; "),
        ("sanity: ignore[] why", "'sanity: ignore[] why' suppresses nothing; "),
        ("sanity: ignore[SPY001,] why", "'sanity: ignore[SPY001,] why' suppresses nothing; "),
        ("sanity: ignore-line[SPY001] why", "'sanity: ignore-line[SPY001] why' suppresses nothing; "),
        ("example-sanity: ignore[SPY001] why", "'example-sanity: ignore[SPY001] why' suppresses nothing; "),
    ],
)
def test_invalid(write: Write, comment: str, message: str) -> None:
    (finding,) = judged(write, f"BAD # {comment}\n")

    assert (finding.code, finding.span.column) == ("IGN006", 5)
    assert finding.message.startswith(message)


def test_without_a_reason(write: Write) -> None:
    (finding,) = judged(write, "BAD # sanity: ignore[SPY001]\n")

    assert finding.code == "IGN007"
    assert finding.message == (
        "the suppression of SPY001 bad-word gives no reason; write one behind the bracket"
    )


def test_an_unused_suppression_without_a_reason_is_one_finding(write: Write) -> None:
    assert [item.code for item in judged(write, "echo # sanity: ignore[SPY001]\n")] == ["IGN005"]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a # sanity: ignore[SPY001] why\nb\n", "a\nb\n"),
        ("a\n  # sanity: ignore[SPY001] why\nb\n", "a\nb\n"),
        ("BAD # sanity: ignore[SPY002, SPY001] why\n", "BAD # sanity: ignore[SPY001] why\n"),
    ],
)
def test_the_fix_removes_what_is_unused(write: Write, text: str, after: str) -> None:
    (finding,) = judged(write, text)
    assert finding.fix is not None
    ((edit,), lines) = finding.fix.edits, text.split("\n")
    start, end = (
        sum(len(line) + 1 for line in lines[: place[0] - 1]) + place[1] - 1
        for place in (
            (edit.span.line, edit.span.column),
            (edit.span.end_line, edit.span.end_column),
        )
    )

    assert text[:start] + edit.text + text[end:] == after


def test_only_what_ran_and_could_be_inspected_is_judged(write: Write) -> None:
    root = write({"a.sh": "echo # sanity: ignore[SPY001] why\n"})
    run = open_run(root)
    run.config = msgspec.structs.replace(run.config, ignore=("SPY001",))

    narrowed = run.check([run.registry.family("spy"), run.registry.family("ignores")])

    assert narrowed.findings == ()
    assert spy(root, environment={"A": "1"}).findings == ()
    assert brief(spy(root, "a.sh").findings) == ["a.sh:1 IGN005"]


def test_comments_are_judged_where_nothing_else_is(write: Write) -> None:
    root = write({"notes.md": "<!-- sanity: disable -->\n", "a.sh": "true\n"})
    run = open_run(root)

    report = run.check([run.registry.family("ignores")], [root])

    assert brief(report.findings) == ["notes.md:1 IGN006"]


def test_a_suppression_rule_can_be_suppressed(write: Write) -> None:
    text = "# sanity: ignore-file[IGN005] kept for the next release\necho # sanity: ignore[SPY001] why\n"

    assert spy(write({"a.sh": text})).findings == ()
