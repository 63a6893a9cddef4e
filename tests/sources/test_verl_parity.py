"""Against a checkout of verl (``--corpus DIR``): our verdict is that of its own scripts, on main and with a mistake put in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from example_sanity import session
from example_sanity.core.finding import Finding, Severity
from helpers import cli

SANITY = "tests/special_sanity"
KEPT = (".py", ".yaml", ".yml", ".md", ".rst", ".sh", ".toml")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folders = [Path(folder).resolve() for folder in metafunc.config.getoption("--corpus")]
    found = [folder for folder in folders if (folder / SANITY / "check_license.py").is_file()]
    if "verl" in metafunc.fixturenames:
        metafunc.parametrize("verl", found, ids=[folder.name for folder in found], scope="module")


@pytest.fixture
def copy(verl: Path, tmp_path: Path) -> Path:
    """Return a copy of the text of the checkout, committed, with main where it was."""
    root = tmp_path / "verl"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=verl, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if name.endswith(KEPT) and (verl / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(verl / name, root / name)
    _git(root, "init", "-q", "-b", "main")
    _commit(root)
    _git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    return root


def _git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def _commit(root: Path) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "state")


def _append(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("a") as stream:
            stream.write(text)

    return change


def _script(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-B", f"{SANITY}/{name}.py", *arguments)


def _any(finding: Finding) -> bool:
    return True


# Their naming hook, as .pre-commit-config.yaml has it, for the words that it knows.
GREP = ("sh", "-c", "! grep -rIn --exclude-dir=.git --exclude=.pre-commit-config.yaml --exclude=*.py veRL .")
NOTICE = "# Copyright 2026 Bytedance Ltd. and/or its affiliates\n"
CASES = {
    "licence": (_script("check_license", "-d", "."), "SRC001", _append("verl/new.py", "x = 1\n"), _any),
    "docstrings": (
        _script("check_docstrings"),
        "SRC002",
        _append("verl/trainer/ppo/core_algos.py", "\n\ndef undocumented():\n    pass\n"),
        lambda finding: finding.path == "verl/trainer/ppo/core_algos.py",
    ),
    "dataproto": (
        _script("check_dataproto_usage", "-d", "./verl/workers/engine"),
        "SRC003",
        _append("verl/workers/engine/base.py", "\n\nx = DataProto\n"),
        _any,
    ),
    "devices": (
        _script("check_device_api_usage", "-d", "./verl"),
        "SRC012",
        _append("verl/protocol.py", "\n\nx = DataProto().cuda()\n"),
        _any,
    ),
    "structure": (
        _script("validate_structure"),
        "SRC004",
        _append("tests/nowhere/test_a.py", NOTICE),
        lambda finding: "jobs choose" not in finding.message,  # what theirs does not look at
    ),
    "annotations": (
        _script("type_coverage_check"),
        "SRC005",
        _append("verl/protocol.py", "\n\ndef bare(x):\n    return x\n"),
        _any,
    ),
    "configuration": (
        (
            sys.executable,
            "-B",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"{SANITY}/test_config_docs.py",
        ),
        "SRC007",
        _append("verl/trainer/config/actor/actor.yaml", "\nnew_key: 1\n"),
        _any,
    ),
    "terms": (GREP, "SRC006", _append("README.md", "\nveRL\n"), lambda finding: "'veRL'" in finding.message),
}


def _found(root: Path, code: str) -> tuple[Finding, ...]:
    run = session.open_run((), root=root, preset="verl", cache=False)
    run.config = msgspec.structs.replace(run.config, select=(code,))
    return run.check([run.registry.family("sources")]).findings


def _ours(root: Path, code: str, counts: Callable[[Finding], bool]) -> bool:
    return not any(f.severity is Severity.ERROR and counts(f) for f in _found(root, code))


@pytest.mark.corpus
@pytest.mark.parametrize("case", CASES)
def test_the_verdict_is_that_of_the_script(copy: Path, case: str) -> None:
    command, code, change, counts = CASES[case]

    def theirs() -> bool:
        return subprocess.run(command, cwd=copy, capture_output=True, check=False).returncode == 0

    assert (theirs(), _ours(copy, code, counts)) == (True, True)
    change(copy)
    _commit(copy)
    assert (theirs(), _ours(copy, code, counts)) == (False, False)


TITLES = {
    "[fsdp] fix: x": True,
    "[fsdp, megatron] feat: x": True,
    "[BREAKING][fsdp] refactor: x": True,
    "[1/N][fsdp] chore: x": True,
    "fix: x": False,
    "[fsdpp] fix: x": False,
    "[fsdp] fixes: x": False,
    "[fsdp] fix x": False,
}


@pytest.mark.corpus
@pytest.mark.parametrize("title", TITLES)
def test_titles_are_judged_alike(
    verl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    environment = {**os.environ, "PR_TITLE": title}
    theirs = subprocess.run(
        _script("check_pr_title"), cwd=verl, env=environment, capture_output=True, check=False
    )
    monkeypatch.chdir(verl)

    ours = cli(capsys, "pr", "--preset", "verl", "--title", title)[0]

    assert (theirs.returncode == 0, ours == 0) == (TITLES[title], TITLES[title])


@pytest.mark.corpus
def test_texts_are_judged_alike(
    verl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    template = (verl / ".github/PULL_REQUEST_TEMPLATE.md").read_text()
    written = template.replace("> Add **concise**", "Resumes from the last step.\n\n> Add **concise**")
    monkeypatch.chdir(verl)
    for body, verdict in ((template, False), (written, True)):
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"pull_request": {"title": "[fsdp] fix: x", "body": body}}))
        environment = {**os.environ, "GITHUB_EVENT_PATH": str(event), "GITHUB_WORKSPACE": str(verl)}
        call = _script("check_pr_description")
        theirs = subprocess.run(call, cwd=verl, env=environment, capture_output=True, check=False)

        ours = cli(capsys, "pr", "--preset", "verl", "--event", str(event))[0]

        assert (theirs.returncode == 0, ours == 0) == (verdict, verdict)


@pytest.mark.corpus
def test_every_path_of_the_preset_is_there(verl: Path) -> None:
    assert [item.message for item in _found(verl, "SRC015")] == []
