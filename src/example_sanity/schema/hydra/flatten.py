"""From what Hydra composed to the flat form: keys, defaults, types, places, and which dicts become objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from example_sanity.core.regex import regex
from example_sanity.schema.hydra.classes import Classes, ClassInfo, Field
from example_sanity.schema.hydra.model import Composition, Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.schema.hydra.compose import Composed
    from example_sanity.schema.hydra.roots import Roots

_BUILT = regex(rb"(?:omega_conf_to_dataclass|\binstantiate)\(\s*([\w.]+)")


def flatten(composed: Composed, roots: Roots, classes: Classes) -> Composition:
    """Return the flat form."""
    result = Composition({}, dict(composed.groups))
    files = {path: roots.shown(Path(path)) for path in {path for path, _ in composed.places.values()}}
    for key, value, info, inner in _walk(composed.data, "", None, classes):
        place = composed.places.get(key)
        where = f"{files[place[0]]}:{place[1]}" if place else ""
        owner = info.fields.get(key.rpartition(".")[2]) if info else None
        # Hydra's own files are no place that a reader looks for.
        result.keys[key] = _leaf(value, "" if where.startswith("/") else where, owner)
        if inner is not None:
            result.closed[key] = tuple(sorted(inner.fields)) if inner.whole else ()
            needed = tuple(sorted(name for name, item in inner.fields.items() if item.required))
            if inner.whole and needed:
                result.needed[key] = needed
    return result


_Step = tuple[str, Any, "ClassInfo | None", "ClassInfo | None"]


def _walk(node: dict[Any, Any], prefix: str, info: ClassInfo | None, classes: Classes) -> Iterator[_Step]:
    """Yield key, value, the class that the key is a field of, and the class that its dict names."""
    for name, value in node.items():
        key = f"{prefix}{name}"
        if not isinstance(value, dict):
            yield key, value, info, None
            continue
        target = value.get("_target_")
        inner = classes.get(target) if isinstance(target, str) else None
        yield key, {}, info, inner
        yield from _walk(value, f"{key}.", inner, classes)


def _leaf(value: Any, where: str, field: Field | None) -> Leaf:
    if field is not None and field.kinds:
        kinds = field.kinds if value is not None else tuple(dict.fromkeys((*field.kinds, "null")))
        return Leaf(value, kinds, where, field.choices, field.note, declared=True, refused=field.refused)
    known = field or Field()
    return Leaf(value, kinds_of(value), where, known.choices, known.note, refused=known.refused)


def kinds_of(value: Any) -> tuple[str, ...]:
    """Return the kinds that a default suggests: none for null, a missing value or an interpolation."""
    if value is None or value == "???" or (isinstance(value, str) and "${" in value):
        return ()
    return ({"NoneType": "null", "tuple": "list"}.get(type(value).__name__, type(value).__name__),)


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
        names.update(found.decode().rpartition(".")[2] for found in _BUILT.findall(data))
    # A local variable is mostly named after the node: rollout_config, model_config.
    return frozenset(names | {name.removesuffix("_config").removesuffix("_cfg") for name in names})
