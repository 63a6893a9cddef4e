"""SRC001: the licence notice at the top of a file."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.core.commentstyles import Style, style_of, top_comments
from example_sanity.core.errors import nearest
from example_sanity.core.finding import Edit, Fix, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from example_sanity.checks.sources.options import Licence
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_YEAR = r"(?:19|20)\d\d"
_YEARS = rf"{_YEAR}(?:\s*[-\u2013,]\s*(?:{_YEAR}|present))*"
_CLAIM = regex(r"copyright\b.*\b(?:19|20)\d\d|\(c\)\s*(?:19|20)\d\d|©|copyright \(c\)|copyright held", re.I)
_SPDX = regex(r"SPDX-License-Identifier:\s*([^\s*][^*\n]*?)\s*(?:\*/|-->|$)")
# What must be the first thing in a file: an interpreter, an encoding, a parser's own mark.
_STAYS_FIRST = regex(r"#!|<\?xml|#.*?coding[:=]|# syntax=|---\s*$")
_CONFIG = '[sources.licence]\nnotices = ["Copyright {year} Example Ltd."]\ntemplate = "Copyright {year} Example Ltd."\n'


class LicenceHeader(Rule):
    """A file does not start with a licence notice.

    The notice must stand in the comments (or the docstring) that the file starts with: a notice further down, or one in
    a string of the program, licenses nothing. Which files need one, whose notices count and which SPDX identifiers is
    said in ``[tool.example-sanity.sources.licence]``; ``{year}`` in a notice stands for a year, or for several such as
    "2023-2024". The fix inserts ``template`` below a shebang line; a file with a notice of somebody else is left alone.
    """

    code = "SRC001"
    name = "licence-header"
    summary = "a file does not start with a licence notice"
    subject = Subject.TEXT
    source = "verl tests/special_sanity/check_license.py; https://reuse.software/spec-3.3/"
    bad = (
        Example('NOTICE = "Copyright 2025 Example Ltd."\n', "src/tool.py", {"example-sanity.toml": _CONFIG}),
    )
    good = (
        Example(
            '#!/usr/bin/env python3\n# Copyright 2025 Example Ltd.\n"""A tool."""\n',
            "src/tool.py",
            {"example-sanity.toml": _CONFIG},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file needs a notice."""
        wanted = base.options(context).licence
        return (
            wanted is not None
            and bool(wanted.notices or wanted.spdx)
            and base.among(path, wanted.paths, wanted.exclude)
            and style_of(path) is not None
        )

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look for a known notice among the first comments."""
        assert isinstance(subject, TextFile)
        wanted = base.options(context).licence
        assert wanted is not None
        top = [
            (number, line)
            for number, line in top_comments(subject.path, subject.text)
            if number <= wanted.within
        ]
        fault = _notice_fault(top, wanted, subject) or _spdx_fault(top, wanted)
        if fault:
            span, message = fault
            fix = _fix(subject, wanted) if span == Span() else None
            yield self.finding(subject.path, span, message, fix=fix)


def _notice_fault(
    top: Sequence[tuple[int, str]], wanted: Licence, subject: TextFile
) -> tuple[Span, str] | None:
    if not wanted.notices or any(_notice(text).search(line) for text in wanted.notices for _, line in top):
        return None
    for number, line in top:
        if _CLAIM.search(line):
            return Span(number, 1, number, len(line) + 1), _unknown(line, wanted.notices)
    # Whoever put it elsewhere believes that the file has one.
    deeper = _deeper(subject, wanted)
    return (
        Span(),
        f"the file does not start with a licence notice{deeper}; put {_shown(wanted)!r} into its first comment",
    )


def _unknown(line: str, notices: Sequence[str]) -> str:
    said = line.strip(" #*/;-\t")
    best = nearest(said, notices, cutoff=0) or notices[0]
    return f"no accepted licence notice: {said!r}; the nearest accepted one is {best.replace('{year}', 'YEAR')!r}"


def _deeper(subject: TextFile, wanted: Licence) -> str:
    """Where the text holds a notice that does not count."""
    for number, line in enumerate(subject.lines, 1):
        if any(_notice(text).search(line) for text in wanted.notices):
            return f" (what line {number} says counts only in the comments at the top, within {wanted.within} lines)"
    return ""


def _shown(wanted: Licence) -> str:
    return (wanted.template or wanted.notices[0]).strip().partition("\n")[0].replace("{year}", "YEAR")


def _spdx_fault(top: Sequence[tuple[int, str]], wanted: Licence) -> tuple[Span, str] | None:
    if not wanted.spdx:
        return None
    known = " or ".join(wanted.spdx)
    for number, line in top:
        found = _SPDX.search(line)
        if found:
            if found[1] in wanted.spdx:
                return None
            return Span(
                number, 1, number, len(line) + 1
            ), f"the licence is {found[1]}, and it should be {known}"
    return (
        Span(),
        f"the first comment does not name the licence; add 'SPDX-License-Identifier: {wanted.spdx[0]}'",
    )


@lru_cache(maxsize=256)
def _notice(text: str) -> re.Pattern[str]:
    # Editors wrap and align notices, so any stretch of spaces will do.
    parts = [re.escape(part) for part in re.split(r"\{year\}", text)]
    return re.compile(_YEARS.join(re.sub(r"(?:\\ )+", r"\\s+", part) for part in parts))


def _fix(subject: TextFile, wanted: Licence) -> Fix | None:
    """Insert the template, where the file claims no other licence anywhere."""
    style = style_of(subject.path)
    if not wanted.template or style is None or _CLAIM.search(subject.text) or _SPDX.search(subject.text):
        return None
    from datetime import date

    text = wanted.template.replace("{year}", str(date.today().year))
    lines = subject.lines
    at = next(
        (n for n, line in enumerate(lines) if not _STAYS_FIRST.match(line.lstrip("\ufeff"))), len(lines)
    )
    following = lines[at].strip() if at < len(lines) else ""
    block = "".join(f"{line}\n" for line in _commented(text, style))
    place = Span(at + 1, 1, at + 1, 1)
    gap = "\n" if following and not following.startswith(style.line.strip() or "\0") else ""
    return Fix("insert the licence notice", (Edit(subject.path, place, block + gap),))


def _commented(text: str, style: Style) -> Iterator[str]:
    lines = text.rstrip("\n").split("\n")
    if style.line:
        mark = style.line if style.line.endswith(" ") else f"{style.line} "
        yield from (f"{mark}{line}".rstrip() for line in lines)
    else:
        yield style.opening
        yield from lines
        yield style.closing
