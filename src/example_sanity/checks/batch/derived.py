"""BAT010: numbers of the batch chain that a launcher computes for its reader, against those that the trainer uses.

The launcher's own text is run up to the last of them, once with its defaults and once with each knob doubled or halved:
a number that forgets a size is right as long as that size is 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from example_sanity.checks.mesh.bridge import LaunchMesh, complete
from example_sanity.checks.mesh.constraints import planned
from example_sanity.checks.mesh.guard import factors
from example_sanity.checks.mesh.reach import Reach
from example_sanity.core.finding import Finding, Span
from example_sanity.core.regex import regex
from example_sanity.core.rule import Context, Example, Rule, Subject
from example_sanity.launch.command import Launch
from example_sanity.parallel.formula import formula
from example_sanity.parallel.mesh import Sizes, whole_number

if TYPE_CHECKING:
    from pathlib import Path

    from example_sanity.launch.syntax import Assignment, CommandSite

# How launchers spell a number, and by which formula it follows: the first one whose symbols are all known counts, where
# its condition holds. Micro batches that are packed by tokens have no number that one could tell beforehand.
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    r"(?:grad(?:ient)?_?)?accum(?:ulation)?(?:_steps)?|(?:grad_)?acc_steps|(?:num_|n_)?micro_?batches": (
        "gbs % (mbs·dp) = 0 and gbs >= mbs·dp => gbs // (mbs·dp)",
        "m·n % (mbs·dp) = 0 and m·n >= mbs·dp => m·n // (mbs·dp)",
    ),
    r"(?:mini_?batch|samples|local_batch)(?:_size)?_per_(?:dp|rank|dp_rank)": ("m·n % dp = 0 => m·n // dp",),
    r"(?:samples|trajectories|responses)_per_(?:step|rollout)": ("b > 0 => b·n", "prompts > 0 => prompts·n"),
    r"(?:updates|mini_?batches|steps)_per_(?:step|rollout)|num_(?:updates|mini_?batches)": (
        "b % m = 0 => b // m",
        "prompts·n % gbs = 0 => prompts·n // gbs",
    ),
}
_KINDS = tuple((regex(pattern, re.IGNORECASE), rules) for pattern, rules in _NUMBERS.items())
_LABEL = "|".join(_NUMBERS).replace("_", "[ _-]")
_PRINTED = regex(rf"(?<![\w.])({_LABEL})\s*[=:]\s*(\d+)(?![\w.])", re.IGNORECASE)
_PRINTS = regex(rf"(?<![\w.])(?:{_LABEL})\s*[=:]\s*\$\(\(", re.IGNORECASE)
_COMPUTED = regex(r"[\w})]\s*[*/]\s*[\w${(]")


class _Shown(msgspec.Struct, frozen=True):
    """A number that a run showed: under which name, by which formulas it should follow, and where it is computed."""

    name: str
    value: int
    formulas: tuple[str, ...]
    span: Span


class WrongDerivedBatch(Rule):
    """A launcher prints or exports a number of the batch chain that is not the one that the trainer will use.

    Accumulation steps, samples of a rank or of a step, updates of a step: people choose learning rates and batch sizes
    by what a launcher shows. The usual reasons: the world taken for dp, so that the number is right until tensor,
    pipeline or context parallel is used, and prompts taken for samples. The launcher's text is tried with each knob
    doubled and halved. A number that is handed to the trainer is no such number: the trainer uses it.
    """

    code = "BAT010"
    name = "wrong-derived-batch"
    summary = "a printed or exported number of the batch chain is not the one that the trainer uses"
    subject = Subject.LAUNCH
    source = "the numbers of the launcher against dp and the batch chain of the backend"
    bad = (
        Example(
            "TP=${TP:-1}\nGBS=${GBS:-256}\nMBS=${MBS:-2}\nACCUM_STEPS=$((GBS / (MBS * 8)))\n"
            'echo "accumulation: ${ACCUM_STEPS}"\ntorchrun --nproc_per_node=8 pretrain_gpt.py \\\n'
            "    --tensor-model-parallel-size ${TP} --micro-batch-size ${MBS} --global-batch-size ${GBS}\n"
        ),
    )
    good = (
        Example(
            "TP=${TP:-1}\nGBS=${GBS:-256}\nMBS=${MBS:-2}\nACCUM_STEPS=$((GBS / (MBS * (8 / TP))))\n"
            'echo "accumulation: ${ACCUM_STEPS}"\ntorchrun --nproc_per_node=8 pretrain_gpt.py \\\n'
            "    --tensor-model-parallel-size ${TP} --micro-batch-size ${MBS} --global-batch-size ${GBS}\n"
        ),
    )

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Try the launcher's numbers and yield the first wrong one of each name."""
        launch = cast("Launch", subject)
        sources = _sources(launch)
        if launch.scenario.name != "default" or not (sources.assignments or sources.sites):
            return
        for shown in complete(planned(launch, context)):
            case = _Case(shown, sources)
            yield from (self._report(case, *wrong) for wrong in case.wrong(context.project.root))

    def _report(
        self, case: _Case, number: _Shown, right: int, text: str, changed: Mapping[str, int]
    ) -> Finding:
        setting = " ".join(f"{knob}={size}" for knob, size in changed.items()) or "the defaults"
        return self.finding(
            case.shown.launch.script.path,
            number.span,
            f"with {setting} the launcher shows {number.name}={number.value}, but "
            f"{case.shown.mesh.backend.title} uses {right}; compute it as {text}",
        )


class _Sources(msgspec.Struct, frozen=True):
    """Where a launcher computes such numbers: in assignments that it shows, and within what it prints."""

    assignments: tuple[Assignment, ...]
    sites: tuple[CommandSite, ...]

    @property
    def cut(self) -> int:
        """The byte offset after the last of them."""
        return max([item.end for item in self.assignments] + [site.end for site in self.sites])

    def numbers(self, values: Mapping[str, str], stdout: str) -> Iterator[_Shown]:
        """Yield what a run showed: its variables, and the numbers in its output that no variable holds."""
        for item in self.assignments:
            value = whole_number(values.get(item.name))
            if value is not None:
                yield _Shown(item.name, value, _formulas(item.name), item.span)
        for label, value in _PRINTED.findall(stdout) if self.sites else ():
            site = next((site for site in self.sites if label in _text(site)), None)
            if site is not None:
                yield _Shown(label, int(value), _formulas(re.sub("[ -]", "_", label)), site.span)


def _sources(launch: Launch) -> _Sources:
    """The top-level numbers of a launcher, without those that the launch is told."""
    script = launch.script
    printing = [site for site in script.commands if site.name in ("echo", "printf")]
    words = [word for site in script.commands if site not in printing for word in site.words]
    words += [word for array in script.arrays for word in array.words]
    told = {name for word in words for name in word.reads}
    visible = script.exported | {name for site in printing for word in site.words for name in word.reads}
    computed = tuple(
        item
        for item in script.assignments
        if item.function is None and not item.conditional and item.name in visible - told
        if _formulas(item.name) and _COMPUTED.search(item.value)
    )
    return _Sources(
        computed, tuple(site for site in printing if not site.function and _PRINTS.search(_text(site)))
    )


def _text(site: CommandSite) -> str:
    return " ".join(word.text for word in site.words)


def _formulas(name: str) -> tuple[str, ...]:
    return next((rules for pattern, rules in _KINDS if pattern.fullmatch(name)), ())


class _Case:
    """The numbers of one launcher, and the knobs that they can be tried with."""

    def __init__(self, shown: LaunchMesh, sources: _Sources) -> None:
        self.shown, self._sources = shown, sources
        self._knobs = dict(_knobs(shown))

    def wrong(self, root: Path) -> Iterator[tuple[_Shown, int, str, Mapping[str, int]]]:
        """Yield the first wrong number of each name: what is shown, what is right, the formula, the changed knobs."""
        from example_sanity.launch.evaluator import guard_runs

        launch, sources = self.shown.launch, self._sources
        tries = [{}, *self._changes()]
        given = [{name: str(size) for name, size in changed.items()} for changed in tries]
        names = sorted({item.name for item in sources.assignments})
        runs = guard_runs(launch.script, sources.cut, given, names, root, launch.scenario)
        reported: set[str] = set()
        for changed, run in zip(tries, runs, strict=True):
            if run is None or not run.accepted:
                continue
            values = self._values(changed)
            for number in sources.numbers(run.values, run.stdout):
                right = next(_right(number.formulas, values), None)
                if right and right[0] != number.value and number.name not in reported:
                    reported.add(number.name)
                    yield number, *right, changed

    def _changes(self) -> Iterator[dict[str, int]]:
        for knob, (_, size) in self._knobs.items():
            yield from ({knob: changed} for changed in (size * 2, size // 2) if changed > 0)

    def _values(self, changed: Mapping[str, int]) -> Sizes:
        """All numbers of the mesh with other sizes for knobs."""
        mesh = self.shown.mesh
        given, facts = dict(mesh.given), dict(mesh.facts)
        for knob, size in changed.items():
            symbol, before = self._knobs[knob]
            if symbol in ("nnodes", "gpn"):
                given["world"] = given["world"] * size // before
            (given if symbol in given else facts)[symbol] = size
        return replace(mesh, given=given, facts=facts).values


def _knobs(shown: LaunchMesh) -> Iterator[tuple[str, tuple[str, int]]]:
    """The knobs that set one number each and as it is, with the symbol and its size."""
    reach = Reach(shown.launch.script)
    sizes = {symbol: size for symbol, size, _ in factors(shown)}
    sizes |= {symbol: size for symbol, size in shown.mesh.facts.items() if symbol in shown.mesh.origin}
    direct: dict[str, str] = {}
    mixed: set[str] = set()
    for symbol in sizes:
        name = reach.overridable.get(shown.knob(symbol) or "")
        fed = reach.knobs(shown.feeds(symbol))
        mixed |= fed - {name} if name else fed
        if name:
            mixed |= {name} & direct.keys()
            direct[name] = symbol
    yield from ((name, (symbol, sizes[symbol])) for name, symbol in direct.items() if name not in mixed)


def _right(formulas: Sequence[str], values: Sizes) -> Iterator[tuple[int, str]]:
    """Yield the number that follows, and its formula, where all that it needs is known."""
    for text in formulas:
        condition, _, result = text.partition(" => ")
        needs = (*formula(condition).symbols, *formula(result).symbols)
        if all(values.get(symbol, 0) > 0 for symbol in needs) and not values.get("dynamic"):
            if formula(condition).value(values):
                yield formula(result).value(values), result
            return
