"""Path filters of workflows: those that are right, and exactly what is said of those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.core.finding import Finding, Severity
from example_sanity.core.fixes import plan
from helpers import Write, report

WORKFLOW = ".github/workflows/e2e.yml"
FILES: dict[str, str | bytes] = {
    "pkg/workers/rollout/engine.py": "",
    "pkg/trainer/main.py": "",
    "pkg/trainer/sft_trainer.py": "",
    "tests/e2e/run_sft.sh": "python3 train.py\n",
    "docs/a.md": "text\n",
    "vendor.txt": "x\n",
}


def _workflow(*patterns: str, key: str = "paths", event: str = "pull_request") -> str:
    lines = "".join(f"      - {pattern}\n" for pattern in patterns)
    return f"name: e2e\non:\n  {event}:\n    branches: [main]\n    {key}:\n{lines}jobs: {{}}\n"


def _findings(write: Write, text: str, **files: str) -> tuple[Finding, ...]:
    return report(write({**FILES, **files, WORKFLOW: text}), "workflows").findings


def _shown(findings: tuple[Finding, ...]) -> list[tuple[int, str, str]]:
    return [(item.span.line, item.code, item.message) for item in findings]


@pytest.mark.parametrize(
    "patterns",
    [
        ['"**/*.py"', '"!tests/**"', "tests/e2e/run_sft.sh"],
        ["'**/*.ipynb'", "'**.cu'"],  # kinds of files that may come
        ["pkg/**", "'!pkg/trainer/**'", "pkg/trainer/main.py"],
        ["'sub/module/**'", "sub/module"],
        ["'pkg/*[a-z]/main.py'", "gone.py", "'a[z-a]/gone.py'"],  # the second is for actionlint
        [WORKFLOW],
    ],
    ids=["usual", "kinds", "taken back and in again", "submodule", "broken", "itself"],
)
def test_right_filters_are_silent(write: Write, patterns: list[str]) -> None:
    modules = {".gitmodules": '[submodule "m"]\n\tpath = sub/module\n\turl = u\n'}
    assert _shown(_findings(write, _workflow(*patterns), **modules)) == []


def test_branch_filters_and_filters_of_other_events_are_none_of_ours(write: Write) -> None:
    text = "on:\n  push:\n    branches: [gone/**]\n    tags: [v9]\n  workflow_dispatch:\n    paths: [gone]\njobs: {}\n"
    assert _findings(write, text) == ()


def test_a_missing_file_is_named_with_the_nearest(write: Write) -> None:
    found = _findings(
        write, _workflow('"**/*.py"', "pkg/trainer/fsdp_sft_trainer.py", "pkg/rollout/engine.py")
    )

    assert _shown(found) == [
        (
            7,
            "WFL001",
            "'pkg/trainer/fsdp_sft_trainer.py' in paths of pull_request does not exist, so no change matches it; "
            "if 'pkg/trainer/sft_trainer.py' is meant, write that, else delete the entry",
        ),
        (
            8,
            "WFL001",
            "'pkg/rollout/engine.py' in paths of pull_request does not exist, so no change matches it; "
            "if 'pkg/workers/rollout/engine.py' is meant, write that, else delete the entry",
        ),
    ]
    assert {item.severity for item in found} == {Severity.WARNING}


def test_a_misspelt_folder_is_named(write: Write) -> None:
    (found,) = _findings(write, _workflow('"**/*.py"', '"pkg/worksers/rollout/*"'))

    assert found.message == (
        "'pkg/worksers/rollout/*' in paths of pull_request matches none of the 7 files: there is no 'pkg/worksers', so no "
        "change matches it; if 'pkg/workers/rollout/*' is meant, write that, else delete the entry"
    )
    assert (found.span.column, found.span.end_column) == (10, 32)


@pytest.mark.parametrize("folder", ["tests/e2e", "tests/e2e/", "./tests/e2e"])
def test_a_folder_is_an_error_and_its_fix_matches_what_is_below(write: Write, folder: str) -> None:
    root = write({**FILES, WORKFLOW: _workflow('"**/*.py"', f'"{folder}"')})
    run = session.open_run((), root=root, cache=False)
    found = run.check([run.registry.family("workflows")]).findings

    assert [(item.code, item.severity) for item in found] == [("WFL001", Severity.ERROR)]
    assert "names a folder, and GitHub compares it with files" in found[0].message
    (change,) = plan(run, found, unsafe=False).changes
    assert '- "tests/e2e/**"\n' in change.after
    (root / WORKFLOW).write_text(change.after)
    assert report(root, "workflows").findings == ()


def test_a_pattern_of_folders_is_like_a_folder(write: Write) -> None:
    (found,) = _findings(write, _workflow('"**/*.py"', "'!pkg/*er*'"))

    assert found.severity is Severity.WARNING
    assert "names folders, and GitHub compares it with files" in found.message
    assert "write '!pkg/*er*/**'" in found.message


def test_what_only_takes_back_is_advice(write: Write) -> None:
    found = _findings(write, _workflow('"**/*.py"', '"!pkg/gone.py"', '"!docs"'))

    assert [(item.span.line, item.severity) for item in found] == [(7, Severity.INFO), (8, Severity.WARNING)]
    assert "so it takes nothing out" in found[0].message
    assert "write '!docs/**'" in found[1].message
    ignoring = _findings(write, _workflow("gone.md", key="paths-ignore", event="push"))
    assert [(item.severity, "paths-ignore of push" in item.message) for item in ignoring] == [
        (Severity.INFO, True)
    ]


def test_a_filter_that_no_file_matches_is_an_error(write: Write) -> None:
    found = _findings(write, _workflow("gone.py", "'!docs/**'"))

    assert [(item.code, item.severity) for item in found] == [("WFL001", Severity.ERROR)]


def test_what_entries_below_undo_has_no_effect(write: Write) -> None:
    found = _findings(write, _workflow("docs/**", "tests/e2e/run_sft.sh", "'!tests/**'"))

    assert _shown(found) == [
        (
            7,
            "WFL002",
            "'tests/e2e/run_sft.sh' in paths of pull_request has no effect: line 8 takes 'tests/e2e/run_sft.sh' out again, "
            "and the last entry that matches decides; move it below, or delete it",
        )
    ]
    assert [item.span.line for item in found[0].related] == [8]


def test_files_that_may_come_count(write: Write) -> None:
    assert _findings(write, _workflow("docs/**", "'!docs/a.md'")) == ()
    found = _findings(write, _workflow("'**/*.py'", "docs/**", "'!docs/**'"))
    assert [(item.span.line, item.code) for item in found] == [(7, "WFL002")]
    assert "line 8 takes 'docs/a.md' out again" in found[0].message


def test_what_several_entries_undo_together_has_no_effect(write: Write) -> None:
    found = _findings(
        write, _workflow("docs/a.md", "'*/**/m*.py'", "'!**/q*/*.md'", "'!pkg/**'", "'!*/**/*.py'")
    )

    assert [(item.span.line, item.code) for item in found] == [(7, "WFL002")]
    assert "line 10 takes 'pkg/trainer/main.py' out again" in found[0].message


def test_a_negative_entry_above_all_others_takes_nothing_out(write: Write) -> None:
    found = _findings(write, _workflow("'!tests/e2e/**'", "'**/*.sh'"))

    assert [(item.span.line, item.code) for item in found] == [(6, "WFL002")]
    assert "no entry above it takes anything in" in found[0].message


def test_a_filter_of_nothing_but_negative_entries_never_starts(write: Write) -> None:
    found = _findings(write, _workflow("'!docs/**'", event="push"))

    assert [(item.code, item.severity, item.span.line) for item in found] == [("WFL002", Severity.ERROR, 6)]


def test_of_two_equal_entries_one_goes(write: Write, tmp_path: Path) -> None:
    text = _workflow('"**/*.py"', "docs/a.md  # twice", "docs/a.md")
    root = write({**FILES, WORKFLOW: text})
    run = session.open_run((), root=root, cache=False)
    found = run.check([run.registry.family("workflows")]).findings

    assert [(item.span.line, item.code) for item in found] == [(8, "WFL003")]
    assert found[0].message == (
        "'docs/a.md' stands already on line 7 of paths of pull_request; delete this one"
    )
    (change,) = plan(run, found, unsafe=False).changes
    assert change.after == text.replace("      - docs/a.md\njobs", "jobs")


def test_of_two_equal_entries_the_last_counts_where_one_between_takes_back(write: Write) -> None:
    found = _findings(write, _workflow("docs/a.md", "'!docs/**'", "docs/a.md"))

    assert [(item.span.line, item.code) for item in found] == [(6, "WFL003")]


def test_a_workflow_that_is_no_yaml_is_said(write: Write) -> None:
    found = _findings(write, "on: [push\njobs: {}\n")

    assert [(item.code, item.path) for item in found] == [("SYS001", WORKFLOW)]
    assert "not valid YAML" in found[0].message
