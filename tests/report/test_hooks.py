"""The hooks for pre-commit: they are those of the families, and look at the files that the rules judge."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from example_sanity import checks, session
from helpers import Write, cli

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: Mapping[str, Any] = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text("utf-8"))}

CLEAN = "python3 train.py\n"
PATHS = {
    "examples/run_a_fsdp.sh": CLEAN,
    "examples/start.bash": CLEAN,
    "examples/job.slurm": CLEAN,
    "examples/job.sbatch": CLEAN,
    "examples/launch": f"#!/bin/bash\n{CLEAN}",
    "sub/pyproject.toml": "",
    "ruff.toml": "",
    "mypy.ini": "",
    "setup.cfg": "",
    ".pre-commit-config.yaml": "repos: []\n",
    ".github/CODEOWNERS": "",
    ".github/workflows/ci.yml": "jobs: {}\n",
    "README.md": "text\n",
    "train.py": "print()\n",
    "config.yaml": "a: 1\n",
}


def test_the_manifest_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(capsys, "rules", "--format", "pre-commit")[1] == MANIFEST.read_text("utf-8")


def test_there_is_a_hook_for_everything_and_one_for_each_family() -> None:
    assert list(HOOKS) == ["example-sanity", *(f"example-sanity-{name}" for name in checks.FAMILIES)]
    assert [hook["entry"] for hook in HOOKS.values()] == [
        f"example-sanity {command} --allow-empty --keep-roots" for command in ("check", *checks.FAMILIES)
    ]


def test_pre_commit_accepts_the_manifest() -> None:
    call = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]

    assert subprocess.run(call, check=False).returncode == 0


# Without configuration some rules have nothing to judge; the hook cannot know.
CONFIG = """\
[[sources.terms]]
spellings = ["vLLM"]
"""


@pytest.mark.parametrize("name", checks.FAMILIES)
def test_a_hook_gets_the_files_that_its_family_judges(write: Write, name: str) -> None:
    root = write({"project/" + path: text for path, text in PATHS.items()} | {"config.toml": CONFIG})
    run = session.open_run((), root=root / "project", config=root / "config.toml")
    rules = run.registry.family(name).rules
    files = HOOKS[f"example-sanity-{name}"]["files"]

    judged = [path for path in PATHS if any(run.judges(rule, path) for rule in rules)]

    passed = [path for path in PATHS if re.search(files, path)]
    # Whether a file without a suffix is a script is for the tool to find out.
    assert [path for path in passed if path in judged or Path(path).suffix] == judged
    assert set(judged) <= set(passed)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("path", ["README.md", "examples/old/run_a_vllm_fsdp.sh", "LICENSE"])
def test_a_commit_of_excluded_files_or_without_a_subject_passes(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], hook: str, path: str
) -> None:
    toml = "[tool.example-sanity]\nexclude = ['/examples/old/']\n"
    broken = {"examples/run_b_vllm_fsdp.sh": CLEAN, "pyproject.toml": toml}
    monkeypatch.chdir(write({path: CLEAN, **broken}))

    assert cli(capsys, *shlex.split(HOOKS[hook]["entry"])[1:], path)[0] == 0


@pytest.mark.parametrize("hook", ["example-sanity", "example-sanity-naming"])
def test_a_commit_of_a_script_that_is_no_launcher_by_convention_passes(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], hook: str
) -> None:
    path = "scripts/install_vllm_npu.sh"
    monkeypatch.chdir(write({path: "pip install vllm\n", "pyproject.toml": "[tool.example-sanity]\n"}))

    assert cli(capsys, *shlex.split(HOOKS[hook]["entry"])[1:], path)[0] == 0
    assert cli(capsys, "naming", path)[0] == 1


@pytest.mark.install
def test_pre_commit_fails_a_bad_commit_and_passes_a_good_one(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "examples").mkdir(parents=True)
    launcher = repository / "examples/run_a_vllm_fsdp.sh"
    launcher.write_text(CLEAN)

    failing = _try_repo(repository, tmp_path / "cache")
    launcher.rename(repository / "examples/run_a_fsdp.sh")
    passing = _try_repo(repository, tmp_path / "cache")

    assert failing.returncode == 1
    assert "error[NAM002] forbidden-token" in failing.stdout
    assert passing.returncode == 0, passing.stdout
    assert re.search(r"example-sanity-naming\.+Passed", passing.stdout)


def _try_repo(repository: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PRE_COMMIT_HOME": str(cache), "GIT_CONFIG_COUNT": "0"}
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=repository, check=True)
    call = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "example-sanity-naming", "--verbose"]
    return subprocess.run(call, cwd=repository, env=environment, capture_output=True, text=True, check=False)


def test_each_hook_brings_the_hydra_that_overrides_are_checked_with() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")

    for hook in HOOKS.values():
        (needed,) = hook["additional_dependencies"]
        assert f'hydra = ["{needed}"]' in project
