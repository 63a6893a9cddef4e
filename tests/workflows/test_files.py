"""Files that steps need: what may be there at run time is silent, what cannot be is found where it is written."""

from __future__ import annotations

import pytest

from example_sanity.core.finding import Finding
from helpers import Write, report

WORKFLOW = ".github/workflows/e2e.yml"
FILES: dict[str, str | bytes] = {
    "pkg/__init__.py": "",
    "pkg/train.py": "",
    "pkg/merger/__init__.py": "",
    "tests/e2e/run_sft.sh": "python3 pkg/train.py\n",
    "tests/e2e/run_ppo.sh": "python3 pkg/train.py\n",
    "tests/unit/test_loss.py": "import x\n\nclass TestLoss:\n    def test_mean(self): ...\n\ndef test_sum(): ...\n",
    "tests/unit/test_open.py": "from x import *\n\nclass TestMore(Base): ...\n",
    "requirements.txt": "x\n",
}
CHECKOUT = "      - uses: actions/checkout@v4\n"


def _workflow(script: str, *, before: str = CHECKOUT, extra: str = "", job: str = "") -> str:
    lines = "".join(f"          {line}\n" for line in script.split("\n"))
    return (
        f"on: push\njobs:\n  e2e:\n    runs-on: ubuntu-latest\n{job}    steps:\n{before}      - name: run\n{extra}"
        f"        run: |\n{lines}"
    )


def _findings(write: Write, text: str, **files: str) -> tuple[Finding, ...]:
    found = report(write({**FILES, **files, WORKFLOW: text}), "workflows").findings
    return tuple(item for item in found if item.code in ("WFL004", "WFL005"))


SILENT = {
    "there": _workflow(
        "bash tests/e2e/run_sft.sh\npython -m pkg.train\npytest tests/unit/test_loss.py::TestLoss::test_mean"
    ),
    "made before": _workflow("echo 'exit' > tests/made.sh\nbash tests/made.sh"),
    "made by an earlier step": _workflow(
        "bash tests/made.sh",
        before=CHECKOUT + "      - run: python gen.py | tee tests/made.sh\n      - run: cp gen.py x\n",
    ).replace("python gen.py", "cat"),
    "asked for": _workflow("if [ -f tests/gone.sh ]; then bash tests/gone.sh; fi"),
    "asked for by the step": _workflow(
        "bash tests/gone.sh", extra="        if: hashFiles('tests/gone.sh') != ''\n"
    ),
    "no checkout": _workflow("bash tests/gone.sh", before=""),
    "another repository": _workflow(
        "bash tests/gone.sh", before=CHECKOUT + "        with:\n          repository: a/b\n"
    ),
    "another revision": _workflow("bash tests/gone.sh", before=CHECKOUT + "        with: {ref: v1}\n"),
    "another revision by git": _workflow("git checkout dev\nbash tests/gone.sh"),
    "beside it": _workflow(
        "bash other/gone.sh",
        before=CHECKOUT + "      - uses: actions/checkout@v4\n        with: {repository: a/b, path: other}\n",
    ),
    "cloned": _workflow("git clone https://x/tests2\nbash tests2/gone.sh"),
    "outside": _workflow("cd /opt\npython gone.py\npython ~/gone.py\nbash $HOME/gone.sh"),
    "unknown folder": _workflow("cd $WHERE\nbash e2e/gone.sh"),
    "unknown name": _workflow("bash tests/${{ github.ref_name }}.sh\nbash tests/$NAME.sh"),
    "a folder that the build makes": _workflow("make\npython build/gen.py"),
    "another shell": _workflow("python tests/gone.py", extra="        shell: pwsh\n"),
    "on windows": _workflow("python tests/gone.py").replace("ubuntu-latest", "windows-latest"),
    "a branch decides": _workflow('F=run_sft.sh\nif [[ $F != tests/* ]]; then F=tests/e2e/$F; fi\nbash "$F"'),
    "not all is in the text": _workflow(
        "pytest tests/unit/test_open.py::test_x tests/unit/test_open.py::TestMore::test_y"
    ),
    "other packages": _workflow("python -m build\npython -m pip install x"),
}


@pytest.mark.parametrize("text", SILENT.values(), ids=list(SILENT))
def test_what_may_be_there_is_silent(write: Write, text: str) -> None:
    assert [(item.span.line, item.message) for item in _findings(write, text)] == []


FOUND = {
    "bash tests/e2e/run_stf.sh": "tests/e2e/run_stf.sh does not exist, so the step fails; the nearest is tests/e2e/run_sft.sh",
    "bash test/e2e/run_sft.sh": "test/e2e/run_sft.sh does not exist, so the step fails; the nearest is tests/e2e/run_sft.sh",
    "cd tests\nbash e2e/gone_away.sh": "tests/e2e/gone_away.sh does not exist, so the step fails",
    "source tests/env.sh": "tests/env.sh does not exist, so the shell fails",
    "pytest -x tests/unti": "tests/unti does not exist, so pytest fails; the nearest is tests/unit",
    "pytest tests/unit/test_loss.py::test_summ": "tests/unit/test_loss.py has no test test_summ, so pytest fails; the nearest is test_sum",
    "pytest 'tests/unit/test_loss.py::TestLoss::test_max[1-2]'": "tests/unit/test_loss.py has no test test_max, so pytest fails; the nearest is test_mean",
    "pip install -r requirments.txt": "requirments.txt does not exist, so pip fails; the nearest is requirements.txt",
    "python -m pkg.trian": "there is no module pkg.trian, so the step fails; the nearest is pkg/train.py",
    "python -m pkg.merger": "pkg.merger is a package without __main__.py, so python -m pkg.merger fails",
    "TP=2 $LAUNCH pkg/gone_now.py": "pkg/gone_now.py does not exist, so the step fails",
    "for f in run_sft evaporated; do bash tests/e2e/$f.sh; done": "tests/e2e/evaporated.sh does not exist, so the step fails",
    "docker run -w ${{ github.workspace }} i bash -c 'python pkg/gone_now.py'": "pkg/gone_now.py does not exist, so the step fails",
}


@pytest.mark.parametrize(("script", "message"), FOUND.items(), ids=list(FOUND))
def test_what_cannot_be_there_is_found(write: Write, script: str, message: str) -> None:
    found = _findings(write, _workflow(script, job="    env: {LAUNCH: torchrun --nproc-per-node 8}\n"))

    assert [(item.code, item.message) for item in found] == [("WFL004", message)]


def test_a_finding_points_at_the_word(write: Write) -> None:
    (found,) = _findings(write, _workflow("set -x\nTP=2 bash -e tests/e2e/run_gone.sh x"))

    assert (found.span.line, found.span.column, found.span.end_column) == (10, 24, 45)


def test_folders_of_steps_and_jobs_count(write: Write) -> None:
    in_step = _workflow("bash run_sft.sh\nbash run_gone.sh", extra="        working-directory: tests/e2e\n")
    assert [item.message.split()[0] for item in _findings(write, in_step)] == ["tests/e2e/run_gone.sh"]
    in_job = _workflow("bash run_sft.sh", job="    defaults: {run: {working-directory: tests/e2e}}\n")
    assert _findings(write, in_job) == ()
    (found,) = _findings(write, _workflow("bash x.sh", extra="        working-directory: tests/e2ee\n"))
    assert found.message == "the folder tests/e2ee does not exist; the nearest is tests/e2e"
    assert found.span.line == 8


def test_local_actions_and_workflows_must_be_there(write: Write) -> None:
    used = "      - uses: ./.github/actions/{0}\n"
    action = {".github/actions/setup/action.yml": "runs: {using: composite, steps: []}\n"}
    assert _findings(write, _workflow("true", before=CHECKOUT + used.format("setup")), **action) == ()
    (found,) = _findings(write, _workflow("true", before=CHECKOUT + used.format("setpu")), **action)
    assert found.message == (
        ".github/actions/setpu does not exist, so the job cannot start; the nearest is .github/actions/setup"
    )
    called = "on: push\njobs:\n  a:\n    uses: ./.github/workflows/gone.yml\n"
    assert [item.span.line for item in _findings(write, called)] == [4]


def test_each_combination_of_a_matrix_counts(write: Write) -> None:
    matrix = (
        "    strategy:\n      matrix:\n        name: [sft, gone]\n        include:\n          - {name: ppo}\n"
    )
    found = _findings(write, _workflow("bash tests/e2e/run_${{ matrix.name }}.sh", job=matrix))

    assert [item.message.split()[0] for item in found] == ["tests/e2e/run_gone.sh"]


def test_composite_actions_are_read(write: Write) -> None:
    action = "runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: bash tests/e2e/run_gone.sh\n"
    found = report(write({**FILES, ".github/actions/a/action.yml": action}), "workflows").findings

    assert [(item.code, item.span.line) for item in found] == [("WFL004", 5)]


def test_a_list_of_other_things_is_silent(write: Write) -> None:
    matrix = "    strategy:\n      matrix:\n        python: ['3.10', '3.11']\n        out: [a.json, b.json, c.json]\n"
    assert _findings(write, _workflow("true", job=matrix)) == ()


def test_a_list_of_mostly_other_things_is_silent(write: Write) -> None:
    matrix = "    strategy:\n      matrix:\n        job: [a, b, c, d, run_sft.sh, run_ppo.sh, run_gone.sh]\n"
    assert _findings(write, _workflow("true", job=matrix)) == ()


def test_an_entry_of_a_matrix_that_names_no_file_is_found_once(write: Write) -> None:
    matrix = (
        "    strategy:\n      matrix:\n        info: [{n: 1, file: run_sft.sh},\n          {n: 2, file: run_pppo.sh},\n"
        "          {n: 2, file: run_ppo.sh}]\n"
    )
    found = _findings(write, _workflow("bash tests/e2e/${{ matrix.info.file }}", job=matrix))

    assert [(item.code, item.span.line, item.span.column) for item in found] == [("WFL005", 8, 24)]
    assert found[0].message == (
        "'run_pppo.sh' in matrix.info.file of job e2e names no file, while 2 of its 3 entries name files of tests/e2e; "
        "the nearest is tests/e2e/run_ppo.sh"
    )


def test_a_suite_names_files_and_its_comments_match(write: Write) -> None:
    suite = "# tests/e2e/run_*.sh\ntests/e2e/run_sft.sh\n\ntests/e2e/run_ppo.sh  # slow\n"
    path = "tests/suites/nightly.txt"
    assert report(write({**FILES, path: suite}), "workflows").findings == ()
    wrong = suite.replace("run_ppo", "run_gone").replace("run_*", "train_*") + "tests/e2e/run_ppo.sh\n"
    found = report(write({**FILES, path: wrong}), "workflows").findings
    assert [(item.span.line, item.code) for item in found] == [(1, "WFL005"), (4, "WFL005")]
    assert "matches no file" in found[0].message
