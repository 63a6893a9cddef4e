"""SRC013: what the compiler warns of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.core.finding import Severity, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import Complaint, PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_ESCAPE = regex(r"[\"'](\\.)[\"']")


class PythonSyntaxWarning(Rule):
    """The compiler of Python warns of a line.

    An escape that is none (``"\\d"`` without the ``r``), ``is`` with a number, an assertion on a tuple: the file compiles,
    and the line does not do what it says, or will not compile in a later Python. The interpreter that runs the tool
    compiles the file, which runs nothing of it.
    """

    code = "SRC013"
    name = "python-syntax-warning"
    summary = "the compiler of Python warns of a line"
    severity = Severity.WARNING
    subject = Subject.PYTHON_SOURCE
    source = "verl .pre-commit-config.yaml, compileall; Python library reference, SyntaxWarning"
    bad = (Example('assert (value, "must be set")\n', "pkg/core.py"),)
    good = (Example('assert value, "must be set"\n', "pkg/core.py"),)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Report the warnings that were collected when the file was loaded."""
        del context
        assert isinstance(subject, PythonSource)
        lines = subject.lines
        for complaint in subject.complaints:
            line = lines[complaint.line - 1] if 0 < complaint.line <= len(lines) else ""
            start = len(line) - len(line.lstrip()) + 1
            span = Span(complaint.line, start, complaint.line, max(len(line), start) + 1)
            place = _escape(complaint, lines) or span
            yield self.finding(subject.path, place, f"Python warns: {complaint.message}")


def _escape(complaint: Complaint, lines: Sequence[str]) -> Span | None:
    """Where an escape stands: before Python 3.12 the compiler gives the line on which its string begins."""
    found = _ESCAPE.search(complaint.message)
    if found is None:
        return None
    wanted = re.compile(r"(?<!\\)(?:\\\\)*" + re.escape(found[1]))
    for number, line in enumerate(lines[complaint.line - 1 :], complaint.line):
        place = wanted.search(line)
        if place:
            return Span(number, place.end() - len(found[1]) + 1, number, place.end() + 1)
    return None
