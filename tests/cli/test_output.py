"""``--format``, ``--output`` and ``--report``: where the reports go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import IO

import pytest

from example_sanity.report import FORMATS
from helpers import Write, cli

BROKEN = {"examples/run_qwen3_vllm_fsdp.sh": "python3 train.py\n"}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_the_finding(form: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = cli(capsys, "naming", str(write(BROKEN)), "--select", "NAM002", "--format", form)

    assert (code, err) == (1, "")
    assert "NAM002" in out


def test_output_writes_the_report_and_tells_the_verdict(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root, target = write(BROKEN), tmp_path / "report.json"

    code, out, err = cli(capsys, "naming", str(root), "--format", "json", "--output", str(target))

    assert (code, out) == (1, "")
    assert err.startswith("Found 1 error in 1 script (")
    assert [finding["code"] for finding in json.loads(target.read_text("utf-8"))["findings"]] == ["NAM002"]


def test_a_file_gets_no_colour_unless_asked_for(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    root, target = str(write(BROKEN)), tmp_path / "report.txt"

    cli(capsys, "naming", root, "-o", str(target))
    assert "\x1b[" not in target.read_text("utf-8")
    cli(capsys, "naming", root, "-o", str(target), "--color")
    assert "\x1b[" in target.read_text("utf-8")


def test_further_reports_are_of_the_same_run(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root, junit, gitlab = str(write(BROKEN)), tmp_path / "junit.xml", tmp_path / "gitlab.json"
    reports = ["--report", f"junit={junit}", "--report", f"gitlab={gitlab}"]

    code, out, err = cli(capsys, "naming", root, "--format", "concise", *reports)

    assert (code, err) == (1, "")
    assert "error NAM002 forbidden-token" in out
    assert ET.parse(junit).getroot().get("failures") == "1"
    assert len(json.loads(gitlab.read_text("utf-8"))) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--report", "sarf=x"], "unknown format 'sarf' (did you mean 'sarif'?)"),
        (["--report", "sarif"], "'sarif' is not FORMAT=FILE"),
        (["--output", "{root}"], "cannot write the report to {root}: it is a folder"),
        (["--output", "{root}/no/x"], "cannot write the report to {root}/no/x: there is no folder {root}/no"),
        (["--report", "html={root}/no/x"], "there is no folder {root}/no"),
    ],
)
def test_a_report_that_cannot_be_written_is_2_before_the_run(
    write: Write, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    root = str(write(BROKEN))

    code, out, err = cli(capsys, "naming", root, *(argument.format(root=root) for argument in arguments))

    assert (code, out) == (2, "")
    assert words.format(root=root) in err


def test_paths_are_told_from_the_top_of_the_checkout(
    write: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = write({f"sub/{path}": text for path, text in BROKEN.items()})
    (tmp_path / ".git").mkdir()

    out = cli(capsys, "naming", "--root", str(root / "sub"), "--format", "gitlab")[1]

    assert json.loads(out)[0]["location"]["path"] == "sub/examples/run_qwen3_vllm_fsdp.sh"


def test_the_page_has_the_plan_of_every_launcher(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    launcher = (
        "python3 -m verl.trainer.main_ppo actor@actor_rollout_ref.actor=mlite_actor "
        "actor_rollout_ref.actor.engine.cp=4\n"
    )
    root = write(
        {
            "examples/run_a_megatron_lite.sh": launcher,
            "examples/run_b_megatron_lite.sh": f"while true; do :; done\n{launcher}",
            "examples/run_c_fsdp.sh": "echo nothing\n",
        }
    )

    page = cli(capsys, "mesh", str(root), "--format", "html")[1]

    assert page.count('<details class="plan"') == 1
    (plan,) = page.split('<details class="plan"')[1:]
    assert "examples/run_a_megatron_lite.sh</code> <small>8 GPUs, legal</small>" in plan
    assert "cp: 2 groups of 4" in plan
    assert "could not evaluate" not in plan


def test_junit_has_a_case_for_what_a_family_judged_only(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write({**BROKEN, "tools/run.sh": "python3 train.py\n"})

    suites = ET.fromstring(cli(capsys, "check", str(root), "--format", "junit")[1])

    cases = {(case.get("classname"), case.get("name")) for case in suites.findall("testsuite/testcase")}
    assert ("example-sanity.naming", "examples/run_qwen3_vllm_fsdp.sh") in cases
    assert ("example-sanity.mesh", "tools/run.sh") in cases
    assert ("example-sanity.naming", "tools/run.sh") not in cases


def test_sarif_says_where_a_finding_is_suppressed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    table = (
        "[[tool.example-sanity.per-file-ignore]]\npath = 'examples/b/'\nrules = ['ENV003']\nreason = 'old'\n"
    )
    root = write(
        {
            "examples/a/run_a_fsdp.sh": "# sanity: ignore[ENV003] in the paper\nUNUSED=1\npython3 train.py\n",
            "examples/b/run_b_fsdp.sh": "UNUSED=1\npython3 train.py\n",
            "pyproject.toml": table,
        }
    )

    log = json.loads(cli(capsys, "knobs", str(root), "--format", "sarif")[1])

    kinds = [result["suppressions"][0]["kind"] for result in log["runs"][0]["results"]]
    assert kinds == ["inSource", "external"]


def _printed_to(stream: IO[bytes], root: Path) -> tuple[int, str]:
    """Run the tool in a process of its own, with ``stream`` as its standard output."""
    command = [sys.executable, "-m", "example_sanity", "naming", str(root), "--no-cache"]
    done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode()


def test_a_reader_that_goes_away_does_not_change_the_verdict(write: Write) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        assert _printed_to(stream, write(BROKEN)) == (1, "")


def test_a_full_disk_is_said_without_a_traceback(write: Write) -> None:
    with Path("/dev/full").open("wb") as stream:
        code, err = _printed_to(stream, write(BROKEN))
    assert (code, err) == (2, "Error: cannot write the report to standard output: No space left on device\n")
