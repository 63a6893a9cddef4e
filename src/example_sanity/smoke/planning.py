"""From a launcher to the plan of its smoke run: scaled down, evaluated again, and checked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from msgspec import field

from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.rule import Subject
from example_sanity.smoke import rollout, startup, trainers
from example_sanity.smoke.checking import check
from example_sanity.smoke.data import ROWS, paths
from example_sanity.smoke.data import location as data_location
from example_sanity.smoke.meshes import AXES, Scaled, obstacle, scale
from example_sanity.smoke.models import OF_FLAGS, Model, choose
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.plan import Change, SmokePlan
from example_sanity.smoke.spelling import Spelling
from example_sanity.smoke.steering import Refusal, Steering, Target, stopped
from example_sanity.smoke.trial import TORCHRUN, Bench, Inputs, Trial

if TYPE_CHECKING:
    from example_sanity.core.runner import Run
    from example_sanity.launch.syntax import Script
    from example_sanity.parallel.mesh import Mesh, Sizes
    from example_sanity.parallel.models import ModelFacts

__all__ = ["Refusal", "Wish", "plan"]


class Wish(msgspec.Struct, frozen=True):
    """What the user asks for.

    ``folder`` is where files go, ``steps`` and ``family`` are None for what suits the launcher. ``settings`` are names and
    values that win: knobs of the launcher, Hydra keys, flags with their dashes. ``host`` is the environment that the run will
    have (None: that of this process); ``allow_kill`` lets the launcher end processes by name.
    """

    gpus: int
    folder: Path
    steps: int | None = None
    family: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str] | None = None
    allow_kill: bool = False


def plan(run: Run, script: Path, wish: Wish) -> SmokePlan:
    """Return the smoke run of a launcher. Raises Refusal with the reason where there can be none."""
    planner = _Planner(run, _script(run, script), wish)
    return planner.plan()


def _script(run: Run, path: Path) -> Script:
    name = run.project.relative(path)
    if path.is_dir() or not run.project.is_shell(name):
        raise UsageError(f"{path} is no shell script")
    try:
        (script,) = run.load(Subject.SCRIPT, name)
    except Uninspectable as error:
        raise UsageError(f"{path}: {error.message}") from error
    return cast("Script", script)


class _Planner:
    """One plan in the making."""

    def __init__(self, run: Run, script: Script, wish: Wish) -> None:
        self._run, self._script, self._wish = run, script, wish
        self._bench = Bench(script, run.project.root, wish.host)
        self._shipped = self._start(Inputs(positional=self._bench.positional))
        self._spelling = Spelling(run, script, self._shipped)
        self._pinned = self._chosen()
        self._first = self._start(self._pinned)

    def plan(self) -> SmokePlan:
        mesh = self._mesh(self._first)
        trainer = trainers.of(mesh)
        if trainer is None:
            raise Refusal(
                f"{self._script.path} trains on {mesh.backend.title}; smoke runs launchers of verl, Megatron-LM and slime"
            )
        if mesh.values.get("apart", 0) > 0:
            raise Refusal(
                f"{self._script.path}: trainer and rollout have GPUs of their own; smoke scales those that share them"
            )
        kind: Literal["sft", "rl"] = "rl" if mesh.backend.role == "actor" else "sft"
        model = self._model(mesh, trainer)
        scaled = self._scaled(mesh, trainer, model)
        config = model.config({**scaled.numbers, **scaled.sizes})
        outline = Outline(
            self._first.given,
            mesh,
            scaled,
            kind,
            self._wish.steps or trainer.steps[kind],
            self._wish.folder,
            model.place(self._wish.folder, config),
            paths(data_location(self._wish.folder, kind)),
            config,
        )
        steering = self._steering()
        steering.steer([*self._sizes(outline), *trainer.targets(outline)])
        return self._finished(steering, outline, model)

    def _model(self, mesh: Mesh, trainer: trainers.Trainer) -> Model:
        if not trainer.loads:
            return Model(OF_FLAGS)
        keys = trainer.models or mesh.backend.models
        return choose(self._first, keys, self._wish.family, self._pinned_names(), trainer.families)

    def _start(self, inputs: Inputs) -> Trial:
        trial = self._bench.run(inputs)
        if trial.launch.failure or trial.entry is None:
            reason = (
                stopped(trial)
                if trial.launch.failure or not trial.launch.entries
                else "it starts no training program whose mesh is known"
            )
            raise Refusal(f"{self._script.path}: {reason}")
        return trial

    def _mesh(self, trial: Trial) -> Mesh:
        mesh = trial.mesh(lambda _: None)
        assert mesh is not None  # the entry was chosen for having one
        unknown = sorted(mesh.unknown & mesh.backend.mesh_symbols)
        if unknown:
            keys = ", ".join(mesh.key(symbol) or symbol for symbol in unknown)
            raise Refusal(
                f"{self._script.path}: {keys} cannot be told from the script; set it with --set NAME=VALUE"
            )
        return mesh

    def _chosen(self) -> Inputs:
        """Return the inputs with what the user has decided."""
        environment: dict[str, str] = {}
        trailing: dict[str, tuple[str, ...]] = {}
        for name, value in self._wish.settings.items():
            if self._is_variable(name):
                environment[name] = value
            elif name.isidentifier() and not self._spelling.knows(name):
                raise UsageError(
                    f"--set {name}: {self._script.path} has no such knob{did_you_mean(name, self._bench.knobs)}"
                )
            elif not self._bench.forwards:
                raise UsageError(f'--set {name}: {self._script.path} does not hand on its arguments ("$@")')
            else:
                trailing[name.lstrip("+-")] = self._spelling.chosen(name, value)
        return Inputs(environment, self._bench.positional, trailing)

    def _is_variable(self, name: str) -> bool:
        """Whether a name that the user sets is one for the environment: a knob, or one that the plan itself may set."""
        return name in self._bench.knobs or name in rollout.EVERYWHERE

    def _pinned_names(self) -> frozenset[str]:
        return frozenset((*self._pinned.environment, *self._pinned.trailing))

    def _scaled(self, mesh: Mesh, trainer: trainers.Trainer, model: Model) -> Scaled:
        def numbers(sizes: Sizes) -> Sizes:
            found = trainer.numbers(mesh, sizes)
            facts = model.facts({**found, **sizes})
            return {**found, **(facts.numbers if facts else {})}

        names = self._pinned_names()
        fixed = {
            symbol: size
            for symbol, size in mesh.given.items()
            for key in (mesh.origin.get(symbol),)
            if symbol in (*AXES, "vpp") and key is not None
            if not names.isdisjoint((key, *self._first.knobs(key)[:1]))
        }
        scaled = scale(mesh, self._wish.gpus, numbers, fixed)
        if scaled is None:
            gpus = f"{self._wish.gpus} GPU{'' if self._wish.gpus == 1 else 's'}"
            reason = obstacle(mesh, self._wish.gpus, numbers, fixed)
            raise Refusal(f"{self._script.path}: no mesh of {mesh.backend.title} on {gpus} will do: {reason}")
        return scaled

    def _sizes(self, outline: Outline) -> Iterator[Target]:
        """Yield the sizes of the mesh, and the GPUs wherever the launcher says how many there are."""
        mesh, gpus = outline.mesh, str(self._wish.gpus)
        hold = f"that {gpus} GPU{'' if gpus == '1' else 's'} can hold"
        given = {item.key: item.raw for item in outline.given}
        for part in dict.fromkeys(part for backend in self._first.backends for part in backend.keys):
            if (key := part.find(given)) is not None:
                size = outline.scaled.sizes.get(part.symbol, None if part.symbol == "vpp" else 1)
                yield Target(
                    key, self._spelling.unset if size is None else str(size), f"{part.symbol} {hold}"
                )
        why = "all GPUs are on this machine"
        if "torchrun" in {item.kind for item in self._entry.launchers}:
            yield Target(f"{TORCHRUN}nnodes", "1", why, lambda text: text in (None, "1", "1:1"))
            yield Target(
                f"{TORCHRUN}nproc_per_node", gpus, "one rank a GPU", lambda text: (text or "1") == gpus
            )
        for part in mesh.backend.world:
            name = part.find(given) or part.settings[0]
            count, reason = (1, why) if part.symbol == "nnodes" else (self._wish.gpus, "one rank a GPU")
            yield Target(name, str(count), reason, outline.between(part.symbol, count, count))

    @property
    def _entry(self) -> Any:
        assert self._first.entry is not None
        return self._first.entry

    def _steering(self) -> Steering:
        return Steering(self._bench, self._spelling.words, self._pinned, self._pinned_names())

    def _finished(self, steering: Steering, outline: Outline, model: Model) -> SmokePlan:
        trial = self._bench.run(steering.inputs, placeholders=False)
        if trial.entry is None:
            raise Refusal(
                f"{self._script.path}: {stopped(trial)}; give what the launcher demands with --set NAME=VALUE"
            )
        facts = model.facts({**outline.scaled.numbers, **outline.scaled.sizes})
        self._refuse_killing(trial)
        check(self._run, trial, facts)
        self._enough(trial, outline)
        engine = list(self._engine(outline, facts))
        return SmokePlan(
            script=self._script.path,
            environment={**steering.inputs.environment, **{item.name: item.value for item in engine}},
            arguments=steering.inputs.arguments,
            changes=(*self._wishes(), *steering.changes(), *engine),
            gpus=self._wish.gpus,
            nodes=1,
            steps=outline.steps,
            kind=outline.kind,
            backend=outline.mesh.backend.name,
            model_family=model.family,
            checkpoint=model.given,
            notes=(*self._notes(steering), *self._slow_starts(trial, outline)),
            config=dict(outline.config),
            folder=str(self._wish.folder),
        )

    def _refuse_killing(self, trial: Trial) -> None:
        """Raise Refusal where the launcher would end processes by name: those of others, and the smoke run itself."""
        for command in trial.launch.commands:
            if command.argv[0] in ("pkill", "killall") and not self._wish.allow_kill:
                raise Refusal(
                    f"{self._script.path}:{command.site.span.line}: {' '.join(command.argv)} ends every such process of this "
                    "machine, this one included; allow it with --allow-kill where there is nothing else"
                )

    def _enough(self, trial: Trial, outline: Outline) -> None:
        """Raise Refusal where the tiny data does not last for the steps."""
        mesh = trial.mesh(lambda _: None)
        batch = mesh.values.get("b", 1) if mesh else 1
        if batch * outline.steps > ROWS:
            raise Refusal(
                f"{self._script.path}: {outline.steps} steps of {batch} rows are more than the {ROWS} that the tiny data has; "
                "make the batch smaller with --set, or the steps fewer with --steps"
            )

    def _wishes(self) -> Iterator[Change]:
        for name, value in self._wish.settings.items():
            known = self._is_variable(name)
            was = self._shipped.launch.variables.get(name) if known else self._shipped.text(name.lstrip("+-"))
            kind: Literal["environment", "override"] = "environment" if known else "override"
            yield Change(name, value, was, "given with --set", kind)

    @property
    def _host(self) -> Mapping[str, str]:
        return os.environ if self._wish.host is None else self._wish.host

    def _engine(self, outline: Outline, facts: ModelFacts | None) -> Iterator[Change]:
        """Yield the variables of the rollout engine that the user has not decided."""
        pinned = self._pinned_names()
        for change in rollout.changes(outline, self._shipped, facts, self._host):
            if change.name not in pinned:
                yield change

    def _slow_starts(self, trial: Trial, outline: Outline) -> Iterator[str]:
        """Say what every process of a Ray that is about to start imports first."""
        if outline.kind == "rl" and trial.entry is not None:
            found = startup.first_import(trial.entry, self._run.project.root, self._host)
            if found is not None:
                yield startup.note(found)

    def _notes(self, steering: Steering) -> Iterator[str]:
        for name, value in self._bench.host.items():
            yield f"{name}={value} comes from the environment of this process"
        for target in steering.missed:
            yield f"{target.key} stays as it is ({target.why}): nothing from outside reaches it"
