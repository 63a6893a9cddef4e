"""Which constraints of a framework hold here: the repository may carry another release of it, or a trainer of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from example_sanity.checks.mesh.repository import Repository
    from example_sanity.parallel.constraint import Constraint
    from example_sanity.parallel.mesh import Mesh

# How groups of ranks are built is the same in every release; what is checked beyond that differs.
_EVERYWHERE = frozenset({"MSH001", "MSH002", "MSH006", "MSH007", "MSH008", "MSH010", "MSH011"})
_VERL = frozenset({"VC", "VF", "VM", "VO", "VR"})
# The trainers of verl whose batch chain is known; any other program around its workers cuts batches itself.
_TRAINERS = (
    "verl.trainer.",
    "verl.experimental.fully_async_policy.",
    "verl.experimental.one_step_off_policy.",
)
# A fork of Megatron-LM that has no such file parses and checks its arguments in its own way.
_MEGATRON = "megatron/training/arguments.py"
_OLDER = "verl/workers/fsdp_workers.py"


def of_repository(
    mesh: Mesh, program: str | None, settings: Mapping[str, object], repository: Repository
) -> Mesh:
    """Return the mesh without the constraints that the framework, as the repository has it, does not check."""
    rules = mesh.backend.constraints
    held = tuple(rule for rule in rules if _holds(rule, mesh, program, settings, repository))
    return mesh if held == rules else replace(mesh, backend=replace(mesh.backend, constraints=held))


def _holds(
    rule: Constraint, mesh: Mesh, program: str | None, settings: Mapping[str, object], repository: Repository
) -> bool:
    if rule.code in _EVERYWHERE:
        return True
    path = rule.source.partition(":")[0]
    if rule.id.partition("-")[0] in _VERL:
        path = f"verl/{path.removeprefix('verl/')}"
        of_trainer = rule.code.startswith("BAT") or path.startswith("verl/trainer/")
        if of_trainer and program is not None and not _is_trainer(program):
            return False
    package = path.partition("/")[0]
    home = repository.home(package)
    if home is None:
        return True
    by_engine = path.startswith("verl/workers/engine") and mesh.backend.role != "sft"
    if by_engine and _is_legacy(settings) and repository.read(home + _OLDER) is not None:
        return False
    files = (path, _MEGATRON) if package == "megatron" else (path,)
    return all(repository.read(home + file) is not None for file in files)


def _is_trainer(program: str) -> bool:
    dotted = program.removesuffix(".py").replace("/", ".").lstrip(".")
    return dotted.startswith(_TRAINERS)


def _is_legacy(settings: Mapping[str, object]) -> bool:
    """Whether verl runs its older workers where it has both: releases before 0.8 have to be told not to."""
    return settings.get("trainer.use_legacy_worker_impl") != "disable"
