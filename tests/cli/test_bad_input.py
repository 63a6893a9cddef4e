"""Files that cannot be inspected: one SYS finding each, whatever families run, and the run goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from helpers import Write, cli

GOOD = "examples/run_good_7b_fsdp.sh"
BAD = "examples/run_bad_7b_fsdp.sh"
LAUNCH = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 actor_rollout_ref.rollout.name=vllm\n"

CASES = {
    "bytes": (b"echo caf\xe9\n", "SYS002", "byte 0xe9 at offset 8"),
    "binary": (b"\x7fELF\x00\x01\x02", "SYS002", "NUL byte at offset 4"),
    "empty": (b"", "SYS004", "the script is empty"),
    "crlf": (b"set -e\r\npython3 train.py\r\n", "SYS003", "2 of 2 lines end in CRLF"),
    "syntax": (b"if true; then\n  python3 train.py\n", "SYS003", "bash cannot parse the script"),
    "endless loop": (b"while true; do :; done\n", "SYS005", "could not evaluate"),
    "fork bomb": (b"f() { f | f & }; f\n", "SYS005", "could not evaluate"),
    "output": (
        b'x=$(printf "%*s" 100000 ""); while true; do echo "$x$x$x$x"; done\n',
        "SYS005",
        "could not evaluate",
    ),
}


def _findings(capsys: pytest.CaptureFixture[str], root: Path, *arguments: str) -> list[tuple[str, str, str]]:
    _, out, _ = cli(capsys, *arguments, "--root", str(root), "--format", "json")
    return [(item["path"], item["code"], item["message"]) for item in json.loads(out)["findings"]]


@pytest.mark.parametrize(("content", "code", "words"), CASES.values(), ids=list(CASES))
def test_one_sys_finding_whatever_families_run(
    write: Write, capsys: pytest.CaptureFixture[str], content: bytes, code: str, words: str
) -> None:
    root = write({BAD: content, GOOD: LAUNCH})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    for arguments in (["check"], ["mesh"], ["check", str(root / BAD)]):
        (found,) = _findings(capsys, root, *arguments)
        assert found[:2] == (BAD, code)
        assert words in found[2]

    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before


def test_a_broken_link_and_a_pipe_are_unreadable(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({GOOD: LAUNCH})
    (root / BAD).symlink_to("nowhere.sh")
    os.mkfifo(root / "examples/run_pipe_7b_fsdp.sh")

    assert _findings(capsys, root, "check") == [
        (BAD, "SYS001", "cannot read the file: No such file or directory"),
        ("examples/run_pipe_7b_fsdp.sh", "SYS001", "cannot read the file: not a regular file"),
    ]


def test_a_link_that_leaves_the_project_or_goes_round_is_no_way_out(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.sh"
    outside.write_text("SECRET=42\n")
    root = write({GOOD: "source ./out.sh\npython3 -m verl.trainer.main_ppo x=${SECRET:-hidden}\n"})
    (root / "examples/out.sh").symlink_to(outside)
    (root / "examples/round.sh").symlink_to("round.sh")

    out = cli(capsys, "show", str(root / GOOD), "--format", "json")[1]

    assert "x=42" not in out


def test_what_one_scenario_cannot_do_is_said_with_its_name(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'case "${MODE:-fast}" in\nfast) ;;\nslow) while true; do :; done ;;\nesac\n' + LAUNCH
    root = write({BAD: text})

    _, out, _ = cli(capsys, "mesh", "--root", str(root), "--format", "json")

    (finding,) = json.loads(out)["findings"]
    assert (finding["code"], finding["scenario"]) == ("SYS005", ["MODE=slow"])


def test_a_launcher_that_is_a_link_out_of_the_project_is_evaluated_as_it_reads(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "run.sh"
    outside.write_text(LAUNCH)
    root = write({GOOD: LAUNCH})
    (root / BAD).symlink_to(outside)

    data = json.loads(cli(capsys, "show", str(root / BAD), "--format", "json")[1])

    assert [launch["program"] for launch in data["launches"]] == ["verl.trainer.main_ppo"]
