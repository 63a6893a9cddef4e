"""From what Hydra composed to the flat form: keys, defaults, types, places, and which dicts become objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from example_sanity.core.regex import regex
from example_sanity.schema.hydra.classes import Classes, ClassInfo, Field
from example_sanity.schema.hydra.model import Composition, Leaf

if TYPE_CHECKING:
    from example_sanity.schema.hydra.compose import Composed
    from example_sanity.schema.hydra.roots import Roots

_BUILT = regex(rb"(?:omega_conf_to_dataclass|\binstantiate)\(\s*([\w.]+)")


def flatten(composed: Composed, roots: Roots, classes: Classes) -> Composition:
    """Return the flat form."""
    result = Composition({}, dict(composed.groups))
    _Flattening(result, _shown(composed, roots), classes).add(composed.data, "", None)
    return result


def _shown(composed: Composed, roots: Roots) -> dict[str, str]:
    """Return where each key stands as messages show it; Hydra's own files are no place that a reader looks for."""
    files = {path: roots.shown(Path(path)) for path in {path for path, _ in composed.places.values()}}
    return {
        key: f"{shown}:{line}"
        for key, (path, line) in composed.places.items()
        if not (shown := files[path]).startswith("/")
    }


class _Flattening:
    """A walk over plain data; there are thousands of keys, so it calls little for each."""

    def __init__(self, result: Composition, places: dict[str, str], classes: Classes) -> None:
        self.result, self.places, self.classes = result, places, classes

    def add(self, node: dict[Any, Any], prefix: str, info: ClassInfo | None) -> None:
        """Add what lies below a node, whose class is ``info``."""
        keys, places = self.result.keys, self.places
        for name, value in node.items():
            key = f"{prefix}{name}"
            owner = info.fields.get(key.rpartition(".")[2]) if info else None
            if isinstance(value, dict):
                keys[key] = _leaf({}, places.get(key, ""), owner)
                self._enter(key, value)
            else:
                keys[key] = _leaf(value, places.get(key, ""), owner)

    def _enter(self, key: str, value: dict[Any, Any]) -> None:
        target = value.get("_target_")
        inner = self.classes.get(target) if isinstance(target, str) else None
        if inner is not None:
            self.result.closed[key] = tuple(sorted(inner.fields)) if inner.whole else ()
            needed = tuple(sorted(name for name, item in inner.fields.items() if item.required))
            if inner.whole and needed:
                self.result.needed[key] = needed
        self.add(value, f"{key}.", inner)


def _leaf(value: Any, where: str, field: Field | None) -> Leaf:
    if field is not None and field.kinds:
        kinds = field.kinds if value is not None else tuple(dict.fromkeys((*field.kinds, "null")))
        return Leaf(value, kinds, where, field.choices, field.note, declared=True, refused=field.refused)
    if field is None:
        return Leaf(value, kinds_of(value), where)
    return Leaf(value, kinds_of(value), where, field.choices, field.note, refused=field.refused)


def kinds_of(value: Any) -> tuple[str, ...]:
    """Return the kinds that a default suggests: none for null, a missing value or an interpolation."""
    if value is None or value == "???" or (isinstance(value, str) and "${" in value):
        return ()
    return ("list" if isinstance(value, tuple) else type(value).__name__,)


def built_names(folder: Path) -> frozenset[str]:
    """Return the last names of what the Python files below a folder turn into objects.

    ``omega_conf_to_dataclass(self.config.actor)`` gives ``actor``. A name says less than data flow, but a node that no
    call names is never built.
    """
    names: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        # Few files have such a call, and to look for a word is much faster than to look for a pattern.
        if b"omega_conf_to_dataclass(" in data or b"instantiate(" in data:
            names.update(found.decode().rpartition(".")[2] for found in _BUILT.findall(data))
    # A local variable is mostly named after the node: rollout_config, model_config.
    return frozenset(names | {name.removesuffix("_config").removesuffix("_cfg") for name in names})
