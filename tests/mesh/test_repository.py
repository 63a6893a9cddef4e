"""Sizes from files that a launch command names, and models from the configuration: what counts, and what is not known."""

from __future__ import annotations

import json

import pytest

from helpers import Write, brief, cli, report

PATH = "examples/run_model_torch.sh"
RUN = "torchrun --nproc_per_node 8 train.py"
SIZES = "model:\n  tp_size: 4\n  pp_size: {pp}\n  dp_size: {dp}\n"
OPTION = "    --config_file recipe.yaml\n"


def _found(write: Write, text: str, **files: str) -> list[str]:
    named = {name.replace("_yaml", ".yaml").replace("_toml", ".toml"): data for name, data in files.items()}
    return brief(report(write({PATH: text, **named}), "mesh").findings)


def _line(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)


@pytest.mark.parametrize(
    ("pp", "dp"),
    [(1, 2), (2, 1), (1, 1)],
)
def test_sizes_that_fill_the_ranks_are_silent(write: Write, pp: int, dp: int) -> None:
    text = f"{RUN} \\\n{OPTION}"

    assert _found(write, text, recipe_yaml=SIZES.format(pp=pp, dp=dp)) == []


@pytest.mark.parametrize(
    ("command", "recipe"),
    [
        ("python train.py", SIZES.format(pp=3, dp=1)),  # nobody says how many ranks
        (RUN, "rollout:\n  tp_size: 16\n  pp_size: 1\n"),  # an engine may have GPUs of its own
        (RUN, "model:\n  tp_size: 16\n"),  # one size alone may be of anything
        (RUN, "model:\n  tp_size: ${tp}\n  pp_size: 3\n"),
        (RUN, "defaults: other.yaml\nmodel:\n  tp_size: 16\n  pp_size: 1\n"),  # the other file is not there
        (RUN, "defaults:\n  - model: big\nmodel:\n  tp_size: 16\n  pp_size: 1\n"),
        (RUN, "- tp_size: 16\n- pp_size: 1\n"),
        (RUN, "model: {tp_size: 16, pp_size"),
        (RUN, "a: &a {b: *a}\nmodel: {tp_size: 16, pp_size: 3}\n"),
    ],
)
def test_what_nobody_can_know_is_silent(write: Write, command: str, recipe: str) -> None:
    assert _found(write, f"{command} \\\n{OPTION}", recipe_yaml=recipe) == []


def test_a_product_that_does_not_divide_the_ranks_is_found_where_the_file_is_named(write: Write) -> None:
    text = f"{RUN} \\\n{OPTION}"

    assert _found(write, text, recipe_yaml=SIZES.format(pp=4, dp=1)) == [f"{PATH}:2 MSH001"]
    assert _found(write, text, recipe_yaml=SIZES.format(pp=1, dp=4)) == [f"{PATH}:2 MSH010"]


def test_a_file_as_an_operand_counts(write: Write) -> None:
    text = f"{RUN} recipe.yaml\n"

    assert _found(write, text, recipe_yaml=SIZES.format(pp=4, dp=1)) == [f"{PATH}:1 MSH001"]
    assert (
        _found(write, text.replace("recipe", "--verbose recipe"), recipe_yaml=SIZES.format(pp=4, dp=1)) == []
    )


def test_an_option_wins_over_the_file(write: Write) -> None:
    text = f"{RUN} recipe.yaml \\\n    --model.pp_size 2\n"

    assert _found(write, text, recipe_yaml=SIZES.format(pp=4, dp=1)) == []


def test_a_file_builds_on_another_one(write: Write) -> None:
    base, own = SIZES.format(pp=4, dp=1), "defaults: base.yaml\nmodel:\n  pp_size: {}\n"
    text = f"{RUN} recipe.yaml\n"

    assert _found(write, text, recipe_yaml=own.format(2), base_yaml=base) == []
    assert _found(write, text, recipe_yaml=own.format(8), base_yaml=base) == [f"{PATH}:1 MSH001"]
    assert _found(write, text, recipe_yaml="defaults: recipe.yaml\n") == []


@pytest.mark.parametrize(("nodes", "found"), [(1, []), (4, [f"{PATH}:1 MSH010"])])
def test_the_nodes_of_a_file_are_compared_with_the_launcher(
    write: Write, nodes: int, found: list[str]
) -> None:
    cluster = f"cluster:\n  num_nodes: {nodes}\n  gpus_per_node: 8\n"

    assert _found(write, f"{RUN} recipe.yaml\n", recipe_yaml=cluster) == found
    assert _found(write, f"{RUN} recipe.yaml\n", recipe_yaml=cluster.partition("  gpus")[0]) == found


ACCELERATE = "accelerate launch --config_file launch.yaml train.py recipe.yaml\n"


@pytest.mark.parametrize(
    ("processes", "command", "found"),
    [
        (16, ACCELERATE, []),
        (8, ACCELERATE, [f"{PATH}:1 MSH001"]),
        (8, ACCELERATE.replace("train.py", "--num_processes 16 train.py", 1), []),
        ("many", ACCELERATE, []),
    ],
)
def test_the_processes_of_accelerates_own_file(
    write: Write, processes: object, command: str, found: list[str]
) -> None:
    launch = f"num_machines: 1\nnum_processes: {processes}\n"

    assert _found(write, command, recipe_yaml=SIZES.format(pp=4, dp=1), launch_yaml=launch) == found


RAY = "ray start --head --node-ip-address ${{MASTER_ADDR}} --num-gpus {gpus} --disable-usage-stats\n"
PPO = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.strategy=fsdp \\\n"
    "    trainer.nnodes=2 \\\n    trainer.n_gpus_per_node=8\n"
)


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("", []),
        (RAY.format(gpus=8), []),
        (RAY.format(gpus="$NUM_GPUS"), []),
        (RAY.format(gpus=4) + RAY.format(gpus=8), []),
        ("ray start --head\n", []),
        (RAY.format(gpus=4), [f"{PATH}:5 MSH010"]),
        (RAY.format(gpus="$GPUS").replace("ray", "GPUS=4\nray", 1), [f"{PATH}:6 MSH010"]),
    ],
)
def test_the_gpus_of_a_node_of_ray(write: Write, start: str, found: list[str]) -> None:
    assert _found(write, f"set -u\n{start}{PPO}") == found


MODEL = "[tool.example-sanity.mesh.models.mine]\nlayers = 30\n"
PRETRAIN = (
    "python3 -m verl.trainer.main_ppo model_engine=megatron actor_rollout_ref.model.path=org/Mine-FP8 \\\n"
    "    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=4\n"
)


def test_a_model_of_the_configuration_is_known(write: Write) -> None:
    assert brief(report(write({PATH: PRETRAIN}), "mesh").findings) == []
    assert brief(report(write({"pyproject.toml": MODEL}), "mesh").findings) == [f"{PATH}:2 MSH007"]
    assert brief(report(write({"pyproject.toml": MODEL.replace("30", "32")}), "mesh").findings) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [("layer = 3", "unknown key 'layer' (did you mean 'layers'?)"), ("layers = -1", "`int` >= 0")],
)
def test_a_number_that_no_model_has_is_an_error(
    write: Write, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    root = write({PATH: PRETRAIN, "pyproject.toml": MODEL.replace("layers = 30", line)})

    code, _, err = cli(capsys, "mesh", str(root))

    assert code == 2
    assert message in err


CONFIG = {"num_hidden_layers": 30, "num_attention_heads": 8, "num_key_value_heads": 8}


def test_show_and_plan_read_the_files_of_the_repository(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"org/Mine-FP8/config.json": json.dumps(CONFIG), "pyproject.toml": "[tool.example-sanity]\n"}
    path = str(write({PATH: PRETRAIN, **files}) / PATH)

    for command in ("show", "plan"):
        data = json.loads(cli(capsys, command, path, "--format", "json")[1])
        (mesh,) = data["mesh" if command == "show" else "plans"]
        assert [violation["code"] for violation in mesh["violations"]] == ["MSH007"]
