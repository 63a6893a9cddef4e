"""Reads what YAML, TOML and JSON files say, without a word about those that cannot be read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping

Data = Mapping[str, object]


def parsed(path: str, text: str | None) -> Data | None:
    """Return the table that a file holds; None for one that is not there, does not parse or holds something else."""
    if text is None:
        return None
    try:
        data = _READERS.get(path.rpartition(".")[2], _yaml)(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def flat(data: Data, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted key and value of every leaf; a list is one."""
    for key, value in data.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def merged(base: Data, over: Data) -> Data:
    """Lay one table over another, key by key."""
    result = dict(base)
    for key, value in over.items():
        inner = result.get(key)
        result[key] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return result


def _toml(text: str) -> object:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _yaml(text: str) -> object:
    import yaml

    from example_sanity.core import yamltext

    try:
        return yamltext.load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


_READERS: Mapping[str, Callable[[str], object]] = {"toml": _toml, "json": json.loads}
