"""The naming family: names that are right, each way of being wrong, and names that contradict the launch."""

from __future__ import annotations

import json

import pytest

from example_sanity.checks.naming import BACKENDS, NamingOptions, parse_name
from helpers import Write, brief, cli, report

SCRIPT = "#!/usr/bin/env bash\npython3 train.py\n"


@pytest.mark.parametrize(
    "name",
    [
        "run_qwen3_8b_fsdp.sh",
        "run_qwen2.5_math_7b_fsdp2.sh",
        "run_qwen3-vl-8b_megatron.sh",
        "run_deepseek_v4_megatron_lite.sh",
        "run_glm4_5_fsdp_turbo.sh",
        "run_moonlight_16b_a3b_mindspeed.sh",
        "run_nemotron_nano_v3_automodel.sh",
        "run_gputer_7b_veomni.sh",  # contains the letters of a token, but not as a word
    ],
)
def test_right_names_are_silent(write: Write, name: str) -> None:
    root = write({f"examples/grpo/{name}": SCRIPT})

    assert report(root, "naming").findings == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_is_accepted(write: Write, backend: str) -> None:
    root = write({f"examples/grpo/run_qwen3_8b_{backend}.sh": SCRIPT})

    assert report(root, "naming").findings == ()


def test_multi_token_train_backend_accepted(write: Write) -> None:
    root = write({"examples/sft/run_deepseek_v4_megatron_lite.sh": SCRIPT})

    assert report(root, "naming").findings == ()
    assert parse_name("run_deepseek_v4_megatron_lite.sh", NamingOptions()).backend == "megatron_lite"


@pytest.mark.parametrize("place", ["tests/run.sh", "examples.sh", "docs/examples/x.sh"])
def test_scripts_outside_the_roots_are_not_judged(write: Write, place: str) -> None:
    root = write({place: SCRIPT, "examples/run_a_fsdp.sh": SCRIPT})

    assert report(root, "naming").findings == ()


def test_an_explicit_path_outside_all_roots_is_judged_itself(write: Write) -> None:
    root = write({"recipe/dapo/run.sh": SCRIPT, "tools/x.sh": SCRIPT})

    assert brief(report(root, "naming", "recipe").findings) == [
        "recipe/dapo/run.sh:1 NAM001",
        "recipe/dapo/run.sh:1 NAM003",
    ]


def test_a_folder_of_launchers_is_judged_when_it_is_the_project(write: Write) -> None:
    root = write({"run.sh": SCRIPT})

    assert brief(report(root, "naming", ".").findings) == ["run.sh:1 NAM001", "run.sh:1 NAM003"]
    assert report(root, "naming").nothing_inspected


@pytest.mark.parametrize(
    ("name", "codes", "words"),
    [
        ("run_fsdp.sh", ["NAM001"], "names no model between 'run_' and '_fsdp'"),
        ("run__fsdp.sh", ["NAM001"], "names no model"),
        ("run_megatron_lite.sh", ["NAM001"], "names no model between 'run_' and '_megatron_lite'"),
        ("run_a__b_fsdp.sh", ["NAM001"], "an empty word"),
        ("run_a b_fsdp.sh", ["NAM001"], "characters that a name may not have: ' '"),
        ("qwen3_8b_fsdp.sh", ["NAM001"], "does not start with 'run_'"),
        ("run_qwen3_8b_fsdp.bash", ["NAM001"], "ends in .bash"),
        ("run_qwen3-vllm_fsdp.sh", ["NAM002"], "contains 'vllm'"),
        ("run_qwen3_VLLM_fsdp.sh", ["NAM002"], "contains 'vllm'"),
        ("run_qwen3_trt-llm_fsdp.sh", ["NAM002"], "contains 'trtllm'"),
        ("run_qwen3_h100_fsdp.sh", ["NAM002"], "the machine type is chosen at run time"),
        ("run_qwen3_int4_fsdp.sh", ["NAM002"], "the precision is chosen at run time"),
        ("run_qwen3_8b_lite.sh", ["NAM003"], "does not end in a backend"),
        ("run_qwen3_8b_megatronlite.sh", ["NAM003"], "did you mean '_megatron_lite.sh'?"),
        ("run_qwen3_8b_fsdp_multi_rs.sh", ["NAM003"], "'multi_rs' follows 'fsdp'"),
        ("run_qwen3_8b_fsdp_fp8.sh", ["NAM002", "NAM003"], "contains 'fp8'"),
        ("run.sh", ["NAM001", "NAM003"], "does not start with 'run_'"),
    ],
)
def test_each_way_of_being_wrong(write: Write, name: str, codes: list[str], words: str) -> None:
    root = write({f"examples/grpo/{name}": SCRIPT})

    findings = report(root, "naming").findings

    assert codes == [finding.code for finding in findings]
    assert words in findings[0].message


def test_conventions_are_configuration(write: Write) -> None:
    table = """
[tool.example-sanity.naming]
roots = ["launch"]
prefix = ""
extension = ".slurm"
backends = ["deepspeed"]
forbidden = { shell = ["zsh"] }
"""
    root = write(
        {"pyproject.toml": table, "launch/llama_deepspeed.slurm": SCRIPT, "launch/zsh_llama_x.slurm": SCRIPT}
    )

    assert brief(report(root, "naming").findings) == [
        "launch/zsh_llama_x.slurm:1 NAM002",
        "launch/zsh_llama_x.slurm:1 NAM003",
    ]


@pytest.mark.parametrize("root", ["launch", "launch/", "./launch", "./launch/", "."])
def test_a_root_may_be_written_in_any_way(write: Write, root: str) -> None:
    table = f"[tool.example-sanity.naming]\nroots = ['{root}']\n"
    folder = write({"pyproject.toml": table, "launch/llama.sh": SCRIPT})

    assert brief(report(folder, "naming").findings) == [
        "launch/llama.sh:1 NAM001",
        "launch/llama.sh:1 NAM003",
    ]


CONTRADICTIONS = [
    ("fsdp", "model_engine=megatron", True),
    ("fsdp", "actor_rollout_ref.actor.strategy=megatron", True),
    ("megatron", "actor@actor_rollout_ref.actor=mlite_actor", True),
    ("megatron_lite", "engine=mlite", False),
    ("fsdp", "actor_rollout_ref.actor.strategy=fsdp2", False),
    ("fsdp2", "model_engine=dp", False),
    ("mindspeed", "model_engine=megatron", False),
    ("veomni", "model_engine=veomni", False),
    ("fsdp", "trainer.nnodes=2", False),
    ("megatron_fsdp", "engine=megatron", False),  # Megatron-FSDP: both names are said
]


@pytest.mark.parametrize(("backend", "setting", "contradicts"), CONTRADICTIONS)
def test_the_name_is_compared_with_the_evaluated_launch(
    write: Write, backend: str, setting: str, contradicts: bool
) -> None:
    text = f"ENGINE={setting}\nARGS=($ENGINE trainer.nnodes=1)\npython3 -m verl.trainer.main_ppo ${{ARGS[@]}} $@\n"
    root = write({f"examples/ppo/run_qwen3_8b_{backend}.sh": text})

    findings = report(root, "naming").findings

    assert (["NAM004"] if contradicts else []) == [finding.code for finding in findings]
    if contradicts:
        assert f"says {backend}, but {setting}" in findings[0].message


def test_only_the_default_scenario_counts(write: Write) -> None:
    text = (
        "DEVICE=${DEVICE:-gpu}\nENGINE=dp\n"
        'if [[ "$DEVICE" == npu ]]; then ENGINE=megatron; fi\n'
        "python3 -m verl.trainer.main_ppo model_engine=$ENGINE\n"
    )
    root = write({"examples/ppo/run_qwen3_8b_fsdp.sh": text})

    assert report(root, "naming").findings == ()


OTHERS = {f"examples/{name}.sh": SCRIPT for name in ("train_a", "train_b", "train_c", "run_a_7b_fsdp")}


@pytest.mark.parametrize(
    ("files", "select", "count"),
    [
        ({}, (), 0),
        ({f"examples/run_{name}_megatron.sh": SCRIPT for name in "xy"}, (), 6),
        ({"example-sanity.toml": 'fail-on = "error"\n'}, (), 6),
        ({}, ("--select", "NAM001"), 3),
        ({}, ("naming",), 6),
    ],
    ids=["another convention", "half follow", "configured", "selected", "as command"],
)
def test_a_convention_is_judged_where_it_is_one(
    write: Write,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    select: tuple[str, ...],
    count: int,
) -> None:
    root = str(write({**OTHERS, **files}))
    command = select if select == ("naming",) else ("check", *select)
    _, out, _ = cli(capsys, *command, root, "--format", "json")
    assert sum(item["code"].startswith("NAM") for item in json.loads(out)["findings"]) == count
