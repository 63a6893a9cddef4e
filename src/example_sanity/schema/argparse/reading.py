"""From an entry point to its flag table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.schema.argparse.dotlist import Dotlist, dotlist
from example_sanity.schema.argparse.interpreter import Exhausted, Interpreter
from example_sanity.schema.argparse.modules import Sources
from example_sanity.schema.argparse.table import FlagTable, merged

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_table(file: Path, root: Path, roots: Sequence[Path], module: str | None = None) -> FlagTable | None:
    """Return the flags of the program in ``file``, None when it reads no command line that we understand.

    ``root`` is the folder that paths are given relative to, ``roots`` are where its imports are searched. ``module`` is
    its dotted name where it was started with ``-m``. Nothing is imported or executed.
    """
    return read_program(file, root, roots, module)[0]


def read_program(
    file: Path, root: Path, roots: Sequence[Path], module: str | None = None
) -> tuple[FlagTable | None, tuple[Path, ...]]:
    """Return the same, and the files that were read for it."""
    sources = Sources(roots)
    source = sources.open(file, root, module or "__main__")
    if source is None:
        return None, (file,)
    interpreter = Interpreter(sources)
    try:
        interpreter.run(source)
    except (Exhausted, RecursionError):
        interpreter.unresolved.append("the program is too long to be read")
    return _table(interpreter), tuple(sorted(sources.opened))


def _table(interpreter: Interpreter) -> FlagTable | None:
    readers = [parser for parser in interpreter.parsers if parser.events]
    if not readers:
        return None
    table = merged(parser.table() for parser in readers)
    if not interpreter.unresolved:
        return table
    return merged([table, FlagTable(unresolved=tuple(interpreter.unresolved), lenient=table.lenient)])


def read_dotlist(
    file: Path, root: Path, roots: Sequence[Path], module: str | None = None
) -> tuple[Dotlist | None, tuple[Path, ...]]:
    """Return the keys that a program takes as ``key=value`` words, and the files that were read for it.

    Parameters as for ``read_table``. None where the program does not lay such words over a dataclass that is here.
    """
    sources = Sources(roots)
    source = sources.open(file, root, module or "__main__")
    if source is None:
        return None, (file,)
    interpreter = Interpreter(sources)
    try:
        interpreter.run(source)
    except (Exhausted, RecursionError):
        return None, tuple(sorted(sources.opened))
    return dotlist(interpreter), tuple(sorted(sources.opened))
