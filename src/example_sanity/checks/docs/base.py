"""What the rules of the family share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from example_sanity.checks.docs.options import DocsOptions
from example_sanity.core.patterns import Syntax, predicate
from example_sanity.core.rule import Context, Rule, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether one of the patterns names a path; a later one with ``!`` takes back what an earlier one named."""
    found = False
    for pattern in patterns:
        if predicate(pattern, Syntax.GITIGNORE)(path):
            found = not pattern.startswith("!")
    return found


def options(context: Context) -> DocsOptions:
    """Return the options of the family."""
    return context.options("docs", DocsOptions)


class DocumentRule(Rule):
    """A rule on documents that are no templates and do not only tell of the past."""

    subject = Subject.DOCUMENT

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge documents that are neither templates nor historical."""
        judged: dict[str, bool] = context.cache.setdefault("docs judged", {})
        if path not in judged:
            # The links of a template are those of the pages that are made of it.
            is_template = "_templates" in path.split("/")
            judged[path] = not is_template and not matches(path, options(context).historical)
        return judged[path]

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Judge one document."""
        yield from self._judge(cast("Document", subject), context)

    def _judge(self, document: Document, context: Context) -> Iterable[Finding]:
        """Return what is wrong with a document."""
        raise NotImplementedError
