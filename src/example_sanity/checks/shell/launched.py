"""Rules on evaluated launches, asked only where the text could show what they look for.

Evaluating a script takes a hundred times as long as searching it, and what no text holds cannot be evaluated to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.checks.shell.base import ShellRule
from example_sanity.core.errors import Uninspectable
from example_sanity.core.regex import regex
from example_sanity.core.rule import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.core.rule import Context

# Both begin with what is rare in a script, as they are looked for in all of them.
_CALLED = regex(rb"(?:source|\.|bash|sh)(?=[ \t]+(?:-[a-bd-z]+[ \t]+)*([^\s;&|)]+))")
_SUFFIX = regex(rb"\.(?:sh|bash|slurm|sbatch)\b")
_STEM = regex(rb"[^\s;&|()=/]*\Z")
_BETWEEN_WORDS = frozenset(b" \t\r\n\f\v;&|(")


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
    for call in _CALLED.finditer(text):
        if (call.start() == 0 or text[call.start() - 1] in _BETWEEN_WORDS) and not call[1].startswith(b"-"):
            yield _name(call[1])
    for suffix in _SUFFIX.finditer(text):
        stem = _STEM.search(text, max(0, suffix.start() - 120), suffix.start())
        yield _name((stem[0] if stem else b"") + suffix[0])


def _name(word: bytes) -> str:
    return word.decode("utf-8", "replace").strip("\"'").rpartition("/")[2]
