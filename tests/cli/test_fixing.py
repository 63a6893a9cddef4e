"""``--fix``, ``--diff``, ``--add-ignore``, ``--changed-since`` and what shows the set-up."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from helpers import Write, cli

Capture = pytest.CaptureFixture[str]
NAME = "examples/run_qwen3_8b_fsdp.sh"
UNUSED = "#!/bin/bash\n# sanity: ignore-file[NAM002] our only backend\npython3 train.py\n"
FIXED = "#!/bin/bash\npython3 train.py\n"
BROKEN = {"examples/run_qwen3_vllm_fsdp.sh": FIXED}


def test_fix_makes_the_safe_fixes_and_what_remains_decides(write: Write, capsys: Capture) -> None:
    root = write({NAME: UNUSED})

    code, out, err = cli(capsys, "check", str(root), "--fix", "--fail-on", "warning")

    assert (code, err) == (0, "made 1 fix in 1 file\n")
    assert out.startswith("No findings in ")
    assert (root / NAME).read_text() == FIXED

    write(BROKEN)
    code, out, err = cli(capsys, "check", str(root), "--fix")
    assert (code, err) == (1, "made 0 fixes in 0 files\n")
    assert "Found 1 error" in out


def test_diff_prints_and_changes_nothing(write: Write, capsys: Capture) -> None:
    root = write({NAME: UNUSED})

    code, out, err = cli(capsys, "check", str(root), "--diff")

    assert (code, err) == (1, "")
    assert out == (
        f"--- a/{NAME}\n+++ b/{NAME}\n@@ -1,3 +1,2 @@\n #!/bin/bash\n"
        "-# sanity: ignore-file[NAM002] our only backend\n python3 train.py\n"
    )
    assert (root / NAME).read_text() == UNUSED

    cli(capsys, "check", str(root), "--fix")
    assert cli(capsys, "check", str(root), "--diff") == (0, "", "")


def test_a_file_that_cannot_be_written_is_2(
    write: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("example_sanity.core.fixes.write", refuse)

    code, _, err = cli(capsys, "check", str(write({NAME: UNUSED})), "--fix")

    assert (code, err) == (2, f"Error: cannot write {NAME}: Permission denied\n")


def test_add_ignore_writes_suppressions(write: Write, capsys: Capture) -> None:
    root = write(BROKEN)

    code, _, err = cli(
        capsys, "check", str(root), "--add-ignore", "forbidden-token", "--reason", "our only backend"
    )

    assert (code, err) == (0, "added 1 suppression in 1 file\n")
    text = (root / "examples/run_qwen3_vllm_fsdp.sh").read_text()
    assert text == UNUSED
    assert cli(capsys, "check", str(root), "--fail-on", "info")[0] == 0


def test_what_the_baseline_accepts_is_left_alone_and_said(write: Write, capsys: Capture) -> None:
    root = write({"examples/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"})
    cli(capsys, "baseline", "--root", str(root))

    _, _, err = cli(capsys, "check", str(root), "--add-ignore", "NAM002", "--reason", "x")

    left = "1 finding in the baseline left alone; --no-baseline includes what it accepts"
    assert err == f"added 0 suppressions in 0 files ({left})\n"


def test_add_ignore_says_what_it_cannot_do(write: Write, capsys: Capture) -> None:
    root = write({**BROKEN, "pyproject.toml": "[tool.mypy]\nexclude = ['nowhere/']\n"})

    code, _, err = cli(capsys, "check", str(root), "--add-ignore", "mesh", "--reason", "x")
    assert (code, err) == (1, "added 0 suppressions in 0 files\n")
    code, _, err = cli(capsys, "check", str(root), "--add-ignore", "NAM02", "--reason", "x")
    assert code == 2
    assert "--add-ignore: unknown rule 'NAM02'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--unsafe-fixes"], "--unsafe-fixes says which fixes to use; give --fix or --diff, too"),
        (["--fix", "--diff"], "--fix, --diff and --add-ignore exclude each other"),
        (["--add-ignore", "NAM002"], "--add-ignore and --reason go together"),
        (["--reason", "x"], "--add-ignore and --reason go together"),
        (["--add-ignore", "NAM002", "--reason", " "], "--reason must be one line of text"),
        (["--statistics", "--format", "sarif"], "--statistics has no sarif format"),
        (["--changed-since", "HEAD"], "--changed-since needs a git checkout"),
    ],
)
def test_wrong_calls_are_2(write: Write, capsys: Capture, arguments: list[str], message: str) -> None:
    code, out, err = cli(capsys, "check", str(write(BROKEN)), *arguments)

    assert (code, out) == (2, "")
    assert message in err


def test_changed_since_filters_the_report(write: Write, capsys: Capture) -> None:
    root = write(BROKEN)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    write({"examples/run_new_npu_fsdp.sh": "python3 train.py\n"})

    code, out, _ = cli(capsys, "naming", str(root), "--changed-since", "HEAD", "--format", "json")

    data = json.loads(out)
    assert code == 1
    assert [item["path"] for item in data["findings"]] == ["examples/run_new_npu_fsdp.sh"]
    assert [(item["path"], item["suppressed_by"]) for item in data["suppressed"]] == [
        ("examples/run_qwen3_vllm_fsdp.sh", "unchanged since HEAD")
    ]
    (root / "examples/run_new_npu_fsdp.sh").unlink()
    assert cli(capsys, "naming", str(root), "--changed-since", "HEAD")[0] == 0
    code, _, err = cli(capsys, "naming", str(root), "--changed-since", "nowhere")
    assert (code, "git knows no revision 'nowhere'" in err) == (2, True)


def test_statistics_count_by_rule(write: Write, capsys: Capture) -> None:
    files = {**BROKEN, "examples/run_b_npu_fsdp.sh": FIXED, NAME: UNUSED}
    root = str(write(files))

    code, out, _ = cli(capsys, "check", root, "--statistics")
    assert code == 1
    assert out.splitlines()[:2] == [
        "     2  NAM002  forbidden-token",
        "     1  IGN005  unused-suppression  (1 fixable)",
    ]
    assert out.splitlines()[2].startswith("Found 2 errors, 1 warning in ")

    data = json.loads(cli(capsys, "check", root, "--statistics", "--format", "json")[1])
    assert data["statistics"][0] == {
        "code": "NAM002",
        "name": "forbidden-token",
        "count": 2,
        "fixable": 0,
    }


def test_show_files_and_configuration(write: Write, capsys: Capture) -> None:
    root = write({**BROKEN, "notes.txt": "", "example-sanity.toml": "fail-on = 'info'\n"})

    assert cli(capsys, "naming", str(root), "--show-files") == (0, "examples/run_qwen3_vllm_fsdp.sh\n", "")
    code, out, _ = cli(capsys, "check", str(root), "--show-config", "--ignore", "NAM001")
    data = json.loads(out)
    assert code == 0
    assert (data["root"], data["path"]) == (str(root), "example-sanity.toml")
    assert (data["fail-on"], data["ignore"]) == ("info", ["NAM001"])

    (root / "examples/run_qwen3_vllm_fsdp.sh").unlink()
    assert cli(capsys, "naming", str(root), "--show-files")[0] == 3
    assert cli(capsys, "naming", str(root), "--show-files", "--allow-empty")[0] == 0


def test_no_baseline_shows_all(write: Write, capsys: Capture) -> None:
    root = write(BROKEN)
    cli(capsys, "baseline", str(root))

    assert cli(capsys, "check", str(root))[0] == 0
    assert cli(capsys, "check", str(root), "--no-baseline")[0] == 1


def test_fixes_reach_through_no_link_out_of_the_project(
    write: Write, capsys: Capture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside: Path = tmp_path_factory.mktemp("outside") / "a.sh"
    outside.write_text(UNUSED)
    root = write({})
    (root / "examples").mkdir()
    (root / NAME).symlink_to(outside)

    rules = ("--select", "NAM002", "--select", "IGN005")

    code, _, err = cli(capsys, "check", str(root), "--fix", "--fail-on", "warning", *rules)

    assert code == 1
    assert "it leads out of the project" in err
    assert outside.read_text() == UNUSED
