"""The page of the documentation with every backend: its keys and constraints, made from what the backends declare."""

from __future__ import annotations

from collections.abc import Iterator

from example_sanity.parallel import unencoded
from example_sanity.parallel.backends import BACKENDS
from example_sanity.parallel.keys import Key
from example_sanity.parallel.mesh import Backend

_INTRODUCTION = """\
<!-- Made by `python -m example_sanity.parallel.page`; the source is `parallel/backends/`. -->

# Backends

Where each backend takes its numbers from, and what it enforces. [The mesh](mesh.md) explains symbols, codes and how to
read a formula. A setting that is left out has the default shown, `-` where it has none. A constraint one of whose
symbols is not known says nothing.
"""
_UNENCODED = """\
## What has no formula

Rules of the backends that are not checked, or not as constraints of their own. The products of FSDP-turbo's sizes are not among
them: its package is not public.
"""


def page() -> str:
    """Return the page as Markdown."""
    lines = [_INTRODUCTION]
    for name in dict.fromkeys(backend.name for backend in BACKENDS):
        roles = [backend for backend in BACKENDS if backend.name == name]
        lines += _backend(roles)
    lines += [_UNENCODED, *unencoded.lines()]
    return "\n".join(lines).rstrip("\n") + "\n"


def _backend(roles: list[Backend]) -> Iterator[str]:
    first = roles[0]
    yield f"## {first.title}"
    yield ""
    if len(roles) > 1:
        yield f"Roles: {', '.join(backend.role for backend in roles)}. The settings are those of the {first.role}."
        yield ""
    yield "| symbol | setting | default |"
    yield "|---|---|---|"
    for key in (*first.keys, *first.world, *first.facts):
        yield f"| `{key.symbol}` | {_settings(key)} | {'-' if key.default is None else key.default} |"
    yield ""
    for symbol, text in first.lets:
        yield f"- `{symbol} = {text}`"
    if first.lets:
        yield ""
    yield "| id | constraint | reported as | when violated | source |"
    yield "|---|---|---|---|---|"
    rules = {rule.id: rule for backend in roles for rule in backend.constraints}
    for rule in rules.values():
        yield f"| {rule.id} | `{rule.formula}` | {rule.code} | {rule.outcome} | `{rule.source}` |"
    yield ""


def _settings(key: Key) -> str:
    return ", ".join(f"`{name}`" for name in key.settings)


if __name__ == "__main__":
    print(page(), end="")
