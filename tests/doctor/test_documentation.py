"""The page of the doctor shows what the doctor says, and names every kind and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.site import install, site, virtual_environment
from example_sanity.doctor import gpus as machine
from example_sanity.doctor.findings import Kind
from example_sanity.doctor.gpus import Gpus
from helpers import Write, cli
from mesh.launchers import EXACT, PATH, launcher

PAGE = (Path(__file__).parents[2] / "docs/doctor.md").read_text("utf-8")
SCRIPT = "examples/run_qwen3_vllm.sh"
HEADER = "#!/usr/bin/env bash\n# requires vllm>=0.8, transformers@<cc7ab9be>\n"


@pytest.fixture
def project(write: Write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write(
        {
            SCRIPT: HEADER
            + launcher(EXACT)[PATH]
            .partition("\n")[2]
            .replace("verl.trainer.main_ppo", "verl.trainer.main_ppo rollout.name=vllm"),
            "requirements.txt": "ray[default]>=2.41\nnumpy>=2.0.0\n",
            "docker/Dockerfile.rocm": "RUN pip install vllm==0.8.4\n",
            "example-sanity.toml": "",
        }
    )
    packages = site(virtual_environment(root / ".venv"))
    install(packages, "ray", "2.40.0")
    install(packages, "transformers", "5.5.3")
    install(packages, "vllm", "0.8.5")
    install(packages, "verl", "0.7.1", files=["verl/__init__.py", "verl/trainer/main_ppo.py"])
    monkeypatch.chdir(root)
    monkeypatch.setattr(machine, "visible", lambda: Gpus(problem="no nvidia-smi on this machine"))
    return root


def test_the_report_on_the_page_is_real(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "doctor", SCRIPT, "--python", ".venv")

    assert code == 1
    assert f"```console\n$ example-sanity doctor {SCRIPT} --python .venv\n{out}```\n" in PAGE


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_is_explained(kind: Kind) -> None:
    assert f"`{kind.value}`" in PAGE


def test_every_field_is_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    data = json.loads(cli(capsys, "doctor", SCRIPT, "--python", ".venv", "--format", "json")[1])
    fields = {
        *data,
        *data["python"],
        *data["requirements"][0],
        *data["requirements"][0]["asked"][0],
        *data["mismatches"][0],
    }

    assert [field for field in sorted(fields) if f"`{field}`" not in PAGE and field != "version"] == []
