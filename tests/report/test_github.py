"""Workflow commands: limits, order, and nothing that the runner could take for a command of ours."""

from __future__ import annotations

import re

import msgspec

from example_sanity.report import github, render
from example_sanity.report.model import View


def _commands(text: str) -> list[str]:
    """The lines that the runner would obey, as it reads them: none between stop-commands and its token."""
    obeyed, stopped = [], None
    for line in text.splitlines():
        if stopped is None and line.startswith("::stop-commands::"):
            stopped = line.removeprefix("::stop-commands::")
        elif stopped is not None:
            stopped = None if line == f"::{stopped}::" else stopped
        elif line.lstrip().startswith("::") or "##[" in line:
            obeyed.append(line)
    assert stopped is None
    return obeyed


def test_a_clean_run_has_no_annotation(clean: View) -> None:
    assert _commands(render(clean, "github")) == []


def test_errors_come_first_and_ten_of_a_kind_are_kept(many: View) -> None:
    text = render(many, "github")

    commands = _commands(text)
    kinds = [command[2:].partition(" ")[0] for command in commands]
    assert kinds == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert commands[0] == (
        "::error file=a.sh,line=22,endLine=22,col=1,endColumn=2,title=ENV001 knob::finding 22"
    )
    assert text.endswith(
        "GitHub shows 10 annotations of a kind: 2 errors, 1 warning only in the text above.\n"
    )
    assert len(re.findall(r"^a\.sh:", text, re.MULTILINE)) == 33


def test_a_forged_command_in_a_name_stays_text(sample: View) -> None:
    commands = _commands(render(sample, "github"))

    assert len(commands) == 6
    assert all(re.match(r"::(error|warning|notice) file=sub/", command) for command in commands)


def test_a_command_of_the_old_form_in_a_note_stays_text(clean: View) -> None:
    report = msgspec.structs.replace(clean.report, notes=("##[error]forged: skipped",))

    assert _commands(render(msgspec.structs.replace(clean, report=report), "github")) == []


def test_text_that_holds_a_command_stays_text() -> None:
    assert _commands(github._inert("x\n::error::forged\n##[error]forged\n")) == []


def test_escaping_follows_the_toolkit() -> None:
    assert github._data("50%\r\nx:,") == "50%25%0D%0Ax:,"
    assert github._property("50%\r\nx:,") == "50%25%0D%0Ax%3A%2C"
