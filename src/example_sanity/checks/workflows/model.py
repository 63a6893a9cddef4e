"""What a file of continuous integration says, whatever service reads it: filters, jobs, steps, lists.

A reader (``github``, ``suites``) makes it; the rules look at nothing else. Another service is another reader.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec import field

from example_sanity.core.finding import Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Text(msgspec.Struct, frozen=True, dict=True):
    """A value of the file. ``starts`` holds line and column (from 1) of the beginning of each line of ``value``."""

    value: str
    starts: tuple[tuple[int, int], ...]

    @cached_property
    def _offsets(self) -> list[int]:
        found = [0]
        for line in self.value.split("\n")[:-1]:
            found.append(found[-1] + len(line) + 1)
        return found

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column in the file of an offset in ``value``."""
        row = bisect_right(self._offsets, offset) - 1
        line, column = self.starts[min(row, len(self.starts) - 1)]
        return line, column + offset - self._offsets[row]

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """Return where the characters from ``start`` to ``end`` (exclusive; None: all) stand in the file."""
        return Span(*self.position(start), *self.position(len(self.value) if end is None else end))


class Item(msgspec.Struct, frozen=True):
    """An entry of a list: its text, and the lines to take away to delete it, where that is certain."""

    text: Text
    removal: Span | None = None

    @property
    def value(self) -> str:
        """The entry as the service reads it."""
        return self.text.value


class PathFilter(msgspec.Struct, frozen=True):
    """The paths of which a change starts the workflow on ``event``, or (``ignores``) does not start it."""

    event: str
    ignores: bool
    items: tuple[Item, ...]


class Listing(msgspec.Struct, frozen=True):
    """Values that stand under one name: a column of a matrix, the lines of a suite."""

    label: str
    items: tuple[Item, ...]


class Step(msgspec.Struct, frozen=True):
    """One step of a job.

    ``run`` is shell text for ``shell`` (the words of its call, such as ``bash -e``), or None where the step runs no shell
    that we read. ``uses`` is the action that it calls, ``options`` what it is given. ``folder`` is the working directory.
    ``tolerant`` is where the file says that a failure of the step does not count, unless another step asks for its outcome.
    ``condition`` is its ``if``.
    """

    name: str
    span: Span
    run: Text | None = None
    shell: str = ""
    folder: Text | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    uses: Text | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    tolerant: Span | None = None
    condition: str = ""


class Job(msgspec.Struct, frozen=True):
    """Steps that share a machine.

    ``combinations`` are those of its matrix, each a dotted name with its value (``matrix.info.file``); one empty one where
    there is none. A value that only a run knows is None. ``calls`` is a reusable workflow.
    """

    name: str
    span: Span
    steps: tuple[Step, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    combinations: tuple[Mapping[str, str | None], ...] = ({},)
    calls: Text | None = None
    tolerant: Span | None = None


class Workflow(msgspec.Struct, frozen=True):
    """A file of continuous integration. ``inputs`` are the defaults of what a caller may set."""

    path: str
    kind: str
    filters: tuple[PathFilter, ...] = ()
    jobs: tuple[Job, ...] = ()
    listings: tuple[Listing, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    comments: Sequence[Item] = ()
