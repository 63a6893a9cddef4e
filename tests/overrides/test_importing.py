"""Which package a launch means: the current folder, PYTHONPATH, the project, and shipped schemas laid over it."""

from __future__ import annotations

import pytest

from helpers import Write, report
from overrides.program import FILES, SCRIPT

MODULE = "python3 -m app.train trainer.nnode=2\n"
MAIN = (
    "import hydra\n\n"
    '@hydra.main(config_path="config", config_name="ppo_trainer", version_base=None)\ndef main(config):\n    pass\n'
)
VERL = {
    "verl/__init__.py": "",
    "verl/trainer/main_ppo.py": MAIN,
    "verl/trainer/config/ppo_trainer.yaml": (
        "defaults:\n  - actor@actor_rollout_ref.actor: dp_actor\n  - _self_\n\ntrainer:\n  nnodes: 1\n  ours: 1\n"
    ),
    "verl/trainer/config/actor/dp_actor.yaml": "clip_ratio: 0.2\nours: 1\n",
}
MLITE = "hydra.searchpath=[pkg://verl_mlite.config] actor@actor_rollout_ref.actor=mlite_actor"


def text(write: Write, files: dict[str, str]) -> list[str]:
    return [f"{item.code} {item.message}" for item in report(write(files), "overrides").findings]


def moved(folder: str) -> dict[str, str]:
    return {f"{folder}/{path}": content for path, content in FILES.items() if not path.startswith("plug")}


@pytest.mark.parametrize(
    ("folder", "launcher"),
    [
        ("deep/down", "cd deep/down\n" + MODULE),
        ("deep/down", "export PYTHONPATH=$PWD/deep/down\n" + MODULE),
        ("deep/down", MODULE),
    ],
    ids=["current folder", "PYTHONPATH", "guessed"],
)
def test_the_module_is_found_where_python_finds_it(write: Write, folder: str, launcher: str) -> None:
    (found,) = text(write, {**moved(folder), SCRIPT: launcher})
    assert found.startswith(f"OVR001 trainer.nnode is no key of train ({folder}/app/config)")


def test_the_launch_decides_between_two_packages_of_a_name(write: Write) -> None:
    config = "app/config/train.yaml"
    other = {"old/" + path: content for path, content in FILES.items()}
    other[f"old/{config}"] = FILES[config].replace("nnodes: 1", "nnode: 1")
    assert len(text(write, {**FILES, **other, SCRIPT: MODULE})) == 1
    assert text(write, {**FILES, **other, SCRIPT: "export PYTHONPATH=/old\ncd old\n" + MODULE}) == []


def test_a_folder_inside_of_a_package_is_no_package_of_its_own(write: Write) -> None:
    inner = {"app/utils/__init__.py": "", "app/utils/engine/__init__.py": ""}
    server = "python3 -m engine.launch_server --model-path x\n"
    assert text(write, {**FILES, **inner, SCRIPT: server}) == []
    (found,) = text(write, {**FILES, "deep/engine/__init__.py": "", SCRIPT: server})
    assert found.startswith("OVR006 there is no module engine.launch_server in deep/engine")


def test_a_folder_that_only_has_the_name_of_a_package_is_none(write: Write) -> None:
    files = {
        "lite/verl/__init__stub.py": "",
        "lite/verl/tools/x.py": "",
        SCRIPT: "python3 -m verl.trainer.main_ppo trainer.nnode=2\n",
    }
    (found,) = text(write, files)
    assert found.startswith("OVR001 trainer.nnode is no key of ppo_trainer (verl-main)")
    files[SCRIPT] = "export PYTHONPATH=/lite\n" + files[SCRIPT]
    assert text(write, files) == [found]


def test_a_shipped_schema_lies_over_the_repository(write: Write) -> None:
    words = "trainer.ours=2 actor_rollout_ref.actor.ours=2 actor_rollout_ref.actor.engine.tp=2"
    line = f"python3 -m verl.trainer.main_ppo {MLITE} {words}"

    assert text(write, {**VERL, SCRIPT: f"{line}\n"}) == []
    assert text(
        write, {**VERL, SCRIPT: f"{line} trainer.our=1 actor_rollout_ref.actor.engine.param_offloads=2\n"}
    ) == [
        "OVR001 trainer.our is no key of ppo_trainer (verl/trainer/config) with verl-mlite; did you mean trainer.ours?",
        "OVR001 actor_rollout_ref.actor.engine.param_offloads is no key of ppo_trainer (verl/trainer/config) with verl-mlite; "
        "did you mean actor_rollout_ref.actor.engine.param_offload?",
    ]
    (found,) = text(write, {**VERL, SCRIPT: f"{line.replace('mlite_actor', 'mlite_acter')}\n"})
    assert "config group actor has no option mlite_acter; did you mean mlite_actor?" in found


def test_a_package_that_nobody_knows_is_named(write: Write) -> None:
    line = f"python3 -m verl.trainer.main_ppo {MLITE} trainer.our=1".replace("verl_mlite", "nowhere")
    (found,) = text(write, {**VERL, SCRIPT: f"{line}\n"})
    assert found == (
        "OVR017 package nowhere is neither in the project, in source-roots, installed, nor among the shipped schemas: "
        "the overrides are not checked"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def impl(config):\n    return config.trainer.get('use_legacy_worker_impl')\n", []),
        (
            "",
            [
                "OVR008 trainer.use_legacy_worker_impl was removed from the configuration in v0.8.0 "
                "(commit 044bbba27): nothing reads it any more"
            ],
        ),
    ],
    ids=["older than the release", "newer"],
)
def test_what_the_source_at_hand_reads_was_not_removed(
    write: Write, source: str, expected: list[str]
) -> None:
    line = "python3 -m verl.trainer.main_ppo +trainer.use_legacy_worker_impl=disable\n"
    assert text(write, {**VERL, "verl/workers.py": source, SCRIPT: line}) == expected
