"""SRC006: names that are not spelled as the project spells them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.core.commentstyles import prose
from example_sanity.core.finding import Edit, Fix, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Term
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_CONFIG = '[[sources.terms]]\nspellings = ["vLLM", "vllm"]\neverywhere = ["vLlm"]\n'
# Code in a line of prose, links, addresses, and what is a part of a path, an option or a longer name.
_NO_PROSE = regex(
    r"``.*?``|`[^`]*`|\]\([^)]*\)|<[^<>\s]*[:/@][^<>]*>|[a-z][a-z+.-]*://\S+|\S+@\S+|:[\w:]+:|\$\{[^}]*\}|\"[^\"\s]*[_/.][^\"\s]*\""
)


class TermSpelling(Rule):
    """A name is not spelled as the project spells it.

    ``[[tool.example-sanity.sources.terms]]`` lists the right ``spellings`` of a name; every other mix of capitals is wrong in
    prose: in documents, comments and docstrings. Code, links and parts of longer names are left alone, because an
    environment variable or a class has conventions of its own. Misspellings listed under ``everywhere`` are wrong in any
    text. The fix puts the nearest right spelling; it is safe in documents and comments.
    """

    code = "SRC006"
    name = "term-spelling"
    summary = "a name is not spelled as the project spells it"
    subject = Subject.TEXT
    source = "verl .pre-commit-config.yaml, check-naming-conventions"
    bad = (
        Example("Rollouts run in VLLM.\n", "docs/rollout.md", {"example-sanity.toml": _CONFIG}),
        Example("vLlm = 1\n", "pkg/a.py", {"example-sanity.toml": _CONFIG}),
    )
    good = (Example("vLLM reads `VLLM_PORT`.\n", "docs/rollout.md", {"example-sanity.toml": _CONFIG}),)

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether a term is looked for in the file."""
        return path != context.config.path and any(
            base.among(path, item.paths, item.exclude) for item in base.options(context).terms
        )

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look at the words of prose, and at the whole text for what is wrong everywhere."""
        assert isinstance(subject, TextFile)
        lowered = subject.text.lower()
        for item in base.options(context).terms:
            here = base.among(subject.path, item.paths, item.exclude)
            if here and any(
                word.lower() in lowered for word in (*item.spellings, *item.wrong, *item.everywhere)
            ):
                found = {span: (said, safe) for span, said, safe in _misspelled(subject, item)}
                for span, (said, safe) in sorted(found.items()):
                    yield self._finding(subject.path, span, said, item, safe=safe)

    def _finding(self, path: str, span: Span, said: str, item: Term, *, safe: bool) -> Finding:
        right = _nearest(said, item.spellings)
        shown = " or ".join(repr(word) for word in item.spellings)
        repair = Fix(f"write {right!r}", (Edit(path, span, right),), safe=safe)
        return self.finding(path, span, f"{said!r} is spelled {shown}", fix=repair)


def _misspelled(subject: TextFile, item: Term) -> Iterator[tuple[Span, str, bool]]:
    yield from _everywhere(subject, [word for word in item.everywhere if word in subject.text])
    pattern = _pattern(item.spellings, item.wrong)
    # To find the prose takes a hundred times as long as to see that no word of it is wrong.
    if all(found[0] in item.spellings for found in pattern.finditer(subject.text)):
        return
    for piece in prose(subject.path, subject.text):
        text = _NO_PROSE.sub(lambda found: " " * len(found[0]), piece.text)
        for found in pattern.finditer(text):
            if found[0] not in item.spellings:
                start = piece.column + found.start()
                yield Span(piece.line, start, piece.line, start + len(found[0])), found[0], True


def _everywhere(subject: TextFile, words: list[str]) -> Iterator[tuple[Span, str, bool]]:
    for number, line in enumerate(subject.lines if words else (), 1):
        for word in words:
            for found in re.finditer(re.escape(word), line):
                yield Span(number, found.start() + 1, number, found.end() + 1), word, False


@lru_cache(maxsize=64)
def _pattern(spellings: tuple[str, ...], wrong: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(
        sorted({re.escape(word.lower()) for word in (*spellings, *wrong)}, key=len, reverse=True)
    )
    # ASCII: Chinese is written without spaces around a name. A dot or a slash is part of a name when something follows it: "verl.trainer", and not "in verl."
    return re.compile(rf"(?<![\w./$@#=:-])(?:{words})(?![\w/@=(-]|[.:]\w)", re.IGNORECASE | re.ASCII)


def _nearest(said: str, spellings: tuple[str, ...]) -> str:
    """The right spelling that differs in the fewest letters."""
    # So that a name at the start of a title keeps its capital.
    return min(spellings, key=lambda word: sum(a != b for a, b in zip(word, said, strict=False)))
