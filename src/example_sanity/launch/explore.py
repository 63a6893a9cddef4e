"""Every evaluation of a launcher: its scenarios, and which words depend on a value that was made up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace
from msgspec.structs import replace as altered

from example_sanity.core.regex import regex
from example_sanity.launch.entry import entries
from example_sanity.launch.evaluator import evaluate, words
from example_sanity.launch.required import placeholder
from example_sanity.launch.scenario import scenarios
from example_sanity.launch.world import OTHER_OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from example_sanity.launch.command import Command, Launch
    from example_sanity.launch.scenario import Scenario
    from example_sanity.launch.syntax import Script

_MOST_UNBOUND = 12
_UNBOUND = regex(r"(?m)^\S+: (?:line \d+: )?(?:([A-Za-z_]\w*)|\$?(\d)): (?:unbound variable|parameter null)")
_DEMANDED = regex(r"(?m)^\S+: (?:line \d+: )?([A-Za-z_]\w*)(): ")


def launches(
    script: Script,
    root: Path | None,
    environment: Mapping[str, str] | None = None,
    engine: str = "bashkit",
) -> tuple[Launch, ...]:
    """Evaluate every scenario of the script (at most 16; ``scenario.left_out`` names the rest).

    ``environment`` is set in all of them; a scenario that contradicts it is left out. A variable that turns out to be
    unbound becomes a placeholder and the scenario is tried again. Where placeholders or outputs that nobody knows are
    in play, the words that change with them are in ``Command.unstable``. Raises what ``evaluate`` raises.
    """
    chosen = [_with(scenario, environment or {}) for scenario in scenarios(script)]
    return tuple(explored(script, scenario, root, engine) for scenario in chosen if scenario is not None)


def default_launch(
    script: Script, root: Path | None, environment: Mapping[str, str] | None = None, engine: str = "bashkit"
) -> Launch:
    """Evaluate the default scenario alone, as ``launches`` does."""
    default = scenarios(script)[0]
    return explored(script, _with(default, environment or {}) or default, root, engine)


def _with(scenario: Scenario, environment: Mapping[str, str]) -> Scenario | None:
    if any(environment.get(name, value) != value for name, value in scenario.environment.items()):
        return None
    left = {name: value for name, value in scenario.placeholders.items() if name not in environment}
    return altered(scenario, environment={**scenario.environment, **environment}, placeholders=left)


def explored(script: Script, scenario: Scenario, root: Path | None, engine: str = "bashkit") -> Launch:
    """Evaluate one scenario of the script, as ``launches`` does with each."""
    launch = evaluate(script, scenario, root, engine)
    for _ in range(_MOST_UNBOUND):
        fuller = _filled(launch)
        if fuller is None:
            break
        launch = evaluate(script, fuller, root, engine)
    if launch.failure is not None or not launch.commands:
        return launch
    launch = _against_placeholders(launch, root, engine)
    if engine == "bashkit":
        launch = _against_outputs(launch, root)
    return replace(launch, entries=entries(launch.commands))


def _unbound(launch: Launch) -> re.Match[str] | None:
    """Return the message about an unbound variable; ``${X:?text}`` has a text of its own."""
    if found := _UNBOUND.search(launch.stderr):
        return found
    demanded = {read.name for read in launch.script.reads if read.required}
    named = (found for found in _DEMANDED.finditer(launch.stderr) if found[1] in demanded)
    return next(named, None)


def _filled(launch: Launch) -> Scenario | None:
    """Return the scenario with a placeholder for a variable that was unbound, or None when there was none."""
    found = _unbound(launch) if launch.status else None
    if found is None:
        return None
    scenario = launch.scenario
    if found[2]:
        missing = int(found[2]) - len(scenario.arguments)
        more = tuple(f"argument{len(scenario.arguments) + n + 1}" for n in range(missing))
        return altered(scenario, arguments=scenario.arguments + more) if more else None
    name = found[1]
    if name in scenario.environment or name in scenario.placeholders:
        return None
    return altered(scenario, placeholders={**scenario.placeholders, name: placeholder(name)})


def _against_placeholders(launch: Launch, root: Path | None, engine: str) -> Launch:
    """Evaluate again with other placeholders. A value may decide whether the script goes on, so several are tried."""
    if not launch.scenario.placeholders and not launch.scenario.arguments:
        return launch
    for other in _variants(launch.scenario):
        again = words(launch.script, other, root, engine)
        if again is not None and _same_shape(launch.commands, again):
            return replace(launch, commands=_unstable(launch.commands, again))
    everything = tuple(replace(c, unstable=frozenset(range(len(c.argv)))) for c in launch.commands)
    return replace(launch, commands=everything)


def _variants(scenario: Scenario) -> Iterator[Scenario]:
    for factor in (2, 4, 3):
        yield altered(
            scenario,
            placeholders={name: _other(value, factor) for name, value in scenario.placeholders.items()},
            arguments=tuple(_other(value, factor) for value in scenario.arguments),
        )


def _other(value: str, factor: int) -> str:
    if re.fullmatch(r"\d+", value):
        return str(max(int(value), 1) * factor)
    return f"{value}{factor}"


def _against_outputs(launch: Launch, root: Path | None) -> Launch:
    """Evaluate again with another output of the commands of which nobody knows it, if a word can hold one."""
    if not launch.uncertain or (
        "$(" not in launch.script.text
        and "`" not in launch.script.text
        and "RANDOM" not in launch.script.text
    ):
        return launch
    again = words(launch.script, launch.scenario, root, unknown=OTHER_OUTPUT)
    if again is None or not _same_shape(launch.commands, again):
        return launch
    return replace(launch, commands=_unstable(launch.commands, again))


def _same_shape(first: Sequence[Command], second: Sequence[Sequence[str]]) -> bool:
    return [command.argv[0] for command in first] == [argv[0] for argv in second]


def _unstable(first: Sequence[Command], second: Sequence[Sequence[str]]) -> tuple[Command, ...]:
    """Mark the words of ``first`` that ``second`` has not."""
    return tuple(
        replace(one, unstable=one.unstable | changed(one.argv, two))
        for one, two in zip(first, second, strict=True)
    )


def changed(one: Sequence[str], two: Sequence[str]) -> frozenset[int]:
    """Return the indexes of the words of ``one`` that differ in ``two``, which may have more or fewer words."""
    if len(one) == len(two):
        return frozenset(at for at, (a, b) in enumerate(zip(one, two, strict=True)) if a != b)
    from difflib import SequenceMatcher

    found: set[int] = set()
    for kind, start, end, _, _ in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "insert":
            found.add(min(start, len(one) - 1))
        elif kind != "equal":
            found.update(range(start, end))
    return frozenset(found)
