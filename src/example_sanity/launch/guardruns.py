"""Tries the part of a launcher before a byte offset with thousands of assignments: does it get there?

The text becomes a function that runs in a subshell for each assignment, a batch of them in one sandbox. A limit looks
like an exit from inside, so a batch that hits one is halved until the run that did it stands alone.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from example_sanity.core.regex import regex
from example_sanity.launch import normalise, sandbox, world

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Assignment, Script

BATCH = 100
_REACHED = "__es_reached"
_PART = "__es_part"
_MARK = "\x1e"
_NAME = regex(rb"[A-Za-z_][A-Za-z0-9_]*")
_COMMENT = regex(rb"(?m)^[ \t]*(?:#.*|:[ \t]*(?:#.*)?)?\n")
_XTRACE = regex(r"(?m)^(\s*set\s+-)x(?=\w)|^(\s*)set -x\s*$|^(\s*set\s+-\w+)x")


class GuardRun(msgspec.Struct, frozen=True):
    """One assignment: whether the script reached the cut, the captured variables there, what it had printed.

    ``values`` holds the captured variables that are set at the cut; it is empty when the cut was not reached.
    """

    accepted: bool
    values: dict[str, str]
    stdout: str


def guard_runs(  # noqa: PLR0913, PLR0917 - script, what to try, what to watch, and the world around it
    script: Script,
    cut: int,
    assignments: Sequence[Mapping[str, str]],
    capture: Sequence[str],
    root: Path | None,
    scenario: Scenario,
) -> list[GuardRun | None]:
    """Run the script's text before byte ``cut`` once for each assignment of environment variables.

    The other variables come from ``scenario``. ``cut`` must stand between two statements. The result runs parallel to
    ``assignments``; None where the sandbox could not tell (a limit, a misread word, text that does not parse).
    """
    from concurrent.futures import ThreadPoolExecutor

    text = _text(script, cut, capture)
    if text is None or sandbox.syntax_error(text) is not None:
        return [None] * len(assignments)
    job = _Job(script, text, tuple(capture), root, scenario)
    batches = [assignments[start : start + BATCH] for start in range(0, len(assignments), BATCH)]
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        return [run for batch in pool.map(job.run, batches) for run in batch]


def _text(script: Script, cut: int, capture: Sequence[str]) -> str | None:
    if sandbox.unreadable(script.data[:cut]) or sandbox.too_deep(script.text):
        return None
    head = _needed(script, cut, capture).decode()
    return normalise.normalise(_without_trace(head), "0", False).text


def _needed(script: Script, cut: int, capture: Sequence[str]) -> bytes:
    """Return the text before the cut without comments and the plain assignments that nothing else in it mentions.

    A subshell copies the function it runs, so what a guard does not look at costs as much as what it does.
    """
    text = script.data[:cut]
    candidates = [item for item in script.assignments if item.end <= cut and _is_plain(item)]
    unread: list[Assignment] = []
    mentioned = Counter([*_NAME.findall(text), *map(str.encode, capture)])
    while found := [item for item in candidates if mentioned[item.name.encode()] == _own(item, text)]:
        unread += found
        candidates = [item for item in candidates if item not in found]
        for item in found:
            mentioned -= Counter(_NAME.findall(text, item.start, item.end))
    for item in sorted(unread, key=lambda item: item.start, reverse=True):
        text = text[: item.start] + b":" + text[item.end :]
    return text if b"<<" in text else _COMMENT.sub(b"", text)


def _own(item: Assignment, text: bytes) -> int:
    """How often an assignment mentions its own variable."""
    return _NAME.findall(text, item.start, item.end).count(item.name.encode())


def _is_plain(item: Assignment) -> bool:
    """Whether leaving the assignment out changes nothing but its own variable."""
    effects = ("$(", "`", "?", "=", "<", ">")
    return not (item.array or item.append or item.exported or item.conditional or item.function) and not any(
        mark in item.value.replace("$((", "") for mark in effects
    )


def _without_trace(text: str) -> str:
    """Tracing costs a fifth of the time and shows nothing here."""
    return _XTRACE.sub(lambda found: found[1] or found[3] or f"{found[2] or ''}:", text)


class _Job(msgspec.Struct, frozen=True):
    script: Script
    text: str
    capture: tuple[str, ...]
    root: Path | None
    scenario: Scenario

    def run(self, assignments: Sequence[Mapping[str, str]]) -> list[GuardRun | None]:
        """Run one batch, or its halves where it hit a limit."""
        results = self._batch(assignments)
        if results is not None:
            return results
        if len(assignments) == 1:
            return [None]
        middle = len(assignments) // 2
        return self.run(assignments[:middle]) + self.run(assignments[middle:])

    def _batch(self, assignments: Sequence[Mapping[str, str]]) -> list[GuardRun | None] | None:
        environment = {**self.scenario.environment, **self.scenario.placeholders}
        names = normalise.normalise(self.text, "0", False).names | world.names(self.scenario.probes)
        try:
            box = sandbox.Sandbox(self.root, environment, self.scenario.probes, names)
            box.write("/" + self.script.path.lstrip("/"), self._program(assignments), 0o755)
        except OSError:
            return None
        reached: dict[int, dict[str, str]] = {}
        box.add_callback(_REACHED, lambda words: reached.update({int(words[0]): _pairs(words[1:])}))
        words = ["bash", self.script.path, *self.scenario.arguments]
        outcome = box.run(" ".join(map(shlex.quote, words)))
        box.close()
        if outcome.error is not None or outcome.limit or outcome.problems:
            return None
        printed = _printed(outcome.stdout)
        return [
            GuardRun(number in reached, reached.get(number, {}), printed.get(number, ""))
            for number in range(len(assignments))
        ]

    def _program(self, assignments: Sequence[Mapping[str, str]]) -> str:
        captured = " ".join(f'{name} "${{{name}+x}}" "${{{name}-}}"' for name in self.capture)
        lines = [f'{_PART}() {{\n{self.text}\n{_REACHED} "$__es_number" {captured}\n}}']
        for number, assignment in enumerate(assignments):
            given = " ".join(f"{name}={shlex.quote(value)}" for name, value in assignment.items())
            exported = f"export {given}; " if given else ""
            lines.append(f"printf '{_MARK}%s\\n' {number}")
            lines.append(f'( __es_number={number}; {exported}{_PART} "$@" )')
        return "\n".join(lines) + "\n"


def _pairs(words: Sequence[str]) -> dict[str, str]:
    triples = zip(words[::3], words[1::3], words[2::3], strict=True)
    return {name: value for name, there, value in triples if there}


def _printed(stdout: str) -> dict[int, str]:
    parts = (part.partition("\n") for part in stdout.split(_MARK)[1:])
    return {int(number): text for number, _, text in parts if number.isdigit()}
