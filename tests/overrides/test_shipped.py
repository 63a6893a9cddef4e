"""Launchers of programs that are nowhere on this machine, checked against the schemas that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.core.finding import Severity
from example_sanity.schema.hydra import shipped
from helpers import Write, cli, report

SCRIPT = "examples/run_qwen3_8b_fsdp.sh"
MLITE = "hydra.searchpath=[pkg://verl_mlite.config] actor@actor_rollout_ref.actor=mlite_actor"
ROOT = Path(__file__).parents[2]


def text(write: Write, line: str, table: str = "") -> list[str]:
    line = line.replace(
        "verl.trainer.main_ppo ", "verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm "
    )
    root = write({SCRIPT: f"python3 -m {line}\n", "pyproject.toml": table})
    return [f"{item.code} {item.message}" for item in report(root, "overrides").findings]


@pytest.mark.parametrize(
    "line",
    [
        "verl.trainer.main_ppo trainer.nnodes=2 data.train_files=[a,b]",
        "verl.trainer.main_ppo model_engine=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4",
        "verl.trainer.main_ppo actor_rollout_ref.ref.megatron.tensor_model_parallel_size=4 model_engine=megatron",
        f"verl.trainer.main_ppo {MLITE} actor_rollout_ref.actor.engine.tp=2 actor_rollout_ref.actor.engine.ep=8",
        "verl.trainer.sft_trainer engine=megatron optim=megatron engine.tensor_model_parallel_size=2",
        "verl.trainer.main_ppo --config-path=/mine --config-name=own trainer.anything=1",
        "verl.model_merger merge --backend fsdp",
        "verl.trainer.main_ppo +actor_rollout_ref.actor.fsdp_config.mixed_precision.reduce_dtype=fp32",
    ],
)
def test_right_launchers_are_silent(write: Write, line: str) -> None:
    assert text(write, line) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "verl.trainer.main_ppo trainer.nnode=2",
            "OVR001 trainer.nnode is no key of ppo_trainer (verl-main); did you mean trainer.nnodes?",
        ),
        (
            f"verl.trainer.main_ppo {MLITE} actor_rollout_ref.actor.engine.param_offloads=true",
            "OVR001 actor_rollout_ref.actor.engine.param_offloads is no key of ppo_trainer (verl-mlite); "
            "did you mean actor_rollout_ref.actor.engine.param_offload?",
        ),
        (
            "verl.trainer.main_ppo +trainer.use_legacy_worker_impl=disable",
            "OVR008 trainer.use_legacy_worker_impl was removed from the configuration in v0.8.0 (commit 044bbba27): "
            "nothing reads it any more",
        ),
        (
            "verl.trainer.main_pppo trainer.nnodes=1",
            "OVR006 there is no module verl.trainer.main_pppo in verl-main (did you mean 'verl.trainer.main_ppo'?)",
        ),
        (
            "verl.trainer.main_ppo --config-name=ppo_triner a.b=1",
            "OVR007 there is no configuration ppo_triner in pkg://verl.trainer.config of verl-main (did you mean 'ppo_trainer'?)",
        ),
    ],
)
def test_wrong_ones_are_found(write: Write, line: str, expected: str) -> None:
    assert text(write, line) == [expected]


def test_one_wrong_engine_is_one_finding(write: Write) -> None:
    megatron = "actor_rollout_ref.actor.megatron"
    line = f"{megatron}.tensor_model_parallel_size=2 {megatron}.pipeline_model_parallel_size=2"
    (found,) = text(write, f"verl.trainer.main_ppo actor_rollout_ref.actor.model_engine=megatron {line}")
    assert found.startswith(
        "OVR001 actor_rollout_ref.actor.model_engine is no key; model_engine is a config group"
    )
    (found,) = text(write, f"verl.trainer.main_ppo {line}")
    assert (
        f"{megatron}.tensor_model_parallel_size and 1 other override exist only with model_engine=megatron"
        in found
    )
    assert found.endswith("choose model_engine=megatron")


def test_the_configuration_chooses_the_schema(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    line = "verl.trainer.main_ppo reward_model.reward_manager=dapo"
    assert text(write, line, "[tool.example-sanity.overrides]\nschema = 'verl-0.6.1'\n") == []

    root = write({"pyproject.toml": "[tool.example-sanity.overrides]\nschema = 'verl-0.6.2'\n"})
    code, _, error = cli(capsys, "overrides", "--root", str(root))

    assert code == 2
    assert "there is no schema 'verl-0.6.2' (did you mean 'verl-0.6.1'?)" in error


def test_our_own_launchers_are_clean() -> None:
    assert report(ROOT, "overrides", "examples").findings == ()


def test_the_schemas_stay_small() -> None:
    assert sum(path.stat().st_size for path in shipped.FOLDER.iterdir()) < 400_000


def test_a_program_that_does_not_compose_on_the_search_path_is_not_judged(write: Write) -> None:
    line = f"verl.experimental.fully_async_policy.fully_async_main {MLITE} anything.at.all=1"
    assert text(write, line) == []


@pytest.mark.parametrize("name", ["verl-0.6.1", "verl-0.7.1", "verl-0.8.0", "verl-0.9.0", "verl-main"])
def test_every_release_judges_what_all_have_in_common(write: Write, name: str) -> None:
    table = f"[tool.example-sanity.overrides]\nschema = '{name}'\n"
    assert (
        text(write, "verl.trainer.main_ppo trainer.nnodes=2 actor_rollout_ref.actor.optim.lr=1e-6", table)
        == []
    )
    (found,) = text(write, "verl.trainer.main_ppo trainer.nnode=2", table)
    assert found == f"OVR001 trainer.nnode is no key of ppo_trainer ({name}); did you mean trainer.nnodes?"


def test_of_the_releases_the_newest_that_has_the_module_counts(write: Write) -> None:
    (found,) = text(write, "verl.trainer.main_ppo_sync trainer.nnode=2")
    assert found.startswith("OVR001 trainer.nnode is no key of ppo_trainer (verl-0.8.0)")


@pytest.mark.parametrize("package", ["other", "verl"])
def test_a_release_that_a_folder_pins_by_its_tag(write: Write, package: str) -> None:
    # A repository of recipes may be called like the framework that its recipes pin.
    files = {
        "pyproject.toml": f'[project]\nname = "{package}"\nversion = "1"\n',
        "recipes/a/REQUIRED_VERL.txt": "MODE=pinned_tag\nTAG=v0.6.1\n",
        "recipes/a/run.sh": "python3 -m verl.trainer.main_ppo "
        "actor_rollout_ref.rollout.name=vllm trainer.use_legacy_worker_impl=disable\n",
    }
    (found,) = report(write(files), "overrides").findings
    assert found.severity is Severity.INFO
    assert found.message.endswith(
        "[in verl-main only; not at the pin verl v0.6.1 (recipes/a/REQUIRED_VERL.txt:2)]"
    )
