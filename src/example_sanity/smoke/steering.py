"""Makes settings of a launcher take other values: through its knobs, else through trailing arguments.

Nothing is taken on trust: what is tried is evaluated, and counts only if the program would then be told the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import field

from example_sanity.core.errors import UsageError
from example_sanity.launch.syntax import DefaultKind
from example_sanity.launch.world import HOME
from example_sanity.smoke.plan import Change
from example_sanity.smoke.trial import TORCHRUN, Bench, Inputs, Trial, with_environment, with_words

_MOST_REASONS = 8
MADE_UP = "placeholder-"  # how a text begins that stands in for a variable that nobody set


class Refusal(UsageError):
    """Why there is no smoke run of this launcher."""


class Target(msgspec.Struct, frozen=True):
    """A setting and the value that it shall have.

    ``fits`` says whether what it has already (None: left out) will do. ``needed`` targets refuse the run where they
    cannot be met. ``words`` are those to put behind the launcher's own, where they are not spelt from name and value; an empty
    value without them means that the setting has to go. Those of a later ``stage`` are looked at when the earlier ones are met, as they may follow from them.
    """

    key: str
    value: str
    why: str
    fits: Callable[[str | None], bool] | None = None
    needed: bool = True
    stage: int = 0
    words: tuple[str, ...] = ()

    def met(self, text: str | None) -> bool:
        """Whether a value of the setting will do."""
        return text == self.value or (self.fits is not None and self.fits(text))


class Way(msgspec.Struct, frozen=True):
    """One way to set a value: a variable, or trailing words. ``was`` is what it replaces."""

    name: str
    value: str
    was: str | None
    words: tuple[str, ...] = ()

    def apply(self, inputs: Inputs, key: str) -> Inputs:
        """Return the inputs with this way taken."""
        if self.words:
            return with_words(inputs, key, self.words)
        return with_environment(inputs, self.name, self.value)


class Steering(msgspec.Struct, dict=True):
    """The inputs found so far. ``words`` spells a setting as trailing words, ``pinned`` are names that stay as they are."""

    bench: Bench
    words: Callable[[str, str], tuple[str, ...]]
    inputs: Inputs
    pinned: frozenset[str] = frozenset()
    missed: list[Target] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = self.bench.run(self.inputs)
        self._first = self.inputs
        self._taken: dict[str, tuple[Target, Way]] = {}

    @property
    def trial(self) -> Trial:
        """What the launcher does under the inputs found so far."""
        return self.bench.run(self.inputs)

    def holds(self, key: str) -> bool:
        """Whether the user has decided a setting."""
        return key in self.pinned or not self.pinned.isdisjoint(self.start.knobs(key)[:1])

    def steer(self, targets: Sequence[Target]) -> None:
        """Meet the targets, stage by stage. Raises Refusal with all needed ones that cannot be met."""
        mine = [target for target in targets if not self.holds(target.key)]
        for stage in sorted({target.stage for target in mine}):
            self._meet([target for target in mine if target.stage <= stage])
        refused = [self._reason(target) for target in self.missed if target.needed]
        if len(refused) > _MOST_REASONS + 1:
            left = len(refused) - _MOST_REASONS
            refused[_MOST_REASONS:] = [f"and {left} more settings that nothing from outside reaches"]
        if refused:
            raise Refusal("\n".join(refused))

    def _meet(self, targets: Sequence[Target]) -> None:
        left = {target.key: list(self._ways(target)) for target in targets}
        while True:
            open_ones = [target for target in targets if not self._met(target)]
            open_ones = [target for target in open_ones if target not in self.missed]
            if not open_ones:
                return
            for target in open_ones:
                self._next(target, left[target.key])
            # A way that did not work is given up, so nothing stays of it.
            self.inputs = self._first
            for key, (_, way) in self._taken.items():
                self.inputs = way.apply(self.inputs, key)
            if self.trial.entry is None:
                self._refuse_stopped()

    def _met(self, target: Target) -> bool:
        """Whether a target has its value, and not by chance: what stands in for a variable that nobody set is none."""
        trial = self.trial
        if not target.met(trial.text(target.key)):
            return False
        made_up = trial.launch.scenario.placeholders.keys() & set(trial.knobs(target.key))
        return target.key in self._taken or not made_up

    def _next(self, target: Target, ways: list[Way]) -> None:
        if not ways:
            self.missed.append(target)
            self._taken.pop(target.key, None)
            return
        self._taken[target.key] = target, ways.pop(0)

    def _ways(self, target: Target) -> Iterator[Way]:
        trial = self.start
        text = trial.text(target.key)
        for name in trial.knobs(target.key):
            value = _through(trial, name, text, target.value)
            outer = self._settable(name)
            if value is not None and outer is not None and outer not in self.pinned:
                yield Way(outer, value, _value(trial, name))
        if self.bench.forwards and not target.key.startswith(TORCHRUN):
            words = target.words or self.words(target.key, target.value)
            if words:
                yield Way(target.key, target.value, text, words)

    def _settable(self, name: str) -> str | None:
        """Return the variable of the environment, or the number of the parameter, whose value a variable takes."""
        if name.isdigit():
            return name if int(name) <= len(self.inputs.positional) else None
        own = [item for item in self.bench.script.assignments if item.name == name]
        taken = [item.via for item in own if item.kind is not DefaultKind.FIXED and item.via]
        outer: str | None = taken[0] if taken else None
        parameter = next((read for item in own for read in item.reads if read.isdigit()), None)
        if outer is None and parameter is not None:
            return self._settable(parameter)
        return outer if own else name if name in self.bench.knobs else None

    def _reason(self, target: Target) -> str:
        place, text = self.start.place(target.key), self.start.text(target.key)
        path, name = self.bench.script.path, target.key.replace(TORCHRUN, "torchrun --")
        if text is None:
            wanted = " ".join(target.words) or f"{name}={target.value}"
            missing = (
                "the program has no such setting"
                if self.bench.forwards
                else 'the launcher does not hand on its arguments; end the command with "$@"'
            )
            return f"{path}: it takes {wanted} ({target.why}), but {missing}"
        where = f"{path}:{place.span.line}" if place else path
        if not target.value:
            return (
                f"{where}: {name} has to go ({target.why}), but what stands there cannot be taken back; make it depend on a "
                "variable"
            )
        knob = "" if target.key.startswith(TORCHRUN) else ', or end the command with "$@"'
        return (
            f"{where}: {name} is {text} and has to be {target.value} ({target.why}), but nothing from outside reaches "
            f"it; make it a variable with a default{knob}"
        )

    def _refuse_stopped(self) -> None:
        changed = " ".join(f"{name}={value}" for name, value in self.inputs.environment.items())
        raise Refusal(
            f"{self.bench.script.path} starts no training with {changed or 'these settings'}: {stopped(self.trial)}"
        )

    def changes(self) -> tuple[Change, ...]:
        """Return what differs from the launcher as shipped, in the order of the inputs, each variable once."""
        found: dict[str, Change] = {}
        for key, (target, way) in self._taken.items():
            if way.words:
                found[key] = Change(key, way.value, _shown(way.was), target.why, "override")
            elif way.name.isdigit():
                found[way.name] = Change(f"${way.name}", way.value, None, target.why, "override")
            elif self.inputs.environment.get(way.name) == way.value:
                was = _shown(way.was)
                found.setdefault(way.name, Change(way.name, way.value, was, target.why, "environment"))
        return tuple(sorted(found.values(), key=lambda change: change.kind))


def stopped(trial: Trial) -> str:
    """Say why a launcher started nothing: its last words, without the name of the script before them."""
    if trial.launch.failure:
        return trial.launch.failure
    lines = trial.launch.stderr.splitlines()
    said = [line for line in lines if re.search("[A-Za-z]", line) and not line.startswith("+")]
    if not said:
        return f"it starts no training program, and ends with status {trial.launch.status}"
    return said[-1].strip().removeprefix(f"{trial.launch.script.path}: ")


def _shown(text: str | None) -> str | None:
    """Return a value as its launcher names it: the home folder of the sandbox and made-up values are not the user's."""
    if text is None or (text.removeprefix(MADE_UP).isidentifier() and text.startswith(MADE_UP)):
        return None
    return text.replace(HOME, "$HOME").replace(MADE_UP, "$")


def _value(trial: Trial, name: str) -> str | None:
    """Return the value of a variable; of one that is read in place only, as ``${NAME:-8}``, the default there."""
    scenario = trial.launch.scenario
    found = trial.launch.variables.get(name)
    if found is None:
        found = {**scenario.environment, **scenario.placeholders}.get(name)
    if name.isdigit() and int(name) <= len(scenario.arguments):
        found = scenario.arguments[int(name) - 1]
    if found is None:
        inline = re.search(rf"\$\{{{name}:?[-=]([^{{}}$]*)\}}", trial.launch.script.text)
        found = inline and inline[1]
    return found


def _through(trial: Trial, name: str, text: str | None, wanted: str) -> str | None:
    """Return what a variable has to be so that a setting made of it becomes ``wanted``; None where that is not plain.

    ``[${LOGGER}]`` is LOGGER between two brackets: what stands around the variable has to stand around the new value.
    """
    value = _value(trial, name)
    if value is None or text is None:
        return None
    if value == text:
        return wanted
    if not value or text.count(value) != 1:
        return None
    before, after = text.split(value)
    inner = wanted.removeprefix(before).removesuffix(after)
    return inner if f"{before}{inner}{after}" == wanted else None
