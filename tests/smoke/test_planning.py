"""Plans: our own launchers on several numbers of GPUs, small launchers of other kinds, and what is refused."""

from __future__ import annotations

import pytest

from example_sanity.core.errors import UsageError
from example_sanity.smoke.planning import Refusal
from helpers import Write
from smoke.planned import PPO, planned, told

SFT = "examples/sft/gsm8k/run_deepseek_v4_megatron_lite.sh"
DEEPSEEK = "examples/grpo_trainer/run_deepseek_v4_megatron_lite.sh"
KIMI = "examples/grpo_trainer/run_kimi_k2_6_glm5_1_megatron_lite.sh"
QWEN = "examples/grpo_trainer/run_qwen3_5_35b_megatron_lite.sh"
SIZES = ("TP", "PP", "EP", "CP", "ETP", "NNODES", "NDEVICES_PER_NODE")


@pytest.mark.parametrize(
    ("script", "gpus", "sizes"),
    [
        (SFT, 1, {"PP": "1", "CP": "1", "EP": "1", "NNODES": "1", "NDEVICES_PER_NODE": "1"}),
        (SFT, 2, {"PP": "1", "CP": "2", "EP": "2", "NNODES": "1", "NDEVICES_PER_NODE": "2"}),
        (SFT, 4, {"PP": "2", "CP": "2", "EP": "2", "NNODES": "1", "NDEVICES_PER_NODE": "4"}),
        (SFT, 8, {"PP": "2", "CP": "2", "EP": "2", "NNODES": "1"}),
        (DEEPSEEK, 8, {"PP": "2", "CP": "2", "EP": "2", "NNODES": "1"}),
        (KIMI, 1, {"PP": "1", "CP": "1", "EP": "1", "NNODES": "1", "NDEVICES_PER_NODE": "1"}),
        (KIMI, 4, {"PP": "2", "CP": "2", "EP": "2", "NNODES": "1", "NDEVICES_PER_NODE": "4"}),
        (QWEN, 2, {"CP": "2", "EP": "2", "NDEVICES_PER_NODE": "2"}),
        (QWEN, 8, {"CP": "2", "EP": "2"}),
    ],
)
def test_our_launchers_keep_their_axes_as_far_as_the_gpus_go(
    script: str, gpus: int, sizes: dict[str, str]
) -> None:
    found = planned(script, gpus)

    assert {name: value for name, value in found.environment.items() if name in SIZES} == sizes
    assert (found.gpus, found.nodes, found.backend) == (gpus, 1, "megatron_lite")


def test_a_plan_for_one_gpu_says_everything_that_differs() -> None:
    found = planned(SFT)

    assert told(found) == {
        "PP": "1",
        "CP": "1",
        "EP": "1",
        "NNODES": "1",
        "NDEVICES_PER_NODE": "1",
        "TRAIN_BATCH_SIZE": "8",
        "MAX_LENGTH": "256",
        "MODEL_PATH": found.environment["MODEL_PATH"],
        "TRAIN_FILE": "/smoke/sft-data-1/train.parquet",
        "trainer.total_training_steps": "4",
        "trainer.resume_mode": "disable",
        "trainer.default_local_dir": "/smoke/out",
    }
    assert found.environment["MODEL_PATH"].startswith("/smoke/deepseek_v4-")
    assert found.arguments == (
        "trainer.total_training_steps=4",
        "trainer.resume_mode=disable",
        "trainer.default_local_dir=/smoke/out",
    )
    assert (found.kind, found.steps, found.model_family) == ("sft", 4, "deepseek_v4")
    assert (found.checkpoint, found.data, found.notes) == (None, (), ())
    assert found.config["num_hidden_layers"] == 2
    first = found.changes[0]
    assert (first.was, first.why, first.kind) == ("4", "pp that 1 GPU can hold", "environment")
    assert next(change.was for change in found.changes if change.name == "TRAIN_FILE") == (
        "$HOME/data/gsm8k_sft/train.parquet"
    )


def test_a_rollout_shrinks_with_the_trainer() -> None:
    found = told(planned(DEEPSEEK))

    assert {name: found[name] for name in found if name.startswith(("ROLLOUT", "PPO", "MAX", "FILTER"))} == {
        "PPO_MINI_BATCH_SIZE": "8",
        "ROLLOUT_N": "2",
        "MAX_PROMPT_LENGTH": "128",
        "MAX_RESPONSE_LENGTH": "64",
        "ROLLOUT_TP": "1",
        "ROLLOUT_DP": "1",
        "ROLLOUT_GPU_MEM_UTIL": "0.2",
        "FILTER_GROUPS": "False",
    }
    assert found["actor_rollout_ref.rollout.enforce_eager"] == "True"
    # It is a product of two knobs in the launcher, so nothing has to be said of it.
    assert "actor_rollout_ref.rollout.expert_parallel_size" not in found


@pytest.mark.parametrize(
    ("script", "settings", "family"),
    [
        (SFT, {"MODEL_VARIANT": "pro"}, "deepseek_v4"),
        (KIMI, {}, "kimi_k2"),
        (KIMI, {"MODEL_VARIANT": "glm5_1"}, "glm5"),
        (QWEN, {}, "qwen3_5_moe"),
    ],
)
def test_the_family_is_what_the_launcher_names(script: str, settings: dict[str, str], family: str) -> None:
    assert planned(script, settings=settings).model_family == family


def test_a_chosen_family_wins_over_the_name() -> None:
    found = planned(SFT, family="kimi_k2", steps=3)

    assert (found.model_family, found.config["model_type"], found.steps) == ("kimi_k2", "deepseek_v3", 3)
    assert "trainer.total_training_steps=3" in found.arguments


def test_what_the_user_sets_stays_and_the_rest_fits_around_it() -> None:
    found = planned(QWEN, 4, {"CP": "4", "OPTIMIZER": "dist_opt", "data.seed": "7"})

    assert found.environment["CP"] == "4"
    assert found.environment["EP"] == "2"
    assert found.environment["OPTIMIZER"] == "dist_opt"
    assert found.arguments[0] == "data.seed=7"
    why = {change.name: change.why for change in found.changes}
    assert {why["CP"], why["OPTIMIZER"], why["data.seed"]} == {"given with --set"}


def test_an_override_that_the_user_sets_wins_over_the_plan() -> None:
    found = planned(QWEN, 1, {"trainer.total_training_steps": "7", "actor_rollout_ref.rollout.n": "3"})

    assert [word for word in found.arguments if "total_training_steps" in word] == [
        "trainer.total_training_steps=7"
    ]


def test_knobs_of_this_process_count_and_are_said() -> None:
    found = planned(QWEN, 8, host={"CP": "4", "HOME": "/root", "UNRELATED": "1"})

    assert found.notes == ("CP=4 comes from the environment of this process",)
    assert found.environment["CP"] == "2"
    assert next(change.was for change in found.changes if change.name == "CP") == "4"


def test_without_a_knob_an_override_does_it(write: Write) -> None:
    root = write({"examples/run_qwen3_8b_fsdp.sh": PPO, "example-sanity.toml": ""})
    found = planned(root / "examples/run_qwen3_8b_fsdp.sh", 2)

    assert (found.backend, found.model_family, found.kind) == ("fsdp", "qwen3", "rl")
    assert set(found.environment) == {"MODEL_PATH", "BATCH", "SP", "VLLM_USE_FLASHINFER_SAMPLER"}
    assert found.environment["SP"] == "2"
    assert {
        "actor_rollout_ref.actor.ppo_mini_batch_size=8",
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1",
        "actor_rollout_ref.rollout.n=2",
        "data.max_prompt_length=128",
        "data.max_response_length=64",
        "trainer.n_gpus_per_node=2",
        "trainer.save_freq=-1",
        "trainer.logger=[console]",
        "trainer.val_before_train=False",
    } <= set(found.arguments)
    assert not any(word.startswith(("trainer.nnodes=", "trainer.test_freq=")) for word in found.arguments)


def test_a_launcher_that_lets_nothing_in_is_refused_with_the_line(write: Write) -> None:
    text = PPO.replace(' "$@"', "")
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})

    with pytest.raises(Refusal) as refused:
        planned(root / "run_qwen3_8b_fsdp.sh")
    reasons = str(refused.value).split("\n")
    assert len(reasons) == 6
    assert reasons[0] == (
        "run_qwen3_8b_fsdp.sh:20: trainer.n_gpus_per_node is 8 and has to be 1 (one rank a GPU), but nothing from outside "
        'reaches it; make it a variable with a default, or end the command with "$@"'
    )
    assert reasons[3] == (
        "run_qwen3_8b_fsdp.sh: it takes trainer.total_training_steps=2 (enough to see that it learns), but the launcher does "
        'not hand on its arguments; end the command with "$@"'
    )


def test_what_only_takes_longer_may_stay(write: Write) -> None:
    needed = ["MODEL_PATH", "SP", "BATCH", "GPUS", "FILE", "TEST", "STEPS", "SAVE", "LOG"]
    text = (
        PPO.replace(' "$@"', " trainer.total_training_steps=${STEPS:-}")
        .replace("$HOME/train.parquet", "${FILE:-x}")
        .replace("$HOME/test.parquet", "${TEST:-y}")
        .replace("gpus_per_node=8", "gpus_per_node=${GPUS:-8}")
        .replace("save_freq=20", "save_freq=${SAVE:-20}")
        .replace('\'["console","wandb"]\'', "[${LOG:-console,wandb}]")
        .replace("tensor_model_parallel_size=2", "tensor_model_parallel_size=1")
    )
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})
    found = planned(root / "run_qwen3_8b_fsdp.sh", 2, {"BATCH": "512"})

    assert set(found.environment) == {*needed, "VLLM_USE_FLASHINFER_SAMPLER"}
    assert found.environment["LOG"] == "console"
    assert found.arguments == ()
    assert (
        "actor_rollout_ref.actor.ppo_mini_batch_size stays as it is (one update a step): nothing from outside reaches it"
    ) in found.notes
    with pytest.raises(Refusal, match="4 steps of 512 rows are more than the 1024 that the tiny data has"):
        planned(root / "run_qwen3_8b_fsdp.sh", 2, {"BATCH": "512"}, steps=4)


def test_the_reference_model_and_the_critic_shrink_too(write: Write) -> None:
    text = PPO.replace('"$@"', 'critic.ppo_micro_batch_size_per_gpu=8 "$@"').replace(
        "adv_estimator=grpo", "adv_estimator=gae critic.ulysses_sequence_parallel_size=4 critic.model.path=x"
    )
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})
    found = planned(root / "run_qwen3_8b_fsdp.sh", 1)

    assert "critic.ulysses_sequence_parallel_size=1" in found.arguments
    assert f"critic.model.path={found.environment['MODEL_PATH']}" in found.arguments
    assert "critic.ppo_micro_batch_size_per_gpu=1" in found.arguments


def test_what_a_tiny_run_cannot_keep_is_undone(write: Write) -> None:
    more = (
        "actor_rollout_ref.actor.megatron.use_dist_checkpointing=True +reward_model.enable=True "
        "custom_reward_function.path=mine.py +reward_model.reward_kwargs.overlong_buffer_cfg.len=4096"
    )
    text = PPO.replace('"$@"', f'{more} "$@"').replace("strategy=fsdp", "strategy=megatron")
    text = text.replace("main_ppo", "main_ppo model_engine=megatron").replace(
        "ulysses_sequence_parallel_size", "megatron.tensor_model_parallel_size"
    )
    root = write({"run_qwen3_8b_megatron.sh": text, "example-sanity.toml": ""})
    found = planned(root / "run_qwen3_8b_megatron.sh", 1)

    assert {
        "actor_rollout_ref.actor.megatron.use_dist_checkpointing=False",
        "reward_model.enable=False",
        "custom_reward_function.path=null",
        "reward_model.reward_kwargs.overlong_buffer_cfg.len=32",
    } <= set(found.arguments)


def test_a_rollout_on_gpus_of_its_own_is_refused(write: Write) -> None:
    text = PPO.replace('"$@"', 'trainer.v1.trainer_mode=separate_async "$@"')
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})

    with pytest.raises(Refusal, match="trainer and rollout have GPUs of their own"):
        planned(root / "run_qwen3_8b_fsdp.sh")


def test_a_number_of_ranks_written_into_torchrun_is_refused(write: Write) -> None:
    text = (
        "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer \\\n"
        '    model.path=Qwen/Qwen3-8B engine=fsdp data.train_files=x "$@"\n'
    )
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})

    assert planned(root / "run_qwen3_8b_fsdp.sh", 8).kind == "sft"
    with pytest.raises(
        Refusal, match=r"run_qwen3_8b_fsdp.sh:1: torchrun --nproc_per_node is 8 and has to be 2"
    ):
        planned(root / "run_qwen3_8b_fsdp.sh", 2)


def test_positional_parameters_are_filled(write: Write) -> None:
    text = (
        'if [ "$#" -lt 1 ]; then echo usage; exit 1; fi\nNPROC=$1\nshift\n'
        "torchrun --standalone --nproc_per_node=$NPROC -m verl.trainer.sft_trainer \\\n"
        '    model.path=Qwen/Qwen3-8B engine=fsdp data.train_files=x "$@"\n'
    )
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})
    found = planned(root / "run_qwen3_8b_fsdp.sh", 4)

    assert found.arguments[0] == "4"
    assert told(found)["$1"] == "4"
    assert any(word.startswith("model.path=/smoke/qwen3-") for word in found.arguments)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo hello\n", "it starts no training program, and ends with status 0"),
        ("exit 3\n", "it starts no training program, and ends with status 3"),
        ("python3 tools/convert.py --in x\n", "it starts no training program whose mesh is known"),
    ],
)
def test_a_script_that_trains_nothing_is_refused(write: Write, text: str, reason: str) -> None:
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})

    with pytest.raises(Refusal, match=reason):
        planned(root / "run_qwen3_8b_fsdp.sh")


def test_an_unknown_family_is_refused(write: Write) -> None:
    root = write({"run_it.sh": PPO.replace("Qwen/Qwen3-8B", "acme/Own-7B"), "example-sanity.toml": ""})

    with pytest.raises(Refusal, match=r"trains acme/Own-7B, of no family .*choose one with --family"):
        planned(root / "run_it.sh")
    assert planned(root / "run_it.sh", family="llama").model_family == "llama"


def test_a_mesh_that_cannot_be_built_is_refused() -> None:
    with pytest.raises(
        Refusal, match="no mesh of Megatron Lite on 2 GPUs will do: 2 GPUs cannot hold tp1·cp4·pp1 = 4"
    ):
        planned(QWEN, 2, {"CP": "4"})


def test_an_override_that_the_program_does_not_know_is_refused() -> None:
    with pytest.raises(Refusal, match=r"would not start as planned:\n  OVR001 .*trainer.total_epoch"):
        planned(QWEN, 1, {"trainer.total_epoch": "1"})


def test_an_error_that_is_suppressed_refuses_nothing(write: Write) -> None:
    wrong = PPO.replace("trainer.save_freq=20", "trainer.save_frequency=20")
    root = write({"run_qwen3_8b_fsdp.sh": wrong, "example-sanity.toml": ""})
    with pytest.raises(Refusal, match=r"OVR001 trainer.save_frequency"):
        planned(root / "run_qwen3_8b_fsdp.sh")

    inline = wrong.replace("set -eu\n", "set -eu\n# sanity: ignore-file[OVR001] a fork of verl has it\n")
    write({"run_qwen3_8b_fsdp.sh": inline})
    assert planned(root / "run_qwen3_8b_fsdp.sh").kind == "rl"

    write({"run_qwen3_8b_fsdp.sh": wrong, "example-sanity.toml": 'ignore = ["OVR001"]\n'})
    assert planned(root / "run_qwen3_8b_fsdp.sh").kind == "rl"


def test_a_name_that_is_no_knob_is_a_wrong_call() -> None:
    with pytest.raises(
        UsageError, match=r"--set OPTIMISER: .* has no such knob \(did you mean 'OPTIMIZER'\?\)"
    ):
        planned(QWEN, 1, {"OPTIMISER": "dist_opt"})


def test_what_the_launcher_demands_and_nobody_gives_is_refused(write: Write) -> None:
    text = PPO.replace("set -eu\n", "set -eu\n: ${CLUSTER:?say which cluster}\n")
    root = write({"run_qwen3_8b_fsdp.sh": text, "example-sanity.toml": ""})

    with pytest.raises(
        Refusal, match=r"say which cluster; give what the launcher demands with --set NAME=VALUE"
    ):
        planned(root / "run_qwen3_8b_fsdp.sh")
    assert planned(root / "run_qwen3_8b_fsdp.sh", settings={"CLUSTER": "a"}).kind == "rl"


def test_a_checkpoint_of_the_users_own_is_taken_as_it_is(write: Write) -> None:
    config = (
        '{"model_type": "qwen3", "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2}'
    )
    root = write({"run_qwen3_8b_fsdp.sh": PPO, "own/config.json": config, "example-sanity.toml": ""})
    found = planned(root / "run_qwen3_8b_fsdp.sh", 4, {"MODEL_PATH": str(root / "own")})

    assert (found.checkpoint, found.config) == (root / "own", {})
    assert found.environment["SP"] == "2"
