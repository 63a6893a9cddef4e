"""Under which circumstances a launcher is evaluated: environment, probe answers, placeholders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from example_sanity.launch.syntax import Script

MAX_SCENARIOS = 16


class Answer(msgspec.Struct, frozen=True):
    """What a probe command prints and how it exits."""

    stdout: str = ""
    status: int = 0


class Scenario(msgspec.Struct, frozen=True):
    """One set of circumstances.

    ``name`` is what findings print: ``default``, ``MODEL_VARIANT=pro``, ``probe npu``. ``environment`` holds the values
    that the user or the scenario sets; ``placeholders`` those made up for required variables (their values must not
    reach a verdict); ``arguments`` are the positional parameters; ``probes`` maps a command's words, joined by single
    spaces, or a prefix of them, to its answer.
    """

    name: str = "default"
    environment: dict[str, str] = {}
    placeholders: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    probes: dict[str, Answer] = {}


def scenarios(script: Script) -> tuple[Scenario, ...]:
    """Return the default scenario, then one for each deviation: a named value of a knob, or another machine.

    At most ``MAX_SCENARIOS``; :func:`left_out` names those beyond. Only variables that the environment can set deviate.
    All scenarios share the placeholders of what the script requires.
    """
    return _all(script)[:MAX_SCENARIOS]


def left_out(script: Script) -> tuple[str, ...]:
    """Return the names of the deviations that ``scenarios`` cut off."""
    return tuple(scenario.name for scenario in _all(script)[MAX_SCENARIOS:])


def _all(script: Script) -> tuple[Scenario, ...]:
    from example_sanity.launch.alternatives import deviations
    from example_sanity.launch.machines import machines
    from example_sanity.launch.required import required

    needed = required(script)
    default = Scenario(placeholders=needed.environment, arguments=needed.arguments)
    found = [default]
    for name, value in deviations(script):
        if needed.environment.get(name) == value:
            continue
        others = {key: text for key, text in default.placeholders.items() if key != name}
        found.append(replace(default, name=f"{name}={value}", environment={name: value}, placeholders=others))
    found += [replace(default, name=f"probe {name}", probes=probes) for name, probes in machines(script)]
    return tuple(found)
