"""A report with what formats stumble over, and whole-text snapshots.

``UPDATE_SNAPSHOTS=1 pytest tests/report`` writes the snapshots anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from example_sanity.core.finding import Edit, Finding, Fix, Related, Severity, Span, with_fingerprints
from example_sanity.core.rule import Example, Rule, Subject
from example_sanity.core.runner import Report
from example_sanity.parallel.backends.megatron_lite import ACTOR_BACKEND
from example_sanity.parallel.draw import svg
from example_sanity.parallel.mesh import Mesh
from example_sanity.report.model import Plan, View

# The package with OASIS's schema needs Python 3.11.
collect_ignore = ["test_sarif_schema.py"] if sys.version_info < (3, 11) else []
SNAPSHOTS = Path(__file__).parent / "snapshots"
ODD = "examples/50%, a&b/run:<odd>_fsdp.sh"
LINES: dict[str, Sequence[str]] = {
    "examples/run_a_fsdp.sh": [
        "TP=8",
        '\tpython3 train.py --tp "${TP}" \\',
        "  --name 模型=x # <script>alert(1)</script>",
        "echo done",
        "",
    ],
    ODD: ["x" * 300 + "y" * 20 + "z" * 300],
}


class DenseMesh(Rule):
    """A mesh that its backend refuses.

    ``world`` must be a multiple of tp·cp·pp.
    """

    __module__ = "example_sanity.checks.mesh.rules"
    code = "MSH001"
    name = "dense-mesh"
    summary = "a mesh that its backend refuses"
    subject = Subject.LAUNCH
    source = "megatron/core/parallel_state.py"
    bad: ClassVar[tuple[Example, ...]] = (Example("python3 train.py tp=3\n"),)
    good: ClassVar[tuple[Example, ...]] = (Example("python3 train.py tp=4\n"),)


class PluginRule(DenseMesh):
    """A rule of a plugin."""

    __module__ = "plugin"
    code = "PLG001"
    name = "plugin-rule"
    summary = "something of a plugin's own"
    severity = Severity.WARNING
    source = ""
    bad = ()
    good = ()


FINDINGS = (
    Finding(
        "ENV002",
        "fixed-knob",
        "|TP| is `fixed` to 8; 100% of *runs* <b>use</b> it",
        "examples/run_a_fsdp.sh",
        Span(1, 1, 1, 5),
        Severity.WARNING,
        related=(Related("examples/run_a_fsdp.sh", Span(2, 19, 2, 31), "read here"),),
        fix=Fix("write TP=${TP:-8}", (Edit("examples/run_a_fsdp.sh", Span(1, 4, 1, 5), "${TP:-8}"),)),
    ),
    Finding(
        "MSH001",
        "dense-mesh",
        "8 GPUs cannot hold tp16",
        "examples/run_a_fsdp.sh",
        Span(2, 2, 3, 14),
        scenarios=("default", "MODEL_VARIANT=pro"),
    ),
    Finding(
        "PLG001",
        "plugin-rule",
        "a name:\nof 模型",
        "examples/run_a_fsdp.sh",
        Span(3, 10, 3, 14),
        Severity.INFO,
        fix=Fix(
            "rename both",
            (
                Edit("examples/run_a_fsdp.sh", Span(3, 10, 3, 12), "model"),
                Edit("README.md", Span(1, 1, 1, 3), "model"),
            ),
            safe=False,
        ),
    ),
    Finding("ENV003", "unused-knob", "long line", ODD, Span(1, 301, 1, 321), Severity.WARNING),
    Finding("NAM001", "script-name-shape", "bad \x1b[31mname\x01", ODD),
    Finding("SYS001", "unreadable", "cannot read", "b\n::error::forged\udcff.sh"),
)
SUPPRESSED = (
    Finding(
        "ENV002",
        "fixed-knob",
        "PP is fixed",
        "examples/run_a_fsdp.sh",
        Span(4, 1, 4, 5),
        suppressed_by="inline examples/run_a_fsdp.sh:4: the paper used it",
    ),
    Finding(
        "NAM001",
        "script-name-shape",
        "old name",
        "examples/old.sh",
        suppressed_by="pyproject.toml:2 per-file-ignore: legacy",
    ),
)
FAMILIES = {"ENV002": "knobs", "ENV003": "knobs", "MSH001": "mesh", "NAM001": "naming", "SYS001": "system"}


def _lines(path: str) -> Sequence[str]:
    return LINES.get(path, ())


def _plan() -> Plan:
    def row(mesh: Mesh, scenario: str, violations: Sequence[dict[str, str]] = ()) -> dict[str, object]:
        sizes = {symbol: size for symbol, size in mesh.sizes.items() if symbol != "world"}
        return {
            "scenario": scenario,
            "backend": mesh.backend.name,
            "role": mesh.backend.role,
            "world": mesh.sizes["world"],
            "sizes": sizes,
            "legal": mesh.legal,
            "violations": violations,
            "derived": dict(mesh.derived),
        }

    good = Mesh(ACTOR_BACKEND, {"world": 8, "tp": 2, "cp": 2, "ep": 4}, {})
    bad = Mesh(ACTOR_BACKEND, {"world": 8, "tp": 16}, {})
    data = {
        "path": "examples/run_a_fsdp.sh",
        "problems": ["TP=<x>: no value"],
        "knobs": [
            {"name": "TP", "region": "mesh", "default": "8", "required": False, "value": "16", "line": 1},
            {"name": "DATA", "region": None, "default": None, "required": True, "value": None, "line": 2},
        ],
        "scenarios": [
            {"name": "default", "launches": 1, "status": 0, "placeholders": {"DATA": "x"}, "stderr": []}
        ],
        "launches": [
            {
                "kind": "python",
                "program": "train.py",
                "argv": ["python3", "train.py", "a.b=<1>\n2"],
                "origins": [{"group": None}, {"group": None}, {"group": "ACTOR"}],
                "settings": [{"key": "a.b", "value": "<1>", "group": "ACTOR", "line": 3}],
            }
        ],
        "mesh": [
            row(good, "default"),
            row(good, "MODEL_VARIANT=pro"),
            row(bad, "TP=16", [{"code": "MSH001", "message": "8 GPUs cannot hold tp16"}]),
            row(Mesh(ACTOR_BACKEND, {"world": 2048}, {}), "large"),
        ],
    }
    return Plan(data, (svg(good), svg(good), None, None))


@pytest.fixture
def sample() -> View:
    """A view with six findings, two suppressed ones, a note, a launch plan, and odd characters everywhere."""
    findings = with_fingerprints(FINDINGS, LINES)
    report = Report(tuple(findings), SUPPRESSED, {"script": 3}, ("b.sh: skipped\nhere",), 0.25)
    return View(
        report,
        _lines,
        rules=lambda: {"MSH001": DenseMesh, "PLG001": PluginRule},
        families=lambda: FAMILIES,
        judged=lambda: {
            "mesh": ("examples/run_a_fsdp.sh", "examples/run_b_fsdp.sh"),
            "knobs": ("examples/run_a_fsdp.sh",),
        },
        plans=lambda: (_plan(),),
        prefix="sub/",
        source="https://github.com/o/r/blob/abc/",
    )


@pytest.fixture
def clean() -> View:
    """A view without findings."""
    report = Report((), (), {"script": 1}, (), 0.25)
    return View(report, _lines, judged=lambda: {"mesh": ("run_a_fsdp.sh",)})


@pytest.fixture
def many(clean: View) -> View:
    """A view with 12 errors, 11 warnings and 10 infos, in the order of places."""
    severities = [Severity.INFO] * 10 + [Severity.WARNING] * 11 + [Severity.ERROR] * 12
    findings = tuple(
        Finding("ENV001", "knob", f"finding {n}", "a.sh", Span(n, 1, n, 3), severity)
        for n, severity in enumerate(severities, 1)
    )
    return msgspec.structs.replace(clean, report=msgspec.structs.replace(clean.report, findings=findings))


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    """Return a function that compares a text with the snapshot of that name."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.write_text(text, "utf-8", newline="\n")
        assert text == path.read_text("utf-8")

    return compare
