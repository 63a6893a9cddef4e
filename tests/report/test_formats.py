"""The output formats, by their whole text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from example_sanity.core.finding import Edit, Finding, Fix, Related, Severity, Span
from example_sanity.core.runner import Report
from example_sanity.report import render
from example_sanity.report.model import View

LINES = {
    "run_a.sh": ["TP=8", '\tpython3 train.py --tp "${TP}"', "# 模型 TP=8", "echo \x1b[31mred"],
}
FINDINGS = (
    Finding(
        "MSH001",
        "dense-mesh",
        "8 GPUs cannot hold tp 16",
        "run_a.sh",
        Span(1, 1, 1, 5),
        scenarios=("default",),
    ),
    Finding(
        "ENV002",
        "fixed-knob",
        "TP is fixed",
        "run_a.sh",
        Span(2, 19, 2, 31),
        Severity.WARNING,
        related=(Related("run_a.sh", Span(1, 1, 1, 5), "set here"),),
        fix=Fix("write TP=${TP:-8}", (Edit("run_a.sh", Span(1, 4, 1, 5), "${TP:-8}"),)),
    ),
    Finding("ENV003", "unused-knob", "wide", "run_a.sh", Span(3, 6, 3, 10), Severity.INFO),
    Finding("ENV003", "unused-knob", "control", "run_a.sh", Span(4, 1, 4, 5), Severity.INFO),
    Finding("NAM001", "script-name-shape", "bad name", "run_a.sh"),
)


def _lines(path: str) -> Sequence[str]:
    return LINES.get(path, ())


def _view(*findings: Finding, notes: tuple[str, ...] = (), colour: bool = False) -> View:
    return View(Report(findings, (), {"script": 1, "configuration file": 2}, notes, 0.25), _lines, colour)


TEXT = """\
run_a.sh:1:1: error[MSH001] dense-mesh: 8 GPUs cannot hold tp 16
    |
  1 | TP=8
    | ^^^^
  = in scenario: default

run_a.sh:2:19: warning[ENV002] fixed-knob: TP is fixed
    |
  2 |     python3 train.py --tp "${TP}"
    |                      ^^^^^^^^^^^^
  = run_a.sh:1:1: set here
  = fix: write TP=${TP:-8}

run_a.sh:3:6: info[ENV003] unused-knob: wide
    |
  3 | # 模型 TP=8
    |        ^^^^

run_a.sh:4:1: info[ENV003] unused-knob: control
    |
  4 | echo  [31mred
    | ^^^^

run_a.sh:1:1: error[NAM001] script-name-shape: bad name

note: b.sh: skipped
Found 2 errors, 1 warning, 2 info in 1 script, 2 configuration files (0.25 s).
"""


def test_text() -> None:
    assert render(_view(*FINDINGS, notes=("b.sh: skipped",)), "text") == TEXT


def test_text_with_colour_has_the_same_words() -> None:
    import re

    coloured = render(_view(*FINDINGS, notes=("b.sh: skipped",), colour=True), "text")

    assert "\x1b[31merror[MSH001]\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m(?!red)", "", coloured) == TEXT


def test_text_without_findings_is_one_line() -> None:
    assert render(_view(), "text") == "No findings in 1 script, 2 configuration files (0.25 s).\n"


def test_concise() -> None:
    assert render(_view(*FINDINGS[:2]), "concise") == (
        "run_a.sh:1:1: error MSH001 dense-mesh: 8 GPUs cannot hold tp 16 [default]\n"
        "run_a.sh:2:19: warning ENV002 fixed-knob: TP is fixed\n"
        "Found 1 error, 1 warning in 1 script, 2 configuration files (0.25 s).\n"
    )


def test_json_has_the_contracts_shape() -> None:
    data = json.loads(render(_view(FINDINGS[1]), "json"))

    assert data == {
        "version": 1,
        "findings": [
            {
                "code": "ENV002",
                "name": "fixed-knob",
                "severity": "warning",
                "message": "TP is fixed",
                "path": "run_a.sh",
                "line": 2,
                "column": 19,
                "end_line": 2,
                "end_column": 31,
                "scenario": [],
                "related": [
                    {
                        "path": "run_a.sh",
                        "line": 1,
                        "column": 1,
                        "end_line": 1,
                        "end_column": 5,
                        "label": "set here",
                    }
                ],
                "fix": {
                    "title": "write TP=${TP:-8}",
                    "safe": True,
                    "edits": [
                        {
                            "path": "run_a.sh",
                            "line": 1,
                            "column": 4,
                            "end_line": 1,
                            "end_column": 5,
                            "text": "${TP:-8}",
                        }
                    ],
                },
                "fingerprint": "",
            }
        ],
        "suppressed": [],
        "notes": [],
        "summary": {
            "inspected": {"script": 1, "configuration file": 2},
            "findings": {"ENV002": 1},
            "suppressed": 0,
            "baselined": 0,
            "seconds": 0.25,
        },
    }
