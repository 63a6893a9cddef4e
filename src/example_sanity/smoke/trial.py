"""One evaluation of a launcher under the inputs that a smoke run would give it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import field
from msgspec.structs import replace

from example_sanity.checks.mesh.bridge import option_origin, option_place, values
from example_sanity.checks.mesh.machine import machine
from example_sanity.core.regex import regex
from example_sanity.launch.evaluator import evaluate
from example_sanity.launch.required import required
from example_sanity.launch.scenario import Scenario
from example_sanity.launch.settings import Setting, Settings, settings
from example_sanity.launch.syntax import DefaultKind
from example_sanity.parallel.backends import detect, plans

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from example_sanity.launch.command import Entry, Launch, Origin
    from example_sanity.launch.syntax import Script
    from example_sanity.parallel.mesh import Backend, Mesh
    from example_sanity.parallel.models import ModelFacts

TORCHRUN = "torchrun."
TRAINED = ("actor", "sft", "trainer")
# What every process has: a launcher that reads these is not asking for a knob.
_EVERYWHERE = frozenset(("HOME", "PATH", "PYTHONPATH", "PWD", "USER", "SHELL", "LD_LIBRARY_PATH", "HOSTNAME"))

# Programs of a trainer that take its settings and train nothing.
_TRAINS_NOTHING = regex(r"generat|eval|merge|convert|server|rollout_only|preprocess")


class Inputs(msgspec.Struct, frozen=True):
    """What a launcher is started with: variables, positional parameters, and the words behind those by setting."""

    environment: Mapping[str, str] = field(default_factory=dict)
    positional: tuple[str, ...] = ()
    trailing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        """All words behind the script."""
        return (*self.positional, *(word for words in self.trailing.values() for word in words))


class Trial(msgspec.Struct, frozen=True):
    """What a launcher does under some inputs. ``entry`` is the training program, None where it starts none."""

    inputs: Inputs
    launch: Launch
    entry: Entry | None
    given: Settings

    def text(self, key: str) -> str | None:
        """Return the value of a setting as text, or None where the launcher leaves it out.

        ``torchrun.nnodes`` and ``torchrun.nproc_per_node`` are those options of torchrun.
        """
        if key.startswith(TORCHRUN):
            return self.entry.options.get(key.removeprefix(TORCHRUN)) if self.entry else None
        setting = self.given.get(key)
        if setting is None or setting.operation == "delete":
            return None
        return "" if setting.operation == "switch" else setting.raw

    def knobs(self, key: str) -> tuple[str, ...]:
        """Return the variables that feed a setting, nearest first."""
        if key.startswith(TORCHRUN):
            return option_origin(self.entry, key.removeprefix(TORCHRUN)) if self.entry else ()
        setting = self.given.get(key)
        if setting is None:
            return ()
        return setting.origin.knobs or self._value_of_flag(setting)

    def _value_of_flag(self, setting: Setting) -> tuple[str, ...]:
        """Return the variables that feed the word behind a flag."""
        command = self.entry.command if self.entry else None
        behind = setting.word + 1
        if setting.operation != "flag" or command is None or behind >= len(command.origins):
            return ()
        return () if "=" in command.argv[setting.word] else command.origins[behind].knobs

    def place(self, key: str) -> Origin | None:
        """Return where a setting is written, or None where that is not known."""
        if key.startswith(TORCHRUN):
            return option_place(self.entry, key.removeprefix(TORCHRUN)) if self.entry else None
        setting = self.given.get(key)
        return setting.origin if setting else None

    @property
    def backends(self) -> tuple[Backend, ...]:
        """The backends of the launch, one for each role."""
        if self.entry is None:
            return ()
        return detect(values(self.given, self.launch, self.entry), self.entry.module or self.entry.file)

    def mesh(self, model: Callable[[str], ModelFacts | None]) -> Mesh | None:
        """Return the mesh of the model that is trained, or None where no backend knows the launch.

        ``model`` finds the facts of a model by its name.
        """
        if self.entry is None:
            return None
        read = values(self.given, self.launch, self.entry)
        known = machine(self.launch, self.entry, read)
        program = self.entry.module or self.entry.file
        shown = plans(read, program, known.world, machine=known.facts, model=model)
        return next((mesh for mesh in shown if mesh.backend.role in TRAINED), None)


class Bench:
    """Evaluates one script. ``host`` are the variables of this process that the script takes as knobs."""

    def __init__(self, script: Script, root: Path | None, host: Mapping[str, str] | None = None) -> None:
        self.script = script
        self._root = root
        self._needed = required(script)
        given = os.environ if host is None else host
        self.host = {name: given[name] for name in sorted(self.knobs - _EVERYWHERE) if name in given}
        self._program: str | None = None
        self._tried: dict[tuple[object, ...], Trial] = {}

    @property
    def knobs(self) -> frozenset[str]:
        """The variables that the environment can set."""
        found = {
            item.via for item in self.script.assignments if item.kind is not DefaultKind.FIXED and item.via
        }
        assigned = {item.name for item in self.script.assignments}
        read = {read.name for read in self.script.reads if read.name not in assigned}
        return frozenset(name for name in found | read if name.isidentifier())

    @property
    def positional(self) -> tuple[str, ...]:
        """The positional parameters: placeholders for those that the script demands, then the defaults of others.

        Words for the program can only stand behind those.
        """
        optional = {
            int(item.via): item.default or ""
            for item in self.script.assignments
            if item.via and item.via.isdigit() and item.via != "0" and item.function is None
        }
        first = len(self._needed.arguments)
        more = (optional.get(place, "") for place in range(first + 1, max(optional, default=0) + 1))
        return (*self._needed.arguments, *more)

    @property
    def forwards(self) -> bool:
        """Whether the script reads its arguments as a whole, as it must to hand them on."""
        return any(read.name in ("@", "*") for read in self.script.reads)

    def run(self, inputs: Inputs, placeholders: bool = True) -> Trial:
        """Evaluate the script; with ``placeholders``, variables that it demands but nobody gave are made up."""
        key = (tuple(inputs.environment.items()), inputs.arguments, placeholders)
        if key not in self._tried:
            self._tried[key] = self._run(inputs, placeholders)
        return self._tried[key]

    def _run(self, inputs: Inputs, placeholders: bool) -> Trial:
        environment = {**self.host, **inputs.environment}
        made_up = {
            name: value
            for name, value in self._needed.environment.items()
            if placeholders and name not in environment
        }
        scenario = Scenario(environment=environment, placeholders=made_up, arguments=inputs.arguments)
        launch = evaluate(self.script, scenario, self._root)
        entry = None if launch.failure else self._entry(launch)
        given = settings(entry) if entry else Settings(())
        return Trial(inputs, launch, entry, given)

    def _entry(self, launch: Launch) -> Entry | None:
        """Return the program that trains: the first with a mesh, and later the same program again."""
        for entry in launch.entries:
            program = entry.module or entry.file
            if self._program is None:
                if _TRAINS_NOTHING.search(program or ""):
                    continue
                trial = Trial(Inputs(), launch, entry, settings(entry))
                if trial.mesh(lambda _: None) is None:
                    continue
                self._program = program
            if program == self._program:
                return entry
        return None


def with_environment(inputs: Inputs, name: str, value: str) -> Inputs:
    """Return the inputs with a variable set; a name that is a number is a positional parameter."""
    if not name.isdigit():
        return replace(inputs, environment={**inputs.environment, name: value})
    words = list(inputs.positional)
    words[int(name) - 1] = value
    return replace(inputs, positional=tuple(words))


def with_words(inputs: Inputs, key: str, words: tuple[str, ...]) -> Inputs:
    """Return the inputs with words behind the launcher's own for a setting, in place of earlier ones."""
    left = {name: old for name, old in inputs.trailing.items() if name != key}
    return replace(inputs, trailing={**left, key: words})
