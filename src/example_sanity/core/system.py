"""The SYS rules: what could not be inspected. They have no check of their own; reading and evaluating report them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Finding, Severity, Span
from example_sanity.core.rule import Contents, Family, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.core.rule import Context


class SystemRule(Rule):
    """A rule whose findings come from reading and evaluating; asked for it, a file is only loaded."""

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Return nothing: that the subject could be loaded is all that was asked."""
        del subject, context
        return ()


class Unreadable(SystemRule):
    """A file that cannot be read: no permission, a broken symbolic link, a device.

    Make it readable, remove it, or exclude it in the configuration.
    """

    code = "SYS001"
    name = "unreadable"
    summary = "a file cannot be read"
    subject = Subject.SCRIPT_PATH


class NotUtf8(SystemRule):
    """A file that is not UTF-8 text, or that holds NUL bytes.

    Bash reads bytes, but nothing else that handles the file (editors, diffs, this tool) agrees on what they mean.
    Convert it with ``iconv -t UTF-8``, or exclude it.
    """

    code = "SYS002"
    name = "not-utf8"
    summary = "a file is not UTF-8 text"
    subject = Subject.SCRIPT


class UnparsableShell(SystemRule):
    """A script that bash cannot parse: it stops at that line, after having run what stands before it.

    ``bash -n FILE`` shows the same error.
    """

    code = "SYS003"
    name = "unparsable-shell"
    summary = "a shell script does not parse"
    subject = Subject.SCRIPT


class EvaluationFailed(SystemRule):
    """A script that could not be evaluated in the sandbox, so that nothing is known of what it would run.

    The message gives the reason. It is a finding because an uninspected launcher must not look like a clean one.
    """

    code = "SYS004"
    name = "evaluation-failed"
    summary = "a script could not be evaluated"
    severity = Severity.WARNING
    subject = Subject.LAUNCH


class LimitHit(SystemRule):
    """A script that used up the time, command, loop or memory limit of the sandbox, so that its evaluation was cut off.

    An endless loop (waiting for a server that the sandbox does not have) is the usual reason.
    """

    code = "SYS005"
    name = "limit-hit"
    summary = "the evaluation of a script hit a limit"
    severity = Severity.WARNING
    subject = Subject.LAUNCH


class UnparsablePython(SystemRule):
    """A Python file that the interpreter which runs the tool cannot compile.

    Either it is broken, or it is written for a newer Python: run the tool with that one. Where ``requires-python`` asks for
    a newer one, that is an info. A file that is no Python, a template for example, is to be excluded in the configuration.
    """

    code = "SYS006"
    name = "unparsable-python"
    summary = "a Python file does not compile"
    subject = Subject.PYTHON_SOURCE

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether another rule looks at the file: Python is compiled only where that is asked for."""
        rules = context.cache.setdefault("system:python rules", [])
        if not rules:
            ignored = context.registry.resolve_all(context.config.ignore, "ignore")
            known = context.registry.rules_on(cls.subject)
            rules += [cls, *(rule for rule in known if rule.code not in ignored)]
        return any(rule is not cls and rule.applies(path, context) for rule in rules)


RULES: tuple[type[Rule], ...] = (
    Unreadable,
    NotUtf8,
    UnparsableShell,
    EvaluationFailed,
    LimitHit,
    UnparsablePython,
)


class SystemOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[tool.example-sanity.system]``: no keys."""


FAMILY = Family("system", "SYS", "what could not be inspected", lambda: Contents(RULES, SystemOptions))


def problem(
    code: str, path: str, message: str, span: Span | None = None, scenario: str | None = None
) -> Finding:
    """Return the SYS finding with this code. Raises StopIteration for a code that is none."""
    rule = next(rule for rule in RULES if rule.code == code)
    return rule.finding(path, span or Span(), message, scenarios=(scenario,) if scenario else ())
