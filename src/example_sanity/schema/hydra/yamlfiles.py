"""Reads YAML as OmegaConf does, with the C parser, and remembers on which line each key stands."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from example_sanity.core import yamltext
from example_sanity.core.regex import regex

# omegaconf/_utils.py, get_yaml_loader: YAML 1.1 takes 1e-6 for text, and 1_000 or 12:30:00 for numbers.
_FLOAT = regex(
    r"""^(?:
     [-+]?[0-9]+(?:_[0-9]+)*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+)
    |\.[0-9]+(?:_[0-9]+)*(?:[eE][-+][0-9]+)?
    |[-+]?[0-9]+(?:_[0-9]+)*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$""",
    re.VERBOSE,
)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


class YamlFile:
    """One file: its data, the lines of its keys (dotted, from 1), and its first characters."""

    def __init__(self, text: str) -> None:
        loader = _Loader(text)
        try:
            node = yamltext.single_node(loader, text)
            self.lines: dict[str, int] = {}
            self.data: Any = None
            if node is not None:
                _number(node, "", self.lines)
                self.data = loader.construct_document(node)
        finally:
            loader.dispose()
        self.head = text[:512]


def _number(node: yaml.Node, prefix: str, lines: dict[str, int]) -> None:
    if not isinstance(node, yaml.MappingNode):
        return
    seen = set()
    for key, value in node.value:
        if key.tag != "tag:yaml.org,2002:merge" and key.value in seen:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key.value}", key.start_mark)
        seen.add(key.value)
        name = f"{prefix}{key.value}"
        lines[name] = key.start_mark.line + 1
        _number(value, f"{name}.", lines)


@lru_cache(maxsize=512)
def _read(path: str, changed: int, size: int) -> YamlFile:
    del changed, size
    return YamlFile(Path(path).read_text("utf-8"))


def read(path: str) -> YamlFile:
    """Return a file, parsed once as long as it does not change. Raises OSError, ValueError or yaml.YAMLError."""
    found = Path(path).stat()
    return _read(path, found.st_mtime_ns, found.st_size)
