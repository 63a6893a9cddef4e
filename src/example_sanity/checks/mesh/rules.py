"""MSH001-005: the mesh of a launch against its backend, and the launcher's own guard against the same rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from example_sanity.checks.mesh.bridge import complete
from example_sanity.checks.mesh.constraints import ConstraintRule, planned
from example_sanity.checks.mesh.guard import GuardCase, guard_case
from example_sanity.checks.mesh.limits import LIMITS
from example_sanity.core.finding import Finding, Related, Span
from example_sanity.core.rule import Context, Example, Rule, Subject
from example_sanity.launch.command import Launch
from example_sanity.launch.syntax import Guard
from example_sanity.parallel.guard import Proof

_PPO = "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=mlite_actor \\\n"
_WORLD = "    trainer.nnodes=1 trainer.n_gpus_per_node=8"
_KNOBS = "TP=${TP:-1}\nCP=${CP:-8}\nEP=${EP:-8}\nPP=${PP:-1}\nNNODES=${NNODES:-1}\nNGPU=$((NNODES * 8))\n"
_LAUNCH = (
    _PPO
    + "    actor_rollout_ref.actor.engine.tp=${TP} actor_rollout_ref.actor.engine.cp=${CP} \\\n"
    + "    actor_rollout_ref.actor.engine.ep=${EP} actor_rollout_ref.actor.engine.pp=${PP} \\\n"
    + "    trainer.nnodes=${NNODES} trainer.n_gpus_per_node=8\n"
)


def _guarded(condition: str, dp: str = "NGPU / (TP * CP * PP)") -> str:
    guard = f'if (( {condition} )); then\n    echo "invalid mesh" >&2\n    exit 1\nfi\n'
    return f'{_KNOBS}{guard}echo "dp=$(( {dp} ))"\n{_LAUNCH}'


_EXACT = "NGPU % (TP * CP * PP) != 0 || NGPU % (EP * PP) != 0"


class DenseMesh(ConstraintRule):
    """The GPUs of a launch do not divide into its dense mesh.

    Megatron-Core and Megatron Lite split the world twice. The dense part takes tp·cp·pp ranks a replica, so
    world % (tp·cp·pp) must be 0, and dp = world / (tp·cp·pp). A size that the launcher leaves out counts with the
    backend's default. The message gives the smallest change that makes the whole mesh legal.
    """

    code = "MSH001"
    name = "dense-mesh"
    summary = "the world size does not divide into the dense mesh"
    subject = Subject.LAUNCH
    source = "Megatron-LM megatron/core/parallel_state.py; experimental/lite .../primitive/parallel/state.py"
    bad = (
        Example(
            f"{_PPO}    actor_rollout_ref.actor.engine.cp=8 actor_rollout_ref.actor.engine.pp=2 \\\n{_WORLD}\n"
        ),
    )
    good = (
        Example(
            f"{_PPO}    actor_rollout_ref.actor.engine.cp=4 actor_rollout_ref.actor.engine.pp=2 \\\n{_WORLD}\n"
        ),
    )


class ExpertMesh(ConstraintRule):
    """The GPUs of a launch do not divide into its expert mesh.

    The expert part of a mixture-of-experts model is split on its own: world % (etp·ep·pp) must be 0, and
    edp = world / (etp·ep·pp). ep is no factor of the dense mesh, and etp left out means 1 in Megatron Lite but tp in
    Megatron-Core. No configuration check of verl looks at this; the ranks fail when they build their groups.
    """

    code = "MSH002"
    name = "expert-mesh"
    summary = "the world size does not divide into the expert mesh"
    subject = Subject.LAUNCH
    source = "Megatron-LM megatron/core/parallel_state.py; experimental/lite .../primitive/parallel/state.py"
    bad = (Example(f"{_PPO}    actor_rollout_ref.actor.engine.ep=16 \\\n{_WORLD}\n"),)
    good = (Example(f"{_PPO}    actor_rollout_ref.actor.engine.ep=8 \\\n{_WORLD}\n"),)


class _GuardRule(Rule):
    """Reports one kind of difference between a launcher's guard and its backend."""

    subject = Subject.LAUNCH

    def check(self, subject: object, context: Context) -> Iterator[Finding]:
        """Prove the guard of the default scenario and yield what this rule reports of it."""
        launch = cast("Launch", subject)
        if launch.scenario.name != "default":
            return
        for case, proof in proofs(launch, context):
            yield from self._report(case, proof)

    def _report(self, case: GuardCase, proof: Proof) -> Iterator[Finding]:
        raise NotImplementedError


def proofs(launch: Launch, context: Context) -> list[tuple[GuardCase, Proof]]:
    """Return every guard of a launch with its proof, each proved once a run."""
    cache: dict[int, list[tuple[GuardCase, Proof]]] = context.cache.setdefault("mesh proofs", {})
    if id(launch) not in cache:
        cases = [
            case for shown in complete(planned(launch, context)) if (case := guard_case(shown)) is not None
        ]
        proved = [(case, case.prove(context.project.root)) for case in cases]
        cache[id(launch)] = [(case, proof) for case, proof in proved if proof is not None]
    return cache[id(launch)]


class UnsoundGuard(_GuardRule):
    """A launcher checks its own mesh, and its check lets a mesh pass that the backend rejects.

    The guard is tried in the sandbox over some thousand assignments of the launcher's knobs and compared with the
    rule of the backend. The message shows the nearest assignment on which they differ. The usual reason: a factor
    (cp) that the guard forgets, or ep counted into the dense mesh.
    """

    code = "MSH003"
    name = "unsound-guard"
    summary = "the launcher's own check accepts a mesh that the backend rejects"
    source = "the guard of the launcher against MSH001 and MSH002"
    bad = (Example(_guarded("NGPU % (TP * EP * PP) != 0")),)
    good = (Example(_guarded(_EXACT)),)

    def _report(self, case: GuardCase, proof: Proof) -> Iterator[Finding]:
        if proof.unsound is None:
            return
        example = proof.unsound
        backend = case.shown.mesh.backend
        broken = backend.violated(example.mesh.sizes)
        problems = [rule.problem(example.mesh.sizes) for rule in broken]
        guard = case.guard_of({symbol for rule in broken for symbol in rule.symbols})
        yield self.finding(
            case.script.path,
            guard.span,
            f"the guard accepts {example.setting}, which {backend.title} rejects: {'; '.join(problems)}; "
            f"check {formulas(case)} instead",
            related=_other_guards(case, guard),
        )


class StrictGuard(_GuardRule):
    """A launcher checks its own mesh, and its check rejects a mesh that the backend accepts.

    A legal mesh that cannot be used is a smaller defect than a broken one that can, but it sends people looking for an
    error in their settings that is not there.
    """

    code = "MSH004"
    name = "strict-guard"
    summary = "the launcher's own check rejects a mesh that the backend accepts"
    source = "the guard of the launcher against MSH001 and MSH002"
    bad = (Example(_guarded(f"{_EXACT} || NGPU % (TP * EP) != 0")),)
    good = (Example(_guarded(_EXACT)),)

    def _report(self, case: GuardCase, proof: Proof) -> Iterator[Finding]:
        if proof.strict is None:
            return
        example = proof.strict
        if case.decides_more({case.knobs[knob] for knob in example.changed}):
            return
        sizes = ", ".join(f"{name}={size}" for name, size in example.mesh.derived.items())
        guard = case.guard_of({case.knobs[knob] for knob in example.changed})
        yield self.finding(
            case.script.path,
            guard.span,
            f"the guard rejects {example.setting}, which {case.shown.mesh.backend.title} accepts ({sizes}); "
            f"check {formulas(case)} instead",
            related=_other_guards(case, guard),
        )


class WrongDerivedSize(_GuardRule):
    """A launcher prints or exports a data-parallel size that is not the one that the backend will use.

    Batch sizes are chosen after that number: verl asserts (mini batch · n) % dp = 0 only at the first update, after a
    whole rollout was paid for.
    """

    code = "MSH005"
    name = "wrong-derived-size"
    summary = "a printed or exported dp or edp is not the one that the backend derives"
    source = "the printed sizes of the launcher against dp = world / (tp·cp·pp), edp = world / (etp·ep·pp)"
    bad = (Example(_guarded(_EXACT, "NGPU / (TP * EP * PP)")),)
    good = (Example(_guarded(_EXACT)),)

    def _report(self, case: GuardCase, proof: Proof) -> Iterator[Finding]:
        for wrong in proof.wrong_derived:
            split = next(s for s in case.shown.mesh.backend.splits if s.derived == wrong.symbol)
            place = next((a.span for a in case.derived if a.name.lower().startswith(wrong.symbol)), None)
            yield self.finding(
                case.script.path,
                place or case.guards[-1].span,
                f"with {wrong.example.setting} the launcher shows {wrong.symbol}={wrong.shown}, but "
                f"{case.shown.mesh.backend.title} uses {wrong.symbol}={wrong.right}; "
                f"compute it as world / ({'·'.join(split.parts)})",
            )


def formulas(case: GuardCase) -> str:
    """Return what an exact guard checks, in the launcher's own names."""
    called = case.shown.names
    products = [
        " * ".join(called.get(part, part) for part in split.parts if part in called) or "1"
        for split in case.shown.mesh.backend.splits
    ]
    return " and ".join(f"world % ({product}) == 0" for product in products)


def _other_guards(case: GuardCase, shown: Guard) -> tuple[Related, ...]:
    others = [guard for guard in case.guards if guard != shown]
    return tuple(Related(case.script.path, _first_line(guard.span), "part of the guard") for guard in others)


def _first_line(span: Span) -> Span:
    return Span(span.line, span.column, span.line, span.column)


RULES: tuple[type[Rule], ...] = (DenseMesh, ExpertMesh, UnsoundGuard, StrictGuard, WrongDerivedSize, *LIMITS)
