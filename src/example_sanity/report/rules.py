"""The page of the documentation that describes every rule, made from what the rules declare."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from example_sanity.core.rule import Example, Family, Rule

_BANNER = (
    "<!-- Made by `example-sanity rules --format markdown`; the source is the docstring of each rule. -->"
)


def page(families: Sequence[Family]) -> str:
    """Return the page as Markdown."""
    lines = [_BANNER, "", "# Rules", ""]
    lines += [
        "Codes are stable. Every rule can be named by its code or its name, on the command line, in the configuration",
        "and in suppressions. `error`: the run cannot start, hangs or is silently wrong, or a declared convention is",
        "broken; `warning`: probably so; `info`: advice.",
        "",
    ]
    for family in families:
        lines += _family(family)
    return "\n".join(lines).rstrip("\n") + "\n"


def _family(family: Family) -> Iterator[str]:
    yield f"## {family.prefix}: {family.name}"
    yield ""
    yield f"{family.title[0].upper()}{family.title[1:]}."
    yield ""
    yield "| code | name | severity | finds |"
    yield "|---|---|---|---|"
    for rule in family.rules:
        yield f"| [{rule.code}](#{rule.code.lower()}-{rule.name}) | {rule.name} | {rule.severity.value} | {rule.summary} |"
    yield ""
    for rule in family.rules:
        yield from _rule(rule)


def _rule(rule: type[Rule]) -> Iterator[str]:
    yield f"### {rule.code} {rule.name}"
    yield ""
    yield inspect.getdoc(rule) or rule.summary
    yield ""
    if rule.source:
        yield f"Source of the rule: {rule.source}."
        yield ""
    for title, examples in (("Bad", rule.bad), ("Good", rule.good)):
        for example in examples:
            yield from _example(title, example)


def _example(title: str, example: Example) -> Iterator[str]:
    language = {"sh": "bash", "py": "python", "toml": "toml", "yaml": "yaml"}.get(
        example.path.rpartition(".")[2], "text"
    )
    yield f"{title}, `{example.path}`:"
    yield ""
    mark = fence(example.text)
    yield f"{mark}{language}"
    yield example.text.rstrip("\n")
    yield mark
    yield ""


def fence(text: str) -> str:
    """Return a fence of Markdown that no fence inside the text closes."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    return "`" * (longest + 1)
