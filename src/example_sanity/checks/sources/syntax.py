"""SRC013: what the compiler warns of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.core.finding import Severity, Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context


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
            yield self.finding(subject.path, span, f"Python warns: {complaint.message}")
