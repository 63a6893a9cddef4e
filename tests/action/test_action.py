"""The GitHub Action: valid under GitHub's schemas, and its shell steps run in a made-up runner."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from helpers import Write

ROOT = Path(__file__).parents[2]
CLEAN = {"examples/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}
BROKEN = {"examples/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"}


def _yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def _schema(name: str) -> Any:
    folder = importlib.resources.files("check_jsonschema.builtin_schemas").joinpath("vendor")
    return json.loads(folder.joinpath(name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("action.yml", "github-actions.json"),
        (".github/workflows/ci.yml", "github-workflows.json"),
        (".github/workflows/gpu-smoke.yml", "github-workflows.json"),
    ],
)
def test_the_file_is_valid(path: str, schema: str) -> None:
    # YAML 1.1 reads the bare key "on" as true; GitHub does not.
    data = {"on" if key is True else key: value for key, value in _yaml(path).items()}

    jsonschema.validate(data, _schema(schema))


@pytest.mark.parametrize("path", ["action.yml", ".github/workflows/ci.yml"])
def test_other_actions_are_pinned_by_full_version(path: str) -> None:
    used = re.findall(r"uses: (\S+)", (ROOT / path).read_text("utf-8"))

    assert used
    assert all(name == "./" or re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", name) for name in used)


def test_no_step_pastes_an_expression_into_its_shell() -> None:
    scripts = [step["run"] for step in _steps() if "run" in step]
    workflow = [
        step["run"]
        for job in _yaml(".github/workflows/ci.yml")["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]

    assert scripts
    assert all("${{" not in script for script in [*scripts, *workflow])


def test_the_workflow_only_asks_for_what_it_needs() -> None:
    workflow = _yaml(".github/workflows/ci.yml")

    assert workflow["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job} == {
        "sanity": {"contents": "read", "security-events": "write"}
    }
    assert "secrets." not in (ROOT / ".github/workflows/ci.yml").read_text("utf-8")


def _steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = _yaml("action.yml")["runs"]["steps"]
    return steps


class Runner:
    """Runs the action's shell steps as GitHub does: inputs with their defaults, outputs of steps, files of the job."""

    def __init__(self, folder: Path, project: Path, python: Path) -> None:
        self.folder = folder
        self.project = project
        self.values = {
            f"inputs.{name}": item["default"] for name, item in _yaml("action.yml")["inputs"].items()
        }
        self.values["steps.python.outputs.python-path"] = str(python)
        self.summary = folder / "summary.md"

    def run(self, inputs: Mapping[str, str]) -> tuple[list[int], str]:
        """Return the exit status of each shell step up to the first that fails, and all they printed."""
        self.values |= {f"inputs.{name}": value for name, value in inputs.items()}
        statuses, printed = [], ""
        for step in _steps():
            if "run" in step:
                done = self._step(step)
                printed += done.stdout + done.stderr
                statuses.append(done.returncode)
                if done.returncode:
                    break
        return statuses, printed

    def _step(self, step: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        output = self.folder / "output"
        output.write_text("")
        environment = {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{name: self._value(text) for name, text in step.get("env", {}).items()},
        }
        folder = self.project / self._value(step.get("working-directory", "."))
        # GitHub's command line for "shell: bash".
        call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(call, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return done

    def _value(self, text: str) -> str:
        """Evaluate the few forms of expressions that the action uses."""

        def evaluate(found: re.Match[str]) -> str:
            expression = found[1].strip()
            if choice := re.fullmatch(r"(\S+) == '(\w+)' && '(\w+)' \|\| '(\w+)'", expression):
                return choice[3] if self.values[choice[1]] == choice[2] else choice[4]
            name, _, default = expression.partition(" || ")
            return self.values.get(name, "") or default.strip("'")

        return re.sub(r"\$\{\{(.+?)\}\}", evaluate, text)


@pytest.fixture
def runner(tmp_path_factory: pytest.TempPathFactory, write: Write) -> Runner:
    """A runner whose Python makes environments that run this source tree, and notes what pip was to install."""
    folder = tmp_path_factory.mktemp("runner")
    python = folder / "python3"
    tool = f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m example_sanity "$@"\n'
    pip = f'#!/bin/sh\necho "$@" >> "{folder / "pip.log"}"\n'
    _program(folder / "tool", tool)
    _program(folder / "pip", pip)
    _program(
        python,
        f'#!/bin/sh\nmkdir -p "$3/bin"\ncp "{folder / "pip"}" "$3/bin/python"\n'
        f'cp "{folder / "tool"}" "$3/bin/example-sanity"\n',
    )
    project = write({})
    (project / ".git").mkdir()  # a runner works in a checkout
    return Runner(folder, project, python)


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_a_clean_project_passes_with_a_summary(runner: Runner, write: Write) -> None:
    write(CLEAN)

    statuses, printed = runner.run({"args": "--select NAM002"})

    assert statuses == [0, 0, 0]
    assert "::error" not in printed
    assert runner.summary.read_text("utf-8").startswith("## example-sanity\n\nNo findings in 1 script (")
    assert runner.values["steps.check.outputs.exit-code"] == "0"


def test_findings_annotate_summarise_and_fail_at_the_end(runner: Runner, write: Write) -> None:
    write(BROKEN)

    statuses, printed = runner.run({"args": "--select NAM002", "paths": "examples\n"})

    assert statuses == [0, 0, 1]
    assert "\n::error file=examples/run_qwen3_vllm_fsdp.sh,line=1,title=NAM002 forbidden-token::" in printed
    assert "NAM002" in runner.summary.read_text("utf-8")
    sarif = json.loads(Path(runner.values["steps.check.outputs.sarif-file"]).read_text("utf-8"))
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["NAM002"]


def test_annotations_and_summary_can_be_switched_off(runner: Runner, write: Write) -> None:
    write(BROKEN)

    _, printed = runner.run({"args": "--select NAM002", "annotations": "false", "summary": "false"})

    assert "::error" not in printed
    assert "error[NAM002] forbidden-token" in printed
    assert not runner.summary.exists()


def test_a_wrong_call_fails_with_its_code_and_no_summary(runner: Runner, write: Write) -> None:
    write(CLEAN)

    statuses, printed = runner.run({"paths": "exmples"})

    assert statuses == [0, 0, 2]
    assert "no such file or folder: exmples (did you mean 'examples'?)" in printed
    assert not runner.summary.exists()
    assert "steps.check.outputs.sarif-file" not in runner.values


def test_paths_are_lines_and_may_hold_blanks_or_shell(runner: Runner, write: Write) -> None:
    write(
        {"a b/$(touch x)/run_vllm_fsdp.sh": "python3 train.py\n", "c/run_npu_fsdp.sh": "python3 train.py\n"}
    )

    statuses, printed = runner.run(
        {"args": "--select\nNAM002  --format concise", "paths": "a b/$(touch x)\n\n  \nc"}
    )

    assert statuses == [0, 0, 1]
    assert printed.count(": error NAM002 ") == 2
    assert not (runner.project / "x").exists()


def test_the_working_directory_and_preset_count(runner: Runner, write: Write) -> None:
    write({f"sub/{path}": text for path, text in BROKEN.items()})

    statuses, printed = runner.run({"working-directory": "sub", "preset": "verll"})

    assert statuses == [0, 0, 2]
    assert "unknown preset 'verll'" in printed


@pytest.mark.parametrize(
    ("version", "source"), [("", f"{ROOT}[hydra]"), ("0.1.0", "example-sanity[hydra]==0.1.0")]
)
def test_it_installs_its_own_version_or_the_one_asked_for(
    runner: Runner, write: Write, version: str, source: str
) -> None:
    write(CLEAN)

    runner.run({"version": version, "args": "--select NAM002"})

    log = (runner.folder / "pip.log").read_text("utf-8")
    assert log == f"-m pip install --quiet --disable-pip-version-check {source}\n"
