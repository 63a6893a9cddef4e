"""The nightly job and scripts/gpu_smoke, with stubs for what it installs and starts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from example_sanity.smoke.families import FAMILIES

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github/workflows/gpu-smoke.yml"
SCRIPT = ROOT / "scripts/gpu_smoke"
REQUIREMENTS = ROOT / "scripts/gpu_smoke_requirements.txt"
PATCHES = "--set +ray_kwargs.ray_init.runtime_env.env_vars.VERL_MLITE_SKIP_RUNTIME_PATCHES='0'"
FUSED = f"{PATCHES} --set actor_rollout_ref.actor.engine.attention_backend_override=fused"
SFT = "examples/sft/gsm8k/run_deepseek_v4_megatron_lite.sh"
GRPO = "examples/grpo_trainer/run_qwen3_5_35b_megatron_lite.sh"

# Each writes its arguments, one call a line.
STUBS = {
    "example-sanity": '#!/bin/bash\necho "$(basename "$0") ${*//$OUT/OUT}" >> "$CALLS"\n[[ -z "${MLITE_ROOT:-}" ]] || '
    'echo "MLITE_ROOT=$MLITE_ROOT" >> "$CALLS"\n[[ -z "${PYTHONPATH:-}" ]] || '
    'echo "PYTHONPATH=${PYTHONPATH//$VENV/VENV}" >> "$CALLS"\nexit "${STATUS:-0}"\n',
    "git": '#!/bin/bash\necho "git $*" >> "$CALLS"\n[[ $1 != clone ]] || mkdir -p "${!#}/.git"\n',
    "python3.12": '#!/bin/bash\necho "python3.12 $*" >> "$CALLS"\nenv | grep -E "^(FLASH_MLA_DISABLE|CPATH)" >> "$CALLS"\nif [[ $2 == venv ]]; then\n'
    '    mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nfi\nwhile [[ $# -gt 0 ]]; do\n'
    '    [[ $1 != --target ]] || mkdir -p "$2"\n    [[ " $FAILS " != *" $1 "* ]] || exit 1\n    shift\ndone\n',
    "nvidia-smi": '#!/bin/bash\necho "${CAPABILITY:-9.0}"\n',
}


class Script:
    """Runs the script with the stubs first on PATH; ``calls`` are the calls of the last run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in STUBS.items():
            (folder / "bin").mkdir(exist_ok=True)
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)

    def __call__(self, *arguments: str, **variables: str) -> int:
        calls = self.folder / "calls"
        calls.write_text("")
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(calls),
            "OUT": str(self.folder / "out"),
            "VENV": str(self.folder / "venv"),
            "FAILS": "",
            **variables,
        }
        done = subprocess.run(
            ["bash", str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False
        )
        self.printed = done.stdout + done.stderr
        self.calls = calls.read_text().splitlines()
        return done.returncode


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


def test_plans_of_all_launchers(script: Script) -> None:
    assert script("--plan-only", "--no-install") == 0
    assert [call.removeprefix("example-sanity smoke ") for call in script.calls] == [
        f"examples/grpo_trainer/run_deepseek_v4_megatron_lite.sh {FUSED[:-5]}local --gpus 1 --plan",
        f"examples/grpo_trainer/run_kimi_k2_6_glm5_1_megatron_lite.sh {FUSED} --gpus 1 --plan",
        f"{GRPO} {FUSED} --gpus 1 --plan",
        *(
            f"{SFT} --set engine.attention_backend_override={backend} --family {family} --gpus 1 --plan"
            for family, backend in zip(
                ("kimi_k2", "qwen3_5_moe", "glm5", "deepseek_v4"), (*["fused"] * 3, "local"), strict=True
            )
        ),
    ]


def test_a_run_writes_a_log_and_every_report(script: Script) -> None:
    assert script("--no-install", GRPO, "--", "--steps", "3") == 0
    name = "OUT/run_qwen3_5_35b_megatron_lite"
    assert script.calls == [
        f"example-sanity smoke {GRPO} {FUSED} --log {name}.log --report json={name}.json --report junit={name}.xml"
        f" --report markdown={name}.md --report html={name}.html --steps 3"
    ]


def test_every_launcher_runs_and_a_failure_is_the_exit_code(script: Script) -> None:
    assert script("--no-install", SFT, STATUS="4") == 4
    assert len(script.calls) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "text"), [(["--help"], 0, "--plan-only"), (["--no"], 2, "unknown")]
)
def test_the_call(script: Script, arguments: list[str], code: int, text: str) -> None:
    assert script(*arguments) == code
    assert text in script.printed
    assert script.calls == []


def test_the_stack_is_installed_once_and_sources_are_checked_out(script: Script, tmp_path: Path) -> None:
    assert script(GRPO, "--", "--family", "qwen3_moe", VERL_ROOT="/verl") == 0
    installs = [call for call in script.calls if " pip install " in call]
    assert [call.split()[-1] for call in installs][1:] == [
        str(tmp_path / "venv/first.txt"),
        "transformer-engine-torch==2.12.0",
        ".",
    ]
    megatron = str(tmp_path / "venv/sources/MLITE_ROOT")
    assert [call for call in script.calls if call.startswith("git clone")] == [
        f"git clone --quiet --filter=blob:none https://github.com/NVIDIA/Megatron-LM {folder}"
        for folder in (megatron, tmp_path / "venv/sources/DEEPSEEK_V4_MLITE_ROOT")
    ]
    assert [call.split()[-1] for call in script.calls if " compileall " in call] == [
        str(tmp_path / "venv/lib"),
        megatron,
        str(tmp_path / "venv/sources/DEEPSEEK_V4_MLITE_ROOT"),
    ]
    assert script.calls[-1] == f"MLITE_ROOT={megatron}"

    assert script(GRPO, "--", "--family", "qwen3_moe", VERL_ROOT="/verl") == 0
    assert not any(" install " in call or " clone " in call for call in script.calls)


ROOTS = {"VERL_ROOT": "/verl", "MLITE_ROOT": "/mega", "DEEPSEEK_V4_MLITE_ROOT": "/old"}


def installed_for_families(script: Script) -> list[str]:
    """What the last run installed into folders of their own, and what it started with which."""
    venv = str(script.folder / "venv")
    calls = [call.replace(venv, "VENV") for call in script.calls]
    return [
        call if "PYTHONPATH" in call else call.partition("--target ")[2]
        for call in calls
        if "--target" in call or "PYTHONPATH" in call
    ]


def test_families_that_need_nothing_more_get_nothing_more(script: Script) -> None:
    for family in ("kimi_k2", "deepseek_v4", "qwen3_moe"):
        assert script(GRPO, "--", "--family", family, **ROOTS) == 0
        assert installed_for_families(script) == []


def test_sparse_attention_gets_flashmla_for_this_gpu_in_a_folder_of_its_own(
    script: Script, tmp_path: Path
) -> None:
    assert script(SFT, PYTHONPATH="/own", CAPABILITY="9.0", **ROOTS) == 0
    dsl = "nvidia-cutlass-dsl==4.5.2 nvidia-cutlass-dsl-libs-base==4.5.2 nvidia-cutlass-dsl-libs-cu13==4.5.2"
    folder, tilelang = "VENV/folders/flashmla", "VENV/folders/tilelang"
    assert installed_for_families(script) == [
        "PYTHONPATH=/own",
        f"{tilelang} tilelang==0.1.15 apache-tvm-ffi==0.1.12 z3-solver==4.15.4.0",
        f"PYTHONPATH={tilelang}:{tilelang}/nvidia_cutlass_dsl/python_packages:/own",
        f"{folder} nvidia-cudnn-frontend==1.26.0 {dsl}",
        f"{folder} VENV/sources/FLASH_MLA_ROOT",
        f"PYTHONPATH={folder}:{folder}/nvidia_cutlass_dsl/python_packages:/own",
        "PYTHONPATH=/own",
    ]
    source = str(tmp_path / "venv/sources/FLASH_MLA_ROOT")
    assert f"git -C {source} submodule --quiet update --init --depth 1 csrc/cutlass" in script.calls

    assert script(SFT, CAPABILITY="9.0", **ROOTS) == 0
    assert not any("--target" in call for call in script.calls)


@pytest.mark.parametrize(("capability", "other"), [("9.0", "SM100"), ("10.0", "SM90")])
def test_flashmla_is_built_for_this_gpu_alone(script: Script, capability: str, other: str) -> None:
    script(SFT, CAPABILITY=capability, **ROOTS)

    assert [call for call in script.calls if call.startswith("FLASH_MLA")] == [f"FLASH_MLA_DISABLE_{other}=1"]


def test_what_is_built_finds_the_headers_that_the_packages_bring(script: Script, tmp_path: Path) -> None:
    folders = [
        tmp_path / f"venv/lib/python3.12/site-packages/nvidia/{name}/include" for name in ("cu13", "nccl")
    ]
    for folder in folders:
        folder.mkdir(parents=True)
    script(SFT, CPATH="/own", **ROOTS)
    paths = [call for call in script.calls if call.startswith("CPATH=") and call != "CPATH=/own"]

    # Transformer Engine's part for PyTorch, and FlashMLA.
    assert paths == [f"CPATH={folders[0]}:{folders[1]}:/own"] * 2


@pytest.mark.parametrize("capability", ["8.0", "12.0"])
def test_other_gpus_have_no_such_kernels(script: Script, capability: str) -> None:
    assert script(SFT, CAPABILITY=capability, **ROOTS) == 0
    assert installed_for_families(script) == []


def test_on_blackwell_triton_is_right(script: Script) -> None:
    assert script(GRPO, CAPABILITY="10.0", **ROOTS) == 0
    assert installed_for_families(script) == []


def test_what_cannot_be_installed_ends_its_family_alone(script: Script) -> None:
    assert script(SFT, FAILS="tilelang==0.1.15", **ROOTS) == 1
    assert "what qwen3_5_moe needs beside the stack cannot be installed" in script.printed
    families = [
        call.split("--family ")[1].split()[0] for call in script.calls if call.startswith("example-sanity")
    ]
    assert families == ["kimi_k2", "glm5", "deepseek_v4"]
    # A folder that is not whole is made again.
    assert script(SFT, **ROOTS) == 0
    assert any("tilelang==0.1.15" in call for call in script.calls)


def test_no_python_of_a_run_is_kept_from_writing_bytecode(script: Script) -> None:
    script.folder.joinpath("bin/example-sanity").write_text(
        '#!/bin/bash\necho "set:${PYTHONDONTWRITEBYTECODE:-no}" >> "$CALLS"\n'
    )
    assert script("--no-install", GRPO, PYTHONDONTWRITEBYTECODE="1") == 0
    assert script.calls == ["set:no"]


def test_the_pins_are_requirements() -> None:
    from packaging.requirements import Requirement

    lines = [line.partition(" #")[0] for line in REQUIREMENTS.read_text().splitlines()]
    names = [Requirement(line).name for line in lines if line and not line.startswith("#")]

    assert len(names) == len(set(names)) > 20
    marked = [line.split() for line in REQUIREMENTS.read_text().splitlines() if line.startswith("# folder: ")]
    assert [words[2] for words in marked] == ["flashmla", "tilelang"]
    for words in marked:
        assert set(words[3].split(",")) <= set(FAMILIES)
        assert all(Requirement(word).specifier for word in words[5:])


def test_the_sources_are_whole_commits() -> None:
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("# source: ")]

    assert all(
        re.fullmatch(r"# source: [A-Z0-9_]+ https://\S+ [0-9a-f]{40}(?: [a-z0-9_,]+)?", line)
        for line in lines
    )


def _workflow() -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    return found


def test_the_job_starts_nightly_on_demand_and_when_a_launcher_changes() -> None:
    # YAML 1.1 reads the bare key "on" as true; GitHub does not.
    starts = _workflow()[True]

    assert set(starts) == {"schedule", "workflow_dispatch", "push"}
    assert "examples/**/*.sh" in starts["push"]["paths"]


def test_the_job_has_limits_and_few_rights() -> None:
    workflow = _workflow()

    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())
    assert not any("permissions" in job for job in workflow["jobs"].values())
    assert "secrets." not in WORKFLOW.read_text()


def test_the_job_pastes_no_expression_into_its_shell() -> None:
    steps = [step for job in _workflow()["jobs"].values() for step in job["steps"]]

    assert all("${{" not in step.get("run", "") for step in steps)
    assert all(re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", step["uses"]) for step in steps if "uses" in step)


@pytest.mark.parametrize(("chosen", "count"), [("", 4), (GRPO, 1)])
def test_the_matrix_is_made_of_the_launchers(tmp_path: Path, chosen: str, count: int) -> None:
    step = next(step for step in _workflow()["jobs"]["plan"]["steps"] if step.get("id") == "list")
    output = tmp_path / "output"
    run = step["run"].replace("list.json", str(tmp_path / "list.json"))
    environment = {"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(output), "LAUNCHER": chosen}
    subprocess.run(["bash", "-e", "-c", run], cwd=ROOT, env=environment, check=True)
    launchers = yaml.safe_load(output.read_text().removeprefix("launchers="))

    assert len(launchers) == count
    assert GRPO in launchers
