"""Which job runs which launcher: every way that there is, the rule, and the command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from example_sanity import session
from example_sanity.checks.workflows import coverage as module
from example_sanity.checks.workflows.coverage import coverage
from helpers import Write, brief, cli, report

WORKFLOW = ".github/workflows/e2e.yml"
LAUNCHER = "examples/sft/run_a.sh"
FILES: dict[str, str | bytes] = {
    LAUNCHER: 'set -e\npython3 train.py tp="${TP:-1}" "$@"\n',
    "examples/sft/run_b.sh": "TP=2 bash examples/sft/run_a.sh --more\n",
    "examples/sft/env.sh": "export A=1\n",  # starts nothing
    "train.py": "",
}


def _workflow(script: str, extra: str = "") -> str:
    lines = "".join(f"          {line}\n" for line in script.split("\n"))
    return (
        "on: push\njobs:\n  e2e:\n    runs-on: gpu\n    env: {SCRIPT: examples/sft/run_a.sh, TP: '4', OTHER: x}\n"
        f"{extra}    steps:\n      - uses: actions/checkout@v4\n      - run: |\n{lines}"
    )


def _ways(write: Write, script: str, files: Mapping[str, str] = {}, extra: str = "") -> list[str]:
    root = write({**FILES, **files, WORKFLOW: _workflow(script, extra)})
    run = session.open_run((), root=root, cache=False)
    ways = coverage(run, ["examples"]).ways.get(LAUNCHER, [])
    return [" ".join([f"{way.line}", *way.through, *way.knobs]) for way in ways]


@pytest.mark.parametrize(
    ("script", "files", "ways"),
    [
        ("echo examples/sft/run_a.sh", {}, []),
        ("bash examples/sft/run_a.sh", {}, ["9 TP=4"]),
        ("cd examples/sft && TP=8 ./run_a.sh", {}, ["9 TP=8"]),
        ("bash examples/sft/run_b.sh", {}, ["9 examples/sft/run_b.sh TP=2"]),
        ("for f in examples/*/*.sh; do bash $f; done", {}, ["9 TP=4", "9 examples/sft/run_b.sh TP=2"]),
        (
            "bash tests/each.sh",
            {"tests/each.sh": "for f in examples/sft/run_?.sh; do\n  bash $f\ndone\n"},
            None,
        ),
        ("bash tests/wrap.sh", {"tests/wrap.sh": 'bash "$SCRIPT"\n'}, ["9 tests/wrap.sh TP=4"]),
        (
            "bash tests/wrap.sh",
            {"tests/wrap.sh": 'bash "$(dirname "$0")/../$SCRIPT"\n'},
            ["9 tests/wrap.sh TP=4"],
        ),
        ("SCRIPT=other.sh bash tests/wrap.sh", {"tests/wrap.sh": 'bash "$SCRIPT"\n'}, []),
        ("pytest tests/test_all.py", {"tests/test_all.py": f'RUN = "{LAUNCHER}"\n'}, ["9 tests/test_all.py"]),
        ("docker run -w $GITHUB_WORKSPACE i bash -c 'bash examples/sft/run_a.sh'", {}, ["9 TP=4"]),
        ("bash tests/loop.sh", {"tests/loop.sh": "bash tests/loop.sh\nbash $0\n"}, []),
    ],
    ids=[
        "no",
        "direct",
        "folder",
        "through",
        "loop",
        "loop in a script",
        "wrapper",
        "its folder",
        "knob",
        "program",
        "box",
        "circle",
    ],
)
def test_ways_to_a_launcher(
    write: Write, script: str, files: Mapping[str, str], ways: list[str] | None
) -> None:
    expected = (
        ["9 tests/each.sh TP=4", "9 tests/each.sh examples/sft/run_b.sh TP=2"] if ways is None else ways
    )
    assert _ways(write, script, files) == expected


def test_each_combination_of_a_matrix_is_a_way(write: Write) -> None:
    matrix = "    strategy: {matrix: {tp: [1, 2]}}\n"
    assert _ways(write, "TP=${{ matrix.tp }} bash examples/sft/run_a.sh", extra=matrix) == [
        "10 TP=1",
        "10 TP=2",
    ]


def test_a_suite_covers_what_it_lists_unless_it_leaves_that_out(write: Write) -> None:
    files = {WORKFLOW: _workflow("ls"), "tests/suites/nightly.txt": f"{LAUNCHER}\n"}
    assert brief(report(write({**FILES, **files}), "workflows").findings) == [
        "examples/sft/run_b.sh:1 WFL008"
    ]
    files = {"tests/suites/nightly.txt": "", "tests/suites/disabled.txt": f"{LAUNCHER}\n"}
    root = write({**FILES, **files})
    run = session.open_run((), root=root, cache=False)
    assert LAUNCHER in coverage(run, ["examples"]).uncovered


def test_nothing_is_said_without_workflows(write: Write) -> None:
    found = report(write(FILES), "workflows")

    assert found.findings == ()
    assert found.nothing_inspected


def test_launchers_that_no_job_runs_are_found(write: Write) -> None:
    found = report(
        write({**FILES, WORKFLOW: _workflow("ls"), "scripts/run_c.sh": "python3 train.py\n"}), "workflows"
    ).findings

    assert brief(found) == ["examples/sft/run_a.sh:1 WFL008", "examples/sft/run_b.sh:1 WFL008"]
    assert {item.message for item in found} == {"no job of the workflow runs this launcher"}
    assert {item.severity.value for item in found} == {"info"}


def test_only_the_workflows_that_reach_a_changed_script_are_followed_again(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = WORKFLOW.replace("e2e", "other")
    root = write({**FILES, WORKFLOW: _workflow("bash examples/sft/run_b.sh"), other: _workflow("ls")})
    followed: list[str] = []
    reach = module._reach

    def noting(path: str, *rest: Any) -> object:
        followed.append(path)
        return reach(path, *rest)

    monkeypatch.setattr(module, "_reach", noting)

    def ways(*, cache: bool = True) -> list[str]:
        run = session.open_run((), root=root, cache=cache)
        found = coverage(run, ["examples"])
        run.save()
        assert found.workflows == 2
        return sorted(found.ways)

    first = ways()
    assert first == ["examples/sft/run_a.sh", "examples/sft/run_b.sh"]
    assert followed == [WORKFLOW, other]
    assert ways() == first
    assert followed == [WORKFLOW, other]

    write({"examples/sft/run_b.sh": "bash examples/sft/env.sh\n"})
    assert ways() == ["examples/sft/env.sh", "examples/sft/run_b.sh"]
    assert followed == [WORKFLOW, other, WORKFLOW]
    write({"examples/sft/env.sh": "bash examples/sft/run_a.sh\n"})
    assert ways() == ways(cache=False) == ["examples/sft/env.sh", *first]


@pytest.fixture
def project(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "examples/ppo/run_c.sh": "python3 train.py\n",
        WORKFLOW: _workflow("TP=2 bash examples/sft/run_b.sh"),
    }
    monkeypatch.chdir(write({**FILES, **files}))


def test_the_table_as_text(project: None, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "coverage")

    assert code == 0
    assert out == (
        "examples/ppo/run_c.sh: no job\n"
        "examples/sft/run_a.sh\n"
        "    .github/workflows/e2e.yml:9 e2e through examples/sft/run_b.sh with TP=2\n"
        "examples/sft/run_b.sh\n"
        "    .github/workflows/e2e.yml:9 e2e with TP=2\n"
        "\n"
        "2 of 3 launchers are run by the 1 workflow.\n"
    )


def test_the_table_as_markdown_and_json(project: None, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = cli(capsys, "coverage", "--format", "markdown", "examples/sft")
    assert out.splitlines()[2:] == [
        "| `examples/sft/run_a.sh` | `.github/workflows/e2e.yml:9 e2e` through examples/sft/run_b.sh with TP=2 |",
        "| `examples/sft/run_b.sh` | `.github/workflows/e2e.yml:9 e2e` with TP=2 |",
        "",
        "2 of 2 launchers are run by the 1 workflow.",
    ]
    _, out, _ = cli(capsys, "coverage", "--format", "json")
    table = json.loads(out)
    assert (table["version"], table["covered"], table["total"], table["workflows"]) == (1, 2, 3, 1)
    assert table["launchers"][1]["jobs"] == [
        {
            "workflow": WORKFLOW,
            "job": "e2e",
            "line": 9,
            "through": ["examples/sft/run_b.sh"],
            "knobs": {"TP": "2"},
        }
    ]


def test_only_what_is_uncovered(project: None, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = cli(capsys, "coverage", "--uncovered")

    assert out == "examples/ppo/run_c.sh: no job\n\n2 of 3 launchers are run by the 1 workflow.\n"


def test_no_launcher_is_exit_code_3(project: None, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = cli(capsys, "coverage", ".github")

    assert (code, error) == (3, "Error: there is no launcher below these folders\n")


def test_a_part_of_the_project_is_not_asked_for_its_jobs(write: Write) -> None:
    root = write({**FILES, WORKFLOW: _workflow("bash examples/sft/run_a.sh")})

    def codes(*paths: Path) -> set[str]:
        run = session.open_run(paths, root=root, cache=False)
        return {finding.code for finding in run.check([run.registry.family("workflows")], paths).findings}

    assert codes() == {"WFL008"}
    assert codes(root / "examples") == set()
