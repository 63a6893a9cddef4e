"""From a launcher to the plan of its smoke run: scaled down, evaluated again, and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from example_sanity.core.errors import Uninspectable, UsageError, did_you_mean
from example_sanity.core.rule import Subject
from example_sanity.parallel.models import ModelFacts, from_config
from example_sanity.smoke import families, trainers
from example_sanity.smoke.checking import check
from example_sanity.smoke.checkpoints.configs import CONFIGS
from example_sanity.smoke.checkpoints.store import location
from example_sanity.smoke.data import ROWS, paths
from example_sanity.smoke.data import location as data_location
from example_sanity.smoke.meshes import AXES, Scaled, obstacle, scale
from example_sanity.smoke.outline import Outline
from example_sanity.smoke.plan import Change, SmokePlan
from example_sanity.smoke.spelling import Spelling
from example_sanity.smoke.steering import Refusal, Steering, Target, stopped
from example_sanity.smoke.trial import TORCHRUN, Bench, Inputs, Trial

if TYPE_CHECKING:
    from example_sanity.core.runner import Run
    from example_sanity.launch.syntax import Script
    from example_sanity.parallel.mesh import Mesh, Sizes

__all__ = ["Refusal", "Wish", "plan"]


@dataclass(frozen=True)
class Wish:
    """What the user asks for.

    ``folder`` is where files go, ``steps`` and ``family`` are None for what suits the launcher. ``settings`` are names and
    values that win: knobs of the launcher, Hydra keys, flags with their dashes.
    """

    gpus: int
    folder: Path
    steps: int | None = None
    family: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str] | None = None


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
        family, given = self._family(mesh)
        scaled = self._scaled(mesh, trainer, family, given)
        config = {} if given else CONFIGS[family]({**scaled.numbers, **scaled.sizes})
        steps = self._wish.steps or trainer.steps[kind]
        checkpoint = given or location(self._wish.folder, family, config)
        outline = Outline(
            self._first.given,
            mesh,
            scaled,
            kind,
            steps,
            self._wish.folder,
            checkpoint,
            _pair(paths(data_location(self._wish.folder, kind))),
        )
        steering = self._steering()
        steering.steer([*self._sizes(outline), *trainer.targets(outline)])
        return self._finished(steering, outline, family, config)

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
            if name in self._bench.knobs:
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

    def _family(self, mesh: Mesh) -> tuple[str, Path | None]:
        """Return the family of models, and the checkpoint where the user names one."""
        named = [self._first.given.get(key) for key in mesh.backend.models]
        for setting in filter(None, named):
            ours = not self._pinned_names().isdisjoint((setting.key, *setting.origin.knobs))
            if ours:
                return self._wish.family or families.named(setting.raw) or "given", Path(setting.raw)
        family = self._wish.family or self._told(mesh)
        if family is None:
            shown = ", ".join(setting.raw for setting in named if setting and setting.stable) or "a model"
            raise Refusal(
                f"{self._script.path} trains {shown}, of no family that a tiny checkpoint is made of "
                f"({', '.join(families.FAMILIES)}); choose one with --family, or a checkpoint with --set"
            )
        return family, None

    def _told(self, mesh: Mesh) -> str | None:
        return families.first_named(self._hints(mesh))

    def _hints(self, mesh: Mesh) -> Iterator[str]:
        """Yield what may name the model: its path; where that is left to the user, the experiment and the file."""
        placeholders = tuple(self._shipped.launch.scenario.placeholders.values())
        for key in (*mesh.backend.models, "trainer.experiment_name"):
            text = self._first.text(key)
            if text is not None and text not in placeholders:
                yield text
                if key in mesh.backend.models:
                    return
        yield self._script.path

    def _pinned_names(self) -> frozenset[str]:
        return frozenset((*self._pinned.environment, *self._pinned.trailing))

    def _scaled(self, mesh: Mesh, trainer: trainers.Trainer, family: str, given: Path | None) -> Scaled:
        def numbers(sizes: Sizes) -> Sizes:
            found = trainer.numbers(mesh, sizes)
            facts = _facts(family, given, {**found, **sizes})
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

    def _finished(
        self, steering: Steering, outline: Outline, family: str, config: dict[str, Any]
    ) -> SmokePlan:
        trial = self._bench.run(steering.inputs, placeholders=False)
        if trial.entry is None:
            raise Refusal(
                f"{self._script.path}: {stopped(trial)}; give what the launcher demands with --set NAME=VALUE"
            )
        facts = _facts(
            family, None if config else outline.checkpoint, {**outline.scaled.numbers, **outline.scaled.sizes}
        )
        check(self._run, trial, facts)
        self._enough(trial, outline)
        return SmokePlan(
            script=self._script.path,
            environment=dict(steering.inputs.environment),
            arguments=steering.inputs.arguments,
            changes=(*self._wishes(), *steering.changes()),
            gpus=self._wish.gpus,
            nodes=1,
            steps=outline.steps,
            kind=outline.kind,
            backend=outline.mesh.backend.name,
            model_family=family,
            checkpoint=None if config else outline.checkpoint,
            notes=tuple(self._notes(steering)),
            config=config,
            folder=str(self._wish.folder),
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
            known = name in self._bench.knobs
            was = self._shipped.launch.variables.get(name) if known else self._shipped.text(name.lstrip("+-"))
            kind: Literal["environment", "override"] = "environment" if known else "override"
            yield Change(name, value, was, "given with --set", kind)

    def _notes(self, steering: Steering) -> Iterator[str]:
        for name, value in self._bench.host.items():
            yield f"{name}={value} comes from the environment of this process"
        for target in steering.missed:
            yield f"{target.key} stays as it is ({target.why}): nothing from outside reaches it"


def _facts(family: str, given: Path | None, sizes: Mapping[str, int]) -> ModelFacts | None:
    """Return the facts of the tiny model, or of the checkpoint that the user names."""
    if given is None:
        return from_config(CONFIGS[family](sizes), family, "the tiny checkpoint")
    try:
        import json

        return from_config(json.loads((given / "config.json").read_text("utf-8")), given.name)
    except (OSError, ValueError):
        return None


def _pair(items: Sequence[Path]) -> tuple[Path, Path]:
    first, second = items
    return first, second
