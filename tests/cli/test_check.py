"""The command line: exit codes, paths, selection, and the words of its errors."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from example_sanity.cli import cli as command_line
from helpers import Write, cli

CLEAN = {"examples/run_qwen3_8b_fsdp.sh": "python3 train.py\n"}
BROKEN = {"examples/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"}


def test_clean_is_0(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = cli(capsys, "naming", str(write(CLEAN)))

    assert (code, err) == (0, "")
    assert out.startswith("No findings in 1 script (")


def test_findings_are_1(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "naming", str(write(BROKEN)))

    assert code == 1
    assert "examples/run_qwen3_vllm_fsdp.sh:1:1: error[NAM002] forbidden-token: " in out
    assert "Found 1 error in 1 script (" in out


def test_fail_on_decides(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(write({"examples/run_a_fsdp.sh": "while true; do :; done\n"}))

    assert cli(capsys, "mesh", root)[0] == 0
    assert cli(capsys, "mesh", root, "--fail-on", "warning")[0] == 1
    assert cli(capsys, "mesh", root, "--fail-on", "error")[0] == 0


def test_check_runs_every_family(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = cli(capsys, "check", str(write({"examples/run_a_fsdp.sh": "python3 train.py\n"})))

    assert (code, err) == (0, "")
    assert out.startswith("No findings in 1 script (")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["naming", "{root}/exmples"],
            "no such file or folder: {root}/exmples (did you mean '{root}/examples'?)",
        ),
        (["naming", "{root}", "--select", "NAM09"], "--select: unknown rule 'NAM09' (did you mean 'NAM"),
        (
            ["naming", "{root}", "--ignore", "NAM002,NAM09"],
            "--ignore: unknown rule 'NAM09' (did you mean 'NAM",
        ),
        (["naming", "{root}", "--ignore", "forbiden-token"], "(did you mean 'forbidden-token'?)"),
        (["naming", "{root}", "--preset", "verll"], "unknown preset 'verll' (did you mean 'verl'?)"),
        (["naming", "{root}", "--config", "{root}/none.toml"], "no such file or folder: {root}/none.toml"),
        (["naming", "{root}", "--format", "xml"], "'xml' is not one of"),
        (["naming", "{root}", "-e", "X"], "'X' is not NAME=VALUE"),
        (["namming", "{root}"], "no such command 'namming' (did you mean 'naming'?)"),
        (["explain", "NAM999"], "unknown rule 'NAM999'"),
        (["explain", "naming"], "is a family; name one of its rules: NAM001"),
        (["naming", "--nonsense"], "No such option"),
    ],
)
def test_a_wrong_call_is_2_with_the_nearest_right_word(
    write: Write, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    root = str(write(CLEAN))

    code, out, err = cli(capsys, *(argument.format(root=root) for argument in arguments))

    assert (code, out) == (2, "")
    assert words.format(root=root) in err


def test_nothing_inspected_is_3_unless_allowed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(write({"README.md": "no launchers\n"}))

    code, _, err = cli(capsys, "naming", root)

    assert code == 3
    assert "nothing was inspected" in err
    assert cli(capsys, "naming", root, "--allow-empty")[0] == 0


def test_an_explicit_file_that_is_no_subject_is_0_with_a_note(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write({"README.md": "no launchers\n"})

    code, out, _ = cli(capsys, "naming", str(root / "README.md"))

    assert code == 0
    assert "note: README.md: skipped, these rules do not look at such a file" in out


def test_excludes_hold_for_explicit_files(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({**BROKEN, "pyproject.toml": "[tool.example-sanity]\nexclude = ['examples/']\n"})

    code, out, _ = cli(capsys, "naming", str(root / "examples/run_qwen3_vllm_fsdp.sh"))

    assert code == 0
    assert "skipped, the configuration excludes it" in out


def test_an_internal_error_is_4(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(write(CLEAN))
    monkeypatch.setattr("example_sanity.session.open_run", lambda *_, **__: 1 / 0)

    code, _, err = cli(capsys, "naming", root)

    assert code == 4
    assert "ZeroDivisionError" in err


def test_per_file_ignores_are_kept_and_counted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    table = (
        "[[tool.example-sanity.per-file-ignore]]\npath = 'examples/'\nrules = ['naming']\nreason = 'legacy'\n"
    )
    root = write({**BROKEN, "pyproject.toml": table})

    code, out, _ = cli(capsys, "naming", str(root), "--format", "json")

    data = json.loads(out)
    assert code == 0
    assert data["findings"] == []
    assert [item["suppressed_by"] for item in data["suppressed"]] == [
        "pyproject.toml:2 per-file-ignore: legacy"
    ]


def test_the_front_door_and_the_module_are_the_same_program(write: Write) -> None:
    root = write(BROKEN)
    outputs = []
    for command in (["-m", "checks.naming"], ["-m", "example_sanity", "naming"], ["-m", "checks", "naming"]):
        call = [sys.executable, *command, str(root), "--format", "concise"]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=_environment())
        assert done.returncode == 1
        outputs.append(done.stdout.rpartition(" (")[0])

    assert len(set(outputs)) == 1


@pytest.mark.parametrize("regular", [True, False])
def test_a_checks_package_of_the_users_own_keeps_working(tmp_path: Path, regular: bool) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks/mine.py").write_text("print('mine')\n")
    if regular:
        (tmp_path / "checks/__init__.py").write_text("")
    call = [sys.executable, "-c", "import checks.mine"]

    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=tmp_path, env=_environment())

    assert (done.stdout, done.stderr) == ("mine\n", "")


def test_help_names_the_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "--help")

    assert code == 0
    for word in ("check", "naming", "explain", "rules", "Exit codes:", "3  nothing was inspected"):
        assert word in out


def test_help_says_what_each_command_is_for_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli(capsys, "--help")[1].splitlines()[1:]

    assert [line for line in lines if len(line) > 80 or line.endswith("...")] == []
    context = click.Context(command_line)
    for command in (command_line.get_command(context, name) for name in command_line.list_commands(context)):
        assert command is not None
        assert any(line.split() == [command.name, *(command.short_help or "").split()] for line in lines)


def test_options_are_shown_from_the_report_to_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    out = cli(capsys, "check", "--help")[1]
    places = [
        out.index(f"  --{name} ") for name in ("select", "format", "fix", "add-ignore", "reason", "root")
    ]

    assert places == sorted(places)


def test_rules_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    text = cli(capsys, "rules")[1]
    data = json.loads(cli(capsys, "rules", "--format", "json")[1])

    assert "NAM002  forbidden-token" in text
    assert len(text.splitlines()) == len(data["rules"])


def _environment() -> dict[str, str]:
    source = Path(__file__).parents[2] / "src"
    return {**os.environ, "PYTHONPATH": str(source)}


def test_standard_input_is_checked_under_the_name_that_is_given(
    write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({**CLEAN, "pyproject.toml": "[tool.example-sanity]\n"})
    text = b"python3 -m verl.trainer.main_ppo model_engine=megatron\n"
    for name, codes in [("run_qwen3_8b_fsdp.sh", ["NAM004"]), ("run_new_npu_megatron.sh", ["NAM002"])]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        path = str(root / "examples" / name)
        _, out, _ = cli(capsys, "naming", "-", "--stdin-filename", path, "--format", "json")
        assert [(f["code"], f["path"]) for f in json.loads(out)["findings"]] == [
            (codes[0], f"examples/{name}")
        ]


@pytest.mark.parametrize(
    "arguments", [["-"], ["examples", "--stdin-filename", "a.sh"], ["-", "--stdin-filename", "a.sh", "--fix"]]
)
def test_standard_input_wants_a_name_and_stays_as_it_is(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, _, err = cli(capsys, "check", *arguments)

    assert code == 2
    assert "standard input" in err
