"""SRC007: every key of a YAML file has a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.checks.sources import base
from example_sanity.core.finding import Edit, Fix, Span
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.textfiles import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from yaml.nodes import Node

    from example_sanity.checks.sources.options import YamlComments
    from example_sanity.core.finding import Finding
    from example_sanity.core.rule import Context

_CONFIG = '[sources.yaml-comments]\nfiles = ["/config/ppo.yaml"]\nblank-line = true\ninline = false\n'


class Key(NamedTuple):
    """A key of a block mapping: where it stands (lines from 0), where its value ends, whether that is on further lines."""

    name: str
    line: int
    column: int
    end_column: int
    last_line: int
    last_column: int
    nested: bool
    in_item: bool


class YamlKeyComment(Rule):
    """A key of a YAML file has no comment above it.

    Configuration files are the only place where many settings are explained. ``[tool.example-sanity.sources.yaml-comments]``
    names the files, and may want a blank line behind each key (``blank-line``) and no comments behind values
    (``inline = false``). The file is read as YAML: quoted keys and keys with hyphens are keys, and a ``#`` inside a string
    is no comment. A bare ``#`` explains nothing. The fix inserts blank lines.
    """

    code = "SRC007"
    name = "yaml-key-comment"
    summary = "a key of a YAML file has no comment above it"
    subject = Subject.TEXT
    source = "verl tests/special_sanity/test_config_docs.py"
    bad = (
        Example(
            "# Learning rate.\nlr: 1.0\n\nsteps: 3\n", "config/ppo.yaml", {"example-sanity.toml": _CONFIG}
        ),
    )
    good = (
        Example(
            '# Learning rate.\nlr: 1.0\n\n# What it is called.\n"run-name": "a #1"\n',
            "config/ppo.yaml",
            {"example-sanity.toml": _CONFIG},
        ),
    )

    @classmethod
    def applies(cls, path: str, context: Context) -> bool:
        """Return whether the keys of the file need comments."""
        wanted = base.options(context).yaml_comments
        return wanted is not None and path.endswith((".yaml", ".yml")) and base.among(path, wanted.files)

    def check(self, subject: object, context: Context) -> Iterable[Finding]:
        """Look at the lines around every key."""
        assert isinstance(subject, TextFile)
        wanted = base.options(context).yaml_comments
        assert wanted is not None
        lines = subject.text.split("\n")
        try:
            keys = list(block_keys(subject.text))
        except ValueError as error:
            yield self.finding(
                subject.path, Span(), f"the file is not valid YAML, so its keys cannot be judged: {error}"
            )
            return
        for key in keys:
            if wanted.list_items or not key.in_item:
                yield from self._judged(subject.path, key, lines, wanted)

    def _judged(self, path: str, key: Key, lines: list[str], wanted: YamlComments) -> Iterator[Finding]:
        span = Span(key.line + 1, key.column + 1, key.line + 1, key.end_column + 1)
        above = lines[key.line - 1].strip() if key.line else ""
        if not re.match(r"#.*\w", above):
            what = "only a bare '#'" if above.startswith("#") else "no comment"
            yield self.finding(path, span, f"{key.name!r} has {what} above it")
        if not wanted.inline and (found := _inline(key, lines)):
            place, text = found
            yield self.finding(
                path, place, f"the comment {text!r} stands behind a value; put it above {key.name!r}"
            )
        last = key.line if key.nested else key.last_line
        if wanted.blank_line and last + 1 < len(lines) and lines[last + 1].strip():
            place = Span(last + 2, 1, last + 2, 1)
            repair = Fix("insert a blank line", (Edit(path, place, "\n"),))
            yield self.finding(path, span, f"no blank line follows {key.name!r}", fix=repair)


def _inline(key: Key, lines: list[str]) -> tuple[Span, str] | None:
    line, start = (key.line, key.end_column) if key.nested else (key.last_line, key.last_column)
    found = re.compile(r"(?:^|[\s:])(#.*)").search(lines[line], start) if line < len(lines) else None
    # The last line of a block scalar is text, whatever it looks like.
    if found is None or (line != key.line and not lines[line][:start].strip()):
        return None
    return Span(line + 1, found.start(1) + 1, line + 1, len(lines[line]) + 1), found[1].strip()


def block_keys(text: str) -> list[Key]:
    """Return the keys of all block mappings of a YAML text, in order. Raises ValueError for a text that is none."""
    import yaml

    try:
        documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error).replace("\n", " ")) from error
    lines = text.split("\n")
    return [key for document in documents for key in _keys(document, lines, set())]


def _keys(node: Node, lines: list[str], seen: set[int]) -> Iterator[Key]:
    from yaml.nodes import CollectionNode, MappingNode

    # An alias is the node that it stands for.
    if not isinstance(node, CollectionNode) or node.flow_style or id(node) in seen:
        return
    seen.add(id(node))
    for item in node.value:
        if isinstance(node, MappingNode):
            name, value = item
            yield _key(name, value, lines)
            yield from _keys(value, lines, seen)
        else:
            yield from _keys(item, lines, seen)


def _key(name: Node, value: Node, lines: list[str]) -> Key:
    from yaml.nodes import CollectionNode

    start, end, last = name.start_mark, name.end_mark, value.end_mark
    nested = isinstance(value, CollectionNode) and not value.flow_style
    last_line, last_column = last.line, last.column
    if last_line > start.line and last_column == 0:
        # The mark of a block scalar stands where the next token begins.
        last_line = max(n for n in range(start.line, last_line) if n == start.line or lines[n].strip())
        last_column = len(lines[last_line])
    in_item = lines[start.line][: start.column].lstrip().startswith("-")
    return Key(str(name.value), start.line, start.column, end.column, last_line, last_column, nested, in_item)
