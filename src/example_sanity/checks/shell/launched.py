"""Rules on evaluated launches, asked only where the text could show what they look for.

Evaluating a script takes a hundred times as long as searching it, and what no text holds cannot be evaluated to.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.shell.base import ShellRule
from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.rule import Context

_CALLED = regex(rb"(?:^|[\s;&|(])(?:source|\.|bash|sh)[ \t]+(?:-[a-bd-z]+[ \t]+)*([^\s;&|)]+)", re.MULTILINE)
_SCRIPT = regex(rb"[^\s;&|()=]*\.(?:sh|bash|slurm|sbatch)\b")


class LaunchRule(ShellRule):
    """A rule on launches. ``could_find`` says no where the texts of a script rule out that it finds anything."""

    subject = Subject.LAUNCH

    @classmethod
    def could_find(cls, text: bytes) -> bool:
        """Whether a script of this text, sourced and called scripts included, could give a finding."""
        raise NotImplementedError

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge what the family judges, where it is not clear from the text that nothing is wrong."""
        if not super().applies(path, context):
            return False
        text = _text(path, context)
        return text is None or cls.could_find(text)


def _text(path: str, context: Context) -> bytes | None:
    """The texts of a script and of those that it names, and the values of the call; None where one cannot be told."""
    known: dict[str, bytes | None] = context.cache.setdefault("shell:texts", {})
    if path not in known:
        known[path] = _gathered(path, context)
    return known[path]


def _gathered(path: str, context: Context) -> bytes | None:
    texts: dict[str, bytes] = {}
    waiting = [path]
    while waiting:
        current = waiting.pop()
        try:
            texts[current] = context.project.read(current)
        except Uninspectable:
            return None
        for name in _called(texts[current]):
            if "$" in name:
                return None
            waiting += [other for other in context.project.files_named(name) if other not in texts]
    return b"\n".join([*texts.values(), *(value.encode() for value in context.environment.values())])


def _called(text: bytes) -> Iterator[str]:
    """The names, without folders, of the scripts that a text may run."""
    words = [match[1] for match in _CALLED.finditer(text) if not match[1].startswith(b"-")]
    words += _SCRIPT.findall(text)
    for word in words:
        yield word.decode("utf-8", "replace").strip("\"'").rpartition("/")[2]
