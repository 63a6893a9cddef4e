"""SHL004: characters that look like others, or like nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.shell.base import TextRule
from example_sanity.core.finding import Edit, Finding, Fix
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.shell.base import Text


class _Character(NamedTuple):
    name: str
    replacement: str
    effect: str
    quoted_too: bool  # whether it is wrong inside quotes as well


_SPACE = "bash does not split words at it"
_NOTHING = "it becomes part of the word, where nobody sees it"
_LITERAL = "bash takes it for an ordinary character, so nothing is quoted"
_WORD = "the program gets it as part of a word, not as an option"
_CHARACTERS = {
    "\u00a0": _Character("no-break space", " ", _SPACE, quoted_too=True),
    "\u202f": _Character("narrow no-break space", " ", _SPACE, quoted_too=True),
    "\u3000": _Character("ideographic space", " ", _SPACE, quoted_too=False),
    "\u200b": _Character("zero-width space", "", _NOTHING, quoted_too=True),
    "\u200c": _Character("zero-width non-joiner", "", _NOTHING, quoted_too=False),
    "\u200d": _Character("zero-width joiner", "", _NOTHING, quoted_too=False),
    "\u2060": _Character("word joiner", "", _NOTHING, quoted_too=True),
    "\u00ad": _Character("soft hyphen", "", _NOTHING, quoted_too=True),
    "\ufeff": _Character("byte order mark", "", _NOTHING, quoted_too=True),
    "\u2018": _Character("curly quote", "'", _LITERAL, quoted_too=False),
    "\u2019": _Character("curly quote", "'", _LITERAL, quoted_too=False),
    "\u201c": _Character("curly quote", '"', _LITERAL, quoted_too=False),
    "\u201d": _Character("curly quote", '"', _LITERAL, quoted_too=False),
    "\u2013": _Character("en dash", "--", _WORD, quoted_too=False),
    "\u2014": _Character("em dash", "--", _WORD, quoted_too=False),
    "\u2212": _Character("minus sign", "-", _WORD, quoted_too=False),
}
_DASHES = "\u2013\u2014\u2212"
_FOUND = regex(b"|".join(re.escape(character.encode()) for character in _CHARACTERS))
_RETURN = regex(rb"\r(?=\n|\Z)")


class InvisibleCharacter(TextRule):
    """A character that looks like another one or like nothing: a no-break space, a zero-width space, a curly quote.

    They come from web pages and word processors. Bash gives them no meaning, so they end up inside words. Lines that end
    in a carriage return count, too, where only some do (a file that is all CRLF is SYS003). Comments are not judged, and
    curly quotes and dashes only outside quotes.
    """

    code = "SHL004"
    name = "invisible-character"
    summary = "a character that looks like another one, or like nothing"
    bad = (
        Example("python3\u00a0train.py\n"),
        Example("python3 train.py \u2013lr 1e-6\n"),
        Example("\ufeff#!/bin/bash\npython3 train.py\n"),
    )
    good = (
        Example("# a\u00a0comment \u2014 with \u201cquotes\u201d\npython3 train.py\n"),
        Example("echo 'prices \u2013 and \u201cquotes\u201d'\npython3 train.py\n"),
    )

    def _judge(self, text: Text, context: Context) -> Iterator[Finding]:
        if not text.data.isascii():
            for match in _FOUND.finditer(text.data):
                yield from self._character(text, match)
        yield from self._returns(text)

    def _character(self, text: Text, match: re.Match[bytes]) -> Iterator[Finding]:
        sign = match[0].decode()
        found = _CHARACTERS[sign]
        kind = text.kind_at(match.start())
        first = match.start() == 0
        if not first and (kind in ("comment", "heredoc") or (kind == "quoted" and not found.quoted_too)):
            return
        if sign in _DASHES and text.data[match.start() - 1 : match.start()] not in (b" ", b"\t", b"\n"):
            return
        effect = "the kernel does not see the #! line" if first else found.effect
        span = text.span(match.start(), match.end())
        # Nothing, or a plain space, is what stands there for everybody who reads the file.
        safe = found.replacement.strip() == ""
        repair = Edit(text.script.path, span, found.replacement)
        yield self.finding(
            text.script.path,
            span,
            f"U+{ord(sign):04X} ({found.name}): {effect}; "
            f"{f'write {found.replacement!r}' if found.replacement else 'delete it'}",
            fix=Fix(f"replace the {found.name}", (repair,), safe=safe),
        )

    def _returns(self, text: Text) -> Iterator[Finding]:
        places = [match.start() for match in _RETURN.finditer(text.data)]
        places = [place for place in places if text.kind_at(place) != "comment"]
        if not places:
            return
        spans = [text.span(place, place + 1) for place in places]
        others = f", and {len(places) - 1} more" if len(places) > 1 else ""
        yield self.finding(
            text.script.path,
            spans[0],
            f"line {spans[0].line}{others} ends in a carriage return, which is part of the last word for bash; delete it",
            fix=Fix("delete carriage returns", tuple(Edit(text.script.path, span, "") for span in spans)),
        )
