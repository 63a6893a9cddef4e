"""Compare what the sandbox and real bash record for the same script, with the same stubs on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from example_sanity.launch import evaluator, realbash
from example_sanity.launch.command import Launch
from example_sanity.launch.scenario import Scenario, scenarios
from example_sanity.launch.syntax import parse

# Two runs of real bash differ in these, too.
_CHANGING = re.compile(r"\$(?:RANDOM\b|\{RANDOM\}|\$|\{\$\}|BASHPID\b|SECONDS\b|EPOCHSECONDS\b)")
# Background jobs race in real bash: the sandbox is right when it does what real bash does in one of a few runs.
_JOB = re.compile(r"(?<![&>|<\\])&(?![&>\d])")
_REPEATS = 6


@dataclass
class Comparison:
    """One script under one scenario in both engines."""

    path: str
    sandbox: Launch
    real: Launch

    @property
    def counted(self) -> bool:
        """Only a script in which real bash records a call says something about the sandbox."""
        return bool(self.real.commands)

    @property
    def identical(self) -> bool:
        same_end = (self.sandbox.failure is None) == (self.real.failure is None)
        return same_end and argvs(self.sandbox) == argvs(self.real)

    @property
    def environments_equal(self) -> bool:
        pairs = zip(self.sandbox.commands, self.real.commands, strict=True)
        return all(ours.environment == theirs.environment for ours, theirs in pairs)

    def difference(self) -> str:
        """The first command that differs, and how."""
        ours, theirs = argvs(self.sandbox), argvs(self.real)
        head = f"{self.path} [{self.sandbox.scenario.name}]: {len(ours)} commands in the sandbox, {len(theirs)} in"
        head += f" real bash; failures {self.sandbox.failure}, {self.real.failure}"
        place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
        if place is None:
            rest = [words[:4] for words in ours[len(theirs) :] or theirs[len(ours) :]]
            return f"{head}; surplus {rest[:2]}; stderr {self.sandbox.stderr[-160:]!r}"
        words = [pair for pair in zip(ours[place], theirs[place], strict=False) if pair[0] != pair[1]]
        return f"{head}; command {place} {theirs[place][:3]}: {words[:3]}"


@dataclass
class Tally:
    """Identical scripts of those that count, per repository."""

    identical: int = 0
    counted: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, comparison: Comparison) -> None:
        if comparison.counted:
            self.counted += 1
            self.identical += comparison.identical
        if comparison.counted and not comparison.identical:
            self.differences.append(comparison.difference())


def argvs(launch: Launch) -> list[tuple[str, ...]]:
    return [command.argv for command in launch.commands]


def steady(data: bytes) -> bytes:
    """Replace what changes from run to run in any bash by a constant."""
    text = data.decode("utf-8", "surrogateescape")
    return _CHANGING.sub("4242", text).encode("utf-8", "surrogateescape")


def compare(path: str, data: bytes, root: Path | None, scenario: Scenario | None = None) -> Comparison:
    """Evaluate one script in both engines over the same project, by default with what it requires filled in."""
    script = parse(path, steady(data))
    chosen = scenarios(script)[0] if scenario is None else scenario
    ours = evaluator.evaluate(script, chosen, root)
    names = {command.argv[0] for command in ours.commands}
    found = Comparison(path, ours, realbash.evaluate(script, chosen, root, names))
    for _ in range(_REPEATS if _JOB.search(script.text) else 0):
        if found.identical:
            break
        found = Comparison(path, ours, realbash.evaluate(script, chosen, root, names))
    return found


def shell_files(folder: Path) -> Iterator[Path]:
    """Every regular shell script under ``folder``, in order; symlinked ones are the same script again."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".sh", ".bash") and path.is_file() and not path.is_symlink():
            yield path
