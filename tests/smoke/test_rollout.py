"""Variables that keep vLLM from building kernels: when a plan sets them, and how they reach the workers of Ray."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity.smoke import on_ray
from example_sanity.smoke.running import Options, run
from helpers import Write
from smoke.planned import PPO, planned, told
from smoke.ray_client import Client
from smoke.runs import LAUNCHER, STEPS, plan

SAMPLER, MOE = "VLLM_USE_FLASHINFER_SAMPLER", "VLLM_USE_FLASHINFER_MOE_FP16"
MIXTURE = PPO.replace("Qwen3-8B", "Qwen3-30B-A3B")
SFT = "examples/sft/gsm8k/run_deepseek_v4_megatron_lite.sh"


def script(write: Write, text: str) -> Path:
    return write({"run_fsdp.sh": text, "example-sanity.toml": ""}) / "run_fsdp.sh"


def named(found: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in found.items() if "FLASHINFER" in name}


def test_a_run_without_a_rollout_sets_neither() -> None:
    assert named(planned(SFT).environment) == {}


def test_a_rollout_of_another_engine_sets_neither(write: Write) -> None:
    text = MIXTURE.replace("rollout.name=vllm", "rollout.name=sglang")

    assert named(planned(script(write, text)).environment) == {}


@pytest.mark.parametrize(("text", "wanted"), [(PPO, {SAMPLER: "0"}), (MIXTURE, {SAMPLER: "0", MOE: "0"})])
def test_only_a_model_with_experts_has_moe_kernels(write: Write, text: str, wanted: dict[str, str]) -> None:
    found = planned(script(write, text))

    assert named(found.environment) == wanted
    assert named(told(found)) == wanted
    assert all("nvcc" in change.why for change in found.changes if change.name in wanted)


def test_a_model_that_is_not_known_may_have_experts(write: Write) -> None:
    found = planned(script(write, PPO), settings={"MODEL_PATH": "/nowhere/model"})

    assert named(found.environment) == {SAMPLER: "0", MOE: "0"}


def test_what_the_launcher_says_stays(write: Write) -> None:
    text = MIXTURE.replace("set -eu\n", f"set -eu\nexport {MOE}=1\n")

    assert named(planned(script(write, text)).environment) == {SAMPLER: "0"}


def test_what_the_launcher_gives_the_workers_of_ray_stays(write: Write) -> None:
    text = MIXTURE.replace('"$@"', f'+ray_kwargs.ray_init.runtime_env.env_vars.{MOE}=1 "$@"')

    assert named(planned(script(write, text)).environment) == {SAMPLER: "0"}


def test_what_the_environment_says_holds(write: Write) -> None:
    found = planned(script(write, MIXTURE), host={MOE: "1"})

    assert named(found.environment) == {SAMPLER: "0", MOE: "1"}
    assert {change.why for change in found.changes if change.name == MOE} == {
        "as the environment of this process says"
    }


def test_what_the_user_sets_wins(write: Write) -> None:
    found = planned(script(write, MIXTURE), settings={MOE: "1"}, host={MOE: "0"})

    assert named(found.environment) == {SAMPLER: "0", MOE: "1"}
    assert [(change.value, change.why, change.kind) for change in found.changes if change.name == MOE] == [
        ("1", "given with --set", "environment")
    ]


@pytest.mark.parametrize(
    ("environment", "wanted"), [({"TP": "1"}, None), ({"TP": "1", SAMPLER: "0"}, {SAMPLER: "0"})]
)
def test_the_workers_of_a_cluster_get_them(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    environment: dict[str, str],
    wanted: dict[str, str] | None,
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "root/run.sh").write_text(LAUNCHER)
    (tmp_path / "root/train.py").write_text(STEPS)
    client = Client(tmp_path / "there")
    monkeypatch.setattr(on_ray, "_client", lambda _: client)
    monkeypatch.setattr(on_ray, "_ASK_SECONDS", 0.05)
    given = plan(environment=environment)
    result = run(given, tmp_path / "root", Options(log=tmp_path / "run.log", on="ray://head"))

    assert result.verdict == "passed"
    assert client.submitted["runtime_env"].get("env_vars") == wanted
