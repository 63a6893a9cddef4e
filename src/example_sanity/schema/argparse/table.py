"""The flags of a program, as plain data: what a static reading of its parsers gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_KNOWN = "unknown"
OPTIONAL = "?"
ANY = "*"
SOME = "+"
REST = "..."
SUBCOMMAND = "A..."


class Flag(msgspec.Struct, frozen=True, omit_defaults=True):
    """One definition of a flag.

    ``names`` are its option strings. ``nargs`` is the number of values that it takes (0 for a switch), one of ``?``,
    ``*``, ``+``, ``...`` as in argparse, or ``unknown``. ``type`` is the name of what converts a value, None for text.
    ``choices`` are the values that it accepts, as text, None where all do or where they are not known. ``default`` is
    plain data, None where there is none or it is not known. ``deprecated`` is what its help says about that. ``required``
    means that the program stops without it.
    ``path`` and ``line`` say where it is defined: relative to its source root, counted from 1.
    """

    names: tuple[str, ...]
    nargs: int | str = 1
    action: str = "store"
    type: str | None = None
    choices: tuple[str, ...] | None = None
    default: Any = None
    deprecated: str | None = None
    required: bool = False
    path: str = ""
    line: int = 0

    @property
    def least(self) -> int:
        """How many values it needs."""
        if isinstance(self.nargs, int):
            return self.nargs
        return 1 if self.nargs == SOME else 0

    @property
    def most(self) -> int | None:
        """How many values it takes; None when there is no limit."""
        if isinstance(self.nargs, int):
            return self.nargs
        return 1 if self.nargs == OPTIONAL else None


class Positional(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument without a flag; ``nargs`` as for a flag, ``A...`` for a subcommand and all that follows it."""

    name: str
    nargs: int | str = 1


class FlagTable(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that is known of the command line of a program.

    ``flags`` are all definitions; an option string may have several (branches, or parsers that run one after the
    other). ``prefixes`` are starts of option strings that belong to a package whose source is not here (``--sglang-``). ``patched`` are option strings that patch files add, of which
    nothing else is known. ``unresolved`` says why flags may be missing; where it is not empty, no flag may be called unknown. ``lenient`` means
    that flags that no parser knows are dropped without a word. ``abbreviations`` is argparse's ``allow_abbrev``.
    ``loose`` means that underscores and dashes are the same in names. ``library`` is what reads the command line.
    """

    flags: tuple[Flag, ...] = ()
    positionals: tuple[Positional, ...] = ()
    prefixes: tuple[str, ...] = ()
    patched: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    lenient: bool = False
    abbreviations: bool = True
    loose: bool = False
    library: str = "argparse"

    @property
    def known(self) -> dict[str, tuple[Flag, ...]]:
        """The definitions of each option string."""
        found: dict[str, tuple[Flag, ...]] = {}
        for flag in self.flags:
            for name in flag.names:
                found[name] = (*found.get(name, ()), flag)
        return found

    @property
    def takes_operands(self) -> bool:
        """Whether words that belong to no flag may be fine."""
        return bool(self.positionals or self.unresolved or self.lenient)

    def owned(self, name: str) -> bool:
        """Whether an option string belongs to a package whose source is not here, or is added by a patch."""
        return name in self.patched or any(name.startswith(prefix) for prefix in self.prefixes)


def merged(tables: Iterable[FlagTable]) -> FlagTable:
    """Return what several parsers of one command line know together."""
    items = tuple(tables)
    return FlagTable(
        flags=tuple(dict.fromkeys(_hashable(flag) for table in items for flag in table.flags)),
        positionals=tuple(dict.fromkeys(item for table in items for item in table.positionals)),
        prefixes=tuple(sorted({prefix for table in items for prefix in table.prefixes})),
        unresolved=tuple(sorted({reason for table in items for reason in table.unresolved})),
        lenient=bool(items) and all(table.lenient for table in items),
        abbreviations=any(table.abbreviations for table in items),
        loose=any(table.loose for table in items),
        library=next((table.library for table in items), "argparse"),
    )


def _hashable(flag: Flag) -> Flag:
    # A list is a fine default but has no hash.
    return msgspec.structs.replace(flag, default=None) if isinstance(flag.default, (list, dict)) else flag
