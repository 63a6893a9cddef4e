from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from example_sanity import session
from example_sanity.core.finding import Finding, Severity
from helpers import Write, report

Judge = Callable[[Mapping[str, str]], list[Finding]]

GOOD = "examples/ppo/run_qwen3_8b_fsdp.sh"
BAD = "examples/ppo/run_qwen3_8b.sh"


@pytest.fixture
def judge(write: Write) -> Judge:
    """Return a function that writes files and returns the findings of the family on them."""
    return lambda files: list(report(write(files), "ignores").findings)


def ignore(path: str, rules: str = "NAM003", reason: str = "inference only") -> str:
    return f'[[tool.example-sanity.per-file-ignore]]\npath = "{path}"\nrules = ["{rules}"]\nreason = "{reason}"\n'


def said(findings: list[Finding]) -> list[str]:
    return [f"{item.span.line} {item.code} {item.message}" for item in findings]


def bound(*names: str, family: str = "NAM003", file: str = "tools/check.py") -> str:
    return "".join(
        f'[[tool.example-sanity.ignores.list]]\nfile = "{file}"\nname = "{name}"\nfamily = "{family}"\n'
        for name in names
    )


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"pyproject.toml": ignore(BAD), BAD: ""}, id="needed"),
        pytest.param(
            {"pyproject.toml": ignore("examples/ppo/"), BAD: "", GOOD: ""}, id="folder with one needed file"
        ),
        pytest.param({"pyproject.toml": ignore("*_8b.sh"), BAD: ""}, id="glob"),
        pytest.param({"pyproject.toml": ignore("*.toml", "ignores")}, id="this family about itself"),
        pytest.param(
            {"pyproject.toml": ignore(BAD, "SYS004"), BAD: ""}, id="rules that reading reports are not judged"
        ),
        pytest.param(
            {"pyproject.toml": "[tool.example-sanity]\nexclude = ['build/', '*.ipynb']\n"}, id="transient"
        ),
        pytest.param(
            {
                "pyproject.toml": bound("EXEMPT"),
                "tools/check.py": f"EXEMPT = (\n    # no backend in it\n    '{BAD}',\n)\n",
                BAD: "",
            },
            id="bound list with a comment",
        ),
        pytest.param(
            {
                "pyproject.toml": '[[tool.example-sanity.ignores.list]]\nfile = "tools/check.py"\nname = "EXEMPT"\n',
                "tools/check.py": f"EXEMPT = ['{GOOD}']\n",
                GOOD: "",
            },
            id="list without a family is judged for stale and shadowed entries only",
        ),
    ],
)
def test_silent(judge: Judge, files: dict[str, str]) -> None:
    assert said(judge(files)) == []


def test_stale_entry_says_where_the_file_went(judge: Judge) -> None:
    files = {"pyproject.toml": ignore("examples/old/run_qwen3_8b.sh"), BAD: ""}
    assert said(judge(files)) == [
        (
            "2 IGN001 'examples/old/run_qwen3_8b.sh' in per-file-ignore does not exist; "
            f"if '{BAD}' is meant, name that, else delete it"
        )
    ]


def test_stale_entry_suggests_a_near_path_but_no_far_one(judge: Judge) -> None:
    files = {"pyproject.toml": ignore("examples/ppo/run_qwen3_8b_fdsp.sh") + ignore("scripts/x.sh"), GOOD: ""}
    assert said(judge(files)) == [
        (
            "2 IGN001 'examples/ppo/run_qwen3_8b_fdsp.sh' in per-file-ignore does not exist; "
            f"if '{GOOD}' is meant, name that, else delete it"
        ),
        "6 IGN001 'scripts/x.sh' in per-file-ignore does not exist; delete the entry",
    ]


def test_only_what_is_meant_for_nothing_is_deleted_unasked(judge: Judge) -> None:
    lines = "/old/run_qwen3_8b.sh @a\n/gone/other.txt @b\n"
    found = judge({".github/CODEOWNERS": lines, BAD: ""})
    assert [item.fix.safe for item in found if item.fix] == [False, True]


def test_a_glob_is_stale_with_the_number_of_files(judge: Judge) -> None:
    files = {"pyproject.toml": ignore("examples/*_npu.sh"), GOOD: ""}
    assert said(judge(files)) == [
        "2 IGN001 'examples/*_npu.sh' in per-file-ignore matches none of the 2 files; delete the entry"
    ]


def test_a_glob_in_a_renamed_folder_says_its_new_name(judge: Judge) -> None:
    files = {
        "pyproject.toml": ignore("examples/server/migrations/**/*.sh"),
        "examples/server/_migrations/a.sh": "",
    }
    assert said(judge(files)) == [
        (
            "2 IGN001 'examples/server/migrations/**/*.sh' in per-file-ignore matches nothing: there is no "
            "'examples/server/migrations'; if 'examples/server/_migrations' is meant, name that, else delete it"
        )
    ]


def test_a_file_that_moved_far_is_found_by_its_name(judge: Judge) -> None:
    files = {"pyproject.toml": ignore("scripts/old/nodes/run_a.sh"), "examples/run_a.sh": ""}
    assert said(judge(files)) == [
        (
            "2 IGN001 'scripts/old/nodes/run_a.sh' in per-file-ignore does not exist; "
            "if 'examples/run_a.sh' is meant, name that, else delete it"
        )
    ]


@pytest.mark.parametrize("pattern", ["*_npu.sh", "build/run_a.sh"])
def test_what_suppresses_findings_is_stale_also_where_an_exclude_is_not(judge: Judge, pattern: str) -> None:
    assert [item.code for item in judge({"pyproject.toml": ignore(pattern), GOOD: ""})] == ["IGN001"]
    text = f"[tool.example-sanity]\nexclude = ['{pattern}']\n"
    assert said(judge({"pyproject.toml": text, GOOD: ""})) == []


def test_own_include_and_exclude(judge: Judge) -> None:
    text = "[tool.example-sanity]\nexclude = [\n  'examples/gone/',\n  'examples/ppo/',\n]\ninclude = ['nothing/']\n"
    assert said(judge({"pyproject.toml": text, GOOD: ""})) == [
        "3 IGN001 'examples/gone/' in exclude does not exist; delete the entry",
        "6 IGN001 'nothing/' in include does not exist, so nothing is looked at; delete the entry",
    ]


def test_negated_exclude_is_stale_when_it_takes_nothing_back(judge: Judge) -> None:
    text = "[tool.example-sanity]\nexclude = ['examples/ppo/', '!examples/gone/x.sh', '!examples/ppo/a.sh']\n"
    assert said(judge({"pyproject.toml": text, "examples/ppo/a.sh": ""})) == [
        "2 IGN001 '!examples/gone/x.sh' in exclude does not exist; delete the entry"
    ]


def test_unneeded_entries(judge: Judge) -> None:
    files = {
        "pyproject.toml": ignore(GOOD) + ignore("docs/", "naming") + ignore("examples/sft/"),
        GOOD: "",
        "docs/a.md": "",
        "docs/b.md": "",
        "examples/sft/run_a_fsdp.sh": "",
        "examples/sft/run_b_fsdp.sh": "",
    }
    assert said(judge(files)) == [
        f"2 IGN002 '{GOOD}' in per-file-ignore is not needed: it passes NAM003 anyway; delete the entry",
        "6 IGN002 'docs/' in per-file-ignore names 2 files that naming does not look at; delete the entry",
        (
            "10 IGN002 'examples/sft/' in per-file-ignore is not needed: all 2 files that it names pass NAM003 anyway; "
            "delete the entry"
        ),
    ]


def test_an_entry_that_names_one_file_by_a_pattern_says_which(judge: Judge) -> None:
    assert said(judge({"pyproject.toml": ignore("run_*_8b_*"), GOOD: ""})) == [
        f"2 IGN002 'run_*_8b_*' in per-file-ignore is not needed: {GOOD} passes NAM003 anyway; delete the entry"
    ]


def test_a_list_that_names_the_reference_launchers_is_not_needed(judge: Judge) -> None:
    root = Path(__file__).parents[2]
    launchers = sorted(root.glob("examples/**/*_megatron_lite.sh"))
    names = [path.relative_to(root).as_posix() for path in launchers]
    listed = "".join(f'    "{name}",\n' for name in names)
    files = {name: path.read_text("utf-8") for name, path in zip(names, launchers, strict=True)}
    found = judge(
        {
            **files,
            "pyproject.toml": bound("DEFAULT_IGNORE_FILES", family="naming"),
            "tools/check.py": f"# The backend has two words.\nDEFAULT_IGNORE_FILES = (\n{listed})\n",
        }
    )
    assert len(names) == 4
    assert said(found) == [
        f"{line} IGN002 '{name}' in DEFAULT_IGNORE_FILES is not needed: it passes naming anyway; delete the entry"
        for line, name in enumerate(names, 3)
    ]


def test_a_launcher_whose_name_lies_needs_its_entry(judge: Judge) -> None:
    text = "# Renamed in the next release.\nEXEMPT = ['examples/ppo/']\n"
    launcher = "python3 -m verl.trainer.main_ppo model_engine=megatron\n"
    files = {"pyproject.toml": bound("EXEMPT", family="naming"), "tools/check.py": text, GOOD: launcher}
    assert said(judge(files)) == []


def test_a_file_that_cannot_be_inspected_needs_its_entry(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/run_a_fsdp.sh").write_bytes(b"\xff\n")
    found = judge({"pyproject.toml": ignore("examples/", "NAM004")})
    assert [(item.code, item.path) for item in found] == [("SYS002", "examples/run_a_fsdp.sh")]


def test_reasons(judge: Judge) -> None:
    files = {
        "pyproject.toml": ignore(BAD, reason="") + ignore(GOOD, "NAM002", reason=" TODO "),
        BAD: "",
        GOOD: "",
    }
    assert said(judge(files)) == [
        (
            f"2 IGN003 '{BAD}' in per-file-ignore gives no reason; "
            'add reason = "..." that says why NAM003 cannot hold there'
        ),
        # What should go needs no reason.
        f"6 IGN002 '{GOOD}' in per-file-ignore is not needed: it passes NAM002 anyway; delete the entry",
    ]


def test_a_missing_reason_in_our_own_configuration_is_an_error(judge: Judge) -> None:
    assert [item.severity for item in judge({"pyproject.toml": ignore(BAD, reason=""), BAD: ""})] == [
        Severity.ERROR
    ]


def test_bound_list_needs_comments(judge: Judge) -> None:
    names = [f"examples/ppo/run_{letter}.sh" for letter in "abcdefg"]
    text = f"""\
EXEMPT = (
    "{names[0]}",
    # Both are inference only.
    "{names[1]}",
    "{names[2]}",
    "{names[3]}",  # multi-node dispatch

    "{names[4]}",  # noqa: E501
    "{names[5]}",  # TODO
    "{names[6]}",  # has no trainer
)
"""
    found = judge({"pyproject.toml": bound("EXEMPT"), "tools/check.py": text, **dict.fromkeys(names, "")})
    assert [(item.span.line, item.code, item.severity) for item in found] == [
        (2, "IGN003", Severity.WARNING),
        (8, "IGN003", Severity.WARNING),
        (9, "IGN003", Severity.WARNING),
    ]
    assert found[0].message == (
        f"'{names[0]}' in EXEMPT gives no reason; say in a comment above or behind it why NAM003 cannot hold there"
    )


def test_comment_above_the_list_covers_its_first_run(judge: Judge) -> None:
    text = "# Scripts without a trainer.\nEXEMPT = frozenset(\n    {\n        'examples/a.sh',\n\n        'examples/b.sh',\n    }\n)\n"
    files = {
        "pyproject.toml": bound("EXEMPT"),
        "tools/check.py": text,
        "examples/a.sh": "",
        "examples/b.sh": "",
    }
    assert [(item.span.line, item.code) for item in judge(files)] == [(6, "IGN003")]


def test_shadowed_entries(judge: Judge) -> None:
    files = {
        "pyproject.toml": ignore("examples/ppo/", "naming") + ignore(BAD) + ignore("examples/ppo/", "naming"),
        BAD: "",
    }
    found = judge(files)
    assert said(found) == [
        f"6 IGN004 '{BAD}' in per-file-ignore is already covered by 'examples/ppo/' on line 2; delete it",
        "10 IGN004 'examples/ppo/' in per-file-ignore stands there twice, also on line 2; delete one",
    ]
    assert [(item.related[0].span.line, item.related[0].label) for item in found] == [
        (2, "this entry covers it")
    ] * 2


def test_the_same_path_for_fewer_rules_is_covered_for_more_it_is_not(judge: Judge) -> None:
    text = ignore("examples/ppo/", "NAM003") + ignore("examples/ppo/", "naming")
    assert said(judge({"pyproject.toml": text, BAD: ""})) == [
        "2 IGN004 'examples/ppo/' in per-file-ignore is already covered by 'examples/ppo/' on line 6; delete it"
    ]


def test_agreeing_on_todays_files_is_no_cover(judge: Judge) -> None:
    files = {"pyproject.toml": ignore("examples/ppo/") + ignore("run_*_8b.sh"), BAD: ""}
    assert said(judge(files)) == []


def test_fix_deletes_the_entry_and_its_own_comment(judge: Judge, tmp_path: Path) -> None:
    text = f"""\
EXEMPT = (
    # These have no backend.
    "{BAD}",
    # Moved away.
    # Long ago.
    "examples/gone.sh",
    # Gone, too.
    "examples/gone2.sh",
    "examples/ppo/run_other.sh",
)
"""
    files = {
        "pyproject.toml": bound("EXEMPT"),
        "tools/check.py": text,
        BAD: "",
        "examples/ppo/run_other.sh": "",
    }
    found = judge(files)
    assert [item.code for item in found] == ["IGN001", "IGN001"]
    assert [fixed(item, text) for item in found] == [
        text.replace('    # Moved away.\n    # Long ago.\n    "examples/gone.sh",\n', ""),
        text.replace('    "examples/gone2.sh",\n', ""),  # the comment may speak of the next entry, too
    ]


def fixed(finding: Finding, text: str) -> str:
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    lines = text.splitlines(keepends=True)
    assert (edit.span.column, edit.span.end_column, edit.text) == (1, 1, "")
    return "".join(lines[: edit.span.line - 1] + lines[edit.span.end_line - 1 :])


def test_fix_of_a_table_leaves_the_next_one_alone(judge: Judge) -> None:
    head, tail = "[tool.other]\na = 1\n\n", "# The next one.\n" + ignore(BAD)
    text = head + "# Gone.\n" + ignore("gone.sh") + "\n" + tail
    (found,) = judge({"pyproject.toml": text, BAD: ""})
    assert fixed(found, text) == head + tail


@pytest.mark.parametrize(
    "text",
    [
        "EXEMPT = ('examples/gone.sh', 'examples/ppo/run_qwen3_8b.sh')\n",
        "EXEMPT = (\n    'examples/gone.sh',\n    'examples/ppo/run_qwen3_8b.sh'\n)\n",
        "EXEMPT = {\n    'examples/gone.sh': 1,\n    'examples/ppo/run_qwen3_8b.sh': 2,\n}\n",
    ],
    ids=["one line", "a tuple that would become a string", "dictionary"],
)
def test_no_fix_where_deleting_is_not_certain(judge: Judge, text: str) -> None:
    found = judge({"pyproject.toml": bound("EXEMPT"), "tools/check.py": text, BAD: ""})
    assert [(item.code, item.fix) for item in found if item.code == "IGN001"] == [("IGN001", None)]


def test_git_decides_what_comes_and_goes(judge: Judge, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    files = {
        ".gitignore": "outputs/\n",
        ".gitmodules": '[submodule "recipe"]\n\tpath = recipe\n\tpath = 3rd/x\n',
        "pyproject.toml": "[tool.ruff]\nexclude = ['outputs', 'recipe/a', '3rd', 'results']\n",
    }
    assert said(judge(files)) == ["2 IGN001 'results' in ruff exclude does not exist; delete the entry"]


def test_transient_names_can_be_set(judge: Judge) -> None:
    text = "[tool.example-sanity.ignores]\ntransient = ['ckpt*']\n[tool.ruff]\nexclude = ['ckpts', 'build']\n"
    assert said(judge({"pyproject.toml": text})) == [
        "4 IGN001 'build' in ruff exclude does not exist; delete the entry"
    ]


def test_configuration_outside_the_tree(write: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "sanity.toml"
    outside.write_text('[[per-file-ignore]]\npath = "gone.sh"\nrules = ["naming"]\nreason = "old"\n', "utf-8")
    run = session.open_run((), root=write({GOOD: ""}), config=outside)
    (found,) = run.check([run.registry.family("ignores")]).findings
    assert (found.path, found.span.line, found.code) == (str(outside), 2, "IGN001")


def test_severity_tells_our_lists_from_those_of_other_tools(judge: Judge) -> None:
    text = ignore("gone.sh") + "[tool.ruff]\nexclude = ['gone.py']\n"
    assert [item.severity for item in judge({"pyproject.toml": text})] == [Severity.ERROR, Severity.WARNING]


def test_a_bound_list_of_a_preset_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("")
    assert session.open_run((), root=tmp_path, preset="verl").entries == []
