"""SRC008: generated files against what their command writes, only where the call allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
CALL = ("--select", "SRC008", "--format", "concise")


def project(write: Write, script: str, *, content: str = "steps: 1\nend\n", timeout: float = 60) -> Path:
    table = (
        f'[[sources.generated]]\nfiles = ["out/made.yaml"]\ncommand = "bash make.sh"\ntimeout = {timeout}\n'
    )
    return write({"out/made.yaml": content, "make.sh": script, "example-sanity.toml": table})


def test_without_permission_nothing_runs_and_that_is_said(write: Write, capsys: Capture) -> None:
    root = project(write, "touch /tmp/example-sanity-must-not-exist; echo x > out/made.yaml\n")

    code, out, _ = cli(capsys, "sources", str(root), *CALL)

    assert code == 0
    assert "not compared with what 'bash make.sh' writes" in out
    assert "add --allow-commands" in out
    assert not Path("/tmp/example-sanity-must-not-exist").exists()


def test_what_is_as_written_is_silent(write: Write, capsys: Capture) -> None:
    root = project(write, "printf 'steps: 1\\nend\\n' > out/made.yaml\n")

    assert cli(capsys, "sources", str(root), *CALL, "--allow-commands")[0] == 0


def test_the_variable_of_the_environment_allows_it_too(
    write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_SANITY_ALLOW_COMMANDS", "1")
    root = project(write, "echo other > out/made.yaml\n")

    assert cli(capsys, "sources", str(root), *CALL)[0] == 1


def test_what_differs_is_found_at_its_first_line_and_left_as_it_is(write: Write, capsys: Capture) -> None:
    root = project(write, "printf 'steps: 1\\nnew\\n' > out/made.yaml\ntouch left-over\n")

    code, out, _ = cli(capsys, "sources", str(root), *CALL, "--allow-commands")

    assert code == 1
    assert "out/made.yaml:2:1" in out
    assert "the file is not what 'bash make.sh' writes today; run that, and commit the result" in out
    assert (root / "out/made.yaml").read_text() == "steps: 1\nend\n"
    assert not (root / "left-over").exists()


def test_a_command_may_ask_git_what_changed(write: Write, capsys: Capture) -> None:
    """As scripts do that fail when what they wrote is not what is committed."""
    script = "echo new > out/made.yaml\ngit diff --exit-code -- out/made.yaml\n"

    code, out, _ = cli(capsys, "sources", str(project(write, script)), *CALL, "--allow-commands")

    assert code == 1
    assert "is not what 'bash make.sh' writes" in out
    same = "printf 'steps: 1\\nend\\n' > out/made.yaml\ngit diff --exit-code -- out/made.yaml\n"
    assert cli(capsys, "sources", str(project(write, same)), *CALL, "--allow-commands")[0] == 0


@pytest.mark.parametrize(
    ("script", "timeout", "words"),
    [
        (
            "echo no module hydra >&2\nexit 3\n",
            60,
            "failed with status 3 (no module hydra), so nothing could be compared",
        ),
        ("sleep 60\n", 0.3, "did not end within 0.3 s, so nothing could be compared"),
    ],
)
def test_a_command_that_fails_is_no_pass(
    write: Write, capsys: Capture, script: str, timeout: float, words: str
) -> None:
    root = project(write, script, timeout=timeout)

    code, out, _ = cli(capsys, "sources", str(root), *CALL, "--allow-commands")

    assert code == 1
    assert words in out


def test_a_command_that_is_not_there_is_no_pass(write: Write, capsys: Capture) -> None:
    table = '[[sources.generated]]\nfiles = ["a"]\ncommand = "no-such-program-here"\n'
    root = write({"a": "", "example-sanity.toml": table})

    code, out, _ = cli(capsys, "sources", str(root), *CALL, "--allow-commands")

    assert code == 1
    assert "could not start" in out


def test_files_that_this_repository_does_not_have_are_none_of_its_business(
    write: Write, capsys: Capture
) -> None:
    table = '[[sources.generated]]\nfiles = ["a"]\ncommand = "false"\n'
    root = write({"b.py": "", "example-sanity.toml": table})

    assert "No findings" in cli(capsys, "sources", str(root), "--select", "SRC008", "--allow-commands")[1]
