"""DOC013: names of launchers that documents recommend and the naming rules forbid."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import TYPE_CHECKING

from example_sanity.checks.docs.base import DocumentRule
from example_sanity.checks.docs.files import Files, files_of
from example_sanity.checks.docs.mentions import is_placeholder
from example_sanity.checks.naming import (
    ForbiddenToken,
    MissingBackendSuffix,
    NamingOptions,
    ScriptNameShape,
    parse_name,
)
from example_sanity.core.finding import Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example
from example_sanity.core.scope import is_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.checks.docs.model import Document
    from example_sanity.core.finding import Finding

_TEMPLATE = regex(r"(?<![\w./])(?=[\w.-]*[<{])(?:[\w.-]|<[\w -]+>|\{\w+\})+\.(?:sh|bash)\b")
_NEGATED = regex(r"\b(?:not|never|no|instead of|renamed|formerly|removed)\b|n't|\u2192|->", re.IGNORECASE)
_SLOT = regex(r"<([\w -]+)>|\{(\w+)\}")
_BACKEND_SLOT = regex(r"<[\w -]*backend>|\{\w*backend\}", re.IGNORECASE)
_ONE_OF = regex(r"\b(?:one of|either|any of)\b", re.IGNORECASE)
# What a slot of a template is for, by a word in its name, and an example of what would stand there.
_KINDS = {
    "infer": "vllm",
    "rollout": "vllm",
    "engine": "vllm",
    "device": "npu",
    "platform": "npu",
    "machine": "h100",
    "gpu": "h100",
    "precision": "fp8",
    "dtype": "fp8",
    "quant": "fp8",
}
_NAMES = (ScriptNameShape, ForbiddenToken, MissingBackendSuffix)


class DocumentedBadName(DocumentRule):
    """A document recommends a file name for launchers that the naming rules refuse.

    Looked at are templates (``run_<model>_<backend>_<engine>.sh``), with an example put in for each part, and the
    backends that a document lists behind ``<...backend>`` ("one of ..."). Whoever follows the document fails in CI. Only
    where the family ``naming`` is on.
    """

    code = "DOC013"
    name = "documented-bad-name"
    summary = "a document recommends a file name that the naming rules refuse"
    bad = (
        Example("Name it `run_<model>_<backend>_<infer-engine>.sh`.\n", "examples/README.md"),
        Example("`<backend>` is one of `fsdp`, `megatron` or `vllm`.\n", "examples/README.md"),
    )
    good = (
        Example("Name it `run_<model>_<backend>.sh`.\n", "examples/README.md"),
        Example(
            "`<backend>` is one of `fsdp` or `megatron`. Use `vllm` for rollout.\n", "examples/README.md"
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Judge the documents of the folders that naming judges, where it is on."""
        naming = context.options("naming", NamingOptions)
        ignored = context.registry.resolve_all(context.config.ignore, "ignore")
        judged = super().applies(path, context) and any(
            is_below(path, normpath(root)) for root in naming.roots
        )
        return judged and not all(rule.code in ignored for rule in _NAMES)

    def _judge(self, document: Document, context: Context) -> Iterator[Finding]:
        naming = context.options("naming", NamingOptions)
        for text, span in [*_templates(document), *_unused_names(document, naming, files_of(context))]:
            message = next(_refusals(_filled(text, naming), naming), None)
            if message:
                yield self.finding(document.path, span, f"the naming rules refuse {text}: {message}")
        yield from self._lists(document, naming)

    def _lists(self, document: Document, naming: NamingOptions) -> Iterator[Finding]:
        """Judge the backends in sentences that say what ``<...backend>`` may be."""
        for index, slot in enumerate(document.codes):
            if not _BACKEND_SLOT.fullmatch(slot.text):
                continue
            sentence = _sentence(document, slot.span)
            if not _ONE_OF.search(sentence):
                continue
            for piece in document.codes[index + 1 :]:
                if f"`{piece.text}`" not in sentence or not re.fullmatch(r"[a-z]\w*", piece.text):
                    break
                if piece.text not in naming.backends:
                    allowed = ", ".join(naming.backends)
                    yield self.finding(
                        document.path,
                        piece.span,
                        f"the naming rules know no backend {piece.text}, only {allowed}",
                    )


def _unused_names(document: Document, naming: NamingOptions, files: Files) -> Iterator[tuple[str, Span]]:
    """Yield the names of launchers that no file has: they are examples of how to call one."""
    for piece in document.codes:
        shaped = piece.text.startswith(naming.prefix) and piece.text.endswith(naming.extension)
        known = not re.fullmatch(r"[\w.-]+", piece.text) or piece.text in files.by_name
        if shaped and not known and not _NEGATED.search(piece.line) and not is_placeholder(piece.text):
            yield piece.text, piece.span


def _templates(document: Document) -> Iterator[tuple[str, Span]]:
    """Yield the file names with a part to fill in, in inline code and in blocks that are no commands."""
    places = [(piece.text, piece.span.line, piece.span.column) for piece in document.codes]
    places += [(line.text, line.line, line.column) for block in document.blocks for line in block.lines]
    for text, number, column in sorted(places, key=lambda place: place[1:]):
        for found in _TEMPLATE.finditer(text):
            start = column + found.start()
            yield found[0], Span(number, start, number, start + len(found[0]))


def _filled(template: str, naming: NamingOptions) -> str:
    """Put an example into each part of a template; the prefix of the convention stands for one that is left out."""

    def example(found: re.Match[str]) -> str:
        words = (found[1] or found[2]).lower()
        if "train" in words or words.replace("-", "_") in ("backend", "training_backend"):
            return naming.backends[0]
        kind = next((value for word, value in _KINDS.items() if word in words), None)
        return kind or (naming.backends[0] if "backend" in words else "model7b")

    return _SLOT.sub(example, template)


def _refusals(name: str, naming: NamingOptions) -> Iterator[str]:
    parsed = parse_name(name, naming)
    for rule in _NAMES:
        yield from rule()._messages(parsed, naming)


def _sentence(document: Document, span: Span) -> str:
    """The text from a place to the end of its sentence, at most six lines of it."""
    lines = [document.lines[span.line - 1][span.column - 1 :], *document.lines[span.line : span.line + 5]]
    text = " ".join(line.strip() for line in lines)
    return re.split(r"\.(?=\W*(?:\s|$))", text, maxsplit=1)[0]
