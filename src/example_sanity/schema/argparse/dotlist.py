"""Programs that read ``key=value`` words with ``OmegaConf.from_cli()`` and lay them over a configuration of their own.

Laid over a structured configuration (a dataclass) a key that is none of its fields is refused
(omegaconf 2.3, ``OmegaConf.structured``, struct mode); laid over a YAML file alone it is taken and may be read by nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.schema.argparse.dataclass_fields import Described, Field, describe, fields
from example_sanity.schema.argparse.values import UNKNOWN, Class, External, Instance, Value, options
from example_sanity.schema.hydra.model import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from example_sanity.schema.argparse.interpreter import Interpreter
    from example_sanity.schema.argparse.plain import Call

_DEEPEST = 8
_KINDS = {"int": "int", "float": "float", "str": "str", "bool": "bool", "Path": "str"}
_READS = frozenset({"get", "pop"})


class Words(msgspec.Struct, eq=False):
    """What ``from_cli()`` returned. ``own`` are keys that the program reads there itself; ``lost`` that others got it."""

    own: set[str] = field(default_factory=set)
    lost: bool = False

    def attribute(self, name: str) -> None:
        """Note a key that is read as an attribute."""
        if name not in dir(dict):
            self.own.add(name)


class Structured(msgspec.Struct, frozen=True):
    """A configuration made of a dataclass."""

    of: Class


class Merged(msgspec.Struct, frozen=True):
    """Configurations laid over each other."""

    parts: tuple[Value, ...]


class Dotlist(msgspec.Struct, frozen=True):
    """The keys that a program takes as ``key=value``: those of dicts included, and those of which the inside is not known."""

    name: str
    keys: dict[str, Leaf]
    open: frozenset[str]
    own: frozenset[str]


def call_omegaconf(target: External, call: Call) -> Value:
    """Call a function of OmegaConf."""
    first = call.positional[0] if call.positional else UNKNOWN
    if target.last == "from_cli":
        return UNKNOWN if isinstance(first, (list, tuple)) else Words()
    if target.last == "structured":
        of = first.of if isinstance(first, Instance) else first
        return Structured(of) if isinstance(of, Class) else UNKNOWN
    if target.last == "merge":
        parts = tuple(_flat(call.positional))
        call.interpreter.merges.append(parts)
        return Merged(parts)
    return UNKNOWN


def _flat(parts: list[Value]) -> Iterator[Value]:
    for part in (option for item in parts for option in options(item)):
        if isinstance(part, Merged):
            yield from _flat(list(part.parts))
        else:
            yield part


def words_method(words: Words, name: str, call: Call) -> Value:
    """Call a method of what ``from_cli()`` returned: a key that is read or taken out there is the program's own."""
    key = call.given(0, "key")
    if name in _READS and isinstance(key, str):
        words.own.add(key)
    return UNKNOWN


def dotlist(interpreter: Interpreter) -> Dotlist | None:
    """Return what a program that was run takes; None where that is not a dataclass and ``key=value`` words over it."""
    for parts in interpreter.merges:
        words = [part for part in parts if isinstance(part, Words)]
        bases = {part.of.node: part.of for part in parts if isinstance(part, Structured)}
        if words and len(bases) == 1 and not any(item.lost for item in words):
            (of,) = bases.values()
            found = _Keys(interpreter)
            found.add(of, "", 0)
            own = frozenset(name for item in words for name in item.own)
            return None if found.missing else Dotlist(of.node.name, found.keys, frozenset(found.open), own)
    return None


class _Keys:
    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self.keys: dict[str, Leaf] = {}
        self.open: set[str] = set()
        self.missing = False

    def add(self, of: Class, prefix: str, depth: int) -> None:
        """Add the fields of a dataclass, and those of the dataclasses in it."""
        found = fields(of, self._interpreter)
        self.missing |= found.missing is not None or depth > _DEEPEST
        for item in found.items if depth <= _DEEPEST else ():
            if item.init:
                self._add_field(item, f"{prefix}{item.name}", depth)

    def _add_field(self, item: Field, key: str, depth: int) -> None:
        known = describe(item.annotation, item.of, self._interpreter)
        where = f"{item.path}:{item.line}"
        if known.kind == "class" and isinstance(known.value, Class) and not known.many:
            self.keys[key] = Leaf({}, ("dict",), where)
            self.add(known.value, f"{key}.", depth + 1)
            return
        kinds = _kinds(known)
        if not kinds or known.many:
            self.open.add(key)
        default = None if item.default is UNKNOWN else item.default
        plain = default if isinstance(default, (str, int, float, bool)) else None
        choices = known.members or known.choices
        accepted = (*choices, None) if choices and known.optional else tuple(choices)
        self.keys[key] = Leaf(plain, kinds, where, accepted, declared=bool(kinds))


def _kinds(known: Described) -> tuple[str, ...]:
    """Return the kinds of values of an annotation; none where anything may stand, a dict among it."""
    if known.union or known.kind in ("unknown", "class", "dict", "Dict", "Any"):
        return ("list",) if known.many else ()
    kind = "list" if known.many else "str" if known.kind == "enum" else _KINDS.get(known.kind)
    if kind is None:
        return ()
    return (kind, "null") if known.optional else (kind,)
