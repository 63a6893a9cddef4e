"""Parsers of the read program: what ``add_argument`` and its kin leave behind in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.core.regex import regex
from example_sanity.schema.argparse.table import (
    ANY,
    NOT_KNOWN,
    OPTIONAL,
    REST,
    SOME,
    SUBCOMMAND,
    Flag,
    FlagTable,
    Positional,
)
from example_sanity.schema.argparse.values import (
    UNKNOWN,
    Class,
    External,
    Function,
    Partial,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How many values each action takes where nargs is not given (argparse, "action").
_ACTION_VALUES: dict[str, int] = {
    "store": 1,
    "append": 1,
    "extend": 1,
    "store_const": 0,
    "store_true": 0,
    "store_false": 0,
    "append_const": 0,
    "count": 0,
    "help": 0,
    "version": 0,
}
# "deprecated" further inside a sentence is mostly said of a value, not of the flag.
_DEPRECATED = regex(r"\W*(?:this (?:argument|flag|option) is )?deprecated\b", re.IGNORECASE)
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})


class Parser(msgspec.Struct, eq=False):
    """One parser. Its groups are the parser itself; ``children`` are the parsers of its subcommands.

    ``override`` is the function of the program that replaced ``add_argument``, ``made_by`` the program's own subclass. ``made_as_child`` marks the parser of a subcommand. ``events`` are the ways in which it read
    the command line: ``strict``, ``dropping`` (unknown flags vanish) or ``forwarding`` (they go on to something else).
    """

    abbreviations: bool = True
    loose: bool = False
    library: str = "argparse"
    flags: list[Flag] = field(default_factory=list)
    positionals: list[Positional] = field(default_factory=list)
    prefixes: set[str] = field(default_factory=set)
    unresolved: list[str] = field(default_factory=list)
    children: list[Parser] = field(default_factory=list)
    override: Value = None
    events: list[str] = field(default_factory=list)
    made_by: Class | None = None
    made_as_child: bool = False

    def table(self) -> FlagTable:
        """Return what the parser and its subcommands know together."""
        inner = [child.table() for child in self.children]
        unresolved = [*self.unresolved, *(reason for table in inner for reason in table.unresolved)]
        if "forwarding" in self.events:
            unresolved.append("unknown flags are handed on")
        return FlagTable(
            flags=(*self.flags, *(flag for table in inner for flag in table.flags)),
            positionals=(*self.positionals, *(item for table in inner for item in table.positionals)),
            prefixes=tuple(sorted(self.prefixes.union(*(table.prefixes for table in inner)))),
            unresolved=tuple(sorted(set(unresolved))),
            lenient="strict" not in self.events,
            abbreviations=self.abbreviations,
            loose=self.loose,
            library=self.library,
        )

    def leave_open(self, reason: str) -> None:
        """Note that something whose source is not here may have added flags."""
        self.unresolved.append(reason)

    def add(self, names: Sequence[Value], options: Mapping[str, Value], path: str, line: int) -> None:
        """Do what ``add_argument`` does."""
        texts = [name for name in names if isinstance(name, str)]
        partial = [name.prefix for name in names if isinstance(name, Partial)]
        if len(texts) < len(names):
            self._add_open(texts, [prefix for prefix in partial if re.match(r"--\w", prefix)], path, line)
            if not texts:
                return
        flags = tuple(text for text in texts if text.startswith("-"))
        if flags:
            self.flags.append(_flag(flags, options, path, line))
        elif texts or "dest" in options:
            self.positionals.append(_positional(texts, options))

    def _add_open(self, texts: list[str], prefixes: list[str], path: str, line: int) -> None:
        """Some of the names are not known."""
        if prefixes:
            self.prefixes.update(prefixes)
        elif not texts:
            self.leave_open(f"a flag whose name is computed at {path}:{line}")

    def add_subcommands(self) -> None:
        """Note that a subcommand is expected."""
        self.positionals.append(Positional("command", SUBCOMMAND))


def _flag(names: tuple[str, ...], options: Mapping[str, Value], path: str, line: int) -> Flag:
    action = options.get("action", "store")
    kind = options.get("type")
    help_text = options.get("help")
    shown = help_text if isinstance(help_text, str) else ""
    if isinstance(help_text, Partial):
        shown = help_text.prefix
    return Flag(
        names=_with_negation(names) if _is_boolean_optional(action) else names,
        nargs=_nargs(action, options),
        action=action if isinstance(action, str) else _short(action) or NOT_KNOWN,
        type=None if "**" in options and kind is None else _short(kind),
        choices=_choices(options.get("choices")),
        default=_plain(options.get("default")),
        deprecated=_deprecated(shown, options),
        required=options.get("required") is True,
        path=path,
        line=line,
    )


def _nargs(action: Value, options: Mapping[str, Value]) -> int | str:
    nargs = options.get("nargs")
    if _is_boolean_optional(action):
        return 0
    if isinstance(nargs, int) and not isinstance(nargs, bool):
        return nargs
    if isinstance(nargs, str) and nargs in (OPTIONAL, ANY, SOME, REST, SUBCOMMAND):
        return nargs
    if isinstance(nargs, External) and nargs.last in ("REMAINDER", "OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE"):
        known = {"REMAINDER": REST, "OPTIONAL": OPTIONAL, "ZERO_OR_MORE": ANY, "ONE_OR_MORE": SOME}
        return known[nargs.last]
    if nargs is not None or "**" in options or not isinstance(action, str):
        return NOT_KNOWN
    return _ACTION_VALUES.get(action, NOT_KNOWN)


def _is_boolean_optional(action: Value) -> bool:
    return isinstance(action, External) and action.last == "BooleanOptionalAction"


def _with_negation(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the option strings of a BooleanOptionalAction."""
    negated = (f"--no-{name[2:]}" for name in names if name.startswith("--"))
    return (*names, *negated)


def _short(value: Value) -> str | None:
    if value is None:
        return None
    if isinstance(value, External):
        return value.last
    node = getattr(value, "node", None)
    return str(getattr(node, "name", NOT_KNOWN))


def _choices(value: Value) -> tuple[str, ...] | None:
    """Return the choices as text, None where one of them is not known."""
    if isinstance(value, Class):
        return None
    if isinstance(value, dict):
        value = list(value)
    if not isinstance(value, (list, tuple)) or not value:
        return None
    if not all(isinstance(item, (str, int, float)) for item in value):
        return None
    return tuple(str(item) for item in value)


def _plain(value: Value) -> object:
    if isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, (str, int, float, bool)) for item in value):
        return list(value)
    return None


def _deprecated(shown: str, options: Mapping[str, Value]) -> str | None:
    if _DEPRECATED.match(shown):
        return " ".join(shown.split())
    return "deprecated" if options.get("deprecated") is True else None


def _positional(texts: Sequence[str], options: Mapping[str, Value]) -> Positional:
    name = texts[0] if texts else str(options.get("dest"))
    nargs = options.get("nargs")
    if nargs is None and "**" not in options:
        return Positional(name)
    return Positional(name, _nargs("store", options))


def is_enum_base(value: Value) -> bool:
    """Whether a class with this base is an enumeration."""
    return isinstance(value, External) and value.last in _ENUM_BASES


def parsers_in(values: Sequence[Value], depth: int = 3) -> list[Parser]:
    """Return the parsers among values, inside sequences too."""
    found: list[Parser] = []
    for value in values:
        if isinstance(value, Parser):
            found.append(value)
        elif isinstance(value, (list, tuple)) and depth:
            found += parsers_in(list(value), depth - 1)
        elif isinstance(value, dict) and depth:
            found += parsers_in(list(value.values()), depth - 1)
        elif hasattr(value, "options") and depth:
            found += parsers_in(list(value.options), depth - 1)
        elif isinstance(value, Function) and value.bound:
            found += parsers_in(list(value.bound), depth - 1)
    return found


__all__ = ["UNKNOWN", "Parser", "is_enum_base", "parsers_in"]
