"""SRC010 and SRC011: the title and the text of a pull request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from example_sanity.checks.sources import base
from example_sanity.core.errors import UsageError, did_you_mean
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import PULL_REQUEST_FILE, PullRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.sources.options import PullRequest as Wanted
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_TITLES = '[sources.pull-request]\nmodules = ["ckpt", "doc"]\ntypes = ["feat", "fix"]\nprefixes = ["BREAKING", "N/M"]\n'
_TEXTS = '[sources.pull-request]\ntemplate = ".github/PULL_REQUEST_TEMPLATE.md"\nsections = ["What does this PR do?"]\n'
_TEMPLATE = "### What does this PR do?\n\n> Say what it achieves.\n\n### Test\n"
_SERIES = "N/M"
_BRACKET = regex(r"\s*\[([^\[\]]*)\]")


class PrTitle(Rule):
    """The title of a pull request is not as the project wants it.

    ``example-sanity pr`` judges it. ``[tool.example-sanity.sources.pull-request]`` lists the modules and types of
    ``[MODULES] TYPE: DESCRIPTION``, and what may stand in brackets before, such as ``BREAKING`` or ``N/M`` for the part of a
    series (``[10/N]``); the order of these makes no difference. An empty list of modules names none.
    """

    code = "SRC010"
    name = "pr-title"
    summary = "the title of a pull request is not as the project wants it"
    subject = Subject.PULL_REQUEST
    source = "verl tests/special_sanity/check_pr_title.py"
    bad = (
        Example("[,] fix: resume\n", PULL_REQUEST_FILE, {"example-sanity.toml": _TITLES}),
        Example("[ckpt] fixes resume\n", PULL_REQUEST_FILE, {"example-sanity.toml": _TITLES}),
    )
    good = (
        Example(
            "[BREAKING][10/N][ckpt, doc] fix: resume\n", PULL_REQUEST_FILE, {"example-sanity.toml": _TITLES}
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether titles have a form."""
        wanted = base.options(context).pull_request
        return wanted is not None and bool(wanted.modules and wanted.types)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Read the brackets, the type and the description."""
        assert isinstance(subject, PullRequest)
        wanted = base.options(context).pull_request
        assert wanted is not None
        for message in _title_faults(subject.title, wanted):
            yield self.finding(subject.path, Span(1, 1, 1, len(subject.title) + 1), message)


def _title_faults(title: str, wanted: Wanted) -> Iterator[str]:
    form = f"[{','.join(wanted.modules[:2])}] {wanted.types[0]}: what it does"
    brackets, rest = _brackets(title)
    # In whatever order they stand: only the modules must come last.
    named = [word for word in brackets if not _is_prefix(word, wanted.prefixes)]
    kinds = [_SERIES if "/" in word else word.upper() for word in brackets if word not in named]
    for kind in sorted({kind for kind in kinds if kinds.count(kind) > 1}):
        yield f"[{kind}] stands there twice"
    if named and brackets[-1] is not named[-1]:
        yield f"[{brackets[-1]}] belongs in front of [{named[0]}]"
    if len(named) > 1:
        yield f"name all modules in one pair of brackets: [{', '.join(named)}]"
    if not named:
        yield f"the title names no module; it should look like {form!r}"
    for word in named:
        yield from _module_faults(word, wanted)
    yield from _type_faults(rest if named else f" {rest}", wanted, form)


def _brackets(title: str) -> tuple[list[str], str]:
    """What stands in the brackets that a title begins with, and the rest."""
    words, at = [], 0
    while found := _BRACKET.match(title, at):
        words.append(found[1].strip())
        at = found.end()
    return words, title[at:]


def _is_prefix(word: str, prefixes: tuple[str, ...]) -> bool:
    series = _SERIES in prefixes and re.fullmatch(r"\d+/(?:\d+|[nN])", word)
    return bool(series) or word.upper() in {prefix.upper() for prefix in prefixes if prefix != _SERIES}


def _module_faults(text: str, wanted: Wanted) -> Iterator[str]:
    modules = [word.strip() for word in text.split(",")]
    if not all(modules):
        yield f"[{text}] names {'no module' if not any(modules) else 'an empty module'}; there are: {', '.join(wanted.modules)}"
    for word in filter(None, modules):
        if word.lower() not in wanted.modules:
            hint = did_you_mean(word, wanted.modules)
            yield f"there is no module {word!r}{hint}; there are: {', '.join(wanted.modules)}"


def _type_faults(rest: str, wanted: Wanted, form: str) -> Iterator[str]:
    found = re.fullmatch(r"(\s*)(\w+)\s*:(\s*)(.*)", rest)
    if found is None:
        yield f"behind the modules the title needs a type and a colon, as in {form!r}; types are: {', '.join(wanted.types)}"
        return
    if found[2].lower() not in wanted.types:
        hint = did_you_mean(found[2], wanted.types)
        yield f"there is no type {found[2]!r}{hint}; there are: {', '.join(wanted.types)}"
    if not found[4].strip():
        yield f"the title says nothing behind {found[2]!r}"
    elif not found[1] or not found[3]:
        yield f"the type stands between spaces, as in {form!r}"


class PrBody(Rule):
    """The text of a pull request says no more than the template.

    ``example-sanity pr`` judges it. Of each of ``sections`` in ``[tool.example-sanity.sources.pull-request]`` something
    must be written that the template does not say there; comments and blank lines do not count. An empty text, and one
    without the section, says nothing.
    """

    code = "SRC011"
    name = "pr-body"
    summary = "the text of a pull request says no more than the template"
    subject = Subject.PULL_REQUEST
    source = "verl tests/special_sanity/check_pr_description.py"
    bad = (
        Example(
            f"fix resume\n\n\n{_TEMPLATE}",
            PULL_REQUEST_FILE,
            {"example-sanity.toml": _TEXTS, ".github/PULL_REQUEST_TEMPLATE.md": _TEMPLATE},
        ),
    )
    good = (
        Example(
            "fix resume\n\n### What does this PR do?\n\nResumes from the last step.\n",
            PULL_REQUEST_FILE,
            {"example-sanity.toml": _TEXTS, ".github/PULL_REQUEST_TEMPLATE.md": _TEMPLATE},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the project has a template."""
        wanted = base.options(context).pull_request
        return wanted is not None and bool(wanted.template)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Compare each section with that of the template."""
        assert isinstance(subject, PullRequest)
        wanted = base.options(context).pull_request
        assert wanted is not None
        template = _sections(_template(wanted.template, context))
        for section in wanted.sections:
            if section not in template:
                known = did_you_mean(section, [name for name in template if name])
                raise UsageError(f"sources.pull-request: {wanted.template} has no section {section!r}{known}")
        written = _sections(subject.body)
        if not any(lines for _, lines in written.values()):
            yield self.finding(
                subject.path, Span(1, 1, 1, len(subject.title) + 1), "the text of the pull request is empty"
            )
            return
        for section in wanted.sections or ("",):
            yield from self._compared(subject, section, written, template)

    def _compared(
        self, subject: PullRequest, section: str, written: _Sections, template: _Sections
    ) -> Iterator[Finding]:
        at, lines = written.get(section, (0, []))
        said = [line for line in lines if line not in template.get(section, (0, []))[1]]
        if said:
            return
        span = Span(subject.body_line + at, 1, subject.body_line + at, 1)
        if section and section not in written:
            yield self.finding(
                subject.path, span, f"the text has no section {section!r}; say there what the change does"
            )
        else:
            where = f"section {section!r}" if section else "the text"
            yield self.finding(
                subject.path, span, f"{where} says no more than the template; replace what stands there"
            )


_Sections = dict[str, tuple[int, list[str]]]


def _template(path: str, context: Context) -> str:
    if path not in context.project.all_files:
        hint = did_you_mean(path, context.project.all_files)
        raise UsageError(f"sources.pull-request: there is no template {path}{hint}")
    return context.project.text(path)


def _sections(text: str) -> _Sections:
    """The lines of each section of a Markdown text by its heading, without those that say nothing, and where it begins."""
    # A comment of the template is not shown to a reader; its lines stay, for the numbers of the others.
    bare = re.sub(r"<!--.*?-->", lambda found: re.sub(r"[^\n]", "", found[0]), text, flags=re.DOTALL)
    sections: _Sections = {"": (0, [])}
    current = ""
    for number, line in enumerate(bare.splitlines()):
        heading = re.fullmatch(r"#{1,6}\s+(.*?)\s*#*", line.strip())
        if heading:
            current = heading[1]
            sections.setdefault(current, (number, []))
        elif line.strip() and not re.fullmatch(r"[>\-*\s]+", line.strip()):
            sections[current][1].append(line.strip())
    return sections
