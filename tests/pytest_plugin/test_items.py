"""Items of the pytest plugin: which there are, what selects them, and what their outcome shows."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from example_sanity import checks
from pytest_runs import CLEAN, FILES, PLUGIN, Repository, Run

pytest_plugins = ["pytester"]

GOOD, BROKEN = "examples/ppo/run_qwen3_fsdp.sh", "examples/ppo/run_qwen3_vllm_fsdp.sh"
ELSEWHERE = (
    "system",
    "ignores",
    "docs",
    "workflows",
    "sources",
)  # they look at no script, at none of a repository without CI, or are ignored in these repositories
SHELL_ITEMS = (
    "inspect",
    *(f.name for f in checks.registry().families if f.name not in ELSEWHERE),
)
EACH = len(SHELL_ITEMS)
ALL = 2 * EACH + 2  # two scripts, and two items of the configuration


def _ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_nothing_happens_without_a_flag(repository: Repository, sanity: Run) -> None:
    repository()

    result = sanity("-rA")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= example-sanity =*")


def test_without_a_flag_nothing_of_ours_is_imported(
    repository: Repository, pytester: pytest.Pytester
) -> None:
    repository({"test_a.py": "def test_a(): pass\n"})
    source = Path(__file__).parents[2] / "src"
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import pytest; pytest.main({[*PLUGIN, '-q']!r}); "
        "print(sorted(name for name in sys.modules if name.startswith(('example_sanity', 'bashkit', 'msgspec'))))"
    )

    result = pytester.run(sys.executable, "-c", code)

    assert result.outlines[-1] == "['example_sanity', 'example_sanity.pytest_plugin']"


def test_pytest_counts_the_items(repository: Repository, sanity: Run) -> None:
    repository()

    sanity("--example-sanity-only").stdout.fnmatch_lines([f"collected {ALL} items"])
    sanity("--example-sanity").stdout.fnmatch_lines([f"collected {ALL + 1} items"])


def test_there_is_one_item_for_each_file_and_family(repository: Repository, sanity: Run) -> None:
    repository()

    result = sanity("--example-sanity", "--collect-only", "-q")

    assert _ids(result) == [
        "tests/test_a.py::test_a",
        *(f"{GOOD}::{name}" for name in SHELL_ITEMS),
        *(f"{BROKEN}::{name}" for name in SHELL_ITEMS),
        "pyproject.toml::inspect",
        "pyproject.toml::ignores",
    ]


def test_only_collects_no_other_tests(repository: Repository, sanity: Run) -> None:
    repository(**{"tests/conftest.py": "", "tests/test_b.py": "raise SystemExit('imported')\n"})

    result = sanity("--example-sanity-only", "-rf")

    result.assert_outcomes(passed=ALL - 1, failed=1)
    result.stdout.fnmatch_lines([f"FAILED {BROKEN}::naming*"])


def test_a_failure_shows_the_findings_and_no_traceback(repository: Repository, sanity: Run) -> None:
    repository()

    result = sanity("--example-sanity-only", BROKEN)

    result.stdout.fnmatch_lines(
        [
            f"*_ {BROKEN} ?naming? _*",
            f"{BROKEN}:1:1: error?NAM002? forbidden-token: run_qwen3_vllm_fsdp.sh contains 'vllm'; *",
            "*= example-sanity =*",
            f"1 error in {EACH} items.",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*items.py*")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([f"{GOOD}::mesh"], [f"{GOOD}::mesh"]),
        ([f"{GOOD}::mesh", f"{BROKEN}::naming"], [f"{GOOD}::mesh", f"{BROKEN}::naming"]),
        (["examples::mesh"], [f"{GOOD}::mesh", f"{BROKEN}::mesh"]),
        ([GOOD], [f"{GOOD}::{name}" for name in SHELL_ITEMS]),
        (["examples/", "-k", "vllm and mesh"], [f"{BROKEN}::mesh"]),
        (["-m", "example_sanity", "-k", "ignores"], ["pyproject.toml::ignores"]),
        (["tests/test_a.py", GOOD, "-k", "naming or test_a"], ["tests/test_a.py::test_a", f"{GOOD}::naming"]),
        (["tests/test_a.py::test_a", f"{GOOD}::mesh"], ["tests/test_a.py::test_a", f"{GOOD}::mesh"]),
        (
            ["--example-sanity-select", "NAM002"],
            [f"{f}::{n}" for f in (GOOD, BROKEN) for n in ("inspect", "naming")],
        ),
        (
            ["--deselect", "examples", "--deselect", "tests"],
            ["pyproject.toml::inspect", "pyproject.toml::ignores"],
        ),
    ],
)
def test_arguments_narrow_the_items(
    repository: Repository, sanity: Run, arguments: list[str], expected: list[str]
) -> None:
    repository()

    result = sanity("--example-sanity", "--collect-only", "-q", *arguments)

    wanted = expected if arguments[0] != "--example-sanity-select" else ["tests/test_a.py::test_a", *expected]
    assert (result.ret, _ids(result)) == (0, wanted)


def test_single_tests_run_without_items(repository: Repository, sanity: Run) -> None:
    repository()

    sanity("--example-sanity", "tests/test_a.py::test_a").assert_outcomes(passed=1)
    sanity("--example-sanity", "tests/test_a.py").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--example-sanity-select", "NAM09"], "*: unknown rule 'NAM09' (did you mean 'NAM00*"),
        (["--example-sanity-preset", "verll"], "unknown preset 'verll' (did you mean 'verl'?)*"),
        (["--example-sanity-config", "none.toml"], "no such file or folder: *none.toml*"),
        (["exmples"], "no such file or folder: exmples (did you mean 'examples'?)"),
        (["tests"], "nothing to inspect: no file under these paths is a subject of these rules"),
        (["tests/test_a.py"], "nothing to inspect: *"),
        ([f"{GOOD}::mehs"], "no rule family 'mehs' (did you mean 'mesh'?)"),
        ([f"{GOOD}::ignores"], f"not found: {GOOD}::ignores (the family does not look at this file)"),
        ([".."], "*lies outside the project*"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    repository: Repository, sanity: Run, arguments: list[str], words: str
) -> None:
    repository()

    result = sanity("--example-sanity-only", *arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: example-sanity: {words}"])


def test_a_typo_in_the_configuration_is_a_usage_error(repository: Repository, sanity: Run) -> None:
    repository(**{"pyproject.toml": "[tool.example-sanity]\nexcludes = []\n"})

    result = sanity("--example-sanity")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: example-sanity: *unknown key 'excludes' (did you mean 'exclude'?)*"])


@pytest.mark.parametrize("flag", ["--example-sanity", "--example-sanity-only"])
def test_a_flag_without_a_subject_fails(repository: Repository, sanity: Run, flag: str) -> None:
    repository({"notes.txt": "no test\n"})

    result = sanity(flag)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*nothing to inspect*"])


def test_an_excluded_file_is_said_to_be(repository: Repository, sanity: Run) -> None:
    repository(**{"pyproject.toml": "[tool.example-sanity]\nexclude = ['/examples/']\n"})

    result = sanity("--example-sanity", GOOD)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"{GOOD}: skipped, the configuration excludes it"])


def test_an_uninspectable_file_fails_once_and_skips_what_needed_it(
    repository: Repository, sanity: Run
) -> None:
    repository({"examples/run_a_fsdp.sh": "if then\n"})

    result = sanity("--example-sanity-only", "-rs", "-v")

    result.assert_outcomes(passed=1, failed=1, skipped=EACH - 2)
    result.stdout.fnmatch_lines(
        [
            "examples/run_a_fsdp.sh::inspect FAILED*",
            "examples/run_a_fsdp.sh::naming PASSED*",
            "examples/run_a_fsdp.sh::knobs SKIPPED*",
            "examples/run_a_fsdp.sh::mesh SKIPPED*",
            "*error?SYS003? unparsable-shell: bash cannot parse the script: *",
            f"SKIPPED ?{EACH - 2}? examples/run_a_fsdp.sh:*: SYS003 unparsable-shell: bash cannot parse the script: *",
        ]
    )


def test_an_ignore_list_is_judged_although_a_launcher_that_it_names_is_broken(
    repository: Repository, sanity: Run
) -> None:
    table = (
        "[tool.example-sanity]\nignore = ['sources']\n"
        "[[tool.example-sanity.per-file-ignore]]\npath = '/examples/'\nrules = ['mesh']\nreason = 'legacy'\n"
    )
    repository({"examples/run_a_fsdp.sh": "if then\n", "pyproject.toml": table})

    result = sanity("--example-sanity-only", "pyproject.toml", "examples", "-v")

    result.stdout.fnmatch_lines(["pyproject.toml::inspect PASSED*", "pyproject.toml::ignores PASSED*"])


def test_what_was_worked_out_is_kept_unless_pytest_keeps_nothing(repository: Repository, sanity: Run) -> None:
    root = repository()

    sanity("--example-sanity-only", "-p", "no:cacheprovider")
    assert not (root / ".example-sanity-cache").exists()
    sanity("--example-sanity-only")
    assert list((root / ".example-sanity-cache").glob("*.msgpack"))
    sanity("--example-sanity-only").assert_outcomes(passed=ALL - 1, failed=1)


def test_local_rules_need_no_leave(repository: Repository, sanity: Run) -> None:
    rule = """
from example_sanity import Rule, Subject
class Odd(Rule):
    code, name, summary, subject = 'LOC001', 'odd', 'odd', Subject.SCRIPT_PATH
    def check(self, subject, context):
        return ()
RULES = (Odd,)
"""
    repository(**{"rules.py": rule, "pyproject.toml": "[tool.example-sanity]\nlocal-rules = ['rules.py']\n"})

    sanity("--example-sanity-only", f"{GOOD}::local").assert_outcomes(passed=1)


def test_warnings_are_shown_and_do_not_fail(repository: Repository, sanity: Run) -> None:
    repository({"examples/run_a_fsdp.sh": "while true; do :; done\n"})

    result = sanity("--example-sanity-only")

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*= example-sanity =*", "*warning?SYS005? limit-hit: *", "", f"1 warning in {EACH} items."]
    )


def test_fail_on_of_the_configuration_decides(repository: Repository, sanity: Run) -> None:
    toml = "[tool.example-sanity]\nfail-on = 'warning'\n"
    repository({"examples/run_a_fsdp.sh": "while true; do :; done\n", "pyproject.toml": toml})

    assert sanity("--example-sanity-only", "examples").ret == pytest.ExitCode.TESTS_FAILED


def test_suppressed_findings_do_not_fail_and_are_counted(repository: Repository, sanity: Run) -> None:
    table = (
        "[tool.example-sanity]\nignore = ['sources']\n"
        "[[tool.example-sanity.per-file-ignore]]\npath = 'examples/'\nrules = ['naming']\nreason = 'legacy'\n"
    )
    repository(**{"pyproject.toml": table})

    result = sanity("--example-sanity-only")

    result.assert_outcomes(passed=ALL)
    result.stdout.fnmatch_lines([f"1 suppressed in {ALL} items."])


def test_an_unused_suppression_fails_the_item_of_its_file(repository: Repository, sanity: Run) -> None:
    toml = "[tool.example-sanity]\nfail-on = 'warning'\n"
    repository(
        {
            "pyproject.toml": toml,
            GOOD: f"# sanity: ignore-file[mesh] kept for the paper\n{CLEAN}",
            BROKEN: CLEAN,
        }
    )

    result = sanity("--example-sanity-only", "-rf", "--tb=short", f"{GOOD}::ignores", BROKEN)

    result.assert_outcomes(passed=EACH - 1, failed=2)
    result.stdout.fnmatch_lines(["*?IGN005? unused-suppression: *"])


def test_a_stale_baseline_fails_an_item_of_the_project(repository: Repository, sanity: Run) -> None:
    repository(
        {
            GOOD: CLEAN,
            ".example-sanity-baseline.json": '{"version": 1, "findings": {"gone.sh": {"NAM002": ["0123456789abcdef"]}}}',
        }
    )

    result = sanity("--example-sanity-only", "-rf")

    result.stdout.fnmatch_lines(["FAILED .::project*"])


def test_failed_items_run_again(repository: Repository, sanity: Run) -> None:
    root = repository()
    sanity("--example-sanity-only").assert_outcomes(passed=ALL - 1, failed=1)

    again = sanity("--example-sanity-only", "--lf", "-v")

    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines([f"{BROKEN}::naming FAILED*"])
    (root / BROKEN).rename(root / "examples/ppo/run_qwen3_8b_fsdp.sh")
    sanity("--example-sanity-only").assert_outcomes(passed=ALL)


def test_it_works_without_the_cache_plugin(repository: Repository, sanity: Run) -> None:
    repository()

    sanity("--example-sanity-only", "-p", "no:cacheprovider").assert_outcomes(passed=ALL - 1, failed=1)


def test_junit_has_a_case_for_each_item(repository: Repository, sanity: Run) -> None:
    root = repository()
    sanity("--example-sanity", f"--junitxml={root / 'report.xml'}")

    cases = {
        (case.get("classname"), case.get("name")): [child.tag for child in case]
        for case in ET.parse(root / "report.xml").iter("testcase")
    }

    assert len(cases) == ALL + 1
    assert cases[BROKEN.replace("/", "."), "naming"] == ["failure"]
    assert cases[GOOD.replace("/", "."), "mesh"] == []


def test_workers_collect_and_report_the_same(repository: Repository, pytester: pytest.Pytester) -> None:
    repository(**{"examples/run_b_fsdp.sh": "while true; do :; done\n"})

    result = pytester.runpytest_subprocess(*PLUGIN, "--example-sanity", "-n2")

    # Names, knobs, text and the shell rules need no evaluation here; the other families are skipped for the limit.
    result.assert_outcomes(passed=2 * EACH + 6, failed=1, skipped=EACH - 4)
    result.stdout.fnmatch_lines(
        ["*warning?SYS005? limit-hit: *", f"1 error, 1 warning in {ALL + EACH} items."]
    )
    empty = pytester.runpytest_subprocess(*PLUGIN, "--example-sanity-only", "-n2", "tests")
    assert empty.ret == pytest.ExitCode.USAGE_ERROR


def test_hidden_folders_and_what_lies_outside_testpaths_are_looked_at(
    repository: Repository, sanity: Run
) -> None:
    repository({"pytest.ini": "[pytest]\ntestpaths = tests\n", ".github/scripts/start.sh": CLEAN, **FILES})

    result = sanity("--example-sanity", "--collect-only", "-q", "-k", "knobs")

    assert _ids(result) == [".github/scripts/start.sh::knobs", f"{GOOD}::knobs", f"{BROKEN}::knobs"]


def test_a_configuration_outside_the_tree_counts(
    repository: Repository, sanity: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repository()
    config = tmp_path_factory.mktemp("elsewhere") / "sanity.toml"
    config.write_text("ignore = ['naming', 'sources']\n")

    sanity("--example-sanity-only", "--example-sanity-config", str(config)).assert_outcomes(passed=ALL)


def test_node_ids_are_relative_to_the_folder_that_pytest_calls_root(
    repository: Repository, pytester: pytest.Pytester, sanity: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(**{"examples/pytest.ini": "[pytest]\n"})
    pytester.run("git", "init", "-q")
    (root / "pyproject.toml").unlink()
    monkeypatch.chdir(root / "examples")

    result = sanity("--example-sanity-only", "--collect-only", "-q", "ppo")

    assert "ppo/run_qwen3_fsdp.sh::naming" in _ids(result)
    assert _ids(sanity("--example-sanity-only", "--collect-only", "-q", "ppo/run_qwen3_fsdp.sh::naming")) == [
        "ppo/run_qwen3_fsdp.sh::naming"
    ]


@pytest.mark.parametrize("regular", [True, False])
def test_a_checks_package_of_the_users_own_keeps_working(
    repository: Repository, pytester: pytest.Pytester, regular: bool
) -> None:
    repository(
        **{
            "checks/mine.py": "NAME = 'mine'\n",
            "test_b.py": "import checks.mine\ndef test_b(): assert checks.mine.NAME == 'mine'\n",
        }
    )
    if regular:
        (pytester.path / "checks/__init__.py").write_text("")

    result = pytester.runpytest_subprocess(*PLUGIN, "--example-sanity", "test_b.py", GOOD)

    result.assert_outcomes(passed=EACH + 1)
