"""Which backend a launch uses, and the sizes that it takes from the settings."""

from __future__ import annotations

import pytest

from example_sanity.parallel.backends import BACKENDS, detect, meshes

ACTOR = "actor_rollout_ref.actor"
REF = "actor_rollout_ref.ref"
TP, EP = "tensor_model_parallel_size", "expert_model_parallel_size"
PPO, SFT = "verl.trainer.main_ppo", "verl.trainer.sft_trainer"

Settings = dict[str, object]

LITE_PPO: Settings = {
    "actor@actor_rollout_ref.actor": "mlite_actor",
    f"{ACTOR}.engine.tp": 1,
    f"{ACTOR}.engine.pp": 8,
    f"{ACTOR}.engine.vpp": 1,
    f"{ACTOR}.engine.ep": 8,
    f"{ACTOR}.engine.cp": 8,
    f"{ACTOR}.engine.etp": 1,
    "trainer.nnodes": 32,
    "trainer.n_gpus_per_node": 8,
}
LITE_SFT: Settings = {
    "engine": "mlite",
    "engine.tp": 1,
    "engine.pp": 4,
    "engine.ep": 8,
    "engine.cp": 4,
    "engine.etp": 1,
}
CORE_PPO: Settings = {
    "model_engine": "megatron",
    f"{ACTOR}.megatron.{TP}": 4,
    f"{ACTOR}.megatron.{EP}": 4,
    f"{ACTOR}.megatron.virtual_pipeline_model_parallel_size": None,
    "trainer.nnodes": 4,
}
CRITIC: Settings = {f"critic.megatron.{TP}": 2}
KL: Settings = {f"{ACTOR}.use_kl_loss": True}
OWN_REF: Settings = {f"{REF}.megatron.{TP}": 2}


def found(settings: Settings, program: str | None = PPO) -> list[tuple[str, str]]:
    return [(backend.name, backend.role) for backend in detect(settings, program)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"trainer.nnodes": 2},
        {"model_engine": "dp", "trainer.nnodes": 2},
        {"model_engine": "${engine}"},
        {f"{ACTOR}.strategy": "mindspore"},
        {"config-name": "ppo_trainer"},
        {"config-name": "ppo_trainer", "cfg": "job", f"{ACTOR}.strategy": "megatron"},
        {"config-name": "my_trainer", "actor_rollout_ref.rollout.n": 8},
    ],
)
def test_other_launches_have_no_mesh_here(settings: Settings) -> None:
    assert found(settings) == []


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({f"{ACTOR}.strategy": "fsdp2", f"{ACTOR}.fsdp_config.fsdp_size": 8}, "fsdp"),
        ({f"{ACTOR}.strategy": "fsdp", f"{ACTOR}.megatron.{TP}": 8}, "fsdp"),
        ({"actor_rollout_ref.rollout.n": 8}, "fsdp"),
        ({"model_engine": "veomni"}, "veomni"),
        ({f"{ACTOR}.veomni.expert_parallel_size": 8, f"{ACTOR}.ppo_mini_batch_size": 8}, "veomni"),
        ({f"{ACTOR}.strategy": "automodel", f"{ACTOR}.engine.tp_size": 2}, "automodel"),
        ({"model_engine": "torchtitan"}, "torchtitan"),
    ],
)
def test_other_engines_are_recognised(settings: Settings, name: str) -> None:
    assert found(settings) == [(name, "actor")]


def test_an_engine_key_of_another_program_is_not_verl() -> None:
    assert found({"engine": "megatron"}, "serve.py") == []
    assert found({"engine": "megatron"}, "my_sft.py") == [("megatron", "sft")]


@pytest.mark.parametrize(
    "settings",
    [
        {"actor@actor_rollout_ref.actor": "mlite_actor"},
        {f"{ACTOR}.strategy": "mlite"},
        {f"{ACTOR}.engine.cp": 8},
        {"actor@actor_rollout_ref.actor": "mlite_actor", "model_engine": "megatron"},
    ],
)
def test_megatron_lite_is_recognised(settings: Settings) -> None:
    assert found(settings) == [("megatron_lite", "actor")]


@pytest.mark.parametrize(
    "settings",
    [
        {"model_engine": "megatron"},
        {"config-name": "ppo_megatron_trainer.yaml"},
        {"config-name": "dapo_megatron_trainer"},
        {f"{ACTOR}.strategy": "megatron"},
        {f"{ACTOR}.megatron.{TP}": 8},
        {"actor@actor_rollout_ref.actor": "megatron_actor"},
    ],
)
def test_megatron_core_is_recognised(settings: Settings) -> None:
    assert found(settings) == [("megatron", "actor")]


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"engine": "mlite"}, "megatron_lite"),
        ({"engine@engine": "mlite"}, "megatron_lite"),
        ({"engine.strategy": "mlite"}, "megatron_lite"),
        ({"engine.cp": 4}, "megatron_lite"),
        ({"engine": "megatron"}, "megatron"),
        ({f"engine.{TP}": 4}, "megatron"),
        ({"engine": "fsdp", "engine.ulysses_sequence_parallel_size": 2}, "fsdp"),
        ({"engine": "automodel", "engine.tp_size": 2}, "automodel"),
        ({"engine": "veomni"}, "veomni"),
        ({"engine": "torchtitan"}, "torchtitan"),
    ],
)
def test_sft_is_recognised(settings: Settings, name: str) -> None:
    assert found(settings, SFT) == [(name, "sft")]
    assert found(settings, None) == [(name, "sft")]


def test_a_reference_policy_counts_where_it_is_needed_and_has_sizes() -> None:
    assert found({**CORE_PPO, **OWN_REF}) == [("megatron", "actor")]
    assert found({**CORE_PPO, **KL}) == [("megatron", "actor")]
    assert found({**CORE_PPO, **OWN_REF, **KL}) == [("megatron", "actor"), ("megatron", "ref")]
    in_reward = {"algorithm.use_kl_in_reward": True}
    assert found({**CORE_PPO, **OWN_REF, **in_reward}) == [("megatron", "actor"), ("megatron", "ref")]
    lite = {**LITE_PPO, **KL, "ref@actor_rollout_ref.ref": "mlite_ref", f"{REF}.engine.pp": 4}
    assert found(lite) == [("megatron_lite", "actor"), ("megatron_lite", "ref")]


def test_a_critic_counts_where_it_is_needed_and_has_sizes() -> None:
    both = [("megatron", "actor"), ("megatron", "critic")]
    assert found({**CORE_PPO, **CRITIC}) == both
    assert found({**CORE_PPO, **CRITIC, "algorithm.adv_estimator": "grpo"}) == both[:1]
    assert found({**CORE_PPO, **CRITIC, "algorithm.adv_estimator": "grpo", "critic.enable": True}) == both
    assert found({**CORE_PPO, **CRITIC, "critic.enable": False}) == both[:1]


def test_a_mesh_with_the_keys_that_its_sizes_come_from() -> None:
    (mesh,) = meshes(LITE_PPO, PPO)
    assert mesh.sizes == {
        "world": 256,
        "nnodes": 32,
        "gpn": 8,
        "tp": 1,
        "pp": 8,
        "vpp": 1,
        "cp": 8,
        "ep": 8,
        "etp": 1,
    }
    assert mesh.origin["cp"] == f"{ACTOR}.engine.cp"
    assert mesh.origin["nnodes"] == "trainer.nnodes"
    assert "world" not in mesh.origin
    assert (mesh.legal, mesh.derived) == (True, {"dp": 4, "edp": 4})


def test_left_out_sizes_take_the_defaults_of_backend_and_trainer() -> None:
    (mesh,) = meshes(CORE_PPO, PPO)
    assert mesh.sizes == {
        "world": 32,
        "nnodes": 4,
        "gpn": 8,
        "tp": 4,
        "pp": 1,
        "cp": 1,
        "ep": 4,
        "etp": 4,
    }
    assert "gpn" not in mesh.origin
    (lite,) = meshes({"actor@actor_rollout_ref.actor": "mlite_actor", f"{ACTOR}.engine.tp": 4}, PPO)
    assert (lite.sizes["world"], lite.sizes["etp"]) == (8, 1)


def test_a_role_overrides_the_actor_size_by_size() -> None:
    actor, ref = meshes({**CORE_PPO, **OWN_REF, **KL}, PPO)
    assert (ref.sizes["tp"], ref.sizes["etp"], ref.sizes["ep"]) == (2, 2, 4)
    assert ref.origin["ep"] == f"{ACTOR}.megatron.{EP}"
    assert actor.sizes["tp"] == 4


def test_the_key_of_a_size_that_is_left_out_is_known_too() -> None:
    _, ref = meshes({**CORE_PPO, **OWN_REF, **KL}, PPO)
    assert ref.key("ep") == f"{ACTOR}.megatron.{EP}"
    assert ref.key("etp") == f"{REF}.megatron.expert_tensor_parallel_size"
    assert ref.key("gpn") == "trainer.n_gpus_per_node"
    assert (ref.key("world"), ref.key("dp")) == (None, None)


def test_a_critic_does_not_inherit_from_the_actor() -> None:
    _, critic = meshes({**CORE_PPO, **CRITIC}, PPO)
    assert (critic.sizes["tp"], critic.sizes["ep"]) == (2, 1)


def test_equal_meshes_are_given_once() -> None:
    same = {**CORE_PPO, **KL, f"{REF}.megatron.{TP}": 4}
    assert [mesh.backend.role for mesh in meshes(same, PPO)] == ["actor"]


def test_the_world_of_torchrun() -> None:
    assert meshes(LITE_SFT, SFT) == ()
    (mesh,) = meshes(LITE_SFT, SFT, world=128)
    assert (mesh.legal, mesh.derived) == (True, {"dp": 8, "edp": 4})
    (both,) = meshes({**LITE_SFT, "trainer.nnodes": 1, "trainer.n_gpus_per_node": 1}, SFT, world=128)
    assert both.sizes["world"] == 128
    (ray,) = meshes({**LITE_SFT, "trainer.nnodes": 2, "trainer.n_gpus_per_node": 8}, SFT)
    assert ray.sizes["world"] == 16


@pytest.mark.parametrize("value", ["auto", "${oc.env:CP}", 8.5, True, [8]])
def test_an_unknown_size_keeps_silent(value: object) -> None:
    assert meshes({**LITE_PPO, f"{ACTOR}.engine.cp": value}, PPO) == ()
    assert meshes({**LITE_PPO, "trainer.nnodes": value}, PPO) == ()


def test_null_is_left_out() -> None:
    (mesh,) = meshes({**LITE_PPO, f"{ACTOR}.engine.etp": None}, PPO)
    assert mesh.sizes["etp"] == 1


def test_defaults_of_a_configuration_of_ones_own_are_unknown() -> None:
    own = {**CORE_PPO, "config-name": "my_megatron_trainer"}
    assert meshes(own, PPO) == ()
    names = {"pipeline_model_parallel_size": 1, "context_parallel_size": 1, "expert_tensor_parallel_size": 1}
    sizes = {f"{ACTOR}.megatron.{name}": size for name, size in names.items()}
    (mesh,) = meshes({**own, **sizes, "trainer.n_gpus_per_node": 8}, PPO)
    assert mesh.derived == {"dp": 8, "edp": 8}
    stock = {**CORE_PPO, "config-name": "ppo_megatron_trainer.yaml"}
    assert len(meshes(stock, PPO)) == 1


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: f"{backend.name}-{backend.role}")
def test_every_default_refers_to_an_earlier_symbol(backend: object) -> None:
    assert backend in BACKENDS
    for one in BACKENDS:
        seen: set[str] = set()
        for key in one.keys:
            assert not isinstance(key.default, str) or key.default in seen
            seen.add(key.symbol)
