"""What decides a variable of a launcher: assignments, and the arguments that its own functions are called with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from example_sanity.launch.syntax import Assignment, CommandSite, DefaultKind, Guard, Script

if TYPE_CHECKING:
    from tree_sitter import Tree

_EVERY = ("@", "*")


class Function(NamedTuple):
    """A function of the script: its body as byte offsets."""

    start: int
    end: int


class Reach:
    """Which knobs a variable depends on, through any number of assignments and calls.

    A positional parameter belongs to its function, so its name is one of ``function 1``.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._reads: dict[str, set[str]] = {}
        for item in script.assignments:
            self._reads.setdefault(item.name, set()).update(_qualified(item.reads, item.function))
        for site in self._calls:
            self._add_arguments(site)
        self.overridable = {
            item.name: item.via or item.name
            for item in script.assignments
            if item.kind is not DefaultKind.FIXED and not item.array
        }

    @cached_property
    def _calls(self) -> tuple[CommandSite, ...]:
        names = {*self.script.functions}
        return tuple(site for site in self.script.commands if site.name in names)

    def _add_arguments(self, site: CommandSite) -> None:
        for number, word in enumerate(site.words[1:], 1):
            read = _qualified(word.reads, site.function)
            for parameter in (str(number), *_EVERY):
                self._reads.setdefault(f"{site.name} {parameter}", set()).update(read)

    def knobs(self, names: Iterable[str]) -> set[str]:
        """Return the names in the environment that feed any of ``names``."""
        seen = self._feeding(names)
        return {via for name, via in self.overridable.items() if name in seen}

    def assignments(self, names: Iterable[str]) -> list[Assignment]:
        """Return the assignments that feed any of ``names``."""
        seen = self._feeding(names)
        return [item for item in self.script.assignments if item.name in seen]

    def read_by(self, guard: Guard) -> tuple[str, ...]:
        """Return the variables that a guard looks at, itself and in the functions that it asks."""
        inside = [name for function in self.asked(guard) for name in self._read_in(function)]
        return (*_qualified(guard.reads, guard.function), *inside)

    def asked(self, guard: Guard) -> list[str]:
        """Return the functions whose result a guard's condition takes."""
        inside = (site for site in self._calls if guard.start <= site.start < guard.end)
        return [str(site.name) for site in inside if site.words[0].text in guard.condition]

    def text_of(self, function: str) -> str:
        """Return the body of a function, or nothing where it is not at the top level."""
        place = self.functions.get(function, Function(0, 0))
        return self.script.data[place.start : place.end].decode("utf-8", "replace")

    def ends(self, function: str | None, seen: frozenset[str] = frozenset()) -> Iterator[int]:
        """Yield where the top-level statements end that call a function, by way of others, too."""
        for site in self._calls:
            if site.name == function and function not in seen:
                if site.function is None:
                    yield self.statement_end(site.start)
                else:
                    yield from self.ends(site.function, seen | {str(function)})

    def statement_end(self, offset: int) -> int:
        """Return where the top-level statement around an offset ends."""
        ends = (end for start, end in self._statements if start <= offset < end)
        return next(ends, offset)

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """The functions of the top level by name."""
        tree: Tree = self.script.tree  # type: ignore[assignment]
        found: dict[str, Function] = {}
        for node in tree.root_node.named_children:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if node.type == "function_definition" and name and body and name.text:
                found[name.text.decode("utf-8", "replace")] = Function(body.start_byte, body.end_byte)
        return found

    @cached_property
    def _statements(self) -> Sequence[tuple[int, int]]:
        tree: Tree = self.script.tree  # type: ignore[assignment]
        return [(node.start_byte, node.end_byte) for node in tree.root_node.named_children]

    def _read_in(self, function: str) -> Iterator[str]:
        place = self.functions.get(function, Function(0, 0))
        read = (item.name for item in self.script.reads if place.start <= item.start < place.end)
        return iter(_qualified(read, function))

    def _feeding(self, names: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        todo = list(names)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self._reads.get(name, ())
        return seen


def _qualified(names: Iterable[str], function: str | None) -> list[str]:
    """Return the names, a positional parameter as that of its function."""
    return [f"{function} {name}" if function and _positional(name) else name for name in names]


def _positional(name: str) -> bool:
    return name in _EVERY or name.isdigit()
