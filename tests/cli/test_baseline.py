"""The command ``baseline``: it accepts all once, shrinks afterwards, and grows only when told to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from example_sanity.core.baseline import DEFAULT
from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
OLD = {"examples/run_qwen3_vllm_fsdp.sh": "python3 train.py\n", "examples/run_a.sh": "python3 train.py\n"}
NEW = {"examples/run_b_npu_fsdp.sh": "python3 train.py\n"}


def test_adopt_break_and_fix(write: Write, capsys: Capture) -> None:
    root = str(write(OLD))

    assert cli(capsys, "check", root)[0] == 1
    assert cli(capsys, "baseline", root) == (0, f"wrote {DEFAULT}: 2 findings\n", "")
    code, out, _ = cli(capsys, "check", root)
    assert code == 0
    assert out.startswith("No findings (2 in the baseline) in ")

    write(NEW)
    code, out, _ = cli(capsys, "check", root, "--format", "concise")
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()[:-1]] == ["examples/run_b_npu_fsdp.sh"]

    code, out, _ = cli(capsys, "baseline", root)
    assert out.splitlines() == [
        f"{DEFAULT} is up to date: 2 findings",
        "1 new finding not added: fix it, or accept it with --add",
    ]

    (Path(root) / "examples/run_a.sh").unlink()
    code, out, _ = cli(capsys, "check", root, "--format", "json")
    data = json.loads(out)
    assert code == 1
    assert {item["code"] for item in data["findings"]} == {"NAM002", "IGN008"}
    assert data["summary"]["baselined"] == 1

    code, out, _ = cli(capsys, "baseline", root)
    assert out.splitlines()[0] == f"wrote {DEFAULT}: 1 finding (0 added, 1 removed)"
    code, out, _ = cli(capsys, "baseline", root, "--add")
    assert out == f"wrote {DEFAULT}: 2 findings (1 added, 0 removed)\n"
    assert cli(capsys, "check", root)[0] == 0


def test_a_part_of_the_project_leaves_the_rest_alone(write: Write, capsys: Capture) -> None:
    root = str(write({**OLD, "example-sanity.toml": "", "examples/sub/run_a.sh": "python3 train.py\n"}))
    cli(capsys, "baseline", root)
    (Path(root) / "examples/run_a.sh").unlink()
    (Path(root) / "examples/sub/run_a.sh").unlink()
    write({"examples/sub/run_x_fsdp.sh": "python3 train.py\n"})

    code, out, _ = cli(capsys, "baseline", f"{root}/examples/sub")

    assert (code, out) == (0, f"wrote {DEFAULT}: 2 findings (0 added, 1 removed)\n")


def test_the_configuration_names_another_file(write: Write, capsys: Capture) -> None:
    root = write({**OLD, "example-sanity.toml": "baseline = 'ci/old.json'\n"})

    code, _, err = cli(capsys, "check", str(root))
    assert code == 2
    assert "there is no baseline ci/old.json, which the configuration names" in err
    code, _, err = cli(capsys, "baseline", str(root))
    assert code == 2
    assert "cannot write the baseline" in err

    (root / "ci").mkdir()
    assert cli(capsys, "baseline", str(root)) == (0, "wrote ci/old.json: 2 findings\n", "")
    assert cli(capsys, "check", str(root))[0] == 0


def test_a_broken_file_is_2_and_stays(write: Write, capsys: Capture) -> None:
    root = write({**OLD, DEFAULT: "<<<<<<< HEAD\n"})

    for command in ("check", "baseline"):
        code, out, err = cli(capsys, command, str(root))
        assert (code, out) == (2, "")
        assert "it holds conflict markers of a merge" in err
    assert (root / DEFAULT).read_text() == "<<<<<<< HEAD\n"


def test_nothing_to_look_at_writes_nothing(write: Write, capsys: Capture) -> None:
    root = write({"notes.txt": "\n"})

    code, out, err = cli(capsys, "baseline", str(root))

    assert (code, out) == (3, "")
    assert "nothing was inspected" in err
    assert not (root / DEFAULT).exists()


def test_a_wrong_path_is_2(write: Write, capsys: Capture) -> None:
    code, _, err = cli(capsys, "baseline", str(write(OLD) / "nowhere"))

    assert code == 2
    assert "no such file or folder" in err


def test_permissions_of_an_existing_file_stay(write: Write, capsys: Capture) -> None:
    root = write(OLD)
    cli(capsys, "baseline", str(root))
    os.chmod(root / DEFAULT, 0o640)  # noqa: PTH101
    write(NEW)

    cli(capsys, "baseline", str(root), "--add")

    assert (root / DEFAULT).stat().st_mode & 0o777 == 0o640
    assert [path.name for path in root.iterdir() if path.name.startswith("..")] == []
