"""Compare what the sandbox and real bash record for the same script, with the same stubs on both sides."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from example_sanity.launch import evaluator, normalise, realbash
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.syntax import Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from example_sanity.launch.command import Launch

# Two runs of real bash differ in these, too.
_CHANGING = re.compile(r"\$(?:RANDOM\b|\{RANDOM\}|\$|\{\$\}|BASHPID\b|SECONDS\b|EPOCHSECONDS\b)")


@dataclass
class Comparison:
    """One script in both engines."""

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
        return same_end and self.words(self.sandbox) == self.words(self.real)

    @staticmethod
    def words(launch: Launch) -> list[tuple[str, ...]]:
        return [command.argv for command in launch.commands]

    def difference(self) -> str:
        """The first command that differs, for reading."""
        ours, theirs = self.words(self.sandbox), self.words(self.real)
        place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
        head = f"{self.path}: {len(ours)} commands in the sandbox, {len(theirs)} in real bash; "
        head += f"failure {self.sandbox.failure}, {self.real.failure}; "
        if place is None:
            rest = ours[len(theirs) :] or theirs[len(ours) :]
            return (
                head
                + f"surplus {[words[:4] for words in rest[:2]]}; {self.sandbox.stderr[-160:]!r} {self.real.stderr[-160:]!r}"
            )
        pairs = zip(ours[place], theirs[place], strict=False)
        words = [(a, b) for a, b in pairs if a != b]
        return head + f"command {place} {theirs[place][:4]}: {words[:3]} {self.sandbox.stderr[-200:]!r}"


@dataclass
class Tally:
    """Identical scripts of those that count, per repository."""

    identical: int = 0
    counted: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, comparison: Comparison) -> None:
        if not comparison.counted:
            return
        self.counted += 1
        if comparison.identical:
            self.identical += 1
        else:
            self.differences.append(comparison.difference())


def compare(path: str, data: bytes, root: Path | None, scenario: Scenario | None = None) -> Comparison:
    """Evaluate one script in both engines over the same project."""
    steady = _CHANGING.sub("4242", data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    script = Script(path, steady)
    chosen = scenario or Scenario()
    ours = evaluator.evaluate(script, chosen, root)
    names = {command.argv[0] for command in ours.commands} | normalise.normalise(script.text, "0").names
    return Comparison(path, ours, realbash.evaluate(script, chosen, root, names))


def scripts(folder: Path) -> Iterator[Path]:
    """Every regular shell script under ``folder``, in order; symlinked ones are the same script again."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".sh", ".bash") and path.is_file() and not path.is_symlink():
            yield path
