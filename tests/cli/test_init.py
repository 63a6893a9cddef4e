"""The commands ``init`` and ``completion``, and ``--version``."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from example_sanity import __version__
from example_sanity.core.config import parse_toml
from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
NOTICE = "# Copyright 2026 Bytedance Ltd. and/or its affiliates\n"
VERL = {"verl/trainer/main_ppo.py": NOTICE, "examples/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}


def test_a_known_project_gets_its_preset(write: Write, capsys: Capture) -> None:
    root = write({**VERL, "pyproject.toml": "[project]\nname = 'verl'"})

    code, out, _ = cli(capsys, "init", "--root", str(root))

    assert code == 0
    assert out.startswith(
        "added [tool.example-sanity] to pyproject.toml: preset verl, as there is verl/trainer/main_ppo.py\n"
    )
    text = (root / "pyproject.toml").read_text()
    assert text.startswith("[project]\nname = 'verl'\n\n[tool.example-sanity]\n# ")
    assert parse_toml(text)["tool"]["example-sanity"] == {
        "preset": "verl",
        "exclude": [],
        "ignore": [],
        "fail-on": "error",
    }
    assert cli(capsys, "check", str(root))[0] == 0


def test_what_a_preset_leaves_out_stays_out(write: Write, capsys: Capture) -> None:
    root = write({"slime_plugins/__init__.py": "", "examples/train-8B.sh": "python3 train.py\n"})

    assert cli(capsys, "init", "--root", str(root))[0] == 0

    # A list of the configuration replaces that of its preset: an empty one would bring the names back.
    assert parse_toml((root / "example-sanity.toml").read_text())["ignore"] == ["naming"]
    assert cli(capsys, "check", str(root))[0] == 0


def test_without_pyproject_a_file_of_our_own_is_written(write: Write, capsys: Capture) -> None:
    root = write({"jobs/train.sh": "python3 train.py\n"})

    code, out, _ = cli(capsys, "init", "--root", str(root))

    assert code == 0
    assert out.startswith("wrote example-sanity.toml: no project whose conventions are known\n")
    assert parse_toml((root / "example-sanity.toml").read_text()) == {
        "exclude": [],
        "ignore": ["naming"],
        "fail-on": "error",
    }
    assert cli(capsys, "check", str(root))[0] == 0


def test_the_call_decides(write: Write, capsys: Capture) -> None:
    root = write({**VERL, "pyproject.toml": "[project]\r\nname = 'x'\r\n"})

    code, out, _ = cli(
        capsys, "init", "--root", str(root), "--preset", "slime", "--write", "example-sanity.toml"
    )

    assert (code, out.splitlines()[0]) == (0, "wrote example-sanity.toml: preset slime")
    assert (root / "pyproject.toml").read_bytes() == b"[project]\r\nname = 'x'\r\n"


def test_line_ends_stay(write: Write, capsys: Capture) -> None:
    root = write({"pyproject.toml": "[project]\r\nname = 'x'\r\n"})

    assert cli(capsys, "init", "--root", str(root))[0] == 0
    assert b"\r" not in (root / "pyproject.toml").read_bytes().replace(b"\r\n", b"")
    assert b"\n" not in (root / "pyproject.toml").read_bytes().replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({"example-sanity.toml": ""}, [], "example-sanity.toml has a configuration already"),
        (
            {"pyproject.toml": "[tool.example-sanity]\n"},
            ["--write", "example-sanity.toml"],
            "pyproject.toml has a configuration already",
        ),
        ({"pyproject.toml": "[broken"}, [], "cannot read pyproject.toml"),
        ({}, ["--preset", "verll"], "unknown preset 'verll' (did you mean 'verl'?)"),
        ({}, ["--write", "setup.cfg"], "'setup.cfg' is not one of"),
    ],
)
def test_what_is_refused(
    write: Write, capsys: Capture, files: dict[str, str], arguments: list[str], message: str
) -> None:
    root = write(files)
    before = {path.name: path.read_text() for path in root.iterdir()}

    code, out, err = cli(capsys, "init", "--root", str(root), *arguments)

    assert (code, out) == (2, "")
    assert message in err
    assert {path.name: path.read_text() for path in root.iterdir()} == before


def test_a_folder_that_is_not_there_or_cannot_be_written(
    write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({})
    code, _, err = cli(capsys, "init", "--root", str(root / "none"))
    assert (code, "no such folder" in err) == (2, True)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("example_sanity.initialising.write_atomically", refuse)
    code, _, err = cli(capsys, "init", "--root", str(root))
    assert (code, f"cannot write {root / 'example-sanity.toml'}: Permission denied" in err) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(capsys: Capture, shell: str) -> None:
    code, out, _ = cli(capsys, "completion", shell)

    assert code == 0
    assert "_EXAMPLE_SANITY_COMPLETE" in out


def test_completion_completes() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
        "_EXAMPLE_SANITY_COMPLETE": "bash_complete",
        "COMP_WORDS": "example-sanity bas",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "example_sanity"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "plain,baseline\n"


def test_version_lists_plugins(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli(capsys, "--version") == (0, f"example-sanity, version {__version__}\n", "")

    theirs = types.SimpleNamespace(project_name="more-rules", version="1.2")
    monkeypatch.setattr("pluggy.PluginManager.list_plugin_distinfo", lambda _: [(object(), theirs)])
    assert cli(capsys, "--version")[1].splitlines()[1:] == ["plugin more-rules, version 1.2"]
