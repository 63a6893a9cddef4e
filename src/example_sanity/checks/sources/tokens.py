"""SRC003 and SRC012: words that must not occur in some files, and code that is tied to one kind of accelerator."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import lru_cache
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.checks.sources.options import Rewrite
from example_sanity.checks.sources.rewriting import fix
from example_sanity.checks.sources.words import Word, words
from example_sanity.core.finding import Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PythonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import Banned, Devices
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_BANNED = '[[sources.banned]]\nnames = ["DataProto"]\npaths = ["/engine/"]\nmessage = "use TensorDict"\n'
_DEVICES = '[sources.devices]\npaths = ["/pkg/"]\nmessage = "use pkg.device"\n'


class BannedToken(Rule):
    """An identifier that must not be used in these files.

    ``[[tool.example-sanity.sources.banned]]`` says which identifiers, in which files, and what to use instead. Code is
    read as Python reads it: imports, attributes, arguments and quoted annotations count; a comment or a string that
    mentions the name does not, unless ``in-comments`` or ``in-strings`` says so.
    """

    code = "SRC003"
    name = "banned-token"
    summary = "an identifier is used where it must not be"
    subject = Subject.PYTHON_SOURCE
    source = "verl tests/special_sanity/check_dataproto_usage.py"
    bad = (
        Example("from pkg.protocol import DataProto\n", "engine/base.py", {"example-sanity.toml": _BANNED}),
    )
    good = (
        Example(
            "# DataProto is converted by the caller\n", "engine/base.py", {"example-sanity.toml": _BANNED}
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether something is banned from the file."""
        return any(base.among(path, item.paths, item.exclude) for item in base.options(context).banned)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look at every identifier, and at text where that is asked for."""
        assert isinstance(subject, PythonSource)
        for item in base.options(context).banned:
            here = base.among(subject.path, item.paths, item.exclude)
            for name in item.names if here else ():
                if name.rpartition(".")[2] in subject.text:
                    yield from self._code(subject, item, name)
                    yield from self._text(subject, item, name)

    def _code(self, subject: PythonSource, item: Banned, name: str) -> Iterator[Finding]:
        wanted = tuple(name.split("."))
        rewrites = (Rewrite(name, item.replacement, item.imports),) if item.replacement else ()
        for word in words(subject.tree):
            if _holds(word.parts, wanted):
                span = base.span_of(word.node, subject.lines)
                repair = fix(subject, (word.node, *word.around[:2]), rewrites)
                yield self.finding(
                    subject.path, span, _banned(name, item, "must not be used here"), fix=repair
                )

    def _text(self, subject: PythonSource, item: Banned, name: str) -> Iterator[Finding]:
        kinds = {tokenize.COMMENT: item.in_comments, tokenize.STRING: item.in_strings}
        if not any(kinds.values()):
            return
        pattern = re.compile(rf"\b{re.escape(name)}\b")
        for token in tokenize.generate_tokens(io.StringIO(subject.text).readline):
            # From Python 3.12 on the text of an f-string is a token of its own.
            kind = getattr(tokenize, "FSTRING_MIDDLE", None)
            if kinds.get(tokenize.STRING if token.type == kind else token.type):
                for found in pattern.finditer(token.string):
                    message = _banned(name, item, "must not be mentioned here")
                    yield self.finding(subject.path, _inside(token, found), message)


def _inside(token: tokenize.TokenInfo, found: re.Match[str]) -> Span:
    before = token.string[: found.start()]
    line = token.start[0] + before.count("\n")
    start = len(before.rpartition("\n")[2]) + (0 if "\n" in before else token.start[1]) + 1
    return Span(line, start, line, start + len(found[0]))


def _banned(name: str, item: Banned, what: str) -> str:
    return f"{name} {what}" + (f": {item.message}" if item.message else "")


def _holds(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts) - len(wanted) + 1))


class HardCodedDevice(Rule):
    """Code that works with one kind of accelerator only.

    ``x.cuda()``, ``"cuda:0"`` or ``backend="nccl"`` in code that also runs on other accelerators. Which files that is, and
    what to use instead, is said in ``[tool.example-sanity.sources.devices]``. Quotes and device numbers make no
    difference; comments and docstrings do not count, and neither do longer names such as ``cudagraph_sizes``.
    ``rewrites`` there are used by unsafe fixes.
    """

    code = "SRC012"
    name = "hard-coded-device"
    summary = "code is tied to one kind of accelerator"
    subject = Subject.PYTHON_SOURCE
    source = "verl tests/special_sanity/check_device_api_usage.py"
    bad = (
        Example("batch = batch.cuda()\n", "pkg/worker.py", {"example-sanity.toml": _DEVICES}),
        Example('device = f"cuda:{rank}"\n', "pkg/worker.py", {"example-sanity.toml": _DEVICES}),
    )
    good = (
        Example(
            '"""Moves batches; torch.cuda is not needed."""\n\nbatch = batch.to(device_name())\n',
            "pkg/worker.py",
            {"example-sanity.toml": _DEVICES},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the file is to work on every accelerator."""
        wanted = base.options(context).devices
        return wanted is not None and base.among(path, wanted.paths, wanted.exclude)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look at attributes, imports and whole strings."""
        assert isinstance(subject, PythonSource)
        wanted = base.options(context).devices
        assert wanted is not None
        # Most files name no device, and to walk a tree takes long.
        if not _may_name(wanted.attributes, wanted.strings).search(subject.text):
            return
        for word in words(subject.tree, strings=True):
            said = _device(word, wanted)
            if said:
                advice = f": {wanted.message}" if wanted.message else ""
                span = base.span_of(word.node, subject.lines)
                repair = fix(subject, (*word.around[:2][::-1], word.node), wanted.rewrites)
                yield self.finding(
                    subject.path, span, f"{said} works on one kind of accelerator only{advice}", fix=repair
                )


@lru_cache(maxsize=8)
def _may_name(attributes: tuple[str, ...], strings: tuple[str, ...]) -> re.Pattern[str]:
    """What stands in every text that has one of the attributes behind a dot or in an import, or a string that begins so."""
    names = "|".join(map(re.escape, attributes)) or "(?!)"
    texts = "|".join(map(re.escape, strings)) or "(?!)"
    imported = rf"\bimport\b(?:[ \t]*\([^)]*|(?:[^;\n]|\\\r?\n)*)\b(?:{names})\b"
    return re.compile(rf"\.(?:\s|\\)*(?:{names})\b|{imported}|(?:['\"]|\\\r?\n)(?:{texts})")


def _device(word: Word, wanted: Devices) -> str:
    """What of a word is tied to a device, as it is shown; empty if nothing is."""
    if word.text is not None:
        return repr(word.text) if _names_device(word.text, wanted.strings) else ""
    # A variable called cuda is nobody's device; torch.cuda, in an import too, is one.
    behind = word.parts[1:] if not isinstance(word.node, ast.alias) or len(word.parts) > 1 else ()
    found = next((name for name in wanted.attributes if name in behind), "")
    return ".".join(word.parts).lstrip(".") if found else ""


def _names_device(text: str, names: Iterable[str]) -> bool:
    return any(
        text == name or re.fullmatch(rf"{re.escape(name)}:(?:\d+|\{{.*\}}|auto)?", text) for name in names
    )
