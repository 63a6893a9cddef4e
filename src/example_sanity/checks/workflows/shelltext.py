"""The commands of shell text, with what their words become and the folder that they run in. Nothing is run."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any, cast

import msgspec

from example_sanity.checks.workflows.expressions import WORKSPACE
from example_sanity.checks.workflows.words import expand, is_known
from example_sanity.core.regex import regex
from example_sanity.launch.syntax import CommandSite, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from example_sanity.launch.syntax import Assignment, Script

MOST = 64  # alternatives of one command
MOST_WORDS = 32  # in an array; longer ones hold the arguments of a program, not files
_KNOWN_OUTPUT = regex(r"dirname|\bpwd\b")
_SCOPES = ("subshell", "command_substitution", "process_substitution", "function_definition")


class Call(msgspec.Struct, frozen=True):
    """One thing that a command can become: its words, the folder that it runs in, what it sets for its program.

    A word that is not known holds a ``$`` or a backtick. ``folder`` is absolute, or None where it is not known. ``places`` are
    the offsets (in characters) of the source word of each word. ``certain`` means that it becomes this whatever branches are
    taken before it.
    """

    words: tuple[str, ...]
    folder: str | None
    environment: Mapping[str, str]
    places: tuple[tuple[int, int], ...]
    site: CommandSite
    certain: bool = True

    @property
    def name(self) -> str:
        """The name of the program, without its folder."""
        return self.words[0].rpartition("/")[2]


@dataclass
class Shell:
    """Shell text in its surroundings: the environment, the folder that it starts in, the folder of its own file.

    ``files`` are those of the project, for patterns in loops.
    """

    text: str
    environment: Mapping[str, str]
    folder: str | None = WORKSPACE
    here: str = WORKSPACE
    files: Sequence[str] = ()
    script: Script = field(init=False)

    def __post_init__(self) -> None:
        self._doubtful: set[str] = set()
        self.script = parsed(self.text)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """What each command can become, in source order."""
        return tuple(self._calls())

    def characters(self, offset: int) -> int:
        """Return the offset in characters of one in bytes."""
        data = self.script.data
        return offset if data.isascii() else len(data[:offset].decode("utf-8", "surrogateescape"))

    def _calls(self) -> Iterator[Call]:
        variables: dict[str, Sequence[str] | None] = {
            name: (value,) for name, value in self.environment.items() if is_known(value)
        }
        variables["GITHUB_WORKSPACE"] = (WORKSPACE,)
        variables.update(dict.fromkeys(self.script.assigned))
        moves = [(0, len(self.script.data), self.folder)]
        loops = list(self._loops())
        events: list[Assignment | CommandSite | _Loop] = [
            *self.script.assignments,
            *self.script.commands,
            *loops,
        ]
        for event in sorted(events, key=lambda item: (item.start, isinstance(item, _Loop))):
            variables["PWD"] = _or_none(_folder_at(moves, event.start))
            if isinstance(event, _Loop):
                variables[event.name] = self._loop_values(event, variables)
            elif isinstance(event, CommandSite):
                yield from self._commands(event, variables, moves)
            else:
                self._assign(event, variables)

    def _assign(self, item: Assignment, variables: dict[str, Sequence[str] | None]) -> None:
        if item.array:
            words = next((array.words for array in self.script.arrays if array.start == item.start), ())
            few = words if len(words) <= MOST_WORDS and not item.append else ()
            values = [value for word in few for value in _flat(word.text, variables, self.here)]
            known = values if len(few) == len(words) and all(map(is_known, values)) else None
            variables[item.name + "[@]"] = known
            return
        value = item.value
        if ("$(" in value or "`" in value) and not _KNOWN_OUTPUT.search(value):
            variables[item.name] = None
            return
        own = variables.pop(item.name, None)
        before = {**variables, item.name: own} if own is not None else variables
        given = [
            " ".join(words) for words in expand(f'"{value}"' if _bare(value) else value, before, self.here)
        ]
        known = given if given and all(map(is_known, given)) and not item.append else None
        self._doubtful -= set() if item.conditional else {item.name}
        if item.conditional or self._doubtful.intersection(item.reads):
            self._doubtful.add(item.name)
        if known is not None and item.conditional and own is not None:
            known = [*own, *(value for value in known if value not in own)]
        variables[item.name] = known

    def _commands(
        self,
        site: CommandSite,
        variables: dict[str, Sequence[str] | None],
        moves: list[tuple[int, int, str | None]],
    ) -> Iterator[Call]:
        folder = _folder_at(moves, site.start)
        words = [expand(word.text, variables, self.here) for word in site.words]
        places = [(self.characters(word.start), self.characters(word.end)) for word in site.words]
        environment = dict(self._prefix(site, variables))
        certain = self._doubtful.isdisjoint(name for word in site.words for name in word.reads)
        for parts in islice(product(*words), MOST):
            flat = [(item, place) for part, place in zip(parts, places, strict=True) for item in part]
            if not flat:
                continue
            call = Call(
                tuple(item for item, _ in flat),
                folder,
                environment,
                tuple(place for _, place in flat),
                site,
                certain,
            )
            if call.name in ("cd", "pushd"):
                moves.append((site.end, self._scope_end(site), _moved(call)))
            yield call

    def _prefix(
        self, site: CommandSite, variables: Mapping[str, Sequence[str] | None]
    ) -> Iterator[tuple[str, str]]:
        """Yield the assignments in front of a command."""
        node: Any = self._root.descendant_for_byte_range(site.start, site.end)
        while node is not None and node.type != "command":
            node = node.parent
        for child in node.named_children if node is not None else ():
            if child.type == "variable_assignment" and child.end_byte <= site.start:
                name, _, value = child.text.decode("utf-8", "surrogateescape").partition("=")
                alternatives = expand(value, variables, self.here) if value else [("",)]
                yield name, " ".join(alternatives[0]) if len(alternatives) == 1 else "${MANY}"

    @property
    def _root(self) -> Any:
        return cast("Any", self.script.tree).root_node

    def _scope_end(self, site: CommandSite) -> int:
        """Where a change of the folder ends: with the subshell or the function around it."""
        node: Any = self._root.descendant_for_byte_range(site.start, site.end)
        while node is not None and node.type not in _SCOPES:
            node = node.parent
        return len(self.script.data) if node is None else int(node.end_byte)

    def _loops(self) -> Iterator[_Loop]:
        stack = [self._root]
        while stack:
            node = stack.pop()
            stack += node.named_children
            if node.type == "for_statement":
                name = node.child_by_field_name("variable")
                words = tuple(
                    child.text.decode("utf-8", "surrogateescape")
                    for child in node.children_by_field_name("value")
                )
                if name is not None and words:
                    yield _Loop(name.text.decode(), words, node.start_byte)

    def _loop_values(
        self, loop: _Loop, variables: Mapping[str, Sequence[str] | None]
    ) -> Sequence[str] | None:
        values = [item for word in loop.words for item in _flat(word, variables, self.here)]
        folder = next(iter(variables.get("PWD") or ()), None)
        found = [path for value in values for path in self._matching(value, folder)]
        return found if all(map(is_known, found)) else None

    def _matching(self, value: str, folder: str | None) -> list[str]:
        """The files of the project that a pattern names; a word without wildcards stands for itself."""
        if not re.search(r"[*?\[]", value) or not is_known(value):
            return [value]
        whole = posixpath.normpath(posixpath.join(folder or "/", value))
        inside = whole.removeprefix(WORKSPACE + "/")
        if inside == whole:
            return ["$(" + value + ")"]
        try:
            pattern = re.compile(_shell_pattern(inside))
        except re.error:
            return ["$(" + value + ")"]
        prefix = value[: len(value) - len(inside)] if value.endswith(inside) else ""
        return [prefix + path for path in self.files if pattern.fullmatch(path)] or ["$(" + value + ")"]


@lru_cache(maxsize=512)
def parsed(text: str) -> Script:
    """Return the structure of shell text."""
    return parse("", text.encode("utf-8", "surrogateescape"))


class _Loop(msgspec.Struct, frozen=True):
    name: str
    words: tuple[str, ...]
    start: int


def _bare(value: str) -> bool:
    """Whether a value has no quotes of its own: an assignment splits nothing."""
    return not re.search(r"[\"'\\]", value)


def _flat(word: str, variables: Mapping[str, Sequence[str] | None], here: str) -> list[str]:
    return [item for words in expand(word, variables, here) for item in words]


def _or_none(folder: str | None) -> Sequence[str] | None:
    return None if folder is None else (folder,)


def _folder_at(moves: Sequence[tuple[int, int, str | None]], offset: int) -> str | None:
    return next(folder for start, end, folder in reversed(moves) if start <= offset <= end)


def _moved(call: Call) -> str | None:
    """Where ``cd`` leads to, None where that is not known."""
    operands = [word for word in call.words[1:] if not word.startswith("-") or word == "-"]
    if len(operands) != 1 or not is_known(operands[0]) or operands[0].startswith(("-", "~")):
        return None
    if operands[0].startswith("/"):
        return posixpath.normpath(operands[0])
    return None if call.folder is None else posixpath.normpath(posixpath.join(call.folder, operands[0]))


def _shell_pattern(pattern: str) -> str:
    """A pattern of bash as a regular expression: a star stays within a folder, two of them (globstar) do not."""
    fixed = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", pattern, re.DOTALL)
    return "".join(
        fixed.get(part)
        or (part.replace("[!", "[^") if part.startswith("[") and len(part) > 1 else re.escape(part))
        for part in parts
    )
