"""What a log says, taken down line by line while it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_sanity.smoke import steps
from example_sanity.smoke.cause_table import CAUSES, STOPPED
from example_sanity.smoke.causes import Search, Sighting
from example_sanity.smoke.tail import LogLine, Tail

if TYPE_CHECKING:
    from example_sanity.smoke.steps import Step


class Record:
    """The steps of a log, the line that shows best why it failed, and when the last line came (seconds from the start)."""

    def __init__(self) -> None:
        self._search = Search(CAUSES)
        self._steps: dict[int, Step] = {}
        self._places: dict[int, tuple[str, int]] = {}
        self._tail = Tail()
        self._before_end: tuple[LogLine, ...] | None = None
        self.lines = 0
        self.last_line = ""
        self.last_seconds = 0.0

    def feed(self, line: str, seconds: float | None) -> Step | None:
        """Take in a line as it was written, and return the step that it completes, if it does.

        ``seconds`` are those since the start, None where nobody knows when the line came.
        """
        self.lines += 1
        self.last_seconds = seconds or 0.0
        text = steps.clean(line)
        if text.strip():
            self.last_line = text.strip()
            self._tail.feed(text, self.lines)
        step = steps.parse(text, None if seconds is None else round(seconds, 2))
        if step is None:
            self._look(text)
            return None
        known = self._steps.get(step.number)
        merged = self._steps[step.number] = steps.merge(known, step)
        if not merged.is_complete or (known is not None and known.is_complete):
            return None
        self._places[step.number] = (text.strip(), self.lines)
        self._search.survive()
        self._before_end = None
        return merged

    def _look(self, text: str) -> None:
        before = self._tail.lines
        self._search.look(text, self.lines)
        # What processes say while they are ended is not what they were doing.
        seen = self.failure
        if self._before_end is None and seen is not None and seen.cause is STOPPED:
            self._before_end = tuple(line for line in before if line.number < seen.number)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were made, by number."""
        return tuple(step for _, step in sorted(self._steps.items()) if step.is_complete)

    @property
    def has_reward(self) -> bool:
        """Whether any line, that of a rollout included, has a reward."""
        return any(step.reward is not None for step in self._steps.values())

    @property
    def failure(self) -> Sighting | None:
        """The line that shows best why the run failed."""
        return self._search.found

    @property
    def last_lines(self) -> tuple[LogLine, ...]:
        """The last lines that tell what the run was doing, those before its end where something outside ended it."""
        told = self._tail.lines if self._before_end is None else self._before_end
        return told or ((LogLine(self.lines, self.last_line),) if self.last_line else ())

    def place(self, step: Step) -> tuple[str, int]:
        """The line of a step and its number."""
        return self._places[step.number]
