"""The flat configuration while the overrides of a command line are applied to it, as Hydra would.

Source of the rules: hydra/_internal/config_loader_impl.py, ``_apply_overrides_to_config``; omegaconf ``update`` and ``select``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.schema.hydra.flatten import kinds_of
from example_sanity.schema.hydra.model import Composition, Leaf

if TYPE_CHECKING:
    from example_sanity.launch.settings import Setting

_REFERENCE = regex(r"\$\{([A-Za-z_][\w.]*)\}")
_SELECT = regex(r"\$\{oc\.select:\s*([\w.]+)\s*(?:,\s*(.*))?\}")


class State:
    """All keys that exist, each with what is known of it."""

    def __init__(self, composition: Composition) -> None:
        """Begin with the configuration as composed."""
        self.keys = dict(composition.keys)
        self.closed = composition.closed
        self.needed = composition.needed
        self.added: set[str] = set()
        self.dropped: dict[str, Setting] = {}

    def missing_node(self, key: str) -> str | None:
        """Return the first of the dicts around ``key`` that does not exist, or None when all do."""
        at = key.find(".")
        while at >= 0:
            leaf = self.keys.get(key[:at])
            if leaf is None:
                return key[:at]
            if leaf.kinds[:1] == ("list",) or isinstance(leaf.value, list):
                return None
            at = key.find(".", at + 1)
        return None

    def refuses(self, setting: Setting) -> bool:
        """Return whether Hydra ends at this word."""
        if "@" in setting.key:
            return True
        if setting.operation == "delete":
            return self.is_null(setting.key)
        if setting.operation == "add":
            return not self.is_null(setting.key) and not isinstance(setting.value, (dict, list))
        return setting.operation != "force" and not self.accepts(setting)

    def apply(self, setting: Setting) -> None:
        """Do what Hydra does with a word that it does not refuse."""
        if setting.operation == "delete":
            self.drop(setting.key, setting)
        else:
            self.put(setting)

    def accepts(self, setting: Setting) -> bool:
        """Return whether Hydra lets the word set its key: without a plus only what exists can be set."""
        key = setting.key
        if not self._exists(key):
            return False
        value = setting.value
        if isinstance(value, dict) and self._is_dict(key):
            return all(self._exists(f"{key}.{name}") for name in _names(value))
        return True

    def _exists(self, key: str) -> bool:
        if key in self.keys:
            return True
        parent, _, name = key.rpartition(".")
        leaf = self.keys.get(parent)
        return (
            leaf is not None
            and isinstance(leaf.value, list)
            and name.isdigit()
            and int(name) < len(leaf.value)
        )

    def _is_dict(self, key: str) -> bool:
        leaf = self.keys.get(key)
        return leaf is not None and isinstance(leaf.value, dict)

    def is_null(self, key: str) -> bool:
        """Return whether a key holds nothing, references resolved: then a plus may stand in front of it."""
        leaf = self.keys.get(key)
        return leaf is None or self._resolved(leaf.value) is None

    def _resolved(self, value: object, depth: int = 8) -> object:
        if value == "???":
            return None
        if not isinstance(value, str) or "${" not in value or depth == 0:
            return value
        found, selected = _REFERENCE.fullmatch(value), _SELECT.fullmatch(value)
        if found:
            leaf = self.keys.get(found[1])
            return None if leaf is None else self._resolved(leaf.value, depth - 1)
        if selected:
            leaf = self.keys.get(selected[1])
            known = None if leaf is None else self._resolved(leaf.value, depth - 1)
            default = selected[2]
            return known if known is not None else None if default in (None, "null", "None") else default
        return value

    def put(self, setting: Setting) -> None:
        """Set a key, or add it with all dicts around it."""
        parts = setting.key.split(".")
        for count in range(1, len(parts)):
            node = ".".join(parts[:count])
            leaf = self.keys.get(node)
            if leaf is None or not isinstance(leaf.value, (dict, list)):
                self.keys[node] = Leaf({}, ("dict",))
        self._put(setting.key, setting.value)

    def _put(self, key: str, value: object) -> None:
        old = self.keys.get(key)
        if old is None:
            self.added.add(key)
            self.keys[key] = Leaf(value, kinds_of(value))
        else:
            self.keys[key] = msgspec.structs.replace(old, value=value)
        if isinstance(value, dict):
            self.keys[key] = Leaf({}, ("dict",), self.keys[key].where)
            for name, inner in value.items():
                self._put(f"{key}.{name}", inner)

    def drop(self, key: str, setting: Setting) -> None:
        """Delete a key with all that lies below, and remember what did it."""
        below = f"{key}."
        for name in [name for name in self.keys if name == key or name.startswith(below)]:
            del self.keys[name]
            self.dropped[name] = setting


def _names(value: dict[object, object], prefix: str = "") -> list[str]:
    found = []
    for name, inner in value.items():
        found.append(f"{prefix}{name}")
        if isinstance(inner, dict):
            found += _names(inner, f"{prefix}{name}.")
    return found
