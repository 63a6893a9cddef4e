"""How a script is laid out: its knob regions, its headings, and what the environment of its children gets."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.finding import Related
from example_sanity.core.regex import regex
from example_sanity.launch.syntax import DefaultKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from example_sanity.checks.knobs.options import KnobsOptions
    from example_sanity.launch.syntax import Assignment, Region, Script

# What looks a variable up by a name that stands somewhere else as plain text.
_DYNAMIC = regex(
    r"\$\{![A-Za-z_]|(?<![\w./-])(?:eval|printenv|envsubst|compgen)\b"
    r"|(?<![\w./-])(?:declare|local|typeset)[ \t]+-\w*[np]|(?<![\w./-])export[ \t]+(?:-\w+[ \t]+)?[\"']?\$"
)
_PREFIX_QUERY = regex(r"\$\{!([A-Za-z_]\w*)[@*]\}")
_DOLLAR_NAME = regex(r"\$\{?[!#]?([A-Za-z_]\w*)")
_WORD = regex(r"[A-Za-z_]\w*")
_LAUNCHER = regex(
    r"(?:\S*/)?(?:python[0-9.]*|torchrun|accelerate|deepspeed|ray|srun|sbatch|mpirun|mpiexec|uv|bash|sh)"
)


class Layout(msgspec.Struct, frozen=True, dict=True):
    """A script seen with the conventions of its project."""

    script: Script
    options: KnobsOptions

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions that hold knobs: by their title, or because they hold an overridable default."""
        defaults = [a.span.line for a in self.script.assignments if a.kind is not DefaultKind.FIXED]
        return tuple(
            region
            for region in self.script.regions
            if self.options.is_region_title(region.title)
            or (
                not self.options.is_derived_heading(region.title)
                and any(region.first_line <= line <= region.last_line for line in defaults)
            )
        )

    def region_at(self, line: int) -> Region | None:
        """Return the knob region that holds a line."""
        return next((r for r in self.regions if r.first_line <= line <= r.last_line), None)

    def nearest_region(self, line: int) -> Region:
        """Return the knob region that is the fewest lines away. Raises ValueError when there is none."""
        return min(self.regions, key=lambda r: max(r.first_line - line, line - r.last_line))

    def related(self, region: Region) -> Related:
        """Return the place where a region begins."""
        return Related(
            self.script.path, region.span, f"the region '{region.title}' ({lines_of(region)}) begins here"
        )

    def is_derived(self, line: int) -> bool:
        """Return whether a line stands below a heading for derived defaults; one that says "below" has no end."""
        above = [marker for marker in self.script.markers if marker.span.line < line]
        return any(
            self.options.is_derived_heading(marker.title) and (marker is above[-1] or "below" in marker.title)
            for marker in above
            if not marker.end
        )

    @cached_property
    def is_launcher(self) -> bool:
        """Whether the script starts a program; one that only sets variables is there to be sourced."""
        return any(
            site.name is None or any(_LAUNCHER.fullmatch(word.text) for word in site.words)
            for site in self.script.commands
        )

    @cached_property
    def knob_names(self) -> frozenset[str]:
        """The names that a knob region assigns or takes from the environment."""
        inside = [a for a in self.script.assignments if self.region_at(a.span.line)]
        return frozenset(name for a in inside for name in (a.name, a.via) if name)

    @cached_property
    def assigned_once(self) -> frozenset[str]:
        """The names that have one assignment in the whole script."""
        names = [assignment.name for assignment in self.script.assignments]
        return frozenset(name for name in names if names.count(name) == 1)

    @cached_property
    def read_names(self) -> frozenset[str]:
        """The names that the script itself reads somewhere else than in their own assignment.

        Text that only another reader expands (quoted code, here documents, ``trap``) counts, and so does every word of
        a script that looks variables up by name.
        """
        # An assignment that only reads itself (N=$((N + 1)), N=${N:-1}) does not make its variable useful.
        names = {read.name for read in self.script.reads if not self._is_own(read.name, read.start)}
        names.update(self._mentioned(_DOLLAR_NAME))
        if _DYNAMIC.search(self.script.text):
            names.update(self._mentioned(_WORD))
        prefixes = tuple(_PREFIX_QUERY.findall(self.script.text))
        names.update(a.name for a in self.script.assignments if prefixes and a.name.startswith(prefixes))
        return frozenset(names)

    def may_set(self, name: str) -> bool:
        """Return whether a statement sets the variable, or a line reads as if it did (``NAME=<path>``)."""
        line = rf"(?m)^[ \t]*(?:export[ \t]+)?{name}\+?="
        return name in self.script.assigned or re.search(line, self.script.text) is not None

    def sets_only_itself(self, name: str) -> bool:
        """Return whether every assignment of a name is ``NAME=${NAME}``, which sets nothing."""
        values = [a.value.strip('"') for a in self.script.assignments if a.name == name]
        return bool(values) and all(value in (f"${name}", f"${{{name}}}") for value in values)

    def is_wiring(self, assignment: Assignment) -> bool:
        """Return whether an assignment only sets the environment of the program: exported, and unread by the script."""
        return assignment.exported and assignment.name not in self.read_names

    def _is_own(self, name: str, start: int) -> bool:
        return any(first <= start < last for first, last in self._spans.get(name, ()))

    @cached_property
    def _spans(self) -> dict[str, list[tuple[int, int]]]:
        spans: dict[str, list[tuple[int, int]]] = {}
        for assignment in self.script.assignments:
            spans.setdefault(assignment.name, []).append((assignment.start, assignment.end))
        return spans

    def _mentioned(self, pattern: re.Pattern[str]) -> Iterable[str]:
        offset = 0
        for line in self.script.data.split(b"\n"):
            text = line.decode("latin-1")  # one character a byte, so that offsets stay those of the data
            if not text.lstrip().startswith("#"):
                for found in pattern.finditer(text):
                    name = found[found.lastindex or 0]
                    if not self._is_own(name, offset + found.start()):
                        yield name
            offset += len(line) + 1


def lines_of(region: Region) -> str:
    """Return the lines of a region for a message: "line 7", "lines 7-12"."""
    first, last = region.first_line, region.last_line
    return f"line {first}" if first == last else f"lines {first}-{last}"
